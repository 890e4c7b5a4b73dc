"""The conversation file: one JSON object a line, a header first, then the turns in time order.

{"format": "agents-memory/conversation", "version": 1, "session": "…", "platform": "…",
 "device"?: "…", "cwd"?: "…", "model"?: "…"}
{"id": "…", "role": "user" | "assistant", "at"?: "2026-09-16T09:12:00+02:00", "text": "…",
 "model"?: "…"}
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents_memory.domain.messages import Role

FORMAT = "agents-memory/conversation"
VERSION = 1

_Name = Annotated[str, Field(min_length=1, max_length=500)]


class Header(BaseModel):
    """What holds for every turn of a file; `session` and `platform` are never empty."""

    model_config = ConfigDict(frozen=True, strict=True)

    session: _Name
    platform: _Name
    device: _Name | None = None
    cwd: str | None = None
    model: _Name | None = None


class Turn(BaseModel):
    """One turn: `native_id` is unique within its file, `occurred_at` aware or None if unknown.

    `model` is the one that wrote an assistant turn (its own, else the header's), None for a user
    turn. `text` is as it was written: NUL and lone surrogates are left for the intake to repair.
    """

    model_config = ConfigDict(frozen=True)

    native_id: str
    role: Role
    text: str
    occurred_at: datetime | None
    model: str | None


class Problem(BaseModel):
    """What was wrong in a line (counted from 1), and what to do; never quotes the content."""

    model_config = ConfigDict(frozen=True)

    line: int
    message: str


class Conversation(BaseModel):
    """A parsed file; `header` is None when no usable header was found.

    `skipped` counts lines that should be a turn and give none.
    """

    model_config = ConfigDict(frozen=True)

    header: Header | None
    turns: tuple[Turn, ...]
    problems: tuple[Problem, ...]
    skipped: int = 0


class _TurnLine(BaseModel):
    model_config = ConfigDict(strict=True)

    id: _Name
    role: Literal["user", "assistant"]
    text: str
    at: Any = None
    model: _Name | None = None


def parse_conversation(lines: Iterable[str]) -> Conversation:
    """Read a conversation file; a bad line becomes a problem and is skipped, never raised.

    Unknown keys are ignored; a byte order mark, CRLF and blank lines are tolerated. A turn whose
    time is unreadable or has no offset is kept with `occurred_at` None and a problem. A second
    turn with the same id is skipped.
    """
    header: Header | None = None
    turns: dict[str, Turn] = {}
    problems: list[Problem] = []
    first, skipped = True, 0
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix("\ufeff").strip()
        if not text:
            continue
        record, complaint = _object(text)
        if record is None:
            skipped += 1
        if record is not None and first:
            first = False
            if "format" in record:
                header, complaint = _header(record)
                record = None
            else:
                problems.append(Problem(line=number, message=_NO_HEADER))
        if record is not None:
            turn, complaint = _turn(record, header)
            if turn is not None and turn.native_id in turns:
                complaint = "this id was used above; give each turn an id of its own"
                skipped += 1
            elif turn is not None:
                turns[turn.native_id] = turn
            else:
                skipped += 1
        if complaint:
            problems.append(Problem(line=number, message=complaint))
    return Conversation(
        header=header, turns=tuple(turns.values()), problems=tuple(problems), skipped=skipped
    )


_NO_HEADER = f'no header; the first line must be {{"format": "{FORMAT}", "version": {VERSION}, …}}'


def _object(text: str) -> tuple[dict[str, Any] | None, str | None]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, "not JSON; write one whole object on each line"
    if not isinstance(value, dict):
        return None, "not a JSON object; write one object on each line"
    return value, None


def _header(record: dict[str, Any]) -> tuple[Header | None, str | None]:
    if record["format"] != FORMAT:
        return None, f'another format; "format" must be "{FORMAT}"'
    if record.get("version") != VERSION:
        return None, f'another version; this program reads "version": {VERSION}'
    try:
        return Header.model_validate(record), None
    except ValidationError as error:
        return None, _explain(error)


def _turn(record: dict[str, Any], header: Header | None) -> tuple[Turn | None, str | None]:
    try:
        line = _TurnLine.model_validate(record)
    except ValidationError as error:
        return None, _explain(error)
    if not line.text.strip():
        return None, '"text" is empty; leave the turn out'
    occurred_at, complaint = _time(line.at)
    model = None
    if line.role == "assistant":
        model = line.model or (header.model if header else None)
    turn = Turn(
        native_id=line.id,
        role=Role(line.role),
        text=line.text,
        occurred_at=occurred_at,
        model=model,
    )
    return turn, complaint


def _time(text: Any) -> tuple[datetime | None, str | None]:
    if text is None:
        return None, None
    try:
        when = datetime.fromisoformat(text.upper() if isinstance(text, str) else "")
        # A time at the edge of the calendar has no UTC form and so fits no timestamptz.
        when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None, '"at" is no time; write it like 2026-09-16T09:12:00+02:00'
    if when.tzinfo is None:
        return None, '"at" has no offset, so its time is unknown; end it with Z or +02:00'
    return when, None


def _explain(error: ValidationError) -> str:
    names = dict.fromkeys(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
    return "missing or wrong: " + ", ".join(f'"{name}"' for name in names)
