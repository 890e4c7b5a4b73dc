"""The units: they name what exists, explain their choices, and are accepted by systemd.

Where systemd is not installed, what can be read in the files is checked all the same.
"""

import asyncio
import os
import re
import shutil
import socket
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from agents_memory.cli import COMMANDS
from agents_memory.cli.running import PATIENCE_WITH_STOP_S
from agents_memory.settings import VARIABLES
from agents_memory.storage import connections
from cold import leadership
from cold.sdnotify import Notifier

ROOT = Path(__file__).parents[3] / "deploy" / "systemd"
UNITS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.rglob("*")
    if path.suffix in {".service", ".timer", ".conf"}
)
SERVICES = [name for name in UNITS if name.endswith(".service")]
OURS = [name for name in SERVICES if "tunnel" not in name]
DAEMONS = [name for name in SERVICES if "cold" in name]

# Tenths of systemd's measure of exposure, 0 (least) to 100. A user's manager cannot drop what it
# does not have, which counts as exposure; the tunnel can have no namespaces.
MOST_EXPOSED = {"system": 15, "user": 46, "tunnel": 75}
SECTIONS = {"service": {"Unit", "Service", "Install"}, "timer": {"Unit", "Timer", "Install"}}
PROGRAMS = {
    "system": "/opt/agents-memory/venv/bin/mcp-agents-memory",
    "user": "%h/.local/share/agents-memory-venv/bin/mcp-agents-memory",
}
# Keys that may be given more than once, and add up.
ADD_UP = {"EnvironmentFile", "SystemCallFilter", "Environment"}


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def mode_of(name: str) -> str:
    return name.partition("/")[0]


def given(name: str) -> list[tuple[str, str, str]]:
    """Section, key and value of every line that says something."""
    section, found = "", []
    for line in text_of(name).splitlines():
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line and not line.startswith("#"):
            key, equals, value = line.partition("=")
            assert equals, line
            assert section, line
            assert re.fullmatch(r"[A-Z][A-Za-z]+", key), line
            found.append((section, key, value))
    return found


def service(name: str) -> dict[str, str]:
    return {key: value for section, key, value in given(name) if section == "Service"}


def test_every_process_of_ours_has_its_unit() -> None:
    assert set(UNITS) == {
        "system/agents-memory-buzz-ingest.service",
        "system/agents-memory-buzz-ingest.timer",
        "system/agents-memory-cold.service",
        "system/agents-memory-cold.service.d/backoff.conf",
        "user/agents-memory-buzz-ingest.service",
        "user/agents-memory-buzz-ingest.timer",
        "user/agents-memory-capture.service",
        "user/agents-memory-cold.service",
        "user/agents-memory-tunnel.service",
    }


@pytest.mark.parametrize("name", UNITS)
def test_each_line_is_an_assignment_in_a_section_that_exists(name: str) -> None:
    lines = given(name)
    known = SECTIONS.get(name.rpartition(".")[2], {"Service"})
    assert {section for section, _, _ in lines} <= known
    times = Counter(key for _, key, _ in lines if key not in ADD_UP)
    assert [key for key, number in times.items() if number > 1] == []
    for _, key, value in lines:
        if key.startswith(("Protect", "Private", "Restrict", "NoNew", "Lock", "Memory")):
            assert value not in {"", "true", "1", "on"}, f"{key}={value}"


@pytest.mark.parametrize("name", UNITS)
def test_every_block_of_choices_is_under_a_comment(name: str) -> None:
    blocks = text_of(name).strip().split("\n\n")
    assert all("#" in block for block in blocks if not block.startswith(("[Install]", "[Unit]")))


@pytest.mark.parametrize("name", OURS)
def test_it_starts_a_command_that_exists_from_an_environment_of_its_own(name: str) -> None:
    program, command = service(name)["ExecStart"].split()
    assert program == PROGRAMS[mode_of(name)]
    assert command in COMMANDS
    assert f"agents-memory-{'cold' if command == 'coldpath' else command}.service" in name


@pytest.mark.parametrize("name", SERVICES)
def test_it_sets_only_settings_that_exist_and_none_that_is_a_secret(name: str) -> None:
    known = {variable.name for variable in VARIABLES} | {"HOME"}
    values = [value for _, key, value in given(name) if key == "Environment"]
    names = {word.partition("=")[0] for value in values for word in value.split()}
    assert names <= known
    assert not re.search(r"PASS|KEY|URL|TOKEN", " ".join(names))
    assert "://" not in "".join(value for section, _, value in given(name) if section == "Service")


