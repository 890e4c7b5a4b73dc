"""JSON with comments as a tree: values with the places they stand at.

What is strict JSON is read by the standard library's scanner, a hundred times as fast: a file of
megabytes is walked through by hand only where it is commented, and on the way to the member that is
asked for.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents_memory.domain.errors import MemoryFault

MAX_DEPTH = 100
_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.0-9A-Za-z]+")
# The way to what is asked for; None: it leads elsewhere.
Way = Sequence[str | int] | None


class NotJson(MemoryFault):
    """The text is no JSON, not even with comments; names the line."""


@dataclass(slots=True)
class Node:
    """A value and where it stands; `entries` are (key, start of the entry, value), of an object or
    array that was walked through."""

    start: int
    value: Any
    end: int = 0
    entries: list[tuple[str | int, int, "Node"]] = field(default_factory=list)
    trailing_comma: int | None = None


def parse(text: str, path: Way) -> Node | None:
    """The whole text; `entries` are there along `path`, and of what its last key names."""
    start = skip(text, 0)
    if start == len(text):
        return None
    node = _value(text, start, 0, path)
    if (end := skip(text, node.end)) != len(text):
        raise _wrong(text, end)
    return node


def skip(text: str, at: int) -> int:
    """Where the blanks and comments from `at` on end."""
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _unlike(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these members; ValueError where one key stands twice."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError
    return value


_STRICT = json.JSONDecoder(object_pairs_hook=_unlike)


def _value(text: str, at: int, depth: int, path: Way) -> Node:
    if depth > MAX_DEPTH:
        raise _wrong(text, at)
    if path is None and (node := _strict(text, at)):
        return node
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth, path)
        case "[":
            return _array(text, at, depth, path)
        case '"':
            value, end = _string(text, at)
            return Node(at, value, end)
    found = _WORD.match(text, at)
    try:
        if found is None:
            raise _wrong(text, at)
        return Node(at, json.loads(found[0]), found.end())
    except ValueError:
        raise _wrong(text, at) from None


def _strict(text: str, at: int) -> Node | None:
    """A value without comments, its entries not looked at; None where it is not so simple."""
    try:
        value, end = _STRICT.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return Node(at, value, end)


def _on(path: Way, key: str | int) -> Way:
    """What is asked for of the entry `key`, of what is asked for at `path`."""
    return path[1:] if path and path[0] == key else None


def _object(text: str, at: int, depth: int, path: Way) -> Node:
    node = Node(at, {})
    for start in _entries(text, node, "}"):
        key, end = _string(text, start)
        colon = skip(text, end)
        if text[colon : colon + 1] != ":":
            raise _wrong(text, colon)
        child = _value(text, skip(text, colon + 1), depth + 1, _on(path, key))
        # The last of two equal keys counts, as everywhere.
        node.entries.append((key, start, child))
        node.value[key] = child.value
    if len(node.value) != len(node.entries):
        raise NotJson(f"line {_line(text, at)} begins an object that has one key twice")
    return node


def _array(text: str, at: int, depth: int, path: Way) -> Node:
    node = Node(at, [])
    for start in _entries(text, node, "]"):
        child = _value(text, start, depth + 1, _on(path, len(node.entries)))
        node.entries.append((len(node.entries), start, child))
        node.value.append(child.value)
    return node


def _entries(text: str, node: Node, close: str) -> Iterator[int]:
    """Where each entry begins; the caller appends what it found there before it asks again."""
    at = skip(text, node.start + 1)
    while text[at : at + 1] != close:
        yield at
        at = skip(text, node.entries[-1][2].end)
        node.trailing_comma = None
        if text[at : at + 1] == ",":
            node.trailing_comma = at
            at = skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise _wrong(text, at)
    node.end = at + 1


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise _wrong(text, at)
    try:
        return str(json.loads(found[0])), found.end()
    except ValueError:
        raise _wrong(text, at) from None


def _wrong(text: str, at: int) -> NotJson:
    return NotJson(f"line {_line(text, at)} is no valid JSON")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
