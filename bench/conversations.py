"""Reads a file in LoCoMo's layout: conversations of turns, and questions with their evidence."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ADVERSARIAL = 5
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    speaker: str
    text: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(path: Path) -> list[Sample]:
    """All samples; questions without evidence and adversarial ones are left out."""
    return [_sample(raw) for raw in json.loads(path.read_text(encoding="utf-8"))]


def _sample(raw: dict[str, Any]) -> Sample:
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
            questions.append(Question(str(qa["question"]), qa["category"], evidence))
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
