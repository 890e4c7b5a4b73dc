"""Connections lent to one caller at a time, the one used last first.

Not the driver's own pool: its bookkeeping (a proxy, a task and two timers a lease) took more CPU
than the insert it was for.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from agents_memory.storage.driver import DedicatedConnection

IDLE_S = 300.0

# What is not lent: a connection and the loop's time when it was lent last, or one yet to be opened.
_Place: TypeAlias = "tuple[DedicatedConnection, float] | None"


class Leases:
    """At most `size` connections, each opened by `opened` when it is first needed.

    `limit_s`: how long one may take to be there. One that was not lent for `IDLE_S` is ended.
    """

    def __init__(
        self,
        opened: Callable[[], Awaitable[DedicatedConnection]],
        size: int,
        limit_s: Callable[[], float],
    ) -> None:
        self._opened = opened
        self._size = size
        self._limit_s = limit_s
        # The latest last; those yet to be opened come first. Empty as long as somebody waits.
        self._places: list[_Place] = [None] * size
        self._waiting: deque[asyncio.Future[_Place]] = deque()
        self._lent: dict[DedicatedConnection, float] = {}
        # Those of the lent that are not to be used again.
        self._expired: set[DedicatedConnection] = set()
        self._sweeping: asyncio.TimerHandle | None = None

    @property
    def lent(self) -> Mapping[DedicatedConnection, float]:
        """What is lent, and since when by the loop's time, the earliest first."""
        return self._lent

    @property
    def exhausted(self) -> bool:
        """Whether all connections are lent."""
        return len(self._lent) >= self._size

    def idle(self) -> DedicatedConnection | None:
        """Lends the connection that came back last; None when none is to be had at once."""
        while self._places and (place := self._places[-1]) is not None:
            self._places.pop()
            if not place[0].is_closed():
                return self._lend(place[0])
            self._places.insert(0, None)
        return None

    async def lend(self) -> DedicatedConnection:
        """A connection until it is taken back.

        Raises TimeoutError after `limit_s()` seconds, and what opening one raises.
        """
        async with asyncio.timeout(self._limit_s()):
            place = await self._next_place()
            try:
                known = place is not None and not place[0].is_closed()
                return self._lend(place[0] if place and known else await self._opened())
            except BaseException:
                self._give(None)
                raise

    def take_back(self, connection: DedicatedConnection) -> None:
        """Ends a lease. A statement that was broken off is waited for by the next one."""
        since = self._lent.pop(connection)
        usable = not (connection.is_closed() or connection.is_in_transaction())
        if usable and connection not in self._expired:
            self._give((connection, since))
            if self._sweeping is None:
                self._sweeping = asyncio.get_running_loop().call_later(IDLE_S, self._sweep)
        else:
            self._expired.discard(connection)
            connection.terminate()
            self._give(None)

    def expire(self) -> None:
        """Ends the connections there are: idle ones now, lent ones when they come back."""
        self._expired.update(self._lent)
        self._end_idle(until=None)

    async def close(self, limit_s: float) -> None:
        """Ends all connections, after `limit_s` seconds also those that are lent."""
        taken = 0
        try:
            async with asyncio.timeout(limit_s):
                while taken < self._size:
                    place = await self._next_place()
                    taken += 1
                    if place is not None:
                        await place[0].close()
        except TimeoutError:
            for connection in self._lent:
                connection.terminate()
        finally:
            for _ in range(taken):
                self._give(None)
            self.expire()

    async def _next_place(self) -> _Place:
        if self._places:
            return self._places.pop()
        waiter: asyncio.Future[_Place] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._give(waiter.result())
            raise

    def _give(self, place: _Place) -> None:
        """To whoever waits longest, so that nobody who comes later overtakes him."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(place)
                return
        self._places.insert(len(self._places) if place else 0, place)

    def _lend(self, connection: DedicatedConnection) -> DedicatedConnection:
        self._lent[connection] = asyncio.get_running_loop().time()
        return connection

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        self._end_idle(until=loop.time() - IDLE_S)
        if idle := list(filter(None, self._places)):
            self._sweeping = loop.call_at(min(lent for _, lent in idle) + IDLE_S, self._sweep)

    def _end_idle(self, until: float | None) -> None:
        """Ends the idle connections that were lent last by a time, or all; and the timer."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        for at, place in enumerate(self._places):
            if place is not None and (until is None or place[1] <= until):
                place[0].terminate()
                self._places[at] = None
        # Those yet to be opened come first.
        self._places.sort(key=bool)
