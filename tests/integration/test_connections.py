"""Calls survive a server that goes away, and a lost server is an error, not an empty answer."""

import asyncio
from pathlib import Path

import pytest

from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault
from agents_memory.domain.messages import Stored
from agents_memory.services.opening import HOT_PATIENCE_S, external_database
from agents_memory.settings import Settings
from agents_memory.storage import connections, leases, messages
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.embedded.server import Cluster
from tests.conftest import SCHEMA, Pool
from tests.factories import Services, draft


async def test_a_killed_connection_is_replaced(use: Services, cluster: Cluster, pool: Pool) -> None:
    await use.say("before")
    # pg_terminate_backend asks for the role itself, so the hot role ends its own sessions.
    killer = pool.database("memory_hot")
    async with killer.acquire() as connection:
        killed = await connection.fetchval(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE usename = 'memory_hot' AND pid <> pg_backend_pid() "
            "AND datname = current_database()"
        )
    await killer.close()
    assert killed >= 1
    stored = await use.say("after")
    assert not stored.duplicate


async def test_an_insert_whose_answer_was_lost_is_not_repeated(
    use: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit whose answer never came is found again by its intake id."""
    insert = messages.insert_message
    calls = 0

    async def committed_then_lost(*args: object, **kwargs: object) -> messages.Row:
        nonlocal calls
        calls += 1
        row = await insert(*args, **kwargs)  # type: ignore[arg-type]
        if calls == 1:
            raise ConnectionResetError
        return row

    monkeypatch.setattr(messages, "insert_message", committed_then_lost)
    stored = await use.intake.store(draft("said once"), use.user_id)
    assert isinstance(stored, Stored)
    assert (calls, stored.duplicate) == (2, False)
    async with use.database.acquire() as connection:
        assert await messages.count_messages(connection) == 1


async def test_a_server_that_stays_away_is_an_error(tmp_path: Path) -> None:
    """D11: a backend that is down is never an empty list."""
    nowhere = Database(
        f"postgresql://memory_hot@/memory?host={tmp_path}", schema=SCHEMA, application="test"
    )

    async def ask(connection: Connection) -> int:
        return await messages.count_messages(connection)

    with pytest.raises(DatabaseUnavailable, match="doctor"):
        await nowhere.run(ask, within_s=0.2)
    await nowhere.close()


async def test_recovery_is_asked_for_before_the_next_try(tmp_path: Path, pool: Pool) -> None:
    recovered = asyncio.Event()

    async def recover() -> None:
        recovered.set()

    database = Database(
        f"postgresql://memory_hot@/memory?host={tmp_path}",
        schema=SCHEMA,
        application="test",
        recover=recover,
    )
    with pytest.raises(DatabaseUnavailable):
        await database.run(lambda connection: connection.fetchval("SELECT 1"), within_s=0.3)
    assert recovered.is_set()
    await database.close()


@pytest.mark.parametrize(("patience_s", "again"), [(0.0, False), (0.3, True)])
async def test_how_long_a_call_goes_on_is_said_once_for_all_of_a_database(
    tmp_path: Path, patience_s: float, again: bool
) -> None:
    recovered = asyncio.Event()

    async def recover() -> None:
        recovered.set()

    database = Database(
        f"postgresql://memory_hot@/memory?host={tmp_path}",
        schema=SCHEMA,
        application="test",
        recover=recover,
        patience_s=patience_s,
    )
    with pytest.raises(DatabaseUnavailable):
        await database.run(lambda connection: connection.fetchval("SELECT 1"))
    assert recovered.is_set() is again
    await database.close()


def test_whoever_waits_for_a_tool_hears_within_five_seconds_that_the_database_is_away() -> None:
    """D11: each of the tries that follow a lost one comes after a pause of a second at most."""
    assert HOT_PATIENCE_S + connections.LONGEST_PAUSE_S <= 5.0
    asked: dict[str, float] = {}
    for role in ("hot", "cold"):
        settings = Settings.load({"HOME": "/nowhere", "DATABASE_URL": "postgresql://a@b/c"})
        database = external_database(settings, role, "test")
        asked[role] = database.patience_s
    assert asked == {"hot": HOT_PATIENCE_S, "cold": connections.PATIENCE_S}


async def test_a_faulty_statement_is_not_retried_and_tells_no_content(use: Services) -> None:
    calls = 0

    async def fail(connection: Connection) -> None:
        nonlocal calls
        calls += 1
        await connection.execute("SELECT 'a secret'::int")

    with pytest.raises(MemoryFault) as caught:
        await use.database.run(fail)
    assert calls == 1
    assert "secret" not in str(caught.value)
    assert "22P02" in str(caught.value)


SLEEPS = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'"


async def _pid(connection: Connection) -> int:
    return int(await connection.fetchval("SELECT pg_backend_pid()"))


async def test_calls_one_after_the_other_share_a_connection(hot_database: Database) -> None:
    async with hot_database.acquire() as first, hot_database.acquire() as second:
        assert await _pid(first) != await _pid(second)
        used_last = await _pid(first)
    # The first was given back last.
    assert {await hot_database.run(_pid) for _ in range(3)} == {used_last}


async def test_no_more_connections_than_allowed_serve_many_calls(pool: Pool) -> None:
    database = pool.database("memory_hot", max_size=2)
    pids = await asyncio.gather(*(database.run(_pid) for _ in range(20)))
    assert len(set(pids)) == 2
    await database.close()


async def test_a_transaction_left_open_is_not_handed_on(hot_database: Database) -> None:
    async with hot_database.acquire() as connection:
        left = await _pid(connection)
        await connection.execute("BEGIN")
    assert await hot_database.run(_pid) != left


async def test_a_call_that_is_broken_off_leaves_a_usable_connection(hot_database: Database) -> None:
    """F4: the statement is cancelled at the server too."""

    async def wait(connection: Connection) -> None:
        await connection.execute("SELECT pg_sleep(600)")

    call = asyncio.create_task(hot_database.run(wait))
    # A wish to cancel that overtakes its statement is passed over by the server.
    while not await hot_database.run(lambda connection: connection.fetchval(SLEEPS)):
        pass
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    pids = [await hot_database.run(_pid) for _ in range(2)]
    assert pids[0] == pids[1]


async def test_a_connection_that_nobody_needs_is_ended(
    hot_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "IDLE_S", 0.0)
    async with hot_database.acquire() as connection:
        ended = asyncio.Event()
        connection.add_termination_listener(lambda _: ended.set())
    await ended.wait()
    assert connection.is_closed()
    assert await hot_database.run(_pid) > 0


async def test_closing_ends_what_is_still_in_use(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CLOSE_LIMIT_S", 0.05)
    database = pool.database("memory_hot", max_size=2)
    async with database.acquire() as connection:
        await database.close()
        assert connection.is_closed()
    assert await database.run(_pid) > 0
    await database.close()
