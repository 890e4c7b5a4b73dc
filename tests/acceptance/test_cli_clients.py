"""F118, F61: installed into a client, and what its session-start hook gets, by real processes."""

import json
import os
import select
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agents_memory.cli import client_changes
from tests.acceptance.command_line import COMMAND, WITHIN_S, CommandLine, on_pool
from tests.conftest import Pool

AWAY = {"DATABASE_URL": "postgresql://me:s3cret-word@127.0.0.1:1/memory"}
STARTED = b'{"hook_event_name": "SessionStart", "source": "startup", "session_id": "s"}'


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


def context_of(stdout: str) -> str:
    answer: dict[str, Any] = json.loads(stdout)
    assert set(answer) == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    return str(answer["hookSpecificOutput"]["additionalContext"])


def test_a_dry_run_shows_and_changes_nothing(tmp_path: Path) -> None:
    ended = CommandLine(tmp_path).run("install-client", "cursor", "--dry-run", "--with-brief")
    assert ended.code == 0, ended.stderr
    assert '+    "memory": {' in ended.stdout
    assert list(tmp_path.iterdir()) == []


def test_installing_and_leaving_give_the_client_its_file_back(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{\n  // mine\n  "mcpServers": {\n    "a": {"command": "b"}\n  }\n}\n')
    before = file.read_text()
    line = CommandLine(tmp_path)
    ended = line.run("install-client", "cursor", "--json")
    assert ended.json[0]["changed"] is True
    assert ended.json[0]["copies"]
    assert line.run("install-client", "cursor", "--json").json[0]["changed"] is False
    assert line.run("uninstall-client", "cursor").code == 0
    assert file.read_text() == before


def test_an_odd_file_of_one_client_stops_no_other(tmp_path: Path) -> None:
    odd = tmp_path / ".codex" / "config.toml"
    odd.parent.mkdir()
    odd.write_text("[[mcp_servers]]\nx = 1\n")
    line = CommandLine(tmp_path)
    ended = line.run("install-client", "codex", "cursor")
    assert ended.code == 1
    assert "mcp_servers is no table; make it one" in ended.stderr
    assert "To do it by hand:" in ended.stderr
    assert odd.read_text() == "[[mcp_servers]]\nx = 1\n"
    assert "memory" in json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]
    assert line.run("uninstall-client", "codex", "cursor").code == 0


def test_a_clients_own_command_is_run(tmp_path: Path) -> None:
    """A stand-in for Claude Code, which writes down how it was called."""
    programs = tmp_path / "bin"
    programs.mkdir()
    claude = programs / "claude"
    claude.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n')
    claude.chmod(stat.S_IRWXU)
    line = CommandLine(tmp_path, {"PATH": f"{programs}:{os.environ['PATH']}"})
    ended = line.run("install-client", "claude-code")
    assert ended.code == 0, ended.stderr
    called = (tmp_path / "called").read_text()
    assert called.startswith("mcp add --scope user memory -- /")
    assert called.endswith(" -I -m hot\n")
    # It did nothing, so the file was edited in its place.
    assert json.loads((tmp_path / ".claude.json").read_text())["mcpServers"]["memory"]


def test_a_clients_command_that_hangs_ends_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    claude = programs / "claude"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    claude.write_text(f"#!/bin/sh\nsleep 500 > {pipe} &\nwait\n")
    claude.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(client_changes, "OWN_COMMAND_WITHIN_S", 3.0)
    assert client_changes.run_own(["claude", "mcp", "list"]) is False
    # The pipe has an end once nobody holds it any more.
    assert select.select([reader], [], [], 30) == ([reader], [], [])
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_a_taken_name_is_refused_and_another_offered(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    foreign = '{"mcpServers":{"memory":{"command":"npx","env":{"MEMORY_FILE_PATH":"/x"}}}}'
    file.write_text(foreign)
    line = CommandLine(tmp_path)
    refused = line.run("install-client", "cursor")
    assert refused.code == 1
    assert "--name agents-memory" in refused.stderr
    assert "by hand" not in refused.stderr
    left = line.run("uninstall-client", "cursor")
    assert "it was left alone" in left.stdout
    assert file.read_text() == foreign
    assert line.run("install-client", "cursor", "--name", "agents-memory").code == 0
    assert sorted(json.loads(file.read_text())["mcpServers"]) == ["agents-memory", "memory"]
    assert line.run("uninstall-client", "cursor").code == 0
    assert file.read_text() == foreign
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("name", ["", "a b", "mémoire", "-x", "a.b", "x" * 33])
def test_a_name_that_no_client_takes_is_a_usage_error(name: str, tmp_path: Path) -> None:
    assert CommandLine(tmp_path).run("install-client", "cursor", f"--name={name}").code == 2


@pytest.mark.parametrize("words", [("emacs",), ("claude-desktop", "--scope", "project"), ()])
def test_what_there_is_not_is_a_usage_error(words: tuple[str, ...], tmp_path: Path) -> None:
    ended = CommandLine(tmp_path).run("install-client", *words)
    assert ended.code == 2
    assert "error:" in ended.stderr


def test_a_file_we_cannot_read_is_left_and_the_snippet_shown(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{ broken")
    ended = CommandLine(tmp_path).run("install-client", "cursor")
    assert ended.code == 1
    assert "line 1" in ended.stderr
    assert '"mcpServers"' in ended.stderr
    assert file.read_text() == "{ broken"


@pytest.mark.parametrize(
    ("client", "place", "key", "others"),
    [
        ("vscode", ".config/Code/User/mcp.json", '"servers"', ("mcpServers", "claude mcp")),
        ("opencode", ".config/opencode/opencode.json", '"type": "local"', ("mcpServers",)),
        ("codex", ".codex/config.toml", "[mcp_servers.memory]", ("mcpServers", "claude mcp")),
    ],
)
def test_what_is_to_be_done_by_hand_fits_the_client(
    client: str, place: str, key: str, others: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_text("{ broken")
    ended = CommandLine(tmp_path).run("install-client", client)
    assert ended.code == 1
    assert f"in {file}:" in ended.stderr
    assert key in ended.stderr
    assert not [word for word in others if word in ended.stderr]


def test_a_hook_gets_the_brief_in_the_one_form(line: CommandLine) -> None:
    ended = line.run("brief", "--hook", "--client", "codex", stdin=STARTED)
    assert ended.code == 0
    brief = context_of(ended.stdout)
    assert brief == line.run("brief", "--client", "codex").stdout.rstrip("\n")
    assert "kind=brief" in brief
    assert len(brief) <= 9_500


@pytest.mark.parametrize("payload", [b"", b"\xff\x00", b"[" * 5000, STARTED * 20_000])
def test_whatever_a_hook_is_told_it_answers(payload: bytes, line: CommandLine) -> None:
    ended = line.run("brief", "--hook", stdin=payload)
    assert ended.code == 0
    assert "recalled" in context_of(ended.stdout)


def test_in_any_trouble_a_hook_answers_and_succeeds(tmp_path: Path) -> None:
    """A database that is away, settings that are wrong: the session starts all the same."""
    for settings in (AWAY, {"DATABASE_URL": "nonsense"}, {"MEMORY_CONFIG_PATH": "/none"}, {}):
        ended = CommandLine(tmp_path, settings).run("brief", "--hook", stdin=STARTED)
        assert ended.code == 0
        assert "memory_startup" in context_of(ended.stdout)
        assert "s3cret-word" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--max-chars", "50"),
        ("--max-chars", "-5"),
        ("--max-chars", "1000000"),
        ("--max-chars", "many"),
        ("--max-chars", "9" * 5000),
        ("--max-chars",),
        ("--client",),
        ("--later", "option", "and", "words"),
        ("--hook=yes",),
        ("-h",),
        ("--help",),
    ],
)
def test_a_hook_with_a_wrong_option_answers_all_the_same(
    words: tuple[str, ...], line: CommandLine
) -> None:
    ended = line.run("brief", "--hook", *words, stdin=STARTED)
    assert ended.code == 0
    assert "kind=brief" in context_of(ended.stdout)


@pytest.mark.parametrize("closing", ["0<&-", "2>&-", "0<&- 2>&-"])
def test_a_hook_brings_the_brief_whatever_else_its_client_closed(
    closing: str, line: CommandLine
) -> None:
    ended = in_shell(line, closing)
    assert ended.returncode == 0
    assert "kind=brief" in context_of(ended.stdout.decode())


@pytest.mark.parametrize("closing", [">&-", "0<&- 1>&- 2>&-", ">/dev/full"])
def test_a_hook_that_can_print_nowhere_ends_quietly(closing: str, line: CommandLine) -> None:
    ended = in_shell(line, closing)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@pytest.mark.parametrize("told", [b"", STARTED, b'{"half": '])
def test_a_client_that_keeps_its_end_open_gets_the_brief(told: bytes, line: CommandLine) -> None:
    given, kept = os.pipe()
    try:
        os.write(kept, told)
        ended = in_shell(line, "", stdin=given)
    finally:
        os.close(given)
        os.close(kept)
    assert ended.returncode == 0
    assert "kind=brief" in context_of(ended.stdout.decode())


def in_shell(
    line: CommandLine, closing: str, stdin: int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[bytes]:
    """The hook, where a shell closes some of what it is given."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {closing}', "sh", *COMMAND, "brief", "--hook"],
        stdin=stdin,
        capture_output=True,
        env=line.environment,
        cwd=line.home,
        timeout=WITHIN_S,
        check=False,
    )


def test_a_brief_for_a_person_names_a_wrong_option(line: CommandLine) -> None:
    assert line.run("brief", "--later").code == 2
    assert line.run("brief", "--max-chars", "many").code == 2
    assert len(line.run("brief", "--max-chars", "1").stdout) <= 501


def test_a_session_that_a_hook_started_gets_nothing(line: CommandLine) -> None:
    """Hook recursion: a session started by our own work must not start more of it."""
    within = CommandLine(line.home, {**line.settings, "_MCP_AGENTS_MEMORY_HOOK": "1"})
    ended = within.run("brief", "--hook", stdin=STARTED)
    assert ended.code == 0
    assert json.loads(ended.stdout) == {}


def test_the_doctor_starts_what_a_client_would_start(line: CommandLine) -> None:
    line.run("install-client", "claude-code", "--with-brief")
    file = line.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    moved = {"command": "/no/such/python", "args": ["-I", "-m", "hot"]}
    foreign = {"command": "/no/such/server", "args": []}
    file.write_text(json.dumps({"mcpServers": {"memory": foreign, "mine": moved}}))
    # A client passes on nothing of the shell, so the settings have to be in a file.
    settings = line.home / "memory.env"
    settings.write_text("".join(f'{name}="{value}"\n' for name, value in line.settings.items()))
    settings.chmod(0o600)
    configured = CommandLine(line.home, {"MEMORY_CONFIG_PATH": str(settings)})
    configured.run("install-client", "claude-code", "--with-brief")
    ended = configured.run("doctor", "--clients", "--json")
    checks = {check["name"]: check for check in ended.json["checks"]}
    assert checks["claude-code:user"]["outcome"] == "ok", checks["claude-code:user"]
    assert checks["claude-code:user brief"]["outcome"] == "ok"
    # Another's server is not started.
    assert "cursor:user" not in checks
    assert checks["cursor:user:mine"]["outcome"] == "failed"
    assert "install-client cursor --scope user --name mine" in checks["cursor:user:mine"]["fix"]
