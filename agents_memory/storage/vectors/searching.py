"""What lies near a query: among messages by scan or index, among what is derived by scan."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import asyncpg

from agents_memory.domain.filters import Filters
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.memories import filter_arguments as memory_filters
from agents_memory.storage.messages import filter_arguments
from agents_memory.storage.plans import planned_for_values
from agents_memory.storage.vectors.chunks import Vector
from agents_memory.storage.vectors.models import Model

SQL = queries.load("vectors")

# Below this a scan costs some ten milliseconds and finds everything (measured with 384 dimensions).
EXACT_ROWS = 20_000
# Chunks looked at for each message wanted, as long messages have several; with the greater number
# only where the smaller was of too few messages. Under a filter the graph's time grows with it.
OVER_FETCH = (1.5, 4.0)
# How wide the graph is searched: .985 of the true ten nearest of 100,000 messages are found, with
# half as much again .992 (docs/benchmarks.md).
EF_SEARCH = 200


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
