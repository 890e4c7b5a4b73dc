"""The loops of a term: go through the stages, do the chores, rest until there is work again."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agents_memory.clock import Clock
from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.observe import Action, get_logger
from agents_memory.storage.connections import Database
from cold.account import Account
from cold.beat import Beat
from cold.guard import Backoff, Guard
from cold.listening import listen
from cold.passes.protocol import Chore, Pass
from cold.rounds import Rounds
from cold.stopping import Stop, Stopped, first, together

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

    @property
    def ends(self) -> bool:
        """Whether the work is over at some time."""
        return self.drain or self.once


@dataclass(frozen=True, slots=True)
class Asking:
    """The passes and chores that wait for a language model, which may take minutes or hang."""

    passes: Sequence[Pass[Any, Any]] = ()
    chores: Sequence[Chore] = ()


class Worker:
    """Works through the stages in the order of `passes`, term after term.

    What waits for a language model (`asking`) has loops of its own beside that of all others, one
    a part, so that none of them waits too. A run that ends has one loop, which leaves it to the
    last.
    """

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
        asking: Sequence[Asking] = (),
    ) -> None:
        self._database = database
        self._pace = pace
        self._stop = stop
        self.account = Account()
        beat = Beat(clock, pace.interval_s)

        def rounds(beat: Beat | None, part: Asking) -> Rounds:
            return Rounds(
                database,
                part.passes,
                part.chores,
                guard=guard,
                batch_size=pace.batch_size,
                stop=stop,
                clock=clock,
                account=self.account,
                beat=beat,
            )

        # A loop of their own says nothing about whether the others are worked on.
        own = [rounds(beat if pace.ends else None, part) for part in asking]
        quick = rounds(beat, Asking(passes, chores))
        self._rounds: Sequence[Rounds] = (quick, *(one for one in own if not one.idle))
        for one in self._rounds:
            one.others += [other for other in self._rounds if other is not one]

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
        await listen(self._database, self._hear)
        return Finish.STOPPED

    def _hear(self, *, retry: bool) -> None:
        for one in self._rounds:
            if retry:
                one.end_rests()
            one.wake.set()

    async def _work(self, epoch: int) -> Finish:
        await self._stop.rest(self._pace.warmup_s)
        if self._pace.ends:
            return await self._work_off(epoch)
        await together(*(self._go_on(one, epoch) for one in self._rounds))
        return Finish.STOPPED

    async def _go_on(self, rounds: Rounds, epoch: int) -> None:
        """One loop until the stop; what ends it otherwise ends the term."""
        tidy, failures = False, 0
        try:
            while not self._stop.asked:
                # Before the look at the queue, so that no hint falls between look and rest.
                rounds.wake.clear()
                try:
                    if not tidy:
                        await rounds.hand_back(epoch)
                    await rounds.empty(epoch)
                    await rounds.do_chores(epoch)
                    # Chores may have asked for work of another loop.
                    await rounds.look(epoch)
                    pause = await rounds.ready_in(epoch, self._pace.interval_s)
                    tidy, failures = True, 0
                except DatabaseUnavailable as fault:
                    tidy, failures = False, failures + 1
                    pause = _lost(failures, fault)
                await self._stop.rest(pause, rounds.wake)
        except Stopped:
            # The other loop still settles what it worked out.
            return

    async def _work_off(self, epoch: int) -> Finish:
        """All in one loop, until there is nothing left to do or it cannot be done."""
        wake = self._rounds[0].wake
        tidy, failures = False, 0
        while not self._stop.asked:
            wake.clear()
            try:
                if not tidy:
                    await self._hand_back(epoch)
                await self._empty(epoch)
                await self._do_chores(epoch)
                if self._pace.once:
                    # Chores may have asked for more.
                    await self._empty(epoch)
                    return self._once()
                if (finish := await self._finished(epoch)) is not None:
                    return finish
                pause = min(
                    [await one.ready_in(epoch, self._pace.interval_s) for one in self._rounds]
                )
                tidy, failures = True, 0
            except DatabaseUnavailable as fault:
                tidy, failures = False, failures + 1
                pause = _lost(failures, fault)
            await self._stop.rest(pause, wake)
        return Finish.STOPPED

    async def _hand_back(self, epoch: int) -> None:
        for one in self._rounds:
            await one.hand_back(epoch)

    async def _empty(self, epoch: int) -> None:
        """Goes through all stages until none has anything due."""
        while sum([await one.empty(epoch) for one in self._rounds]) and len(self._rounds) > 1:
            pass

    async def _do_chores(self, epoch: int) -> None:
        for one in self._rounds:
            await one.do_chores(epoch)

    def _once(self) -> Finish:
        if self._stop.asked:
            return Finish.STOPPED
        return Finish.HELD if any(one.held() for one in self._rounds) else Finish.DRAINED

    async def _finished(self, epoch: int) -> Finish | None:
        """Whether a drain has nothing left to do, or can do nothing more."""
        if all([await one.due_in(epoch) is None for one in self._rounds]):
            return Finish.DRAINED
        tired = any(one.held(DRAIN_PATIENCE) for one in self._rounds)
        return Finish.HELD if tired else None


def _lost(failures: int, fault: DatabaseUnavailable) -> float:
    """How long to wait for the database, in seconds."""
    log.warning(Action.DATABASE_LOST, error=fault)
    return DATABASE_LOST.after(failures).total_seconds()
