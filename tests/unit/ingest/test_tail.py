"""One file that grows: whole lines only, each once, whatever becomes of the file."""

import json
import os
from pathlib import Path

import pytest

from ingest import tail as tail_module
from ingest.cursor import Cursor
from ingest.records import Dropped
from ingest.tail import Tail
from tests.fixtures.transcripts.writer import BEGUN, Writer, jsonl
from tests.unit.ingest.reading import CLIENT, texts

PATH = "folder/5f0c1a52.jsonl"


class Transcript:
    """A file below a root, written to as a client does."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / PATH
        self.path.parent.mkdir()
        self.path.touch()
        self.write = Writer()

    def append(self, data: bytes) -> None:
        with open(self.path, "ab") as file:
            file.write(data)

    def tail(self, cursor: Cursor | None = None, **more: object) -> Tail:
        facts = CLIENT.facts(Path(PATH))
        assert facts is not None
        return Tail(self.root, PATH, CLIENT, facts, cursor=cursor, **more)  # type: ignore[arg-type]


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path)


def test_a_line_is_read_once_it_is_whole(transcript: Transcript) -> None:
    """A29: the cursor stays before a line that is still being written."""
    line = jsonl(transcript.write.typed("Tide tables, please."))
    transcript.append(line[:40])
    tail = transcript.tail()
    first = tail.read()
    assert (first.records, first.grew, first.cursor.offset, tail.waiting) == ((), False, 0, True)
    transcript.append(line[40:])
    second = tail.read()
    assert texts(second.records) == ["Tide tables, please."]
    assert not tail.waiting
    assert tail.read().records == ()


def test_only_what_is_new_is_read(transcript: Transcript) -> None:
    """B15."""
    tail = transcript.tail()
    for words in ("One.", "Two.", "Three."):
        transcript.append(jsonl(transcript.write.typed(words)))
        assert texts(tail.read().records) == [words]


def test_an_answer_is_given_out_when_it_is_finished(transcript: Transcript) -> None:
    """F76: at its end, at the next line, or after long quiet."""
    tail, write = transcript.tail(), transcript.write
    transcript.append(jsonl(write.answer("Half", key="m1")))
    assert (tail.read().records, tail.read().records, tail.waiting) == ((), (), True)
    transcript.append(jsonl(write.answer("Half and half.", key="m1", stop="end_turn")))
    assert tail.read().records == ()
    assert texts(tail.read().records) == ["Half and half."]
    transcript.append(jsonl(write.answer("Never ended", key="m2")))
    assert tail.read().records == ()
    assert texts(tail.read(quiet=True).records) == ["Never ended"]
    assert not tail.waiting


def test_a_reading_that_begins_at_the_cursor_repeats_at_most_the_last_turn(
    transcript: Transcript,
) -> None:
    write = transcript.write
    transcript.append(jsonl(write.typed("One."), write.answer("Two.", key="m1", stop="end_turn")))
    tail = transcript.tail()
    records = [*tail.read().records, *tail.read().records]
    cursor = tail.read().cursor
    transcript.append(jsonl(write.answer("Two.", key="m1", stop="end_turn"), write.typed("Three.")))
    again = transcript.tail(cursor).read().records
    assert texts(records) == ["One.", "Two."]
    assert texts(again) == ["Two.", "Three."]
    assert again[0].native_id == records[1].native_id


@pytest.mark.parametrize("how", ["truncated", "replaced", "overwritten"])
def test_a_file_that_is_another_one_now_is_read_from_its_beginning(
    transcript: Transcript, how: str
) -> None:
    write = transcript.write
    transcript.append(jsonl(write.typed("Before."), write.typed("Too long to be missed.")))
    tail = transcript.tail()
    tail.read()
    new = jsonl(write.typed("After."))
    if how == "replaced":
        other = transcript.path.with_name("other")
        other.write_bytes(
            new + jsonl(write.typed("And more of it, so that the file is no shorter."))
        )
        os.replace(other, transcript.path)
    elif how == "truncated":
        transcript.path.write_bytes(new)
    else:
        size = transcript.path.stat().st_size
        with open(transcript.path, "r+b") as file:
            file.write(new + b"\n" * (size - len(new)))
    assert texts(tail.read().records)[0] == "After."


def test_copies_of_old_lines_at_the_head_of_a_new_file_are_not_new(transcript: Transcript) -> None:
    """F74: from now on, also where a resumed session copies its past into a new file."""
    write = transcript.write
    since = BEGUN.replace(hour=9)
    old, unknown = write.typed("An hour ago."), write.typed("Whenever.", timestamp=None)
    new = write.typed("Now.", timestamp="2026-11-20T09:00:01.000Z")
    transcript.append(jsonl(old, unknown, new))
    tail = transcript.tail(since=since)
    assert texts(tail.read().records) == ["Whenever.", "Now."]
    assert tail.tally == {Dropped.BEFORE_CAPTURE: 1}
    transcript.append(jsonl(write.typed("Now, by a clock that was set back.")))
    assert texts(tail.read().records) == ["Now, by a clock that was set back."]


def test_a_line_that_is_too_long_is_skipped_without_being_held(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "MAX_LINE_BYTES", 3_000)
    monkeypatch.setattr(tail_module, "_SKIPPED_AT_A_TIME", 100)
    tail, write = transcript.tail(), transcript.write
    transcript.append(jsonl(write.typed("Before.")))
    transcript.append(b'{"type":"user","message":' + b"x" * 5_000)
    assert texts(tail.read().records) == ["Before."]
    before = tail.read().cursor
    transcript.append(b"y" * 5_000 + b"\n" + jsonl(write.typed("After.")))
    assert texts(tail.read().records) == ["After."]
    assert tail.tally == {Dropped.TOO_LONG: 1}
    assert texts(transcript.tail(before).read().records) == ["Before.", "After."]


def test_much_is_read_in_parts(transcript: Transcript) -> None:
    write = transcript.write
    transcript.append(jsonl(*(write.typed(f"Turn {n}.") for n in range(50))))
    tail, seen, parts, more = transcript.tail(), list[str](), 0, True
    while more:
        batch = tail.read(limit=1_000)
        seen += texts(batch.records)
        parts, more = parts + 1, batch.more
    assert seen == [f"Turn {n}." for n in range(50)]
    assert parts > 5


def test_a_last_line_without_an_end_is_read_after_long_quiet_if_it_is_whole(
    transcript: Transcript,
) -> None:
    tail, write = transcript.tail(), transcript.write
    whole = jsonl(write.typed("The last words.")).rstrip(b"\n")
    transcript.append(whole)
    assert tail.read().records == ()
    assert texts(tail.read(quiet=True).records) == ["The last words."]
    transcript.append(b"\n" + jsonl(write.typed("Not the last.")))
    assert texts(tail.read().records) == ["Not the last."]


def test_a_half_written_last_line_is_left_alone_and_completed_later(transcript: Transcript) -> None:
    tail = transcript.tail()
    line = jsonl(transcript.write.typed("In two parts."))
    transcript.append(line[:-20])
    assert tail.read(quiet=True).records == ()
    assert tail.tally == {Dropped.UNFINISHED: 1}
    transcript.append(line[-20:])
    assert texts(tail.read().records) == ["In two parts."]


def test_a_tail_of_nul_bytes_is_nothing_and_the_next_line_is_read(transcript: Transcript) -> None:
    tail, write = transcript.tail(), transcript.write
    transcript.append(jsonl(write.typed("Before the crash.")) + b"\0" * 4096)
    assert texts(tail.read().records) == ["Before the crash."]
    assert tail.read(quiet=True).records == ()
    transcript.append(jsonl(write.typed("After it.")))
    assert texts(tail.read().records) == ["After it."]


def test_a_sub_agents_companion_names_its_role(tmp_path: Path) -> None:
    path = "folder/s/subagents/agent-1.jsonl"
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_bytes(jsonl(Writer().user("Count.", isSidechain=True)))
    facts = CLIENT.facts(Path(path))
    assert facts is not None
    for companion, role in [
        (b'{"agentType": "Plan"}', "Plan"),
        (b'{"agentType": 7}', None),
        (b"[]", None),
        (b"{", None),
    ]:
        (tmp_path / path).with_suffix(".meta.json").write_bytes(companion)
        [record] = Tail(tmp_path, path, CLIENT, facts).read().records
        assert record.subagent_role == role


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "link"])
def test_what_is_no_regular_file_is_not_opened(transcript: Transcript, kind: str) -> None:
    transcript.path.unlink()
    if kind == "folder":
        transcript.path.mkdir()
    elif kind == "pipe":
        os.mkfifo(transcript.path)
    elif kind == "link":
        secret = transcript.root / "secret"
        secret.write_bytes(jsonl(transcript.write.typed("Elsewhere.")))
        transcript.path.symlink_to(secret)
    with pytest.raises(OSError):  # noqa: PT011 (which one depends on the system)
        transcript.tail().read()


def test_nothing_of_the_clients_is_changed(transcript: Transcript) -> None:
    """F74: read-only."""
    transcript.append(jsonl(transcript.write.typed("Look, don't touch.")))
    transcript.path.chmod(0o400)
    transcript.path.parent.chmod(0o500)
    before = transcript.path.stat()
    try:
        assert transcript.tail().read().records
    finally:
        transcript.path.parent.chmod(0o700)
    after = transcript.path.stat()
    assert (after.st_mtime_ns, after.st_size, after.st_mode) == (
        before.st_mtime_ns,
        before.st_size,
        before.st_mode,
    )
    assert [entry.name for entry in transcript.path.parent.iterdir()] == [transcript.path.name]


def test_line_separators_inside_of_words_end_no_line(transcript: Transcript) -> None:
    said = "one\u2028two\u2029three\x85four\x0cfive\x1esix"
    line = json.dumps(transcript.write.typed(said), ensure_ascii=False).encode() + b"\r\n"
    transcript.append(line)
    assert texts(transcript.tail().read().records) == [said]
