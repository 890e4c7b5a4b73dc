"""What one user has, what of it fades, and what is there nearly twice."""

from dataclasses import dataclass
from datetime import datetime

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors import Model

SQL = queries.load("upkeep")


@dataclass(frozen=True, slots=True)
class Presence:
    """How present a memory is, as last computed; `touched_at` is None when it was never used."""

    id: int
    value: float
    touched_at: datetime | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories and their cosine; `other` is the older one."""

    id: int
    other: int
    cosine: float


async def list_fading(connection: Connection, user_id: int, limit: int) -> list[Presence]:
    """The memories that are least present, of those that can fade at all."""
    rows = await connection.fetch(SQL["list_fading"].sql, user_id, limit)
    return [Presence(**dict(row)) for row in rows]


async def list_faded(connection: Connection, user_id: int, below: float) -> set[int]:
    """Those of them whose activation is below a value."""
    rows = await connection.fetch(SQL["list_faded"].sql, user_id, below)
    return {row["id"] for row in rows}


async def count_items(connection: Connection, user_id: int) -> dict[str, int]:
    """How much a user has of each sort."""
    row = await connection.fetchrow(SQL["count_items"].sql, user_id)
    assert row is not None, "an aggregate without groups has one row"
    return dict(row)


async def count_kinds(connection: Connection, user_id: int) -> dict[str, int]:
    """Active memories of a user by kind."""
    rows = await connection.fetch(SQL["count_kinds"].sql, user_id)
    return {row["kind"]: row["count"] for row in rows}


async def count_events(connection: Connection, user_id: int) -> dict[str, int]:
    """How often items of a user were used (cited, and only inferred), and shown."""
    row = await connection.fetchrow(SQL["count_events"].sql, user_id)
    assert row is not None, "an aggregate without groups has one row"
    return dict(row)


async def list_newest(
    connection: Connection, user_id: int, before: int | None, limit: int
) -> list[int]:
    """Active memories with an id below `before`, the newest first."""
    rows = await connection.fetch(SQL["list_newest"].sql, user_id, before, limit)
    return [row["id"] for row in rows]


async def list_similar(
    connection: Connection,
    model: Model,
    user_id: int,
    ids: list[int],
    *,
    most: int,
    cosine: float,
) -> list[Pair]:
    """For each memory its `most` nearest older ones from a cosine on; the nearest pairs first."""
    sql = SQL["list_similar_memories"].render(table=model.memory_table)
    rows = await connection.fetch(sql, user_id, ids, most, cosine)
    return [Pair(**dict(row)) for row in rows]
