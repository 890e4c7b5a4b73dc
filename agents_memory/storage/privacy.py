"""What is private: of messages and of memories, with what depends on them."""

from collections.abc import Collection
from enum import StrEnum

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("privacy")
AUDIT = queries.load("quarantine")


class Action(StrEnum):
    """What the audit log calls it."""

    MAKE = "private_make"
    UNDO = "private_undo"


async def list_told(connection: Connection, memory_ids: Collection[int]) -> set[int]:
    """Ids of the messages that were told for the sake of some memories."""
    rows = await connection.fetch(SQL["list_told"].sql, list(memory_ids))
    return {row["message_id"] for row in rows}


async def mark_messages(
    connection: Connection, user_id: int, ids: Collection[int], *, private: bool
) -> set[int]:
    """Ids of the messages that changed, by themselves or in what they are.

    Words that were told for a memory which is private stay so.
    """
    rows = await connection.fetch(SQL["mark_messages"].sql, user_id, list(ids), private)
    return {row["id"] for row in rows}


async def follow_memories(connection: Connection, user_id: int, ids: Collection[int]) -> set[int]:
    """Ids of those of the messages told for memories that changed with these."""
    rows = await connection.fetch(SQL["follow_memories"].sql, user_id, list(ids))
    return {row["id"] for row in rows}


async def list_private(connection: Connection, ids: Collection[int]) -> tuple[int, ...]:
    """Those of some messages that are private."""
    rows = await connection.fetch(SQL["list_private"].sql, list(ids))
    return tuple(row["id"] for row in rows)


async def mark_memories(
    connection: Connection, user_id: int, ids: Collection[int], *, private: bool
) -> set[int]:
    """Ids of the memories that changed."""
    rows = await connection.fetch(SQL["mark_memories"].sql, user_id, list(ids), private)
    return {row["id"] for row in rows}


async def drop_contexts(connection: Connection, ids: Collection[int]) -> set[int]:
    """Forgets what was read with the words of some messages; ids of those that were."""
    return {row["id"] for row in await connection.fetch(SQL["drop_contexts"].sql, list(ids))}


async def list_hidden(
    connection: Connection, ids: Collection[int]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Memories that are hidden with some messages, and kinds of documents that rest on them."""
    rows = await connection.fetch(SQL["list_hidden"].sql, list(ids))
    return (
        tuple(row["id"] for row in rows if row["document"] is None),
        tuple(row["document"] for row in rows if row["document"] is not None),
    )


async def record_decision(
    connection: Connection, item_id: int, action: Action, *, actor: str, device: str
) -> None:
    """Keeps who decided; only the owner of the pool may."""
    await connection.execute(AUDIT["insert_audit"].sql, actor, device, action, item_id)
