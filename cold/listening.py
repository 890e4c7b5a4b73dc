"""Hears the hints that there is work; a hint that is lost costs a moment, never a message."""

import asyncio

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.observe import Action, get_logger
from agents_memory.storage import leadership, notify
from agents_memory.storage.connections import Database, DedicatedConnection
from agents_memory.storage.faults import translated
from cold.guard import Backoff

log = get_logger()

BEAT_S = 10.0
BEAT_LIMIT_S = 3.0
RECONNECT = Backoff(0.5, 2, 30)


async def listen(database: Database, heard: notify.Heard) -> None:
    """Calls `heard` for every hint, and after every gap in which one may have been missed.

    Holds a connection of its own and renews it for ever; cancel to end.
    """
    failures = 0
    while True:
        try:
            connection = await database.connect()
            try:
                with translated():
                    async with asyncio.timeout(BEAT_LIMIT_S):
                        await notify.listen(connection, database.schema, heard)
                heard(retry=False)
                failures = 0
                await _until_lost(connection)
            finally:
                # Not closed politely: the server may be gone, and nothing is pending.
                connection.terminate()
        except DatabaseUnavailable as fault:
            failures += 1
            log.debug(Action.DATABASE_LOST, work="listening", error=fault)
        await asyncio.sleep(RECONNECT.after(failures).total_seconds())


async def _until_lost(connection: DedicatedConnection) -> None:
    ended = asyncio.Event()
    connection.add_termination_listener(lambda _: ended.set())
    while not ended.is_set():
        with translated():
            async with asyncio.timeout(BEAT_LIMIT_S):
                await leadership.beat(connection)
        try:
            async with asyncio.timeout(BEAT_S):
                await ended.wait()
        except TimeoutError:
            continue
