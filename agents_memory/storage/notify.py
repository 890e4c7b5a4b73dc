"""A hint that there is work; it carries nothing and may be lost."""

import asyncio
from collections.abc import Callable
from typing import Any

from agents_memory.domain.errors import MemoryFault
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection, Database

SQL = queries.load("leader")

# NOTIFY serialises commits; one in the inserting transaction cost half of the insert rate.
AT_MOST_EVERY_S = 1.0


def channel(schema: str) -> str:
    """The channel of a pool."""
    return f"{schema}_work"


async def listen(connection: Connection, schema: str, heard: Callable[[], None]) -> None:
    """Calls `heard` for every hint, for as long as the connection lives."""

    def on_hint(*_: Any) -> None:
        heard()

    await connection.add_listener(channel(schema), on_hint)


async def send_hint(connection: Connection, schema: str) -> None:
    """Wakes the daemon, if one listens."""
    await connection.execute(SQL["send_hint"].sql, channel(schema))


class Hints:
    """Sends hints from a connection of their own, at most one a second."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def send(self) -> None:
        """Asks for a hint; returns at once."""
        self._wanted.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._deliver(), name="hints")

    async def close(self) -> None:
        """Stops; a hint that was not delivered is dropped."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _deliver(self) -> None:
        while self._wanted.is_set():
            self._wanted.clear()
            try:
                async with self._database.acquire() as connection:
                    await send_hint(connection, self._database.schema)
            except MemoryFault:
                # The daemon polls anyway.
                return
            await asyncio.sleep(AT_MOST_EVERY_S)
