"""Connections to the pool: session settings, codecs, and calls that survive a lost server."""

import asyncio
import json
import random
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import asyncpg
import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.storage.faults import translated

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    # The driver's classes are generic for type checkers only.
    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
    DedicatedConnection = asyncpg.Connection[asyncpg.Record]
else:
    Connection = asyncpg.Connection
    DedicatedConnection = asyncpg.Connection

T = TypeVar("T")

# A generic plan turned a 1 ms vector search into 87 ms, hence custom plans always; keepalives and
# the connection check let the server notice a client that vanished.
SESSION = {
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    "timezone": "UTC",
    "statement_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "client_connection_check_interval": "2s",
}
CONNECT_TIMEOUT_S = 5.0
COMMAND_TIMEOUT_S = 30.0
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0


def advisory_key(schema: str, purpose: str) -> int:
    """A 63-bit lock key for one purpose in one pool; stable over versions."""
    high = zlib.crc32(schema.encode())
    low = zlib.crc32(purpose.encode())
    return (high << 31 | low >> 1) & 0x7FFF_FFFF_FFFF_FFFF


def encode_halfvec(vector: NDArray[np.float32]) -> bytes:
    """pgvector's binary form of a half-precision vector: dims, zero, big-endian float16."""
    data = np.asarray(vector, dtype=">f2")
    return struct.pack(">hh", data.shape[0], 0) + data.tobytes()


def decode_halfvec(data: bytes) -> NDArray[np.float32]:
    return np.frombuffer(data, dtype=">f2", offset=4).astype(np.float32)


async def _prepare_session(connection: Connection) -> None:
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads
    )
    home = await connection.fetchval(
        "SELECT n.nspname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace "
        "WHERE t.typname = 'halfvec'"
    )
    if home is not None:
        await connection.set_type_codec(
            "halfvec", schema=home, encoder=encode_halfvec, decoder=decode_halfvec, format="binary"
        )


async def _leave_as_it_is(_: Connection) -> None:
    """In place of the driver's reset, which costs a round trip each time a connection is returned.

    Nothing here changes a pooled session: settings are local to a transaction, session locks and
    listeners have connections of their own. An open transaction is rolled back all the same.
    """


class Database:
    """A pool of connections to one pool of memory, as one role.

    `recover` is awaited before a lost connection is tried again (the embedded database uses it to
    start the server anew).
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
    ) -> None:
        self._url = url
        self._schema = schema
        self._server_settings = {
            **SESSION,
            "application_name": application,
            "search_path": f'"{schema}", public',
            **(settings or {}),
        }
        self._max_size = max_size
        self._recover = recover
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._opening = asyncio.Lock()

    @property
    def schema(self) -> str:
        """The Postgres schema of the pool."""
        return self._schema

    async def close(self) -> None:
        """Ends all connections; waits at most a few seconds for running calls."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            try:
                await asyncio.wait_for(pool.close(), 3)
            except TimeoutError:
                pool.terminate()

    async def connect(self, **settings: str) -> DedicatedConnection:
        """A dedicated connection outside the pool; the caller closes it.

        Raises DatabaseUnavailable.
        """
        with translated():
            connection = await asyncpg.connect(
                self._url,
                timeout=CONNECT_TIMEOUT_S,
                server_settings={**self._server_settings, **settings},
            )
            await _prepare_session(connection)
            return connection

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        """A connection of the pool; driver errors leave translated."""
        with translated():
            pool = self._pool or await self._opened()
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                connection = await pool.acquire()
            try:
                yield connection
            finally:
                await pool.release(connection, timeout=CONNECT_TIMEOUT_S)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction that commits at the end of the block."""
        async with self.acquire() as connection, connection.transaction():
            yield connection

    async def run(
        self, operation: Callable[[Connection], Awaitable[T]], *, within_s: float = 10.0
    ) -> T:
        """Runs `operation`, again when the server went away, until `within_s` seconds are over.

        The operation must be safe to repeat: a commit whose answer was lost is repeated too.
        Raises DatabaseUnavailable when the server stays away.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + within_s
        pause = 0.0
        while True:
            try:
                if pause:
                    await self._heal(within_s)
                async with self.acquire() as connection:
                    return await operation(connection)
            except DatabaseUnavailable:
                if loop.time() >= end:
                    raise
            # Part of it by chance, so that many who lost the same server don't come back at once.
            pause = min(2 * pause or FIRST_PAUSE_S, LONGEST_PAUSE_S)
            await asyncio.sleep(random.uniform(pause / 2, pause))

    async def _heal(self, within_s: float) -> None:
        if self._pool is not None:
            await self._pool.expire_connections()
        if self._recover is not None:
            with translated():
                await asyncio.wait_for(self._recover(), within_s)

    async def _opened(self) -> "asyncpg.Pool[asyncpg.Record]":
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    self._url,
                    # Nothing is opened before it is needed: an editor's start must not wait.
                    min_size=0,
                    max_size=self._max_size,
                    timeout=CONNECT_TIMEOUT_S,
                    command_timeout=COMMAND_TIMEOUT_S,
                    max_inactive_connection_lifetime=300,
                    init=_prepare_session,
                    reset=_leave_as_it_is,
                    server_settings=self._server_settings,
                )
            return self._pool
