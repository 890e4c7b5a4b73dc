"""The export from the command line."""

import json
import stat
from pathlib import Path

from tests.acceptance.command_line import on_pool
from tests.conftest import Pool


def test_an_export_is_private_whole_and_never_overwrites(pool: Pool, tmp_path: Path) -> None:
    """F16"""
    user = on_pool(pool, tmp_path)
    assert user.run("message", "add", "--text", "Grüße 🦩").code == 0
    target = tmp_path / "export.jsonl"
    done = user.run("export", str(target), "--json")
    assert done.json["rows"]["message"] == 1, done.stderr
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert [line["type"] for line in lines] == ["export", "message", "end"]
    assert lines[1]["message"] == "Grüße 🦩"

    again = user.run("export", str(target))
    assert again.code == 2
    assert "--force" in again.stderr
    assert user.run("export", str(target), "--force", "--only", "memories").code == 0
    assert len(target.read_text("utf-8").splitlines()) == 2
    assert [path for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
    assert user.run("export", str(tmp_path), "--force").code == 2
    assert user.run("export", str(tmp_path / "no" / "x")).code == 2


def test_an_export_goes_to_the_output_and_nothing_else_does(pool: Pool, tmp_path: Path) -> None:
    user = on_pool(pool, tmp_path)
    done = user.run("export", "-", "--since", "2020-01-01")
    assert done.code == 0, done.stderr
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["export", "end"]
    assert "0 message" in done.stderr
    assert user.run("export", "-", "--since", "soon").code == 2
