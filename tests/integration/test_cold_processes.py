"""The daemon as a process: signals, kills, take-overs."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents_memory.storage import leadership
from agents_memory.storage.connections import Connection, Database
from cold.app import UNUSABLE
from tests.conftest import Pool
from tests.factories import Services
from tests.integration.cold_daemons import daemon, environment, query, until, value

TURNS = [f"The heron number {number} stood in the shallow water." for number in range(8)]
NO_WORK = "SELECT count(*) = 0 FROM work"


@asynccontextmanager
async def _nobody_can_settle(owner: Database) -> AsyncIterator[Connection]:
    """Every settle gets stuck in its middle, after its first write and before its last."""
    async with owner.transaction() as connection:
        await connection.execute("LOCK TABLE message_results IN EXCLUSIVE MODE")
        yield connection


async def _stuck(database: Database) -> int:
    """The server process of a settle that is stuck."""
    pid: int = await until(
        database,
        lambda c: c.fetchval(
            "SELECT min(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            "AND query LIKE '-- record_result%' AND datname = current_database()"
        ),
        "a settle is stuck",
    )
    return pid


async def _gone(database: Database, pid: int) -> None:
    await until(
        database,
        lambda c: c.fetchval("SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $1", pid),
        "the session is gone",
    )


async def _whole(database: Database) -> list[dict[str, Any]]:
    """Every message with what is settled and what is waited for; nothing lies between."""
    rows = await query(
        database,
        "SELECT m.id, s.screening, "
        "array(SELECT stage FROM message_results r WHERE r.message_id = m.id) AS done, "
        "array(SELECT stage FROM work w WHERE w.item_id = m.id) AS waiting "
        "FROM messages m JOIN message_state s ON s.message_id = m.id ORDER BY m.id",
    )
    for row in rows:
        stages = sorted(
            [*row["done"], *row["waiting"]], key=("screen", "embed", "tag", "context").index
        )
        assert stages == ["screen", "embed", "tag", "context"][: len(stages)], row
        assert len(row["waiting"]) <= 1, row
        assert (row["screening"] == "clear") == ("screen" in row["done"]), row
        assert row["waiting"] or row["done"] == ["screen", "embed", "tag", "context"], row
    return rows


async def test_a_drain_ends_with_an_empty_queue_and_says_nothing_on_stdout(
    use: Services, pool: Pool, cold_database: Database, tmp_path: Path
) -> None:
    """F71, H1: one command works through what is there, and leaves."""
    for text in TURNS:
        await use.say(text)
    async with daemon(pool, tmp_path, "--drain") as started:
        assert await started.ended() == 0
        assert await started.printed() == b""
    assert await value(cold_database, NO_WORK)
    await _whole(cold_database)
    leader = await cold_database.run(leadership.find_leader)
    assert (leader.epoch, leader.holder) == (1, None)
    logged = repr(started.lines)
    assert "heron" not in logged
    assert "raw" not in {key for line in started.lines for key in line}


async def test_whoever_may_not_wait_leaves_while_another_leads(
    use: Services, pool: Pool, cold_database: Database, tmp_path: Path
) -> None:
    """F72: `--exit-if-held` ends with 0."""
    async with daemon(pool, tmp_path) as first:
        await first.said("leader_elected")
        async with daemon(pool, tmp_path, "--exit-if-held") as second:
            assert await second.ended() == 0
            assert "another daemon leads the pool" in repr(second.lines)
        first.process.terminate()
        assert await first.ended() == 0
    assert await value(cold_database, "SELECT epoch FROM leader") == 1


async def test_a_standby_takes_over_from_a_killed_daemon_and_ends_its_work(
    use: Services,
    pool: Pool,
    cold_database: Database,
    owner_database: Database,
    tmp_path: Path,
) -> None:
    """F72, F105, A11, E10: kill -9 in the middle of a write undoes it, and nothing is lost."""
    async with daemon(pool, tmp_path) as first:
        await first.said("leader_elected")
        async with daemon(pool, tmp_path) as second:
            await second.said("leader_waiting")
            async with _nobody_can_settle(owner_database):
                for text in TURNS:
                    await use.say(text)
                session = await _stuck(cold_database)
                first.process.kill()
                await _gone(cold_database, session)
                assert (await second.said("leader_elected"))["epoch"] == 2
                rows = await _whole(cold_database)
                assert all(row["screening"] == "unscreened" for row in rows)
                assert len(rows) == len(TURNS)
            await until(cold_database, lambda c: c.fetchval(NO_WORK), "the second did it all")
            second.process.terminate()
            assert await second.ended() == 0
    await _whole(cold_database)


async def test_a_kill_in_the_middle_of_embedding_leaves_no_half_of_it(
    use: Services,
    pool: Pool,
    cold_database: Database,
    owner_database: Database,
    tmp_path: Path,
) -> None:
    """A19: vectors, result, next stage and the row of work change together or not at all."""
    for text in TURNS:
        await use.say(text)
    await query(cold_database, "UPDATE message_state SET screening = 'clear'")
    await query(
        cold_database,
        "INSERT INTO message_results (message_id, stage, backend, version) "
        "SELECT id, 'screen', 'rules', 1 FROM messages",
    )
    await query(cold_database, "UPDATE work SET stage = 'embed'")
    model = await value(cold_database, "SELECT id FROM embedding_models WHERE active")
    async with _nobody_can_settle(owner_database):
        async with daemon(pool, tmp_path) as killed:
            session = await _stuck(cold_database)
            killed.process.kill()
            await _gone(cold_database, session)
        assert await value(cold_database, f"SELECT count(*) FROM message_vectors_{model}") == 0
        claimed = "SELECT DISTINCT attempts, claimed_epoch IS NOT NULL AS claimed FROM work"
        assert {"attempts": 0, "claimed": True} in await query(cold_database, claimed)
    async with daemon(pool, tmp_path, "--drain") as second:
        assert await second.ended() == 0
    assert all(row["done"] for row in await _whole(cold_database))
    embedded = f"SELECT count(DISTINCT message_id) FROM message_vectors_{model}"
    assert await value(cold_database, embedded) == len(TURNS)


async def test_sigterm_in_the_middle_of_a_batch_finishes_one_and_hands_the_rest_back(
    use: Services,
    pool: Pool,
    cold_database: Database,
    owner_database: Database,
    tmp_path: Path,
) -> None:
    """E9: the write under way is ended, no row is lost, no attempt is counted."""
    async with daemon(pool, tmp_path) as started:
        await started.said("leader_elected")
        async with _nobody_can_settle(owner_database):
            for text in TURNS:
                await use.say(text)
            await _stuck(cold_database)
            claimed = await value(
                cold_database, "SELECT count(*) FROM work WHERE claimed_epoch IS NOT NULL"
            )
            started.process.terminate()
            await started.said("stopping")
        assert await started.ended() == 0
    rows = await _whole(cold_database)
    assert len(rows) == len(TURNS)
    # One write, of as many as there were when the daemon took its first.
    waiting = [["embed"]] * claimed + [["screen"]] * (len(TURNS) - claimed)
    assert [row["waiting"] for row in rows] == waiting
    assert claimed >= 1
    work = await query(cold_database, "SELECT DISTINCT attempts, claimed_epoch FROM work")
    assert work == [{"attempts": 0, "claimed_epoch": None}]
    assert (await cold_database.run(leadership.find_leader)).holder is None


async def test_a_second_signal_ends_the_process_at_once(
    use: Services,
    pool: Pool,
    cold_database: Database,
    owner_database: Database,
    tmp_path: Path,
) -> None:
    async with daemon(pool, tmp_path) as started:
        await started.said("leader_elected")
        async with _nobody_can_settle(owner_database):
            await use.say(TURNS[0])
            session = await _stuck(cold_database)
            started.process.terminate()
            await started.said("stopping")
            started.process.terminate()
            assert await started.ended() == 128 + signal.SIGTERM
            await _gone(cold_database, session)
    await _whole(cold_database)


async def test_a_standby_ends_when_it_is_told_to(
    pool: Pool, cold_database: Database, tmp_path: Path
) -> None:
    """E9: waiting for the lead is no reason to hang."""
    async with daemon(pool, tmp_path) as first:
        await first.said("leader_elected")
        async with daemon(pool, tmp_path) as second:
            await second.said("leader_waiting")
            second.process.send_signal(signal.SIGINT)
            assert await second.ended() == 0
    assert await value(cold_database, "SELECT epoch FROM leader") == 1


async def test_a_daemon_that_is_switched_off_leaves_at_once(pool: Pool, tmp_path: Path) -> None:
    async with daemon(pool, tmp_path, COLD_PATH_ENABLED="false") as started:
        assert await started.ended() == 0
        assert "COLD_PATH_ENABLED" in repr(started.lines)


async def test_a_pool_that_was_never_migrated_is_an_error(pool: Pool, tmp_path: Path) -> None:
    """E18, D11: a daemon that cannot work does not look as if it could."""
    async with daemon(pool, tmp_path, DB_SCHEMA="nowhere") as started:
        assert await started.ended() == UNUSABLE
    assert "mcp-agents-memory migrate" in repr(started.lines)


async def test_a_wrong_setting_is_named(pool: Pool, tmp_path: Path) -> None:
    async with daemon(pool, tmp_path, EMBEDDING_MODEL="nonesuch") as started:
        assert await started.ended() == 2
    assert "nonesuch" in repr(started.lines)


async def test_a_kept_daemon_ends_with_the_process_that_started_it(
    pool: Pool, cold_database: Database, tmp_path: Path
) -> None:
    """F4: children die with their parent, also where the kernel has no leash for them."""
    starter = (
        "import subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-I', '-m', 'cold.kept']); "
        "print(child.pid, flush=True); sys.stdin.read()"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", starter,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(pool, tmp_path),
    )  # fmt: skip
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    try:
        await until(
            cold_database, lambda c: c.fetchval("SELECT holder FROM leader"), "the daemon leads"
        )
        parent.kill()
        await parent.wait()
        await until(
            cold_database,
            lambda c: c.fetchval("SELECT holder IS NULL FROM leader"),
            "it noticed, and resigned",
        )
        assert await value(cold_database, "SELECT epoch FROM leader") == 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
