"""Following a client: from now on, in order, and never past what was not kept."""

import asyncio
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from agents_memory.clock import SystemClock
from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.observe import Action
from ingest import reading
from ingest.batch import Transcript
from ingest.cursor import Positions
from ingest.finding import Found
from ingest.following import BEAT_S, LIVE_S, Follower
from ingest.opening import open_transcript
from ingest.reading import QUIET_S, REST_S
from ingest.records import Record
from tests.fakes import ManualClock
from tests.fixtures.transcripts.writer import Writer, jsonl
from tests.unit.ingest.reading import CLIENT, texts


class Place:
    """A folder of transcripts, and a follower whose words are gathered in `kept`."""

    def __init__(self, base: Path) -> None:
        self.root = base / "projects"
        self.state = base / "state.json"
        self.clock = ManualClock(SystemClock().now())
        self.write = Writer(begun=self.clock.now())
        self.kept: list[Record] = []
        self.beats: list[list[str]] = []
        self.away = False
        self.heard: list[bool] = []
        self.positions = Positions.load(self.state)
        self.follower = Follower(CLIENT, self.root, self.positions, self.clock)

    def restart(self) -> None:
        self.positions.save()
        self.positions = Positions.load(self.state)
        self.follower = Follower(CLIENT, self.root, self.positions, self.clock)

    def append(self, session: str, data: bytes) -> Path:
        path = self.root / "folder" / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab") as file:
            file.write(data)
        now = self.clock.now().timestamp()
        os.utime(path, (now, now))
        return path

    def say(self, text: str, session: str = "one") -> Path:
        return self.append(session, jsonl(self.write.typed(text)))

    async def keep(self, records: Sequence[Record]) -> None:
        if self.away:
            raise DatabaseUnavailable("away")
        self.kept += records

    async def beat(self, sessions: Sequence[str]) -> None:
        self.beats.append(list(sessions))

    async def look(self, *told: str, after: float = 1) -> list[str]:
        """What is kept of a round, `after` seconds later."""
        self.clock.advance(after)
        before = len(self.kept)
        self.heard.append(await self.follower.look(self.keep, self.beat, told))
        return texts(self.kept[before:])

    async def glance(
        self, *told: str, after: float = 0.2, live: bool = True, new: bool = False
    ) -> list[str]:
        """What is kept of a glance, `after` seconds later."""
        self.clock.advance(after)
        before = len(self.kept)
        await self.follower.glance(self.keep, self.beat, told, live=live, new=new)
        return texts(self.kept[before:])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_what_was_there_before_is_not_read_and_what_comes_is(place: Place) -> None:
    """F74: from now on."""
    place.say("Said before.")
    place.append("one", b'{"type":"user","mess')
    place.follower.begin()
    assert await place.look() == []
    place.append("one", b'age":"cut off"}\n')
    place.say("Said now.")
    place.say("In a new session.", session="two")
    assert sorted(await place.look()) == ["In a new session.", "Said now."]
    assert await place.look() == []


async def test_capture_begins_before_the_client_is_installed(place: Place) -> None:
    place.follower.begin()
    assert await place.look() == []
    place.say("First words ever.")
    assert await place.look() == ["First words ever."]


async def test_what_is_said_while_nobody_listens_is_read_later(place: Place) -> None:
    """A25: the position outlives the process."""
    place.follower.begin()
    place.say("One.")
    await place.look()
    place.restart()
    place.say("Two.")
    place.follower.begin()
    assert (await place.look())[-1] == "Two."
    assert len({record.native_id for record in place.kept}) == 2


async def test_a_position_moves_only_after_the_commit(place: Place) -> None:
    """A25: what could not be stored is read again, in order, until it is."""
    place.follower.begin()
    place.say("One.")
    place.away = True
    for _ in range(3):
        with pytest.raises(DatabaseUnavailable):
            await place.look()
        place.say("More.", session="two")
    place.restart()
    place.away = False
    place.follower.begin()
    kept = await place.look()
    assert "One." in kept
    assert len(place.kept) == len({record.native_id for record in place.kept})


async def test_another_root_begins_anew(place: Place) -> None:
    place.follower.begin()
    place.say("One.")
    await place.look()
    moved = place.root.rename(place.root.with_name("elsewhere"))
    place.root = moved
    place.restart()
    place.follower.begin()
    assert await place.look() == []
    place.say("Two.")
    assert await place.look() == ["Two."]


async def test_an_answer_without_an_end_is_kept_after_long_quiet(place: Place) -> None:
    place.follower.begin()
    place.append("one", jsonl(place.write.answer("Unended", key="m1")))
    assert await place.look() == []
    assert await place.look(after=QUIET_S / 2) == []
    assert await place.look(after=QUIET_S / 2) == ["Unended"]
    assert await place.look(after=QUIET_S) == []


async def test_an_ended_answer_is_kept_in_the_next_round(place: Place) -> None:
    place.follower.begin()
    place.append("one", jsonl(place.write.answer("Ended.", key="m1", stop="end_turn")))
    assert [*await place.look(), *await place.look()] == ["Ended."]


