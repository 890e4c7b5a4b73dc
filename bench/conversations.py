"""Conversations of turns, and questions with their evidence, as public sets lay them out.

LoCoMo: one JSON list of samples. MemDaily (Chinese) and the generated sets of Letta: JSON lines,
plain or gzipped, told apart by their keys. Chats with coding agents: an archive of SpecStory's
Markdown, with questions of our own.
"""

import gzip
import json
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import specstory

ADVERSARIAL = 5
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
OUR_QUESTIONS = Path(__file__).with_name("specstory_questions.toml")


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    speaker: str
    text: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(path: Path) -> list[Sample]:
    """All samples; questions without evidence and adversarial ones are left out."""
    if path.name.endswith(".tar.gz"):
        return of_chats(specstory.read(path), OUR_QUESTIONS)
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    if ".jsonl" in path.suffixes:
        lines = [json.loads(line) for line in text.splitlines()]
        return [_of_line(number, raw) for number, raw in enumerate(lines)]
    return [_of_locomo(raw) for raw in json.loads(text)]


def of_chats(sessions: dict[str, list[specstory.Said]], questions: Path) -> list[Sample]:
    """One sample a session, the oldest first, as the first eight digits of its id and the number
    of a turn name what is evidence.

    ValueError for evidence that does not exist, and for sessions whose ids begin alike.
    """
    turns = {
        session[:8]: tuple(
            Turn(f"{session[:8]}:{number}", said.speaker, said.text, said.said_at)
            for number, said in enumerate(chat, 1)
        )
        for session, chat in sorted(sessions.items(), key=lambda item: item[1][0].said_at)
    }
    if len(turns) < len(sessions):
        raise ValueError("two sessions' ids begin with the same eight digits; use more of them")
    known = {turn.id for chat in turns.values() for turn in chat}
    asked: dict[str, list[Question]] = defaultdict(list)
    for raw in tomllib.loads(questions.read_text(encoding="utf-8"))["question"]:
        evidence = tuple(raw["evidence"])
        samples = {turn.split(":")[0] for turn in evidence}
        if len(samples) != 1 or not known.issuperset(evidence):
            raise ValueError(f"{raw['text']!r} has no evidence in just one chat; mend {questions}")
        asked[samples.pop()].append(Question(raw["text"], raw["category"], evidence))
    return [Sample(name, chat, tuple(asked[name])) for name, chat in turns.items()]


def _of_line(number: int, raw: dict[str, Any]) -> Sample:
    if "facts" in raw:
        return _of_letta(f"facts-{number}", raw)
    return _of_memdaily(f"{raw['set']}-{raw['tid']}", raw)


def _of_memdaily(name: str, raw: dict[str, Any]) -> Sample:
    """Messages of one person; the category is the sort of question."""
    turns = [
        Turn(
            str(message["mid"]),
            "我",
            message["message"],
            datetime.strptime(re.sub(r"周. ", "", message["time"]), "%Y年%m月%d日 %H:%M").replace(
                tzinfo=UTC
            ),
        )
        for message in raw["messages"]
    ]
    known = {turn.id for turn in turns}
    category = raw["set"].split("_")[1]
    questions = [
        Question(asked["question"], category, evidence)
        for asked in raw["questions"]
        if (evidence := tuple(i for i in map(str, asked["target_step_id"]) if i in known))
    ]
    return Sample(name, tuple(turns), tuple(questions))


def _of_letta(name: str, raw: dict[str, Any]) -> Sample:
    """Facts about invented people; a question may need several of them."""
    turns = [Turn(str(i), "notes", fact, None) for i, fact in enumerate(raw["facts"])]
    questions = [
        Question(
            question,
            "one fact" if len(supporting) == 1 else "several facts",
            tuple(map(str, supporting)),
        )
        for question, supporting in zip(
            raw["question"], raw["supporting_fact_indices"], strict=True
        )
        if supporting
    ]
    return Sample(name, tuple(turns), tuple(questions))


def _of_locomo(raw: dict[str, Any]) -> Sample:
    conversation = raw["conversation"]
    numbers = sorted(
        int(m[1]) for key in conversation if (m := re.fullmatch(r"session_(\d+)", key))
    )
    turns = []
    for number in numbers:
        said_at = _moment(conversation.get(f"session_{number}_date_time"))
        for turn in conversation[f"session_{number}"]:
            caption = turn.get("blip_caption")
            image = f" [image: {caption}]" if isinstance(caption, str) and caption else ""
            turns.append(
                Turn(turn["dia_id"], turn["speaker"], f"{turn.get('text', '')}{image}", said_at)
            )
    known = {turn.id for turn in turns}
    questions = []
    for qa in raw["qa"]:
        evidence = _evidence(qa.get("evidence"), known)
        if evidence and qa["category"] != ADVERSARIAL:
            questions.append(Question(str(qa["question"]), CATEGORIES[qa["category"]], evidence))
    return Sample(raw["sample_id"], tuple(turns), tuple(questions))


def _evidence(raw: Any, known: set[str]) -> tuple[str, ...]:
    """The ids that exist; the file holds some in forms such as `D8:6; D9:17` and `D:11:26`."""
    found = [
        f"D{int(a)}:{int(b)}"
        for item in raw or []
        for a, b in re.findall(r"D:?(\d+):(\d+)", str(item))
    ]
    return tuple(dict.fromkeys(item for item in found if item in known))


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
