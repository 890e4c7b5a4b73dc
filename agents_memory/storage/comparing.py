"""Memories that may say the same, or the contrary: found by nearness, subject and attribute."""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.domain.statements import Statement
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors import Model

SQL = queries.load("comparing")

# Of those about one subject the nearest are enough: what says the same lies nearest.
AT_MOST = 50


@dataclass(frozen=True, slots=True)
class Neighbours:
    """An active memory of a user and those it is to be compared with, by their cosine if known."""

    user_id: int
    statement: Statement
    others: tuple[tuple[Statement, float | None], ...]


async def find_neighbours(
    connection: Connection, memory_id: int, model: Model | None
) -> Neighbours | None:
    """What an active memory is to be compared with; None when it holds no more."""
    cosines: dict[int, float | None] = {}
    rows = await connection.fetch(SQL["list_memories_of_same_attribute"].sql, memory_id, AT_MOST)
    cosines |= {row["id"]: None for row in rows}
    if model is not None:
        sql = SQL["list_near_memories"].render(table=model.memory_table)
        rows = await connection.fetch(sql, memory_id, AT_MOST)
        cosines |= {row["id"]: float(row["cosine"]) for row in rows}
    found = {
        row["id"]: row
        for row in await connection.fetch(
            SQL["read_memories_to_compare"].sql, [memory_id, *cosines]
        )
    }
    if memory_id not in found:
        return None
    mine = found.pop(memory_id)
    return Neighbours(
        mine["user_id"],
        _statement(mine),
        tuple((_statement(row), cosines[number]) for number, row in found.items()),
    )


async def list_of_attribute(
    connection: Connection,
    user_id: int,
    scope: str,
    subject: str,
    attribute: str,
    p_tag: int | None,
) -> Sequence[Statement]:
    """Active memories about an attribute of a subject, as their authors named it; newest first."""
    rows = await connection.fetch(
        SQL["list_memories_of_attribute"].sql, user_id, scope, subject, attribute, p_tag, AT_MOST
    )
    ids = [row["id"] for row in rows]
    found = await connection.fetch(SQL["read_memories_to_compare"].sql, ids)
    return [_statement(row) for row in reversed(found)]


async def list_with_words(
    connection: Connection, user_id: int, scope: str, subject: str, p_tag: int | None, tsquery: str
) -> Sequence[Statement]:
    """Active memories about a subject that hold all lexemes of a query; newest first."""
    rows = await connection.fetch(
        SQL["list_memories_with_words"].sql, user_id, scope, subject, p_tag, tsquery, AT_MOST
    )
    ids = [row["id"] for row in rows]
    found = await connection.fetch(SQL["read_memories_to_compare"].sql, ids)
    return [_statement(row) for row in reversed(found)]


def _statement(row: asyncpg.Record) -> Statement:
    return Statement(
        id=row["id"],
        version=row["version"],
        subject=row["subject"],
        attribute=row["attribute"],
        content=row["content"],
        trust=Trust(row["trust"]),
        said_at=row["said_at"],
        kind=Kind(row["kind"]),
        pinned=row["pinned"],
        resolved_at=row["resolved_at"],
        occurred_at=row["occurred_at"],
    )
