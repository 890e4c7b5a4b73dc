"""JSON schemas as clients can use them: no titles, no nulls, definitions in place.

Those of our tools lie ready in `schemas.json`, as making them took a fortieth of a start.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any, TypedDict

from pydantic import BaseModel

from hot.answers import Answer, Failure

# Pydantic leaves its own words for bounds where one stands outside of a validator.
_WORDS = {
    # Whose cases exclude each other anyway; some clients know only this word.
    "oneOf": "anyOf",
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
}


class Schemas(TypedDict):
    """What a tool takes, and what it answers."""

    input: dict[str, Any]
    output: dict[str, Any]


@cache
def published() -> dict[str, Schemas]:
    """The schemas of our tools by name; `python -m hot.published` writes them."""
    found: dict[str, Schemas] = json.loads(files("hot").joinpath("schemas.json").read_bytes())
    return found


def generated(arguments: type[BaseModel], answer: type[Answer]) -> Schemas:
    """The schemas of a tool with these arguments and this answer."""
    return {
        "input": input_schema(arguments.model_json_schema()),
        "output": output_schema(answer),
    }


def input_schema(generated: dict[str, Any]) -> dict[str, Any]:
    """From pydantic's schema of a tool's arguments; optional ones are simply not required."""
    return _lean(generated) | {"additionalProperties": False}


def output_schema(answer: type[Answer]) -> dict[str, Any]:
    """The schema of what a tool answers: its answer, or `ok: false` with an error."""
    schema = _lean(answer.model_json_schema(mode="serialization"))
    properties = {"ok": {"type": "boolean", "description": "Whether it was done"}}
    properties |= {key: value for key, value in schema["properties"].items() if key != "ok"}
    properties["error"] = _failure_schema()
    return {"type": "object", "properties": properties, "required": ["ok"]}


@cache
def _failure_schema() -> dict[str, Any]:
    return _lean(Failure.model_json_schema(mode="serialization"))


def _lean(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.get("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(part) for part in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            target = definitions[node["$ref"].rsplit("/", 1)[-1]]
            return walk({**target, **{k: v for k, v in node.items() if k != "$ref"}})
        if "anyOf" in node:
            options = [option for option in node["anyOf"] if option != {"type": "null"}]
            if len(options) == 1:
                rest = {k: v for k, v in node.items() if k not in ("anyOf", "default")}
                return walk({**options[0], **rest})
            node = {**node, "anyOf": options}
        return {
            _WORDS.get(key, key): {name: walk(part) for name, part in value.items()}
            if key == "properties"
            else walk(value)
            for key, value in node.items()
            if key not in ("title", "$defs", "discriminator")
        }

    lean: dict[str, Any] = walk(schema)
    return lean
