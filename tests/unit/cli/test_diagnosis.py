"""The doctor (F17): what fails is named with one fix, what depends on it is not guessed."""

import socket
import ssl
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.embedding.opening import open_embedder
from agents_memory.services.diagnosis import Diagnosis, daemon
from agents_memory.services.diagnosis.check import Check, Outcome, passed
from agents_memory.services.reachability import explain
from agents_memory.settings import Settings
from agents_memory.storage.connections import Database
from agents_memory.storage.leadership import lock_key
from tests.conftest import Pool
from tests.factories import services

SECRET = "s3cret-word"
HASHING = {"EMBEDDING_MODEL": "hashing", "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true"}


async def examined(home: Path, **environ: str) -> dict[str, Check]:
    settings = Settings.load(HASHING | environ, home=home)
    embedder = open_embedder(settings.embedding_model, allow_hashing=True)
    told: list[Check] = []
    checks = await Diagnosis(settings, embedder).examine(told.append)
    await embedder.close()
    assert told == checks, "every check is told as it is made"
    for check in checks:
        assert (check.fix is not None) == (check.outcome is Outcome.FAILED)
        assert SECRET not in f"{check.detail}{check.fix}"
    return {check.name: check for check in checks}


async def test_a_sound_pool_passes_every_check_but_the_missing_daemon(
    pool: Pool, tmp_path: Path
) -> None:
    checks = await examined(tmp_path, DATABASE_URL=pool.url("memory_hot"))
    broken = [name for name, check in checks.items() if check.outcome is Outcome.FAILED]
    assert broken == ["leader"]
    assert "coldpath" in str(checks["leader"].fix)
    assert checks["grants"].detail == "the role memory_hot has what it needs"
    assert checks["queue"].detail == "empty"


async def test_the_daemon_that_holds_the_lock_is_found(
    pool: Pool, cold_database: Database, tmp_path: Path
) -> None:
    async with cold_database.transaction() as connection:
        await connection.execute("UPDATE leader SET holder = 'desk', pid = 7, epoch = 3")
    async with cold_database.acquire() as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", lock_key("agents_memory"))
        checks = await examined(tmp_path, DATABASE_URL=pool.url("memory_hot"))
        await connection.execute("SELECT pg_advisory_unlock_all()")
    assert checks["leader"] == passed("leader", "desk, process 7, term 3")


async def test_an_empty_database_is_one_failure_and_not_a_row_of_them(
    empty_pool: Pool, tmp_path: Path
) -> None:
    checks = await examined(tmp_path, DATABASE_URL=empty_pool.url("memory_hot"))
    broken = [name for name, check in checks.items() if check.outcome is Outcome.FAILED]
    assert broken == ["schema"]
    assert "migrate" in str(checks["schema"].fix)
    assert checks["queue"].detail == "not looked at: schema comes first"


async def test_a_pool_for_newer_programs_asks_for_an_upgrade_of_this_one(
    pool: Pool, owner_database: Database, tmp_path: Path
) -> None:
    async with owner_database.acquire() as connection:
        await connection.execute("UPDATE pool SET min_client = '99.0.0'")
    checks = await examined(tmp_path, DATABASE_URL=pool.url("memory_hot"))
    assert "99.0.0" in checks["schema"].detail
    assert str(checks["schema"].fix).startswith("upgrade the program on this machine")
    assert "git pull" in str(checks["schema"].fix)
    assert "migrate" not in str(checks["schema"].fix)


async def test_a_lacking_right_is_named(
    pool: Pool, owner_database: Database, tmp_path: Path
) -> None:
    """F94"""
    async with owner_database.acquire() as connection:
        await connection.execute("REVOKE INSERT ON messages FROM memory_hot")
    check = (await examined(tmp_path, DATABASE_URL=pool.url("memory_hot")))["grants"]
    assert check.outcome is Outcome.FAILED
    assert "memory_hot lacks INSERT on messages" in check.detail


async def test_an_owner_as_runtime_role_is_said(pool: Pool, tmp_path: Path) -> None:
    check = (await examined(tmp_path, DATABASE_URL=pool.url("memory_owner")))["grants"]
    assert check.outcome is Outcome.OK
    assert "it owns the pool" in check.detail


async def test_work_that_was_set_aside_fails_the_queue_with_its_reason(
    pool: Pool, hot_database: Database, owner_database: Database, tmp_path: Path
) -> None:
    """E12, E7: health shows what will never be done by itself."""
    use = await services(hot_database)
    stored = await use.say("the queue is a table")
    await use.close()
    async with owner_database.acquire() as connection:
        await connection.execute("UPDATE work SET parked_reason = 'EmbedderUnavailable'")
    check = (await examined(tmp_path, DATABASE_URL=pool.url("memory_hot")))["queue"]
    assert check.outcome is Outcome.FAILED
    assert f"{stored.id} (screen): EmbedderUnavailable" in check.detail
    assert f"message show {stored.id}" in str(check.fix)


