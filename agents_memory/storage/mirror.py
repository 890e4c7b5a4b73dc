"""What the Markdown mirror shows of a pool."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.domain.mirror import Mirrored
from agents_memory.domain.mirror_months import Said, Told
from agents_memory.domain.mirror_tags import Project
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

if TYPE_CHECKING:
    import asyncpg

SQL = queries.load("mirror")


async def list_active(connection: Connection, user_id: int, *, private: bool) -> list[Mirrored]:
    """All memories of a user that hold."""
    return _mirrored(await connection.fetch(SQL["list_active"].sql, user_id, private))


async def list_projects(connection: Connection, user_id: int, *, private: bool) -> list[Project]:
    """Every project that stands for itself, with the messages of a user."""
    rows = await connection.fetch(SQL["list_projects"].sql, user_id, private)
    return [Project(**{**dict(row), "aliases": tuple(row["aliases"])}) for row in rows]


async def find_told(
    connection: Connection, user_id: int, since: datetime, until: datetime, *, private: bool
) -> Told:
    """What a user's page of some time is made of; in a transaction of one moment."""
    asked = (user_id, private, since, until)
    said = await connection.fetch(SQL["count_said"].sql, *asked)
    used = _mirrored(await connection.fetch(SQL["list_used"].sql, *asked))
    counted = await connection.fetch(
        SQL["count_uses"].sql, [memory.id for memory in used], since, until
    )
    times = {row["item_id"]: row["times"] for row in counted}
    return Told(
        said=[Said(**dict(row)) for row in said],
        memories=_mirrored(await connection.fetch(SQL["list_said"].sql, *asked)),
        settled=_mirrored(await connection.fetch(SQL["list_settled"].sql, *asked)),
        used=[(memory, times[memory.id]) for memory in used if memory.id in times],
    )


def _mirrored(rows: "Iterable[asyncpg.Record]") -> list[Mirrored]:
    return [
        Mirrored(
            **{
                **dict(row),
                "kind": Kind(row["kind"]),
                "trust": Trust(row["trust"]),
                "tags": tuple(row["tags"]),
            }
        )
        for row in rows
    ]
