"""Model work that a tool asks for: hot never asks a model, so it waits for the daemon to do it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from agents_memory.clock import SystemClock
from agents_memory.domain.errors import Code, DatabaseUnavailable, Refusal
from agents_memory.domain.redaction import redact
from agents_memory.domain.text import repair
from agents_memory.domain.tombstones import Tombstones, strike
from agents_memory.storage import jobs, leadership
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.jobs import JobRow
from agents_memory.storage.notify import Hints
from agents_memory.storage.tombstones import KnownTombstones

BUDGET_S = 20.0
"""How long a tool waits for the daemon before it answers with a receipt; clients wait 60 s."""

_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _GROWTH = 0.05, 1.0, 1.5


class JobState(StrEnum):
    """Where a job stands; a failed one is tried again, a parked one is not."""

    WAITING = "waiting"
    WORKING = "working"
    FAILED = "failed"
    PARKED = "parked"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Asked:
    """A job as whoever asked for it sees it: its `result`, or why there is none yet.

    `fix` says what to do where a person is needed. `reason` and `fix` hold no content.
    """

    id: int
    kind: str
    state: JobState
    result: Mapping[str, Any] | None = None
    reason: str | None = None
    fix: str | None = None
    created_at: datetime | None = None


class Jobs:
    """Asks the daemon, and waits for what comes of it."""

    def __init__(self, database: Database, hints: Hints) -> None:
        self._database = database
        self._hints = hints
        self._tombstones = KnownTombstones(SystemClock())

    async def answer(
        self, user_id: int, kind: str, request: Mapping[str, Any], *, within_s: float | None = None
    ) -> Asked:
        """Asks for a job and waits for it, at most `within_s` seconds (BUDGET_S).

        Once it is asked for, a database that goes away is a reason to wait and no fault. Raises
        DatabaseUnavailable before.
        """
        job_id = await self.ask(user_id, kind, request)
        try:
            found = await self.wait(user_id, kind, job_id, within_s=within_s)
        except DatabaseUnavailable as fault:
            return Asked(job_id, kind, JobState.WAITING, reason=str(fault))
        assert isinstance(found, Asked), "it was stored"
        return found

    async def ask(self, user_id: int, kind: str, request: Mapping[str, Any]) -> int:
        """Asks for a job, exactly once; its id.

        `request` is JSON; its strings are repaired, and secrets and erased words are left out.
        Raises DatabaseUnavailable.
        """
        clean = _each(request, lambda text: redact(repair(text).text).text)
        job_id = await self._database.run(jobs.draw_job)

        async def insert(connection: Connection) -> None:
            erased = await self._tombstones.now(connection)
            await jobs.insert_job(connection, job_id, user_id, kind, _without(clean, erased))

        await self._database.run(insert)
        self._hints.send()
        return job_id

    async def wait(
        self, user_id: int, kind: str, job_id: int, *, within_s: float | None = None
    ) -> Asked | Refusal:
        """A job once it is done or parked, or as it stands after `within_s` seconds (BUDGET_S).

        May be cancelled at any time; the daemon goes on with it. Refuses with UNKNOWN_ITEM what is
        no job of this kind and user, and what was done longer ago than logs are kept. Raises
        DatabaseUnavailable.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + (BUDGET_S if within_s is None else within_s)
        pause = _FIRST_PAUSE_S
        while True:
            row = await self._find(user_id, job_id)
            if row is None or row.kind != kind:
                return Refusal(
                    Code.UNKNOWN_ITEM,
                    f"{job_id} names no job of {kind} that is kept still; ask for it anew",
                    {"id": job_id},
                )
            left = end - loop.time()
            if row.result is not None or row.parked_reason is not None or left <= 0:
                return await self._asked(row)
            await asyncio.sleep(min(pause, left))
            pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)

    async def _find(self, user_id: int, job_id: int) -> JobRow | None:
        return await self._database.run(lambda c: jobs.find_job(c, job_id, user_id))

    async def _asked(self, row: JobRow) -> Asked:
        if row.result is not None:
            return Asked(row.id, row.kind, JobState.DONE, row.result, created_at=row.created_at)
        led = await self._database.run(lambda c: leadership.is_locked(c, self._database.schema))
        state, reason, fix = _stands(row, led=led)
        return Asked(row.id, row.kind, state, None, reason, fix, row.created_at)


def _stands(row: JobRow, *, led: bool) -> tuple[JobState, str, str | None]:
    if row.parked_reason is not None:
        fix = f"remove the cause, then `mcp-agents-memory retry {row.id}`"
        return JobState.PARKED, row.parked_reason, fix
    if not led:
        return (
            JobState.WAITING,
            "no daemon leads the pool",
            "run `mcp-agents-memory up` (or `coldpath` on one machine), then ask with this id",
        )
    if row.last_error is not None:
        state = JobState.FAILED if row.tried else JobState.WAITING
        return state, row.last_error, "it is tried again by itself; ask with this id later"
    if row.claimed:
        return JobState.WORKING, "the daemon is at it", None
    return JobState.WAITING, "the daemon has other work first", None


def _without(request: Mapping[str, Any], erased: Tombstones) -> Mapping[str, Any]:
    struck: Mapping[str, Any] = _each(request, lambda text: strike(text, erased))
    return struck


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """JSON with every string in it changed; its keys are ours."""
    match value:
        case str():
            return change(value)
        case Mapping():
            return {key: _each(one, change) for key, one in value.items()}
        case list() | tuple():
            return [_each(one, change) for one in value]
        case _:
            return value
