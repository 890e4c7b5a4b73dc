"""SpecStory's archives, with what their Markdown really holds: copies, tools, asides, commands."""

import io
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench import conversations, specstory

FIRST = "11111111-aaaa-4bbb-8ccc-000000000001"
SECOND = "22222222-aaaa-4bbb-8ccc-000000000002"

CHAT = """\
_**User (2026-01-02 10:00:00Z)**_

Why does the **ferry** leak?

---

_**Agent (some-model 2026-01-02T10:00:05.120Z)**_

<think><details><summary>Thought Process</summary>
The hull, perhaps.
</details></think>

Let me look at the hull.

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>

_**Agent (some-model 2026-01-02 09:00:00Z)**_

printed by a tool
</details></tool-use>

A rivet is missing.

_**Agent (some-model 2026-01-02 10:00:07Z)**_

<tool-use data-tool-type="read" data-tool-name="Read"><details></details></tool-use>

---

_**Agent - sidechain (some-model 2026-01-02 10:00:08Z)**_

Suggest a rivet.

_**User (2026-01-02 10:01:00Z)**_

Put it in.
"""


def _session(name: str, chat: str) -> str:
    return f"# A title\n\n<!-- Claude Code Session {name} (2026-01-02 10:00:00Z) -->\n\n{chat}"


def _archive(folder: Path, **files: str) -> Path:
    path = folder / "chats.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(f"history/{name}.md")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def _texts(folder: Path, chat: str) -> list[str]:
    sessions = specstory.read(_archive(folder, chat=_session(FIRST, chat)))
    return [said.text for said in sessions.get(FIRST, [])]


def test_turns_are_the_words_of_the_two_without_tools_thoughts_and_asides(tmp_path: Path) -> None:
    said = specstory.read(_archive(tmp_path, chat=_session(FIRST, CHAT)))[FIRST]
    assert [one.speaker for one in said] == ["User", "Agent", "User"]
    assert said[0].text == "Why does the **ferry** leak?"
    assert " ".join(said[1].text.split()) == "Let me look at the hull. A rivet is missing."
    assert said[2].text == "Put it in."


def test_times_are_those_of_the_headers_in_both_forms(tmp_path: Path) -> None:
    said = specstory.read(_archive(tmp_path, chat=_session(FIRST, CHAT)))[FIRST]
    assert [one.said_at for one in said[:2]] == [
        datetime(2026, 1, 2, 10, 0, 0, tzinfo=UTC),
        datetime(2026, 1, 2, 10, 0, 5, tzinfo=UTC),
    ]


def test_of_several_copies_of_a_session_the_longest_is_read(tmp_path: Path) -> None:
    short = CHAT.split("_**User (2026-01-02 10:01", maxsplit=1)[0]
    path = _archive(
        tmp_path, a=_session(FIRST, short), b=_session(FIRST, CHAT), c=_session(FIRST, short)
    )
    sessions = specstory.read(path)
    assert [said.text for said in sessions[FIRST]][-1] == "Put it in."
    assert len(sessions) == 1


@pytest.mark.parametrize(
    "before",
    [
        "_**User (2026-01-02 10:00:00Z)**_\n\n<command-name>/review</command-name>\n",
        "_**Agent (m 2026-01-02 10:00:00Z)**_\n\n"
        '<tool-use data-tool-type="generic" data-tool-name="Skill"><details>\n'
        "review\n</details></tool-use>\n",
    ],
)
def test_the_prompt_behind_a_command_is_nobodys_words(tmp_path: Path, before: str) -> None:
    chat = (
        f"{before}\n_**User (2026-01-02 10:00:00Z)**_\n\nYou are a reviewer.\n\n"
        "_**User (2026-01-02 10:00:09Z)**_\n\nJust look at the rivets.\n"
    )
    assert _texts(tmp_path, chat) == ["Just look at the rivets."]


def test_a_session_without_words_is_left_out(tmp_path: Path) -> None:
    assert _texts(tmp_path, "_**User (2026-01-02 10:00:00Z)**_\n\n---\n") == []


def test_a_file_that_names_no_session_is_left_out(tmp_path: Path) -> None:
    assert specstory.read(_archive(tmp_path, readme=CHAT)) == {}


def _questions(folder: Path, *evidence: str) -> Path:
    path = folder / "questions.toml"
    listed = ", ".join(f'"{turn}"' for turn in evidence)
    path.write_text(
        f'[[question]]\ntext = "Why?"\ncategory = "plain"\nevidence = [{listed}]\n',
        encoding="utf-8",
    )
    return path


def _both(folder: Path) -> dict[str, list[specstory.Said]]:
    later = CHAT.replace("2026-01-02", "2026-01-03")
    return specstory.read(
        _archive(folder, later=_session(FIRST, later), sooner=_session(SECOND, CHAT))
    )


def test_samples_are_sessions_by_age_with_the_questions_about_them(tmp_path: Path) -> None:
    samples = conversations.of_chats(
        _both(tmp_path), _questions(tmp_path, "11111111:2", "11111111:3")
    )
    assert [sample.id for sample in samples] == ["22222222", "11111111"]
    assert [turn.id for turn in samples[1].turns] == ["11111111:1", "11111111:2", "11111111:3"]
    assert [len(sample.questions) for sample in samples] == [0, 1]
    assert samples[1].questions[0].evidence == ("11111111:2", "11111111:3")


@pytest.mark.parametrize(
    "evidence", [(), ("11111111:4",), ("33333333:1",), ("11111111:1", "22222222:1")]
)
def test_evidence_that_is_not_in_just_one_session_is_refused(
    tmp_path: Path, evidence: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match="mend"):
        conversations.of_chats(_both(tmp_path), _questions(tmp_path, *evidence))


def test_sessions_whose_ids_begin_alike_are_refused(tmp_path: Path) -> None:
    [said] = specstory.read(_archive(tmp_path, chat=_session(FIRST, CHAT))).values()
    alike = {FIRST: said, f"{FIRST[:-1]}9": said}
    with pytest.raises(ValueError, match="same eight digits"):
        conversations.of_chats(alike, _questions(tmp_path, "11111111:1"))


def test_an_archive_is_read_with_our_own_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "OUR_QUESTIONS", _questions(tmp_path, "11111111:1"))
    [sample] = conversations.load(_archive(tmp_path, chat=_session(FIRST, CHAT)))
    assert sample.questions[0].evidence == ("11111111:1",)
