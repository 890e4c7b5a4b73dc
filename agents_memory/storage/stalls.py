"""Ends a call whose server is gone although its connection still looks alive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents_memory.observe import Action, get_logger
from agents_memory.storage.driver import Connection
from agents_memory.storage.sessions import Sessions

log = get_logger()

# A frozen server, or one whose machine vanished, keeps its clients waiting until their time limit.
LOOK_EVERY_S = 3.0


@asynccontextmanager
async def watched(connection: Connection, sessions: Sessions) -> AsyncIterator[None]:
    """While the block lasts: looks every few seconds whether the server still has this session.

    If not, the connection is ended, and with it the statement that waits. A slow statement on a
    server that is well is left alone.
    """
    watches: list[asyncio.Task[None]] = []

    def begin() -> None:
        watches.append(asyncio.create_task(_watch(connection, sessions), name="watch"))

    # A timer, since nearly every block is over before it, and a task costs as much as an insert.
    timer = asyncio.get_running_loop().call_later(LOOK_EVERY_S, begin)
    try:
        yield
    finally:
        timer.cancel()
        for watch in watches:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)


async def _watch(connection: Connection, sessions: Sessions) -> None:
    pid = connection.get_server_pid()
    while True:
        if not await sessions.knows(pid):
            log.warning(Action.DATABASE_LOST, pid=pid)
            connection.terminate()
            return
        await asyncio.sleep(LOOK_EVERY_S)
