"""Vectors: one table for each kind of owner and model; the active model is a row."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.errors import MemoryFault
from agents_memory.domain.filters import Filters
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.memories import filter_arguments as memory_filters
from agents_memory.storage.messages import filter_arguments
from agents_memory.storage.plans import planned_for_values

SQL = queries.load("vectors")
TABLES = queries.load("vector_tables")
Vector = NDArray[np.float32]

# Below this a scan costs some ten milliseconds and finds everything (measured with 384 dimensions).
EXACT_ROWS = 20_000
# Chunks looked at for each message wanted, as long messages have several; with the greater number
# only where the smaller was of too few messages. Under a filter the graph's time grows with it.
OVER_FETCH = (1.5, 4.0)
# How wide the graph is searched: .985 of the true ten nearest of 100,000 messages are found, with
# half as much again .992 (docs/benchmarks.md).
EF_SEARCH = 200
BUILD_LIMIT_S = 6 * 3600


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model whose vectors the pool holds.

    `indexed` when searches may use an index over the messages; `index_recall` is the share of the
    true ten nearest that it found when it was last compared with a scan. `midpoint` and `scale` are
    the curve from cosine to similarity as it was measured, None when it never was.
    """

    id: int
    profile: str
    dims: int
    active: bool
    # How it is searched and read makes it no other model.
    midpoint: float | None = field(compare=False)
    scale: float | None = field(compare=False)
    index_recall: float | None = field(compare=False)
    indexed: bool = field(compare=False)

    @property
    def message_table(self) -> str:
        return f"message_vectors_{self.id}"

    @property
    def memory_table(self) -> str:
        return f"memory_vectors_{self.id}"

    @property
    def summary_table(self) -> str:
        return f"summary_vectors_{self.id}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many messages and memories should have vectors of a model, and how many have none."""

    messages: int
    messages_missing: int
    memories: int
    memories_missing: int

    @property
    def complete(self) -> bool:
        return self.messages_missing == self.memories_missing == 0


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
        ("create_summary_vectors", model.summary_table),
    ):
        await connection.execute(TABLES[name].render(table=table, dims=model.dims))
    return model


async def activate_model(connection: Connection, model: Model) -> None:
    """Lets searches use this model; belongs into a transaction."""
    await connection.execute(SQL["deactivate_models"].sql)
    await connection.execute(SQL["activate_model"].sql, model.id)


async def hold_model(connection: Connection, model: Model) -> bool:
    """Keeps a model from being dropped until the transaction ends; False when it is gone."""
    return await connection.fetchval(SQL["hold_model"].sql, model.id) is not None


async def record_calibration(
    connection: Connection, model: Model, midpoint: float, scale: float
) -> None:
    """Keeps how the cosines of a model are to be read."""
    await connection.execute(SQL["record_calibration"].sql, model.id, midpoint, scale)


async def count_coverage(connection: Connection, model: Model) -> Coverage:
    """How far the vectors of a model have come; reads every message's results."""
    messages = await connection.fetchrow(SQL["count_missing_messages"].sql, model.profile)
    sql = SQL["count_missing_memories"].render(table=model.memory_table)
    memories = await connection.fetchrow(sql)
    assert messages is not None
    assert memories is not None
    return Coverage(
        messages["wanted"], messages["missing"], memories["wanted"], memories["missing"]
    )


async def drop_model(connection: Connection, model: Model) -> bool:
    """Gives up a model with all its vectors; only the owner may, in a transaction of its own.

    False when searches use it: then everything stays. Raises MemoryFault when the tables are in use
    for more than some seconds.
    """
    try:
        await connection.execute(SQL["wait_briefly"].sql)
        await connection.execute(SQL["allow_long_build"].sql)
        if await connection.fetchval(SQL["delete_model"].sql, model.id) is None:
            return False
        for table in (model.message_table, model.memory_table, model.summary_table):
            await connection.execute(TABLES["drop_vectors"].render(table=table))
        sql = SQL["delete_embed_results"].sql
        await connection.execute(sql, model.profile, timeout=BUILD_LIMIT_S)
    except asyncpg.LockNotAvailableError as error:
        raise MemoryFault(
            "the vectors are in use by a call that takes long; try again in a minute"
        ) from error
    return True


