"""Who leads the pool: a session lock for mutual exclusion, an epoch for the fence."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from agents_memory.domain.errors import Deposed
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection, advisory_key

SQL = queries.load("leader")

# On the connection that holds the lock: a frozen or vanished holder loses it within ten seconds.
LOCK_SESSION = {
    "idle_session_timeout": "10s",
    "statement_timeout": "0",
    "tcp_user_timeout": "8s",
}
HEARTBEAT_S = 3.0
# A term without any look at the queue is late after the longest warm-up and ten minutes.
FIRST_LOOK_WITHIN = timedelta(minutes=70)


@dataclass(frozen=True, slots=True)
class Leader:
    """The current or last term; `holder` is None between terms."""

    epoch: int
    holder: str | None
    pid: int | None
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Beat:
    """When the leader last looked at the queue in this term, and whether the next look is late."""

    beat_at: datetime | None
    late: bool


def lock_key(schema: str) -> int:
    """The key of the lock that one daemon a pool holds."""
    return advisory_key(schema, "leader")


async def try_lock(connection: Connection, schema: str) -> bool:
    """Takes the lock if it is free."""
    return bool(await connection.fetchval(SQL["try_lock"].sql, lock_key(schema)))


async def wait_lock(connection: Connection, schema: str) -> None:
    """Takes the lock, however long it takes; cancel to give up."""
    await connection.execute(SQL["wait_lock"].sql, lock_key(schema))


async def beat(connection: Connection) -> datetime:
    """Keeps the session of a lock or of a listener alive, and finds out whether it still is.

    Returns what the server's clock shows, aware.
    """
    now: datetime = await connection.fetchval(SQL["beat"].sql)
    return now


async def take_lead(connection: Connection, holder: str, pid: int) -> int:
    """Begins a new term and returns its epoch; the lock must be held."""
    return int(await connection.fetchval(SQL["take_lead"].sql, holder, pid))


async def end_blockers(connection: Connection, schema: str) -> None:
    """Ends our role's sessions that keep the holder of the lock from beginning its term.

    What they had begun to write is undone, as it would be by the fence.
    """
    await connection.execute(SQL["end_blockers"].sql, lock_key(schema))


async def hold_epoch(connection: Connection, epoch: int) -> None:
    """The first statement of every write of the cold path.

    Raises Deposed when another term began; the transaction must then be left.
    """
    if await connection.fetchval(SQL["hold_epoch"].sql, epoch) is None:
        raise deposed(epoch)


def deposed(epoch: int) -> Deposed:
    """What is raised in a term that is over."""
    return Deposed(f"term {epoch} ended; another daemon leads the pool now")


async def resign_lead(connection: Connection, epoch: int) -> None:
    """Ends the term in order."""
    await connection.execute(SQL["resign_lead"].sql, epoch)


async def find_leader(connection: Connection) -> Leader:
    """Who leads, or led last."""
    row = await connection.fetchrow(SQL["find_leader"].sql)
    assert row is not None, "the migration inserts the row"
    return Leader(**dict(row))


async def show_beat(connection: Connection, epoch: int, within: timedelta) -> None:
    """The leader looks at the queue now, and promises to do so again `within` this time."""
    await connection.execute(SQL["show_beat"].sql, epoch, within)


async def find_beat(connection: Connection) -> Beat:
    """The last sign of life of the leader's work; says nothing about whether anybody leads."""
    row = await connection.fetchrow(SQL["find_beat"].sql, FIRST_LOOK_WITHIN)
    assert row is not None, "the migrations insert both rows"
    return Beat(**dict(row))


async def is_locked(connection: Connection, schema: str) -> bool:
    """Whether any daemon holds the lock now."""
    return await connection.fetchval(SQL["find_lock_holder"].sql, lock_key(schema)) is not None
