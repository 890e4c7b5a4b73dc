"""revise: resolve, pin, supersede, retag or delete a memory."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import Field

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import escape
from agents_memory.domain.text import is_blank
from hot.app import App
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import ItemId
from hot.toolsets.conflicts import shown_refusal
from hot.toolsets.mind.answers import ReviseAnswer
from hot.toolsets.mind.arguments import Words
from hot.toolsets.mind.present import render_revise

if TYPE_CHECKING:
    from agents_memory.domain.patches import OnMemory

TOOL = "revise"

DESCRIPTION = """\
Change a memory: resolve a promise, pin or unpin, supersede what is outdated, retag, or delete.

Call it when a promise was kept or dropped, when a statement holds no longer, or when the user \
asks to keep something in view or to forget it. recall shows the id.

Examples: {"id": 17, "action": "resolve"}; {"id": 17, "action": "supersede", "content": "Mara \
lives in Lisbon."}; {"id": 17, "action": "retag", "tags": ["home"]}; {"id": 17, "action": "delete"}.

Returns id, version, patch_id, the state after it and the `diff`. delete archives: the memory is \
recalled no more, and its words and evidence stay in the history, from where the owner can bring \
it back. VERSION_CONFLICT: somebody changed it since you saw it; the error holds its state."""

Action = Literal["resolve", "pin", "unpin", "supersede", "retag", "delete"]
ARCHIVED = (
    "it is archived already: recalled no more, and kept in the history alone. Nobody deletes that "
    "but its owner, with `mcp-agents-memory redact --memory ID`"
)
TAKES = {"supersede": "content", "retag": "tags"}


def tool(app: App) -> Tool:
    """The tool over `Knowledge.revise`."""

    async def revise(
        context: Context,
        id: Annotated[ItemId, Field(description="Which memory.")],  # noqa: A002 (its name in Patina)
        action: Annotated[
            Action, Field(description="resolve, pin, unpin, supersede, retag or delete.")
        ],
        content: Annotated[
            str | None,
            Field(
                description="For supersede: what holds now, at most 20000 characters. Default none."
            ),
        ] = None,
        tags: Annotated[
            Words | None,
            Field(description="For retag: all its tags from now on, at most 20. Default: none."),
        ] = None,
    ) -> ReviseAnswer | Refusal:
        wrong = _wrong(action, content, tags)
        if wrong is not None:
            return wrong
        # With the service itself, which a start does without.
        from agents_memory.domain.messages import Role

        services = await app.services()
        operation = _operation(id, action, content or "", tags or [], app.session.shown.get(id))
        said = app.session.draft(
            Role.ASSISTANT,
            content or "",
            client_name(context),
            platform=None,
            model=None,
            subagent=False,
            subagent_model=None,
            subagent_role=None,
        )
        done = await services.knowledge.revise(said, services.user_id, operation, tool=TOOL)
        if isinstance(done, Refusal):
            if action == "delete" and done.code is Code.ALREADY_REMOVED:
                done = replace(done, message=ARCHIVED)
            return shown_refusal(app.session, done)
        [change] = done.applied.changes
        app.session.show([(id, change.version)])
        current = await services.knowledge.find(id, services.user_id)
        assert current is not None, "it was just changed"
        resolved = current.resolved_at
        return ReviseAnswer(
            action=action,
            id=id,
            version=change.version,
            patch_id=done.applied.patch_id,
            message_id=done.message_id,
            status=current.status,
            pinned=current.pinned,
            resolved_at=None if resolved is None else app.moment(resolved),
            tags=list(current.tags) or None,
            diff=escape(done.applied.diff),
        )

    return make_tool(
        revise,
        answer=ReviseAnswer,
        render=render_revise,
        title="Revise a memory",
        description=DESCRIPTION,
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=True,
            idempotent_hint=False,
            open_world_hint=False,
        ),
    )


def _wrong(action: Action, content: str | None, tags: list[str] | None) -> Refusal | None:
    given = {"content": content, "tags": tags}
    needed = TAKES.get(action)
    extra = [name for name, value in given.items() if value is not None and name != needed]
    if extra:
        return Refusal(
            Code.INVALID_INPUT, f"{action} takes no {' and no '.join(extra)}; leave it out"
        )
    if needed is not None and given[needed] is None:
        return Refusal(Code.INVALID_INPUT, f"to {action}, pass {needed}")
    if content is not None and is_blank(content):
        return Refusal(Code.INVALID_INPUT, "content is empty; say what holds now")
    return None


def _operation(
    memory_id: int, action: Action, content: str, tags: list[str], version: int | None
) -> "OnMemory":
    from agents_memory.domain.patches import Pin, Remove, Resolve, Retag, Supersede

    match action:
        case "resolve":
            return Resolve(memory_id, version)
        case "pin" | "unpin":
            return Pin(memory_id, action == "pin", version)
        case "supersede":
            return Supersede(memory_id, content, version)
        case "retag":
            return Retag(memory_id, tuple(tags), version)
        case _:
            return Remove(memory_id, version)
