"""Some items side by side: a lane goes on with the next one while the last answer is stored."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from agents_memory.storage.work import Claim
from cold.attempt import BLAMELESS, Attempt, Worked
from cold.guard import ModelAway
from cold.lanes import Lanes
from cold.stopping import Stop, end


class Flow:
    """Works on claims of one stage; asks for `more` whenever a lane is free and none is left.

    After that gave none it is asked again once `wake` is set, which is cleared here.
    """

    def __init__(
        self,
        attempt: Attempt,
        lanes: Lanes,
        answer: Callable[[Any], Awaitable[Any]],
        more: Callable[[], Awaitable[Sequence[Claim]]],
        *,
        stop: Stop,
        wake: asyncio.Event,
    ) -> None:
        self._attempt = attempt
        self._lanes = lanes
        self._answer = answer
        self._ask_for_more = more
        self._stop = stop
        self._wake = wake
        self._waiting: deque[tuple[Claim, Any]] = deque()
        self._asked: dict[asyncio.Task[Any], tuple[Claim, Any]] = {}
        self._answered: list[Worked] = []
        # At most one, so that rows are written in groups where many are answered at a time.
        self._storing: list[asyncio.Task[None]] = []
        self._alone: list[Claim] = []
        self._away: ModelAway | None = None
        self._look = True
        self.items = 0

    async def run(self, claims: Sequence[Claim]) -> None:
        """Settles, puts off or parks each row; those that cannot be loaded together last, alone.

        Raises what `Attempt.run` does, ModelAway once what
        needs no model is done; what was not begun stays claimed.
        """
        woken = asyncio.ensure_future(self._wake.wait())
        told = asyncio.ensure_future(self._stop.told())
        try:
            await self._take(claims)
            while await self._go_on():
                under_way = [*self._asked, *self._storing]
                await asyncio.wait([*under_way, woken, told], return_when=asyncio.FIRST_COMPLETED)
                if told.done():
                    # What was answered is worth keeping.
                    await asyncio.gather(*self._storing)
                    told.result()
                if woken.done():
                    self._wake.clear()
                    self._look = True
                    woken = asyncio.ensure_future(self._wake.wait())
                await self._collect()
        finally:
            await end([*self._asked, *self._storing, woken, told])
        if self._away is not None:
            raise self._away
        for claim in self._alone:
            await self._attempt.run([claim])

    async def _go_on(self) -> bool:
        """Fills the lanes, then begins to store; whether anything is under way."""
        while len(self._asked) < self._lanes.open and (self._waiting or await self._refill()):
            claim, item = self._waiting.popleft()
            answer = partial(self._answer, item)
            asked = asyncio.ensure_future(self._attempt.in_time(answer))
            self._asked[asked] = (claim, item)
        if self._answered and not self._storing:
            self._storing = [asyncio.ensure_future(self._attempt.settle(self._answered))]
            self._answered = []
        return bool(self._asked or self._storing)

    async def _refill(self) -> bool:
        while self._look and not self._waiting and not self._alone and self._away is None:
            claims = await self._ask_for_more()
            self._look = bool(claims)
            await self._take(claims)
        return bool(self._waiting)

    async def _take(self, claims: Sequence[Claim]) -> None:
        self.items += len(claims)
        if not claims:
            return
        try:
            loaded = await self._stop.race(self._attempt.load(claims))
        except BLAMELESS:
            raise
        except Exception:  # noqa: BLE001 (whose fault it is shows when each is by itself)
            self._alone += claims
            return
        self._waiting += [pair for pair in loaded if pair[1] is not None]
        self._answered += [Worked(claim, None, None) for claim, item in loaded if item is None]

    async def _collect(self) -> None:
        """What came meanwhile: answers, and the end of a storing."""
        for storing in [task for task in self._storing if task.done()]:
            self._storing.remove(storing)
            # The look for more also wakes who goes on with what was stored.
            self._look = True
            try:
                storing.result()
            except ModelAway as error:
                self._away = self._away or error
        for asked in [task for task in self._asked if task.done()]:
            claim, item = self._asked.pop(asked)
            try:
                self._answered.append(Worked(claim, item, asked.result()))
            except BLAMELESS:
                raise
            except Exception as error:  # noqa: BLE001 (one bad item never stops the others)
                await self._attempt.fail(claim, error)
