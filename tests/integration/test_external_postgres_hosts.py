"""Servers that freeze, die, hang or are not there yet: calls go on elsewhere, or end in time."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.services.opening import open_pool
from agents_memory.settings import Settings
from agents_memory.storage import exporting, hosts, sessions, stalls
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.sessions import Sessions
from tests.conftest import SCHEMA
from tests.factories import services
from tests.integration.cold_daemons import LIMIT_S
from tests.integration.foreign_server import HOST, PASSWORDS, ForeignServer

PORT = "SELECT inet_server_port()"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[ForeignServer, ForeignServer]]:
    """Two servers that know nothing of each other, each with a migrated pool."""
    pair = (ForeignServer(), ForeignServer())
    try:
        for server in pair:
            server.start()
            asyncio.run(server.found())
            asyncio.run(server.prepare())
        yield pair
    finally:
        for server in pair:
            server.remove()


@pytest.fixture
def first(servers: tuple[ForeignServer, ForeignServer]) -> Iterator[ForeignServer]:
    """The one that comes first in the URL; it runs again after the test."""
    server = servers[0]
    yield server
    server.thaw()
    server.stop()
    server.start()


@pytest.fixture
def second(servers: tuple[ForeignServer, ForeignServer]) -> ForeignServer:
    return servers[1]


@pytest.fixture
def url(first: ForeignServer, second: ForeignServer) -> str:
    role, password = "memory_hot", PASSWORDS["memory_hot"].replace("%", "%25")
    return f"postgresql://{role}:{password}@{HOST}:{first.port},{HOST}:{second.port}/memory"


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    both = Database(url, schema=SCHEMA, application="test")
    yield both
    await both.close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks soon; the limits stay far above what a server that is well needs."""
    monkeypatch.setattr(stalls, "LOOK_EVERY_S", 0.2)
    monkeypatch.setattr(hosts, "EACH_HOST_S", 2.0)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What looking whether a server has a session came to, each time."""
    found: list[bool] = []
    knows = Sessions.knows

    async def counted(of: Sessions, pid: int) -> bool:
        found.append(await knows(of, pid))
        return found[-1]

    monkeypatch.setattr(Sessions, "knows", counted)
    return found


def _port(connection: Connection) -> "asyncio.Future[int]":
    return asyncio.ensure_future(connection.fetchval(PORT))


async def test_the_first_server_is_used_while_it_is_well(
    database: Database, first: ForeignServer
) -> None:
    assert {await database.run(_port) for _ in range(3)} == {first.port}


async def test_calls_go_on_at_the_second_server_when_the_first_freezes(
    database: Database, first: ForeignServer, second: ForeignServer
) -> None:
    """F101: open connections, new ones and the one just used; all of them hang, none refuses."""
    busy = await asyncio.gather(*(database.run(_slow) for _ in range(4)))
    assert set(busy) == {first.port}
    first.freeze()
    async with asyncio.timeout(LIMIT_S):
        assert {await database.run(_port) for _ in range(3)} == {second.port}
        assert set(await asyncio.gather(*(database.run(_slow) for _ in range(4)))) == {second.port}


async def test_a_call_under_way_when_its_server_freezes_is_repeated_at_the_second(
    database: Database, first: ForeignServer, second: ForeignServer
) -> None:
    async def ask(connection: Connection) -> int:
        port = int(await connection.fetchval(PORT))
        if port == first.port:
            await connection.execute("SELECT pg_sleep(600)")
        return port

    call = asyncio.create_task(database.run(ask))
    await _asleep(first, call)
    first.freeze()
    async with asyncio.timeout(LIMIT_S):
        assert await call == second.port


async def test_a_call_under_way_when_its_server_is_killed_is_repeated_at_the_second(
    database: Database, first: ForeignServer, second: ForeignServer
) -> None:
    assert await database.run(_port) == first.port
    first.stop(signal.SIGQUIT)
    assert await database.run(_port) == second.port


async def test_a_slow_call_on_a_server_that_is_well_is_left_alone(
    database: Database, looks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stalls, "LOOK_EVERY_S", 0.01)

    async def wait_for_looks(connection: Connection) -> int:
        while len(looks) < 3:
            await connection.execute("SELECT pg_sleep(0.1)")
        return int(await connection.fetchval("SELECT pg_backend_pid()"))

    calls = []

    async def once(connection: Connection) -> int:
        calls.append(connection)
        return await wait_for_looks(connection)

    await database.run(once)
    assert len(calls) == 1
    assert looks == [True] * len(looks)


async def test_a_statement_that_its_server_process_never_ends_is_given_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E5: the server ends a statement itself, unless the process is stuck."""
    monkeypatch.setattr(stalls, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(sessions, "STUCK_AFTER_S", 0.2)
    database.patience_s = 0.0

    async def hang(connection: Connection) -> None:
        await connection.execute("SELECT pg_sleep(600)")

    # Not after the half minute of the server's own limit.
    with pytest.raises(DatabaseUnavailable, match="no answer"):
        await database.run(hang)


async def test_a_statement_that_may_be_long_is_left_alone(
    database: Database, looks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stalls, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(sessions, "STUCK_AFTER_S", 0.0)
    async with database.snapshot() as connection:
        await exporting.begin_long_read(connection)
        while len(looks) < 3:
            await connection.execute("SELECT pg_sleep(0.1)")
    assert looks == [True] * len(looks)


async def test_a_session_that_the_server_lost_is_given_up(
    database: Database, first: ForeignServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server under the same name, or a network that forgot the connection."""
    asked: list[int] = []
    knows = Sessions.knows

    async def of_nobody(sessions: Sessions, pid: int) -> bool:
        asked.append(pid)
        return await knows(sessions, 999_999_999)

    monkeypatch.setattr(Sessions, "knows", of_nobody)

    async def ask(connection: Connection) -> int:
        if not asked:
            await connection.execute("SELECT pg_sleep(600)")
        return int(await connection.fetchval(PORT))

    async with asyncio.timeout(LIMIT_S):
        assert await database.run(ask) == first.port
    assert len(asked) == 1


async def test_a_server_that_takes_no_writes_is_passed_over(
    database: Database, first: ForeignServer, second: ForeignServer
) -> None:
    await first.admin("ALTER ROLE memory_hot SET default_transaction_read_only = on", "SELECT 1")
    try:
        assert await database.run(_port) == second.port
        use = await services(database)
        assert not (await use.say("The heron slept.")).duplicate
        await use.close()
    finally:
        await first.admin("ALTER ROLE memory_hot RESET default_transaction_read_only", "SELECT 1")


async def test_an_editors_server_starts_with_the_second_while_the_first_hangs(
    url: str, first: ForeignServer, second: ForeignServer
) -> None:
    first.freeze()
    opened = await open_pool(Settings.load({"DATABASE_URL": url}), "hot", application="test")
    assert await opened.database.run(_port) == second.port
    await opened.close()


async def test_what_is_wrong_with_each_is_said_when_none_can_be_used(
    first: ForeignServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11: and one that hangs is told from one that refuses."""
    monkeypatch.setattr(hosts, "EACH_HOST_S", 0.5)
    first.freeze()
    url = f"postgresql://memory_hot@{HOST}:{first.port},{HOST}:1/memory"
    nowhere = Database(url, schema=SCHEMA, application="test")
    with pytest.raises(DatabaseUnavailable) as caught:
        await nowhere.run(_port, within_s=0.1)
    assert f"{HOST}:{first.port}: no answer within some seconds" in str(caught.value)
    assert f"{HOST}:1: nothing listens there" in str(caught.value)
    await nowhere.close()


async def test_a_call_made_while_the_server_is_away_is_answered_when_it_comes(
    first: ForeignServer,
) -> None:
    first.stop()
    alone = first.database("memory_hot")
    call = asyncio.create_task(alone.run(_port, within_s=LIMIT_S))
    await asyncio.sleep(0)
    first.start()
    assert await call == first.port
    await alone.close()


async def test_nothing_waits_for_ever_on_a_server_that_hangs(
    first: ForeignServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11: signing in, a call, a lease, a session of one's own, and the end of it all."""
    alone = first.database("memory_hot")
    assert await alone.run(_port) == first.port
    monkeypatch.setattr(hosts, "ONLY_HOST_S", 0.5)
    first.freeze()
    async with asyncio.timeout(LIMIT_S):
        silent = f"^{HOST}:{first.port}/memory: no answer within some seconds"
        with pytest.raises(DatabaseUnavailable, match=silent):
            await alone.run(_port, within_s=0.0)
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable, match="no answer within some seconds"):
                await alone.run(_port, within_s=0.0)
        with pytest.raises(DatabaseUnavailable):
            async with alone.transaction():
                raise AssertionError("there is no connection")
        with pytest.raises(DatabaseUnavailable, match="no answer within some seconds"):
            await alone.connect()
        await alone.close()


async def test_a_cancelled_call_leaves_the_pool_whole(
    first: ForeignServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it signs in, and in the middle of a statement; the only connection is free again."""
    alone = first.database("memory_hot", max_size=1)
    for _ in range(3):
        sleeping = asyncio.create_task(alone.run(lambda c: c.execute("SELECT pg_sleep(600)")))
        await _asleep(first, sleeping)
        await _cancel(sleeping)
        assert await alone.run(_port) == first.port
    await alone.close()
    first.freeze()
    for steps in range(0, 100, 7):
        signing_in = asyncio.create_task(alone.run(_port))
        for _ in range(steps):
            await asyncio.sleep(0)
        await _cancel(signing_in)
    first.thaw()
    assert await alone.run(_port) == first.port
    await alone.close()


async def _slow(connection: Connection) -> int:
    await connection.execute("SELECT pg_sleep(0.05)")
    return int(await connection.fetchval(PORT))


async def _asleep(server: ForeignServer, call: "asyncio.Task[Any]") -> None:
    asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    async with asyncio.timeout(LIMIT_S):
        while not await server.admin(asked):
            assert not call.done(), call.result()


async def _cancel(call: "asyncio.Task[Any]") -> None:
    call.cancel()
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(asyncio.CancelledError):
            await call
