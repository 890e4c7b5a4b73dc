"""JSON schemas as clients can use them: no titles, no nulls, definitions in place."""

from typing import Any

from pydantic import BaseModel

from hot.answers import Answer, Failure

# Pydantic leaves its own words where a bound stands outside of a validator.
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
}


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments; optional ones are simply not required."""
    return _lean(model.model_json_schema(by_alias=True)) | {"additionalProperties": False}


def output_schema(answer: type[Answer]) -> dict[str, Any]:
    """The schema of what a tool answers: its answer, or `ok: false` with an error."""
    schema = _lean(answer.model_json_schema(mode="serialization"))
    failure = _lean(Failure.model_json_schema(mode="serialization"))
    properties = {"ok": {"type": "boolean", "description": "Whether it was done"}}
    properties |= {key: value for key, value in schema["properties"].items() if key != "ok"}
    properties["error"] = failure
    return {"type": "object", "properties": properties, "required": ["ok"]}


def _lean(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.pop("$defs", {})

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
        return {
            _BOUNDS.get(key, key): {name: walk(part) for name, part in value.items()}
            if key == "properties"
            else walk(value)
            for key, value in node.items()
            if key != "title"
        }

    lean: dict[str, Any] = walk(schema)
    return lean
