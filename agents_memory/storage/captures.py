"""Capture: which sessions are being read now, and which captured turns were told to us before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents_memory.domain.messages import Role, Trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("captures")

FRESH = timedelta(seconds=30)
"""How long a sign of life counts: three times the pause between two (`ingest.following`)."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A turn in the store it came from, of one user."""

    user_id: int
    source: str
    store_id: str
    native_id: str


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent handed over: the words it wrote, and when.

    `session` is None where capture knows none of the name that the turn bears.
    """

    id: int
    role: Role
    text: str
    trust: Trust
    created_at: datetime
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Twice:
    """What an agent handed over in a session, and a captured turn near it that may be the same.

    `has_account`: it was handed over before, in the same session.
    """

    told_id: int
    told: str
    told_trust: Trust
    session: str | None
    id: int
    text: str
    trust: Trust
    has_account: bool = False


async def beat(
    connection: Connection, *, device: str, client: str, sessions: Sequence[str], now: datetime
) -> None:
    """A sign of life for sessions whose transcripts are stored up to their last whole line."""
    await connection.execute(SQL["beat"].sql, device, client, sorted(set(sessions)), now)


async def covered(
    connection: Connection, *, device: str, client: str, session: str, now: datetime
) -> bool:
    """Whether capture stores every turn of this very session at this moment.

    `client` is the platform as messages carry it, `session` the client's own id of the session.
    True only within `FRESH` of a sign of life. Both times are of one machine's clock; a sign from
    further in the future was given before the clock was set back, and counts for nothing.
    """
    beat_at = await connection.fetchval(SQL["find_beat"].sql, device, client, session)
    return beat_at is not None and abs(now - beat_at) <= FRESH


async def find_turn(connection: Connection, turn: Identity) -> int | None:
    """The id of the message that stands for a turn, its own or one handed over before."""
    value = await connection.fetchval(
        SQL["find_turn"].sql, turn.user_id, turn.source, turn.store_id, turn.native_id
    )
    return None if value is None else int(value)


async def find_turns(connection: Connection, turns: Sequence[Identity]) -> set[str]:
    """The native ids of those turns of one store that a message stands for."""
    if not turns:
        return set()
    first = turns[0]
    native_ids = [turn.native_id for turn in turns]
    rows = await connection.fetch(
        SQL["find_turns"].sql, first.user_id, first.source, first.store_id, native_ids
    )
    return {row["native_id"] for row in rows}


async def list_told(
    connection: Connection,
    *,
    user_id: int,
    platform: str,
    device: str,
    spans: Sequence[tuple[datetime, datetime]],
) -> list[Told]:
    """What was handed over within `spans` and stands for no captured turn yet, oldest first.

    No two spans overlap.
    """
    rows = await connection.fetch(
        SQL["list_told"].sql,
        user_id,
        platform,
        device,
        [since for since, _ in spans],
        [until for _, until in spans],
    )
    return [
        Told(
            row["id"],
            Role(row["role"]),
            row["message"],
            Trust(row["trust"]),
            row["created_at"],
            row["session"],
        )
        for row in rows
    ]


async def any_captured(
    connection: Connection, user_id: int, since: datetime, until: datetime
) -> bool:
    """Whether capture read anything that was said in that time."""
    value = await connection.fetchval(SQL["any_captured"].sql, user_id, since, until)
    return bool(value)


async def list_told_twice(
    connection: Connection,
    user_id: int,
    told: Sequence[tuple[datetime, datetime]],
    said: Sequence[tuple[datetime, datetime]],
    within: timedelta,
) -> list[Twice]:
    """Pairs of what was told in the spans `told`, and captured in `said` and `within` a time of it.

    No two spans of a kind overlap. Ordered by what was told first, then by how near the captured
    turn is.
    """
    bounds = ([one[side] for one in spans] for spans in (told, said) for side in (0, 1))
    rows = await connection.fetch(SQL["list_told_twice"].sql, user_id, *bounds, within)
    return [
        Twice(
            row["told_id"],
            row["told"],
            Trust(row["told_trust"]),
            row["session"],
            row["id"],
            row["message"],
            Trust(row["trust"]),
            row["has_account"],
        )
        for row in rows
    ]


async def collapse_turn(connection: Connection, turn: Identity, message_id: int) -> bool:
    """Lets a message stand for a captured turn; false when it stands for another one already."""
    value = await connection.fetchval(
        SQL["collapse_turn"].sql,
        turn.user_id,
        turn.source,
        turn.store_id,
        turn.native_id,
        message_id,
    )
    return value is not None
