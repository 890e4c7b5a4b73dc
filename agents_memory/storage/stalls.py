"""Ends a call whose server is gone although its connection still looks alive."""

import asyncio

from agents_memory.observe import Action, get_logger
from agents_memory.storage.driver import DedicatedConnection
from agents_memory.storage.sessions import Sessions

log = get_logger()

# A frozen server, or one whose machine vanished, keeps its clients waiting until their time limit.
LOOK_EVERY_S = 3.0


class Stalls:
    """Looks every few seconds whether the servers still have the sessions of connections in use.

    If not, the connection is ended, and with it the statement that waits. A slow statement on a
    server that is well is left alone.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        # When each use began, by the loop's time, the earliest first.
        self._begun: dict[DedicatedConnection, float] = {}
        self._watches: dict[DedicatedConnection, asyncio.Task[None]] = {}
        # One for all: nearly every use is over before it, and a timer a use costs more.
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, connection: DedicatedConnection) -> None:
        """A use of the connection begins."""
        loop = asyncio.get_running_loop()
        self._begun[connection] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(LOOK_EVERY_S, self._look)

    def end(self, connection: DedicatedConnection) -> None:
        """The use is over."""
        self._begun.pop(connection, None)
        if self._watches and (watch := self._watches.pop(connection, None)) is not None:
            watch.cancel()

    def close(self) -> None:
        """Stops looking until the next use begins."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        while self._begun:
            connection, begun = next(iter(self._begun.items()))
            if begun + LOOK_EVERY_S > loop.time():
                self._timer = loop.call_at(begun + LOOK_EVERY_S, self._look)
                return
            del self._begun[connection]
            self._watches[connection] = loop.create_task(self._watch(connection), name="watch")
        self._timer = None

    async def _watch(self, connection: DedicatedConnection) -> None:
        pid = connection.get_server_pid()
        while True:
            if not await self._sessions.knows(pid):
                log.warning(Action.DATABASE_LOST, pid=pid)
                connection.terminate()
                return
            await asyncio.sleep(LOOK_EVERY_S)
