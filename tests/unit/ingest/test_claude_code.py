"""Claude Code's transcripts: who said what, and what is nobody's words."""

import json
from pathlib import PurePath
from typing import Any

import pytest

from agents_memory.domain.messages import Role
from ingest.records import Dropped
from ingest.transcripts.protocol import FileFacts
from tests.fixtures.transcripts.writer import Writer, jsonl, thinking, tool_use
from tests.unit.ingest.reading import (
    CLIENT,
    EDGE,
    FORK,
    MAIN,
    MAIN_TURNS,
    SUBAGENT,
    read,
    read_file,
    reader,
    texts,
    words,
)


@pytest.fixture
def write() -> Writer:
    return Writer()


def test_a_conversation_is_what_was_typed_and_answered() -> None:
    """F74, B3: no thinking, no tools, no bookkeeping; the prompt queued meanwhile is there."""
    records = read_file(MAIN)
    assert words(records) == MAIN_TURNS
    assert all(r.human is (r.role is Role.USER) and not r.subagent for r in records)
    assert {r.model for r in records if r.role is Role.ASSISTANT} == {"claude-opus-5"}
    assert {(r.cwd, r.venue) for r in records} == {("/home/mara/code/harbor", "terminal")}
    assert {r.session for r in records} == {"5f0c1a52-0d0e-4a57-9a86-6a7f0e0c1b11"}
    assert [r.occurred_at for r in records] == sorted(
        r.occurred_at for r in records if r.occurred_at
    )


def test_a_sub_agent_belongs_to_its_parents_session_and_is_no_person() -> None:
    """F78, C9: its task is the parent's word."""
    task, answer = read_file(SUBAGENT)
    assert (task.role, task.human, task.model) == (Role.ASSISTANT, False, None)
    assert (answer.text, answer.model) == ("planner.py and report.py do.", "claude-opus-5")
    for record in (task, answer):
        assert record.session == "5f0c1a52-0d0e-4a57-9a86-6a7f0e0c1b11"
        assert (record.subagent, record.subagent_role) == (True, "Explore")
        assert record.venue == "subagent"


def test_a_fork_repeats_the_same_ids_and_adds_one() -> None:
    """B13: a copy under another session and file name is known by its ids."""
    copied = {record.native_id for record in read_file(MAIN)}
    fork = read_file(FORK)
    assert texts([r for r in fork if r.native_id not in copied]) == [
        "In the fork: write the release notes."
    ]
    assert copied < {record.native_id for record in fork}
    assert all(record.human is (record.role is Role.USER) for record in fork)


def test_the_edge_file_holds_what_it_should() -> None:
    """B1, F76: wrappers, summaries, errors, hooks and broken lines are nobody's words."""
    assert words(read_file(EDGE)) == [
        ("user", "Please add tide tables."),
        ("user", "The chart looks like this."),
        ("assistant", "High water is missing on the 30th."),
        ("assistant", "Noted."),
        ("user", "password=hunter2-correct-horse is for the tide gauge."),
        ("assistant", "I will not write it down."),
        ("assistant", "Readable after a broken line."),
    ]


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        ("-home-x/abc.jsonl", FileFacts("abc")),
        (
            "-home-x/abc/subagents/agent-1.jsonl",
            FileFacts(
                "abc", subagent=True, companion=PurePath("-home-x/abc/subagents/agent-1.meta.json")
            ),
        ),
        (
            "-home-x/abc/subagents/workflows/w1/agent-2.jsonl",
            FileFacts(
                "abc",
                subagent=True,
                companion=PurePath("-home-x/abc/subagents/workflows/w1/agent-2.meta.json"),
            ),
        ),
        (
            "-home-x/agent-3.jsonl",
            FileFacts("agent-3", subagent=True, companion=PurePath("-home-x/agent-3.meta.json")),
        ),
        ("abc.jsonl", None),
        ("-home-x/abc.json", None),
        ("-home-x/abc.jsonl.bak", None),
        ("-home-x/abc/tool-results/x.jsonl", None),
        ("-home-x/memory/notes.md", None),
    ],
)
def test_the_place_of_a_file_says_what_it_is(path: str, facts: FileFacts | None) -> None:
    assert CLIENT.facts(PurePath(path)) == facts


def test_a_name_that_cannot_be_a_session_is_made_fit() -> None:
    facts = CLIENT.facts(PurePath("-home-x/caf\udce9 \udcff.jsonl"))
    assert facts is not None
    assert facts.session.startswith("digest:")


# Who typed it


