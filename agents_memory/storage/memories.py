"""Memories: the current state, and its immutable versions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import asyncpg

from agents_memory.domain.affect import Affect
from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind, MemoryState, MemoryView, Status, same_key
from agents_memory.domain.messages import Trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.plans import planned_for_values

SQL = queries.load("memories")


async def find_same(
    connection: Connection, user_id: int, states: Sequence[MemoryState]
) -> int | None:
    """An active memory that says what one of the states says and is another one."""
    value = await connection.fetchval(
        SQL["find_same"].sql,
        user_id,
        [state.scope for state in states],
        [same_key(state.subject, state.content) for state in states],
        [state.id for state in states],
    )
    return None if value is None else int(value)


async def lock_memories(
    connection: Connection, ids: Sequence[int], user_id: int, *, private: bool = False
) -> dict[int, MemoryState]:
    """Current states, locked in the order of ids until the transaction ends.

    Unknown ones are left out, and private ones unless asked for.
    """
    rows = await connection.fetch(SQL["lock_memories"].sql, list(ids), user_id, private)
    return {row["id"]: state_of(row) for row in rows}


async def list_states(
    connection: Connection, versions: Mapping[int, int]
) -> dict[int, MemoryState]:
    """Earlier states by id of the memory; `versions` says which version of each."""
    rows = await connection.fetch(SQL["list_states"].sql, list(versions), list(versions.values()))
    return {row["id"]: state_of(row) for row in rows}


def state_of(row: asyncpg.Record) -> MemoryState:
    """The state in a row that has all its columns."""
    return MemoryState(
        id=row["id"],
        version=row["version"],
        subject=row["subject"],
        attribute=row["attribute"],
        content=row["content"],
        kind=Kind(row["kind"]),
        importance=row["importance"],
        valence=row["valence"],
        intensity=row["intensity"],
        trust=Trust(row["trust"]),
        status=Status(row["status"]),
        pinned=row["pinned"],
        tags=tuple(row["tags"]),
        resolved_at=row["resolved_at"],
        superseded_by=row["superseded_by"],
        scope=row["scope"],
    )


async def list_versions(
    connection: Connection, memory_id: int, user_id: int, *, private: bool = False
) -> list[dict[str, Any]]:
    """Every version, the oldest first; none when there is no such memory of this user.

    Of a private one only if asked for.
    """
    rows = await connection.fetch(SQL["list_versions"].sql, memory_id, user_id, private)
    return [dict(row) for row in rows]


async def search_memories(
    connection: Connection,
    user_id: int,
    tsquery: str,
    *,
    subject: str | None,
    include_removed: bool,
    private: bool,
    limit: int,
) -> list[int]:
    """Ids of memories that hold every term, the best first."""
    rows = await connection.fetch(
        SQL["search_memories"].sql, user_id, tsquery, include_removed, subject, limit, private
    )
    return [row["id"] for row in rows]


async def list_memories(
    connection: Connection,
    ids: Sequence[int],
    user_id: int,
    *,
    grounded: bool = False,
    private: bool = False,
) -> list[MemoryView]:
    """The memories in the order of `ids`; unknown ones are left out.

    `grounded`: so are those whose evidence is held back, all of it. So are private ones, which
    are those that rest on private messages alone as well, unless asked for.
    """
    rows = await connection.fetch(SQL["list_memories"].sql, list(ids), user_id, grounded, private)
    return [
        MemoryView(
            id=row["id"],
            version=row["version"],
            subject=row["subject"],
            content=row["content"],
            kind=Kind(row["kind"]),
            importance=row["importance"],
            trust=Trust(row["trust"]),
            status=Status(row["status"]),
            pinned=row["pinned"],
            tags=tuple(row["tags"]),
            platform=row["platform"],
            project=row["p_tag"],
            occurred_at=row["occurred_at"],
            created_at=row["created_at"],
            resolved_at=row["resolved_at"],
            superseded_by=row["superseded_by"],
        )
        for row in rows
    ]


def filter_arguments(filters: Filters) -> tuple[Any, ...]:
    """The first seven arguments of every statement that filters memories or summaries."""
    projects = None if filters.projects is None else list(filters.projects)
    return (
        filters.user_id, projects, filters.since, filters.until, filters.platform, filters.device,
        filters.include_private,
    )  # fmt: skip


async def list_recent(connection: Connection, filters: Filters, limit: int) -> list[int]:
    """Ids of the newest active memories that match, newest first."""
    sql = SQL["list_recent_memories"].sql
    async with planned_for_values(connection):
        rows = await connection.fetch(sql, *filter_arguments(filters), limit)
    return [row["id"] for row in rows]


async def list_pinned(connection: Connection, user_id: int, limit: int) -> list[int]:
    """Ids of pinned memories that may be shown, the weightiest first."""
    sql = SQL["list_pinned_memories"].sql
    return [row["id"] for row in await connection.fetch(sql, user_id, limit)]


async def list_open_promises(connection: Connection, user_id: int, limit: int) -> list[int]:
    """Ids of promises that nobody resolved and that may be shown, the newest first."""
    sql = SQL["list_open_promises"].sql
    return [row["id"] for row in await connection.fetch(sql, user_id, limit)]


class PassMemory(NamedTuple):
    """What a pass needs of a memory."""

    id: int
    subject: str
    content: str
    status: Status
    affect_told: bool = True


async def list_for_pass(connection: Connection, ids: Sequence[int]) -> list[PassMemory]:
    """The memories a pass works on; ids of other kinds are left out."""
    rows = await connection.fetch(SQL["list_memories_for_pass"].sql, list(ids))
    return [_for_pass(row) for row in rows]


async def lock_for_pass(connection: Connection, memory_id: int) -> PassMemory | None:
    """A memory as it is now; it stays so until the transaction ends."""
    row = await connection.fetchrow(SQL["lock_memory_for_pass"].sql, memory_id)
    return None if row is None else _for_pass(row)


async def record_affect(connection: Connection, memory_id: int, affect: Affect) -> None:
    """The affect of a memory as it was estimated, unless it was told."""
    await connection.execute(SQL["record_affect"].sql, memory_id, affect.valence, affect.intensity)


def _for_pass(row: asyncpg.Record) -> PassMemory:
    return PassMemory(
        row["id"], row["subject"], row["content"], Status(row["status"]), row["affect_told"]
    )


async def count_memories(connection: Connection) -> int:
    """How many active memories the pool holds that may be shown."""
    return int(await connection.fetchval(SQL["count_memories"].sql))
