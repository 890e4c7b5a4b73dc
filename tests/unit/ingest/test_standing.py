"""A disk that is full, or may only be read, does not stop a capturer, and is said once."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from agents_memory.observe import Action
from agents_memory.services.capturer import Capturer, read_capturer
from agents_memory.storage.embedded.locks import FileLock
from ingest.cursor import Positions, Watch
from ingest.standing import Standing
from tests.factories import NOON


@pytest.fixture
def lock(tmp_path: Path) -> FileLock:
    return FileLock(tmp_path / "capture.lock")


def said(lines: list[Any]) -> list[tuple[object, object]]:
    return [(line["log_level"], line["event"]) for line in lines]


def test_positions_that_cannot_be_saved_are_said_once_and_saved_later(
    tmp_path: Path, lock: FileLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = Positions(tmp_path / "capture.json", {})
    positions.begin("claude-code", Watch("/root", NOON))
    standing = Standing(positions, lock)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with capture_logs() as lines:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            for _ in range(3):
                standing.save()
        standing.save()
        assert Positions.load(tmp_path / "capture.json").watch("claude-code") is not None
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            positions.begin("codex", Watch("/root", NOON))
            standing.save()
    warned = ("warning", Action.CAPTURE_FAILED)
    assert said(lines) == [warned, warned]
    assert "make room" in str(lines[0]["note"])


def test_who_captures_is_noted_where_that_can_be(
    lock: FileLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = Standing(Positions(lock.path.with_name("none"), {}), lock)

    def full(descriptor: int, data: bytes, at: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with capture_logs() as lines:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", full)
            standing.note({"codex": "nothing is told"})
        assert read_capturer(lock.path) == Capturer()
        standing.note({"codex": "nothing is told"})
    assert said(lines) == [("warning", Action.CAPTURE_FAILED)]
    assert read_capturer(lock.path) == Capturer(os.getpid(), {"codex": "nothing is told"})
