"""Providers that are left alone for a while, for every process to see and the next daemon to keep.

These writes carry no epoch: that a provider does not answer is so for whoever asked.
"""

from dataclasses import dataclass
from datetime import datetime

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("holds")


@dataclass(frozen=True, slots=True)
class Hold:
    """A provider that did not answer `times` in a row, first at `since`.

    It may be tried again at `held_until`, and stays listed until it answers. `over`: that time has
    come, and it is asked with the next work there is. `reason` says what is wrong and what to do,
    None where an older daemon wrote the hold; never content.
    """

    provider: str
    times: int
    held_until: datetime
    since: datetime
    reason: str | None = None
    over: bool = False


async def find_hold(connection: Connection, provider: str) -> Hold | None:
    """The hold of one provider."""
    row = await connection.fetchrow(SQL["find_hold"].sql, provider)
    return None if row is None else Hold(**dict(row))


async def list_holds(connection: Connection) -> list[Hold]:
    """All that did not answer the last time they were asked."""
    return [Hold(**dict(row)) for row in await connection.fetch(SQL["list_holds"].sql)]


async def write_hold(connection: Connection, hold: Hold) -> None:
    """Keeps a hold; `since` stays that of the first in a row."""
    await connection.execute(
        SQL["write_hold"].sql,
        hold.provider,
        hold.times,
        hold.held_until,
        hold.since,
        hold.reason,
    )


async def delete_hold(connection: Connection, provider: str) -> None:
    """A provider answered."""
    await connection.execute(SQL["delete_hold"].sql, provider)


async def delete_holds(connection: Connection) -> list[str]:
    """Somebody says that all may be tried at once; the providers that were held."""
    rows = await connection.fetch(SQL["delete_holds"].sql)
    return sorted(row["provider"] for row in rows)
