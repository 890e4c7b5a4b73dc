"""Patches, their evidence, and the documents as they change them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from agents_memory.domain.activation import TRACE_WEIGHTS
from agents_memory.domain.changing import Evidence, MemoryStep, ProfileState, ProfileStep, Step
from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.domain.memories import MemoryState, same_key
from agents_memory.domain.messages import Role, Trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.traces import TraceKind

SQL = queries.load("patches")


@dataclass(frozen=True, slots=True)
class EarlierPatch:
    """A patch that an idempotency key made before, if any; `hmac_key` keys payload digests."""

    id: int | None
    payload_hmac: bytes | None
    hmac_key: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """What a new patch meets: the time, fresh ids, its evidence, and who says the same already."""

    now: datetime
    ids: tuple[int, ...]
    evidence: dict[int, Evidence]
    same_id: int | None


@dataclass(frozen=True, slots=True)
class Head:
    """Who makes a patch, and why."""

    id: int
    user_id: int
    actor: str
    tool: str
    reason: str
    idempotency_key: str | None = None
    payload_hmac: bytes | None = None
    rollback_of: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where new memories belong; the project by its id."""

    platform: str | None = None
    p_tag: int | None = None


class Taken(Exception):
    """Somebody else has just written what this patch was to write; look again.

    `of_memory`: an active memory says the same.
    """

    def __init__(self, constraint: str | None) -> None:
        super().__init__(constraint)
        self.of_memory = constraint == "memories_same"


async def find_ground(
    connection: Connection,
    user_id: int,
    evidence: Sequence[int],
    fresh: int,
    new: Sequence[tuple[str, bytes]],
    *,
    private: bool,
) -> Found:
    """What a new patch meets; `fresh` ids are drawn, `new` are scope and key of what is added.

    `private`: messages that are private may be cited.
    """
    rows = await connection.fetch(
        SQL["find_ground"].sql,
        [number for number in evidence if 0 < number < 2**63],
        user_id,
        fresh,
        [scope for scope, _ in new],
        [key for _, key in new],
        private,
    )
    found = {
        row["id"]: Evidence(row["id"], Role(row["role"]), Trust(row["trust"]), row["unscreened"])
        for row in rows
        if row["id"] is not None
    }
    return Found(rows[0]["now"], tuple(rows[0]["ids"]), found, rows[0]["same_id"])


async def find_earlier(connection: Connection, user_id: int, actor: str, key: str) -> EarlierPatch:
    """What an idempotency key made before."""
    row = await connection.fetchrow(SQL["find_earlier"].sql, user_id, actor, key)
    assert row is not None, "every pool has its secret"
    return EarlierPatch(**dict(row))