async def replace_message_vectors(
    connection: Connection, model: Model, message_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """Puts the vectors of a message in the place of older ones."""
    await replace_all_message_vectors(connection, model, {message_id: chunks})


async def replace_all_message_vectors(
    connection: Connection, model: Model, chunks: Mapping[int, Sequence[ChunkVector]]
) -> None:
    """The same for several messages."""
    table = model.message_table
    await connection.executemany(
        SQL["delete_message_vectors"].render(table=table), [(item,) for item in chunks]
    )
    await connection.executemany(
        SQL["insert_message_vector"].render(table=table),
        [
            (item, number, chunk.content_hash, chunk.vector)
            for item, of in chunks.items()
            for number, chunk in enumerate(of)
        ],
    )


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


async def replace_summary_vectors(
    connection: Connection, model: Model, summary_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """Puts the vectors of a summary in the place of older ones."""
    table = model.summary_table
    await connection.execute(SQL["delete_summary_vectors"].render(table=table), summary_id)
    for number, chunk in enumerate(chunks):
        await connection.execute(
            SQL["insert_summary_vector"].render(table=table),
            summary_id, number, chunk.content_hash, chunk.vector,
        )  # fmt: skip


async def add_memory_vectors(
    connection: Connection, model: Model, memory_id: int, chunks: Sequence[ChunkVector]
) -> None:
    """The first vectors of a memory; where somebody was faster, theirs stay."""
    sql = SQL["add_memory_vector"].render(table=model.memory_table)
    for number, chunk in enumerate(chunks):
        await connection.execute(sql, memory_id, number, chunk.content_hash, chunk.vector)


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


async def search_messages(
    connection: Connection, model: Model, filters: Filters, query: Vector, limit: int
) -> dict[int, float]:
    """Cosine of the nearest messages that match, the nearest first."""
    found = await _search_public(connection, model, filters, query, limit)
    if not filters.include_private:
        return found
    sql = SQL["search_private_vectors"].render(table=model.message_table)
    rows = await connection.fetch(sql, *_copied(filters), limit, query)
    together = found | _cosines(rows)
    nearest = sorted(together, key=lambda item: (-together[item], -item))[:limit]
    return {item: together[item] for item in nearest}


async def _search_public(
    connection: Connection, model: Model, filters: Filters, query: Vector, limit: int
) -> dict[int, float]:
    """Those that are not private.

    An exact scan while the filters leave few enough rows, else the index with over-fetch. This is
    never left to the planner: with a filter it takes the index and silently returns too few.
    """
    arguments = (*_copied(filters), limit)
    looked_at = [int(limit * share) for share in OVER_FETCH]
    if model.indexed and await _too_many_to_scan(connection, model, filters):
        sql = SQL["search_message_index"].render(table=model.message_table)
        async with planned_for_values(connection, SQL["allow_index"], str(EF_SEARCH)):
            for chunks in looked_at:
                rows = await connection.fetch(sql, *arguments, chunks, query)
                if len(rows) == limit:
                    return _cosines(rows)
    sql = SQL["search_message_vectors"].render(table=model.message_table)
    async with planned_for_values(connection):
        rows = await connection.fetch(sql, *arguments, looked_at[-1], query)
        if len(rows) < limit and sum(row["chunks"] for row in rows) == looked_at[-1]:
            rows = await connection.fetch(sql, *arguments, None, query)
    return _cosines(rows)


def _copied(filters: Filters) -> tuple[Any, ...]:
    """The arguments that vectors hold a copy of; that something is private is none of them."""
    return filter_arguments(filters)[:-1]


async def _too_many_to_scan(connection: Connection, model: Model, filters: Filters) -> bool:
    sql = SQL["estimate_matching_vectors"].render(table=model.message_table)
    plan = json.loads(await connection.fetchval(sql, *_copied(filters)))
    return bool(plan[0]["Plan"]["Plan Rows"] > EXACT_ROWS)


def _cosines(rows: Iterable[asyncpg.Record]) -> dict[int, float]:
    return {row["id"]: float(row["cosine"]) for row in rows}


async def search_derived(
    connection: Connection, model: Model, filters: Filters, query: Vector, limit: int
) -> tuple[dict[int, float], dict[int, float]]:
    """Cosine of the nearest active memories, and of the nearest summaries, that match."""
    sql = SQL["search_derived_vectors"].render(model=model.id)
    async with planned_for_values(connection):
        rows = await connection.fetch(sql, *memory_filters(filters), limit, query)
    return (
        _cosines(row for row in rows if not row["summary"]),
        _cosines(row for row in rows if row["summary"]),
    )


async def compare(
    connection: Connection, model: Model, ids: Sequence[int], query: Vector
) -> dict[int, float]:
    """Cosine of the query with each message, memory or summary that has a vector."""
    if not ids:
        return {}
    sql = SQL["compare_vectors"].render(model=model.id)
    return _cosines(await connection.fetch(sql, list(ids), query))


async def count_searchable(connection: Connection, model: Model) -> int:
    """How many chunks of messages a search may look at."""
    sql = SQL["count_searchable"].render(table=model.message_table)
    return int(await connection.fetchval(sql))


async def build_index(connection: Connection, model: Model) -> None:
    """Builds the index of a model over its messages; may take minutes. Nothing if it is there."""
    async with connection.transaction():
        await connection.execute(SQL["allow_long_build"].sql)
        await connection.execute(SQL["build_index"].sql, model.id, timeout=BUILD_LIMIT_S)


async def compare_index(
    connection: Connection, model: Model, *, samples: int = 20, nearest: int = 10
) -> float:
    """Share of the true nearest chunks of some stored vectors that the index finds, 0..1."""
    table = model.message_table
    near = SQL["list_nearest"].render(table=table)
    rows = await connection.fetch(SQL["list_random_vectors"].render(table=table), samples)
    found = wanted = 0
    for row in rows:
        async with connection.transaction():
            await connection.execute(SQL["forbid_index"].sql)
            exact = {tuple(r) for r in await connection.fetch(near, row["embedding"], nearest)}
        async with connection.transaction():
            await connection.execute(SQL["allow_index"].sql, str(EF_SEARCH // 2))
            quick = {tuple(r) for r in await connection.fetch(near, row["embedding"], nearest)}
        found += len(exact & quick)
        wanted += len(exact)
    return found / wanted if wanted else 1.0


async def record_index_recall(connection: Connection, model: Model, recall: float) -> None:
    """Keeps what a comparison found."""
    await connection.execute(SQL["record_index_recall"].sql, model.id, recall)


async def has_summary(connection: Connection, model: Model, summary_id: int) -> bool:
    """Whether a summary has vectors of a model."""
    sql = SQL["has_summary_vectors"].render(table=model.summary_table)
    return bool(await connection.fetchval(sql, summary_id))
