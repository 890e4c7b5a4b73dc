"""Reads all that is in a pool, row after row, without holding more than a batch of it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import asyncpg

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.sessions import allow_long

SQL = queries.load("export")

# What a reader asks for, and the types of row that it comes in.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "messages": ("message",),
    "memories": ("memory", "memory_version"),
    "profiles": ("profile", "profile_version", "proposal"),
    "patches": ("patch", "operation"),
    "summaries": ("summary",),
    "edges": ("edge",),
    "evidence": ("source",),
}
FIRST_ROWS = 16
MAX_ROWS = 1_000
BATCH_CHARS = 4 * 2**20
FETCH_WITHIN_S = 3_600.0


async def begin_long_read(connection: Connection) -> datetime:
    """Lets the transaction last as long as it must; the moment that it shows."""
    await allow_long(connection)
    await connection.execute(SQL["allow_slow_reader"].sql)
    moment = await connection.fetchval(SQL["find_moment"].sql)
    assert isinstance(moment, datetime)
    return moment


async def read_batches(
    connection: Connection, row_type: str, since: datetime | None
) -> AsyncIterator[list[dict[str, Any]]]:
    """All rows of a type in the order of their ids, of those made or changed since, in batches."""
    async for batch in batches(connection, SQL[f"export_{row_type}"].sql, since):
        yield [dict(row) for row in batch]


async def batches(
    connection: Connection, sql: str, *arguments: object
) -> AsyncIterator[Sequence[asyncpg.Record]]:
    """The rows of a statement, from a cursor of the server, in the transaction of the caller.

    A batch has at most `MAX_ROWS` rows, and fewer while rows are long: the next is sized by the
    last, for about `BATCH_CHARS` characters.
    """
    cursor = await connection.cursor(sql, *arguments, timeout=FETCH_WITHIN_S)
    rows = FIRST_ROWS
    while batch := await cursor.fetch(rows, timeout=FETCH_WITHIN_S):
        yield batch
        chars = sum(len(value) for row in batch for value in row.values() if isinstance(value, str))
        if chars > BATCH_CHARS:
            rows = max(1, rows // (chars // BATCH_CHARS + 1))
        elif 2 * chars < BATCH_CHARS:
            rows = min(2 * rows, MAX_ROWS)