async def write_patch(
    connection: Connection,
    head: Head,
    steps: Sequence[Step],
    diffs: Sequence[str],
    place: Place,
    stage: str,
) -> None:
    """Writes a patch whole; what it changes is locked, and `diffs` are those of its steps.

    `stage` is the work that follows for each memory. Raises Taken when an active memory says the
    same, when the idempotency key is used, or the patch was rolled back, since it was looked for.
    """
    made = [(position, step) for position, step in enumerate(steps) if isinstance(step, MemoryStep)]
    first = {step.after.id: step.before for _, step in reversed(made)}
    last = {step.after.id: position for position, step in made}
    cited = [
        (step.after.id, step.after.version, number)
        for _, step in made
        for number in step.basis.cited
    ]
    rows = [
        _version(position, step, diffs[position])
        | (_current(step, first[step.after.id], place) if last[step.after.id] == position else {})
        for position, step in made
    ]
    copies = [
        (step.after.id, step.after.version, *like) for step in steps for like in step.basis.like
    ]
    try:
        await connection.execute(
            SQL["write_patch"].sql,
            head.id, head.user_id, head.actor, head.tool, head.reason, head.idempotency_key,
            head.payload_hmac, rows, head.rollback_of, *_columns(cited, 3),
            TRACE_WEIGHTS[TraceKind.CREATED], stage,
        )  # fmt: skip
        for position, step in enumerate(steps):
            if isinstance(step, ProfileStep):
                await _write_profile(connection, head, position, step, diffs[position])
        if copies:
            await connection.execute(SQL["copy_sources"].sql, *_columns(copies, 4))
    except asyncpg.UniqueViolationError as error:
        raise Taken(error.constraint_name) from error


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> Sequence[Sequence[int]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _version(position: int, step: MemoryStep, diff: str) -> dict[str, Any]:
    """The columns of a version and of the operation that made it."""
    after = step.after
    return {
        "position": position,
        "operation": step.verb,
        "is_new": step.new is not None,
        "is_last": False,
        "diff": diff,
        "evidence": step.evidence,
        "id": after.id,
        "version": after.version,
        "subject": after.subject,
        "attribute": after.attribute,
        "content": after.content,
        "kind": after.kind,
        "importance": after.importance,
        "valence": after.valence,
        "intensity": after.intensity,
        "trust": after.trust,
        "status": after.status,
        "pinned": after.pinned,
        "tags": after.tags,
        "resolved_at": after.resolved_at and after.resolved_at.isoformat(),
        "superseded_by": after.superseded_by,
    }


def _current(step: MemoryStep, before: MemoryState | None, place: Place) -> dict[str, Any]:
    """What the memory itself has beyond its last version; `before` is how the patch found it."""
    after = step.after
    row: dict[str, Any] = {
        "is_last": True,
        "scope": after.scope,
        "content_key": same_key(after.subject, after.content).hex(),
    }
    if step.new is not None:
        said = step.new.occurred_at
        row |= {"platform": place.platform, "p_tag": place.p_tag}
        row["occurred_at"] = said and said.isoformat()
        row["affect"] = "told" if step.new.tells_affect else "unknown"
    if before is None or _words(before) != _words(after):
        analysis = analyse("\n".join(_words(after)))
        row["lexemes"] = to_tsvector_literal(analysis.terms)
        row["lexeme_count"] = analysis.length
    return row


def _words(state: MemoryState) -> tuple[str, str]:
    return state.subject, state.content


async def _write_profile(
    connection: Connection, head: Head, position: int, step: ProfileStep, diff: str
) -> None:
    after = step.after
    await connection.execute(
        SQL["write_profile"].sql,
        after.id, head.user_id, after.kind, after.version, after.content, head.id, position,
        step.verb, diff, step.basis.cited,
    )  # fmt: skip


async def insert_sources(
    connection: Connection, item_id: int, version: int, message_ids: Sequence[int]
) -> None:
    """Links a version of an item to the messages it rests on."""
    await insert_links(connection, version, [(item_id, message) for message in message_ids])


async def insert_links(
    connection: Connection, version: int, links: Sequence[tuple[int, int]]
) -> None:
    """Links items, all in the same version, each to a message it rests on."""
    await connection.executemany(
        SQL["insert_source"].sql, [(item, version, message, None) for item, message in links]
    )


async def list_sources(connection: Connection, item_id: int, version: int) -> list[int]:
    """Ids of the messages a version rests on."""
    rows = await connection.fetch(SQL["list_sources"].sql, item_id, version)
    return [row["message_id"] for row in rows]


async def lock_profiles(
    connection: Connection, user_id: int, kinds: Sequence[str]
) -> dict[str, ProfileState]:
    """The documents by kind, locked; those never written are left out."""
    rows = await connection.fetch(SQL["lock_profiles"].sql, user_id, list(kinds))
    return {row["kind"]: ProfileState(**dict(row)) for row in rows}


async def lock_profiles_by_id(
    connection: Connection, user_id: int, ids: Sequence[int]
) -> dict[int, ProfileState]:
    """The documents by id, locked."""
    rows = await connection.fetch(SQL["lock_profiles_by_id"].sql, user_id, list(ids))
    return {row["id"]: ProfileState(**dict(row)) for row in rows}


async def list_profile_versions(
    connection: Connection, versions: Mapping[int, int]
) -> dict[int, str]:
    """What documents said in earlier versions, by id."""
    rows = await connection.fetch(
        SQL["list_profile_versions"].sql, list(versions), list(versions.values())
    )
    return {row["profile_id"]: row["content"] for row in rows}


async def find_patch(
    connection: Connection, patch_id: int, user_id: int, *, private: bool = True
) -> dict[str, Any] | None:
    """The head of a patch, with its diff and its rollback; None when the user has no such patch.

    One of a private memory only if it may be shown.
    """
    row = await connection.fetchrow(SQL["find_patch"].sql, patch_id, user_id, private)
    return None if row is None else dict(row)


async def list_operations(connection: Connection, patch_id: int) -> list[dict[str, Any]]:
    """The operations of a patch in their order."""
    return [dict(row) for row in await connection.fetch(SQL["list_operations"].sql, patch_id)]


async def list_patches(
    connection: Connection,
    user_id: int,
    memory_id: int | None,
    before: int | None,
    limit: int,
    *,
    private: bool,
) -> list[dict[str, Any]]:
    """The newest patches, of one memory or of all; of private ones only if asked for."""
    sql = SQL["list_patches"].sql
    rows = await connection.fetch(sql, user_id, memory_id, before, limit, private)
    return [dict(row) for row in rows]


async def list_later(
    connection: Connection, versions: Mapping[int, int]
) -> list[tuple[int, int | None]]:
    """Patches that made later versions of items than those given, and what each took back."""
    rows = await connection.fetch(SQL["list_later"].sql, list(versions), list(versions.values()))
    return [(row["id"], row["rollback_of"]) for row in rows]