async def test_old_work_that_nobody_moves_fails_although_a_daemon_leads(
    pool: Pool,
    hot_database: Database,
    owner_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """E12: a queue that never drains is not healthy."""
    monkeypatch.setattr(daemon, "WATCH_S", 0.02)
    monkeypatch.setattr(daemon, "GLANCE_S", 0.01)
    use = await services(hot_database)
    await use.say("the queue is a table")
    await use.close()
    async with owner_database.acquire() as connection:
        await connection.execute("UPDATE work SET queued_at = now() - interval '1 hour'")
        await connection.execute("SELECT pg_advisory_lock($1)", lock_key("agents_memory"))
        check = (await examined(tmp_path, DATABASE_URL=pool.url("memory_hot")))["queue"]
        await connection.execute("SELECT pg_advisory_unlock_all()")
    assert check.outcome is Outcome.FAILED
    assert "nothing moved" in check.detail


@pytest.mark.parametrize(
    ("change", "held", "words", "fix"),
    [
        ("UPDATE work SET run_after = now() - interval '1 hour'", False, "no daemon", "coldpath"),
        ("UPDATE work SET run_after = now() - interval '1 hour'", True, "been due", "log"),
        (
            "UPDATE work SET run_after = now() - interval '5 minutes', last_error = 'model gone'",
            True,
            "the daemon cannot work on screen: model gone",
            "embedder",
        ),
        (
            "UPDATE leader_beat SET epoch = (SELECT epoch FROM leader), beat_at = now(), "
            "next_by = now() - interval '1 minute'",
            True,
            "it last looked at the queue",
            "restart",
        ),
    ],
)
async def test_a_queue_that_stands_still_fails_with_its_cause(
    change: str,
    held: bool,
    words: str,
    fix: str,
    pool: Pool,
    hot_database: Database,
    owner_database: Database,
    tmp_path: Path,
) -> None:
    """E12, F89: dead embedder, no leader, stuck leader, a queue that grows."""
    use = await services(hot_database)
    await use.say("the queue is a table")
    await use.close()
    async with owner_database.acquire() as connection:
        await connection.execute(change)
        if held:
            await connection.execute("SELECT pg_advisory_lock($1)", lock_key("agents_memory"))
        check = (await examined(tmp_path, DATABASE_URL=pool.url("memory_hot")))["queue"]
        await connection.execute("SELECT pg_advisory_unlock_all()")
    assert check.outcome is Outcome.FAILED
    assert words in check.detail
    assert fix in str(check.fix)


async def test_what_was_held_back_is_told(
    pool: Pool, hot_database: Database, owner_database: Database, tmp_path: Path
) -> None:
    use = await services(hot_database)
    await use.say("the queue is a table")
    await use.close()
    async with owner_database.acquire() as connection:
        await connection.execute("UPDATE message_state SET screening = 'quarantined'")
    check = (await examined(tmp_path, DATABASE_URL=pool.url("memory_hot")))["quarantine"]
    assert check.outcome is Outcome.OK
    assert "1 messages held back, 1 not looked at" in check.detail


async def test_another_model_than_the_pools_is_named_with_the_setting(
    pool: Pool, owner_database: Database, tmp_path: Path
) -> None:
    async with owner_database.acquire() as connection:
        await connection.execute("UPDATE embedding_models SET profile = 'other:model'")
    check = (await examined(tmp_path, DATABASE_URL=pool.url("memory_hot")))["active_model"]
    assert check.outcome is Outcome.FAILED
    assert check.fix == "set EMBEDDING_MODEL=other:model"


async def test_a_memory_that_was_never_made_is_not_made(tmp_path: Path) -> None:
    """F101: a misspelt folder never becomes an empty memory by being looked at."""
    missing = tmp_path / "nowhere"
    checks = await examined(tmp_path, MEMORY_DATA_DIR=str(missing))
    assert checks["data_directory"].outcome is Outcome.FAILED
    assert "init" in str(checks["data_directory"].fix)
    assert checks["server"].outcome is Outcome.SKIPPED
    assert checks["embedding"].outcome is Outcome.OK
    assert not missing.exists()


async def test_a_folder_that_cannot_be_made_is_explained_wherever_the_database_is(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home on a mount that may only be read: nothing could wait there either."""
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)
    missing = str(tmp_path / "nowhere" / "at" / "all")
    for where in ({}, {"DATABASE_URL": pool.url("memory_hot")}):
        check = (await examined(tmp_path, MEMORY_DATA_DIR=missing, **where))["data_directory"]
        assert check.outcome is Outcome.FAILED
        assert check.detail == f"{missing} cannot be made, as {tmp_path} cannot be written to"
        assert "MEMORY_DATA_DIR" in str(check.fix)


async def test_a_server_that_is_away_is_explained(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    url = f"postgresql://me:{SECRET}@127.0.0.1:{port}/memory"
    check = (await examined(tmp_path, DATABASE_URL=url))["server"]
    assert check.outcome is Outcome.FAILED
    assert check.detail == f"127.0.0.1:{port}/memory: nothing listens there"
    assert "DATABASE_URL" in str(check.fix)


async def test_a_database_that_does_not_exist_is_explained(pool: Pool, tmp_path: Path) -> None:
    url = pool.url("memory_hot").replace(pool.name, f"missing_{uuid4().hex[:8]}")
    check = (await examined(tmp_path, DATABASE_URL=url))["server"]
    assert "has no such database" in check.detail


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (socket.gaierror(-2, "no name"), "the host name is unknown"),
        (ssl.SSLCertVerificationError(), "encrypted connection failed"),
        (TimeoutError(), "no answer"),
        (ConnectionResetError(), "hung up"),
        (FileNotFoundError(), "cannot be opened"),
        (asyncpg.InvalidPasswordError(SECRET), "refused the password"),
        (asyncpg.TooManyConnectionsError(SECRET), "no connection left"),
        (RuntimeError(SECRET), "the database is away"),
    ],
)
def test_every_way_to_be_away_has_its_own_words_and_fix(cause: Exception, words: str) -> None:
    fault = DatabaseUnavailable("the database is away")
    fault.__cause__ = cause
    detail, fix = explain(fault, where="db:5432/memory", setting="DATABASE_URL")
    assert words in detail
    assert fix
    assert SECRET not in detail + fix