@pytest.mark.parametrize(
    ("more", "human", "role", "venue"),
    [
        ({}, True, Role.USER, "terminal"),
        ({"promptSource": "typed"}, True, Role.USER, "terminal"),
        ({"promptSource": "queued"}, True, Role.USER, "terminal"),
        ({"origin": {"kind": "human"}, "promptSource": "sdk"}, True, Role.USER, "terminal"),
        ({"entrypoint": "claude-vscode"}, True, Role.USER, "claude-vscode"),
        ({"promptSource": "sdk"}, False, Role.USER, "auto"),
        ({"entrypoint": "sdk-cli"}, False, Role.USER, "auto"),
        ({"sessionKind": "bg"}, False, Role.USER, "auto"),
        ({"sessionKind": "bg", "promptSource": "typed"}, True, Role.USER, "terminal"),
        ({"origin": {"kind": "cron"}}, False, Role.SYSTEM, "auto"),
        ({"origin": {"kind": "peer"}, "promptSource": "typed"}, False, Role.SYSTEM, "auto"),
    ],
)
def test_only_what_a_person_typed_counts_as_a_persons_word(
    write: Writer, more: dict[str, Any], human: bool, role: Role, venue: str
) -> None:
    """C9: a schedule's and a program's prompts are marked as what they are."""
    [record] = read(jsonl(write.user("Check the tides.", **more)))
    assert (record.human, record.role, record.venue) == (human, role, venue)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"promptSource": "system"}, Dropped.MACHINE_PROMPT),
        ({"isMeta": True}, Dropped.META),
        ({"isVisibleInTranscriptOnly": True}, Dropped.META),
        ({"isCompactSummary": True}, Dropped.COMPACTION),
        ({"toolUseResult": "Error: no such file"}, Dropped.TOOL),
    ],
)
def test_what_the_client_wrote_itself_is_left_out_and_counted(
    write: Writer, line: dict[str, Any], kind: Dropped
) -> None:
    into = reader()
    assert read(jsonl(write.user("Nobody's words.", **line)), into) == []
    assert into.tally == {kind: 1}


def test_a_tool_result_is_no_speech_even_with_text_beside_it(write: Writer) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "secret output"}
    beside = {"type": "text", "text": "<system-reminder>x</system-reminder>note"}
    assert read(jsonl(write.user([result, beside]))) == []


def test_words_typed_beside_a_tool_result_are_kept(write: Writer) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "output"}
    typed = {"type": "text", "text": "No, use the other pier."}
    [record] = read(jsonl(write.typed([result, typed])))
    assert (record.text, record.human) == ("No, use the other pier.", True)


def test_why_a_person_would_not_let_a_tool_run_is_kept(write: Writer) -> None:
    refused = write.tool_result(
        "rejected", toolDenialKind="user-rejected", userFeedback="Never push to main."
    )
    [record] = read(jsonl(refused))
    assert (record.text, record.human, record.role) == ("Never push to main.", True, Role.USER)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<system-reminder>todo</system-reminder>Add tides.", "Add tides."),
        ("Add tides.\n<ide_selection>lines 1-9</ide_selection>", "Add tides."),
        ('Before <task-notification id="7">done</task-notification> after', "Before  after"),
        ("  as typed, with blanks ", "  as typed, with blanks "),
        ("I wrote <system-reminder> without an end", "I wrote <system-reminder> without an end"),
        ("Stop it.\n[Request interrupted by user]", "Stop it."),
        (
            "a quote: [Request interrupted by user] inside",
            "a quote: [Request interrupted by user] inside",
        ),
        ([{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}], "One.\n\nTwo."),
        ([{"type": "image", "source": {}}, {"type": "text", "text": "See?"}], "See?"),
        (["bare string block"], "bare string block"),
    ],
)
def test_wrappers_are_taken_out_and_words_stay(write: Writer, content: Any, said: str) -> None:
    assert texts(read(jsonl(write.user(content)))) == [said]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("<command-name>/clear</command-name><command-args></command-args>", Dropped.COMMAND),
        ("<local-command-stdout>Set model</local-command-stdout>", Dropped.COMMAND),
        ("[Request interrupted by user for tool use]", Dropped.INTERRUPTION),
        ([{"type": "text", "text": "[Request interrupted by user]"}], Dropped.INTERRUPTION),
        ([{"type": "image", "source": {}}], Dropped.NO_TEXT),
        ("", Dropped.NO_TEXT),
        (None, Dropped.NO_TEXT),
        (17, Dropped.NO_TEXT),
        ([None, {"type": "text", "text": None}], Dropped.NO_TEXT),
    ],
)
def test_a_prompt_without_words_is_counted(write: Writer, content: Any, kind: Dropped) -> None:
    into = reader()
    assert read(jsonl(write.user(content)), into) == []
    assert into.tally == {kind: 1}


