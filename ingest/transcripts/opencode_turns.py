"""What one message of OpenCode says, by itself, from whichever store it comes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from ingest.records import Dropped, Record, moment
from ingest.transcripts.json_lines import Object
from ingest.transcripts.line_reader import mapping, string

# Sessions of sub-agents of sub-agents; a loop of parents would never end.
MOST_PARENTS = 8


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation, for a sub-agent that of its parent, and where it was held."""

    id: str
    subagent: bool = False
    cwd: str | None = None


def turn(
    name: str, message: Object, parts: list[Any], session: Session, rested: datetime
) -> Record | Dropped | None:
    """A message with its parts as a turn, or why it is none; None while it is not finished."""
    role = message.get("role")
    if role not in ("user", "assistant"):
        return Dropped.BOOKKEEPING
    known = [part for part in parts if isinstance(part, dict)]
    typed, times = role == "user", mapping(message.get("time"))
    begun = moment(times.get("created"))
    if message.get("summary") is True or any(part.get("type") == "compaction" for part in known):
        return Dropped.COMPACTION
    done = bool(known) if typed else bool(times.get("completed") or message.get("error"))
    if not done and (begun is None or begun > rested):
        return None
    told = [
        part["text"]
        for part in known
        if part.get("type") == "text"
        and not part.get("synthetic")
        and not part.get("ignored")
        and isinstance(part.get("text"), str)
        and not is_blank(part["text"])
    ]
    if not told:
        return why_nothing(known)
    place = mapping(message.get("path"))
    return record(
        name,
        "\n\n".join(told),
        typed=typed,
        session=session,
        cwd=folder_of(place.get("cwd")),
        begun=begun,
        model=string(message.get("modelID")),
        role=string(message.get("agent")) or string(message.get("mode")),
    )


def record(
    name: str,
    text: str,
    *,
    typed: bool,
    session: Session,
    cwd: str | None,
    begun: datetime | None,
    model: str | None,
    role: str | None,
) -> Record:
    """A turn; what a sub-agent is told to do is its parent's word."""
    human = typed and not session.subagent
    return Record(
        Role.USER if human else Role.ASSISTANT,
        text,
        name,
        human=human,
        occurred_at=begun,
        model=None if typed else model,
        session=session.id,
        cwd=cwd or session.cwd,
        venue="subagent" if session.subagent else "terminal",
        subagent=session.subagent,
        subagent_role=role if session.subagent else None,
    )


def why_nothing(parts: list[Object]) -> Dropped:
    """What a message without words consists of."""
    kinds = {str(part.get("type")) for part in parts}
    if any(part.get("synthetic") for part in parts):
        return Dropped.INJECTED
    if "tool" in kinds:
        return Dropped.TOOL
    return Dropped.THINKING if "reasoning" in kinds else Dropped.NO_TEXT


def folder_of(value: object) -> str | None:
    """A folder that says something: the root of the disk does not."""
    return None if value == "/" else string(value)
