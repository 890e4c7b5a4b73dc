"""The system's watch: what it tells of, what it does not, and what happens when there is none."""

import asyncio
import ctypes
import errno
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ingest.finding import Finder
from ingest.watching import Changes, SystemWatcher, Watcher
from ingest.watching import changes as module
from ingest.watching.observer import TreeWatcher
from tests.unit.ingest.reading import CLIENT

LIMIT_S = 60.0
WATCHERS = [SystemWatcher, TreeWatcher]

Make = Callable[[Changes], Watcher]


class Ear:
    """A watcher, and everything that it told."""

    def __init__(self, make: Make) -> None:
        self.changes = Changes()
        self.watcher = make(self.changes)
        self.heard: set[str] = set()

    async def hears(self, path: Path) -> None:
        async with asyncio.timeout(LIMIT_S):
            while str(path) not in self.heard:
                await self.changes.told.wait()
                self.heard |= self.changes.take() or set()


@asynccontextmanager
async def listening(make: Make) -> AsyncIterator[Ear]:
    ear = Ear(make)
    try:
        yield ear
    finally:
        ear.watcher.close()


@pytest.fixture(params=WATCHERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Make:
    chosen: Make = request.param
    return chosen


async def test_it_tells_of_lines_that_are_added_and_of_files_and_folders_that_come(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    async with listening(make) as ear:
        ear.watcher.watch(tmp_path, ["", "a"])
        (tmp_path / "a" / "1.jsonl").write_text("{}\n")
        await ear.hears(tmp_path / "a" / "1.jsonl")
        ear.heard.clear()
        with (tmp_path / "a" / "1.jsonl").open("a") as file:
            file.write("{}\n")
            file.flush()
            await ear.hears(tmp_path / "a" / "1.jsonl")
        (tmp_path / "b").mkdir()
        await ear.hears(tmp_path / "b")
        (tmp_path / "new").write_text("{}\n")
        ear.heard.clear()
        os.replace(tmp_path / "new", tmp_path / "a" / "1.jsonl")
        await ear.hears(tmp_path / "a" / "1.jsonl")


async def test_that_we_read_is_nothing_to_tell(make: Make, tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text("{}\n")
    async with listening(make) as ear:
        ear.watcher.watch(tmp_path, [""])
        (tmp_path / "1.jsonl").read_bytes()
        Finder(tmp_path, CLIENT).find()
        (tmp_path / "2.jsonl").write_text("{}\n")
        await ear.hears(tmp_path / "2.jsonl")
        assert str(tmp_path / "1.jsonl") not in ear.heard


async def test_what_is_watched_already_is_not_watched_again(make: Make, tmp_path: Path) -> None:
    async with listening(make) as ear:
        assert str(tmp_path) in ear.watcher.watch(tmp_path, [""])
        assert ear.watcher.watch(tmp_path, [""]) == []


async def test_a_root_that_comes_back_is_watched_again(make: Make, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    async with listening(make) as ear:
        ear.watcher.watch(root, [""])
        root.rmdir()
        await ear.hears(root)
        root.mkdir()
        assert str(root) in ear.watcher.watch(root, [""])
        (root / "1.jsonl").write_text("{}\n")
        await ear.hears(root / "1.jsonl")


async def test_its_thread_ends_when_it_is_closed(make: Make, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    async with listening(make) as ear:
        ear.watcher.watch(tmp_path, [""])
        assert set(threading.enumerate()) > before
    assert set(threading.enumerate()) == before


async def test_names_of_any_bytes_are_told(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9 \xff\n")
    folder.mkdir()
    async with listening(SystemWatcher) as ear:
        ear.watcher.watch(tmp_path, ["", folder.name])
        (folder / os.fsdecode(b"\xe9.jsonl")).write_text("{}\n")
        await ear.hears(folder / os.fsdecode(b"\xe9.jsonl"))


async def test_a_root_that_is_missing_is_waited_for_from_as_near_as_can_be(tmp_path: Path) -> None:
    root = tmp_path / "later" / "root"
    async with listening(SystemWatcher) as ear:
        assert ear.watcher.watch(root, []) == [str(tmp_path)]
        root.parent.mkdir()
        await ear.hears(root.parent)
        assert ear.watcher.watch(root, []) == [str(root.parent)]
        root.mkdir()
        await ear.hears(root)


async def test_a_folder_that_is_moved_away_is_not_watched_where_it_is_now(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    (root / "a" / "b").mkdir(parents=True)
    async with listening(SystemWatcher) as ear:
        ear.watcher.watch(root, ["", "a", "a/b"])
        (root / "a").rename(elsewhere)
        await ear.hears(root / "a")
        (elsewhere / "b" / "1.jsonl").write_text("{}\n")
        (root / "2.jsonl").write_text("{}\n")
        await ear.hears(root / "2.jsonl")
        assert str(root / "a" / "b" / "1.jsonl") not in ear.heard
        elsewhere.rename(root / "a")
        await ear.hears(root / "a")
        assert set(ear.watcher.watch(root, ["", "a", "a/b"])) == {
            str(root / "a"),
            str(root / "a" / "b"),
        }


async def test_a_folder_that_is_gone_or_no_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "gone").mkdir()
    async with listening(SystemWatcher) as ear:
        ear.watcher.watch(tmp_path, ["", "gone"])
        shutil.rmtree(tmp_path / "gone")
        await ear.hears(tmp_path / "gone")
        assert ear.watcher.watch(tmp_path, ["", "gone", "file", "never"]) == []


async def test_one_folder_by_two_names_is_watched_by_both(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    async with listening(SystemWatcher) as ear:
        for name in ("real", "link"):
            assert str(tmp_path / name) in ear.watcher.watch(tmp_path / name, [""])
        (tmp_path / "real" / "1.jsonl").write_text("{}\n")
        await ear.hears(tmp_path / "real" / "1.jsonl")
        await ear.hears(tmp_path / "link" / "1.jsonl")


async def test_the_systems_limit_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        ctypes.set_errno(errno.ENOSPC)
        return -1

    async with listening(SystemWatcher) as ear:
        monkeypatch.setattr("watchdog.observers.inotify_c.inotify_add_watch", full)
        with pytest.raises(OSError, match="limit") as caught:
            ear.watcher.watch(tmp_path, [""])
        assert caught.value.errno == errno.ENOSPC


async def test_too_much_at_once_is_told_as_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PATHS", 2)
    changes = Changes()
    for name in "abc":
        changes.tell(name)
    await changes.told.wait()
    assert changes.take() is None
    assert changes.take() == set()
    changes.tell("d")
    await changes.told.wait()
    assert changes.take() == {"d"}
    changes.tell_lost()
    await changes.told.wait()
    assert changes.take() is None
