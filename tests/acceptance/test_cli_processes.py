"""`serve` and `coldpath` become the processes that are meant, wherever they are started."""

import json
from pathlib import Path

import pytest

from agents_memory.cli.probes import HELLO
from tests.acceptance.command_line import CommandLine, on_pool
from tests.conftest import Pool


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    """In a folder with packages that bear our names, and a PYTHONPATH that leads there."""
    for name in ("agents_memory", "hot", "cold"):
        decoy = tmp_path / name
        decoy.mkdir()
        for file in ("__init__.py", "__main__.py"):
            (decoy / file).write_text("raise SystemExit('the wrong program')")
    normal = on_pool(pool, tmp_path)
    return CommandLine(tmp_path, {**normal.settings, "PYTHONPATH": str(tmp_path)})


@pytest.mark.parametrize("arguments", [["serve"], []])
def test_an_editor_gets_mcp_and_nothing_else(line: CommandLine, arguments: list[str]) -> None:
    """H1, E9: stdout carries JSON-RPC only, and the server ends with its client."""
    ended = line.run(*arguments, stdin=(json.dumps(HELLO) + "\n").encode())
    assert ended.code == 0, ended.stderr
    for text in ended.stdout.splitlines():
        assert json.loads(text)["jsonrpc"] == "2.0"


def test_the_daemon_drains_the_queue_and_leaves(line: CommandLine) -> None:
    """F71: what was stored is worked through."""
    number = line.run("message", "add", "--text", "the queue is a table", "--json").json["id"]
    ended = line.run("coldpath", "--drain", "--exit-if-held")
    assert ended.code == 0, ended.stderr
    assert ended.stdout == ""
    assert line.run("receipt", str(number), "--json").json["complete"] is True
