"""The folder in memory that the database of a run lies in."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests import memory_disk


def test_a_folder_is_passable_and_its_owner_is_told_by_its_name(tmp_path: Path) -> None:
    folder = memory_disk.make_folder(tmp_path, room=0)
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o711
    assert f"-{os.getpid()}-" in folder.name


def test_without_room_or_disk_there_is_none(tmp_path: Path) -> None:
    assert memory_disk.make_folder(tmp_path, room=shutil.disk_usage(tmp_path).total + 1) is None
    assert memory_disk.make_folder(tmp_path / "missing") is None
    assert list(tmp_path.iterdir()) == []


def test_only_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / f"agents-memory-tests-{gone.pid}-abcdefgh"
    (left / "pgdata").mkdir(parents=True)
    (tmp_path / "agents-memory-tests-of-somebody").mkdir()
    mine = memory_disk.make_folder(tmp_path, room=0)
    other = memory_disk.make_folder(tmp_path, room=0)
    assert mine is not None
    assert other is not None
    assert not left.exists()
    assert mine.is_dir()
    assert (tmp_path / "agents-memory-tests-of-somebody").is_dir()
