"""The vectors of a message, memory or summary: one for each chunk of its text."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors.models import Model, Owner

SQL = queries.load("vectors")
Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ChunkVector:
    """A unit vector of one chunk and the digest of the text it stands for."""

    content_hash: bytes
    vector: Vector


def digest(text: str) -> bytes:
    """What tells whether a vector is still of this text (16 bytes)."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


async def replace_message_vectors(
    connection: Connection, model: Model, message_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """Puts the vectors of a message in the place of older ones."""
    await _replace(connection, model, Owner.MESSAGE, {message_id: chunks})


async def replace_all_message_vectors(
    connection: Connection, model: Model, chunks: Mapping[int, Sequence[ChunkVector]]
) -> None:
    """The same for several messages."""
    await _replace(connection, model, Owner.MESSAGE, chunks)


async def replace_memory_vectors(
    connection: Connection, model: Model, memory_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """The same for a memory."""
    await _replace(connection, model, Owner.MEMORY, {memory_id: chunks})


async def replace_summary_vectors(
    connection: Connection, model: Model, summary_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """The same for a summary."""
    await _replace(connection, model, Owner.SUMMARY, {summary_id: chunks})


async def _replace(
    connection: Connection, model: Model, owner: Owner, chunks: Mapping[int, Sequence[ChunkVector]]
) -> None:
    table = model.table(owner)
    delete = SQL["delete_vectors"].render(table=table, key=owner.key)
    await connection.executemany(delete, [(item,) for item in chunks])
    await _insert(connection, SQL[f"insert_{owner}_vector"].render(table=table), chunks)


async def add_memory_vectors(
    connection: Connection, model: Model, memory_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """The first vectors of a memory; where somebody was faster, theirs stay."""
    sql = SQL["add_memory_vector"].render(table=model.memory_table)
    await _insert(connection, sql, {memory_id: chunks})


async def _insert(
    connection: Connection, sql: str, chunks: Mapping[int, Sequence[ChunkVector]]
) -> None:
    await connection.executemany(
        sql,
        [
            (item, number, chunk.content_hash, chunk.vector)
            for item, of in chunks.items()
            for number, chunk in enumerate(of)
        ],
    )


async def list_message_chunks(
    connection: Connection, model: Model, ids: Sequence[int]
) -> dict[int, list[ChunkVector]]:
    """The chunks of each message in order; messages without any are left out."""
    return await _list(connection, model, Owner.MESSAGE, ids)


async def list_memory_chunks(
    connection: Connection, model: Model, ids: Sequence[int]
) -> dict[int, list[ChunkVector]]:
    """The same for memories."""
    return await _list(connection, model, Owner.MEMORY, ids)


async def _list(
    connection: Connection, model: Model, owner: Owner, ids: Sequence[int]
) -> dict[int, list[ChunkVector]]:
    sql = SQL["list_chunks"].render(table=model.table(owner), key=owner.key)
    found: dict[int, list[ChunkVector]] = {}
    for row in await connection.fetch(sql, list(ids)):
        chunk = ChunkVector(row["content_hash"], row["embedding"])
        found.setdefault(row["id"], []).append(chunk)
    return found


async def has_summary(connection: Connection, model: Model, summary_id: int) -> bool:
    """Whether a summary has vectors of a model."""
    sql = SQL["has_summary_vectors"].render(table=model.summary_table)
    return bool(await connection.fetchval(sql, summary_id))


async def sync_message_vectors(connection: Connection, model: Model, message_id: int) -> None:
    """Copies the filter columns after the state of a message changed."""
    await sync_all_message_vectors(connection, model, [message_id])


async def sync_all_message_vectors(
    connection: Connection, model: Model, message_ids: Sequence[int]
) -> None:
    """The same for several messages."""
    sql = SQL["sync_message_vectors"].render(table=model.message_table)
    await connection.executemany(sql, [(item,) for item in message_ids])


async def sync_memory_vectors(connection: Connection, model: Model, ids: Sequence[int]) -> None:
    """The same after memories became private, or public again."""
    await connection.execute(SQL["sync_memory_vectors"].render(table=model.memory_table), list(ids))