async def test_a_glance_follows_who_speaks_now_and_leaves_new_sessions_to_the_next_look(
    place: Place,
) -> None:
    place.follower.begin()
    place.say("One.")
    assert await place.look() == ["One."]
    place.say("Two.")
    place.say("Elsewhere.", session="two")
    assert await place.glance() == ["Two."]
    assert await place.look() == ["Elsewhere."]


async def test_a_glance_at_what_is_new_finds_new_sessions_and_goes_on_with_them(
    place: Place,
) -> None:
    """F74: where the system tells nothing, before everything is looked through again."""
    place.say("Before.", session="zero")
    place.follower.begin()
    await place.look()
    place.say("First words.", session="two")
    assert place.follower.has_new()
    assert await place.glance(new=True) == ["First words."]
    assert place.beats[-1] == ["two"]
    place.say("And more.", session="two")
    assert await place.glance() == ["And more."]
    assert await place.look() == []


async def test_a_glance_keeps_an_ended_answer_once_nothing_is_added_for_a_moment(
    place: Place,
) -> None:
    place.follower.begin()
    place.say("Go.")
    await place.look()
    place.append("one", jsonl(place.write.answer("Done.", key="m1", stop="end_turn")))
    assert await place.glance() == []
    assert await place.glance(after=REST_S / 2) == []
    assert await place.glance(after=REST_S) == ["Done."]


async def test_a_glance_at_a_file_that_is_gone_finds_nothing(place: Place) -> None:
    place.follower.begin()
    path = place.say("One.")
    await place.look()
    path.unlink()
    assert await place.glance() == []


async def test_what_is_told_of_is_read_and_nothing_else(place: Place) -> None:
    place.say("Before.", session="zero")
    place.follower.begin()
    await place.look()
    place.say("One.")
    place.say("Elsewhere.", session="two")
    assert await place.glance(live=False) == []
    assert await place.glance("folder/one.jsonl", live=False) == ["One."]
    assert await place.glance("folder", "folder/none.jsonl", live=False) == ["Elsewhere."]
    assert place.beats[-2:] == [["one"], ["two"]]
    assert await place.look() == []


async def test_what_waits_has_a_time_at_which_it_is_read(place: Place) -> None:
    place.follower.begin()
    place.say("Go.")
    await place.look()
    assert place.follower.due_at == math.inf
    place.append("one", jsonl(place.write.answer("Unended", key="m1")))
    await place.glance("folder/one.jsonl", live=False)
    now = place.clock.monotonic()
    assert place.follower.due_at == pytest.approx(now + REST_S)
    assert await place.glance(after=REST_S * 1.1, live=False) == []
    assert place.follower.due_at == pytest.approx(now + QUIET_S)
    assert await place.glance(after=QUIET_S, live=False) == ["Unended"]
    assert place.follower.due_at == math.inf


async def test_what_waits_in_a_file_that_is_gone_waits_no_more(place: Place) -> None:
    place.follower.begin()
    path = place.append("one", jsonl(place.write.answer("Unended", key="m1")))
    await place.look()
    path.unlink()
    assert await place.glance(after=REST_S * 2, live=False) == []
    assert place.follower.due_at == math.inf


async def test_paths_are_told_from_each_other_by_the_root(place: Place) -> None:
    root = place.follower.root
    told = {f"{root}/a/1.jsonl", f"{root}/state.db-wal", f"{root}-other/1.jsonl", f"{root}.db"}
    assert place.follower.below(told) == {"a/1.jsonl", "state.db"}
    assert place.follower.below([str(root)]) == {""}
    assert place.follower.below([str(root.parent), "/"]) == {""}
    assert place.follower.below([f"{root.parent}/sibling"]) == set()


async def test_a_change_that_nobody_tells_of_until_the_next_look_is_noticed(place: Place) -> None:
    place.follower.begin()
    place.say("One.")
    await place.look("folder/one.jsonl")
    place.say("Two.")
    assert await place.look() == ["Two."]
    await place.look()
    await place.look()
    assert place.heard == [True, True, False, True]


@pytest.mark.parametrize("told", ["folder/one.jsonl", ""])
async def test_a_change_that_is_told_of_late_was_told_of(place: Place, told: str) -> None:
    place.follower.begin()
    place.say("One.")
    await place.look()
    place.say("Two.")
    await place.look()
    await place.glance(told)
    await place.look()
    place.say("Three.")
    await place.look(told)
    await place.look()
    assert all(place.heard)


async def test_one_bad_file_stops_no_other_and_is_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = True

    def opening(root: Path, found: Found, *rest: Any, **more: Any) -> Transcript:
        if denied and "bad" in found.path:
            raise PermissionError(13, "denied")
        return open_transcript(root, found, *rest, **more)

    monkeypatch.setattr(reading, "open_transcript", opening)
    place.follower.begin()
    place.say("Not to be read yet.", session="bad")
    place.say("Good.", session="good")
    assert await place.look() == ["Good."]
    denied = False
    assert await place.look() == []
    assert await place.look(after=60) == ["Not to be read yet."]
    assert place.beats[0] == ["good"]


