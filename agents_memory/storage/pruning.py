"""The end of logs; evidence, versions, patches and what was decided by hand have none."""

from datetime import datetime

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("pruning")


async def prune_logs(connection: Connection, before: datetime, most: int) -> dict[str, int]:
    """Deletes at most so many rows of each log from before a time; how many went, by log.

    What is younger than a week stays in any case.
    """
    rows = await connection.fetch(SQL["prune_logs"].sql, before, most)
    return {row["log"]: row["pruned"] for row in rows}
