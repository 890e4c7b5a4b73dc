"""Saving a turn: in the pool, or while it is away on this machine's disk until it is back."""

import asyncio
from collections.abc import Awaitable, Callable

from agents_memory.clock import Clock
from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault, Refusal
from agents_memory.domain.messages import Accepted, Draft, Queued, Stored
from agents_memory.services.intake import accept
from agents_memory.services.spooling import Drainer, Way, queue
from agents_memory.settings import Settings
from agents_memory.storage.faults import blames_the_data
from agents_memory.storage.spool.store import spool_of
from hot.services import Services

# How long a turn waits for the database before it is kept on the disk.
SAVE_WITHIN_S = 4.0
_IN_TURN = DatabaseUnavailable("turns that were said before it are stored first")


class Saving:
    """Saves the turns of one client in their order, and drains the spool in the background.

    `services` opens the pool where it is not open.
    """

    def __init__(
        self, settings: Settings, clock: Clock, services: Callable[[], Awaitable[Services]]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._services = services
        self._spool = spool_of(settings)
        self._drainer = Drainer(self._spool, self._way)
        self._draining = asyncio.create_task(self._drainer.run(), name="drain")

    async def save(
        self, draft: Draft, client_session: str | None
    ) -> Stored | Queued | Refusal | None:
        """Stores or queues one turn; None when the client's own session is captured anyway.

        Answers within some seconds, whatever the database does; a text of megabytes is worked at
        for some seconds before.
        """
        # Before the clock runs: a database that is well must not seem slow for a long text.
        turn = await accept(draft, self._clock.now())
        if isinstance(turn, Refusal):
            return turn
        behind = self._drainer.behind
        why = self._drainer.why if behind else None
        if why is None:
            try:
                async with asyncio.timeout(SAVE_WITHIN_S):
                    if not behind:
                        return await self._store(turn, client_session)
                    # It has to wait in any case, but shall say for what.
                    await self._services()
            except TimeoutError:
                # Should it be stored after all: the same intake_id is never stored twice.
                why = self._silent()
            except MemoryFault as fault:
                if blames_the_data(fault):
                    raise
                why = fault
        queued = await queue(self._spool, turn, self._settings.user_name, why or _IN_TURN)
        self._drainer.wake(why)
        return queued

    async def close(self) -> None:
        """Leaves what waits to whoever comes next; harmless when repeated."""
        self._draining.cancel()
        await asyncio.gather(self._draining, return_exceptions=True)
        self._spool.close()

    async def _store(self, turn: Accepted, client_session: str | None) -> Stored | None:
        services, draft = await self._services(), turn.draft
        if client_session is not None and await services.coverage.covers(
            device=draft.device or "", client=draft.platform, session=client_session
        ):
            return None
        return await services.told.store(turn, services.user_id, within_s=SAVE_WITHIN_S)

    def _silent(self) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"{self._settings.describe_database()}: no answer within {SAVE_WITHIN_S:g} seconds; "
            "check that the server is well (`mcp-agents-memory doctor` looks further)"
        )

    async def _way(self) -> Way:
        services = await self._services()
        return Way(services.database, services.intake)
