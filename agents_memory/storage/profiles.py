"""The documents about a user, to read; they are changed through patches."""

from dataclasses import dataclass
from datetime import datetime

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("profiles")


@dataclass(frozen=True, slots=True)
class Profile:
    """A document about a user."""

    id: int
    kind: str
    version: int
    content: str
    updated_at: datetime


async def list_profiles(connection: Connection, user_id: int) -> dict[str, Profile]:
    """The written documents of a user by kind."""
    rows = await connection.fetch(SQL["list_profiles"].sql, user_id)
    return {row["kind"]: Profile(**dict(row)) for row in rows}
