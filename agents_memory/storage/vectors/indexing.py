"""The index over the messages of a model: built when it pays, and compared with a scan."""

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.sessions import allow_long
from agents_memory.storage.vectors.models import BUILD_LIMIT_S, Model
from agents_memory.storage.vectors.searching import EF_SEARCH

SQL = queries.load("vectors")


async def count_searchable(connection: Connection, model: Model) -> int:
    """How many chunks of messages a search may look at."""
    sql = SQL["count_searchable"].render(table=model.message_table)
    return int(await connection.fetchval(sql))


async def build_index(connection: Connection, model: Model) -> None:
    """Builds the index of a model over its messages; may take minutes. Nothing if it is there."""
    async with connection.transaction():
        await allow_long(connection)
        await connection.execute(SQL["build_index"].sql, model.id, timeout=BUILD_LIMIT_S)


async def compare_index(
    connection: Connection, model: Model, *, samples: int = 20, nearest: int = 10
) -> float:
    """Share of the true nearest chunks of some stored vectors that the index finds, 0..1."""
    table = model.message_table
    near = SQL["list_nearest"].render(table=table)
    rows = await connection.fetch(SQL["list_random_vectors"].render(table=table), samples)
    found = wanted = 0
    for row in rows:
        async with connection.transaction():
            await connection.execute(SQL["forbid_index"].sql)
            exact = {tuple(r) for r in await connection.fetch(near, row["embedding"], nearest)}
        async with connection.transaction():
            await connection.execute(SQL["allow_index"].sql, str(EF_SEARCH // 2))
            quick = {tuple(r) for r in await connection.fetch(near, row["embedding"], nearest)}
        found += len(exact & quick)
        wanted += len(exact)
    return found / wanted if wanted else 1.0


async def record_index_recall(connection: Connection, model: Model, recall: float) -> None:
    """Keeps what a comparison found."""
    await connection.execute(SQL["record_index_recall"].sql, model.id, recall)
