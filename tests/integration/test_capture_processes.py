"""Capture as a process: it follows, survives, and ends when it should."""

import asyncio
import json
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agents_memory.clock import SystemClock
from agents_memory.storage import captures
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.embedded.server import Cluster
from tests.conftest import Pool
from tests.fixtures.transcripts.stores import STORES
from tests.fixtures.transcripts.talk import BEGUN, Turn, ms
from tests.fixtures.transcripts.whole_stores import add, hermes_row
from tests.integration.capturers import Capturer, Machine, stored, until


@pytest.fixture
def machine(tmp_path: Path, pool: Pool) -> Machine:
    return Machine(tmp_path, pool.url("memory_hot"))


async def test_it_follows_from_now_on_covers_the_session_and_leaves_on_sigterm(
    machine: Machine, hot_database: Database
) -> None:
    """F74, F77."""
    machine.say("Said before.")
    async with machine.capturer() as capturer:
        await capturer.said("capture_begun")
        machine.say("Said now.", "And this.")
        await stored(hot_database, "Said now.", "And this.")

        async def covered(connection: Connection) -> bool:
            return await captures.covered(
                connection,
                device="laptop",
                client="claude-code",
                session="s1",
                now=SystemClock().now(),
            )

        await until(hot_database, covered, "the session covered")
        assert await capturer.ended(signal.SIGTERM) == 0
    async with hot_database.acquire() as connection:
        row = await connection.fetchrow("SELECT * FROM messages LIMIT 1")
    assert row is not None
    labels = {name: row[name] for name in ("platform", "device", "session", "role", "trust")}
    assert labels == {
        "platform": "claude-code",
        "device": "laptop",
        "session": "5f0c1a52-0d0e-4a57-9a86-6a7f0e0c1b11",
        "role": "user",
        "trust": "owner",
    }
    assert row["origin"] == "captured"


async def test_a_killed_one_goes_on_where_it_was_and_stores_nothing_twice(
    machine: Machine, hot_database: Database
) -> None:
    """A25, F75: kill -9 in the middle, more said while nobody listens."""
    async with machine.capturer() as capturer:
        await capturer.said("capture_begun")
        machine.say("One.", "Two.")
        await stored(hot_database, "One.", "Two.")
        assert await capturer.ended(signal.SIGKILL) == -signal.SIGKILL
    machine.say("Three.")
    async with machine.capturer() as capturer:
        machine.say("Four.")
        await stored(hot_database, "One.", "Two.", "Three.", "Four.")
        assert await capturer.ended(signal.SIGINT) == 0


async def test_a_second_one_says_so_and_leaves_with_0(machine: Machine) -> None:
    async with machine.capturer() as first:
        await first.said("capture_begun")
        async with machine.capturer() as second:
            stopped = await second.said("stopped")
            assert f"process {first.process.pid} captures" in stopped["reason"]
            assert await second.ended() == 0
        assert first.process.returncode is None


async def test_what_is_said_while_the_database_is_away_is_stored_when_it_is_back(
    machine: Machine, pool: Pool, cluster: Cluster, hot_database: Database
) -> None:
    """A25, F103: gone in the middle, back later; the words wait on the disk."""
    beside = {
        role: Database(cluster.dsn(role), schema="public", application="test-beside")
        for role in ("memory_owner", "memory_hot")
    }

    async def run(role: str, statement: str) -> None:
        async with beside[role].acquire() as connection:
            await connection.execute(statement)

    async with machine.capturer() as capturer:
        await capturer.said("database_ready")
        machine.say("In the light.")
        await stored(hot_database, "In the light.")
        await hot_database.close()
        await run("memory_owner", f'ALTER DATABASE "{pool.name}" ALLOW_CONNECTIONS false')
        await run(
            "memory_hot",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{pool.name}' AND usename = 'memory_hot'",
        )
        machine.say("Into the dark.")
        await capturer.said("spool_begun")
        machine.say("Still dark.")
        await run("memory_owner", f'ALTER DATABASE "{pool.name}" ALLOW_CONNECTIONS true')
        await stored(hot_database, "In the light.", "Into the dark.", "Still dark.")
        assert await capturer.ended(signal.SIGTERM) == 0
    for database in beside.values():
        await database.close()


async def test_one_that_is_kept_has_nothing_to_do_where_nothing_is_switched_on(
    machine: Machine,
) -> None:
    async with machine.capturer("ingest.kept", CAPTURE_CLIENTS="") as capturer:
        assert await capturer.ended() == 0
    async with machine.capturer(CAPTURE_CLIENTS="") as capturer:
        assert await capturer.ended() == 2


async def test_what_was_said_while_it_was_switched_off_stays_unread(
    machine: Machine, hot_database: Database
) -> None:
    """F74: on, off and on again begins anew."""
    async with machine.capturer() as capturer:
        await capturer.said("capture_begun")
        assert await capturer.ended(signal.SIGTERM) == 0
    machine.say("While off.")
    async with machine.capturer("ingest.kept", CAPTURE_CLIENTS="") as capturer:
        assert await capturer.ended() == 0
    async with machine.capturer() as capturer:
        await capturer.said("capture_begun")
        machine.say("On again.")
        await stored(hot_database, "On again.")


async def test_lost_positions_are_said_and_nothing_old_is_taken_in(
    machine: Machine, hot_database: Database
) -> None:
    async with machine.capturer() as capturer:
        await capturer.said("capture_begun")
        assert await capturer.ended(signal.SIGTERM) == 0
    [state] = machine.home.glob(".local/share/mcp-agents-memory/capture-*.json")
    assert state.stat().st_mode & 0o777 == 0o600
    state.write_text("{")
    machine.say("While the positions were lost.")
    async with machine.capturer() as capturer:
        failed = await capturer.said("capture_failed")
        assert "backfill" in failed["note"]
        await capturer.said("capture_begun")
        machine.say("After.")
        await stored(hot_database, "After.")


async def test_one_that_is_kept_ends_with_its_parent(machine: Machine) -> None:
    parent = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-I', '-m', 'ingest.kept'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", parent),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=machine.home,
        env=machine.environ,
    )
    capturer = Capturer(process)
    await capturer.said("database_ready")
    process.kill()
    stopped = await capturer.said("stopped")
    assert "parent" in stopped["reason"]
    await process.communicate()


async def test_it_follows_a_database_and_an_editors_second_folder(
    machine: Machine, hot_database: Database
) -> None:
    """F74: clients of several kinds at once, each from now on."""
    STORES["hermes"].write(machine.home / ".hermes")
    clients = "hermes,cline"
    async with machine.capturer(CAPTURE_CLIENTS=clients) as capturer:
        for _ in range(3):
            await capturer.said("capture_begun")
        now = int(SystemClock().now().timestamp() - BEGUN.timestamp()) + 1
        with closing(sqlite3.connect(machine.home / ".hermes" / "state.db")) as database:
            add(database, [hermes_row("20261120_080000_aa", Turn("user", "Said now.", now))])
        await stored(hot_database, "Said now.")
        folder = machine.home / ".cline" / "data" / "tasks" / "1"
        folder.mkdir(parents=True)
        row = {"ts": ms(now), "type": "say", "say": "task", "text": "And in Cline."}
        (folder / "ui_messages.json").write_text(json.dumps([row]))
        await stored(hot_database, "Said now.", "And in Cline.")
        assert await capturer.ended(signal.SIGTERM) == 0
