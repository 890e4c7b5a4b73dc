"""A server lives as long as its client, and no longer."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from agents_memory.services.brief import how_to_use
from tests.acceptance.mcp_process import SERVER, HotProcess, settings_of
from tests.conftest import Pool


def test_it_ends_when_stdin_closes_before_a_word_was_said(pool: Pool, tmp_path: Path) -> None:
    """E9."""
    with HotProcess(settings_of(pool, tmp_path), tmp_path) as server:
        assert server.hang_up() == (0, b"")


def test_it_ends_when_stdin_closes_in_the_middle_of_everything(pool: Pool, tmp_path: Path) -> None:
    """E9, E15: with a subscription open, a search running and a line half written."""
    with HotProcess(settings_of(pool, tmp_path), tmp_path) as server:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        server.request("server/discover", _meta=meta)
        server.send(
            id="listening",
            method="subscriptions/listen",
            params={"_meta": meta, "notifications": {}},
        )
        search = {"name": "search_memory", "arguments": {}, "_meta": meta}
        server.send(id="search", method="tools/call", params=search)
        server.send_raw(b'{"jsonrpc":"2.0","id":"half"')
        code, _ = server.hang_up()
        assert code == 0


def test_what_was_handed_over_before_the_end_is_stored(pool: Pool, tmp_path: Path) -> None:
    """A29: an editor that quits right after its last save loses nothing."""
    environment = settings_of(pool, tmp_path)
    with HotProcess(environment, tmp_path) as server:
        server.shake_hands()
        save = {"name": "save_message", "arguments": {"role": "user", "message": "Last words"}}
        server.send(id="last", method="tools/call", params=save)
        code, rest = server.hang_up()
        assert code == 0
        assert b'"id":"last"' in rest
    with HotProcess(environment, tmp_path) as server:
        server.shake_hands()
        assert server.call("search_memory")["results"][0]["text"] == "Last words"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_cleanly_though_stdin_is_open(
    pool: Pool, tmp_path: Path, number: signal.Signals
) -> None:
    with HotProcess(settings_of(pool, tmp_path), tmp_path) as server:
        server.shake_hands()
        assert server.call("search_memory", query="x")["ok"] is True
        assert server.stop(number) == (0, b"")
        assert "Traceback" not in server.said()


def test_it_ends_when_its_parent_vanishes(pool: Pool, tmp_path: Path) -> None:
    """E9, F4: although somebody else still holds the pipe open."""
    stdin, to_server = os.pipe()
    from_server, stdout = os.pipe()
    starter = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen({list(SERVER)!r}, stdin=0, stdout=1)\n"
        "child.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", starter],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env=settings_of(pool, tmp_path),
        cwd=tmp_path,
    ) as parent:
        os.close(stdin)
        os.close(stdout)
        with os.fdopen(from_server, "rb") as answers:
            os.write(to_server, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            assert b'"id":1' in answers.readline()
            parent.kill()
            # Only the server held the other end by now.
            assert answers.read() == b""
    os.close(to_server)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"SHORT_TERM_DAYS": "many"}, "SHORT_TERM_DAYS"),
        ({"SHORT_TERM_DAZE": "3"}, "SHORT_TERM_DAYS"),
        ({"EMBEDDING_MODEL": "gpt-9"}, "gpt-9"),
        ({"AGENTS_MEMORY_TOOLSETS": "core,episodes"}, "AGENTS_MEMORY_TOOLSETS"),
    ],
)
def test_a_wrong_setting_is_said_before_anything_is_served(
    pool: Pool, tmp_path: Path, changes: dict[str, str], named: str
) -> None:
    with HotProcess(settings_of(pool, tmp_path) | changes, tmp_path) as server:
        assert server.end() == (2, b"")
        assert named in server.said()
        assert "Traceback" not in server.said()


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_pipes_it_says_what_it_is_for(pool: Pool, tmp_path: Path, closed: str) -> None:
    command = ("sh", "-c", f'exec "{sys.executable}" -I -m hot {closed}')
    with HotProcess(settings_of(pool, tmp_path), tmp_path, command) as server:
        assert server.end() == (2, b"")
        assert "an editor or agent starts it" in server.said()
        assert "Traceback" not in server.said()


def test_a_database_that_is_away_costs_the_answers_and_not_the_server(
    pool: Pool, tmp_path: Path
) -> None:
    """D11, F61, F103: refusals and a spool without it; everything once it is back."""
    url = pool.url("memory_hot")
    host = url.partition("host=")[2].partition("&")[0]
    # Short, since the path of a socket has room for a hundred bytes.
    elsewhere = Path(f"/tmp/agents-memory-test-{os.getpid()}")
    away = url.replace(host, quote(str(elsewhere), safe=""))
    environment = settings_of(pool, tmp_path) | {"DATABASE_URL": away}
    with HotProcess(environment, tmp_path) as server:
        assert server.shake_hands()["instructions"] == how_to_use()
        assert len(server.request("tools/list")["tools"]) == 5
        queued = server.call("save_message", role="user", message="Hi")
        assert (queued["ok"], queued["stored"], queued["queued"]) == (True, False, True)
        refused = server.call("search_memory")
        assert refused["error"]["code"] == "DATABASE_UNAVAILABLE"
        elsewhere.symlink_to(unquote(host))
        try:
            while not (found := server.call("search_memory")).get("count"):
                assert found.get("error", {}).get("code") in (None, "DATABASE_UNAVAILABLE")
            assert [item["text"] for item in found["results"]] == ["Hi"]
        finally:
            elsewhere.unlink()
        assert server.hang_up() == (0, b"")
