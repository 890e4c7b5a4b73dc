"""From a pydantic model to the JSON schema that every server can enforce.

The subset: objects with all keys required and no others, enums, strings and arrays with an upper
bound, whole and decimal numbers with both bounds, null by a list of types. No references, no
patterns. What is derived for one dialect is weaker, never stronger; every answer is validated by
its pydantic model anyway.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from pydantic import BaseModel

from agents_memory.domain.errors import ConfigurationError

Schema = dict[str, Any]

STRING_BOUNDS = ("minLength", "maxLength")
ARRAY_BOUNDS = ("minItems", "maxItems")
NUMBER_BOUNDS = ("minimum", "maximum")
KEYWORDS = (*STRING_BOUNDS, *ARRAY_BOUNDS, *NUMBER_BOUNDS)
"""What may be left out of a schema for a server that does not take it."""

_KEPT: dict[str, tuple[str, ...]] = {
    "string": STRING_BOUNDS,
    "integer": NUMBER_BOUNDS,
    "number": NUMBER_BOUNDS,
    "boolean": (),
    "null": (),
}
_NEEDED: dict[str, tuple[str, ...]] = {
    "string": ("maxLength",),
    "integer": NUMBER_BOUNDS,
    "number": NUMBER_BOUNDS,
}
_LONGEST_NUMBER = 24


@cache
def canonical(model: type[BaseModel]) -> Schema:
    """The schema of an answer, keys in the order of the model's fields; not to be changed.

    Raises ConfigurationError, naming the place, where the model is outside the subset.
    """
    raw = model.model_json_schema()
    return _node(raw, raw.get("$defs", {}), (model.__name__,))


def without(schema: Schema, *keywords: str) -> Schema:
    """The schema without some keywords, wherever they stand; keys of that name stay."""
    kept = {key: value for key, value in schema.items() if key not in keywords}
    return _rebuilt(kept, lambda child: without(child, *keywords))


def with_choices_for_null(schema: Schema) -> Schema:
    """The schema with `anyOf` in the place of lists of types."""
    rebuilt = _rebuilt(schema, with_choices_for_null)
    if not isinstance(rebuilt.get("type"), list):
        return rebuilt
    [kind] = [name for name in rebuilt["type"] if name != "null"]
    plain = {**rebuilt, "type": kind}
    if "enum" in plain:
        plain["enum"] = [value for value in plain["enum"] if value is not None]
    return {"anyOf": [plain, {"type": "null"}]}


def longest(schema: Schema) -> int:
    """An upper bound of the characters of an answer, as compact JSON with plain strings."""
    if "enum" in schema:
        return max(len(repr(value)) + 2 for value in schema["enum"])
    match _kind(schema):
        case "string":
            return max(int(schema["maxLength"]) + 2, len("null"))
        case "array":
            return 4 + int(schema["maxItems"]) * (longest(schema["items"]) + 1)
        case "object":
            members = schema["properties"].items()
            return 2 + sum(len(key) + 4 + longest(value) for key, value in members)
        case _:
            return _LONGEST_NUMBER


def nullable(schema: Schema) -> bool:
    """Whether null is an answer."""
    return isinstance(schema.get("type"), list) and "null" in schema["type"]


def _kind(schema: Schema) -> str:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return next((str(kind) for kind in kinds if kind != "null"), "null")


def _rebuilt(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    built = dict(schema)
    if "properties" in built:
        built["properties"] = {key: change(value) for key, value in built["properties"].items()}
    if "items" in built:
        built["items"] = change(built["items"])
    if "anyOf" in built:
        built["anyOf"] = [change(each) for each in built["anyOf"]]
    return built


def _node(raw: Schema, definitions: dict[str, Schema], path: tuple[str, ...]) -> Schema:
    raw = _resolved(raw, definitions, path)
    if "const" in raw:
        raw = {**raw, "enum": [raw["const"]]}
    if "enum" in raw:
        return _enum(raw["enum"], path)
    if "anyOf" in raw:
        return _optional(raw["anyOf"], definitions, path)
    match kind := raw.get("type"):
        case "object":
            return _object(raw, definitions, path)
        case "array":
            if "maxItems" not in raw or "items" not in raw:
                raise _outside(path, "a list needs a type of its items and max_length")
            items = _node(raw["items"], definitions, (*path, "[]"))
            return {"type": "array", "items": items, **_bounds(raw, ARRAY_BOUNDS)}
        case str() if kind in _KEPT:
            if missing := [name for name in _NEEDED.get(kind, ()) if name not in raw]:
                raise _outside(path, f"a {kind} needs {' and '.join(missing)}")
            _refuse_others(raw, (*_KEPT[kind], "type"), path)
            if kind == "number" and any(raw[name] != int(raw[name]) for name in NUMBER_BOUNDS):
                raise _outside(path, "a number needs whole bounds")
            return {"type": kind, **_bounds(raw, _KEPT[kind])}
    raise _outside(path, "this kind of field is not in the subset")


def _resolved(raw: Schema, definitions: dict[str, Schema], path: tuple[str, ...]) -> Schema:
    while "$ref" in raw:
        name = raw["$ref"].removeprefix("#/$defs/")
        if name not in definitions or len(path) > 32:
            raise _outside(path[:8], "a model that holds itself has no bounds")
        raw = definitions[name]
    return raw


def _enum(values: list[Any], path: tuple[str, ...]) -> Schema:
    kinds = {_type_of(value, path) for value in values}
    plain = sorted(kinds - {"null"})
    if len(plain) != 1:
        raise _outside(path, "an enum needs values of one type")
    return {"type": [plain[0], "null"] if "null" in kinds else plain[0], "enum": values}


def _type_of(value: object, path: tuple[str, ...]) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case str() if not any("\ud800" <= character <= "\udfff" for character in value):
            return "string"
    raise _outside(path, "an enum holds whole numbers or legal strings")


def _optional(
    choices: list[Schema], definitions: dict[str, Schema], path: tuple[str, ...]
) -> Schema:
    plain = [choice for choice in choices if choice.get("type") != "null"]
    if len(plain) != 1 or len(choices) != 2:
        raise _outside(path, "of alternatives only `| None` is in the subset")
    node = _node(plain[0], definitions, path)
    if nullable(node):
        return node
    built = {**node, "type": [node["type"], "null"]}
    if "enum" in built:
        built["enum"] = [*built["enum"], None]
    return built


def _object(raw: Schema, definitions: dict[str, Schema], path: tuple[str, ...]) -> Schema:
    properties = raw.get("properties", {})
    if not properties or isinstance(raw.get("additionalProperties"), dict):
        raise _outside(path, "an object needs named fields")
    return {
        "type": "object",
        "properties": {
            key: _node(value, definitions, (*path, key)) for key, value in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }


def _bounds(raw: Schema, names: tuple[str, ...]) -> Schema:
    return {name: int(raw[name]) for name in names if name in raw}


def _refuse_others(raw: Schema, known: tuple[str, ...], path: tuple[str, ...]) -> None:
    described = {"title", "description", "default", "examples"}
    if others := sorted(set(raw) - set(known) - described):
        raise _outside(path, f"{', '.join(others)} cannot be enforced everywhere")


def _outside(path: tuple[str, ...], what: str) -> ConfigurationError:
    return ConfigurationError(f"{'.'.join(path)}: {what}; change the answer's model")
