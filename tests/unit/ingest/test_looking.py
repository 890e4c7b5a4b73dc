"""Looking when told, and anyway: nothing here waits for the clock to come round."""

import asyncio
import errno
import os
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agents_memory.clock import SystemClock
from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.observe import Action
from ingest import looking as module
from ingest.cursor import Positions
from ingest.following import Follower
from ingest.looking import DEAF, Looker
from ingest.records import Record
from ingest.transcripts import CLIENTS
from ingest.transcripts.protocol import Client
from ingest.watching import Changes, SystemWatcher, Watcher
from tests.fixtures.transcripts.stores import STORES
from tests.fixtures.transcripts.talk import BEGUN, Turn
from tests.fixtures.transcripts.whole_stores import hermes_row
from tests.fixtures.transcripts.writer import Writer, jsonl
from tests.unit.ingest.reading import CLIENT, texts

HOUR_S = 3600.0
LIMIT_S = 60.0


class Ears:
    """The system's watch, which may fail, and says when it watches the root."""

    def __init__(self) -> None:
        self.armed = asyncio.Event()
        self.deaf = False
        self.refuses: list[OSError] = []
        self.full: list[OSError] = []

    def listen(self, changes: Changes) -> Watcher:
        if self.refuses:
            raise self.refuses.pop(0)
        return _Ear(self, SystemWatcher(changes))


class _Ear:
    def __init__(self, ears: Ears, real: Watcher) -> None:
        self._ears, self._real = ears, real
        self._loop = asyncio.get_running_loop()

    def watch(self, root: Path, folders: Collection[str]) -> list[str]:
        new = [] if self._ears.deaf else self._real.watch(root, folders)
        if self._ears.full:
            raise self._ears.full.pop()
        self._loop.call_soon_threadsafe(self._ears.armed.set)
        return new

    def close(self) -> None:
        self._real.close()


class Room:
    """A client's folder that is looked at; what is kept and said can be waited for."""

    def __init__(self, base: Path, client: Client = CLIENT) -> None:
        self.root = base / "home" / "projects"
        self.positions = Positions.load(base / "state.json")
        self.clock = SystemClock()
        self.write = Writer(begun=self.clock.now())
        self.follower = Follower(client, self.root, self.positions, self.clock)
        self.client = client.name
        self.ears = Ears()
        self.kept: list[Record] = []
        self.beats: list[str] = []
        self.polled: list[Mapping[str, str]] = []
        self.away = False
        self.saved = 0
        self._happened = asyncio.Event()

    def append(self, data: bytes, session: str = "one", folder: str = "folder") -> Path:
        path = self.root / folder / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab") as file:
            file.write(data)
        return path

    def say(self, *said: str, session: str = "one", folder: str = "folder") -> Path:
        return self.append(jsonl(*map(self.write.typed, said)), session, folder)

    @asynccontextmanager
    async def looked_at(self, every_s: float = HOUR_S) -> AsyncIterator[None]:
        """Looks at it from now on, and `every_s` where nothing tells of changes."""
        self.follower.begin()
        looker = Looker(
            {self.client: [self.follower]},
            self,
            self.clock,
            save=self._save,
            say=self._say,
            listen=self.ears.listen,
            calm_s=every_s,
        )
        task = asyncio.create_task(looker.run())
        try:
            yield
            assert not task.done() or task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def armed(self) -> None:
        async with asyncio.timeout(LIMIT_S):
            await self.ears.armed.wait()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not holds():
                self._happened.clear()
                await self._happened.wait()

    async def hears(self, *said: str) -> None:
        """Waits until exactly this is kept, each once, in whatever order of files."""
        try:
            await self.until(lambda: len(self.kept) >= len(said))
        finally:
            assert sorted(texts(self.kept)) == sorted(said)

    async def keep(self, client: str, records: Sequence[Record]) -> None:
        if self.away:
            self.away = False
            raise DatabaseUnavailable("away")
        self.kept += records
        self._happened.set()

    async def beat(self, client: str, sessions: Sequence[str]) -> None:
        self.beats += sessions
        self._happened.set()

    def _save(self) -> None:
        self.positions.save()
        self.saved += 1
        self._happened.set()

    def _say(self, polled: Mapping[str, str]) -> None:
        self.polled.append(polled)
        self._happened.set()


@pytest.fixture
async def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


async def test_a_line_is_kept_at_once_though_everything_is_looked_through_once_an_hour(
    room: Room,
) -> None:
    """F74: the watch alone."""
    room.say("Before.")
    async with room.looked_at():
        await room.armed()
        room.say("One.")
        await room.hears("One.")
        room.say("Two.", "Three.")
        await room.hears("One.", "Two.", "Three.")
        await room.until(lambda: room.beats == ["one"])


async def test_the_first_words_of_a_session_in_a_new_folder_and_of_its_sub_agents_are_kept(
    room: Room,
) -> None:
    room.root.mkdir(parents=True)
    async with room.looked_at():
        await room.armed()
        room.say("In a new project.", folder="new")
        await room.hears("In a new project.")
        room.say("Deep below.", session="agent-x", folder="new/one/subagents/deeper/still")
        await room.hears("In a new project.", "Deep below.")
        room.say("Again.", session="agent-x", folder="new/one/subagents/deeper/still")
        await room.hears("In a new project.", "Deep below.", "Again.")


