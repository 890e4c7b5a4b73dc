"""Activations: folded traces, and what is computed from them for each item."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_memory.domain import activation
from agents_memory.domain.affect import INTENSITY_WEIGHT, VALENCE_WEIGHT
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("activations")
PLANS = queries.load("plans")

# So many traces that are in no bin are read one by one, which takes about a second.
READ_UNBINNED = 1_000_000


@dataclass(frozen=True, slots=True)
class Standing:
    """What use and exposure tell of an item: at least 0, and days since the last of them."""

    evidence: float
    age_days: float


@dataclass(frozen=True, slots=True)
class Upkeep:
    """When all activations were last computed, by the daemon and by hand, the newest trace that
    counts in them, and the newest that is in a bin."""

    recomputed_at: datetime | None
    forgotten_at: datetime | None
    counted_id: int
    folded_id: int


async def list_binned(connection: Connection, after: int, limit: int) -> list[int]:
    """Items with traces in bins after one, in the order of ids."""
    rows = await connection.fetch(SQL["list_binned"].sql, after, limit)
    return [row["item_id"] for row in rows]


async def list_unbinned(connection: Connection) -> list[int]:
    """Items with traces of which none is in a bin yet, in a transaction."""
    upkeep, newest = await find_upkeep(connection), await find_newest_trace(connection)
    if newest - upkeep.folded_id > READ_UNBINNED:
        rows = await connection.fetch(SQL["list_unbinned_of_many"].sql)
    else:
        # A plan for any number of traces that are in no bin reads all of them.
        await connection.execute(PLANS["plan_for_values"].sql)
        rows = await connection.fetch(SQL["list_unbinned"].sql, upkeep.folded_id)
    return [row["item_id"] for row in rows]


async def list_touched(connection: Connection, after: int) -> tuple[list[int], int]:
    """Items with traces newer than the trace `after`, and the newest trace."""
    rows = await connection.fetch(SQL["list_touched"].sql, after)
    return [row["item_id"] for row in rows], max((row["newest"] for row in rows), default=after)


async def find_newest_trace(connection: Connection) -> int:
    """The id of the newest trace, 0 when there is none."""
    return int(await connection.fetchval(SQL["find_newest_trace"].sql))


async def compute_activations(connection: Connection, ids: Sequence[int], now: datetime) -> int:
    """Computes the activations of items as of `now`, in a transaction; how many changed visibly."""
    upkeep = await find_upkeep(connection)
    # A plan for any number of traces that are in no bin reads all of them.
    await connection.execute(PLANS["plan_for_values"].sql)
    return int(
        await connection.fetchval(
            SQL["compute_activations"].sql,
            list(ids),
            now,
            list(activation.DECAY_BY_KIND),
            list(activation.DECAY_BY_KIND.values()),
            activation.RESOLVED_PROMISE_DECAY,
            INTENSITY_WEIGHT,
            VALENCE_WEIGHT,
            activation.DEFAULT_IMPORTANCE,
            activation.DEFAULT_DECAY,
            activation.MIN_AGE_DAYS,
            activation.MESSAGE,
            upkeep.folded_id,
            activation.CHANGED_BY,
        )
    )


async def settle_traces(connection: Connection) -> None:
    """Lets the traces that are there now be folded; waits for writers, two seconds at most."""
    await connection.execute(SQL["settle_traces"].sql)


async def fold_traces(connection: Connection, most: int, now: datetime) -> int:
    """Adds up to `most` settled traces to bins by their age; how many they were."""
    return int(await connection.fetchval(SQL["fold_traces"].sql, most, now))


async def join_trace_bins(
    connection: Connection, after: int, most: int, now: datetime
) -> int | None:
    """Joins bins that grew old, among about `most`; the last item looked at, None at the end."""
    found = await connection.fetchval(SQL["join_trace_bins"].sql, after, most, now)
    return None if found is None else int(found)


async def prune_traces(connection: Connection, before: datetime, most: int) -> int | None:
    """Deletes folded exposures from before a time among the next `most` traces; how many.

    None when there is no trace left to look at.
    """
    found = await connection.fetchval(SQL["prune_traces"].sql, before, most)
    return None if found is None else int(found)


async def find_upkeep(connection: Connection) -> Upkeep:
    """How far upkeep is."""
    row = await connection.fetchrow(SQL["find_upkeep"].sql)
    assert row is not None
    return Upkeep(**dict(row))


async def record_recomputed(connection: Connection, now: datetime, newest: int) -> None:
    """All activations are those of `now`, and the trace `newest` counts in them."""
    await connection.execute(SQL["record_recomputed"].sql, now, newest)


async def record_forgotten(connection: Connection, now: datetime) -> None:
    """Somebody asked for all activations, which are those of `now`."""
    await connection.execute(SQL["record_forgotten"].sql, now)


async def record_counted(connection: Connection, newest: int) -> None:
    """The trace `newest`, and those before it, count in the activations of their items."""
    await connection.execute(SQL["record_counted"].sql, newest)


async def list_standing(connection: Connection, ids: Sequence[int]) -> dict[int, Standing]:
    """What use and exposure tell of those items that were used or shown."""
    rows = await connection.fetch(SQL["list_standing"].sql, list(ids))
    return {row["id"]: Standing(row["evidence"], row["age_days"]) for row in rows}


async def list_valences(connection: Connection, ids: Sequence[int]) -> dict[int, float]:
    """The valence −1..1 of items, where it is known."""
    rows = await connection.fetch(SQL["list_valences"].sql, list(ids))
    return {row["id"]: row["valence"] for row in rows}


async def find_recent_mood(
    connection: Connection, user_id: int, platform: str, *, messages: int, hours: int
) -> float | None:
    """The mean valence −1..1 of a platform's newest messages; None when none is known."""
    found: float | None = await connection.fetchval(
        SQL["find_recent_mood"].sql, user_id, platform, messages, hours
    )
    return found
