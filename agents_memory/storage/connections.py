"""Connections to the pool: leased, bounded in time, and calls that survive a lost server."""

import asyncio
import random
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from types import TracebackType
from typing import Literal, NoReturn, TypeVar

from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault
from agents_memory.storage.driver import Connection as Connection
from agents_memory.storage.driver import DedicatedConnection as DedicatedConnection
from agents_memory.storage.faults import FROM_DRIVER, may_pass, translated
from agents_memory.storage.leases import Leases
from agents_memory.storage.sessions import Sessions
from agents_memory.storage.stalls import Stalls

T = TypeVar("T")

# How long a statement may take. The server ends it, as a timer of the driver's for each call is
# a twentieth of what storing a turn costs.
STATEMENT_LIMIT_S = 30
# Keepalives and the connection check let the server notice a client that vanished.
SESSION = {
    "jit": "off",
    "timezone": "UTC",
    "statement_timeout": f"{STATEMENT_LIMIT_S}s",
    "idle_in_transaction_session_timeout": "1min",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "client_connection_check_interval": "2s",
}
# What a pooled connection may take on top of finding a server.
LEASE_MARGIN_S = 1.0
CLOSE_LIMIT_S = 3.0
MENDED = (
    "it is started anew by itself: try again; if that does not help, `mcp-agents-memory doctor`"
)
# How long a call goes on trying when its server is away: as long as a restart takes.
PATIENCE_S = 10.0
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0


def advisory_key(schema: str, purpose: str) -> int:
    """A 63-bit lock key for one purpose in one pool; stable over versions."""
    high = zlib.crc32(schema.encode())
    low = zlib.crc32(purpose.encode())
    return (high << 31 | low >> 1) & 0x7FFF_FFFF_FFFF_FFFF


