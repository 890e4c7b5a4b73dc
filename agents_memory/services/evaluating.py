"""A pool's own traces as a store that can be evaluated."""

from array import array
from datetime import UTC, datetime

import numpy as np

from agents_memory.domain.activation import INFERRED
from agents_memory.evaluation.store import TRACE_KINDS, Flags, Integers, Store
from agents_memory.storage import evaluating, exporting
from agents_memory.storage.connections import Database

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_PER_DAY = 86_400.0


async def read_store(database: Database) -> Store:
    """All traces of one moment, 24 bytes each; times are days since 1970 (UTC).

    Raises DatabaseUnavailable.
    """
    ids, kinds = array("q"), list[str]()
    importance, valence, intensity, resolved = (array("d") for _ in range(4))
    item, kind, at = array("q"), array("q"), array("d")
    felt_at, felt, felt_strongly = (array("d") for _ in range(3))
    async with database.snapshot() as connection:
        await exporting.begin_long_read(connection)
        async for batch in evaluating.list_judged_items(connection):
            for row in batch:
                ids.append(row["id"])
                kinds.append(row["kind"])
                importance.append(row["importance"])
                valence.append(row["valence"])
                intensity.append(row["intensity"])
                resolved.append(_days(row["resolved_at"]))
        async for batch in evaluating.list_traces(connection):
            for row in batch:
                item.append(row["item_id"])
                kind.append(TRACE_KINDS.index(INFERRED if row["inferred"] else row["kind"]))
                at.append(_days(row["at"]))
        async for batch in evaluating.list_felt(connection):
            for row in batch:
                felt_at.append(_days(row["at"]))
                felt.append(row["valence"])
                felt_strongly.append(row["intensity"])
    number, known = _numbers(np.array(ids, dtype=np.int64), np.array(item, dtype=np.int64))
    return Store(
        kinds=tuple(kinds),
        importance=np.array(importance),
        valence=np.array(valence),
        intensity=np.array(intensity),
        resolved_at=np.array(resolved),
        trace_item=number,
        trace_kind=np.array(kind, dtype=np.int64)[known],
        trace_at=np.array(at)[known],
        mood_at=np.array(felt_at),
        mood_valence=np.array(felt),
        mood_intensity=np.array(felt_strongly),
    )


def moment(days: float) -> datetime:
    """The moment of a store's time."""
    return datetime.fromtimestamp(days * SECONDS_PER_DAY, UTC)


def _days(at: datetime | None) -> float:
    return float("nan") if at is None else (at - EPOCH).total_seconds() / SECONDS_PER_DAY


def _numbers(ids: Integers, traced: Integers) -> tuple[Integers, Flags]:
    """Each trace's item by its place among the ids, and which traces have one there."""
    place = np.searchsorted(ids, traced)
    known = place < len(ids)
    known[known] = ids[place[known]] == traced[known]
    return place[known], known
