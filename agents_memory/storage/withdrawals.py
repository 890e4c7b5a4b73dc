"""Messages that give way: their source edited or deleted them, or what they tell was captured."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_memory.domain.messages import Draft, Origin, Role, Trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("withdrawals")


@dataclass(frozen=True, slots=True)
class Standing:
    """The message that stands for a turn today; `gone` when its source deleted it.

    `raw` is what was said without what was put around it, None for one without such.
    """

    id: int
    session: str | None
    trust: Trust
    raw: str | None
    occurred_at: datetime | None
    pinned: bool
    gone: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """When the newest known turn of a session was said, and how many turns stand, pinned aside."""

    newest: datetime
    standing: int


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A stored turn, and the draft it would be stored from again."""

    id: int
    draft: Draft


async def withdraw(connection: Connection, message_id: int, successor: int | None) -> bool:
    """Hides a message in favour of a later one of its store, or of none; whether it was done.

    One that an agent asserted is hidden only in favour of a captured turn, to which none of another
    session gave way. Not done for one that is pinned or was withdrawn before.
    """
    return bool(await connection.fetchval(SQL["withdraw_message"].sql, message_id, successor))


async def list_standing(
    connection: Connection, user_id: int, source: str, store_id: str, native_ids: Sequence[str]
) -> dict[str, Standing]:
    """What stands for turns by their native ids; those that were never stored are left out."""
    rows = await connection.fetch(
        SQL["list_standing"].sql, user_id, source, store_id, list(native_ids)
    )
    return {
        row["native_id"]: Standing(
            row["id"],
            row["session"],
            Trust(row["trust"]),
            row["raw_message"],
            row["occurred_at"],
            row["pinned"],
            row["gone"],
        )
        for row in rows
    }


async def list_heard(
    connection: Connection, user_id: int, source: str, store_id: str
) -> dict[str, Heard]:
    """What is known of each session of a store."""
    rows = await connection.fetch(SQL["list_heard"].sql, user_id, source, store_id)
    return {row["session"]: Heard(row["newest"], row["standing"]) for row in rows}


async def list_wrapped(connection: Connection, user_id: int, limit: int) -> list[Wrapped]:
    """Turns that begin like the wrapping of Buzz's bridge, the newest first."""
    rows = [dict(row) for row in await connection.fetch(SQL["list_wrapped"].sql, user_id, limit)]
    return [
        Wrapped(
            row.pop("id"),
            Draft(
                text=row.pop("message"),
                role=Role(row.pop("role")),
                trust=Trust(row.pop("trust")),
                origin=Origin(row.pop("origin")),
                **row,
            ),
        )
        for row in rows
    ]


async def list_said(
    connection: Connection, user_id: int, source: str, session: str, times: Sequence[datetime]
) -> list[tuple[datetime, str]]:
    """What was said in a session at some times, whatever became of it since."""
    rows = await connection.fetch(SQL["list_said"].sql, user_id, source, session, list(times))
    return [(row["occurred_at"], row["raw_message"]) for row in rows]


async def list_memories_resting(connection: Connection, message_ids: Sequence[int]) -> list[int]:
    """Ids of active memories that rest on some messages."""
    rows = await connection.fetch(SQL["list_memories_resting"].sql, list(message_ids))
    return [row["id"] for row in rows]
