"""Jobs: what a tool asks the daemon for, and what came of it.

How a job waits, is tried again or parked is its row in `work`, whose stage is the kind of the job.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("jobs")


@dataclass(frozen=True, slots=True)
class Job:
    """A job that is not done yet, as its pass takes it up; `attempts` counts this one."""

    id: int
    user_id: int
    kind: str
    request: Mapping[str, Any]
    attempts: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as whoever asked for it sees it; `result` is None until it is done.

    The other fields are those of its work: None, or 0, when nothing waits any more.
    """

    id: int
    kind: str
    result: Mapping[str, Any] | None
    created_at: datetime
    settled_at: datetime | None
    parked_reason: str | None
    last_error: str | None
    tried: int | None
    claimed: bool


async def draw_job(connection: Connection) -> int:
    """An id for a job that is not there yet."""
    return int(await connection.fetchval(SQL["draw_job"].sql))


async def insert_job(
    connection: Connection, job_id: int, user_id: int, kind: str, request: Mapping[str, Any]
) -> None:
    """Asks for a job under an id that was drawn for it; safe to repeat."""
    await connection.execute(SQL["insert_job"].sql, job_id, user_id, kind, dict(request))


async def find_job(connection: Connection, job_id: int, user_id: int) -> JobRow | None:
    """A job of this user; None when the id names none."""
    row = await connection.fetchrow(SQL["find_job"].sql, job_id, user_id)
    return None if row is None else JobRow(**dict(row))


async def find_any(connection: Connection, job_id: int) -> JobRow | None:
    """A job, whoever asked for it."""
    row = await connection.fetchrow(SQL["find_job"].sql, job_id, None)
    return None if row is None else JobRow(**dict(row))


async def list_unsettled(connection: Connection, ids: Sequence[int], kind: str) -> list[Job]:
    """The jobs a pass works on; ids of other kinds, and of what is done, are left out."""
    rows = await connection.fetch(SQL["list_unsettled"].sql, list(ids), kind)
    return [Job(**dict(row)) for row in rows]


async def settle_job(connection: Connection, job_id: int, result: Mapping[str, Any]) -> bool:
    """Writes what came of a job, in the transaction that did it; False when it was done before.

    The result is kept as long as logs are. Numbers, ids and labels where that is enough: what it
    holds of content is erased with `redact`, but shown to whoever asked.
    """
    return await connection.fetchval(SQL["settle_job"].sql, job_id, dict(result)) is not None
