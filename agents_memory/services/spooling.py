"""What the database cannot take now waits on this machine's disk, and is stored when it is back."""

import asyncio
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from agents_memory.clock import Clock
from agents_memory.domain.errors import Code, MemoryFault, Refusal
from agents_memory.domain.messages import Accepted, Draft, Origin, Queued
from agents_memory.observe import Action, get_logger
from agents_memory.services.captured import Captured, Kept
from agents_memory.services.intake import Intake
from agents_memory.services.told import Told
from agents_memory.settings import Settings
from agents_memory.storage import users
from agents_memory.storage.connections import Database
from agents_memory.storage.faults import blames_the_data
from agents_memory.storage.notify import Hints
from agents_memory.storage.spool.record import Waiting
from agents_memory.storage.spool.store import (
    Entry,
    Spool,
    SpoolFull,
    SpoolUnusable,
    spool_of,
)

# One try at a database that may still be away; the next comes soon.
_TRY_WITHIN_S = 1.0
_PAUSES_S = (1.0, 2.0, 5.0)
_BATCH = 100
_BATCH_BYTES = 2**20
# How often it is looked whether a dead process left anything.
_LOOK_EVERY_S = 30.0

log = get_logger()


async def queue(spool: Spool, turn: Accepted, user: str, why: MemoryFault) -> Queued | Refusal:
    """Keeps an accepted turn on this machine's disk; a returned `Queued` outlives a crash.

    Refuses when the spool is full or cannot be written; nothing is kept then.
    """
    draft = turn.draft
    if draft.origin is Origin.ASSERTED and draft.occurred_at is None:
        # It is stored later than it was said.
        turn = replace(turn, draft=replace(draft, occurred_at=turn.at))
    first = not spool.pending
    try:
        await asyncio.to_thread(spool.append, Waiting(user, turn))
    except SpoolFull as full:
        return Refusal(
            Code.LIMIT_EXCEEDED,
            f"the memory's database is away ({why}), and {full}: nothing was stored. Save this "
            "again later; the user should bring the database back, or raise SPOOL_MAX_MB",
            {"limit_bytes": spool.limit_bytes},
        )
    except SpoolUnusable as fault:
        return Refusal(
            Code.DATABASE_UNAVAILABLE,
            f"the memory's database is away ({why}), and the turn cannot be kept on this machine "
            f"either: {fault}. Nothing was stored; save this again later",
        )
    if first:
        log.warning(Action.SPOOL_BEGUN, error=why)
    return Queued(turn.intake_id, draft.role, turn.at, turn.redactions, str(why))