async def test_an_answer_is_kept_once_nothing_is_added_for_a_moment(room: Room) -> None:
    room.say("Before.")
    async with room.looked_at():
        await room.armed()
        room.append(jsonl(room.write.answer("Done.", key="m1", stop="end_turn")))
        await room.hears("Done.")


async def test_a_file_that_is_replaced_is_read_from_its_beginning(room: Room) -> None:
    """F75: what is in it twice has one id."""
    room.root.mkdir(parents=True)
    async with room.looked_at():
        await room.armed()
        path = room.say("One.")
        await room.hears("One.")
        new = path.with_name("new")
        new.write_bytes(path.read_bytes() + jsonl(room.write.typed("Two.")))
        os.replace(new, path)
        await room.until(lambda: "Two." in texts(room.kept))
        said = {record.native_id: record.text for record in room.kept}
        assert sorted(said.values()) == ["One.", "Two."]


async def test_a_root_that_comes_later_goes_and_comes_back_is_followed(room: Room) -> None:
    async with room.looked_at():
        await room.armed()
        room.say("First words ever.")
        await room.hears("First words ever.")
        shutil.rmtree(room.root.parent)
        room.say("Installed again.", session="two")
        await room.hears("First words ever.", "Installed again.")


async def test_a_project_that_is_moved_here_is_followed(room: Room, tmp_path: Path) -> None:
    room.root.mkdir(parents=True)
    async with room.looked_at():
        await room.armed()
        path = room.say("Elsewhere.", folder="../../elsewhere").parent
        path.rename(room.root / "moved")
        await room.hears("Elsewhere.")
        room.say("Here.", folder="moved")
        await room.hears("Elsewhere.", "Here.")


async def test_a_root_that_is_a_link_is_followed(room: Room, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    room.root.parent.mkdir()
    room.root.symlink_to(tmp_path / "real")
    room.follower = Follower(CLIENT, room.root, room.positions, room.clock)
    async with room.looked_at():
        await room.armed()
        room.say("Behind a link.")
        await room.hears("Behind a link.")
        (tmp_path / "outside").mkdir()
        (room.root / "out").symlink_to(tmp_path / "outside")
        room.say("Outside.", folder="out")
        room.say("Inside.")
        await room.hears("Behind a link.", "Inside.")


async def test_words_in_another_encoding_stop_nothing(room: Room) -> None:
    """A28: what cannot be read is counted, what comes after it is kept."""
    room.say("Before.")
    async with room.looked_at():
        await room.armed()
        room.say("In UTF-8: Grüße.")
        await room.hears("In UTF-8: Grüße.")
        line = jsonl(room.write.typed("In UTF-16: Grüße."))
        room.append(line.decode().encode("utf-16"))
        room.append(b"\n" + line.decode().encode("latin-1", "replace").replace(b"UTF", b"\xff"))
        room.append(b"\xef\xbb\xbf" + jsonl(room.write.typed("With a mark.")))
        await room.until(lambda: "With a mark." in texts(room.kept))
        assert texts(room.kept)[0] == "In UTF-8: Grüße."
        assert not any("UTF-16" in text for text in texts(room.kept))


async def test_a_home_that_may_only_be_read_is_followed_and_left_as_it_is(room: Room) -> None:
    path = room.say("Before.")
    before = [entry.name for entry in path.parent.iterdir()]
    with path.open("ab") as file:
        for folder in (path.parent, room.root, room.root.parent):
            folder.chmod(0o500)
        path.chmod(0o400)
        try:
            async with room.looked_at():
                await room.armed()
                file.write(jsonl(room.write.typed("By whoever may.")))
                file.flush()
                await room.hears("By whoever may.")
        finally:
            for folder in (room.root.parent, room.root, path.parent):
                folder.chmod(0o700)
    assert [entry.name for entry in path.parent.iterdir()] == before
    assert path.stat().st_mode & 0o777 == 0o400


@pytest.fixture
async def store(tmp_path: Path) -> Room:
    room = Room(tmp_path, CLIENTS["hermes"])
    STORES["hermes"].write(room.root)
    return room


@pytest.fixture
def writer(store: Room) -> Iterator[sqlite3.Connection]:
    """The client itself, whose words stay in its log."""
    with closing(sqlite3.connect(store.root / "state.db", isolation_level=None)) as client:
        client.execute("PRAGMA journal_mode = WAL")
        client.execute("PRAGMA wal_autocheckpoint = 0")
        yield client


async def test_the_log_of_a_database_tells_of_it_and_nothing_happens_to_either(
    store: Room, writer: sqlite3.Connection
) -> None:
    """F74: kept by the change of the log alone, while the client is in the middle of writing."""
    state = (store.root / "state.db").stat()
    async with store.looked_at():
        await store.armed()
        for number, text in enumerate(("In the log.", "And more."), 1):
            second = int(store.clock.now().timestamp() - BEGUN.timestamp()) + number
            writer.execute(*hermes_row("20261120_080000_aa", Turn("user", text, second)))
            writer.execute("BEGIN IMMEDIATE")
            await store.until(lambda text=text: text in texts(store.kept))  # type: ignore[misc]
            writer.execute("COMMIT")
    assert (store.root / "state.db").stat().st_mtime_ns == state.st_mtime_ns
    assert (store.root / "state.db-wal").stat().st_size > 0
    assert writer.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.ENOSYS])
