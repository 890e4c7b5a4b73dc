"""Vectors: one table for each kind of owner and model; the active model is a row."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import asyncpg
import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.filters import Filters
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import filter_arguments

SQL = queries.load("vectors")
TABLES = queries.load("vector_tables")
Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model whose vectors the pool holds."""

    id: int
    profile: str
    dims: int
    active: bool

    @property
    def message_table(self) -> str:
        return f"message_vectors_{self.id}"

    @property
    def memory_table(self) -> str:
        return f"memory_vectors_{self.id}"


@dataclass(frozen=True, slots=True)
class ChunkVector:
    """A unit vector of one chunk and the digest of the text it stands for."""

    content_hash: bytes
    vector: Vector


def digest(text: str) -> bytes:
    """What tells whether a vector is still of this text (16 bytes)."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


async def find_active_model(connection: Connection) -> Model | None:
    """The model whose vectors searches use, if any."""
    row = await connection.fetchrow(SQL["find_active_model"].sql)
    return None if row is None else Model(**dict(row))


async def list_models(connection: Connection) -> list[Model]:
    """All models the pool knows."""
    return [Model(**dict(row)) for row in await connection.fetch(SQL["list_models"].sql)]


async def add_model(connection: Connection, profile: str, dims: int) -> Model:
    """Makes a model known and its tables ready; only the owner may. Safe to repeat."""
    await connection.execute(SQL["insert_model"].sql, profile, dims)
    row = await connection.fetchrow(SQL["find_model"].sql, profile)
    assert row is not None, "the row was inserted in this session"
    model = Model(**dict(row))
    for name, table in (
        ("create_message_vectors", model.message_table),
        ("create_memory_vectors", model.memory_table),
    ):
        await connection.execute(TABLES[name].render(table=table, dims=model.dims))
    return model


async def activate_model(connection: Connection, model: Model) -> None:
    """Lets searches use this model; belongs into a transaction."""
    await connection.execute(SQL["deactivate_models"].sql)
    await connection.execute(SQL["activate_model"].sql, model.id)


async def replace_message_vectors(
    connection: Connection, model: Model, message_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """Puts the vectors of a message in the place of older ones."""
    table = model.message_table
    await connection.execute(SQL["delete_message_vectors"].render(table=table), message_id)
    for number, chunk in enumerate(chunks):
        await connection.execute(
            SQL["insert_message_vector"].render(table=table),
            message_id, number, chunk.content_hash, chunk.vector,
        )  # fmt: skip


async def replace_memory_vectors(
    connection: Connection, model: Model, memory_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """Puts the vectors of a memory in the place of older ones."""
    table = model.memory_table
    await connection.execute(SQL["delete_memory_vectors"].render(table=table), memory_id)
    for number, chunk in enumerate(chunks):
        await connection.execute(
            SQL["insert_memory_vector"].render(table=table),
            memory_id, number, chunk.content_hash, chunk.vector,
        )  # fmt: skip


async def list_message_chunks(
    connection: Connection, model: Model, ids: Sequence[int]
) -> dict[int, list[ChunkVector]]:
    """The chunks of each message in order; messages without any are left out."""
    sql = SQL["list_message_chunks"].render(table=model.message_table)
    return _chunks(await connection.fetch(sql, list(ids)))


async def list_memory_chunks(
    connection: Connection, model: Model, ids: Sequence[int]
) -> dict[int, list[ChunkVector]]:
    """The chunks of each memory in order; memories without any are left out."""
    sql = SQL["list_memory_chunks"].render(table=model.memory_table)
    return _chunks(await connection.fetch(sql, list(ids)))


def _chunks(rows: Iterable[asyncpg.Record]) -> dict[int, list[ChunkVector]]:
    found: dict[int, list[ChunkVector]] = {}
    for row in rows:
        chunk = ChunkVector(row["content_hash"], row["embedding"])
        found.setdefault(row["id"], []).append(chunk)
    return found


async def sync_message_vectors(connection: Connection, model: Model, message_id: int) -> None:
    """Copies the filter columns after the state of a message changed."""
    sql = SQL["sync_message_vectors"].render(table=model.message_table)
    await connection.execute(sql, message_id)


async def search_messages(
    connection: Connection, model: Model, filters: Filters, query: Vector, limit: int
) -> dict[int, float]:
    """Cosine of the nearest messages that match, the nearest first."""
    sql = SQL["search_message_vectors"].render(table=model.message_table)
    rows = await connection.fetch(sql, *filter_arguments(filters), limit, query)
    return {row["id"]: float(row["cosine"]) for row in rows}


async def compare_messages(
    connection: Connection, model: Model, ids: Sequence[int], query: Vector
) -> Mapping[int, float]:
    """Cosine of the query with each of the messages that has a vector."""
    sql = SQL["compare_messages"].render(table=model.message_table)
    rows = await connection.fetch(sql, list(ids), query)
    return {row["id"]: float(row["cosine"]) for row in rows}


async def search_memories(
    connection: Connection, model: Model, filters: Filters, query: Vector, limit: int
) -> dict[int, float]:
    """Cosine of the nearest active memories that match, the nearest first."""
    sql = SQL["search_memory_vectors"].render(table=model.memory_table)
    projects = None if filters.projects is None else list(filters.projects)
    rows = await connection.fetch(
        sql, filters.user_id, projects, filters.since, filters.until, filters.platform, limit, query
    )
    return {row["id"]: float(row["cosine"]) for row in rows}


async def compare_memories(
    connection: Connection, model: Model, ids: Sequence[int], query: Vector
) -> Mapping[int, float]:
    """Cosine of the query with each of the memories that has a vector."""
    sql = SQL["compare_memories"].render(table=model.memory_table)
    rows = await connection.fetch(sql, list(ids), query)
    return {row["id"]: float(row["cosine"]) for row in rows}
