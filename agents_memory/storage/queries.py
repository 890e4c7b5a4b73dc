"""Loads the named SQL statements that lie in `storage/sql/`.

A statement starts with `-- name: verb_noun`, followed by one comment line that says what it is for.
A `(template)` holds `{identifiers}`, which `render` fills in after checking them. A line
`-- include: name` stands for a fragment of `filters.sql`, which begins with `-- fragment: name` and
may include those before it.
"""

import re
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import NamedTuple

from agents_memory.domain.errors import ConfigurationError

_HEADER = re.compile(r"^-- name: (?P<name>[a-z][a-z0-9_]*)(?P<template> \(template\))?\s*$", re.M)
_FRAGMENT = re.compile(r"^-- fragment: (?P<name>[a-z][a-z0-9_]*)\s*$", re.M)
_INCLUDE = re.compile(r"^-- include: (?P<name>[a-z][a-z0-9_]*)$", re.M)
FRAGMENTS = "filters"
_IDENTIFIER = re.compile(r'(?:[a-z_][a-z0-9_]{0,62}|"(?:[^"\x00]|"")+")\Z')


class Statement(NamedTuple):
    """One named statement; `sql` is what is sent, comment line included."""

    name: str
    sql: str
    template: bool

    def render(self, **names: str | int) -> str:
        """The SQL with its identifiers filled in.

        Raises ConfigurationError when a name is no plain or quoted identifier and no number.
        """
        if not self.template:
            raise ConfigurationError(f"{self.name} is no template; use its sql as it is")
        for key, value in names.items():
            if isinstance(value, str) and not _IDENTIFIER.match(value):
                raise ConfigurationError(f"{self.name}: {key} is no SQL identifier")
        return self.sql.format_map({key: str(value) for key, value in names.items()})


@cache
def load(aggregate: str) -> MappingProxyType[str, Statement]:
    """The statements of `sql/<aggregate>.sql` by name; duplicates and empty ones are refused."""
    return MappingProxyType(_parse(aggregate, _read(aggregate)))


def aggregates() -> tuple[str, ...]:
    """The names of all statement files."""
    folder = resources.files("agents_memory.storage").joinpath("sql")
    names = {f.name[:-4] for f in folder.iterdir() if f.name.endswith(".sql")}
    return tuple(sorted(names - {FRAGMENTS}))


def _read(name: str) -> str:
    source = resources.files("agents_memory.storage").joinpath(f"sql/{name}.sql")
    return source.read_text(encoding="utf-8")


@cache
def _fragments() -> dict[str, str]:
    _, *parts = _FRAGMENT.split(_read(FRAGMENTS))
    found: dict[str, str] = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        found[name] = _INCLUDE.sub(lambda of: found[of["name"]], text.strip())
    return found


def _parse(aggregate: str, text: str) -> dict[str, Statement]:
    headers = list(_HEADER.finditer(text))
    statements: dict[str, Statement] = {}
    for header, following in zip(headers, [*headers[1:], None], strict=True):
        name = header["name"]
        sql = text[header.end() : following.start() if following else len(text)].strip()
        body = [line for line in sql.splitlines() if line and not line.startswith("--")]
        if name in statements or not body:
            raise ConfigurationError(f"{aggregate}.sql: {name} is empty or stands there twice")
        sql = _INCLUDE.sub(lambda found: _fragments()[found["name"]], sql)
        statements[name] = Statement(name, f"-- {name}\n{sql}", header["template"] is not None)
    return statements
