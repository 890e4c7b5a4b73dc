"""A memory as it is compared with others: what it says, and what weighs in a choice."""

from dataclasses import dataclass
from datetime import datetime

from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust


@dataclass(frozen=True, slots=True)
class Statement:
    """An active memory; those compared are of one user, scope and project.

    `attribute` is as its author named it; `said_at` is when its words were last said.
    """

    id: int
    subject: str
    attribute: str | None
    content: str
    trust: Trust
    said_at: datetime
    version: int = 1
    kind: Kind = Kind.NOTE
    pinned: bool = False
    resolved_at: datetime | None = None
    occurred_at: datetime | None = None
