"""How statements are planned."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.queries import Statement

SQL = queries.load("plans")


@asynccontextmanager
async def planned_for_values(
    connection: Connection, setting: Statement | None = None, *arguments: str
) -> AsyncIterator[None]:
    """A transaction for reading, each of whose statements is planned for the values it is given.

    A plan made once for all values turned a vector search of 1 ms into one of 87 ms; everything
    else is quicker when it need not be planned each time, inserts by a third. It is rolled back,
    so that what is set for it ends with it inside a longer transaction too. `setting`, with its
    `arguments`, is a statement that sets this and more.
    """
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute((setting or SQL["plan_for_values"]).sql, *arguments)
        yield
    finally:
        await transaction.rollback()
