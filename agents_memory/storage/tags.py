"""The registry of project tags."""

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("tags")


async def find_or_add_project(connection: Connection, name: str, origin: str) -> int:
    """The id of a project tag; `origin` says who made it known when it is new."""
    return int(await connection.fetchval(SQL["find_or_add_project"].sql, name, origin))


async def find_project(connection: Connection, name: str) -> int | None:
    """The id of a project tag; None when nobody knows it."""
    value = await connection.fetchval(SQL["find_project"].sql, name)
    return None if value is None else int(value)


async def resolve_projects(connection: Connection, name: str) -> tuple[int, ...]:
    """The ids of all tags that mean the same project; empty when nobody knows the name."""
    rows = await connection.fetch(SQL["resolve_projects"].sql, name)
    return tuple(row["id"] for row in rows)


async def list_project_names(connection: Connection) -> list[str]:
    """The registry in alphabetical order."""
    return [row["name"] for row in await connection.fetch(SQL["list_project_names"].sql)]
