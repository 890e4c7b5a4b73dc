"""What servers of OpenAI's kind call things: one question, worded for each of them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from cold.llm.backend import Request
from cold.llm.gbnf import compile_schema
from cold.llm.schemas import (
    ARRAY_BOUNDS,
    STRING_BOUNDS,
    Schema,
    with_choices_for_null,
    without,
)


class Dialect(StrEnum):
    """Who is asked. GENERIC is a server that none of the others is."""

    LLAMA_SERVER = "llama-server"
    OLLAMA = "ollama"
    VLLM = "vllm"
    OPENAI = "openai"
    XAI = "xai"
    GENERIC = "generic"


_OWNERS = {
    "llamacpp": Dialect.LLAMA_SERVER,
    "vllm": Dialect.VLLM,
    "library": Dialect.OLLAMA,
    "xai": Dialect.XAI,
    "system": Dialect.OPENAI,
    "openai": Dialect.OPENAI,
}


def dialect_of(owner: object) -> Dialect:
    """The dialect of a server by who owns its models, as its list of models says."""
    return _OWNERS.get(owner, Dialect.GENERIC) if isinstance(owner, str) else Dialect.GENERIC


def body_of(request: Request, model: str, dialect: Dialect) -> dict[str, Any]:
    """The JSON of a chat completion; thinking is off where the dialect has a word for that."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": turn.role, "content": turn.text} for turn in request.turns],
        "temperature": request.temperature,
    }
    limit = "max_completion_tokens" if dialect is Dialect.OPENAI else "max_tokens"
    body[limit] = request.max_tokens
    match dialect:
        case Dialect.LLAMA_SERVER:
            # Half the tokens of its own JSON, and no mistake in bounds; not both at once.
            body["grammar"] = compile_schema(request.schema)
            body["chat_template_kwargs"] = {"enable_thinking": False}
            return body
        case Dialect.VLLM:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        case Dialect.OLLAMA:
            body["reasoning_effort"] = "none"
    schema = _derived(request.schema, dialect)
    body["response_format"] = {
        "type": "json_schema",
        "json_schema": {"name": request.name, "strict": True, "schema": schema},
    }
    return body


def without_named(
    body: Mapping[str, Any], complaint: str, keywords: tuple[str, ...]
) -> dict[str, Any] | None:
    """The body without what a refusal complains of; None when it names nothing that can go.

    What can go: keywords of the schema (bounds, which are checked here anyway), and the fields
    that only make an answer better.
    """
    changed = dict(body)
    named = [keyword for keyword in keywords if keyword in complaint]
    form = changed.get("response_format")
    if named and form is not None:
        inner = form["json_schema"]
        lighter = without(inner["schema"], *named)
        if lighter != inner["schema"]:
            changed["response_format"] = {**form, "json_schema": {**inner, "schema": lighter}}
    for field in ("temperature", "chat_template_kwargs", "reasoning_effort"):
        if field in complaint:
            changed.pop(field, None)
    return None if changed == body else changed


def _derived(schema: Schema, dialect: Dialect) -> Schema:
    match dialect:
        case Dialect.OPENAI:
            return without(schema, *STRING_BOUNDS)
        case Dialect.XAI:
            return with_choices_for_null(without(schema, *STRING_BOUNDS, *ARRAY_BOUNDS))
        case _:
            return schema