async def test_without_a_watch_it_looks_by_itself_and_says_so_once(room: Room, number: int) -> None:
    """F74: the limit of the system is reached."""
    room.ears.refuses = [OSError(number, "no more"), OSError(number, "no more")]
    room.say("Before.")
    with capture_logs() as lines:
        async with room.looked_at():
            await room.until(lambda: room.polled != [])
            room.say("Found.")
            await room.hears("Found.")
            room.say("Found too.", session="two", folder="new")
            await room.hears("Found.", "Found too.")
    [polling] = [line for line in lines if line["event"] is Action.CAPTURE_POLLING]
    assert polling["client"] == "claude-code"
    assert room.polled[0] == {"claude-code": polling["reason"]}
    assert "sysctl" in polling["reason"] or number == errno.ENOSYS


async def test_without_a_watch_a_new_session_is_found_before_all_is_looked_through_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F74: folders tell that something came into them, at less cost than all files."""
    monkeypatch.setattr(module, "LOOK_S", HOUR_S)
    monkeypatch.setattr(module, "NEW_S", 0.0)
    room.ears.refuses = [OSError(errno.EMFILE, "no more")]
    room.say("Before.")
    async with room.looked_at():
        await room.until(lambda: room.polled != [])
        await room.until(lambda: room.saved > 0)
        room.say("In a new session.", session="two")
        await room.hears("In a new session.")
        room.say("And in a new project.", session="three", folder="new")
        await room.hears("In a new session.", "And in a new project.")
        room.say("Which goes on.", session="three", folder="new")
        await room.hears("In a new session.", "And in a new project.", "Which goes on.")


async def test_where_the_watches_do_not_suffice_it_looks_by_itself(room: Room) -> None:
    """In the middle of all its folders the limit is reached."""
    room.ears.full = [OSError(errno.ENOSPC, "no more")]
    room.say("Before.")
    async with room.looked_at():
        await room.until(lambda: room.polled != [])
        room.say("Found.", folder="new")
        room.say("Found too.")
        await room.hears("Found.", "Found too.")


async def test_a_watch_that_can_be_had_again_is_used_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_S", 0.0)
    monkeypatch.setattr(module, "LOOK_S", 0.0)
    room.ears.refuses = [OSError(errno.ENOSPC, "no more")]
    room.say("Before.")
    async with room.looked_at():
        await room.armed()
        await room.until(lambda: room.polled[-1:] == [{}])
        room.say("Heard.")
        await room.hears("Heard.")
    assert len(room.polled) == 2


async def test_where_changes_are_not_told_of_that_is_found_out(room: Room) -> None:
    """As in a network file system, where a watch can be had and stays silent."""
    room.ears.deaf = True
    room.say("Before.")
    async with room.looked_at(every_s=0.0):
        await room.armed()
        room.say("One.")
        await room.hears("One.")
        await room.until(lambda: room.polled == [{"claude-code": DEAF}])
        room.say("Two.")
        await room.hears("One.", "Two.")


async def test_what_the_system_lost_is_looked_for(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.watching.changes.MOST_PATHS", 1)
    room.say("Before.")
    async with room.looked_at():
        await room.armed()
        for number in range(20):
            room.say(f"{number}", session=f"s{number}", folder=f"f{number}")
        await room.hears(*map(str, range(20)))


async def test_among_five_thousand_files_a_new_one_is_found_at_once(room: Room) -> None:
    line = jsonl(room.write.typed("Before."))
    for folder in range(100):
        (room.root / f"f{folder}").mkdir(parents=True)
        for file in range(50):
            (room.root / f"f{folder}" / f"s{folder}-{file}.jsonl").write_bytes(line)
    async with room.looked_at():
        await room.armed()
        room.say("In an old one.", session="s7-7", folder="f7")
        room.say("In a new one.", session="new", folder="new")
        await room.hears("In an old one.", "In a new one.")
    assert len(room.positions.watch("claude-code").cursors) == 5001  # type: ignore[union-attr]


async def test_what_could_not_be_kept_is_kept_later(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A25."""
    monkeypatch.setattr(module, "_RECONNECT_S", (0.0,))
    room.say("Before.")
    async with room.looked_at():
        await room.armed()
        room.away = True
        room.say("Into the dark.")
        await room.hears("Into the dark.")
        room.say("Into the light.")
        await room.hears("Into the dark.", "Into the light.")


async def test_it_ends_with_its_thread_when_it_is_cancelled(room: Room) -> None:
    before = set(threading.enumerate())
    async with room.looked_at():
        await room.until(lambda: room.saved == 1)
    left = {thread for thread in threading.enumerate() if thread not in before}
    assert all(thread.name.startswith("asyncio") for thread in left)
