import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.conversations import FORMAT, Conversation, parse_conversation
from agents_memory.domain.messages import Role

HEADER = {
    "format": FORMAT,
    "version": 1,
    "session": "s-1",
    "platform": "codex",
    "device": "laptop",
    "cwd": "/home/mara/work/harbor-api",
    "model": "gpt-5-codex",
}
TURN = {"id": "t-1", "role": "user", "at": "2026-09-16T09:12:00+02:00", "text": "Hello"}


def parse(*records: dict[str, Any]) -> Conversation:
    return parse_conversation(json.dumps(record) for record in records)


def test_a_whole_file_becomes_a_header_and_its_turns_without_problems() -> None:
    found = parse(HEADER, TURN, {**TURN, "id": "t-2", "role": "assistant", "text": "Hi"})

    assert found.problems == ()
    assert found.header is not None
    assert found.header.session == "s-1"
    assert found.header.cwd == "/home/mara/work/harbor-api"
    assert [(t.native_id, t.role, t.text) for t in found.turns] == [
        ("t-1", Role.USER, "Hello"),
        ("t-2", Role.ASSISTANT, "Hi"),
    ]
    assert found.turns[0].occurred_at == datetime(
        2026, 9, 16, 9, 12, tzinfo=timezone(timedelta(hours=2))
    )


def test_the_model_is_the_turns_own_then_the_headers_and_none_for_a_user() -> None:
    """F78"""
    found = parse(
        HEADER,
        {**TURN, "model": "ignored"},
        {**TURN, "id": "t-2", "role": "assistant"},
        {**TURN, "id": "t-3", "role": "assistant", "model": "o9"},
    )

    assert [turn.model for turn in found.turns] == [None, "gpt-5-codex", "o9"]


def test_unknown_keys_are_ignored() -> None:
    found = parse({**HEADER, "colour": "red"}, {**TURN, "tokens": [1, {"x": 2}]})

    assert found.problems == ()
    assert len(found.turns) == 1


@pytest.mark.parametrize(
    "line",
    [
        "{not json",
        '"a string"',
        "[]",
        "17",
        "null",
        "[" * 200_000,
        '{"id": ' + "9" * 5000 + "}",
        '{"id": "x", "role": "user"}',
        '{"role": "user", "text": "no id"}',
        '{"id": "", "role": "user", "text": "empty id"}',
        '{"id": 4, "role": "user", "text": "a number for an id"}',
        '{"id": "x", "role": "system", "text": "a role of its own"}',
        '{"id": "x", "role": "user", "text": ["a list"]}',
        '{"id": "x", "role": "user", "text": " \\n"}',
    ],
)
def test_a_bad_line_is_reported_by_number_and_the_lines_around_it_are_kept(line: str) -> None:
    lines = [json.dumps(HEADER), json.dumps(TURN), line, json.dumps({**TURN, "id": "t-2"})]

    found = parse_conversation(lines)

    assert [turn.native_id for turn in found.turns] == ["t-1", "t-2"]
    assert [problem.line for problem in found.problems] == [3]


def test_a_problem_never_quotes_the_content() -> None:
    found = parse(HEADER, {"id": "x", "role": "hunter2", "text": ["hunter2"]})

    assert [p.message for p in found.problems] == ['missing or wrong: "role", "text"']


@pytest.mark.parametrize(
    ("at", "complaint"),
    [
        ("2026-09-16T09:12:00", "no offset"),
        ("2026-09-16", "no offset"),
        ("yesterday", "no time"),
        ("0001-01-01T00:00:00+14:00", "no time"),
        ("\ud800", "no time"),
        (1789543200, "no time"),
        (["2026-09-16"], "no time"),
    ],
)
def test_a_time_that_cannot_be_placed_keeps_the_words_and_says_so(
    at: object, complaint: str
) -> None:
    """F54"""
    found = parse(HEADER, {**TURN, "at": at})

    assert [(turn.text, turn.occurred_at) for turn in found.turns] == [("Hello", None)]
    assert complaint in found.problems[0].message


def test_a_missing_time_is_no_problem() -> None:
    found = parse(HEADER, {"id": "t-1", "role": "user", "text": "Hello"})

    assert found.problems == ()
    assert found.turns[0].occurred_at is None


def test_zulu_time_is_understood() -> None:
    found = parse(HEADER, {**TURN, "at": "2026-09-16T07:12:00Z"})

    assert found.turns[0].occurred_at == datetime(2026, 9, 16, 7, 12, tzinfo=UTC)


def test_a_byte_order_mark_crlf_and_blank_lines_are_tolerated() -> None:
    lines = ["\ufeff" + json.dumps(HEADER) + "\r\n", "\r\n", "  \n", json.dumps(TURN) + "\r\n"]

    found = parse_conversation(lines)

    assert found.problems == ()
    assert found.header is not None
    assert len(found.turns) == 1


def test_nul_and_lone_surrogates_survive_to_be_repaired_by_the_intake() -> None:
    found = parse_conversation([json.dumps(HEADER), json.dumps({**TURN, "text": "a\0b\ud800c"})])

    assert found.turns[0].text == "a\0b\ud800c"


def test_a_second_turn_with_the_same_id_is_skipped_and_said() -> None:
    found = parse(HEADER, TURN, {**TURN, "text": "Other words"})

    assert [turn.text for turn in found.turns] == ["Hello"]
    assert [problem.line for problem in found.problems] == [3]


def test_without_a_header_the_turns_are_still_read() -> None:
    found = parse(TURN)

    assert found.header is None
    assert len(found.turns) == 1
    assert "no header" in found.problems[0].message


@pytest.mark.parametrize(
    "change",
    [{"format": "other"}, {"version": 2}, {"version": None}, {"session": ""}, {"platform": 3}],
)
def test_a_header_that_cannot_be_used_is_reported_once(change: dict[str, Any]) -> None:
    found = parse({**HEADER, **change}, TURN)

    assert found.header is None
    assert [problem.line for problem in found.problems] == [1]
    assert len(found.turns) == 1


def test_an_empty_file_is_an_empty_conversation() -> None:
    assert parse_conversation([]) == Conversation(header=None, turns=(), problems=())


@given(st.lists(st.text() | st.from_type(dict).map(str), max_size=6))
def test_no_lines_at_all_can_break_the_parser(lines: list[str]) -> None:
    found = parse_conversation(lines)

    assert len(found.turns) + len(found.problems) <= 2 * len(lines)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys([*HEADER, *TURN], _JSON)))
def test_no_record_of_the_right_keys_can_break_the_parser(record: dict[str, Any]) -> None:
    found = parse_conversation([json.dumps(record), json.dumps({**record, "format": FORMAT})])

    assert len(found.turns) <= 2
