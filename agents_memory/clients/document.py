"""A configuration file's text, JSON or TOML, read and changed at one member; the rest stays."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from agents_memory.clients import json_text
from agents_memory.clients.json_tree import NotJson
from agents_memory.domain.errors import MemoryFault

_BOM = "\ufeff"


class Unreadable(MemoryFault):
    """The file is not in the form its client reads, so that we leave it alone."""


def find(file: Path, text: str, keys: Sequence[str]) -> Any:
    """The value of the member at `keys`, None when there is none. Raises Unreadable."""
    try:
        value: Any = _toml(text).unwrap() if _is_toml(file) else json_text.read(text)
    except (TOMLKitError, NotJson, RecursionError) as error:
        raise Unreadable(f"{file} cannot be read: {error}") from error
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def has(value: Any, keys: Sequence[str | int]) -> bool:
    """Whether a document's value has a member at `keys`, whatever that is."""
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def with_member(file: Path, text: str, keys: Sequence[str], value: object) -> str:
    """`text` with `value` at `keys`; checked to hold that and to be otherwise the same.

    Raises Unreadable.
    """
    before = find(file, text, ())
    after = with_unchecked(file, text, keys, value)
    return _checked(file, after, _with({} if before is None else before, keys, value))


def with_unchecked(file: Path, text: str, keys: Sequence[str], value: object) -> str:
    """The same, only to be compared with: nobody has looked what became of the rest."""
    try:
        if _is_toml(file):
            return _toml_with(file, text, keys, value)
        return json_text.with_value(text, keys, value)
    except (TOMLKitError, NotJson, TypeError) as error:
        raise Unreadable(f"{file} cannot be changed: {error}") from error


def without_member(file: Path, text: str, keys: Sequence[str | int]) -> str:
    """`text` without what is at `keys`; checked to be otherwise the same. Raises Unreadable."""
    expected = _without(find(file, text, ()), keys)
    if _is_toml(file):
        document = _toml(text)
        node: Any = document
        for key in keys[:-1]:
            node = node[key]
        del node[keys[-1]]
        return _checked(file, _mark(text) + tomlkit.dumps(document), expected)
    return _checked(file, json_text.without(text, keys), expected)


def as_before(
    file: Path, text: str, keys: Sequence[str | int], installed: str, before: str
) -> str | None:
    """`text` where what is at `keys`, which made `installed` of `before`, is taken back so that its
    place has its old form; None where somebody wrote just there since. Raises Unreadable.
    """
    if _is_toml(file):
        return None
    try:
        after = json_text.unappended(text, keys, installed, before)
    except NotJson:
        return None
    if after is None:
        return None
    there_before = find(file, before, ())
    ours = next(at for at in range(1, len(keys) + 1) if not has(there_before, keys[:at]))
    expected = _without(find(file, text, ()), keys[:ours])
    return after if find(file, after, ()) == expected else None


def _checked(file: Path, after: str, expected: Any) -> str:
    found = find(file, after, ())
    if _is_toml(file):
        # A TOML table that holds nothing may have no place in the text.
        found, expected = _filled(found), _filled(expected)
    try:
        same = bool(found == expected)
    except RecursionError:
        same = False
    if not same:
        raise Unreadable(f"{file} has a form that cannot be changed safely; edit it by hand")
    return after


def _filled(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    filled = {key: _filled(item) for key, item in value.items()}
    return {key: item for key, item in filled.items() if item != {}}


def _with(holder: Any, keys: Sequence[str], value: object) -> Any:
    """A document's value with `value` at `keys`; the old one stays as it is."""
    if not keys:
        return value
    if isinstance(holder, list):
        return [*holder, _with({}, keys[1:], value)]
    return {**holder, keys[0]: _with(holder.get(keys[0], {}), keys[1:], value)}


def _without(holder: Any, keys: Sequence[str | int]) -> Any:
    """A document's value without what is at `keys`; the old one stays as it is."""
    changed = holder.copy()
    if len(keys) == 1:
        del changed[keys[0]]
    else:
        changed[keys[0]] = _without(changed[keys[0]], keys[1:])
    return changed


def _toml_with(file: Path, text: str, keys: Sequence[str], value: object) -> str:
    document = _toml(text)
    node: Any = document
    for depth, key in enumerate(keys[:-1]):
        if key not in node:
            node[key] = tomlkit.table(is_super_table=depth == 0)
        node = node[key]
        if not isinstance(node, dict):
            name = ".".join(keys[: depth + 1])
            raise Unreadable(
                f"{file} cannot be changed: {name} is no table; make it one ([{name}]), then run "
                "this again"
            )
    if isinstance(value, dict) and isinstance(node.get(keys[-1]), dict):
        _update(node[keys[-1]], value)
    else:
        node[keys[-1]] = value
    return _mark(text) + tomlkit.dumps(document)


def _update(table: Any, value: dict[str, object]) -> None:
    # In place, so that the comments beside what stays the same stay too.
    for key in [key for key in table if key not in value]:
        del table[key]
    for key, item in value.items():
        if key not in table or table[key] != item:
            table[key] = item


def _toml(text: str) -> tomlkit.TOMLDocument:
    return tomlkit.parse(text.removeprefix(_BOM))


def _mark(text: str) -> str:
    return _BOM if text.startswith(_BOM) else ""


def _is_toml(file: Path) -> bool:
    return file.suffix == ".toml"
