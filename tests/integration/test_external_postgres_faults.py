"""Whatever is wrong with a server, one message says what and names the fix; D11."""

import asyncio
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import asyncpg
import pytest

from agents_memory.domain.errors import ConfigurationError, DatabaseUnavailable, SchemaMismatch
from agents_memory.domain.messages import Stored
from agents_memory.embedding.profiles import HASHING
from agents_memory.services.intake import Intake
from agents_memory.services.opening import prepare_pool
from agents_memory.settings import Settings
from agents_memory.storage import connections, hosts, messages, migrate, users, work
from agents_memory.storage.connections import Database
from agents_memory.storage.migrate import Step
from agents_memory.storage.notify import Hints
from tests.conftest import SCHEMA
from tests.factories import NOON, draft
from tests.fakes import ManualClock
from tests.integration.cold_daemons import LIMIT_S, begin_term
from tests.integration.foreign_server import HOST, PASSWORDS, ForeignServer, RemotePool


async def _refusal(database: Database, sql: str = "SELECT 1", *, within_s: float = 0.1) -> str:
    """What a call that cannot succeed tells its caller; never a secret, and never an empty list."""
    try:
        with pytest.raises(DatabaseUnavailable) as caught:
            await database.run(lambda c: c.fetch(sql), within_s=within_s)
    finally:
        await database.close()
    message = str(caught.value)
    assert not any(word in message for word in PASSWORDS.values())
    return message


def _at(remote: RemotePool, user: str, password: str, name: str) -> Database:
    url = f"postgresql://{user}:{quote(password)}@{HOST}:{remote.server.port}/{name}"
    return Database(url, schema=SCHEMA, application="test")


async def test_a_wrong_password(remote: RemotePool) -> None:
    said = await _refusal(_at(remote, "memory_hot", "wrong", remote.name))
    assert "refused the password" in said
    assert "DATABASE_URL" in said


@pytest.mark.parametrize(
    ("role", "named"),
    [
        ("memory_owner", "OWNER_DATABASE_URL"),
        ("memory_cold", "COLD_DATABASE_URL"),
        ("memory_hot", "DATABASE_URL"),
    ],
)
async def test_a_wrong_password_names_the_setting_that_holds_it(
    remote: RemotePool, tmp_path: Path, role: str, named: str
) -> None:
    """Of the three that `migrate` signs in with."""
    urls = {
        "OWNER_DATABASE_URL": "memory_owner",
        "COLD_DATABASE_URL": "memory_cold",
        "DATABASE_URL": "memory_hot",
    }
    settings = Settings.load(
        {name: remote.url(of) for name, of in urls.items()}
        | {named: f"postgresql://{role}:wrong@{HOST}:{remote.server.port}/{remote.name}"},
        home=tmp_path,
    )
    with pytest.raises(DatabaseUnavailable) as caught:
        await prepare_pool(settings, HASHING)
    assert str(caught.value).endswith(
        f"refused the password (SQLSTATE 28P01); correct the user or the password in {named}"
    )


async def test_an_unknown_user_looks_like_a_wrong_password(remote: RemotePool) -> None:
    """The server does not say which of the two it is, and neither do we."""
    said = await _refusal(_at(remote, "nobody", "x", remote.name))
    assert "correct the user or the password" in said


async def test_an_unknown_database(remote: RemotePool) -> None:
    said = await _refusal(_at(remote, "memory_hot", PASSWORDS["memory_hot"], "nothing_here"))
    assert "no such database" in said
    assert "create it" in said


@pytest.mark.parametrize("option", ["bogus=1", "statement_mem=5", "DateStyle=hunter2"])
async def test_an_option_of_the_url_that_the_server_does_not_take(
    remote: RemotePool, option: str
) -> None:
    """It is named, and not taken for a fault of the schema."""
    url = f"{remote.url('memory_hot')}?{option}"
    database = Database(url, schema=SCHEMA, application="test")
    with pytest.raises(ConfigurationError) as caught:
        await database.run(lambda c: c.fetch("SELECT 1"), within_s=0.1)
    await database.close()
    name, _, value = option.partition("=")
    assert f"the option {name} of the database URL" in str(caught.value)
    assert "correct or remove it" in str(caught.value)
    assert value not in str(caught.value).replace("SQLSTATE", "").split()


async def test_a_role_that_may_not_connect(remote: RemotePool) -> None:
    await remote.admin(f"REVOKE CONNECT ON DATABASE {remote.name} FROM PUBLIC", "SELECT 1")
    assert "GRANT CONNECT ON DATABASE" in await _refusal(remote.database("memory_hot"))


