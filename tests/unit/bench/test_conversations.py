"""LoCoMo's layout, with the forms of evidence that its file really holds."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench import conversations
from bench.conversations import Question, Sample


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


def test_a_chinese_diary_gives_its_time_and_its_sort_of_question(tmp_path: Path) -> None:
    line = {
        "set": "02_conditional_events",
        "tid": 7,
        "messages": [
            {"mid": 0, "message": "我将要参加论坛。", "time": "2024年04月01日 周一 08:30"},
            {"mid": 1, "message": "论坛在北京。", "time": "2024年04月02日 周二 20:58"},
        ],
        "questions": [
            {"question": "论坛在哪里？", "target_step_id": [1]},
            {"question": "谁？", "target_step_id": [9]},
        ],
    }
    path = tmp_path / "diary.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(line).encode()))
    [sample] = conversations.load(path)
    assert [turn.said_at for turn in sample.turns] == [
        datetime(2024, 4, 1, 8, 30, tzinfo=UTC),
        datetime(2024, 4, 2, 20, 58, tzinfo=UTC),
    ]
    assert sample.questions == (Question("论坛在哪里？", "conditional", ("1",)),)


def test_facts_are_turns_without_a_time(tmp_path: Path) -> None:
    line = {
        "question": ["Who met?", "Who?", "Nobody?"],
        "facts": ["Ada met Ben.", "Ben met Cleo.", "Cleo sings."],
        "supporting_fact_indices": [[0, 1], [2], []],
    }
    path = tmp_path / "facts.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    [sample] = conversations.load(path)
    assert (sample.turns[0].text, sample.turns[0].said_at) == ("Ada met Ben.", None)
    assert sample.questions == (
        Question("Who met?", "several facts", ("0", "1")),
        Question("Who?", "one fact", ("2",)),
    )
