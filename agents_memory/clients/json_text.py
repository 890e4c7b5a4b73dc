"""JSON with comments, as people keep it: read, and changed without touching the rest of the text.

Comments (`//`, `/* */`), trailing commas and a byte order mark are understood. An edit changes the
characters of one member only, the way editors of settings do it.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agents_memory.clients.json_tree import Node, NotJson, parse, skip

APPEND = "-"
_BLANK = " \t\r\n"


@lru_cache(maxsize=4)
def read(text: str) -> Any:
    """The value of `text`, not to be changed; None of blank text. Raises NotJson."""
    tree = parse(text, None)
    return None if tree is None else tree.value


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """`text` where the member at `path` is `value`; what is missing on the way is made.

    The key `-` appends to an array, as in JSON Pointer (RFC 6901). Raises NotJson, also where
    something else than an object stands in the way.
    """
    tree = parse(text, path)
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
    tree = parse(text, path[:-1])
    if tree is None or not path:
        return text
    node, depth = _follow(tree, path[:-1])
    if depth < len(path) - 1:
        return text
    for at, (key, start, child) in enumerate(node.entries):
        if key == path[-1]:
            return _cut(text, node, at, start, child)
    return text


def unappended(text: str, path: Sequence[str | int], appended: str, before: str) -> str | None:
    """`text` where what `with_value` appended at `path`, making `appended` of `before`, is taken
    back just as it was put in; None where it is not as it was left, or was not appended.

    Raises NotJson.
    """
    tree = parse(before, path)
    if tree is None:
        return None
    old, depth = _follow(tree, path)
    made, there = (_node_at(one, path[:depth]) for one in (appended, text))
    if depth == len(path) or made is None or there is None:
        return None
    left = _rest(appended, made, len(old.entries))
    if _rest(text, there, len(there.entries) - 1) != left:
        return None
    return text[: there.end - len(left)] + _rest(before, old, len(old.entries)) + text[there.end :]


def _node_at(text: str, path: Sequence[str | int]) -> Node | None:
    tree = parse(text, path)
    if tree is None:
        return None
    node, depth = _follow(tree, path)
    return node if depth == len(path) else None


def _rest(text: str, node: Node, entries: int) -> str:
    """What of an object or array comes after its first entries."""
    kept = node.entries[: max(0, entries)]
    return text[kept[-1][2].end if kept else node.start + 1 : node.end]


def _cut(text: str, node: Node, at: int, start: int, child: Node) -> str:
    if at + 1 < len(node.entries):
        # Up to the next entry's own line, so that its comments stay with it.
        end = skip(text, child.end) + 1
    elif at > 0:
        before = node.entries[at - 1][2].end
        end = child.end if node.trailing_comma is None else node.trailing_comma + 1
        comma = skip(text, before)
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


def _appended(text: str, node: Node, key: str | None, value: object) -> str:
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


def _follow(node: Node, path: Sequence[str | int]) -> tuple[Node, int]:
    """The deepest node on `path`, and how many steps lead to it."""
    for depth, key in enumerate(path):
        child = next((child for name, _, child in node.entries if name == key), None)
        if child is None:
            return node, depth
        node = child
    return node, len(path)
