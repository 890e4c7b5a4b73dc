"""A pooler that hands one server session to several clients is lived with; E19.

Each test runs with our own pooler, which changes the session at every transaction and either
refuses or drops what settings it does not know, and with PgBouncer where that is installed.
"""

import asyncio
import contextlib
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import quote

import asyncpg
import pytest
from structlog.testing import capture_logs

from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.domain.filters import Filters
from agents_memory.services.opening import open_pool, prepare_pool
from agents_memory.services.recall import RecallRequest
from agents_memory.settings import Settings
from agents_memory.storage import leadership, messages, queries
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.embedded.account import make_server_account
from cold.fence import fenced
from cold.leadership import Leadership
from cold.stopping import Stop
from tests.conftest import SCHEMA, Pool
from tests.factories import services, settle_by_hand
from tests.integration.cold_daemons import daemon, until
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
    """Few server sessions for each user; it ends with the block."""
    assert INSTALLED is not None
    server, port, account = remote.server, free_port(), make_server_account()
    users = "".join(f'"{role}" "{word}"\n' for role, word in PASSWORDS.items())
    (server.base / "users.txt").write_text(users)
    (server.base / "bouncer.ini").write_text(
        f"[databases]\n* = host={server.base} port={server.port}\n"
        f"[pgbouncer]\nlisten_addr = {HOST}\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = scram-sha-256\nauth_file = {server.base}/users.txt\n"
        f"pool_mode = {mode}\ndefault_pool_size = {2 if mode == 'transaction' else 8}\n"
    )
    process = await asyncio.create_subprocess_exec(
        INSTALLED, str(server.base / "bouncer.ini"),
        stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, cwd="/",
        user=None if account.is_us else account.uid, group=None if account.is_us else account.gid,
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
        ours = TransactionPooler(
            remote.server, 8 if keeps else 3, ignores=kind == "dropping", keeps=keeps
        )
        async with ours:
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


async def test_everything_is_stored_and_found_through_it(pooled: Database) -> None:
    """Search path, codecs and transactions hold in every call, many at a time."""
    use = await services(pooled)
    stored = await asyncio.gather(*(use.say(f"The heron number {n} slept.") for n in range(20)))
    ids = [one.id for one in stored]
    await settle_by_hand(pooled, use.embedder, ids)
    assert await pooled.run(messages.count_messages) == len(set(ids)) == 20
    recall = use.recall()
    answers = await asyncio.gather(
        *(
            recall.search(RecallRequest(f"heron number {n}", Filters(use.user_id), limit=1))
            for n in range(8)
        )
    )
    assert {answer.used for answer in answers} == {"hybrid"}
    assert [answer.items[0].id for answer in answers] == ids[:8]
    await recall.close()
    await use.close()


async def test_our_settings_hold_in_each_block_and_nowhere_else(
    pooled: Database, way: Way, remote: RemotePool
) -> None:
    """What one client set, prepared or locked is never met by the next one."""
    asked = (
        "SELECT current_setting('search_path'), current_setting('jit'), "
        "current_setting('statement_timeout'), current_setting('application_name')"
    )
    ours = (f'"{SCHEMA}", public', "off", "30s", "pooled")
    for _ in range(6):
        async with pooled.acquire() as connection:
            assert [tuple(row) for row in await connection.fetch(asked)] == [ours]
        async with pooled.transaction() as connection:
            assert [tuple(row) for row in await connection.fetch(asked)] == [ours]
    stranger = await asyncpg.connect(way.url("memory_cold", remote.name), statement_cache_size=0)
    for _ in range(6):
        [(path, jit, limit, _)] = await stranger.fetch(asked)
        assert (path, jit, limit) == ('"$user", public', "on", "0")
        assert await stranger.fetchval("SELECT count(*) FROM pg_prepared_statements") == 0
    await stranger.close()
    assert await _locks(remote) == 0


async def test_a_snapshot_is_of_one_moment_through_it_too(pooled: Database) -> None:
    use = await services(pooled)
    await use.say("before")
    async with pooled.snapshot() as connection:
        assert await messages.count_messages(connection) == 1
        await use.say("meanwhile")
        assert await messages.count_messages(connection) == 1
    await use.close()


async def test_a_block_that_fails_leaves_nothing(pooled: Database) -> None:
    await services(pooled)

    async def fails(connection: Connection) -> None:
        await connection.execute("INSERT INTO users (name) VALUES ('half')")
        await connection.execute("SELECT 'x'::int")

    with pytest.raises(MemoryFault, match="22P02"):
        await pooled.run(fails)
    async with pooled.acquire() as connection:
        assert await connection.fetch("SELECT 1 FROM users WHERE name = 'half'") == []


async def test_a_pooler_that_was_not_declared_is_said(way: Way, remote: RemotePool) -> None:
    database = _through(way, remote)
    with capture_logs() as said:
        await database.run(messages.count_messages)
    assert any("DATABASE_POOLED=true" in line.get("note", "") for line in said)
    declared = _through(way, remote, pooled=True)
    with capture_logs() as said:
        await declared.run(messages.count_messages)
    assert said == []
    await database.close()
    await declared.close()


async def test_nobody_leads_through_it(pooled: Database, remote: RemotePool) -> None:
    """E19: a session lock there would be held by two, or by a stranger."""

    async def never(_: int) -> None:
        raise AssertionError("nobody may lead")

    with pytest.raises(ConfigurationError, match="DATABASE_DIRECT_URL"):
        await Leadership(pooled, Stop(), holder="here").run(never)
    assert await _locks(remote) == 0


async def test_who_has_a_way_around_it_leads(way: Way, remote: RemotePool) -> None:
    """E19: the lock is held directly, the work goes through the pooler."""
    database = _through(way, remote, pooled=True, direct_url=remote.url("memory_cold"))

    async def work(epoch: int) -> int:
        assert await _locks(remote) == 1
        async with fenced(database, epoch) as connection:
            return int(await connection.fetchval("SELECT count(*) FROM leader"))

    assert await Leadership(database, Stop(), holder="here").run(work) == 1
    await database.close()


async def test_the_daemon_works_with_both_ways(
    way: Way, remote: RemotePool, tmp_path: Path
) -> None:
    """Lead, hints and settling, as a process."""
    hot = _through(way, remote, "memory_hot", pooled=True)
    use = await services(hot)
    stored = await use.say("The heron stood in the shallow water.")
    await use.close()
    changes = {
        "DATABASE_URL": way.url("memory_cold", remote.name),
        "DATABASE_POOLED": "true",
        "DATABASE_DIRECT_URL": remote.url("memory_cold"),
    }
    async with daemon(cast(Pool, remote), tmp_path, "--drain", **changes) as cold:
        assert await cold.ended() == 0, cold.lines
    settled = await hot.run(lambda c: messages.list_results(c, stored.id))
    assert {"screen", "embed"} <= {row["stage"] for row in settled}
    assert await hot.run(lambda c: c.fetchval("SELECT count(*) FROM work")) == 0
    await hot.close()
    del changes["DATABASE_DIRECT_URL"]
    async with daemon(cast(Pool, remote), tmp_path, "--drain", **changes) as cold:
        assert await cold.ended() == 2
    assert "DATABASE_DIRECT_URL" in str(cold.lines[-1]["error"])


async def test_an_editors_server_needs_the_pooler_only(way: Way, remote: RemotePool) -> None:
    settings = Settings.load(
        {"DATABASE_URL": way.url("memory_hot", remote.name), "DATABASE_POOLED": "true"}
    )
    opened = await open_pool(settings, "hot", application="test")
    use = await services(opened.database)
    assert not (await use.say("The heron slept.")).duplicate
    await use.close()
    await opened.close()


async def test_migrations_go_around_it(way: Way, remote: RemotePool) -> None:
    through = {
        "EMBEDDING_MODEL": "hashing",
        "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
        "DATABASE_URL": way.url("memory_hot", remote.name),
    }
    owner = {"OWNER_DATABASE_URL": way.url("memory_owner", remote.name)}
    with pytest.raises(ConfigurationError, match="OWNER_DATABASE_URL"):
        await prepare_pool(Settings.load(through | owner))
    owner = {"OWNER_DATABASE_URL": remote.url("memory_owner")}
    assert await prepare_pool(Settings.load(through | owner)) == ()
    # One role for everything, which has both ways.
    single = through | {
        "DATABASE_URL": way.url("memory_owner", remote.name),
        "DATABASE_POOLED": "true",
        "DATABASE_DIRECT_URL": remote.url("memory_owner"),
    }
    assert await prepare_pool(Settings.load(single)) == ()


async def test_a_call_that_is_cancelled_spoils_nothing(pooled: Database) -> None:
    await pooled.run(messages.count_messages)
    sleep = "SELECT pg_sleep(60)"
    active = "SELECT count(*) FROM pg_stat_activity WHERE query = $1 AND state = 'active'"
    for _ in range(3):
        task = asyncio.create_task(pooled.run(lambda c: c.execute(sleep)))
        await until(pooled, lambda c: c.fetchval(active, sleep), "it sleeps")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(
            pooled, lambda c: c.fetchval(f"SELECT ({active}) = 0", sleep), "it was broken off"
        )


async def test_a_pooler_that_keeps_sessions_apart_is_as_good_as_none(
    session_way: Way, remote: RemotePool
) -> None:
    """Its settings are made good after the sign-in, and a session lock is held by one."""
    asked = "SELECT current_setting('search_path') || current_setting('jit')"
    one, two = _through(session_way, remote), _through(session_way, remote)
    for _ in range(3):
        assert await one.run(lambda c: c.fetchval(asked)) == f'"{SCHEMA}", publicoff'
    own, other = await one.connect(), await two.connect()
    assert await leadership.try_lock(own, SCHEMA)
    assert not await leadership.try_lock(other, SCHEMA)
    await own.close()
    await other.close()
    await one.close()
    await two.close()


async def test_a_pooler_is_judged_once_and_not_with_every_connection(remote: RemotePool) -> None:
    async with TransactionPooler(remote.server, size=8, keeps=True) as ours:
        database = _through(ours, remote)
        await database.run(messages.count_messages)
        judged = ours.welcomed

        async def nap(connection: Connection) -> None:
            await connection.execute("SELECT pg_sleep(0.2)")

        await asyncio.gather(*(database.run(nap) for _ in range(4)))
        # The first connection was free again.
        assert ours.welcomed == judged + 3
        assert len(ours.refused) == 1
        await database.close()


def test_no_statement_of_ours_leaves_a_mark_on_its_session() -> None:
    """A released connection is not cleaned, so session locks and settings have to be elsewhere."""
    lasting = re.compile(
        r"(?im)^\s*(SET|LISTEN|PREPARE|DECLARE .*\bCURSOR)\b"
        r"|set_config\([^)]*false\)|advisory_lock\("
    )
    marked = {
        name
        for aggregate in queries.aggregates()
        for name, statement in queries.load(aggregate).items()
        if lasting.search(statement.sql)
    }
    # Asked on dedicated connections only.
    assert marked == {"try_lock", "wait_lock"}


async def _locks(remote: RemotePool) -> int:
    held = await remote.admin(
        "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
        "WHERE locktype = 'advisory' AND datname = current_database()"
    )
    return int(held)
