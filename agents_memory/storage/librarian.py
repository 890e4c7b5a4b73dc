"""What the writer of the profiles reads, and how far it came."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("librarian")

# Versions of a profile that are looked at; what is older counts as its oldest author's.
VERSIONS = 500


@dataclass(frozen=True, slots=True)
class Due:
    """A user whose profile may be written; `read_to` is the last message that was read."""

    user_id: int
    attempted_at: datetime | None
    read_to: int


@dataclass(frozen=True, slots=True)
class Said:
    """The beginning of a message of the owner's."""

    id: int
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Draft:
    """One version of a profile, who wrote it, and by which patch: what was learned later has a
    greater id."""

    version: int
    content: str
    actor: str
    patch_id: int


async def list_due(
    connection: Connection, before: datetime, threshold: int, now: datetime
) -> list[Due]:
    """Users with `threshold` new messages of their own, not tried between `before` and `now`.

    An attempt after `now` was written by a clock that was wrong, and would count for ever.
    """
    rows = await connection.fetch(SQL["list_due"].sql, before, threshold, now)
    return [Due(**dict(row)) for row in rows]


async def find_reach(connection: Connection, user_id: int) -> int:
    """The id of the newest message that a profile could rest on; 0 when there is none."""
    return int(await connection.fetchval(SQL["find_reach"].sql, user_id))


async def list_said(
    connection: Connection, user_id: int, newest: int, oldest: int, chars: int
) -> tuple[list[Said], list[Said]]:
    """The newest, newest first, and the oldest, oldest first; each cut to `chars`."""
    found = []
    for name, limit in (("list_newest", newest), ("list_oldest", oldest)):
        rows = await connection.fetch(SQL[name].sql, user_id, limit, chars)
        found.append([Said(**dict(row)) for row in rows])
    return found[0], found[1]


async def list_usable(connection: Connection, user_id: int, ids: Sequence[int]) -> set[int]:
    """Those of the messages that a profile may rest on now."""
    rows = await connection.fetch(SQL["list_usable"].sql, user_id, list(ids))
    return {row["id"] for row in rows}


async def list_drafts(connection: Connection, user_id: int) -> dict[str, list[Draft]]:
    """The versions of `core` and `sub`, oldest first; those never written are left out."""
    found: dict[str, list[Draft]] = {}
    for row in await connection.fetch(SQL["list_drafts"].sql, user_id, VERSIONS):
        draft = Draft(row["version"], row["content"], row["actor"], row["patch_id"])
        found.setdefault(row["kind"], []).append(draft)
    return found


async def list_grounds(connection: Connection, user_id: int, kind: str) -> list[int]:
    """The messages that a profile rests on and may still rest on, newest first."""
    return [
        row["message_id"] for row in await connection.fetch(SQL["list_grounds"].sql, user_id, kind)
    ]


async def write_attempt(connection: Connection, user_id: int, at: datetime | None) -> None:
    """When somebody last tried; None when nobody did."""
    await connection.execute(SQL["write_attempt"].sql, user_id, at)


async def write_reach(connection: Connection, user_id: int, read_to: int) -> None:
    """Everything up to `read_to` has been read; needs an attempt before it."""
    await connection.execute(SQL["write_reach"].sql, user_id, read_to)
