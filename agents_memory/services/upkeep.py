"""Upkeep by hand: how much there is, what fades, what is there twice, and forgetting now."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from agents_memory.clock import Clock
from agents_memory.domain.activation import FADING_BELOW
from agents_memory.domain.duplicates import same_statement, same_subject
from agents_memory.domain.memories import MemoryView
from agents_memory.services.forgetting import Forgetting
from agents_memory.storage import activations, edges, memories, upkeep, vectors
from agents_memory.storage.connections import Connection, Database

MAX_LISTED = 100
# How many memories one call compares with all older ones (an exact scan for each), and with how
# many of the nearest.
LOOKED_AT = 300
NEAREST = 5


@dataclass(frozen=True, slots=True)
class Counted:
    """How much one user has, and when all activations were last computed."""

    counts: Mapping[str, int]
    kinds: Mapping[str, int]
    recomputed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Items looked at, activations that changed by more than a hundredth, memories that fade now
    and did not before, all that fade, and as of when."""

    recomputed_at: datetime
    items: int
    changed: int
    faded: int
    fading: int


@dataclass(frozen=True, slots=True)
class Fading:
    """A memory and how present it is; `fades`: below what counts as faded."""

    memory: MemoryView
    activation: float
    touched_at: datetime | None
    fades: bool


@dataclass(frozen=True, slots=True)
class Alike:
    """Two memories that lie near each other; `same` when their words say the same."""

    older: MemoryView
    newer: MemoryView
    cosine: float
    same: bool


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Pairs among the memories that were looked at; go on below `before`, None at the end.

    `note` says why nothing could be compared.
    """

    pairs: tuple[Alike, ...]
    looked_at: int
    before: int | None
    left_out: int = 0
    note: str | None = None


class Upkeep:
    """Reads and recomputes; never takes anything away."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._forgetting = Forgetting(database.transaction, clock)

    async def count(self, user_id: int) -> Counted:
        """Counts of one user: messages, memories, what is pinned, unresolved, fading, used…"""

        async def load(connection: Connection) -> Counted:
            counts = await upkeep.count_items(connection, user_id)
            counts["fading"] = len(await upkeep.list_faded(connection, user_id, FADING_BELOW))
            counts["edges"] = await edges.count_edges(connection, user_id)
            counts |= await upkeep.count_events(connection, user_id)
            kinds = await upkeep.count_kinds(connection, user_id)
            known = await activations.find_upkeep(connection)
            times = [at for at in (known.recomputed_at, known.forgotten_at) if at is not None]
            return Counted(counts, kinds, max(times, default=None))

        return await self._database.run(load)

    async def forget(self, user_id: int) -> Forgotten:
        """Recomputes every activation as of now; what fades sinks, and nothing is deleted."""
        now = self._clock.now()
        before = await self._faded(user_id)
        done = await self._forgetting.recompute()
        after = await self._faded(user_id)
        await self._database.run(lambda c: activations.record_forgotten(c, now))
        return Forgotten(now, done.items, done.changed, len(after - before), len(after))

    async def find_fading(self, user_id: int, limit: int) -> tuple[Fading, ...]:
        """Up to `limit` (1..100) memories that are least present, as last computed."""

        async def load(connection: Connection) -> tuple[Fading, ...]:
            found = await upkeep.list_fading(connection, user_id, max(1, min(limit, MAX_LISTED)))
            known = {one.id: one for one in found}
            views = await memories.list_memories(connection, list(known), user_id, grounded=True)
            return tuple(
                Fading(view, one.value, one.touched_at, one.value < FADING_BELOW)
                for view in views
                for one in (known[view.id],)
            )

        return await self._database.run(load)

    async def find_duplicates(
        self, user_id: int, *, cosine: float, limit: int, before: int | None
    ) -> Duplicates:
        """Up to `limit` (1..100) pairs from a cosine (0..1) on, among the newest 300 memories and
        all that are older; `before` goes on below an id."""

        async def load(connection: Connection) -> Duplicates:
            ids = await upkeep.list_newest(connection, user_id, before, LOOKED_AT)
            following = ids[-1] if len(ids) == LOOKED_AT else None
            model = await vectors.find_active_model(connection)
            if model is None:
                return Duplicates(
                    (), 0, None, note="the pool has no active embedding model, so none is compared"
                )
            found = await upkeep.list_similar(
                connection, model, user_id, ids, most=NEAREST, cosine=cosine
            )
            wanted = sorted({number for pair in found for number in (pair.id, pair.other)})
            known = await memories.list_memories(connection, wanted, user_id, grounded=True)
            views = {view.id: view for view in known}
            found = [pair for pair in found if {pair.id, pair.other} <= views.keys()]
            shown = found[: max(1, min(limit, MAX_LISTED))]
            pairs = tuple(_alike(views[p.other], views[p.id], p.cosine) for p in shown)
            return Duplicates(pairs, len(ids), following, left_out=len(found) - len(shown))

        return await self._database.run(load)

    async def _faded(self, user_id: int) -> set[int]:
        return await self._database.run(lambda c: upkeep.list_faded(c, user_id, FADING_BELOW))


def _alike(older: MemoryView, newer: MemoryView, cosine: float) -> Alike:
    same = same_subject(older.subject, newer.subject) and same_statement(
        older.subject, older.content, newer.content
    )
    return Alike(older, newer, cosine, same)