async def drain(spool: Spool, database: Database, intake: Intake) -> Counter[Kept] | None:
    """Stores what waits, each turn once and each session's in order; None while another does it.

    Safe to be broken off at any point. A turn that the database will never take is set aside.
    Raises MemoryFault when the database is away; what was stored before stays. OSError,
    ConfigurationError: the folder cannot be used.
    """
    draining = _Draining(database, intake)
    with spool.drain() as entries:
        if entries is None:
            return None
        batches = _batches(entries)
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            if batch[0].waiting is None:
                await draining.set_aside(batch)
            else:
                await draining.settle(batch)
    if +draining.outcomes:
        counts = {kind.value: count for kind, count in draining.outcomes.items()}
        log.info(Action.SPOOL_DRAINED, **counts)
    return draining.outcomes


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Neighbours of one kind, so many as go into one transaction."""
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        if batch and (
            _kind(entry) != _kind(batch[0]) or len(batch) == _BATCH or size > _BATCH_BYTES
        ):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += entry.piece.end - entry.piece.start
    if batch:
        yield batch


def _kind(entry: Entry) -> tuple[str | None, ...]:
    if entry.waiting is None:
        return ()
    draft = entry.waiting.turn.draft
    if not _is_captured(draft):
        return (entry.waiting.user,)
    return entry.waiting.user, draft.source, draft.platform, draft.device


def _is_captured(draft: Draft) -> bool:
    return draft.origin is Origin.CAPTURED and draft.native_id is not None


class _Draining:
    def __init__(self, database: Database, intake: Intake) -> None:
        self.outcomes: Counter[Kept] = Counter()
        self._database = database
        self._captured = Captured(database, intake)
        self._told = Told(database, intake)
        self._users: dict[str, int] = {}

    async def settle(self, batch: Sequence[Entry]) -> None:
        """Stores entries of one kind; singly where one of them will never be taken."""
        try:
            outcomes = await self._store(batch)
        except MemoryFault as fault:
            if not blames_the_data(fault):
                raise
            if len(batch) > 1:
                for entry in batch:
                    await self.settle([entry])
                return
            await self._set_aside(batch[0], fault)
            return
        for entry, outcome in zip(batch, outcomes, strict=True):
            entry.settle()
            self.outcomes[outcome] += 1

    async def set_aside(self, batch: Sequence[Entry]) -> None:
        """Keeps what is no turn for the owner to look at."""
        for entry in batch:
            await self._set_aside(entry, None)

    async def _set_aside(self, entry: Entry, fault: MemoryFault | None) -> None:
        await asyncio.to_thread(entry.set_aside)
        self.outcomes[Kept.FAILED] += 1
        log.error(Action.SPOOL_DAMAGED, bytes=entry.piece.end - entry.piece.start, error=fault)

    async def _store(self, batch: Sequence[Entry]) -> list[Kept]:
        waiting = [entry.waiting for entry in batch if entry.waiting is not None]
        user_id = await self._user(waiting[0].user)
        turns = [one.turn for one in waiting]
        if _is_captured(turns[0].draft):
            return await self._captured.store_many(turns, user_id)
        stored = await self._told.store_many(turns, user_id)
        return [Kept.DUPLICATE if one.duplicate else Kept.STORED for one in stored]

    async def _user(self, name: str) -> int:
        if name not in self._users:
            self._users[name] = await self._database.run(
                lambda connection: users.ensure_user(connection, name), within_s=_TRY_WITHIN_S
            )
        return self._users[name]


@dataclass(frozen=True, slots=True)
class Way:
    """The way into an opened pool."""

    database: Database
    intake: Intake


@asynccontextmanager
async def draining(settings: Settings, database: Database, clock: Clock) -> AsyncIterator[None]:
    """Drains what others left on this machine, for the length of the block."""
    hints = Hints(database)
    way = Way(database, Intake(database, hints, clock))

    async def opened() -> Way:
        return way

    task = asyncio.create_task(Drainer(spool_of(settings), opened).run(), name="drain")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await hints.close()


class Drainer:
    """Drains whenever there is something, for as long as `run` is not cancelled."""

    def __init__(self, spool: Spool, way: Callable[[], Awaitable[Way]]) -> None:
        self._spool = spool
        self._way = way
        self._woken = asyncio.Event()
        self._behind = spool.has_any()
        self._why: MemoryFault | None = None

    @property
    def behind(self) -> bool:
        """Whether something waits that was said before what comes now, which then waits too."""
        return self._behind or self._spool.pending

    @property
    def why(self) -> MemoryFault | None:
        """For what the turns wait, from the first on until a drain succeeds; None: not known."""
        return self._why

    def wake(self, why: MemoryFault | None = None) -> None:
        """Somebody needs the database, and did not get it for `why`: see at once if it is back."""
        if self._why is None:
            self._why = why
        self._woken.set()

    async def run(self) -> None:
        """Never returns."""
        failures = 0
        while True:
            pause = _LOOK_EVERY_S
            if not await asyncio.to_thread(self._spool.has_any):
                self._behind = False
                if not self._spool.pending:
                    # Of a turn that could not be kept here either.
                    self._why = None
            else:
                self._behind = not await self._drained()
                failures = failures + 1 if self._behind else 0
                if failures:
                    pause = _PAUSES_S[min(failures, len(_PAUSES_S)) - 1]
            try:
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            except TimeoutError:
                continue
            self._woken.clear()

    async def _drained(self) -> bool:
        """Whether all is stored now but what other living processes hold."""
        try:
            way = await self._way()
            done = await drain(self._spool, way.database, way.intake)
        except (MemoryFault, OSError) as fault:
            self._why = fault if isinstance(fault, MemoryFault) else self._unusable(fault)
            log.debug(Action.SPOOL_WAITS, error=fault)
            return False
        if done is None:
            # Whether another process gets on, it alone knows.
            return False
        self._why = None
        return not self._spool.pending

    def _unusable(self, error: OSError) -> MemoryFault:
        return MemoryFault(
            f"the turns in {self._spool.folder} cannot be taken from there "
            f"({error.strerror or type(error).__name__}); make room on that disk, and see that the "
            "folder may be written"
        )
