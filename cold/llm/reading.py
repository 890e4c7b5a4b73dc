"""From the text of a model to an object of the schema, or why not."""

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from agents_memory.domain.text import repair
from cold.llm.backend import Generated
from cold.llm.port import Answer, Failure, Why
from cold.llm.refusals import refusal

MOST_CHARS = 1_000_000
# Objects that are looked at in a text of prose; each costs a parse.
MOST_CANDIDATES = 64

_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"\A```[a-zA-Z]*\s*\n(?P<inside>.*?)\n?\s*```\Z", re.DOTALL)


def read(generated: Generated, schema: type[Answer]) -> Answer | Failure:
    """The one object of the schema in a model's text.

    Failures: CUT, EMPTY, OVERLONG, REFUSED (in words, instead of an answer), MALFORMED (no JSON
    object), INVALID (none fits, or several that differ). Reasons name fields and kinds of errors,
    never what was said.
    """
    text = _THINKING.sub("", generated.text).strip()
    if generated.finish == "length":
        return Failure(
            Why.CUT,
            "the answer was cut at its limit of tokens; turn thinking off for this model, or give "
            "it less to answer at a time",
        )
    if not text:
        return Failure(Why.EMPTY, "the model gave an empty answer")
    if len(text) > MOST_CHARS:
        return Failure(Why.OVERLONG, f"the answer has more than {MOST_CHARS} characters")
    if fenced := _FENCE.match(text):
        text = fenced["inside"].strip()
    found = _object(text)
    if found is not None:
        return _validated(found, schema)
    chosen = _chosen([_validated(each, schema) for each in _objects(text)])
    if isinstance(chosen, Failure) and refusal(text) is not None:
        return Failure(Why.REFUSED, "the model said that it will not do this")
    return chosen


def _chosen(candidates: list[Answer | Failure]) -> Answer | Failure:
    """Of the objects in a text of prose the one that fits; two that differ are a guess."""
    fitting = [each for each in candidates if isinstance(each, BaseModel)]
    if not fitting:
        if candidates:
            return candidates[0]
        return Failure(Why.MALFORMED, "the answer holds no JSON object")
    if any(each != fitting[0] for each in fitting):
        return Failure(Why.INVALID, "the answer holds several objects that fit and differ")
    return fitting[0]


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at, tries = text.find("{"), 0
    while at >= 0 and tries < MOST_CANDIDATES:
        tries += 1
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _refuse(name: str) -> None:
    raise ValueError(name)


def _validated(value: dict[str, Any], schema: type[Answer]) -> Answer | Failure:
    try:
        # By way of JSON, whose strict mode takes the strings of enums and dates.
        return schema.model_validate_json(json.dumps(_repaired(value)), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        # The last part is a key that the model made up.
        place = first["loc"][:-1] if first["type"] == "extra_forbidden" else first["loc"]
        where = ".".join(map(str, place)) or "the whole"
        return Failure(
            Why.INVALID, f"the answer does not fit its schema ({where}: {first['type']})"
        )
    except (ValueError, RecursionError):
        return Failure(Why.INVALID, "the answer does not fit its schema")


def _repaired(value: Any) -> Any:
    match value:
        case str():
            return repair(value).text
        case list():
            return [_repaired(each) for each in value]
        case dict():
            return {repair(key).text: _repaired(each) for key, each in value.items()}
        case _:
            return value
