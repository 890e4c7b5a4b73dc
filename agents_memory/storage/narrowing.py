"""Items by their kind and their tags."""

from collections.abc import Collection

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("narrowing")


async def list_matching(
    connection: Connection,
    ids: Collection[int],
    kinds: Collection[str],
    tags: Collection[str],
) -> set[int]:
    """Those of some items that are of one of the kinds and carry one of the tags; empty asks for
    nothing. Tags are compared in lower case."""
    lower = [tag.lower() for tag in tags]
    rows = await connection.fetch(SQL["list_matching"].sql, list(ids), list(kinds), lower)
    return {row["id"] for row in rows}
