"""Everything in the foreground: brought in, worked through, asked over MCP, and ended."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from tests.acceptance.command_line import WITHIN_S, CommandLine, on_pool
from tests.conftest import Pool

SESSION = [
    {"format": "agents-memory/conversation", "version": 1, "session": "s", "platform": "codex"},
    {"id": "1", "role": "user", "text": "Where does the queue for order events live?"},
    {"id": "2", "role": "assistant", "text": "In a Postgres table called order_events."},
]


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


@pytest.fixture
def conversation(tmp_path: Path) -> str:
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in SESSION))
    return str(file)


@contextmanager
def started(line: CommandLine, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = line.start("up", *arguments)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def read_until(process: "subprocess.Popen[bytes]", words: str) -> str:
    """What came on stdout, up to the line with the words."""
    assert process.stdout is not None
    said = []
    for raw in process.stdout:
        said.append(raw.decode())
        if words in said[-1]:
            return "".join(said)
    raise AssertionError(f"{words!r} never came: {''.join(said)}")


def daemon_of(said: str) -> int:
    [announced] = [text for text in said.splitlines() if text.startswith("daemon ")]
    return int(announced.split("process ")[1].split(",")[0])


def wait_for_end(handle: int) -> None:
    """Wait for a process that is not our child."""
    import select

    assert select.select([handle], [], [], WITHIN_S)[0], "the process did not end"
    os.close(handle)


async def leader(pool: Pool) -> bool:
    connection = await asyncpg.connect(pool.url("memory_owner"))
    try:
        value = await connection.fetchval("SELECT holder FROM agents_memory.leader")
        return value is not None
    finally:
        await connection.close()


async def test_once_proves_the_whole_way_and_leaves_nothing_behind(
    line: CommandLine, pool: Pool, conversation: str
) -> None:
    """F3, F71: brought in, worked through by the daemon, found over MCP by a real client."""
    question = "queue for order events"
    ended = line.run("up", "--conversations", conversation, "--ask", question, "--once")
    assert ended.code == 0, ended.stdout + ended.stderr
    assert "2 messages stored" in ended.stdout
    assert "0 waiting" in ended.stdout
    assert "search_memory" in ended.stdout
    assert "In a Postgres table called order_events." in ended.stdout
    assert "trust agent" in ended.stdout
    assert not await leader(pool), "the daemon resigned"
    daemon = daemon_of(ended.stdout)
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_own_transcripts_are_brought_in_and_only_read(line: CommandLine) -> None:
    """F74, F87: what the agents of this account kept, when it is asked for."""
    kept = line.home / ".claude" / "projects" / "-home-mara-harbor"
    kept.mkdir(parents=True)
    said = {
        "type": "user", "uuid": "5a5f6c1e-0000-4000-8000-000000000001", "parentUuid": None,
        "sessionId": "5a5f6c1e-0000-4000-8000-00000000000a", "isSidechain": False,
        "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/home/mara/harbor", "version": "2.0.0",
        "userType": "external",
        "message": {"role": "user", "content": "The heron nests by the weir."},
    }  # fmt: skip
    transcript = kept / "5a5f6c1e-0000-4000-8000-00000000000a.jsonl"
    transcript.write_text(json.dumps(said) + "\n")
    before = transcript.stat()
    done = line.run("up", "--own-transcripts", "--ask", "Where does the heron nest?", "--once")
    assert done.code == 0, done.stderr
    assert "The heron nests by the weir." in done.stdout
    now = transcript.stat()
    assert (now.st_mtime_ns, now.st_size) == (before.st_mtime_ns, before.st_size)


def test_no_transcripts_of_ones_own_is_said(line: CommandLine) -> None:
    done = line.run("up", "--own-transcripts", "--once")
    assert done.code == 1
    assert "no folder" in done.stderr


async def test_beside_a_running_daemon_it_says_which_of_the_two_works(
    line: CommandLine, pool: Pool
) -> None:
    """E13: one leads, ours stands by; it ends alone, and the other goes on."""
    daemon = line.start("coldpath")
    assert daemon.stderr is not None
    try:
        for raw in daemon.stderr:
            if b"leader_elected" in raw:
                break
        ended = line.run("up", "--once")
        assert ended.code == 0, ended.stderr
        own = daemon_of(ended.stdout)
        assert own != daemon.pid
        assert f"stands by: {socket.gethostname()} (process {daemon.pid}," in ended.stdout
        assert f"ours stands by (process {own})" in ended.stdout
        assert daemon.poll() is None
        assert await leader(pool)
    finally:
        daemon.kill()
        daemon.communicate()


def test_alone_it_works_itself_and_names_one_process(line: CommandLine, conversation: str) -> None:
    ended = line.run("up", "--conversations", conversation, "--once")
    assert ended.code == 0, ended.stderr
    assert "stands by" not in ended.stdout
    assert f"(process {daemon_of(ended.stdout)}, term 1)" in ended.stdout


def test_a_question_without_an_answer_fails_the_proof(line: CommandLine) -> None:
    """D11: nothing found is said, and the exit code tells."""
    ended = line.run("up", "--ask", "zzzzzz", "--once")
    assert ended.code == 1
    assert "nothing was found for: zzzzzz" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_stays_until_it_is_told_and_takes_the_daemon_along(
    line: CommandLine, pool: Pool, number: signal.Signals
) -> None:
    """F4: children end with their parent."""
    with started(line) as process:
        said = read_until(process, "mcpServers")
        daemon = os.pidfd_open(daemon_of(said))
        process.send_signal(number)
        assert process.wait(WITHIN_S) == 0
        wait_for_end(daemon)
    assert not await leader(pool)


def test_killed_it_still_takes_the_daemon_along(line: CommandLine) -> None:
    """F4: also when nothing of ours can run any more."""
    with started(line) as process:
        daemon = os.pidfd_open(daemon_of(read_until(process, "daemon ")))
        process.kill()
        wait_for_end(daemon)


def test_a_daemon_that_is_killed_is_noticed_and_started_again(line: CommandLine) -> None:
    """A22: it does not go on as if all were well."""
    with started(line) as process:
        first = daemon_of(read_until(process, "mcpServers"))
        os.kill(first, signal.SIGKILL)
        second = daemon_of(read_until(process, "daemon "))
        assert second != first
        # Whoever ends it with a word of his own wants it ended.
        os.kill(second, signal.SIGTERM)
        assert process.wait(WITHIN_S) == 1
        assert process.stderr is not None
        said = process.stderr.read()
        assert b"the daemon ended with code -9" in said
        assert b"started again" in said


def test_a_daemon_that_is_switched_off_is_said(line: CommandLine) -> None:
    off = CommandLine(line.home, {**line.settings, "COLD_PATH_ENABLED": "false"})
    ended = off.run("up", "--once")
    assert ended.code == 1
    assert "COLD_PATH_ENABLED is false" in ended.stderr
