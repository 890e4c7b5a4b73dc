"""LoCoMo's layout, with the forms of evidence that its file really holds."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench import conversations
from bench.conversations import Sample


def _load(tmp_path: Path, *questions: dict[str, Any]) -> Sample:
    sample = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "session_10": [{"dia_id": "D10:1", "speaker": "Ada", "text": "last"}],
            "session_10_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"dia_id": "D2:1", "speaker": "Ada", "text": "look", "blip_caption": "a heron"},
                {"dia_id": "D2:17", "speaker": "Ben", "text": "nice"},
            ],
        },
        "qa": [{"question": "What?", "category": 4, **question} for question in questions],
    }
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    [loaded] = conversations.load(path)
    return loaded


def test_sessions_come_in_the_order_of_their_numbers_with_their_times(tmp_path: Path) -> None:
    turns = _load(tmp_path).turns
    assert [turn.id for turn in turns] == ["D2:1", "D2:17", "D10:1"]
    assert [turn.said_at for turn in turns] == [
        None,
        None,
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    ]
    assert turns[0].text == "look [image: a heron]"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["D2:1"], ("D2:1",)),
        (["D2:1; D10:1"], ("D2:1", "D10:1")),
        (["D:2:17"], ("D2:17",)),
        (["D2:01", "D2:1"], ("D2:1",)),
        (["D2:1", "D9:9"], ("D2:1",)),
    ],
)
def test_every_form_of_evidence_names_turns_that_exist(
    tmp_path: Path, written: list[str], meant: tuple[str, ...]
) -> None:
    [question] = _load(tmp_path, {"evidence": written}).questions
    assert question.evidence == meant


@pytest.mark.parametrize(
    "question",
    [
        {"evidence": []},
        {"evidence": None},
        {"evidence": ["D9:9"]},
        {"evidence": ["D"]},
        {"evidence": ["D2:1"], "category": conversations.ADVERSARIAL},
    ],
)
def test_a_question_that_no_turn_answers_is_left_out(
    tmp_path: Path, question: dict[str, Any]
) -> None:
    assert _load(tmp_path, question).questions == ()