async def test_a_role_without_grants(remote: RemotePool) -> None:
    """Another migration grants them again."""
    await remote.admin(
        f"REVOKE ALL ON SCHEMA {SCHEMA} FROM memory_hot",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM memory_hot",
        "SELECT 1",
    )
    hot = remote.database("memory_hot")
    with pytest.raises(SchemaMismatch, match=r"no right to see the pool; run .*migrate` as its"):
        await hot.run(migrate.compatibility)
    await hot.close()
    await remote.admin(f"GRANT USAGE ON SCHEMA {SCHEMA} TO memory_hot", "SELECT 1")
    said = await _refusal(remote.database("memory_hot"), "SELECT * FROM messages")
    assert "lacks a right (SQLSTATE 42501)" in said
    assert "mcp-agents-memory migrate` as the owner" in said
    await remote.server.prepare(remote.name)
    hot = remote.database("memory_hot")
    assert await hot.run(messages.count_messages) == 0
    await hot.close()


async def test_no_connection_left(remote: RemotePool) -> None:
    """A busy server is asked again, and answers when somebody left."""
    other = await asyncpg.connect(remote.url("memory_hot"))
    await remote.admin("ALTER ROLE memory_hot CONNECTION LIMIT 1", "SELECT 1")
    try:
        said = await _refusal(remote.database("memory_hot"))
        assert "no connection left (SQLSTATE 53300)" in said
        assert "lower DB_POOL_MAX, or raise max_connections" in said
        patient = remote.database("memory_hot")
        call = asyncio.create_task(patient.run(messages.count_messages, within_s=LIMIT_S))
        await other.close()
        assert await call == 0
        await patient.close()
    finally:
        await remote.admin("ALTER ROLE memory_hot CONNECTION LIMIT -1", "SELECT 1")


