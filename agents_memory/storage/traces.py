"""Traces: what was created, shown and used."""

from collections.abc import Sequence
from enum import StrEnum

from agents_memory.domain.activation import TRACE_WEIGHTS
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("traces")


class TraceKind(StrEnum):
    """An event in the life of an item."""

    CREATED = "created"
    SURFACED = "surfaced"
    USED = "used"


async def insert_traces(
    connection: Connection,
    ids: Sequence[int],
    kind: TraceKind,
    session: str | None,
) -> None:
    """One trace an item; a surfaced one at most once an item and hour, a created one once."""
    if ids:
        weight = TRACE_WEIGHTS[kind]
        await connection.execute(SQL["insert_traces"].sql, sorted(set(ids)), kind, weight, session)


async def find_kinds(connection: Connection, ids: Sequence[int], user_id: int) -> dict[int, str]:
    """What each id names (message, memory, summary, patch or profile); unknown ids are left out."""
    rows = await connection.fetch(SQL["find_kinds"].sql, list(ids), user_id)
    return {row["id"]: row["kind"] for row in rows if row["kind"] is not None}


async def find_citable(connection: Connection, ids: Sequence[int], user_id: int) -> dict[int, str]:
    """Those that name a message, a memory or a summary which is not private, and which of them."""
    rows = await connection.fetch(SQL["find_citable"].sql, list(ids), user_id)
    return {row["id"]: row["kind"] for row in rows if row["kind"] is not None}


async def count_traces(connection: Connection, item_id: int) -> dict[str, int]:
    """How many traces of each kind an item has."""
    rows = await connection.fetch(SQL["count_traces"].sql, item_id)
    return {row["kind"]: row["count"] for row in rows}
