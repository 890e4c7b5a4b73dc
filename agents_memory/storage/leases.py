"""Connections lent to one caller at a time, the one used last first.

Not the driver's own pool: its bookkeeping (a proxy, a task and two timers a lease) took more CPU
than the insert it was for.
"""

import asyncio
from collections.abc import Awaitable, Callable

from agents_memory.storage.driver import DedicatedConnection

IDLE_S = 300.0


class Leases:
    """At most `size` connections, each opened by `opened` when it is first needed.

    `limit_s`: how long one may take to be there. One that is not needed for `IDLE_S` is ended.
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
        self._places = asyncio.Semaphore(size)
        # Connection and the loop's time when it came back, the latest last.
        self._idle: list[tuple[DedicatedConnection, float]] = []
        # Connection and the generation it is of.
        self._lent: dict[DedicatedConnection, int] = {}
        self._generation = 0
        self._sweeping: asyncio.TimerHandle | None = None

    @property
    def exhausted(self) -> bool:
        """Whether all connections are lent."""
        return len(self._lent) >= self._size

    async def lend(self) -> DedicatedConnection:
        """A connection until it is taken back.

        Raises TimeoutError after `limit_s()` seconds, and what opening one raises.
        """
        if self._idle and not self._places.locked():
            await self._places.acquire()
            connection = self._pop()
            if connection is not None:
                return self._lend(connection)
            self._places.release()
        async with asyncio.timeout(self._limit_s()):
            await self._places.acquire()
            try:
                return self._lend(self._pop() or await self._opened())
            except BaseException:
                self._places.release()
                raise

    def take_back(self, connection: DedicatedConnection) -> None:
        """Ends a lease. A statement that was broken off is waited for by the next one."""
        fresh = self._lent.pop(connection) == self._generation
        if fresh and not connection.is_closed() and not connection.is_in_transaction():
            self._keep(connection)
        else:
            connection.terminate()
        self._places.release()

    def expire(self) -> None:
        """Ends the connections there are: idle ones now, lent ones when they come back."""
        self._generation += 1
        self._end_idle(until=None)

    async def close(self, limit_s: float) -> None:
        """Ends all connections, after `limit_s` seconds also those that are lent."""
        taken = 0
        try:
            async with asyncio.timeout(limit_s):
                while taken < self._size:
                    await self._places.acquire()
                    taken += 1
                while self._idle:
                    await self._idle.pop()[0].close()
        except TimeoutError:
            for connection in self._lent:
                connection.terminate()
        finally:
            self.expire()
            for _ in range(taken):
                self._places.release()

    def _lend(self, connection: DedicatedConnection) -> DedicatedConnection:
        self._lent[connection] = self._generation
        return connection

    def _pop(self) -> DedicatedConnection | None:
        while self._idle:
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    def _keep(self, connection: DedicatedConnection) -> None:
        loop = asyncio.get_running_loop()
        self._idle.append((connection, loop.time()))
        if self._sweeping is None:
            self._sweeping = loop.call_later(IDLE_S, self._sweep)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        self._end_idle(until=loop.time() - IDLE_S)
        if self._idle:
            self._sweeping = loop.call_at(self._idle[0][1] + IDLE_S, self._sweep)

    def _end_idle(self, until: float | None) -> None:
        """Ends the idle connections that came back by a time, or all; and the timer."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        while self._idle and (until is None or self._idle[0][1] <= until):
            self._idle.pop(0)[0].terminate()