async def test_all_connections_of_our_own_in_use(
    remote: RemotePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = remote.database("memory_hot", max_size=1)
    async with database.acquire():
        monkeypatch.setattr(hosts, "ONLY_HOST_S", 0.0)
        monkeypatch.setattr(connections, "LEASE_MARGIN_S", 0.01)
        with pytest.raises(DatabaseUnavailable, match=r"all 1 connections .* DB_POOL_MAX"):
            await database.run(messages.count_messages, within_s=0.0)
    await database.close()


async def test_a_server_that_takes_no_writes(remote: RemotePool) -> None:
    await remote.admin(
        f"ALTER ROLE memory_hot IN DATABASE {remote.name} SET default_transaction_read_only = on",
        "SELECT 1",
    )
    said = await _refusal(remote.database("memory_hot"), "INSERT INTO users (name) VALUES ('x')")
    assert "takes no writes" in said
    assert "name the primary in DATABASE_URL" in said


async def test_a_full_disk(remote: RemotePool) -> None:
    said = await _refusal(
        remote.database("memory_hot"),
        "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$",
    )
    assert "disk is full (SQLSTATE 53100); make room" in said


@pytest.fixture(scope="module")
def starting() -> Iterator[ForeignServer]:
    """A server that recovers, and takes nobody before it is restarted."""
    server = ForeignServer()
    try:
        standby = server.base / "data" / "standby.signal"
        standby.touch()
        standby.chmod(0o644)
        server.start(ready=False, hot_standby="off")
        yield server
    finally:
        server.remove()


async def test_a_server_that_is_starting_is_waited_for(starting: ForeignServer) -> None:
    """One that stays like that is an error with its reason."""
    said = await _refusal(starting.database("boss", "postgres"))
    assert "starting, stopping or recovering (SQLSTATE 57P03)" in said
    patient = starting.database("boss", "postgres")
    call = asyncio.create_task(patient.run(lambda c: c.fetchval("SELECT 7"), within_s=LIMIT_S))
    starting.stop()
    (starting.base / "data" / "standby.signal").unlink()
    starting.start()
    assert await call == 7
    await patient.close()


async def test_an_old_server_is_named_with_what_is_needed(
    remote: RemotePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "MINIMUM_POSTGRES", (99, 0))
    with pytest.raises(ConfigurationError, match=r"is too old; upgrade the server to 99"):
        await migrate.migrate(remote.database("memory_owner"))


async def test_an_old_pgvector_is_named_with_what_is_needed(remote: RemotePool) -> None:
    await remote.admin(
        "UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'", "SELECT 1"
    )
    with pytest.raises(ConfigurationError, match=r"pgvector 0\.7\.4 is too old; install 0\.8"):
        await migrate.migrate(remote.database("memory_owner"))


async def test_a_missing_pgvector_is_named_with_what_is_needed(foreign: ForeignServer) -> None:
    """The owner of a database may not install it."""
    await foreign.admin("CREATE DATABASE bare OWNER memory_owner", "SELECT 1")
    owner = foreign.database("memory_owner", "bare")
    with pytest.raises(ConfigurationError, match="`CREATE EXTENSION vector` there as a superuser"):
        await migrate.migrate(owner)
    await foreign.drop("bare")


async def _asleep(remote: RemotePool, task: "asyncio.Task[object]") -> None:
    asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    async with asyncio.timeout(LIMIT_S):
        while not await remote.admin(asked):
            assert not task.done(), task.result()


async def test_a_migration_whose_session_is_killed_leaves_nothing_and_is_completed_later(
    remote: RemotePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F94: each step is one transaction; the lock goes with the session."""
    known, owner = migrate.steps(), remote.database("memory_owner")
    slow = Step(9998, "slow", "CREATE TABLE half (id int); SELECT pg_sleep(600);")
    monkeypatch.setattr(migrate, "steps", lambda: (*known, slow))
    task = asyncio.create_task(migrate.migrate(owner))
    await _asleep(remote, task)
    await remote.admin(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    )
    with pytest.raises(DatabaseUnavailable, match=r"ended the connection \(SQLSTATE 57P01\)"):
        await task
    assert await remote.admin(f"SELECT to_regclass('{SCHEMA}.half')") is None
    quick = Step(9998, "slow", "CREATE TABLE half (id int);")
    monkeypatch.setattr(migrate, "steps", lambda: (*known, quick))
    assert await migrate.migrate(owner) == (quick,)


async def test_a_migration_whose_process_is_killed_is_completed_by_the_next(
    foreign: ForeignServer, tmp_path: Path
) -> None:
    """F94: the server notices within seconds that nobody waits, and undoes the half step."""
    name = "killed"
    await foreign.create(name)
    gate = await asyncpg.connect(
        host=str(foreign.base), port=foreign.port, user="boss", database=name
    )
    await gate.execute(
        "CREATE FUNCTION wait_there() RETURNS event_trigger LANGUAGE plpgsql AS "
        "'BEGIN PERFORM pg_advisory_xact_lock(1); END'; "
        "CREATE EVENT TRIGGER gate ON ddl_command_end WHEN TAG IN ('CREATE INDEX') "
        "EXECUTE FUNCTION wait_there(); SELECT pg_advisory_lock(1)"
    )
    environ = {
        "HOME": str(tmp_path),
        "DATABASE_URL": foreign.url("memory_owner", name),
        "EMBEDDING_MODEL": "hashing",
        "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
    }
    command = (sys.executable, "-I", "-m", "agents_memory", "migrate")
    killed = await asyncio.create_subprocess_exec(
        *command, env=environ, cwd="/", stdout=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(LIMIT_S):
        while not await gate.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' "
            "AND datname = current_database()"
        ):
            assert killed.returncode is None
    killed.kill()
    await killed.wait()
    # Still shut: only the server itself can end the half step, and the next waits for that.
    second = await asyncio.create_subprocess_exec(
        *command, env=environ, cwd="/", stdout=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(LIMIT_S):
        while await gate.fetchval("SELECT to_regclass($1) IS NULL", f"{SCHEMA}.schema_migrations"):
            assert second.returncode is None
    assert await gate.fetchval(f"SELECT count(*) FROM {SCHEMA}.schema_migrations") == 0
    await gate.execute("DROP EVENT TRIGGER gate; SELECT pg_advisory_unlock_all()")
    assert await second.wait() == 0
    assert await gate.fetchval(f"SELECT max(version) FROM {SCHEMA}.schema_migrations") == (
        migrate.steps()[-1].version
    )
    await gate.close()
    await foreign.drop(name)


async def test_clocks_need_not_agree(remote: RemotePool) -> None:
    """A client years ahead, behind, or jumping: what it stores is found and worked on at once.

    When work is due, who leads and what was traced when is told by the server's clock alone; ids
    sort by the pool's sequence.
    """
    hot, cold = remote.database("memory_hot"), remote.database("memory_cold")
    hints, clock = Hints(hot), ManualClock(NOON)
    intake = Intake(hot, hints, clock)
    user_id = await hot.run(lambda c: users.ensure_user(c, "mara"))
    ids = []
    for years in (0, 20, -30, 0):
        clock.set(NOON + timedelta(days=365 * years))
        stored = await intake.store(draft(f"The heron slept, {years}."), user_id)
        assert isinstance(stored, Stored)
        assert not stored.duplicate
        ids.append(stored.id)
    assert ids == sorted(ids)
    epoch = await begin_term(cold)
    async with cold.transaction() as connection:
        claims = await work.claim_work(connection, "screen", 10, epoch)
    assert {claim.item_id for claim in claims} == set(ids)
    await hints.close()
    await hot.close()
    await cold.close()
