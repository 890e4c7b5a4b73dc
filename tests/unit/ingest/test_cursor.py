"""Positions: known again, kept privately, never half-written."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.cursor import Cursor, Mark, Positions, Watch, end_of_lines

SINCE = datetime(2026, 11, 20, 8, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def take(path: Path, offset: int) -> Cursor:
    with open(path, "rb") as file:
        return Cursor.take(file, offset)


def fits(cursor: Cursor, path: Path) -> bool:
    with open(path, "rb") as file:
        return cursor.fits(file)


def test_a_file_that_only_grew_is_the_same(path: Path) -> None:
    path.write_bytes(b"line\n" * 1000)
    cursor = take(path, 3000)
    with open(path, "ab") as file:
        file.write(b"more\n")
    assert fits(cursor, path)


@pytest.mark.parametrize("offset", [5, 1500, 5000])
def test_a_file_that_was_cut_rewritten_or_replaced_is_another(path: Path, offset: int) -> None:
    """A19, A25: truncated, overwritten in place at head or tail, swapped for another."""
    content = b"".join(b"%04d\n" % n for n in range(1000))
    path.write_bytes(content)
    cursor = take(path, offset)
    changes = [
        content[: offset - 1],
        b"X" + content[1:],
        content[: offset - 2] + b"X" + content[offset - 1 :],
    ]
    for change in changes:
        with open(path, "r+b") as file:
            file.truncate()
            file.write(change)
        assert not fits(cursor, path)
    path.write_bytes(content)
    assert fits(cursor, path)
    other = path.with_suffix(".new")
    other.write_bytes(content)
    os.replace(other, path)
    assert not fits(cursor, path)


@pytest.mark.parametrize(
    ("content", "end"),
    [
        (b"", 0),
        (b"unfinished", 0),
        (b"one\n", 4),
        (b"one\ntwo", 4),
        (b"one\n" + b"x" * 300_000, 4),
        (b"x" * 65_535 + b"\n" + b"y" * 65_536, 65_536),
    ],
)
def test_the_end_of_lines_is_behind_the_last_line_end(path: Path, content: bytes, end: int) -> None:
    """A29."""
    path.write_bytes(content)
    with open(path, "rb") as file:
        assert end_of_lines(file) == end


def test_what_is_saved_is_loaded_again_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    state = tmp_path / "capture.json"
    positions = Positions.load(state)
    positions.begin("claude-code", Watch("/root", SINCE))
    cursor = Cursor(7, 8, 900, 50, Mark(5, "ab"), Mark(3, "cd"), 800)
    positions.move("claude-code", "a/b.jsonl", cursor)
    positions.move("claude-code", "a/\udcff name \u2028.jsonl", cursor)
    positions.save()
    assert state.stat().st_mode & 0o777 == 0o600
    watch = Positions.load(state).watch("claude-code")
    assert watch == Watch(
        "/root", SINCE, {"a/b.jsonl": cursor, "a/\udcff name \u2028.jsonl": cursor}
    )


def test_nothing_is_written_when_nothing_changed(tmp_path: Path) -> None:
    state = tmp_path / "capture.json"
    Positions.load(state).save()
    assert not state.exists()


def test_a_save_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    state = tmp_path / "capture.json"
    positions = Positions.load(state)
    positions.begin("claude-code", Watch("/root", SINCE))
    positions.save()
    before = state.read_bytes()
    (tmp_path / "capture.json.new").symlink_to(tmp_path / "elsewhere")
    positions.begin("other", Watch("/root", SINCE))
    with pytest.raises(OSError, match="symbolic links"):
        positions.save()
    assert state.read_bytes() == before
    assert not (tmp_path / "elsewhere").exists()


def test_a_client_that_is_switched_off_is_forgotten(tmp_path: Path) -> None:
    state = tmp_path / "capture.json"
    positions = Positions.load(state)
    for name in ("claude-code", "other"):
        positions.begin(name, Watch("/root", SINCE))
    positions.save()
    positions = Positions.load(state)
    positions.forget_all_but(["other"])
    positions.save()
    saved = Positions.load(state)
    assert saved.watch("claude-code") is None
    assert saved.watch("other") is not None


ENTRY = {"root": "/r", "since": SINCE.isoformat(), "files": {}}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 2, "clients": {}}',
        '{"version": 1}',
        '{"version": 1, "clients": []}',
        json.dumps({"version": 1, "clients": {"c": {**ENTRY, "since": "yesterday"}}}),
        json.dumps({"version": 1, "clients": {"c": {**ENTRY, "since": "2026-11-20T08:00:00"}}}),
        json.dumps({"version": 1, "clients": {"c": {**ENTRY, "root": None}}}),
        json.dumps({"version": 1, "clients": {"c": {**ENTRY, "files": {"f": [1, 2]}}}}),
        json.dumps(
            {"version": 1, "clients": {"c": {**ENTRY, "files": {"f": [1, 2, -3, 0, 0, "", 0, ""]}}}}
        ),
        json.dumps(
            {"version": 1, "clients": {"c": {**ENTRY, "files": {"f": [1, 2, 3, 0, 9, "", 0, ""]}}}}
        ),
        "\xff",
    ],
)
def test_a_file_that_was_not_saved_by_us_is_refused(tmp_path: Path, content: str) -> None:
    state = tmp_path / "capture.json"
    state.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError):  # noqa: PT011 (also what json raises)
        Positions.load(state)
