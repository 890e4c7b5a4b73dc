"""The queue of what is still to be done with an item."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from agents_memory.storage import leadership, queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors import Model

SQL = queries.load("work")

ENDED = "the daemon ended while it worked on this alone"


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of work taken by a term; `attempts` counts this one.

    `alone`: the daemon once ended while it had the row, so nothing is worked on beside it.
    """

    item_id: int
    attempts: int
    alone: bool = False


class State(StrEnum):
    """Where a row of work stands; a failed one is tried again, a parked one is not."""

    WAITING = "waiting"
    FAILED = "failed"
    PARKED = "parked"


@dataclass(frozen=True, slots=True)
class StageSummary:
    """One stage in numbers; ages are of waiting rows, in seconds by the clock of the database.

    `pending` rows wait, `held` and `failed` ones among them: handed back untried because what the
    stage needs is away, or failed before. `oldest_age_s` is since a row was queued, `overdue_s`
    since one was due. `reason` is why a row waits or is parked, one of them; never content.
    """

    stage: str
    pending: int
    held: int
    failed: int
    parked: int
    oldest_age_s: float
    overdue_s: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class ItemWork:
    """What is still to be done with an item at one stage.

    `attempts` does not count one that goes on now. `claimed`: taken by the last term.
    `held`: why the daemon could not work on the stage the last time, whatever the item.
    """

    stage: str
    attempts: int
    run_after: datetime
    last_error: str | None
    parked_reason: str | None
    queued_at: datetime
    put_off: bool
    claimed: bool
    held: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the queue as it is listed; `reason` is the last error, never content."""

    item_id: int
    stage: str
    state: State
    attempts: int
    queued_at: datetime
    run_after: datetime
    reason: str | None


async def claim_work(
    connection: Connection, stage: str, limit: int, epoch: int, *, beside: bool = False
) -> list[Claim]:
    """Takes up to `limit` due rows of a stage for this term, the oldest first.

    One that is to be worked on alone comes first and by itself, the least tried of them; with
    `beside`, when others are under way, nothing is taken while one is due. Fenced in itself, so
    that it needs no transaction: raises Deposed when another term began.
    """
    rows = await connection.fetch(SQL["claim_work"].sql, stage, limit, epoch, not beside)
    if not rows:
        raise leadership.deposed(epoch)
    claims = [Claim(**dict(row)) for row in rows if row["item_id"] is not None]
    return sorted(claims, key=lambda claim: claim.item_id)


async def list_due_stages(connection: Connection, stages: Sequence[str], epoch: int) -> set[str]:
    """Those of the stages of which `claim_work` would find rows now; raises Deposed as it does."""
    row = await connection.fetchrow(SQL["list_due_stages"].sql, epoch, list(stages))
    if row is None or not row["leads"]:
        raise leadership.deposed(epoch)
    return set(row["due"])


async def queue_work(connection: Connection, item_id: int, stage: str) -> None:
    """Asks for a stage; a row that already waits stays as it is."""
    await queue_all(connection, [item_id], stage)


async def queue_all(connection: Connection, item_ids: Sequence[int], stage: str) -> None:
    """The same for several items."""
    await connection.execute(SQL["queue_work"].sql, list(item_ids), stage)


async def settle_work(
    connection: Connection,
    stage: str,
    item_ids: Sequence[int],
    *,
    proceeding: Sequence[int] = (),
    next_stages: Sequence[str] = (),
) -> None:
    """Ends a stage of some items; belongs into the transaction that writes the outcome.

    Those of them that proceed wait for the stages that follow.
    """
    await connection.execute(
        SQL["settle_work"].sql, stage, list(item_ids), list(proceeding), list(next_stages)
    )


async def defer_work(
    connection: Connection, item_id: int, stage: str, error: str, delay: timedelta
) -> None:
    """Puts a failed row off; `error` is a class or a reason, never content."""
    await connection.execute(SQL["defer_work"].sql, item_id, stage, error, delay)


async def park_work(connection: Connection, item_id: int, stage: str, reason: str) -> None:
    """Takes a row out of the queue with a reason that stays visible."""
    await connection.execute(SQL["park_work"].sql, item_id, stage, reason)


async def release_term(connection: Connection, epoch: int, stages: Sequence[str]) -> None:
    """Hands back untried what a term claimed and did not finish; never while it works on it."""
    await connection.execute(SQL["release_term"].sql, epoch, list(stages))


async def suspect_lost(
    connection: Connection, epoch: int, stages: Sequence[str], most: int
) -> list[tuple[int, str]]:
    """Has what any other term never handed back worked on alone, so that who ended it is found.

    Returns what is parked, as the daemon ended over it alone and it was tried `most` times. Belongs
    behind `release_term` of the terms that ended otherwise.
    """
    rows = await connection.fetch(SQL["suspect_lost"].sql, epoch, list(stages), ENDED, most)
    return [(row["item_id"], row["stage"]) for row in rows]


async def hold_stage(connection: Connection, stage: str, epoch: int, reason: str) -> None:
    """Hands back untried what a term claimed of a stage that cannot be worked on now."""
    await connection.execute(SQL["hold_stage"].sql, stage, epoch, reason)


async def queue_unembedded(
    connection: Connection, model: Model, version: int, limit: int, *, behind: bool
) -> int:
    """Asks for the vectors that a model should have and lacks; returns for how many items.

    Vectors of a model that searches don't use have stages of their own. `behind`: whoever settles
    an item for the active model asks for those too, so what waits for that is left out.
    """
    suffix = "" if model.active else "_other"
    message, memory = f"embed{suffix}", f"embed_memory{suffix}"
    before = ["screen", "embed"] if behind or model.active else []
    before_memory = ["embed_memory"] if behind or model.active else []
    queued = 0
    for sql, arguments in (
        (
            SQL["queue_unembedded_messages"].sql,
            (model.profile, version, limit, message, before),
        ),
        (
            SQL["queue_unembedded_memories"].render(table=model.memory_table),
            (limit, memory, before_memory),
        ),
        (SQL["queue_unembedded_summaries"].render(table=model.summary_table), (limit,)),
    ):
        # The command tag reads `INSERT 0 <rows>`.
        queued += int((await connection.execute(sql, *arguments)).rpartition(" ")[2])
    return queued


async def summarise_work(connection: Connection) -> list[StageSummary]:
    """All stages that have rows."""
    rows = await connection.fetch(SQL["summarise_work"].sql)
    return [_summary(dict(row)) for row in rows]


def _summary(row: dict[str, Any]) -> StageSummary:
    row["reason"] = _told(row["reason"], trying=row.pop("trying"))
    return StageSummary(**row)


def _told(reason: str | None, *, trying: bool) -> str | None:
    """Why a stage was held, which may be over while it is tried again."""
    return f"tried again now; before that: {reason}" if trying and reason is not None else reason


async def list_work_of(connection: Connection, item_id: int) -> list[ItemWork]:
    """What is still to be done with an item."""
    rows = await connection.fetch(SQL["list_work_of"].sql, item_id)
    return [_item(dict(row)) for row in rows]


def _item(row: dict[str, Any]) -> ItemWork:
    row["held"] = _told(row["held"], trying=row.pop("trying"))
    return ItemWork(**row)


async def list_work(
    connection: Connection, limit: int, *, stage: str | None = None, state: State | None = None
) -> list[Row]:
    """Rows of the queue, the oldest first; of one stage and in one state where given."""
    rows = await connection.fetch(SQL["list_work"].sql, stage, state, limit)
    return [Row(**{**dict(row), "state": State(row["state"])}) for row in rows]


async def retry_work(
    connection: Connection, *, item_id: int | None = None, stage: str | None = None
) -> Counter[str]:
    """Makes what failed or is parked due now, as if it were new; rows by stage.

    Needs the right to change work: the cold role or the owner.
    """
    rows = await connection.fetch(SQL["retry_work"].sql, item_id, stage)
    return Counter(row["stage"] for row in rows)


async def count_held(
    connection: Connection, *, item_id: int | None = None, stage: str | None = None
) -> Counter[str]:
    """Rows that were handed back untried, as what their stage needs is away; by stage."""
    rows = await connection.fetch(SQL["count_held"].sql, item_id, stage)
    return Counter({row["stage"]: row["rows"] for row in rows})


async def next_due(connection: Connection, stages: Sequence[str], epoch: int) -> float | None:
    """Seconds until the next row of these stages is due (negative when overdue); None without."""
    value = await connection.fetchval(SQL["next_due"].sql, epoch, list(stages))
    return None if value is None else float(value)