def test_many_unclosed_wrappers_are_read_in_linear_time(write: Writer) -> None:
    said = "<system-reminder>" * 100_000
    assert texts(read(jsonl(write.user(said)))) == [said]


# Queued, rewritten, repeated


def test_a_queued_prompt_of_a_program_is_not_a_persons(write: Writer) -> None:
    lines = [
        write.queued("Also the buoys."),
        write.queued("And the peer's.", origin={"kind": "peer"}),
        write.queued("A task ended.", commandMode="task-notification"),
    ]
    records = read(jsonl(*lines))
    assert [(r.text, r.human) for r in records] == [
        ("Also the buoys.", True),
        ("And the peer's.", False),
    ]


def test_a_prompt_written_again_under_another_id_is_one(write: Writer) -> None:
    into = reader()
    again = [write.typed("Add tides."), write.line("system"), write.typed("Add tides. ")]
    assert texts(read(jsonl(*again), into)) == ["Add tides."]
    assert into.tally[Dropped.REPEATED] == 1


def test_a_prompt_sent_again_from_the_same_place_is_one(write: Writer) -> None:
    first = write.typed("Add tides.")
    answer = write.answer("Adding.", key="m1", stop="end_turn")
    again = write.typed("Add tides.", parentUuid=first["parentUuid"] or "root")
    first["parentUuid"] = "root"
    again["parentUuid"] = "root"
    assert texts(read(jsonl(first, answer, again))) == ["Add tides.", "Adding."]


def test_the_same_words_after_an_answer_are_a_turn_of_their_own(write: Writer) -> None:
    """Nobody's second "continue" is lost."""
    lines = [
        write.typed("continue"),
        write.answer(tool_use(), key="m1", stop="tool_use"),
        write.typed("continue"),
        write.answer("Done.", key="m2", stop="end_turn"),
        write.typed("continue"),
    ]
    records = read(jsonl(*lines))
    assert texts(records) == ["continue", "continue", "Done.", "continue"]
    assert len({r.native_id for r in records}) == 4


# The model's answers


def test_the_lines_of_one_message_are_one_turn(write: Writer) -> None:
    lines = [
        write.answer(thinking("hm"), key="m1", stop="tool_use"),
        write.answer("First this.", key="m1", stop="tool_use"),
        write.answer("Then that.", key="m1", stop="tool_use"),
        write.answer(tool_use(), key="m1", stop="tool_use"),
        write.answer("Next message.", key="m2", stop="end_turn"),
    ]
    assert texts(read(jsonl(*lines))) == ["First this.\n\nThen that.", "Next message."]


def test_a_message_without_request_ids_is_still_one(write: Writer) -> None:
    lines = [write.answer("Noted.", key="chatcmpl-1", requestId=None) for _ in range(3)]
    assert texts(read(jsonl(*lines))) == ["Noted."]


def test_messages_of_a_proxy_that_gives_one_id_to_all_stay_apart(write: Writer) -> None:
    lines = [
        write.typed("One?"),
        write.answer("Yes.", key="same", stop="end_turn"),
        write.typed("Two?"),
        write.answer("Yes.", key="same", stop="end_turn"),
    ]
    assert texts(read(jsonl(*lines))) == ["One?", "Yes.", "Two?", "Yes."]


def test_blocks_between_which_a_tool_answered_are_all_there(write: Writer) -> None:
    lines = [
        write.answer("Looking.", key="m1", stop="tool_use"),
        write.answer(tool_use(), key="m1", stop="tool_use"),
        write.tool_result("x"),
        write.answer(tool_use(), key="m1", stop="tool_use"),
        write.answer("Looking.", key="m1", stop="tool_use"),
        write.answer("And more.", key="m1", stop="tool_use"),
    ]
    assert texts(read(jsonl(*lines))) == ["Looking.", "And more."]


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"isApiErrorMessage": True}, Dropped.API_ERROR),
        ({"isAbortedMidStream": True}, Dropped.ABORTED),
    ],
)
def test_what_is_not_the_models_finished_word_is_left_out(
    write: Writer, more: dict[str, Any], kind: Dropped
) -> None:
    """F76: finished answers only."""
    into = reader()
    lines = [write.answer("Half a sen", key="m1", **more), write.answer("Whole.", key="m2")]
    assert texts(read(jsonl(*lines), into)) == ["Whole."]
    assert into.tally == {kind: 1}


