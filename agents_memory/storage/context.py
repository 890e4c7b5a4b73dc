"""The context column: derived lexemes of what stands around a message."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("context")


@dataclass(frozen=True, slots=True)
class Surrounded:
    """A message and the turn before it; `said_at` is None when nobody knows when it was said."""

    id: int
    text: str
    said_at: datetime | None
    previous_id: int | None
    previous: str | None


async def list_with_previous(connection: Connection, ids: Sequence[int]) -> list[Surrounded]:
    """The messages with what was said before them; ids of other kinds are left out."""
    rows = await connection.fetch(SQL["list_with_previous"].sql, list(ids))
    return [
        Surrounded(
            id=row["id"],
            text=row["message"],
            said_at=row["said_at"] if row["dated"] else None,
            previous_id=row["previous_id"],
            previous=row["previous"],
        )
        for row in rows
    ]


async def list_successors(connection: Connection, message_ids: Sequence[int]) -> list[int]:
    """The messages whose contexts were built before one of these was known."""
    rows = await connection.fetch(SQL["list_successors"].sql, list(message_ids))
    return [row["id"] for row in rows]


@dataclass(frozen=True, slots=True)
class Context:
    """The lexemes of what stands around a message, and how many words it has."""

    message_id: int
    previous_id: int | None
    lexemes: str
    lexeme_count: int


async def write_contexts(connection: Connection, contexts: Sequence[Context]) -> None:
    """Puts the context of each message in the place of an older one."""
    await connection.executemany(
        SQL["write_context"].sql,
        [(one.message_id, one.previous_id, one.lexemes, one.lexeme_count) for one in contexts],
    )
