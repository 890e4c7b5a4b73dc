"""The planner's statistics, which quote what the rows of a table say."""

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("planner")


async def renew_statistics(connection: Connection) -> None:
    """Makes the statistics of every table anew; those of what is empty now are forgotten.

    As the owner, outside of a transaction. Who writes or reads meanwhile is not held up.
    """
    for row in await connection.fetch(SQL["list_tables"].sql):
        await connection.execute(SQL["analyze"].render(table=row["name"]))
    await connection.execute(SQL["forget_statistics"].sql)
