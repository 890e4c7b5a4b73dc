"""What the doctor says of capture, and what the capturer notes for it."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents_memory.services.capture_state import check_capture
from agents_memory.services.capturer import Capturer, lock_path, read_capturer, write_capturer
from agents_memory.services.diagnosis.check import Outcome
from agents_memory.settings import Settings
from agents_memory.storage.embedded.locks import FileLock


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.load(
        {
            "HOME": str(tmp_path),
            "MEMORY_DATA_DIR": str(tmp_path),
            "CAPTURE_CLIENTS": "codex,claude-code",
        }
    )


@pytest.fixture
def lock(settings: Settings) -> Iterator[FileLock]:
    with FileLock(lock_path(settings)) as lock:
        assert lock.own()
        yield lock


def test_where_nothing_is_switched_on_there_is_nothing_to_look_at(settings: Settings) -> None:
    check = check_capture(replace(settings, capture_clients=()))
    assert (check.outcome, check.detail) == (Outcome.SKIPPED, "CAPTURE_CLIENTS names no client")


def test_that_nobody_captures_is_said_with_what_does(settings: Settings) -> None:
    check = check_capture(settings)
    assert check.outcome is Outcome.SKIPPED
    assert "nobody captures codex, claude-code now" in check.detail


def test_who_captures_is_named(settings: Settings, lock: FileLock) -> None:
    write_capturer(lock, {})
    check = check_capture(settings)
    assert check.outcome is Outcome.OK
    assert check.detail.startswith(f"process {os.getpid()} captures codex, claude-code; the system")


def test_of_whom_nothing_is_told_is_named_with_the_reason(
    settings: Settings, lock: FileLock
) -> None:
    write_capturer(lock, {"codex": "a limit", "claude-code": "another, and a longer one"})
    write_capturer(lock, {"codex": "a limit"})
    check = check_capture(settings)
    assert check.outcome is Outcome.OK
    first, *others = check.detail.splitlines()
    assert "polls" in first
    assert others == ["codex: a limit"]


@pytest.mark.parametrize("noted", [b"", b"4711", b"[]", b'{"process": "x"}', b"\xff\xfe", b"{"])
def test_what_cannot_be_read_names_nobody(settings: Settings, lock: FileLock, noted: bytes) -> None:
    lock.path.write_bytes(noted)
    assert read_capturer(lock.path) == Capturer()
    assert check_capture(settings).detail.startswith("process ? captures")


def test_a_lock_that_is_missing_names_nobody(tmp_path: Path) -> None:
    assert read_capturer(tmp_path / "none.lock") == Capturer()
