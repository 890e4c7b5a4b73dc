"""What every client's reader yields: a turn as it was said; and what it left out, by kind."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b

from agents_memory.domain.messages import Role

# A client that says less was not there yet: an unset clock, not a time.
_FIRST_YEAR = 2000
# Seconds of the year 5138, so that anything above is milliseconds.
_MOST_SECONDS = 10**11
_PLAIN_ID = re.compile(r"[\x21-\x7e]{1,200}")


class Dropped(StrEnum):
    """Why a line, or a part of one, is no turn."""

    BROKEN = "broken"
    TOO_LONG = "too_long"
    UNFINISHED = "unfinished"
    BOOKKEEPING = "bookkeeping"
    META = "meta"
    COMMAND = "command"
    COMPACTION = "compaction"
    INJECTED = "injected"
    INTERRUPTION = "interruption"
    MACHINE_PROMPT = "machine_prompt"
    NO_TEXT = "no_text"
    THINKING = "thinking"
    TOOL = "tool"
    API_ERROR = "api_error"
    ABORTED = "aborted"
    WITHDRAWN = "withdrawn"
    REPEATED = "repeated"
    BEFORE_CAPTURE = "before_capture"


Tally = Counter[Dropped]


@dataclass(frozen=True, slots=True)
class Record:
    """One turn of a conversation, from any client.

    `native_id` is its identity in the client's own store; `human` says that a person typed it;
    `occurred_at` is aware, or None when unknown; `session` is the client's id of the conversation,
    for a sub-agent that of its parent; `venue` is where it was said (`terminal`, `subagent`, `auto`
    for a program, or the client's own word).
    """

    role: Role
    text: str
    native_id: str
    human: bool = False
    occurred_at: datetime | None = None
    model: str | None = None
    session: str | None = None
    cwd: str | None = None
    venue: str | None = None
    subagent: bool = False
    subagent_role: str | None = None


def moment(value: object) -> datetime | None:
    """A time as clients write it: ISO 8601 with an offset, or seconds or milliseconds since 1970.

    None for anything else, and for times before the year 2000: unknown stays unknown.
    """
    try:
        when = _read_moment(value)
    except (ValueError, OverflowError, OSError):
        return None
    return when if when is not None and when.year >= _FIRST_YEAR else None


def _read_moment(value: object) -> datetime | None:
    if isinstance(value, str):
        when = datetime.fromisoformat(value)
        return None if when.tzinfo is None else when.astimezone(UTC)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return datetime.fromtimestamp(value / 1000 if abs(value) >= _MOST_SECONDS else value, UTC)
    return None


def plain_id(value: object) -> str | None:
    """An id that is fit to be one: printable ASCII without blanks, at most 200 characters."""
    return value if isinstance(value, str) and _PLAIN_ID.fullmatch(value) else None


def digest_id(*parts: str) -> str:
    """An id for a turn that bears none: the same for the same parts, in any process."""
    mark = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        mark.update(b"%d:%b" % (len(data), data))
    return f"digest:{mark.hexdigest()}"
