"""The only way cold writes: inside its term, or not at all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents_memory.storage import leadership
from agents_memory.storage.connections import Connection, Database


@asynccontextmanager
async def fenced(database: Database, epoch: int) -> AsyncIterator[Connection]:
    """A transaction that commits only if this term still leads; Deposed when it does not."""
    async with database.transaction() as connection:
        await leadership.hold_epoch(connection, epoch)
        yield connection
