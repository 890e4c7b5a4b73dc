"""JSON with comments, as people keep it: read, and changed without touching the rest of the text.

Comments (`//`, `/* */`), trailing commas and a byte order mark are understood. An edit changes the
characters of one member only, the way editors of settings do it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents_memory.domain.errors import MemoryFault

MAX_DEPTH = 100
APPEND = "-"
_BLANK = " \t\r\n"
_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.0-9A-Za-z]+")


class NotJson(MemoryFault):
    """The text is no JSON, not even with comments; names the line."""


@dataclass(slots=True)
class _Node:
    """A value and where it stands; `entries` are (key, start of the entry, value)."""

    start: int
    value: Any
    end: int = 0
    entries: list[tuple[str | int, int, "_Node"]] = field(default_factory=list)
    trailing_comma: int | None = None


def read(text: str) -> Any:
    """The value of `text`; None of blank text. Raises NotJson."""
    tree = _parse(text)
    return None if tree is None else tree.value


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """`text` where the member at `path` is `value`; what is missing on the way is made.

    The key `-` appends to an array, as in JSON Pointer (RFC 6901). Raises NotJson, also where
    something else than an object stands in the way.
    """
    tree = _parse(text)
    if tree is None:
        return text + json.dumps(_nested(path, value), ensure_ascii=False, indent=2) + "\n"
    node, depth = _follow(tree, path)
    rest = path[depth:]
    if not rest:
        shown = _dump(value, _indent_at(text, node.start), text)
        return text[: node.start] + shown + text[node.end :]
    if isinstance(node.value, dict):
        return _appended(text, node, rest[0], _nested(rest[1:], value))
    if isinstance(node.value, list) and rest[0] == APPEND:
        return _appended(text, node, None, _nested(rest[1:], value))
    raise NotJson(f"{'.'.join(path[:depth]) or 'the document'} is not what belongs there")


def without(text: str, path: Sequence[str | int]) -> str:
    """`text` without the member or item at `path`; unchanged when there is none. Raises NotJson."""
    tree = _parse(text)
    if tree is None or not path:
        return text
    node, depth = _follow(tree, path[:-1])
    if depth < len(path) - 1:
        return text
    for at, (key, start, child) in enumerate(node.entries):
        if key == path[-1]:
            return _cut(text, node, at, start, child)
    return text


def _cut(text: str, node: _Node, at: int, start: int, child: _Node) -> str:
    if at + 1 < len(node.entries):
        # Up to the next entry's own line, so that its comments stay with it.
        end = _skip(text, child.end) + 1
    elif at > 0:
        before = node.entries[at - 1][2].end
        end = child.end if node.trailing_comma is None else node.trailing_comma + 1
        comma = _skip(text, before)
        kept = text[comma + 1 : start].rstrip(_BLANK)
        return text[:comma] + kept + text[end:]
    else:
        end = child.end if node.trailing_comma is None else node.trailing_comma + 1
    return text[:start].rstrip(_BLANK) + _line_end(text, start, end) + text[end:].lstrip(" \t")


def _line_end(text: str, start: int, end: int) -> str:
    # What stood before the entry on its own line, unless the text goes on with a line of its own.
    gap = text[len(text[:start].rstrip(_BLANK)) : start]
    following = text[end:].lstrip(" \t")
    return "" if following.startswith(("\n", "\r")) else gap


def _appended(text: str, node: _Node, key: str | None, value: object) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _indent_at(text, node.start)
    inner = _indent_at(text, node.entries[0][1]) if node.entries else ""
    if len(inner) <= len(outer):
        inner = outer + _step(text)
    shown = _dump(value, inner, text)
    if key is not None:
        shown = f"{json.dumps(key, ensure_ascii=False)}: {shown}"
    close = node.end - 1
    head = text[:close]
    if node.entries and node.trailing_comma is None:
        last = node.entries[-1][2].end
        head = text[:last] + "," + text[last:close]
    return f"{head.rstrip(_BLANK)}{newline}{inner}{shown}{newline}{outer}{text[close:]}"


def _dump(value: object, indent: str, text: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_step(text)).split("\n")
    return ("\r\n" if "\r\n" in text else "\n").join(
        [lines[0], *(indent + one for one in lines[1:])]
    )


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """One level of indentation, as the text has it."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return "  " if found is None or len(found[1]) > 8 else found[1]


def _follow(node: _Node, path: Sequence[str | int]) -> tuple[_Node, int]:
    """The deepest node on `path`, and how many steps lead to it."""
    for depth, key in enumerate(path):
        child = next((child for name, _, child in node.entries if name == key), None)
        if child is None:
            return node, depth
        node = child
    return node, len(path)


def _parse(text: str) -> _Node | None:
    start = _skip(text, 0)
    if start == len(text):
        return None
    node = _value(text, start, 0)
    if (end := _skip(text, node.end)) != len(text):
        raise _wrong(text, end)
    return node


def _value(text: str, at: int, depth: int) -> _Node:
    if depth > MAX_DEPTH:
        raise _wrong(text, at)
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case '"':
            value, end = _string(text, at)
            return _Node(at, value, end)
    found = _WORD.match(text, at)
    try:
        if found is None:
            raise _wrong(text, at)
        return _Node(at, json.loads(found[0]), found.end())
    except ValueError:
        raise _wrong(text, at) from None


def _object(text: str, at: int, depth: int) -> _Node:
    node = _Node(at, {})
    for start in _entries(text, node, "}"):
        key, end = _string(text, start)
        colon = _skip(text, end)
        if text[colon : colon + 1] != ":":
            raise _wrong(text, colon)
        child = _value(text, _skip(text, colon + 1), depth + 1)
        # The last of two equal keys counts, as everywhere.
        node.entries.append((key, start, child))
        node.value[key] = child.value
    if len(node.value) != len(node.entries):
        raise NotJson(f"line {_line(text, at)} begins an object that has one key twice")
    return node


def _array(text: str, at: int, depth: int) -> _Node:
    node = _Node(at, [])
    for start in _entries(text, node, "]"):
        child = _value(text, start, depth + 1)
        node.entries.append((len(node.entries), start, child))
        node.value.append(child.value)
    return node


def _entries(text: str, node: _Node, close: str) -> Iterator[int]:
    """Where each entry begins; the caller appends what it found there before it asks again."""
    at = _skip(text, node.start + 1)
    while text[at : at + 1] != close:
        yield at
        at = _skip(text, node.entries[-1][2].end)
        node.trailing_comma = None
        if text[at : at + 1] == ",":
            node.trailing_comma = at
            at = _skip(text, at + 1)
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


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _wrong(text: str, at: int) -> NotJson:
    return NotJson(f"line {_line(text, at)} is no valid JSON")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
