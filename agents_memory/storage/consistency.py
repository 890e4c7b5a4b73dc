"""What `doctor --deep` reads: items at fault by their ids, and all that has to be recomputed.

All of it in batches, within the transaction of the caller.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import asyncpg

from agents_memory.domain.memories import MemoryState
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.exporting import batches
from agents_memory.storage.memories import state_of
from agents_memory.storage.vectors import Model

SQL = queries.load("consistency")


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version of an item and the diff that led to it; None where an older program kept none.

    `content_key` is that of the memory now, only with its last version.
    """

    state: MemoryState
    diff: str | None
    content_key: bytes | None


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A version of a document about a user, and its diff."""

    id: int
    version: int
    content: str
    diff: str | None


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text and the digests of the chunks that its vectors were made of."""

    id: int
    text: str
    digests: Sequence[bytes]


async def count_everything(connection: Connection) -> dict[str, int]:
    """How many rows there are of each sort."""
    row = await connection.fetchrow(SQL["count_everything"].sql, timeout=3_600)
    assert row is not None
    return dict(row)


async def list_faulty(connection: Connection, statement: str) -> AsyncIterator[int]:
    """The ids that one of the `list_` statements names, the smallest first."""
    async for row in _rows(connection, SQL[statement].sql):
        yield row["id"]


async def list_faulty_in(connection: Connection, statement: str, table: str) -> AsyncIterator[int]:
    """The same for a table of vectors."""
    async for row in _rows(connection, SQL[statement].render(table=table)):
        yield row["id"]


async def find_column_dims(connection: Connection, table: str) -> int | None:
    """The dimensions that a table of vectors takes; None when there is no such table."""
    value = await connection.fetchval(SQL["find_column_dims"].sql, table)
    return None if value is None else int(value)


async def read_memory_versions(connection: Connection) -> AsyncIterator[KeptVersion]:
    """Every version of every memory, memory after memory, the oldest first."""
    async for row in _rows(connection, SQL["read_memory_versions"].sql):
        yield KeptVersion(state_of(row), row["diff"], row["content_key"])


async def read_profile_versions(connection: Connection) -> AsyncIterator[KeptDocument]:
    """Every version of every document, document after document, the oldest first."""
    async for row in _rows(connection, SQL["read_profile_versions"].sql):
        yield KeptDocument(**dict(row))


async def read_message_chunks(connection: Connection, model: Model) -> AsyncIterator[Embedded]:
    """All messages that have vectors of a model, and wait for no others."""
    sql = SQL["read_message_chunks"].render(table=model.message_table)
    async for row in _rows(connection, sql):
        yield Embedded(**dict(row))


async def read_memory_chunks(connection: Connection, model: Model) -> AsyncIterator[Embedded]:
    """The same of memories."""
    sql = SQL["read_memory_chunks"].render(table=model.memory_table)
    async for row in _rows(connection, sql):
        yield Embedded(**dict(row))


async def read_summary_chunks(connection: Connection, model: Model) -> AsyncIterator[Embedded]:
    """The same of summaries."""
    sql = SQL["read_summary_chunks"].render(table=model.summary_table)
    async for row in _rows(connection, sql):
        yield Embedded(**dict(row))


async def _rows(connection: Connection, sql: str) -> AsyncIterator[asyncpg.Record]:
    async for batch in batches(connection, sql):
        for row in batch:
            yield row
