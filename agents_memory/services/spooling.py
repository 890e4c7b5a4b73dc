"""What the database cannot take now waits on this machine's disk, and is stored when it is back."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from agents_memory.clock import Clock
from agents_memory.domain.errors import Code, MemoryFault, Refusal
from agents_memory.domain.messages import Accepted, Origin, Queued
from agents_memory.observe import Action, get_logger
from agents_memory.services.captured import Captured, Kept
from agents_memory.services.intake import Intake
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
_PAUSES_S = (1.0, 2.0, 5.0, 10.0)
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
        while (entry := await asyncio.to_thread(next, entries, None)) is not None:
            await draining.settle(entry)
    if +draining.outcomes:
        counts = {kind.value: count for kind, count in draining.outcomes.items()}
        log.info(Action.SPOOL_DRAINED, **counts)
    return draining.outcomes


class _Draining:
    def __init__(self, database: Database, intake: Intake) -> None:
        self.outcomes: Counter[Kept] = Counter()
        self._database = database
        self._intake = intake
        self._captured = Captured(database, intake)
        self._users: dict[str, int] = {}

    async def settle(self, entry: Entry) -> None:
        if entry.waiting is None:
            await asyncio.to_thread(entry.set_aside)
            self.outcomes[Kept.FAILED] += 1
            log.error(Action.SPOOL_DAMAGED, bytes=entry.piece.end - entry.piece.start)
            return
        try:
            outcome = await self._store(entry.waiting)
        except MemoryFault as fault:
            if not blames_the_data(fault):
                raise
            await asyncio.to_thread(entry.set_aside)
            self.outcomes[Kept.FAILED] += 1
            log.error(Action.SPOOL_DAMAGED, error=fault)
            return
        entry.settle()
        self.outcomes[outcome] += 1

    async def _store(self, waiting: Waiting) -> Kept:
        user_id = await self._user(waiting.user)
        turn = waiting.turn
        if turn.draft.origin is Origin.CAPTURED and turn.draft.native_id is not None:
            return await self._captured.store(turn, user_id)
        stored = await self._intake.insert(turn, user_id, within_s=_TRY_WITHIN_S)
        return Kept.DUPLICATE if stored.duplicate else Kept.STORED

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

    def wake(self) -> None:
        """Somebody needs the database: see at once whether it is back."""
        self._woken.set()

    async def run(self) -> None:
        """Never returns."""
        failures = 0
        while True:
            pause = _LOOK_EVERY_S
            if await asyncio.to_thread(self._spool.has_any):
                failures = 0 if await self._drained() else failures + 1
                if failures:
                    pause = _PAUSES_S[min(failures, len(_PAUSES_S)) - 1]
            try:
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            except TimeoutError:
                continue
            self._woken.clear()

    async def _drained(self) -> bool:
        """Whether nothing of ours waits any more."""
        try:
            way = await self._way()
            await drain(self._spool, way.database, way.intake)
        except (MemoryFault, OSError) as fault:
            log.debug(Action.SPOOL_WAITS, error=fault)
            return False
        return not self._spool.pending
