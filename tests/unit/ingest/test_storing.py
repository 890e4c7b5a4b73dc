"""From record to draft: trust, provenance, project, and which told turn is the same."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.fencing import fence
from agents_memory.domain.messages import Draft, Origin, Role, Trust
from agents_memory.services.captured import same_words
from agents_memory.storage.captures import Told
from ingest.projects import project_of
from ingest.records import Record, digest_id, moment
from ingest.storing import STORE_ID, draft_of
from tests.factories import NOON


def record(**changes: Any) -> Record:
    fields = {
        "role": Role.USER,
        "text": "We ship on Friday.",
        "native_id": "id-1",
        "human": True,
        "occurred_at": NOON,
        "session": "s1",
        "cwd": "/home/mara/code/harbor",
        "venue": "terminal",
    }
    return Record(**{**fields, **changes})


def draft(**changes: Any) -> Draft:
    return draft_of(record(**changes), "claude-code", "laptop", origin=Origin.CAPTURED, now=NOON)


def test_what_a_person_typed_is_the_owners_word() -> None:
    """F78, F107."""
    made = draft()
    assert (made.trust, made.origin, made.platform) == (Trust.OWNER, Origin.CAPTURED, "claude-code")
    assert (made.device, made.session, made.venue) == ("laptop", "s1", "terminal")
    assert (made.source, made.store_id, made.native_id) == ("claude-code", STORE_ID, "id-1")
    assert (made.project_hint, made.occurred_at) == ("harbor", NOON)


@pytest.mark.parametrize(
    "changes",
    [
        {"human": False},
        {"human": False, "role": Role.ASSISTANT, "model": "opus"},
        {"human": True, "role": Role.ASSISTANT},
        {"human": False, "role": Role.SYSTEM},
        {"human": False, "role": Role.ASSISTANT, "subagent": True},
    ],
)
def test_everything_else_is_an_agents_word(changes: dict[str, Any]) -> None:
    assert draft(**changes).trust is Trust.AGENT


def test_a_sub_agents_model_and_role_are_kept() -> None:
    made = draft(
        role=Role.ASSISTANT, human=False, subagent=True, model="haiku", subagent_role="Explore"
    )
    assert (made.subagent, made.subagent_model, made.subagent_role) == (True, "haiku", "Explore")
    assert draft(role=Role.ASSISTANT, human=False, model="opus").subagent_model is None


def test_a_time_in_the_future_is_a_wrong_clock_and_unknown() -> None:
    """I6."""
    assert draft(occurred_at=NOON + timedelta(minutes=4)).occurred_at is not None
    assert draft(occurred_at=NOON + timedelta(hours=1)).occurred_at is None
    assert draft(occurred_at=None).occurred_at is None


def told(text: str, **changes: Any) -> Told:
    fields = {
        "id": 1,
        "role": Role.USER,
        "text": text,
        "trust": Trust.AGENT,
        "created_at": NOON,
    }
    return Told(**{**fields, **changes})


def test_what_an_agent_told_is_the_same_turn_when_it_says_the_same() -> None:
    """F77: case, blanks and outer quotes make no difference, other words do."""
    said = draft(role=Role.ASSISTANT, human=False, text="  Done: 12 tests\nadded.")
    assert [t.id for t in same_words(said, [told('"done: 12 tests added"')])] == [1]
    assert same_words(said, [told("Done: 13 tests added.")]) == []
    assert same_words(said, []) == []


def test_an_agents_report_never_stands_for_the_owners_own_words() -> None:
    """F107: it is worth less, so the person's turn is stored all the same."""
    assert same_words(draft(), [told("We ship on Friday.")]) == []
    assert same_words(draft(), [told("We ship on Friday.", trust=Trust.OWNER)]) != []


def test_the_words_are_compared_as_they_are_stored() -> None:
    said = draft(
        role=Role.ASSISTANT,
        human=False,
        text=f"{fence('old', 'brief')}Use password=hunter2-correct-horse here.",
    )
    assert same_words(said, [told("Use password=[redacted:password] here.")]) != []


def test_of_several_the_nearest_in_time_comes_first() -> None:
    said = draft(role=Role.ASSISTANT, human=False, text="Done.")
    found = same_words(
        said,
        [
            told("Done.", id=1, created_at=NOON - timedelta(minutes=9)),
            told("Done.", id=2, created_at=NOON + timedelta(seconds=3)),
        ],
    )
    assert [t.id for t in found] == [2, 1]


def test_a_project_is_the_repository_and_a_worktree_its_main_checkout(tmp_path: Path) -> None:
    main = tmp_path / "harbor-main"
    (main / ".git" / "worktrees" / "tides").mkdir(parents=True)
    (main / "src" / "deep").mkdir(parents=True)
    worktree = tmp_path / "elsewhere"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {main}/.git/worktrees/tides\n")
    odd = tmp_path / "odd-module"
    odd.mkdir()
    (odd / ".git").write_text("\xff not a pointer", "latin-1")
    assert project_of(str(main / "src" / "deep")) == "harbor-main"
    assert project_of(str(worktree)) == "harbor-main"
    assert project_of(str(odd)) == "odd-module"


@pytest.mark.parametrize(
    ("cwd", "project"),
    [
        (None, None),
        ("/home/nobody-here/code/harbor/src", "harbor"),
        ("C:\\Users\\mara\\code\\harbor", "harbor"),
        ("relative/../harbor", "harbor"),
        ("/x\0y", "x-y"),
        ("/" + "x/" * 5000 + "harbor", "harbor"),
        ("/\udcff", None),
    ],
)
def test_any_working_directory_gives_a_project_or_none(
    cwd: str | None, project: str | None
) -> None:
    assert project_of(cwd) == project


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2026-11-20T12:00:00.000Z", "2026-11-20T12:00:00+00:00"),
        ("2026-11-20T13:00:00+01:00", "2026-11-20T12:00:00+00:00"),
        (1795176000, "2026-11-20T12:00:00+00:00"),
        (1795176000.0, "2026-11-20T12:00:00+00:00"),
        (1795176000000, "2026-11-20T12:00:00+00:00"),
        ("2026-11-20T12:00:00", None),
        ("0001-01-01T00:00:00+23:00", None),
        (float("nan"), None),
        (float("inf"), None),
        (10**30, None),
        (-1, None),
        (True, None),
        ({}, None),
    ],
)
def test_times_are_read_as_clients_write_them(written: object, iso: str | None) -> None:
    found = moment(written)
    assert (found and found.isoformat()) == iso


def test_a_digest_tells_parts_apart() -> None:
    assert digest_id("ab", "c") != digest_id("a", "bc")
    assert digest_id("\ud800", "\0") == digest_id("\ud800", "\0")
