"""Following documents, databases and packed lines: what is finished, once, from now on."""

import gzip
import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest import packed
from ingest.backfilling import Survey
from ingest.cursor import Positions
from ingest.following import Follower
from ingest.reading import QUIET_S
from ingest.records import Dropped, Record
from ingest.transcripts import CLIENTS
from tests.fakes import ManualClock
from tests.fixtures.transcripts import line_stores as lines
from tests.fixtures.transcripts import whole_stores as whole
from tests.fixtures.transcripts.stores import STORES
from tests.fixtures.transcripts.talk import BEGUN, CWD, SAID, Turn, ms
from tests.unit.ingest.reading import everything, of_session, texts, words


class Place:
    """A store that is followed from 100 seconds after the conversation began."""

    def __init__(self, name: str, base: Path) -> None:
        self.store, self.root = STORES[name], base / "root"
        self.root.mkdir()
        self.store.write(self.root)
        self.clock = ManualClock(BEGUN + timedelta(seconds=100))
        self.state = base / "state.json"
        self.kept: list[Record] = []
        self.stamp()
        self.begin()

    def begin(self) -> None:
        self.positions = Positions.load(self.state)
        self.follower = Follower(CLIENTS[self.store.client], self.root, self.positions, self.clock)
        self.follower.begin()
        self.positions.save()

    async def keep(self, records: Sequence[Record]) -> None:
        self.kept += records

    async def beat(self, sessions: Sequence[str]) -> None:
        return None

    async def look(self, after: float = 1) -> list[str]:
        """What is kept of a round, `after` seconds later."""
        before = len(self.kept)
        self.clock.advance(after)
        await self.follower.look(self.keep, self.beat)
        return texts(self.kept[before:])

    def add(self, rows: whole.Rows) -> None:
        with closing(sqlite3.connect(self.root / self.store.path)) as database:
            whole.add(database, rows)
        self.clock.advance(0.01)
        self.stamp()

    def stamp(self) -> None:
        """The file changed at this moment of our clock."""
        now = self.clock.now().timestamp()
        os.utime(self.root / self.store.path, (now, now))


# Databases


async def test_rows_that_come_are_kept_once_also_after_a_restart(tmp_path: Path) -> None:
    """F74, F75, A25."""
    place = Place("hermes", tmp_path)
    assert await place.look() == []
    place.add([whole.hermes_row("20261120_080000_aa", Turn("user", "From now on.", 110))])
    assert await place.look() == ["From now on."]
    assert await place.look() == []
    place.positions.save()
    place.begin()
    assert await place.look() == []
    place.add([whole.hermes_row("20261120_080000_aa", Turn("assistant", "And on.", 120))])
    assert set(await place.look()) - {"From now on."} == {"And on."}


async def test_a_row_that_is_written_late_bears_an_old_time_and_is_kept(tmp_path: Path) -> None:
    """A long turn is written down at its end, with the times of its parts."""
    place = Place("hermes", tmp_path)
    place.add([whole.hermes_row("20261120_080000_aa", Turn("user", "One.", 110))])
    assert await place.look() == ["One."]
    place.add([whole.hermes_row("20261120_080000_aa", Turn("assistant", "Late.", 101))])
    assert await place.look(after=3600) == ["Late."]


async def test_an_answer_is_kept_when_it_is_finished(tmp_path: Path) -> None:
    """F76: rows change in place until then."""
    place = Place("opencode", tmp_path)
    message, _ = whole.opencode_message("ses_one", 20, Turn("assistant", "", 110))
    del message["time"]["completed"]
    touch = ("UPDATE session SET time_updated = ?", (ms(110),))
    row = (message["id"], "ses_one", ms(110), ms(110), whole.text(message))
    new = ("INSERT INTO message VALUES (?,?,?,?,?)", row)
    part = {"type": "text", "text": "Hal"}
    half = (f"p_{message['id']}", message["id"], "ses_one", ms(110), ms(110), whole.text(part))
    place.clock.advance(10)
    place.add([touch, new, ("INSERT INTO part VALUES (?,?,?,?,?,?)", half)])
    assert await place.look() == []
    message["time"]["completed"] = ms(120)
    grown = whole.text({**part, "text": "Half and half."})
    place.add(
        [
            ("UPDATE part SET data = ? WHERE id = ?", (grown, half[0])),
            ("UPDATE message SET data = ? WHERE id = ?", (whole.text(message), message["id"])),
        ]
    )
    assert await place.look() == ["Half and half."]
    assert await place.look() == []


