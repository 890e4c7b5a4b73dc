"""Ends a call whose server is gone although its connection still looks alive."""

import asyncio
from collections.abc import Mapping
from weakref import WeakSet

from agents_memory.observe import Action, get_logger
from agents_memory.storage.driver import DedicatedConnection
from agents_memory.storage.sessions import Sessions

log = get_logger()

# A frozen server, or one whose machine vanished, keeps its clients waiting until their time limit.
LOOK_EVERY_S = 3.0


class Stalls:
    """Looks every few seconds whether the servers still have the sessions of connections in use.

    If not, the connection is ended, and with it the statement that waits. A slow statement on a
    server that is well is left alone. `lent`: what is in use, and since when by the loop's time,
    the earliest first. `ended` holds the connections that were ended for it.
    """

    def __init__(self, sessions: Sessions, lent: Mapping[DedicatedConnection, float]) -> None:
        self._sessions = sessions
        self._lent = lent
        self.ended: WeakSet[DedicatedConnection] = WeakSet()
        self._watches: dict[DedicatedConnection, asyncio.Task[None]] = {}
        # One for all: nearly every use is over before it, and a timer a use costs more.
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """A use begins."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look)

    def close(self) -> None:
        """Stops looking until the next use begins."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for watch in self._watches.values():
            watch.cancel()

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        for connection, since in self._lent.items():
            if since + LOOK_EVERY_S > loop.time():
                self._timer = loop.call_at(since + LOOK_EVERY_S, self._look)
                return
            if connection not in self._watches:
                self._watches[connection] = loop.create_task(self._watch(connection), name="watch")

    async def _watch(self, connection: DedicatedConnection) -> None:
        pid = connection.get_server_pid()
        try:
            while connection in self._lent:
                if not await self._sessions.knows(pid):
                    log.warning(Action.DATABASE_LOST, pid=pid)
                    self.ended.add(connection)
                    connection.terminate()
                    return
                await asyncio.sleep(LOOK_EVERY_S)
        finally:
            del self._watches[connection]
