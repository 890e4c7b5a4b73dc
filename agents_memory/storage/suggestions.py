"""What the daemon suggests about project tags, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np

from agents_memory.domain.alias_scores import Tag
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors import Model, Vector

SQL = queries.load("suggestions")


class Kind(StrEnum):
    """A name that may be a project, or a tag that may stand for another."""

    NEW = "new"
    ALIAS = "alias"


class Status(StrEnum):
    """What became of a suggestion; `unlikely` ones were never shown to anybody."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    UNLIKELY = "unlikely"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`name` may be a project, or stand for `target`; `description` is its proposer's.

    `confidence` 0..1, None for a name. `reasons` hold numbers, ids and labels. `filed` counts the
    messages that came under a confirmed name, `filed_at` is when all had.
    """

    id: int
    kind: Kind
    name: str
    target: str | None
    score: float
    confidence: float | None
    reasons: dict[str, Any]
    judged_by: str
    description: str
    status: Status
    suggested_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    filed: int
    filed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Found:
    """A suggestion as one decides about it; the ids are of an alias suggestion."""

    id: int
    kind: Kind
    status: Status
    name: str
    target: str | None
    tag_id: int | None
    target_id: int | None
    tag_alias_of: int | None
    description: str


@dataclass(frozen=True, slots=True)
class FrequentTag:
    """A free tag in use: messages that carry it, those without a project, sessions it occurs in."""

    name: str
    uses: int
    unfiled: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Carrying:
    """How many messages and memories carry a free tag."""

    messages: int
    memories: int


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A confirmed name whose messages are not all filed yet."""

    id: int
    name: str
    tag_id: int


async def list_suggestions(connection: Connection, status: Status, limit: int) -> list[Suggestion]:
    """Those in one state, the surest of each kind first."""
    rows = await connection.fetch(SQL["list_suggestions"].sql, status, limit)
    return [
        Suggestion(**{**dict(row), "kind": Kind(row["kind"]), "status": Status(row["status"])})
        for row in rows
    ]


async def find_suggestion(connection: Connection, suggestion_id: int) -> Found | None:
    """A suggestion in any state."""
    row = await connection.fetchrow(SQL["find_suggestion"].sql, suggestion_id)
    if row is None:
        return None
    return Found(**{**dict(row), "kind": Kind(row["kind"]), "status": Status(row["status"])})


async def decide(
    connection: Connection, suggestion_id: int, status: Status, decided_by: str
) -> bool:
    """Confirms or rejects a pending suggestion; False when it was decided before."""
    row = await connection.fetchval(SQL["decide_suggestion"].sql, suggestion_id, status, decided_by)
    return row is not None


async def find_pending_name(connection: Connection, name: str) -> int | None:
    """The open suggestion of a name."""
    value = await connection.fetchval(SQL["find_pending_name"].sql, name)
    return None if value is None else int(value)


async def find_pending_pair(
    connection: Connection, tag: int, target: int
) -> tuple[int, bool] | None:
    """The open suggestion about two tags, and whether it is in this direction."""
    row = await connection.fetchrow(SQL["find_pending_pair"].sql, tag, target)
    return None if row is None else (row["id"], row["tag"] == tag)


async def list_frequent_d_tags(
    connection: Connection, since: datetime, min_uses: int, limit: int
) -> list[FrequentTag]:
    """Free tags used so often since a time, no project and never suggested, the commonest first."""
    rows = await connection.fetch(SQL["list_frequent_d_tags"].sql, since, min_uses, limit)
    return [FrequentTag(**dict(row)) for row in rows]


async def count_pending(connection: Connection, kind: Kind) -> int:
    """Open suggestions of a kind."""
    return int(await connection.fetchval(SQL["count_pending"].sql, kind))


async def suggest_name(
    connection: Connection, name: str, score: float, reasons: Mapping[str, Any]
) -> int | None:
    """The id of a new suggestion; None when the name is known or was suggested before."""
    value = await connection.fetchval(SQL["suggest_name"].sql, name, score, dict(reasons))
    return None if value is None else int(value)


async def find_named(connection: Connection, name: str) -> tuple[int, Status] | None:
    """The suggestion there ever was of a name, and what became of it."""
    row = await connection.fetchrow(SQL["find_named"].sql, name)
    return None if row is None else (row["id"], Status(row["status"]))


