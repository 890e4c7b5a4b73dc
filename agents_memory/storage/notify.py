"""A hint that there is work; it may be lost."""

import asyncio
from typing import Any, Protocol

from agents_memory.domain.errors import MemoryFault
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection, Database

SQL = queries.load("leader")

# NOTIFY serialises commits; one in the inserting transaction cost half of the insert rate.
AT_MOST_EVERY_S = 1.0
RETRY = "retry"


class Heard(Protocol):
    """What is called for a hint; `retry`: what was held is to be tried at once."""

    def __call__(self, *, retry: bool) -> None: ...


def channel(schema: str) -> str:
    """The channel of a pool."""
    return f"{schema}_work"


async def listen(connection: Connection, schema: str, heard: Heard) -> None:
    """Calls `heard` for every hint, for as long as the connection lives."""

    def on_hint(_connection: Any, _pid: int, _channel: str, payload: Any) -> None:
        heard(retry=payload == RETRY)

    await connection.add_listener(channel(schema), on_hint)


async def send_hint(connection: Connection, schema: str, *, retry: bool = False) -> None:
    """Wakes the daemon, if one listens; `retry` lets it try at once what it held."""
    await connection.execute(SQL["send_hint"].sql, channel(schema), RETRY if retry else "")


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
