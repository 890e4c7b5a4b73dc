"""What was shown to whom, and the uses that were cited or that a reply shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents_memory.domain.activation import TRACE_WEIGHTS, USED
from agents_memory.domain.viewer import CLOCKS_APART, WITHIN, Viewer
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection, advisory_key

SQL = queries.load("use")

STAGE = "observe_use"
MAX_SHOWN = 50
MAX_TURNS = 12
MAX_QUESTIONS = 2


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn before a reply."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Exposed:
    """An item that was shown, its words, and the session it was shown to."""

    id: int
    session: str
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, the turns before it, and what was shown before it."""

    id: int
    text: str
    before: tuple[Turn, ...]
    shown: tuple[Exposed, ...]


@dataclass(frozen=True, slots=True)
class Uses:
    """How often anything was used: cited, and inferred without having been cited since."""

    cited: int
    inferred: int


async def record_recall(
    connection: Connection, ids: Sequence[int], user_id: int, viewer: Viewer
) -> None:
    """Somebody was shown these items."""
    await connection.execute(
        SQL["record_recall"].sql,
        user_id,
        viewer.session,
        viewer.named,
        viewer.platform,
        viewer.device,
        viewer.project,
        list(ids),
    )


async def queue_observations(connection: Connection, message_ids: Sequence[int]) -> None:
    """Asks for a look at each reply, if anything was shown before it and none was taken."""
    await connection.execute(
        SQL["queue_observations"].sql, list(message_ids), STAGE, WITHIN, CLOCKS_APART
    )


async def find_reply(connection: Connection, message_id: int) -> Reply | None:
    """A clear reply with at most 14 turns before it and 50 items shown; None when it is none."""
    row = await connection.fetchrow(SQL["find_reply"].sql, message_id)
    if row is None:
        return None
    before = await connection.fetch(
        SQL["list_turns_before"].sql, message_id, WITHIN, MAX_TURNS, MAX_QUESTIONS
    )
    shown = await connection.fetch(
        SQL["list_shown"].sql, message_id, WITHIN, CLOCKS_APART, MAX_SHOWN
    )
    return Reply(
        row["id"],
        row["text"],
        tuple(Turn(**dict(turn)) for turn in before),
        tuple(Exposed(**dict(item)) for item in shown),
    )


async def insert_inferred(
    connection: Connection,
    schema: str,
    reply_id: int,
    used: Mapping[int, str],
    weight: float,
) -> int:
    """A use of each item by the session it was shown to, unless that used it already; how many.

    Belongs into a transaction.
    """
    for session in sorted(set(used.values())):
        await _lock(connection, schema, session)
    done = await connection.execute(
        SQL["insert_inferred"].sql, list(used), list(used.values()), weight, reply_id, WITHIN
    )
    # The command tag reads `INSERT 0 <rows>`.
    return int(done.rpartition(" ")[2])


async def insert_cited(
    connection: Connection, schema: str, ids: Sequence[int], session: str | None
) -> None:
    """A use of each item, of which an inferred one becomes a part; belongs into a transaction."""
    if session is not None:
        await _lock(connection, schema, session)
    await connection.execute(
        SQL["insert_cited"].sql, sorted(set(ids)), TRACE_WEIGHTS[USED], session, WITHIN
    )


async def count_uses(connection: Connection) -> Uses:
    """How often anything was used; the figure to watch."""
    row = await connection.fetchrow(SQL["count_uses"].sql)
    assert row is not None, "an aggregate always answers"
    return Uses(row["cited"], row["inferred"])


async def _lock(connection: Connection, schema: str, session: str) -> None:
    await connection.execute(SQL["lock_use"].sql, advisory_key(schema, f"use {session}"))
