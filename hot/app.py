"""The composition root: from settings to the services that the tools adapt."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from agents_memory.clock import Clock, SystemClock
from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault
from agents_memory.domain.text import truncate
from agents_memory.observe import Action, get_logger
from agents_memory.services.brief import Reader, how_to_use
from agents_memory.services.opening import open_pool
from agents_memory.settings import Settings
from agents_memory.storage.connections import Database
from agents_memory.storage.spool.folder import anything_waits
from agents_memory.storage.users import ensure_user
from hot.answers import Here
from hot.services import Services
from hot.session import Session, working_directory

if TYPE_CHECKING:
    from agents_memory.embedding.protocol import Embedder
    from hot.saving import Saving

# The daemon and the capturer, run beside the embedded database as long as there are clients.
LOCAL_SERVICES = ("cold.kept", "ingest.kept")
# Some clients give up on a server after five seconds, and a slow machine needs one and a half of
# them to come as far as here.
BRIEF_WITHIN_S = 3.5
# Later connections of the same process.
BRIEF_AGAIN_WITHIN_S = 1.5
# How long a call waits for a database that is just starting, and for one that failed to before.
OPEN_WITHIN_S = 20.0
OPEN_AGAIN_WITHIN_S = 2.0
CLOSE_WITHIN_S = 2.0

log = get_logger()


class Pool(Protocol):
    """A pool that was opened (`agents_memory.services.opening.OpenedPool`)."""

    @property
    def database(self) -> Database: ...

    async def close(self) -> None: ...


class App:
    """Opens the pool in the background, and again when that failed; holds one client's session."""

    def __init__(
        self,
        settings: Settings,
        session: Session,
        *,
        clock: Clock,
        open_embedder: "Callable[[], Embedder | None]",
        open_pool: Callable[[], Awaitable[Pool]],
    ) -> None:
        self.settings = settings
        self.session = session
        self.clock = clock
        self._open_embedder = open_embedder
        self._open_pool = open_pool
        self._started = clock.monotonic()
        self._opening: asyncio.Task[Services] | None = None
        self._pool: Pool | None = None
        self._services: Services | None = None
        self._saving: Saving | None = None
        self._fault: MemoryFault | None = None

    def moment(self, time: datetime) -> str:
        """A time as it is shown: ISO 8601 to the second, in the zone of the settings."""
        return time.astimezone(self.settings.time_zone).isoformat(timespec="seconds")

    def here(self, client: str | None) -> Here:
        """Where this session takes place, for its client to check."""
        session = self.session
        return Here(
            project=session.project, platform=session.platform(client), device=session.device
        )

    def start(self) -> None:
        """Begins to open the pool, unless that is under way or done; returns at once."""
        if self._opening is None or (self._opening.done() and self._services is None):
            self._opening = asyncio.create_task(self._open(), name="open pool")
            # Whoever waits sees the fault; nobody has to.
            self._opening.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def services(self) -> Services:
        """The services; waits for a pool that is being opened, and tries again after a failure.

        Raises DatabaseUnavailable and what else keeps the pool shut.
        """
        if self._services is not None:
            return self._services
        self.start()
        assert self._opening is not None
        try:
            async with asyncio.timeout(OPEN_AGAIN_WITHIN_S if self._fault else OPEN_WITHIN_S):
                return await asyncio.shield(self._opening)
        except TimeoutError:
            raise self._fault or DatabaseUnavailable(
                "the database is still starting; try again in a few seconds "
                "(`mcp-agents-memory doctor` shows what it waits for)"
            ) from None

    @property
    def saving(self) -> "Saving":
        """How turns are stored, with or without a database; made by the first that needs it."""
        if self._saving is None:
            # With the first turn, not with the start.
            from hot.saving import Saving

            self._saving = Saving(self.settings, self.clock, self.services)
        return self._saving

    async def instructions(self, client: str | None) -> str:
        """The brief for the server's instructions, or the static text when it is not there in time.

        Never raises: without this answer a client has no server at all.
        """
        limit = self.settings.instructions_max_chars
        left = self._started + BRIEF_WITHIN_S - self.clock.monotonic()
        try:
            async with asyncio.timeout(max(left, BRIEF_AGAIN_WITHIN_S)):
                services = await self.services()
                reader = self.reader(services, client)
                text = await services.briefing.instructions(reader, max_chars=limit)
        except Exception as fault:  # noqa: BLE001 (even a bug of ours costs the brief only)
            log.warning(Action.BRIEF_LATE, error=fault)
            text = how_to_use(self.settings.toolsets)
        # Only the fixed part can be longer, under a limit that has no room for more.
        return truncate(text, limit)

    def reader(self, services: Services, client: str | None) -> Reader:
        """Who is asking, for a brief."""
        return Reader(services.user_id, self.session.platform(client), self.session.device)

    async def close(self) -> None:
        """Ends everything that was begun, within a few seconds; harmless when done before."""
        pool, self._pool = self._pool, None
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_WITHIN_S):
                if self._saving is not None:
                    await self._saving.close()
                if self._services is not None:
                    await self._services.close()
                if pool is not None:
                    await pool.close()

    async def _open(self) -> Services:
        name = self.settings.user_name
        try:
            # One that was opened for nothing before is used again.
            self._pool = self._pool or await self._open_pool()
            database = self._pool.database
            user_id = await database.run(lambda connection: ensure_user(connection, name))
        except MemoryFault as fault:
            log.warning(Action.DATABASE_LOST, error=fault)
            self._fault = fault
            raise
        self._services = Services(self.settings, self.clock, database, user_id, self._open_embedder)
        log.info(Action.DATABASE_READY, database=self.settings.describe_database())
        if anything_waits(self.settings):
            # Of a process that is gone; what waits here goes into the pool meanwhile.
            _ = self.saving
        return self._services


def compose(settings: Settings) -> App:
    """The app of this process: its working directory, clock, embedder and pool.

    Raises ConfigurationError for an embedder that cannot be meant.
    """
    if settings.names_embedders:
        # Here, because few name one, and it takes a hundredth of a start to know them all.
        from agents_memory.embedding.opening import check_choice

        check_choice(settings)
    return App(
        settings,
        Session.begin(settings, working_directory()),
        clock=SystemClock(),
        open_embedder=partial(_open_embedder, settings),
        open_pool=partial(
            open_pool,
            settings,
            "hot",
            application="mcp-agents-memory hot",
            services=LOCAL_SERVICES if settings.starts_local_services else (),
        ),
    )


def _open_embedder(settings: Settings) -> "Embedder":
    # With the first search, not with the start.
    from agents_memory.embedding.opening import open_choice

    return open_choice(settings)
