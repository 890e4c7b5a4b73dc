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


async def find_successor(connection: Connection, message_id: int) -> int | None:
    """The message whose context was built before this one was known."""
    value = await connection.fetchval(SQL["find_successor"].sql, message_id)
    return None if value is None else int(value)


async def write_context(
    connection: Connection,
    message_id: int,
    previous_id: int | None,
    *,
    lexemes: str,
    lexeme_count: int,
) -> None:
    """Puts the context of a message in the place of an older one."""
    await connection.execute(
        SQL["write_context"].sql, message_id, previous_id, lexemes, lexeme_count
    )
