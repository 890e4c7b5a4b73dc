"""The first hour of a user without a database: made, filled, found, looked after (F101)."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command_line import CommandLine


@pytest.fixture
def line() -> Iterator[CommandLine]:
    # Passable, unlike pytest's own folders: under root the server has an account of its own.
    home = Path(tempfile.mkdtemp(prefix="agents-memory-cli-"))
    home.chmod(0o711)
    file = home / "memory.env"
    file.write_text(
        f'MEMORY_DATA_DIR="{home}/with a space/data"\nUSER_NAME=mara\nEMBEDDED_LINGER_SEC=0\n'
    )
    file.chmod(0o600)
    yield CommandLine(home, {"MEMORY_CONFIG_PATH": str(file)})
    # Where its directory is gone, the keeper stops everything.
    shutil.rmtree(home, ignore_errors=True)


def test_from_nothing_to_a_checked_memory(line: CommandLine) -> None:
    """F101, F17: no database configured; the private one starts by itself and is named."""
    made = line.run("init", "--json")
    assert made.code == 0, made.stderr
    assert made.json["made"] is True
    assert made.json["database"]["where"].endswith("with a space/data")
    assert made.json["client"]["env"] == {"MEMORY_CONFIG_PATH": str(line.home / "memory.env")}
    assert made.json["shell_only"] == []
    assert line.run("init", "--json").json["made"] is False

    added = line.run("message", "add", "--text", "Rollläden fahren um halb sieben hoch.", "--json")
    assert added.code == 0, added.stderr

    examined = line.run("doctor", "--json")
    failed = [c for c in examined.json["checks"] if c["outcome"] == "failed"]
    assert (examined.code, failed) == (0, [])
    names = [check["name"] for check in examined.json["checks"]]
    assert names == [
        "settings", "data_directory", "binaries", "server", "versions", "schema", "grants",
        "embedding", "active_model", "leader", "queue", "quarantine", "spool", "capture",
        "daemon_program", "mcp", "stdout",
    ]  # fmt: skip

    found = line.run("search", "Rollläden", "--json")
    assert [item["id"] for item in found.json["items"]] == [added.json["id"]]
    assert line.run("status", "--json").json["counts"]["messages"] == 1