class Database:
    """A pool of connections to one pool of memory, as one role.

    `url` may name several hosts; the one that takes writes is used. `pooled`: it leads through a
    pooler that hands one server session to several clients (found out too when not said), so that
    each lease is one transaction. `direct_url` leads around that pooler, for `connect`. `recover`
    is awaited before a lost connection is tried again (the embedded database uses it to start the
    server anew). A call goes on trying for `patience_s` seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        schema: str,
        application: str,
        max_size: int = 8,
        settings: dict[str, str] | None = None,
        recover: Callable[[], Awaitable[None]] | None = None,
        pooled: bool = False,
        direct_url: str | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._schema = schema
        wanted = {
            **SESSION,
            "application_name": application,
            "search_path": f'"{schema}", public',
            **(settings or {}),
        }
        self._sessions = Sessions(url, wanted, shared=pooled)
        self._own = self._sessions if direct_url is None else Sessions(direct_url, wanted)
        self._max_size = max_size
        self.patience_s = patience_s
        self._recover = recover
        self._mended = None if recover is None else MENDED
        self._leases = Leases(
            self._sessions.open, max_size, lambda: self._sessions.hosts.limit_s + LEASE_MARGIN_S
        )
        self._stalls = Stalls(self._sessions, self._leases.lent)

    @property
    def schema(self) -> str:
        """The Postgres schema of the pool."""
        return self._schema

    async def close(self) -> None:
        """Ends all connections; waits at most a few seconds for running calls."""
        await self._leases.close(CLOSE_LIMIT_S)
        self._stalls.close()

    async def connect(self, **settings: str) -> DedicatedConnection:
        """A dedicated connection outside the pool, whose session is ours alone.

        The caller closes it. Raises DatabaseUnavailable, and ConfigurationError where there is only
        a pooler that shares sessions.
        """
        with self._translated(self._own):
            return await self._own.open_own(settings)

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        """A connection of the pool; driver errors leave translated.

        It is ended when its server is gone. Nothing set on its session may be counted on outside a
        transaction. Behind a pooler the whole block is one transaction, which commits at its end.
        """
        with self._leased(self._leases.idle() or await self._lend()) as connection:
            if self._sessions.shared:
                async with self._begun(connection):
                    yield connection
            else:
                yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction that commits at the end of the block."""
        with self._leased(self._leases.idle() or await self._lend()) as connection:
            async with self._begun(connection):
                yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        """A read-only transaction in which the pool stays as it was at the beginning."""
        with self._leased(self._leases.idle() or await self._lend()) as connection:
            async with self._begun(connection, isolation="repeatable_read", readonly=True):
                yield connection

    async def run(
        self, operation: Callable[[Connection], Awaitable[T]], *, within_s: float | None = None
    ) -> T:
        """Runs `operation`, again when the server went away, until `within_s` seconds are over
        (those of this database, when not said).

        The operation must be safe to repeat: a commit whose answer was lost is repeated too. A try
        that has begun is seen to its end, which comes soon when its server is gone. Raises
        DatabaseUnavailable when the server stays away, at once when only its owner can change that.
        """
        loop = asyncio.get_running_loop()
        within_s = self.patience_s if within_s is None else within_s
        end = loop.time() + within_s
        pause = 0.0
        # Not a library's loop, which cost as much as the insert inside it.
        while True:
            try:
                if pause and self._recover is not None:
                    with self._translated(self._sessions):
                        await asyncio.wait_for(self._recover(), within_s)
                with self._leased(self._leases.idle() or await self._lend()) as connection:
                    if not self._sessions.shared:
                        return await operation(connection)
                    async with self._begun(connection):
                        return await operation(connection)
            except MemoryFault as fault:
                if not may_pass(fault) or loop.time() >= end:
                    raise
            # By chance, so that many who lost the same server don't come back at once.
            pause = min(2 * pause or FIRST_PAUSE_S, LONGEST_PAUSE_S)
            await asyncio.sleep(random.uniform(pause / 2, pause))

    async def _lend(self) -> DedicatedConnection:
        try:
            return await self._leases.lend()
        except FROM_DRIVER as error:
            if isinstance(error, TimeoutError) and self._leases.exhausted:
                raise DatabaseUnavailable(
                    f"all {self._max_size} connections of this process are in use; try again, or "
                    "raise DB_POOL_MAX"
                ) from None
            self._lost(error)

    def _translated(self, sessions: Sessions) -> AbstractContextManager[None]:
        # Where an embedded server listens, nobody needs to know.
        where = sessions.hosts.where if self._recover is None else None
        return translated(self._mended, where)

    def _leased(self, connection: DedicatedConnection) -> "_Lease":
        self._stalls.begin()
        return _Lease(connection, self._take_back)

    def _take_back(self, connection: DedicatedConnection, error: BaseException | None) -> None:
        self._leases.take_back(connection)
        if error is not None and isinstance(error, (*FROM_DRIVER, DatabaseUnavailable)):
            # The driver would say of a connection that we ended that the server hung up.
            self._lost(TimeoutError() if connection in self._stalls.ended else error)

    def _lost(self, error: BaseException) -> NoReturn:
        """Raises our own error for one of the driver's."""
        try:
            with self._translated(self._sessions):
                raise error
        except DatabaseUnavailable:
            # What took one connection took the others too; they would fail one by one.
            self._leases.expire()
            raise

    @asynccontextmanager
    async def _begun(
        self,
        connection: Connection,
        *,
        isolation: Literal["repeatable_read"] | None = None,
        readonly: bool = False,
    ) -> AsyncIterator[None]:
        async with connection.transaction(isolation=isolation, readonly=readonly):
            if self._sessions.shared:
                await self._sessions.set_locally(connection)
            yield


class _Lease:
    """A block with a connection; written out, as generators cost half of what a lease costs.

    Nothing of ours outlives its transaction, so a returned connection is as good as new, and the
    server is not asked to clean up.
    """

    __slots__ = ("_connection", "_take_back")

    def __init__(
        self,
        connection: DedicatedConnection,
        take_back: Callable[[DedicatedConnection, BaseException | None], None],
    ) -> None:
        self._connection = connection
        self._take_back = take_back

    def __enter__(self) -> Connection:
        return self._connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._take_back(self._connection, error)
