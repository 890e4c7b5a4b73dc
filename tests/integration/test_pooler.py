"""A pooler that hands one server session to several clients is lived with; E19.

Each test runs with our own pooler, which changes the session at every transaction and either
refuses or drops what settings it does not know, and with PgBouncer where that is installed.
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import quote

import asyncpg
import pytest
from structlog.testing import capture_logs

from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.services.opening import open_pool, prepare_pool
from agents_memory.settings import Settings
from agents_memory.storage import leadership, messages, queries
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.embedded.account import make_server_account
from cold.leadership import Leadership
from cold.stopping import Stop
from tests.conftest import SCHEMA, Pool
from tests.factories import services
from tests.integration.cold_daemons import daemon
from tests.integration.foreign_server import HOST, PASSWORDS, RemotePool, free_port
from tests.integration.transaction_pooler import TransactionPooler

INSTALLED = shutil.which("pgbouncer")
KINDS = ["refusing", "dropping", *(["pgbouncer"] if INSTALLED else [])]


class Way(Protocol):
    """Something that leads to a server, by URL."""

    def url(self, role: str, database: str) -> str: ...


class Bouncer:
    """PgBouncer before a server."""

    def __init__(self, port: int) -> None:
        self.port = port

    def url(self, role: str, database: str) -> str:
        password = quote(PASSWORDS[role], safe="")
        return f"postgresql://{role}:{password}@{HOST}:{self.port}/{database}"


@asynccontextmanager
async def pgbouncer(remote: RemotePool, mode: str) -> AsyncIterator[Bouncer]:
    """Two server sessions for each user; it ends with the block."""
    assert INSTALLED is not None
    server, port, account = remote.server, free_port(), make_server_account()
    users = "".join(f'"{role}" "{word}"\n' for role, word in PASSWORDS.items())
    (server.base / "users.txt").write_text(users)
    (server.base / "bouncer.ini").write_text(
        f"[databases]\n* = host={server.base} port={server.port}\n"
        f"[pgbouncer]\nlisten_addr = {HOST}\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = scram-sha-256\nauth_file = {server.base}/users.txt\n"
        f"pool_mode = {mode}\ndefault_pool_size = 2\n"
    )
    process = await asyncio.create_subprocess_exec(
        INSTALLED, str(server.base / "bouncer.ini"),
        stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, cwd="/",
        **({} if account.is_us else {"user": account.uid, "group": account.gid}),
    )  # fmt: skip
    try:
        assert process.stderr is not None
        async for line in process.stderr:
            if b"process up" in line:
                break
        yield Bouncer(port)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


@asynccontextmanager
async def pooler(remote: RemotePool, kind: str, *, keeps: bool = False) -> AsyncIterator[Way]:
    if kind == "pgbouncer":
        async with pgbouncer(remote, "session" if keeps else "transaction") as bouncer:
            yield bouncer
    else:
        async with TransactionPooler(
            remote.server, ignores=kind == "dropping", keeps=keeps
        ) as ours:
            yield ours


@pytest.fixture(params=KINDS)
async def way(request: pytest.FixtureRequest, remote: RemotePool) -> AsyncIterator[Way]:
    async with pooler(remote, request.param) as found:
        yield found


@pytest.fixture(params=KINDS)
async def session_way(request: pytest.FixtureRequest, remote: RemotePool) -> AsyncIterator[Way]:
    async with pooler(remote, request.param, keeps=True) as found:
        yield found


@pytest.fixture(params=[True, False], ids=["declared", "found out"])
async def pooled(
    request: pytest.FixtureRequest, way: Way, remote: RemotePool
) -> AsyncIterator[Database]:
    """The pool as its daemon's role, through the pooler."""
    database = _through(way, remote, pooled=request.param)
    yield database
    await database.close()


def _through(way: Way, remote: RemotePool, role: str = "memory_cold", **options: Any) -> Database:
    url = way.url(role, remote.name)
    return Database(url, schema=SCHEMA, application="pooled", **options)


async def _raw(way: Way, remote: RemotePool) -> asyncpg.Connection[asyncpg.Record]:
    """A stranger's connection, which sees what others left on the sessions."""
    return await asyncpg.connect(way.url("memory_cold", remote.name), statement_cache_size=0)


async def test_everything_is_stored_and_found_through_it(
    pooled: Database, way: Way, remote: RemotePool
) -> None:
    """The search path and all other settings hold in every call, many at a time."""
    use = await services(pooled)
    stored = await asyncio.gather(*(use.say(f"The heron number {n} slept.") for n in range(20)))
    async with pooled.acquire() as connection:
        assert await messages.count_messages(connection) == len({one.id for one in stored}) == 20
    recall = use.recall()
    found = await asyncio.gather(*(_asked(recall, use.user_id, n) for n in range(8)))
    assert found == [stored[n].id for n in range(8)]
    await recall.close()
    await use.close()
