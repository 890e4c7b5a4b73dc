"""Patches, their evidence, and the documents about a user."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_memory.domain.messages import Role, Trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("patches")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A cited message that exists."""

    id: int
    role: Role
    trust: Trust
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True)
class EarlierPatch:
    """A patch that an idempotency key made before."""

    id: int
    payload_hmac: bytes
    diff: str


@dataclass(frozen=True, slots=True)
class Operation:
    """What a patch did to one item; `from_version` is None for a new one."""

    operation: str
    item_id: int
    from_version: int | None
    to_version: int


@dataclass(frozen=True, slots=True)
class Profile:
    """A document about a user."""

    id: int
    kind: str
    version: int
    content: str
    updated_at: datetime


async def next_item_id(connection: Connection) -> int:
    """A fresh id of the pool."""
    return int(await connection.fetchval(SQL["next_item_id"].sql))


async def insert_patch(
    connection: Connection,
    patch_id: int,
    *,
    user_id: int,
    actor: str,
    tool: str,
    reason: str,
    idempotency_key: str | None,
    payload_hmac: bytes,
    diff: str,
) -> None:
    """Writes the head of a patch."""
    await connection.execute(
        SQL["insert_patch"].sql,
        patch_id, user_id, actor, tool, reason, idempotency_key, payload_hmac, diff,
    )  # fmt: skip


async def insert_operations(
    connection: Connection, patch_id: int, operations: Sequence[Operation]
) -> None:
    """Writes the operations of a patch in their order."""
    await connection.executemany(
        SQL["insert_operation"].sql,
        [
            (patch_id, position, done.operation, done.item_id, done.from_version, done.to_version)
            for position, done in enumerate(operations)
        ],
    )


async def list_operations(connection: Connection, patch_id: int) -> list[Operation]:
    """The operations of a patch in their order."""
    rows = await connection.fetch(SQL["list_operations"].sql, patch_id)
    return [Operation(**dict(row)) for row in rows]


async def insert_sources(
    connection: Connection, item_id: int, version: int, message_ids: Sequence[int]
) -> None:
    """Links a version of an item to the messages it rests on."""
    await connection.executemany(
        SQL["insert_source"].sql, [(item_id, version, message, None) for message in message_ids]
    )


async def copy_sources(connection: Connection, item_id: int, version: int) -> None:
    """Lets a version rest on what the one before it rested on."""
    await connection.execute(SQL["copy_sources"].sql, item_id, version - 1, version)


async def list_sources(connection: Connection, item_id: int, version: int) -> list[int]:
    """Ids of the messages a version rests on."""
    rows = await connection.fetch(SQL["list_sources"].sql, item_id, version)
    return [row["message_id"] for row in rows]


async def list_evidence(
    connection: Connection, message_ids: Sequence[int], user_id: int
) -> list[Evidence]:
    """The cited messages that exist and may be cited."""
    rows = await connection.fetch(SQL["list_evidence"].sql, list(message_ids), user_id)
    return [
        Evidence(row["id"], Role(row["role"]), Trust(row["trust"]), row["occurred_at"])
        for row in rows
    ]


async def find_by_key(
    connection: Connection, user_id: int, actor: str, key: str, lock: int
) -> EarlierPatch | None:
    """What a key made before; requests with one key wait for each other from here on."""
    await connection.execute(SQL["lock_key"].sql, lock)
    row = await connection.fetchrow(SQL["find_by_key"].sql, user_id, actor, key)
    return None if row is None else EarlierPatch(**dict(row))


async def find_hmac_key(connection: Connection) -> bytes:
    """The secret that keys payload digests of this pool."""
    return bytes(await connection.fetchval(SQL["find_hmac_key"].sql))


async def lock_profile(
    connection: Connection, user_id: int, kind: str
) -> tuple[int, int, str] | None:
    """Id, version and content of a document, locked; None when it was never written."""
    row = await connection.fetchrow(SQL["lock_profile"].sql, user_id, kind)
    return None if row is None else (row["id"], row["version"], row["content"])


async def insert_profile(
    connection: Connection, user_id: int, kind: str, content: str
) -> tuple[int, int] | None:
    """Id and version of a new document; None when another request was faster."""
    row = await connection.fetchrow(SQL["insert_profile"].sql, user_id, kind, content)
    return None if row is None else (row["id"], row["version"])


async def write_profile(
    connection: Connection, profile_id: int, expected_version: int, content: str
) -> int | None:
    """The new version; None when the document is no longer at the version expected."""
    value = await connection.fetchval(
        SQL["write_profile"].sql, profile_id, expected_version, content
    )
    return None if value is None else int(value)


async def keep_profile_version(connection: Connection, profile_id: int, patch_id: int) -> None:
    """Copies the current state of a document into its history."""
    await connection.execute(SQL["keep_profile_version"].sql, profile_id, patch_id)


async def list_profiles(connection: Connection, user_id: int) -> dict[str, Profile]:
    """The written documents of a user by kind."""
    rows = await connection.fetch(SQL["list_profiles"].sql, user_id)
    return {row["kind"]: Profile(**dict(row)) for row in rows}
