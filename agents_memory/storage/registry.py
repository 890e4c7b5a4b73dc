"""The registry of project tags as its users keep it, and who changed what."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection, advisory_key

SQL = queries.load("registry")


class Change(StrEnum):
    """What can be done to the registry."""

    ADD = "add"
    DESCRIBE = "describe"
    ALIAS = "alias"
    UNALIAS = "unalias"
    CONFIRM = "confirm"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Entry:
    """A tag with the number of messages filed under its very name; `origin`: who made it known."""

    id: int
    name: str
    description: str
    kind: str
    origin: str
    alias_of: str | None
    messages: int


@dataclass(frozen=True, slots=True)
class KnownTag:
    """A tag, and the id and name of the tag it stands for, if any."""

    id: int
    name: str
    description: str
    alias_of: int | None
    alias_name: str | None


@dataclass(frozen=True, slots=True)
class Changed:
    """One line of the account of changes; `via` is cli, tool or daemon."""

    at: datetime
    actor: str
    device: str
    via: str
    action: Change
    tag: str | None
    target: str | None
    suggestion: int | None


async def lock_registry(connection: Connection, schema: str) -> None:
    """Lets changes of the registry come one after the other, until the transaction ends."""
    await connection.execute(SQL["lock_registry"].sql, advisory_key(schema, "project_tags"))


async def list_registry(connection: Connection) -> list[Entry]:
    """Every tag, the fullest first."""
    return [Entry(**dict(row)) for row in await connection.fetch(SQL["list_registry"].sql)]


async def list_aliases(connection: Connection) -> dict[int, int]:
    """For each alias the tag it stands for."""
    rows = await connection.fetch(SQL["list_aliases"].sql)
    return {row["id"]: row["alias_of"] for row in rows}


async def find_tag(connection: Connection, name: str) -> KnownTag | None:
    """A tag by its normalised name."""
    row = await connection.fetchrow(SQL["find_tag"].sql, name)
    return None if row is None else KnownTag(**dict(row))


async def insert_tag(connection: Connection, name: str, description: str) -> int | None:
    """The id of a new tag; None when it was there."""
    value = await connection.fetchval(SQL["insert_tag"].sql, name, description)
    return None if value is None else int(value)


async def write_description(connection: Connection, tag: int, description: str) -> None:
    """Writes what a tag is about, at most 200 characters."""
    await connection.execute(SQL["write_description"].sql, tag, description)


async def write_alias(connection: Connection, tag: int, target: int | None) -> None:
    """Lets a tag stand for another; None: for itself again."""
    await connection.execute(SQL["write_alias"].sql, tag, target)


async def record_change(
    connection: Connection,
    action: Change,
    *,
    actor: str,
    device: str,
    via: str,
    tag: int | None = None,
    target: int | None = None,
    suggestion: int | None = None,
) -> None:
    """Keeps who changed what; nothing of it is ever changed."""
    await connection.execute(
        SQL["insert_change"].sql, actor, device, via, action, tag, target, suggestion
    )


async def list_changes(connection: Connection, limit: int) -> list[Changed]:
    """The newest first."""
    rows = await connection.fetch(SQL["list_changes"].sql, limit)
    return [Changed(**{**dict(row), "action": Change(row["action"])}) for row in rows]