async def test_trouble_with_a_file_is_told_once_and_names_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble = OSError("file is not a database")

    def opening(root: Path, found: Found, *rest: Any, **more: Any) -> Transcript:
        raise trouble

    monkeypatch.setattr(reading, "open_transcript", opening)
    place.follower.begin()
    place.say("Not to be read yet.", session="bad")
    with capture_logs() as lines:
        for _ in range(3):
            await place.look(after=60)
        trouble = OSError("it changed while it was read")
        await place.look(after=60)
    told = [line for line in lines if line["event"] is Action.CAPTURE_SKIPPED]
    assert [line["path"] for line in told if line["log_level"] == "warning"] == ["bad.jsonl"] * 2
    assert {str(line["error"]) for line in told} == {
        "file is not a database",
        "it changed while it was read",
    }


async def test_a_file_that_goes_away_is_forgotten_without_a_word(place: Place) -> None:
    place.follower.begin()
    path = place.say("Soon deleted.")
    place.say("Stays.", session="two")
    await place.look()
    path.unlink()
    assert await place.look() == []
    watch = place.positions.watch(CLIENT.name)
    assert watch is not None
    assert list(watch.cursors) == ["folder/two.jsonl"]


async def test_a_root_that_is_out_of_sight_keeps_its_positions(place: Place) -> None:
    place.follower.begin()
    place.say("Once.")
    await place.look()
    away = place.root.rename(place.root.with_name("unmounted"))
    assert await place.look() == []
    away.rename(place.root)
    place.say("Again here.")
    assert await place.look() == ["Again here."]


async def test_live_sessions_give_signs_of_life_until_they_fall_silent(place: Place) -> None:
    """F77: at once when a session speaks, then at the beat, and not once it is over."""
    place.say("Old.", session="old")
    place.clock.advance(LIVE_S + 1)
    place.follower.begin()
    place.say("Hello.")
    await place.look()
    assert place.beats == [["one"]]
    await place.look(after=BEAT_S / 2)
    assert place.beats == [["one"]]
    await place.look(after=BEAT_S / 2)
    assert place.beats == [["one"], ["one"]]
    place.say("Me too.", session="two")
    await place.look()
    assert place.beats[2:] == [["one", "two"]]
    await place.look(after=LIVE_S + 2)
    assert len(place.beats) == 3


async def test_a_session_that_cannot_be_stored_gives_no_sign(place: Place) -> None:
    place.follower.begin()
    place.say("Hello.")
    place.away = True
    with pytest.raises(DatabaseUnavailable):
        await place.look()
    assert place.beats == []


async def test_a_round_can_be_cancelled_and_loses_nothing(place: Place) -> None:
    place.follower.begin()
    place.say("Interrupted.")
    reached, never = asyncio.Event(), asyncio.Event()

    async def stuck(records: Sequence[Record]) -> None:
        reached.set()
        await never.wait()

    round_ = asyncio.create_task(place.follower.look(stuck, place.beat))
    await reached.wait()
    round_.cancel()
    with pytest.raises(asyncio.CancelledError):
        await round_
    assert await place.look() == ["Interrupted."]


async def test_damaged_lines_are_counted_in_the_log_without_their_words(place: Place) -> None:
    """A28."""
    place.follower.begin()
    place.append("one", jsonl(place.write.tool_result("ok"), b'{"cut off": "secret words'))
    with capture_logs() as lines:
        await place.look()
        await place.look()
    [skipped] = [line for line in lines if line["event"] is Action.CAPTURE_SKIPPED]
    assert (skipped["log_level"], skipped["tool"], skipped["broken"]) == ("warning", 1, 1)
    assert skipped["where"] == ["one.jsonl"]
    assert "secret words" not in str(lines)


async def test_a_file_in_another_encoding_is_named_with_what_to_do(place: Place) -> None:
    """Converted by an editor: nothing of it is taken in, and the others go on."""
    place.follower.begin()
    line = jsonl(place.write.typed("In UTF-16."))
    place.append("bad", line.decode().encode("utf-16"))
    place.say("Goes on.", session="two")
    with capture_logs() as lines:
        assert await place.look() == ["Goes on."]
        assert await place.look(after=60) == []
    [told] = [line for line in lines if line["event"] is Action.CAPTURE_SKIPPED]
    assert (told["path"], told["reason"]) == ("bad.jsonl", "it is UTF-16; convert it to UTF-8")


async def test_a_last_line_without_its_end_is_waited_for(place: Place) -> None:
    """A29: however whole it looks, it has half a minute to come to its end."""
    place.follower.begin()
    line = jsonl(place.write.typed("Whole, but for its end."))
    place.append("one", line[:-1])
    assert [*await place.look(), *await place.look()] == []
    assert await place.look(after=QUIET_S) == ["Whole, but for its end."]
    place.append("one", b"\n")
    assert await place.look() == []
