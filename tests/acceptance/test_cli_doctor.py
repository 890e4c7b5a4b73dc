"""The doctor from the command line, on a database of one's own."""

from pathlib import Path

from tests.acceptance.command_line import on_pool
from tests.conftest import Pool


def test_the_missing_daemon_is_the_one_thing_to_mend(pool: Pool, tmp_path: Path) -> None:
    """F17, H1: also that a client gets its answer, and that stdout carries MCP only."""
    ended = on_pool(pool, tmp_path).run("doctor")
    assert ended.code == 1
    failed = [text for text in ended.stdout.splitlines() if text.startswith("FAILED")]
    assert len(failed) == 1, ended.stdout
    assert "leader" in failed[0]
    assert "coldpath" in ended.stdout
    assert "ok      mcp" in ended.stdout
    assert "ok      stdout" in ended.stdout
    assert "1 of 17 checks failed" in ended.stdout
