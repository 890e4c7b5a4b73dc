"""From a schema of `cold.llm.schemas` to a GBNF grammar for llama.cpp.

Our own, because the one of llama-cpp-python ignores number bounds, lets raw control characters into
strings, and crashes the process on quotes in an enum and on long strings. The answers are compact
JSON with the keys in the order of the schema. Strings hold no control characters and no `\\u`
escapes, which would let in NUL and lone surrogates.
"""

import json
from collections.abc import Iterator
from typing import Any

from cold.llm.schemas import Schema, nullable

DECIMALS = 3
_CHARACTER = r'[^"\\\x00-\x1F\x7F] | "\\" ["\\/nt]'


def compile_schema(schema: Schema) -> str:
    """The grammar, whose start is `root`; `schema` is what `schemas.canonical` makes."""
    compiler = _Compiler()
    root = compiler.rule(schema)
    rules = {"root": root, **compiler.rules}
    return "".join(f"{name} ::= {body}\n" for name, body in rules.items())


def literal(text: str) -> str:
    """The terminal that matches exactly `text`."""
    return '"' + "".join(map(_escaped, text)) + '"'


def integer_range(low: int, high: int) -> str:
    """Alternatives that match exactly the whole numbers from `low` to `high` (inclusive)."""
    alternatives = []
    if low < 0:
        negative = " | ".join(_magnitudes(max(1, -high), -low))
        alternatives.append(f'"-" ({negative})')
    if high >= 0:
        alternatives += _magnitudes(max(low, 0), high)
    return " | ".join(alternatives)


def decimal_range(low: int, high: int) -> str:
    """Alternatives that match decimals from `low` to `high` with up to `DECIMALS` digits."""
    alternatives = []
    if low < 0:
        alternatives.append(f'"-" ({_decimals(max(0, -high), -low)})')
    if high >= 0:
        alternatives.append(_decimals(max(low, 0), high))
    return " | ".join(alternatives)


class _Compiler:
    """Collects rules; equal ones have one name."""

    def __init__(self) -> None:
        self.rules: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def rule(self, schema: Schema) -> str:
        """The name of the rule for a schema."""
        if "enum" in schema:
            # Null stands among the values.
            return self._named("enum", " | ".join(map(_json_literal, schema["enum"])))
        if nullable(schema):
            kind = next(name for name in schema["type"] if name != "null")
            return self._named("optional", f'{self.rule({**schema, "type": kind})} | "null"')
        match schema["type"]:
            case "object":
                return self._named("object", self._object(schema))
            case "array":
                return self._named("array", self._array(schema))
            case "string":
                return self._named("string", self._string(schema))
            case "integer":
                bounds = integer_range(schema["minimum"], schema["maximum"])
                return self._named("integer", bounds)
            case "number":
                return self._named("number", decimal_range(schema["minimum"], schema["maximum"]))
            case "boolean":
                return self._named("boolean", '"true" | "false"')
            case _:
                return self._named("null", '"null"')

    def _object(self, schema: Schema) -> str:
        members = [
            f"{literal(json.dumps(key, ensure_ascii=False) + ':')} {self.rule(value)}"
            for key, value in schema["properties"].items()
        ]
        return '"{" ' + ' "," '.join(members) + ' "}"'

    def _array(self, schema: Schema) -> str:
        least, most = schema.get("minItems", 0), schema["maxItems"]
        if most == 0:
            return '"[]"'
        item = self.rule(schema["items"])
        items = item if most == 1 else f'{item} ("," {item}){{{max(least - 1, 0)},{most - 1}}}'
        return f'"[" {items} "]"' if least else f'"[" ({items})? "]"'

    def _string(self, schema: Schema) -> str:
        least, most = schema.get("minLength", 0), schema["maxLength"]
        character = self._named("character", _CHARACTER)
        return f'"\\"" {character}{{{least},{most}}} "\\""'

    def _named(self, kind: str, body: str) -> str:
        if body not in self._names:
            name = f"{kind}-{len(self._names)}"
            self._names[body] = name
            self.rules[name] = body
        return self._names[body]


def _json_literal(value: Any) -> str:
    return literal(json.dumps(value, ensure_ascii=False))


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character < " " or character == "\x7f":
        return f"\\x{ord(character):02X}"
    return character


def _decimals(low: int, high: int) -> str:
    """Decimals from `low` (0 or more) to `high`, which itself has only zeros behind it."""
    last = f'{literal(str(high))} ("." "0"{{1,{DECIMALS}}})?'
    if low == high:
        return last
    whole = " | ".join(_magnitudes(low, high - 1))
    return f'({whole}) ("." [0-9]{{1,{DECIMALS}}})? | {last}'


def _magnitudes(low: int, high: int) -> list[str]:
    """Alternatives for `low` (0 or more) to `high`, one number of digits after the other."""
    alternatives: list[str] = []
    for length in range(len(str(low)), len(str(high)) + 1):
        least = max(low, 0 if length == 1 else 10 ** (length - 1))
        most = min(high, 10**length - 1)
        alternatives += _same_length(str(least), str(most), "")
    return alternatives


def _same_length(low: str, high: str, before: str) -> Iterator[str]:
    """Alternatives for the numbers between two of the same length, `before` in front of each."""
    if low == high:
        yield literal(before + low)
        return
    shared = next(i for i, (a, b) in enumerate(zip(low, high, strict=True)) if a != b)
    before, low, high = before + low[:shared], low[shared:], high[shared:]
    rest = len(low) - 1
    whole_low, whole_high = low[1:] == "0" * rest, high[1:] == "9" * rest
    first, last = int(low[0]) + (not whole_low), int(high[0]) - (not whole_high)
    if not whole_low:
        yield from _same_length(low[1:], "9" * rest, before + low[0])
    if first <= last:
        lead = f"{literal(before)} " if before else ""
        yield f"{lead}[{first}-{last}]" + (f" [0-9]{{{rest}}}" if rest else "")
    if not whole_high:
        yield from _same_length("0" * rest, high[1:], before + high[0])
