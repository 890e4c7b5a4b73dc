"""Sessions as they were said, and what was written down of them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from agents_memory.domain.messages import Role, Trust
from agents_memory.domain.sittings import Line, Note
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("transcripts")


@dataclass(frozen=True, slots=True)
class QuietSession:
    """A session that nothing was added to for some time.

    From `since` until `until` the messages that were asked about were learned; `last_id` is the
    last of them.
    """

    user_id: int
    platform: str
    session: str
    since: datetime
    until: datetime
    last_id: int


async def list_quiet_sessions(
    connection: Connection, *, since: datetime, above: int, before: datetime, limit: int
) -> list[QuietSession]:
    """Sessions that ended before a time, of messages learned since one and above an id.

    Those whose last message came first are first.
    """
    rows = await connection.fetch(SQL["list_quiet_sessions"].sql, since, above, before, limit)
    return [QuietSession(**dict(row)) for row in rows]


async def is_unsettled(connection: Connection, of: QuietSession) -> bool:
    """Whether a message of the session is still to be screened, embedded or tagged."""
    return bool(await connection.fetchval(SQL["is_unsettled"].sql, *_named(of)))


async def list_lines(connection: Connection, of: QuietSession) -> list[Line]:
    """What was said in a session and no summary of it tells, in the order of time."""
    rows = await connection.fetch(SQL["list_lines"].sql, *_named(of))
    return [
        Line(**{**dict(row), "role": Role(row["role"]), "trust": Trust(row["trust"])})
        for row in rows
    ]


async def list_written(
    connection: Connection, of: QuietSession, began: datetime, ended: datetime
) -> list[Note]:
    """The memories that agents or the owner wrote on the platform of a session in some time."""
    rows = await connection.fetch(SQL["list_written"].sql, of.user_id, of.platform, began, ended)
    return [Note(**dict(row)) for row in rows]


async def list_rested_on(connection: Connection, message_ids: Collection[int]) -> frozenset[int]:
    """Those of some messages that a memory of agents or of the owner rests on."""
    rows = await connection.fetch(SQL["list_rested_on"].sql, list(message_ids))
    return frozenset(row["message_id"] for row in rows)


def _named(of: QuietSession) -> tuple[object, ...]:
    return of.user_id, of.platform, of.session, of.since, of.until
