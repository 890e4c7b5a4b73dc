"""Where captured turns go: into the pool, or while it is away to this machine's disk."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any, NoReturn

from agents_memory.clock import Clock
from agents_memory.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    MemoryFault,
    Refusal,
)
from agents_memory.domain.messages import Origin
from agents_memory.observe import Action, get_logger
from agents_memory.services.captured import Kept
from agents_memory.services.intake import Intake, accept
from agents_memory.services.opening import OpenedPool
from agents_memory.services.spooling import Drainer, Way, queue
from agents_memory.settings import Settings
from agents_memory.storage import captures, users
from agents_memory.storage.connections import Connection
from agents_memory.storage.notify import Hints
from agents_memory.storage.spool.store import spool_of
from ingest.records import Record
from ingest.storing import Storing, draft_of

# What is said meanwhile need not wait for a database that is long in coming.
OPEN_WITHIN_S = 5.0
BEAT_WITHIN_S = 1.0

log = get_logger()


class Keeping:
    """Keeps what the followers of one process read; `opening` is the pool, sooner or later.

    The transcripts wait too, but may be rewritten or removed meanwhile.
    """

    def __init__(self, settings: Settings, opening: asyncio.Task[OpenedPool], clock: Clock) -> None:
        self._settings = settings
        self._opening = opening
        self._clock = clock
        self._spool = spool_of(settings)
        self._drainer = Drainer(self._spool, self._opened)
        self._hints: Hints | None = None
        self._way: Way | None = None
        self._user_id: int | None = None

    async def beside(self, following: Coroutine[Any, Any, NoReturn]) -> None:
        """Drains the spool beside `following`. Raises what either of them raises."""
        await asyncio.wait({self._opening}, timeout=OPEN_WITHIN_S)
        tasks = [
            asyncio.create_task(self._drainer.run(), name="drain"),
            asyncio.create_task(following, name="follow"),
            asyncio.create_task(self._refused(), name="opening"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def keep(self, client: str, records: Sequence[Record]) -> None:
        """Stores records in their order, or keeps them on this disk; safe to repeat.

        Raises MemoryFault when neither can take them: the transcript itself then waits.
        """
        outcomes = await self._kept(client, records)
        if set(outcomes) - {Kept.DUPLICATE}:
            counts = {kind.value: count for kind, count in outcomes.items()}
            log.info(Action.CAPTURE_STORED, client=client, **counts)

    async def beat(self, client: str, sessions: Sequence[str]) -> None:
        """A sign of life for sessions that are stored as far as they are written."""
        if self._drainer.behind or not self._opening.done():
            return

        async def write(connection: Connection) -> None:
            await captures.beat(
                connection,
                device=self._settings.device_name,
                client=client,
                sessions=sessions,
                now=self._clock.now(),
            )

        try:
            way = await self._opened()
            await way.database.run(write, within_s=BEAT_WITHIN_S)
        except MemoryFault as fault:
            # The next comes in some seconds; without one agents save their turns themselves.
            log.debug(Action.DATABASE_LOST, error=fault)

    async def close(self) -> None:
        """Leaves what waits on the disk to whoever comes next, and lets go of the pool."""
        self._spool.close()
        if self._hints is not None:
            await self._hints.close()
        self._opening.cancel()
        [opened] = await asyncio.gather(self._opening, return_exceptions=True)
        if isinstance(opened, OpenedPool):
            await opened.close()

    async def _kept(self, client: str, records: Sequence[Record]) -> Counter[Kept]:
        why: MemoryFault = DatabaseUnavailable("the database is not back yet")
        if not self._drainer.behind and self._opening.done():
            try:
                return await (await self._storing(client)).keep(records)
            except ConfigurationError:
                raise
            except MemoryFault as fault:
                why = fault
        # What of them is stored already is known by its id when the rest is.
        return await self._queue(client, records, why)

    async def _storing(self, client: str) -> Storing:
        way = await self._opened()
        if self._user_id is None:
            name = self._settings.user_name
            self._user_id = await way.database.run(lambda c: users.ensure_user(c, name))
        return Storing(
            way.database,
            way.intake,
            self._user_id,
            self._clock,
            client=client,
            device=self._settings.device_name,
        )

    async def _queue(
        self, client: str, records: Sequence[Record], why: MemoryFault
    ) -> Counter[Kept]:
        outcomes: Counter[Kept] = Counter()
        for record in records:
            draft = draft_of(
                record,
                client,
                self._settings.device_name,
                origin=Origin.CAPTURED,
                now=self._clock.now(),
            )
            turn = await accept(draft, self._clock.now())
            if isinstance(turn, Refusal):
                outcomes[Kept.REFUSED] += 1
                continue
            queued = await queue(self._spool, turn, self._settings.user_name, why)
            if isinstance(queued, Refusal):
                raise DatabaseUnavailable(queued.message)
            outcomes[Kept.QUEUED] += 1
        self._drainer.wake()
        return outcomes

    async def _opened(self) -> Way:
        if self._way is None:
            opened = await asyncio.shield(self._opening)
            self._hints = Hints(opened.database)
            self._way = Way(opened.database, Intake(opened.database, self._hints, self._clock))
        return self._way

    async def _refused(self) -> None:
        """Ends only with the fault for which the pool can never be opened."""
        await asyncio.shield(self._opening)
        await asyncio.Event().wait()
