"""The loop of a term: take work, do it outside of any transaction, settle it in one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agents_memory.clock import Clock
from agents_memory.domain.errors import (
    DatabaseUnavailable,
    Deposed,
    EmbedderUnavailable,
    SchemaMismatch,
)
from agents_memory.observe import Action, get_logger
from agents_memory.storage import work
from agents_memory.storage.connections import Database
from agents_memory.storage.work import Claim
from cold.account import Account
from cold.attempt import Attempt
from cold.beat import Beat
from cold.fence import fenced
from cold.guard import Backoff, Guard, ModelAway, batches
from cold.listening import listen
from cold.passes.protocol import Chore, Pass
from cold.stopping import Stop, Stopped, first

log = get_logger()

DATABASE_LOST = Backoff(0.5, 2, 30)
# A drain gives up on a stage that had to be held so many times in a row.
DRAIN_PATIENCE = 3


class Finish(StrEnum):
    """Why a worker ended by itself."""

    STOPPED = "stopped"
    DRAINED = "drained"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Pace:
    """How much at a time and how often: items, seconds, seconds before the first look.

    `drain` ends the work when the queue is empty, or when a stage cannot be worked on; `once` when
    nothing is due, whatever was put off meanwhile.
    """

    batch_size: int
    interval_s: float
    warmup_s: float = 0.0
    drain: bool = False
    once: bool = False


@dataclass(frozen=True, slots=True)
class _Rest:
    times: int
    until: float


class Worker:
    """Works through the stages in the order of `passes`, term after term."""

    def __init__(
        self,
        database: Database,
        passes: Sequence[Pass[Any, Any]],
        chores: Sequence[Chore],
        *,
        guard: Guard,
        pace: Pace,
        stop: Stop,
        clock: Clock,
    ) -> None:
        self._database = database
        self._passes = tuple(passes)
        self._chores = tuple(chores)
        self._guard = guard
        self._pace = pace
        self._stop = stop
        self._clock = clock
        self.account = Account()
        self._beat = Beat(clock, pace.interval_s)
        self._wake = asyncio.Event()
        self._resting: dict[str, _Rest] = {}
        # Terms of this process that may still hold rows.
        self._terms: set[int] = set()

    async def run(self, epoch: int) -> Finish:
        """Works until the stop or the end of a drain; hands back what was claimed and not done.

        Raises Deposed when another term began, and SchemaMismatch.
        """
        try:
            finish = await first(self._work(epoch), self._listen())
        except Stopped:
            finish = Finish.STOPPED
        try:
            await self._hand_back(epoch)
        except DatabaseUnavailable as fault:
            # The next term takes the rows all the same.
            log.warning(Action.DATABASE_LOST, error=fault)
        return finish

    async def _listen(self) -> Finish:
        await listen(self._database, self._wake)
        return Finish.STOPPED

    async def _work(self, epoch: int) -> Finish:
        await self._stop.rest(self._pace.warmup_s)
        tidy, failures = False, 0
        while not self._stop.asked:
            # Before the look at the queue, so that no hint falls between look and rest.
            self._wake.clear()
            try:
                if not tidy:
                    await self._hand_back(epoch)
                await self._empty(epoch)
                await self._do_chores(epoch)
                if self._pace.once:
                    # Chores may have asked for more.
                    await self._empty(epoch)
                    return self._once()
                if self._pace.drain and (finish := await self._finished(epoch)) is not None:
                    return finish
                pause = await self._until_due(epoch)
                tidy, failures = True, 0
            except DatabaseUnavailable as fault:
                tidy, failures = False, failures + 1
                log.warning(Action.DATABASE_LOST, error=fault)
                pause = DATABASE_LOST.after(failures).total_seconds()
            await self._stop.rest(pause, self._wake)
        return Finish.STOPPED

    async def _hand_back(self, epoch: int) -> None:
        """Releases what this process claimed and did not finish, in this term or an earlier one."""
        self._terms.add(epoch)
        async with fenced(self._database, epoch) as connection:
            for term in self._terms:
                await work.release_term(connection, term)
        self._terms = {epoch}

    async def _empty(self, epoch: int) -> None:
        """Goes through the stages, a batch each, until none has anything due."""
        done, busy = 0, True
        while busy and not self._stop.asked:
            busy = False
            for step in self._passes:
                if not self._rests(step.stage):
                    items = await self._round(step, epoch)
                    busy |= items > 0
                    done += items
        if done:
            log.info(Action.PASS_DONE, items=done)

    async def _round(self, step: Pass[Any, Any], epoch: int) -> int:
        """Takes one batch of one stage; its size, 0 when nothing was due or the stage is held."""
        claims = await self._stop.race(self._claim(step.stage, epoch))
        if not claims:
            self._resting.pop(step.stage, None)
            return 0
        attempt = Attempt(self._database, step, self._guard, self._stop, self.account, epoch)
        try:
            for batch in batches(claims):
                await attempt.run(batch)
        except (EmbedderUnavailable, ModelAway, DatabaseUnavailable, SchemaMismatch) as lost:
            # With the database gone altogether this fails too, and the caller waits for it.
            await self._hold(step.stage, epoch, lost)
            return 0
        log.debug(Action.PASS_DONE, stage=step.stage, items=len(claims))
        self._resting.pop(step.stage, None)
        return len(claims)

    async def _claim(self, stage: str, epoch: int) -> list[Claim]:
        async with fenced(self._database, epoch) as connection:
            await self._beat.show(connection, epoch)
            return await work.claim_work(connection, stage, self._pace.batch_size, epoch)

    async def _hold(self, stage: str, epoch: int, lost: Exception) -> None:
        times = self._resting[stage].times + 1 if stage in self._resting else 1
        hold = self._guard.hold(times, lost)
        async with fenced(self._database, epoch) as connection:
            await work.hold_stage(connection, stage, epoch, hold.reason)
        until = self._clock.monotonic() + hold.delay.total_seconds()
        self._resting[stage] = _Rest(times, until)
        log.warning(Action.PASS_FAILED, stage=stage, outcome="held", wait=hold.delay, error=lost)

    def _rests(self, stage: str) -> bool:
        rest = self._resting.get(stage)
        return rest is not None and self._clock.monotonic() < rest.until

    async def _do_chores(self, epoch: int) -> None:
        for chore in self._chores:
            if self._stop.asked:
                return
            try:
                alive = self._beat.keep(self._database, epoch)
                await self._stop.race(first(chore.run(epoch), alive))
            except (Stopped, Deposed):
                raise
            except Exception as error:  # noqa: BLE001 (a chore never stops the work)
                log.warning(Action.PASS_FAILED, stage=chore.name, error=error)

    def _once(self) -> Finish:
        if self._stop.asked:
            return Finish.STOPPED
        return Finish.HELD if self._resting else Finish.DRAINED

    async def _finished(self, epoch: int) -> Finish | None:
        """Whether a drain has nothing left to do, or can do nothing more."""
        if await self._next_due([step.stage for step in self._passes], epoch) is None:
            return Finish.DRAINED
        tired = any(rest.times >= DRAIN_PATIENCE for rest in self._resting.values())
        return Finish.HELD if tired else None

    async def _until_due(self, epoch: int) -> float:
        """Seconds until something is due, or the next look at the latest."""
        ready = [step.stage for step in self._passes if not self._rests(step.stage)]
        due = await self._next_due(ready, epoch)
        now = self._clock.monotonic()
        waits = [self._pace.interval_s, *(rest.until - now for rest in self._resting.values())]
        return max(0.0, min(waits if due is None else [*waits, due]))

    async def _next_due(self, stages: Sequence[str], epoch: int) -> float | None:
        return await self._stop.race(self._database.run(lambda c: work.next_due(c, stages, epoch)))
