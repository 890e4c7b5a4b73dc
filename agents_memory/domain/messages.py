"""A message: one raw turn as it was said; immutable evidence."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from agents_memory.domain.lexical import Analysis


class Role(StrEnum):
    """Who spoke."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class Origin(StrEnum):
    """How the words reached us."""

    CAPTURED = "captured"
    ASSERTED = "asserted"
    IMPORTED = "imported"


class Trust(StrEnum):
    """Whose word it is; derived items inherit the lowest trust of their sources."""

    OWNER = "owner"
    AGENT = "agent"
    OTHER = "other"
    TOOL = "tool"


class Screening(StrEnum):
    """Whether a message may feed anything derived; quarantined ones are never returned.

    What its source edited or deleted is withdrawn: found by no search, feeding nothing, and still
    shown to whoever asks for it by id.
    """

    UNSCREENED = "unscreened"
    CLEAR = "clear"
    QUARANTINED = "quarantined"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn as a writer hands it over; any string is legal.

    `source`, `store_id` and `native_id` identify the turn in the store it came from (all three or
    none); `cwd` is the working directory it was said in; `occurred_at` is when it was said (aware
    datetime), None when unknown.
    """

    role: Role
    text: str
    origin: Origin
    trust: Trust
    platform: str
    model: str | None = None
    subagent: bool = False
    subagent_model: str | None = None
    subagent_role: str | None = None
    device: str | None = None
    venue: str | None = None
    session: str | None = None
    cwd: str | None = None
    project_hint: str | None = None
    occurred_at: datetime | None = None
    source: str | None = None
    store_id: str | None = None
    native_id: str | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A draft as the intake lets it in: repaired, without secrets, named once and for all.

    `at` is when it was handed over; `raw` the words with what looked like recalled text, if there
    was any; `redactions` how many secrets of each sort were taken out; `analysis` the lexemes it is
    found by, None where it lay on the disk meanwhile.
    """

    intake_id: UUID
    at: datetime
    draft: Draft
    raw: str | None
    redactions: dict[str, int]
    analysis: "Analysis | None" = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Queued:
    """The acknowledgement of a turn that waits on this machine's disk; `why` it does."""

    intake_id: UUID
    role: Role
    at: datetime
    redactions: dict[str, int]
    why: str


@dataclass(frozen=True, slots=True)
class Stored:
    """The acknowledgement of a committed message.

    `duplicate` is true when the same turn was already in the pool; `id` is then the earlier one.
    `identical` is false when that one has another role, other words or another time.
    """

    id: int
    intake_id: UUID
    role: Role
    created_at: datetime
    duplicate: bool
    redactions: dict[str, int]
    identical: bool = True
