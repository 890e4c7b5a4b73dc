"""What we ask of the SDK beyond its plain use; the only file that touches its inner parts.

A tool here is a coroutine that returns an answer (a pydantic model) or a `Refusal`. Its text and
its structured content are made from the same answer.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from mcp.server.context import (
    CallNext,
    HandlerResult,
    ServerMiddleware,
    ServerRequestContext,
)
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import (
    ArgModelBase,
    FuncMetadata,
    func_metadata,
)
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ConfigDict, ValidationError

from agents_memory.domain.errors import (
    Code,
    ConfigurationError,
    DatabaseUnavailable,
    Refusal,
    SchemaMismatch,
)
from agents_memory.domain.text import repair, truncate
from agents_memory.observe import Action, get_logger
from hot.answers import Answer
from hot.present import render_refusal
from hot.schemas import Schemas, generated, published
from hot.wire import Answers, Requests

# Gemini CLI adds this argument to every tool and forwards it.
CLIENT_KEYS = frozenset({"wait_for_previous"})
CONTEXT = "context"
# The answer to a commit may be lost with its server.
UNCHANGED = "Nothing was stored or changed by this call, as far as is known"
MAX_PROBLEMS = 5
MAX_NAME_CHARS = 60
MAX_RULE_CHARS = 300

log = get_logger()


class StrictTool(Tool):
    """A tool that names what is wrong with its arguments, and answers domain refusals as data."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    answer: type[Answer]
    render: Callable[[Any], str]

    @cached_property
    def arguments(self) -> type[ArgModelBase]:
        """What checks the arguments; made by the first call, as a start only publishes schemas."""
        return _arguments(self.fn)

    def generated(self) -> Schemas:
        """The schemas as they follow from the code; what is published is a copy of them."""
        return generated(self.arguments, self.answer)

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Runs the tool; raises ToolError for malformed arguments and for our own bugs."""
        started = time.monotonic()
        validated = self._validated(arguments)
        try:
            answer = await self.fn(**validated, **{CONTEXT: context})
        except Exception as fault:
            reads = self.annotations is not None and bool(self.annotations.read_only_hint)
            answer = as_refusal(fault, reads=reads)
            if answer is None:
                log.error(Action.TOOL_FAILED, tool=self.name, error=fault)
                raise ToolError(
                    f"{self.name} failed inside the memory server, and nothing was changed by this "
                    "call as far as is known. Try once more; if it fails again, the server's log "
                    "(stderr) names the fault and `mcp-agents-memory doctor` tests the parts."
                ) from fault
        refused = isinstance(answer, Refusal)
        log.debug(
            Action.TOOL_ANSWERED,
            tool=self.name,
            code=answer.code if refused else None,
            ms=round((time.monotonic() - started) * 1000),
        )
        return refusal_result(answer) if refused else self._result(answer)

    def _validated(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        known = self.parameters["properties"]
        needed = self.parameters.get("required", ())
        # Some clients send every argument, and null for what was not given.
        given = {
            key: value
            for key, value in arguments.items()
            if key not in CLIENT_KEYS and (value is not None or key in needed or key not in known)
        }
        problems = [_unknown(key, known) for key in given if key not in known]
        if not problems:
            try:
                # Not the SDK's own way, which reads any string that happens to be JSON as such.
                return self.arguments.model_validate(given).model_dump_one_level()
            except ValidationError as invalid:
                errors = invalid.errors(include_url=False, include_input=False)
                problems = [f"{_place(error['loc'])}: {_rule(error)}" for error in errors]
        shown = "; ".join(problems[:MAX_PROBLEMS])
        raise ToolError(f"invalid arguments for {self.name}: {shown}")

    def _result(self, answer: Answer) -> CallToolResult:
        return CallToolResult(
            content=[TextContent(type="text", text=self.render(answer))],
            structured_content=answer.structure(),
        )


def make_tool(
    fn: Callable[..., Awaitable[Answer | Refusal]],
    *,
    answer: type[Answer],
    render: Callable[[Any], str],
    title: str,
    description: str,
    annotations: ToolAnnotations,
) -> Tool:
    """A tool named like `fn`, whose arguments are all but its context; `render` makes the text."""
    schemas = published().get(fn.__name__) or generated(_arguments(fn), answer)
    return StrictTool(
        fn=fn,
        name=fn.__name__,
        title=title,
        description=description,
        parameters=schemas["input"],
        # The SDK asks it for the schema of answers only; `run` checks the arguments itself.
        fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=schemas["output"]),
        is_async=True,
        context_kwarg=CONTEXT,
        annotations=annotations,
        answer=answer,
        render=render,
    )


def _arguments(fn: Callable[..., Any]) -> type[ArgModelBase]:
    return func_metadata(fn, skip_names=[CONTEXT], structured_output=False).arg_model


def as_refusal(fault: Exception, *, reads: bool) -> Refusal | None:
    """The refusal for a pool that can't be used now; None for a bug of ours."""
    if not isinstance(fault, DatabaseUnavailable | SchemaMismatch | ConfigurationError):
        return None
    return Refusal(Code.DATABASE_UNAVAILABLE, str(fault) if reads else f"{fault}. {UNCHANGED}")


def refusal_result(refusal: Refusal) -> CallToolResult:
    """A refusal as a successful call: the same facts as text and as structure."""
    message = repair(refusal.message).text
    error: dict[str, Any] = {"code": refusal.code.value, "message": message}
    if refusal.details:
        error["details"] = refusal.details
    return CallToolResult(
        content=[
            TextContent(type="text", text=render_refusal(refusal.code, message, refusal.details))
        ],
        structured_content={"ok": False, "error": error},
    )


def client_name(context: Context[Any, Any]) -> str | None:
    """What the client calls itself, in either era of the protocol."""
    params = context.request_context.session.client_params
    return None if params is None else params.client_info.name


def briefing_middleware(
    instructions: Callable[[str | None], Awaitable[str]],
) -> ServerMiddleware[Any]:
    """Puts fresh instructions into the answer to whatever opens a connection.

    The SDK fixes them when the server is made, which is before the database could be asked.
    """

    async def middleware(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
            return {**result, "instructions": await instructions(_opening_client(ctx))}
        return result

    return middleware


def _opening_client(context: ServerRequestContext[Any, Any]) -> str | None:
    info = (context.params or {}).get("clientInfo")
    if isinstance(info, Mapping) and isinstance(info.get("name"), str):
        return str(info["name"])
    params = context.session.client_params
    return None if params is None else params.client_info.name


async def serve(server: MCPServer[Any], requests: Requests, answers: Answers) -> None:
    """Serves one connection over a pair of streams, in the era the client opens with."""
    lowlevel = server._lowlevel_server
    await lowlevel.run(requests, answers, lowlevel.create_initialization_options())


def _unknown(name: str, known: Iterable[str]) -> str:
    # With the first call that needs it, not with the start.
    from difflib import get_close_matches

    shown = _short(name)
    close = get_close_matches(name[:60], list(known), 1)
    hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(known) or 'none'}"
    return f"unknown argument {shown!r}; {hint}"


def _place(location: tuple[int | str, ...]) -> str:
    # Names of unknown fields are the caller's own, of any length.
    return ".".join(_short(str(part)) for part in location) or "arguments"


def _rule(error: Mapping[str, Any]) -> str:
    said = str(error["msg"]).removeprefix("Value error, ").replace("Input should", "should")
    return truncate(repair(said).text, MAX_RULE_CHARS)


def _short(name: str) -> str:
    return truncate(" ".join(repair(name).text.split()), MAX_NAME_CHARS)