@pytest.mark.parametrize("name", UNITS)
def test_settings_that_its_comments_name_exist(name: str) -> None:
    """In capitals and with an underscore, in a comment: one of ours."""
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", text_of(name)))
    assert named - {"AF_UNIX", "AF_INET", "AF_NETLINK"} <= {variable.name for variable in VARIABLES}


@pytest.mark.parametrize("name", OURS)
def test_it_gives_up_rights(name: str) -> None:
    found = service(name)
    for key in ("NoNewPrivileges", "PrivateTmp", "PrivateUsers", "MemoryDenyWriteExecute"):
        assert found[key] == "yes", key
    assert found["ProtectSystem"] == "strict"
    assert found["UMask"] == "0077"
    if mode_of(name) == "system":
        assert (found["DynamicUser"], found["ProtectHome"]) == ("yes", "yes")
        assert found["CapabilityBoundingSet"] == ""
    else:
        assert found["ProtectHome"] == "read-only"


@pytest.mark.parametrize("name", OURS)
def test_it_has_longer_to_end_than_it_ever_needs(name: str) -> None:
    """The statement it is in, then the lead, then the connections."""
    needed = (
        connections.STATEMENT_LIMIT_S + leadership.BEAT_LIMIT_S + leadership.CLOSE_LIMIT_S
        + connections.CLOSE_LIMIT_S
    )  # fmt: skip
    assert int(service(name)["TimeoutStopSec"]) > max(needed, PATIENCE_WITH_STOP_S)


@pytest.mark.parametrize("name", DAEMONS)
async def test_the_daemon_speaks_to_the_watchdog_in_time(name: str, tmp_path: Path) -> None:
    """Twice within what the unit allows, as sd_watchdog_enabled(3) advises."""
    found = service(name)
    assert (found["Type"], found["NotifyAccess"]) == ("notify", "main")
    allowed_s = int(found["WatchdogSec"])
    # More than the longest that a busy machine keeps the loop from its turn.
    assert allowed_s >= connections.STATEMENT_LIMIT_S
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        raise asyncio.CancelledError

    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel,
        pytest.MonkeyPatch.context() as m,
    ):
        channel.bind(str(tmp_path / "notify"))
        channel.setblocking(False)
        m.setattr("cold.sdnotify.asyncio.sleep", rest)
        environ = {
            "NOTIFY_SOCKET": channel.getsockname(),
            "WATCHDOG_USEC": str(allowed_s * 1_000_000),
            "WATCHDOG_PID": str(os.getpid()),
        }
        with pytest.raises(asyncio.CancelledError):
            await Notifier(environ).keep_alive()
        assert channel.recv(4096) == b"WATCHDOG=1"
    assert rests == [allowed_s / 2]


@pytest.mark.parametrize("name", [*DAEMONS, "user/agents-memory-capture.service"])
def test_a_database_that_is_away_for_long_leaves_no_unit_given_up(name: str) -> None:
    found = {key: value for _, key, value in given(name)}
    assert found["StartLimitIntervalSec"] == "0"
    assert (found["Restart"], found["RestartPreventExitStatus"]) == ("on-failure", "2")
    assert int(found["RestartSec"]) >= 5


@pytest.mark.parametrize("mode", ["system", "user"])
def test_a_timer_never_runs_two_ingests_at_a_time(mode: str) -> None:
    timer = {key: value for _, key, value in given(f"{mode}/agents-memory-buzz-ingest.timer")}
    assert timer["OnUnitInactiveSec"] == "5min"
    assert service(f"{mode}/agents-memory-buzz-ingest.service")["Type"] == "oneshot"


def run(analyze: str, mode: str, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    command = [analyze, f"--{mode}", "--no-pager", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environ)


@pytest.mark.parametrize("name", [name for name in UNITS if not name.endswith(".conf")])
def test_systemd_accepts_it_and_finds_it_little_exposed(name: str, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        assert given(name)
        return
    mode = mode_of(name)
    for path in (ROOT / mode).iterdir():
        if path.is_file():
            there = path.read_text("utf-8").replace(PROGRAMS[mode], "/usr/bin/env")
            # Neither here nor in a test's image is ssh needed.
            there = there.replace("/usr/bin/ssh ", "/usr/bin/env ")
            (tmp_path / path.name).write_text(there, "utf-8")
    copy = str(tmp_path / Path(name).name)
    verified = run(analyze, mode, tmp_path, "verify", "--man=no", copy)
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    if name in SERVICES:
        limit = MOST_EXPOSED["tunnel" if "tunnel" in name else mode]
        exposed = run(
            analyze, mode, tmp_path, "security", "--offline=true", f"--threshold={limit}", copy
        )
        assert exposed.returncode == 0, exposed.stdout[-300:] + exposed.stderr
