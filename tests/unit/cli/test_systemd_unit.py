"""The unit: names what exists, explains its choices, and is accepted by systemd where that is."""

import shutil
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import pytest

from agents_memory.cli import COMMANDS
from agents_memory.settings import VARIABLES

MOST_EXPOSED = 2.0


@pytest.fixture
def unit(repository: Path) -> Path:
    return repository / "deploy" / "systemd" / "agents-memory-cold.service"


def sections(unit: Path) -> RawConfigParser:
    parser = RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment]
    parser.read_string(unit.read_text())
    return parser


def test_it_starts_a_command_that_exists_from_an_environment_of_its_own(unit: Path) -> None:
    service = sections(unit)["Service"]
    program, command = service["ExecStart"].split()
    assert program == "/opt/agents-memory/venv/bin/mcp-agents-memory"
    assert command in COMMANDS
    assert service["Type"] == "notify"
    assert service["EnvironmentFile"] == "/etc/agents-memory/env"


def test_it_sets_only_settings_that_exist(unit: Path) -> None:
    known = {variable.name for variable in VARIABLES}
    given = [
        text.removeprefix("Environment=").partition("=")[0]
        for text in unit.read_text().splitlines()
        if text.startswith("Environment=")
    ]
    assert given
    assert set(given) <= known


def test_it_gives_up_rights_and_ends_within_bounds(unit: Path) -> None:
    service = sections(unit)["Service"]
    for name in ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices", "DynamicUser"):
        assert service[name] == "yes", name
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    # Longer than the daemon's own patience with what it is doing.
    assert int(service["TimeoutStopSec"]) > 10


def test_every_line_of_choice_is_under_a_comment(unit: Path) -> None:
    blocks = unit.read_text().strip().split("\n\n")
    assert all("#" in block for block in blocks if not block.startswith("[Install]"))


def test_systemd_accepts_it_and_finds_it_little_exposed(unit: Path, tmp_path: Path) -> None:
    """Where systemd is not installed, its own names of sections are checked instead."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        assert sections(unit).sections() == ["Unit", "Service", "Install"]
        return
    copy = tmp_path / unit.name
    installed = "/opt/agents-memory/venv/bin/mcp-agents-memory coldpath"
    copy.write_text(unit.read_text().replace(installed, "/usr/bin/env true"))
    verified = subprocess.run(
        [analyze, "verify", str(copy)], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    threshold = f"--threshold={MOST_EXPOSED * 10:.0f}"
    exposed = subprocess.run(
        [analyze, "security", "--offline=true", threshold, "--no-pager", str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert exposed.returncode == 0, exposed.stdout[-300:] + exposed.stderr
