"""Users: whose words these are. Attribution, not security."""

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("users")


async def ensure_user(connection: Connection, name: str) -> int:
    """The id of a user, made known when it is new."""
    value = await connection.fetchval(SQL["find_user"].sql, name)
    if value is None:
        value = await connection.fetchval(SQL["insert_user"].sql, name)
    if value is None:
        # Another process was faster between the two statements.
        value = await connection.fetchval(SQL["find_user"].sql, name)
    return int(value)
