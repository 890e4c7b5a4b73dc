"""Memories: the current state, and its immutable versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind, MemoryState, MemoryView, Status
from agents_memory.domain.messages import Trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.lexemes import occurrences

SQL = queries.load("memories")


@dataclass(frozen=True, slots=True)
class NewMemory:
    """The columns of a memory that does not exist yet."""

    user_id: int
    scope: str
    platform: str | None
    p_tag: int | None
    subject: str
    attribute: str | None
    content: str
    content_key: bytes
    kind: Kind
    importance: int
    valence: float
    intensity: float
    trust: Trust
    pinned: bool
    tags: tuple[str, ...]
    occurred_at: datetime | None
    lexemes: str
    lexeme_count: int


async def insert_memory(connection: Connection, new: NewMemory) -> int | None:
    """The id of the new memory; None when an active one says the same."""
    value = await connection.fetchval(
        SQL["insert_memory"].sql,
        new.user_id, new.scope, new.platform, new.p_tag, new.subject, new.attribute, new.content,
        new.content_key, new.kind, new.importance, new.valence, new.intensity, new.trust,
        new.pinned, list(new.tags), new.occurred_at, new.lexemes, new.lexeme_count,
    )  # fmt: skip
    return None if value is None else int(value)


async def find_same(
    connection: Connection, user_id: int, scope: str, content_key: bytes
) -> int | None:
    """The active memory that says the same, if there is one."""
    value = await connection.fetchval(SQL["find_same"].sql, user_id, scope, content_key)
    return None if value is None else int(value)


async def lock_memory(connection: Connection, memory_id: int, user_id: int) -> MemoryState | None:
    """The current state, locked until the transaction ends; None when there is no such memory."""
    row = await connection.fetchrow(SQL["lock_memory"].sql, memory_id, user_id)
    if row is None:
        return None
    return MemoryState(
        id=row["id"],
        version=row["version"],
        subject=row["subject"],
        content=row["content"],
        kind=Kind(row["kind"]),
        trust=Trust(row["trust"]),
        status=Status(row["status"]),
        pinned=row["pinned"],
        scope=row["scope"],
    )


async def write_memory(
    connection: Connection,
    memory_id: int,
    expected_version: int,
    *,
    content: str,
    content_key: bytes,
    status: Status,
    pinned: bool,
    lexemes: str,
    lexeme_count: int,
) -> int | None:
    """The new version; None when the memory is no longer at the version expected."""
    value = await connection.fetchval(
        SQL["write_memory"].sql,
        memory_id, expected_version, content, content_key, status, pinned, lexemes, lexeme_count,
    )  # fmt: skip
    return None if value is None else int(value)


async def keep_version(connection: Connection, memory_id: int, patch_id: int) -> None:
    """Copies the current state into the history."""
    await connection.execute(SQL["keep_version"].sql, memory_id, patch_id)


async def list_versions(connection: Connection, memory_id: int) -> list[dict[str, Any]]:
    """Every version, the oldest first."""
    return [dict(row) for row in await connection.fetch(SQL["list_versions"].sql, memory_id)]


async def list_memories(
    connection: Connection, ids: Sequence[int], user_id: int
) -> list[MemoryView]:
    """The memories in the order of `ids`; unknown ones are left out."""
    rows = await connection.fetch(SQL["list_memories"].sql, list(ids), user_id)
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
        )
        for row in rows
    ]


def _filter_arguments(filters: Filters) -> tuple[Any, ...]:
    projects = None if filters.projects is None else list(filters.projects)
    return (filters.user_id, projects, filters.since, filters.until, filters.platform)


async def list_recent(connection: Connection, filters: Filters, limit: int) -> list[int]:
    """Ids of the newest active memories that match, newest first."""
    sql = SQL["list_recent_memories"].sql
    return [row["id"] for row in await connection.fetch(sql, *_filter_arguments(filters), limit)]


async def find_by_lexemes(
    connection: Connection, filters: Filters, tsquery: str, limit: int
) -> list[int]:
    """Ids of the newest active memories that hold any lexeme of the query."""
    sql = SQL["find_memories_by_lexemes"].sql
    rows = await connection.fetch(sql, *_filter_arguments(filters), limit, tsquery)
    return [row["id"] for row in rows]


async def count_lexemes(
    connection: Connection, ids: Sequence[int], lexemes: Sequence[str]
) -> dict[int, tuple[int, tuple[int, ...]]]:
    """For each memory its length in words and how often each lexeme occurs in it."""
    rows = await connection.fetch(SQL["count_memory_lexemes"].sql, list(ids), *occurrences(lexemes))
    return {row["id"]: (row["lexeme_count"], tuple(row["counts"])) for row in rows}


async def list_pinned(connection: Connection, user_id: int, limit: int) -> list[int]:
    """Ids of pinned memories, the weightiest first."""
    sql = SQL["list_pinned_memories"].sql
    return [row["id"] for row in await connection.fetch(sql, user_id, limit)]


async def list_open_promises(connection: Connection, user_id: int, limit: int) -> list[int]:
    """Ids of promises that nobody resolved, the newest first."""
    sql = SQL["list_open_promises"].sql
    return [row["id"] for row in await connection.fetch(sql, user_id, limit)]


@dataclass(frozen=True, slots=True)
class PassMemory:
    """What a pass needs of a memory."""

    id: int
    subject: str
    content: str
    status: Status


async def list_for_pass(connection: Connection, ids: Sequence[int]) -> list[PassMemory]:
    """The memories a pass works on; ids of other kinds are left out."""
    rows = await connection.fetch(SQL["list_memories_for_pass"].sql, list(ids))
    return [_for_pass(row) for row in rows]


async def lock_for_pass(connection: Connection, memory_id: int) -> PassMemory | None:
    """A memory as it is now; it stays so until the transaction ends."""
    row = await connection.fetchrow(SQL["lock_memory_for_pass"].sql, memory_id)
    return None if row is None else _for_pass(row)


def _for_pass(row: asyncpg.Record) -> PassMemory:
    return PassMemory(row["id"], row["subject"], row["content"], Status(row["status"]))


async def count_memories(connection: Connection) -> int:
    """How many active memories the pool holds."""
    return int(await connection.fetchval(SQL["count_memories"].sql))
