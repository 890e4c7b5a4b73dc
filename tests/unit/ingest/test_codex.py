"""Codex: two logs, one turn; who typed it; what was copied from another session."""

from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.messages import Role
from ingest.records import Record
from tests.fixtures.transcripts import line_stores as lines
from tests.fixtures.transcripts.line_stores import codex_line, codex_meta, codex_turn, put
from tests.fixtures.transcripts.stores import STORES
from tests.fixtures.transcripts.talk import TURNS, Turn
from tests.fixtures.transcripts.writer import jsonl
from tests.unit.ingest.reading import everything, texts

ASK = Turn("user", "Which tide?", 5)


def read(root: Path, *written: lines.Line) -> list[Record]:
    put(root / lines.CODEX_FILE, jsonl(*written))
    return everything(STORES["codex"], root)


@pytest.mark.parametrize("log", ["event_msg", "response_item"])
def test_either_log_is_enough(tmp_path: Path, log: str) -> None:
    """Which of them a release keeps is its own affair."""
    kept = [one for one in codex_turn("t", *TURNS[:4]) if one["type"] in (log, "turn_context")]
    both = read(tmp_path / "both", codex_meta("one"), *codex_turn("t", *TURNS[:4]))
    one = read(tmp_path / "one", codex_meta("one"), *kept)
    assert texts(one) == [turn.text for turn in TURNS[:4]]
    assert [r.native_id for r in one] == [r.native_id for r in both]


def test_what_is_said_twice_in_a_turn_is_two_turns(tmp_path: Path) -> None:
    twice = codex_turn("t", ASK, ASK)
    assert texts(read(tmp_path, codex_meta("one"), *twice)) == [ASK.text, ASK.text]


@pytest.mark.parametrize(
    ("meta", "human", "venue"),
    [
        ({}, True, "terminal"),
        ({"originator": "codex_vscode", "source": "vscode"}, True, "codex_vscode"),
        ({"originator": "Somebody's App"}, True, "Somebody's App"),
        ({"originator": "codex_exec", "source": "exec"}, False, "auto"),
    ],
)
def test_who_typed_it_depends_on_what_runs_it(
    tmp_path: Path, meta: dict[str, Any], human: bool, venue: str
) -> None:
    """C9: no session is lost for the name of its program."""
    [record] = read(tmp_path, codex_meta("one", **meta), *codex_turn("t", ASK))
    assert (record.human, record.venue, record.role) == (human, venue, Role.USER)


def test_the_editors_context_is_not_typed(tmp_path: Path) -> None:
    said = "# Context from my IDE setup:\n\n## Open tabs\n- a.py\n\n## My request for Codex:\nGo."
    records = read(tmp_path, codex_meta("one"), *codex_turn("t", Turn("user", said, 1)))
    assert texts(records) == ["Go."]


def test_lines_of_old_releases_have_no_envelope(tmp_path: Path) -> None:
    def bare(role: str, text: str) -> lines.Line:
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}

    meta = {"id": "old", "timestamp": "2025-06-01T10:00:00Z", "instructions": None}
    records = read(tmp_path, meta, bare("user", "Hello."), bare("assistant", "Hi."))
    assert texts(records) == ["Hello.", "Hi."]
    assert {(r.session, r.occurred_at) for r in records} == {("old", None)}


def test_a_fork_repeats_its_parents_turns_and_adds_its_own(tmp_path: Path) -> None:
    """B13."""
    parent = codex_turn("t1", *TURNS[:4])
    put(tmp_path / lines.CODEX_FILE, jsonl(codex_meta(f"{lines.CODEX}a"), *parent))
    fork = codex_meta(f"{lines.CODEX}c", forked_from_id=f"{lines.CODEX}a")
    copy = [codex_meta(f"{lines.CODEX}a"), *parent, *codex_turn("t9", ASK)]
    path = lines.CODEX_FILE.replace(f"{lines.CODEX}a", f"{lines.CODEX}c")
    put(tmp_path / path, jsonl(fork, *copy))
    records = everything(STORES["codex"], tmp_path)
    assert sorted(texts(records)) == sorted([*(t.text for t in TURNS[:4]), ASK.text])
    assert {r.session for r in records if r.text == ASK.text} == {f"{lines.CODEX}c"}


def test_more_turns_taken_back_than_there_are_leave_nothing(tmp_path: Path) -> None:
    back = codex_line(9, "event_msg", {"type": "thread_rolled_back", "num_turns": 99})
    written = [codex_meta("one"), *codex_turn("t1", ASK), back, *codex_turn("t2", TURNS[4])]
    assert texts(read(tmp_path, *written)) == [TURNS[4].text]