def test_an_answer_that_is_taken_back_before_it_is_finished_is_left_out(write: Writer) -> None:
    into = reader()
    first = write.answer("Withdrawn.", key="m1")
    second = write.answer("Instead.", key="m2", supersedesUuids=[first["uuid"]])
    third = write.answer("Refused.", key="m3", stop="end_turn")
    refusal = write.line("system", subtype="api_refusal", retractedMessageUuids=[third["uuid"]])
    assert texts(read(jsonl(first, second, third, refusal), into)) == ["Instead."]
    assert into.tally[Dropped.WITHDRAWN] == 2


def test_sub_agents_between_the_lines_leave_the_conversation_in_order(write: Writer) -> None:
    """The layout before sub-agents had files of their own."""
    lines = [
        write.typed("Find callers."),
        write.answer("Asking a ", key="m1"),
        write.user("List callers.", isSidechain=True),
        write.answer("Asking a helper.", key="m1", stop="tool_use"),
        write.answer("Two callers.", key="s1", stop="end_turn", isSidechain=True),
        write.tool_result("two"),
        write.answer("There are two.", key="m2", stop="end_turn"),
    ]
    records = read(jsonl(*lines))
    assert texts([r for r in records if not r.subagent]) == [
        "Find callers.",
        "Asking a helper.",
        "There are two.",
    ]
    assert texts([r for r in records if r.subagent]) == ["List callers.", "Two callers."]
    assert not any(r.human for r in records if r.subagent)


# Identity and odd values


def test_a_turn_without_an_id_gets_one_from_what_it_says(write: Writer) -> None:
    """I6, B13: the same in every reading, another for other words or another time."""
    lines = [
        write.user("No id."),
        write.answer("x", key="m0"),
        write.user("No id."),
        write.answer("y", key="m1"),
        write.user("Another."),
    ]
    for line in lines:
        del line["uuid"]
    once, again = read(jsonl(*lines)), read(jsonl(*lines))
    assert once == again
    assert len({record.native_id for record in once}) == 5


@pytest.mark.parametrize("uuid", [None, 7, "", "a b", "x" * 201, "bad\0id", "\ud800"])
def test_an_id_that_cannot_be_one_is_replaced(write: Writer, uuid: Any) -> None:
    [record] = read(jsonl(json.dumps({**write.user("Said."), "uuid": uuid}).encode()))
    assert record.native_id.startswith("digest:")


@pytest.mark.parametrize(
    "timestamp", [None, "", "yesterday", "2026-11-20T08:00:00", 0, "1970-01-01T00:00:00Z", [], True]
)
def test_a_time_that_is_none_stays_unknown(write: Writer, timestamp: Any) -> None:
    """I6."""
    [record] = read(jsonl(write.user("When?", timestamp=timestamp)))
    assert record.occurred_at is None


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user"},
        {"type": "user", "message": None},
        {"type": "user", "message": "x"},
        {"type": "assistant"},
        {"type": "assistant", "message": {"content": {"type": "text"}}},
        {"type": "attachment", "attachment": None},
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": {"a": 1}}},
        {"type": "attachment", "attachment": {"type": ["hook"]}},
        {"type": "system", "retractedMessageUuids": "x"},
        {"type": None},
        {"type": {"a": 1}},
        {},
    ],
)
def test_any_object_is_a_legal_line(line: dict[str, Any]) -> None:
    into = reader()
    assert read(jsonl(line), into) == []
    assert sum(into.tally.values()) == 1


def test_a_reader_that_begins_where_another_held_comes_to_the_same(write: Writer) -> None:
    """F75: at every line, going on from `held` loses no turn and makes up none."""
    lines = jsonl(
        write.typed("One."),
        write.answer("An", key="m1"),
        write.answer("Answer.", key="m1", stop="end_turn"),
        write.typed("Two."),
        write.typed("Two."),
        write.answer("Yes", key="m2", stop="end_turn"),
        write.answer("Yes", key="m2", stop="end_turn"),
        write.tool_result("x"),
        write.answer("No.", key="m3", stop="end_turn"),
    )
    whole = read(lines)
    ends = [at + 1 for at, byte in enumerate(lines) if byte == ord("\n")]
    for stopped_at in ends:
        first, records, start = reader(), [], 0
        for end in [end for end in ends if end <= stopped_at]:
            records += first.feed(lines[start:end], start)
            start = end
        records += first.settle(quiet=False)
        held = stopped_at if first.held is None else first.held
        records += read(lines[held:], reader())
        assert list(dict.fromkeys(r.native_id for r in records)) == [r.native_id for r in whole]
