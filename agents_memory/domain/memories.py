"""A memory: a curated, versioned statement, changed only by patches."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from agents_memory.domain.messages import Trust
from agents_memory.domain.text import content_key


class Kind(StrEnum):
    """What sort of statement a memory is."""

    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    PROMISE = "promise"
    MILESTONE = "milestone"
    PATTERN = "pattern"
    NOTE = "note"


class Status(StrEnum):
    """Whether a memory still holds."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class MemoryState:
    """One version of a memory: everything that a patch can change, and its scope."""

    id: int
    version: int
    subject: str
    attribute: str | None
    content: str
    kind: Kind
    importance: int
    valence: float
    intensity: float
    trust: Trust
    status: Status
    pinned: bool
    tags: tuple[str, ...]
    resolved_at: datetime | None
    superseded_by: int | None
    scope: str


class MemoryView(NamedTuple):
    """A memory as it is shown to whoever asks."""

    id: int
    version: int
    subject: str
    content: str
    kind: Kind
    importance: int
    trust: Trust
    status: Status
    pinned: bool
    tags: tuple[str, ...]
    platform: str | None
    project: str | None
    occurred_at: datetime | None
    created_at: datetime
    resolved_at: datetime | None = None
    superseded_by: int | None = None


def same_key(subject: str, content: str) -> bytes:
    """What two memories share when they say the same of the same subject (32 bytes)."""
    joined = f"{content_key(subject)}\n{content_key(content)}"
    return hashlib.sha256(joined.encode()).digest()