async def propose_name(
    connection: Connection, name: str, description: str, sort: str, carrying: Carrying
) -> int | None:
    """The id of an agent's proposal (`sort` p or d); None when the name was suggested before."""
    value = await connection.fetchval(
        SQL["propose_name"].sql, name, description, sort, carrying.messages, carrying.memories
    )
    return None if value is None else int(value)


async def count_proposed(connection: Connection) -> int:
    """Open proposals of agents."""
    return int(await connection.fetchval(SQL["count_proposed"].sql))


async def count_carrying(connection: Connection, user_id: int, tag: str) -> Carrying:
    """How many messages, and memories, of a user carry a free tag."""
    row = await connection.fetchrow(SQL["count_carrying"].sql, user_id, tag)
    assert row is not None, "an aggregate has a row"
    return Carrying(**dict(row))


async def suggest_alias(
    connection: Connection,
    tag: int,
    target: int,
    *,
    score: float,
    confidence: float | None,
    reasons: Mapping[str, Any],
    judged_by: str,
    status: Status,
) -> int | None:
    """The id of a judged pair; None when that direction is open or was decided before."""
    value = await connection.fetchval(
        SQL["suggest_alias"].sql,
        tag, target, score, confidence, dict(reasons), judged_by, status,
    )  # fmt: skip
    return None if value is None else int(value)


async def list_judged_pairs(
    connection: Connection, unlikely_since: datetime
) -> dict[tuple[int, int], Status]:
    """Pairs that need no look, by direction; unlikely ones only where judged since a time."""
    rows = await connection.fetch(SQL["list_judged_pairs"].sql, unlikely_since)
    return {(row["tag"], row["target"]): Status(row["status"]) for row in rows}


async def list_candidates(connection: Connection, limit: int, topics: int) -> list[Tag]:
    """Tags that stand for themselves, the fullest first, each with its commonest free tags.

    A model may be asked about them: a name that only messages know which no model may see is left
    out.
    """
    rows = await connection.fetch(SQL["list_candidates"].sql, limit)
    ids = [row["id"] for row in rows]
    of: dict[int, set[str]] = {one: set() for one in ids}
    for row in await connection.fetch(SQL["list_d_tags_of"].sql, ids, topics):
        of[row["project"]].add(row["name"])
    return [
        Tag(row["id"], row["name"], row["messages"], row["description"], frozenset(of[row["id"]]))
        for row in rows
    ]


async def list_centroids(
    connection: Connection, model: Model, ids: Sequence[int], sample: int
) -> dict[int, Vector]:
    """The mean of the newest vectors of each project that has any; not normalised."""
    sql = SQL["list_centroids"].render(table=model.message_table)
    rows = await connection.fetch(sql, list(ids), sample)
    return {row["id"]: np.asarray(row["centroid"], dtype=np.float32) for row in rows}


async def list_statements(
    connection: Connection, since: datetime, limit: int, max_chars: int
) -> list[tuple[int, str]]:
    """What the owner said that may be about names of projects: id and text, the newest first."""
    rows = await connection.fetch(SQL["list_statements"].sql, since, limit, max_chars)
    return [(row["id"], row["message"]) for row in rows]


async def pairs_due(connection: Connection, since: datetime, now: datetime) -> bool:
    """Whether nobody looked at pairs between `since` and `now`.

    A look after `now` was written by a clock that was wrong, and would count for ever.
    """
    return bool(await connection.fetchval(SQL["pairs_due"].sql, since, now))


async def note_pairs(connection: Connection, at: datetime) -> None:
    """Keeps that pairs are looked at."""
    await connection.execute(SQL["note_pairs"].sql, at)


async def list_unfiled(connection: Connection) -> list[Confirmed]:
    """Confirmed names that the daemon has not worked off."""
    return [Confirmed(**dict(row)) for row in await connection.fetch(SQL["list_unfiled"].sql)]


async def file_messages(connection: Connection, confirmed: Confirmed, limit: int) -> list[int]:
    """Files some messages that carry the very name and have no project; their ids.

    The suggestion counts them, and is done when there were fewer than `limit`.
    """
    rows = await connection.fetch(SQL["file_messages"].sql, confirmed.tag_id, confirmed.name, limit)
    ids = [row["message_id"] for row in rows]
    await connection.execute(SQL["note_filed"].sql, confirmed.id, len(ids), len(ids) < limit)
    return ids
