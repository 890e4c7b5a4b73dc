"""Some stages of a term, one after another: take work, do it outside a transaction, settle it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
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
from cold.flow import Flow
from cold.guard import Guard, ModelAway, Park
from cold.passes.protocol import Chore, Pass, SideBySide
from cold.stopping import Stop, Stopped, first

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Rest:
    times: int
    until: float


class Rounds:
    """Goes through `passes` in their order, a batch each, and through `chores`.

    `wake` tells that there may be work. Shows signs of life where it has a `beat`.
    """

    def __init__(
        self,
        database: Database,
        passes: Sequence[Pass[Any, Any]],
        chores: Sequence[Chore],
        *,
        guard: Guard,
        batch_size: int,
        stop: Stop,
        clock: Clock,
        account: Account,
        beat: Beat | None,
    ) -> None:
        self._database = database
        self._passes = tuple(passes)
        self._chores = tuple(chores)
        self._guard = guard
        self._batch_size = batch_size
        self._stop = stop
        self._clock = clock
        self._account = account
        self._beat = beat
        self._resting: dict[str, _Rest] = {}
        # Terms of this process that may still hold rows of these stages.
        self._terms: set[int] = set()
        self.wake = asyncio.Event()
        # Who may go on with what was done here.
        self.others: list[Rounds] = []

    @property
    def idle(self) -> bool:
        """Whether it has nothing to go through."""
        return not self._passes and not self._chores

    async def hand_back(self, epoch: int) -> None:
        """Releases what this process claimed and did not finish, in this term or an earlier one.

        What another one left claimed is worked on alone from then on.
        """
        self._terms.add(epoch)
        stages = [step.stage for step in self._passes]
        async with fenced(self._database, epoch) as connection:
            for term in self._terms:
                await work.release_term(connection, term, stages)
            most = self._guard.max_attempts
            parked = await work.suspect_lost(connection, epoch, stages, most)
        for item, stage in parked:
            self._account.note(stage, Park(work.ENDED))
            log.warning(Action.ITEM_PARKED, stage=stage, item=item, reason=work.ENDED)
        self._terms = {epoch}

    async def empty(self, epoch: int) -> int:
        """Goes through the stages until none has anything due; how many items there were."""
        done, busy = 0, True
        while busy and not self._stop.asked:
            busy = False
            due = await self.look(epoch)
            for step in self._passes:
                if step.stage in due and not self._rests(step.stage):
                    items = await self._round(step, epoch)
                    busy |= items > 0
                    done += items
                    # One after the other, without another look.
                    due |= set(step.next_stages) if items else set()
        if done:
            log.info(Action.PASS_DONE, items=done)
        return done

    async def look(self, epoch: int) -> set[str]:
        """The stages with something to be done now; wakes the others where they have some."""
        due = await self._stop.race(self._due(epoch))
        for other in self.others:
            if not due.isdisjoint(other._ready):
                other.wake.set()
        ready = self._ready
        for stage in ready - due:
            self._resting.pop(stage, None)
        return due & ready

    async def do_chores(self, epoch: int) -> None:
        """Does what the chores find due; none of them stops the work."""
        for chore in self._chores:
            if self._stop.asked:
                return
            try:
                await self._stop.race(self._do(chore, epoch))
            except (Stopped, Deposed):
                raise
            except Exception as error:  # noqa: BLE001 (a chore never stops the work)
                log.warning(Action.PASS_FAILED, stage=chore.name, error=error)

    def end_rests(self) -> None:
        """Every stage that was held may be tried at once."""
        self._resting.clear()

    def held(self, times: int = 1) -> bool:
        """Whether a stage was held so many times in a row."""
        return any(rest.times >= times for rest in self._resting.values())

    async def due_in(self, epoch: int) -> float | None:
        """Seconds until the next row of any of its stages is due; None when none waits."""
        return await self._next_due([step.stage for step in self._passes], epoch)

    async def ready_in(self, epoch: int, longest_s: float) -> float:
        """Seconds until something can be worked on, or the next look at the latest."""
        due = await self._next_due(sorted(self._ready), epoch)
        now = self._clock.monotonic()
        waits = [longest_s, *(rest.until - now for rest in self._resting.values())]
        return max(0.0, min(waits if due is None else [*waits, due]))

    async def _round(self, step: Pass[Any, Any], epoch: int) -> int:
        """Takes one batch of one stage; its size, 0 when nothing was due or the stage is held."""
        claims = await self._stop.race(self._claim(step.stage, epoch))
        if not claims:
            self._resting.pop(step.stage, None)
            return 0
        items = len(claims)
        attempt = Attempt(self._database, step, self._guard, self._stop, self._account, epoch)
        try:
            if isinstance(step, SideBySide) and step.lanes is not None and not claims[0].alone:
                flow = Flow(
                    attempt,
                    step.lanes,
                    step.answering(),
                    self._more_of(step.stage, epoch),
                    stop=self._stop,
                    wake=self.wake,
                )
                await flow.run(claims)
                items = flow.items
            else:
                await attempt.run(claims)
        except (EmbedderUnavailable, ModelAway, DatabaseUnavailable, SchemaMismatch) as lost:
            # With the database gone altogether this fails too, and the caller waits for it.
            await self._hold(step.stage, epoch, lost)
            return 0
        log.debug(Action.PASS_DONE, stage=step.stage, items=items)
        self._resting.pop(step.stage, None)
        return items

    def _more_of(self, stage: str, epoch: int) -> Callable[[], Awaitable[list[Claim]]]:
        """What takes another batch of a stage, none while another stage has anything due."""

        async def more() -> list[Claim]:
            due = await self.look(epoch)
            if due != {stage}:
                return []
            return await self._stop.race(self._claim(stage, epoch, beside=True))

        return more

    async def _due(self, epoch: int) -> set[str]:
        """The stages with something to be done now, here and by the others."""
        if self._beat is not None:
            await self._beat.show(self._database, epoch)
        stages = [*self._ready, *(stage for other in self.others for stage in other._ready)]
        async with self._database.acquire() as connection:
            return await work.list_due_stages(connection, stages, epoch)

    async def _claim(self, stage: str, epoch: int, *, beside: bool = False) -> list[Claim]:
        async with self._database.acquire() as connection:
            return await work.claim_work(connection, stage, self._batch_size, epoch, beside=beside)

    async def _hold(self, stage: str, epoch: int, lost: Exception) -> None:
        times = self._resting[stage].times + 1 if stage in self._resting else 1
        hold = self._guard.hold(times, lost)
        async with fenced(self._database, epoch) as connection:
            await work.hold_stage(connection, stage, epoch, hold.reason)
        rest_s = hold.delay.total_seconds()
        if isinstance(lost, ModelAway) and lost.until is not None:
            # What was said to be over by then is looked at then.
            rest_s = min(rest_s, max(0.0, (lost.until - self._clock.now()).total_seconds()))
        self._resting[stage] = _Rest(times, self._clock.monotonic() + rest_s)
        log.warning(Action.PASS_FAILED, stage=stage, outcome="held", wait=hold.delay, error=lost)

    @property
    def _ready(self) -> set[str]:
        """The stages that are not held."""
        return {step.stage for step in self._passes if not self._rests(step.stage)}

    def _rests(self, stage: str) -> bool:
        rest = self._resting.get(stage)
        return rest is not None and self._clock.monotonic() < rest.until

    async def _do(self, chore: Chore, epoch: int) -> None:
        if self._beat is None:
            await chore.run(epoch)
        else:
            await first(chore.run(epoch), self._beat.keep(self._database, epoch))

    async def _next_due(self, stages: Sequence[str], epoch: int) -> float | None:
        return await self._stop.race(self._database.run(lambda c: work.next_due(c, stages, epoch)))