async def test_an_answer_whose_end_never_came_is_kept_after_long_quiet(tmp_path: Path) -> None:
    place = Place("cursor", tmp_path)
    turns = [Turn("user", "Ask.", 110), Turn("assistant", "Answered so far", 111)]
    place.clock.advance(12)
    headers = [{"bubbleId": "b0", "type": 1}, {"bubbleId": "b3", "type": 2}]
    rows = whole.cursor_rows(
        "fresh", turns, status="generating", fullConversationHeadersOnly=headers
    )
    place.add([(s, (v[0].replace("b1", "b3"), v[1])) for s, v in rows])
    assert await place.look() == ["Ask."]
    assert await place.look(after=QUIET_S) == ["Answered so far"]
    assert await place.look(after=QUIET_S) == []


def test_a_release_without_some_columns_and_tables_is_read(tmp_path: Path) -> None:
    STORES["hermes"].write(tmp_path)
    with closing(sqlite3.connect(tmp_path / "state.db")) as database:
        for column in ("_compressed_summary", "active", "display_kind"):
            database.execute(f"DELETE FROM messages WHERE {column} NOT IN (0, 1)")
            database.execute(f"ALTER TABLE messages DROP COLUMN {column}")
        database.execute("ALTER TABLE sessions DROP COLUMN end_reason")
    found = Survey()
    assert SAID[0] in words(everything(STORES["hermes"], tmp_path, found))
    assert found.problems == []


@pytest.mark.parametrize("name", ["hermes", "opencode", "grok_cli_community", "cursor"])
def test_a_database_of_another_kind_is_no_trouble(name: str, tmp_path: Path) -> None:
    path = tmp_path / STORES[name].path
    whole.database(path, "CREATE TABLE other (x);", [])
    found = Survey()
    assert everything(STORES[name], tmp_path, found) == []
    assert found.problems == []


# Documents


async def test_a_half_written_document_is_read_when_it_is_whole(tmp_path: Path) -> None:
    """F76."""
    place = Place("cline", tmp_path)
    path = place.root / place.store.path
    rows = json.loads(path.read_bytes())
    rows.append({"ts": ms(110), "type": "say", "say": "user_feedback", "text": "Go on."})
    content = json.dumps(rows)
    path.write_text(content[:-9])
    assert await place.look() == []
    path.write_text(content)
    assert await place.look() == ["Go on."]
    path.write_text(content + " ")
    assert await place.look() == []


async def test_a_partial_row_is_waited_for(tmp_path: Path) -> None:
    place = Place("cline", tmp_path)
    path = place.root / place.store.path
    rows = json.loads(path.read_bytes())
    place.clock.advance(10)
    row: dict[str, Any] = {"ts": ms(110), "type": "say", "say": "text", "text": "Ha"}
    path.write_text(json.dumps([*rows, {**row, "partial": True}]))
    assert await place.look() == []
    path.write_text(json.dumps([*rows, {**row, "text": "Half no more.", "partial": False}]))
    assert await place.look() == ["Half no more."]


def test_a_document_that_stays_broken_is_counted(tmp_path: Path) -> None:
    STORES["cline"].write(tmp_path)
    path = tmp_path / STORES["cline"].path
    path.write_bytes(path.read_bytes()[:-5])
    found = Survey()
    assert everything(STORES["cline"], tmp_path, found) == []
    assert found.dropped[Dropped.BROKEN] == 1


async def test_an_export_waits_for_the_store_that_knows_more(tmp_path: Path) -> None:
    place = Place("cursor_export", tmp_path)
    line = {"role": "assistant", "message": {"content": [{"type": "text", "text": "More."}]}}
    path = place.root / place.store.path
    path.write_bytes(path.read_bytes() + json.dumps(line).encode() + b"\n")
    assert [*await place.look(), *await place.look()] == []
    assert await place.look(after=QUIET_S) == ["More."]


# Packed lines


@pytest.fixture
def packed_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rollout that was compressed; gzip stands for zstd, which not every machine has."""
    lines.codex(tmp_path)
    path = tmp_path / lines.CODEX_FILE
    path.with_name(path.name + ".zst").write_bytes(gzip.compress(path.read_bytes()))
    shutil.move(path, tmp_path / "elsewhere")
    monkeypatch.setattr(packed, "PROGRAM", "gzip")
    return tmp_path


def test_packed_lines_are_read(packed_root: Path) -> None:
    """F74: what a client compresses is not lost."""
    records = list(of_session(STORES["codex"], everything(STORES["codex"], packed_root)))
    assert words(records) == SAID
    assert {r.cwd for r in records} == {CWD}


def test_without_the_program_it_is_said(packed_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "PROGRAM", "no-such-program")
    found = Survey()
    everything(STORES["codex"], packed_root, found)
    [problem] = found.problems
    assert "install the program" in problem


def test_damaged_packed_lines_are_a_problem(packed_root: Path) -> None:
    path = next(packed_root.rglob("*.zst"))
    path.write_bytes(b"\x1f\x8b" + bytes(40))
    found = Survey()
    everything(STORES["codex"], packed_root, found)
    [problem] = found.problems
    assert "damaged" in problem
