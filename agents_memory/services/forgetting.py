"""Forgetting: how present every item still is, computed anew from its traces."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta

from agents_memory.clock import Clock
from agents_memory.domain.activation import EXPOSURE_KEPT_DAYS
from agents_memory.storage import activations
from agents_memory.storage.connections import Connection

ITEMS_AT_ONCE = 10_000
TRACES_AT_ONCE = 100_000

Begin = Callable[[], AbstractAsyncContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """How many items were looked at, and how many activations changed by more than a hundredth."""

    items: int
    changed: int


class Forgetting:
    """Works in transactions that `begin` opens: `Database.transaction`, or fenced ones."""

    def __init__(self, begin: Begin, clock: Clock) -> None:
        self._begin = begin
        self._clock = clock

    async def recompute(self, batch: int = ITEMS_AT_ONCE) -> Recomputed:
        """The activation of every item with a trace; twice at the same time changes nothing."""
        now = self._clock.now()
        after, items, changed = 0, 0, 0
        while True:
            async with self._begin() as connection:
                ids = await activations.list_binned(connection, after, batch)
                if not ids:
                    rest = await activations.list_unbinned(connection)
                    break
                changed += await activations.compute_activations(connection, ids, now)
            after, items = ids[-1], items + len(ids)
        for start in range(0, len(rest), batch):
            async with self._begin() as connection:
                part = rest[start : start + batch]
                changed += await activations.compute_activations(connection, part, now)
        return Recomputed(items + len(rest), changed)

    async def recompute_touched(self, after: int, batch: int = ITEMS_AT_ONCE) -> int:
        """Those of items with traces newer than the trace `after`; the newest trace."""
        async with self._begin() as connection:
            ids, newest = await activations.list_touched(connection, after)
        for start in range(0, len(ids), batch):
            async with self._begin() as connection:
                part = ids[start : start + batch]
                await activations.compute_activations(connection, part, self._clock.now())
        return newest

    async def fold(self, batch: int = TRACES_AT_ONCE) -> int:
        """Adds all traces that are in no bin yet to bins, and joins old bins; how many traces.

        Only the daemon's role and the owner may.
        """
        now = self._clock.now()
        async with self._begin() as connection:
            await activations.settle_traces(connection)
        folded = 0
        while True:
            async with self._begin() as connection:
                count = await activations.fold_traces(connection, batch, now)
            if count == 0:
                break
            folded += count
        last: int | None = 0
        while last is not None:
            async with self._begin() as connection:
                last = await activations.join_trace_bins(connection, last, batch, now)
        return folded

    async def prune(self, batch: int = TRACES_AT_ONCE) -> int:
        """Deletes single exposures of more than a year ago that are in bins; how many.

        Only the daemon's role and the owner may.
        """
        before = self._clock.now() - timedelta(days=EXPOSURE_KEPT_DAYS)
        pruned = 0
        while True:
            async with self._begin() as connection:
                gone = await activations.prune_traces(connection, before, batch)
            if gone is None:
                return pruned
            pruned += gone
