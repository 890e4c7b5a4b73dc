"""Messages that the screen pass held back, and what their owner decided."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from agents_memory.domain.messages import Screening
from agents_memory.domain.tombstones import REPLACEMENT
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("quarantine")


class Action(StrEnum):
    """What an owner can decide about a message that was held back."""

    RELEASE = "quarantine_release"
    KEEP = "quarantine_keep"


@dataclass(frozen=True, slots=True)
class Summary:
    """Messages held back, those nobody decided on, and when the first and last were found."""

    held_back: int
    undecided: int
    since: datetime | None
    latest: datetime | None


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decided what, when and where."""

    at: datetime
    actor: str
    device: str
    action: Action


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A message held back; `text` only where it was asked for, the rest holds no content."""

    id: int
    role: str
    trust: str
    platform: str
    device: str | None
    session: str | None
    created_at: datetime
    held_at: datetime | None
    reasons: tuple[str, ...]
    action: Action | None
    actor: str | None
    decided_at: datetime | None
    text: str | None


async def summarise(connection: Connection) -> Summary:
    """How much is held back; what was erased does not count."""
    row = await connection.fetchrow(SQL["summarise_quarantine"].sql, REPLACEMENT)
    assert row is not None, "an aggregate has a row"
    return Summary(**dict(row))


async def list_quarantined(
    connection: Connection, limit: int, *, with_text: bool
) -> list[Quarantined]:
    """The newest first; what was erased is left out."""
    rows = await connection.fetch(SQL["list_quarantined"].sql, REPLACEMENT, with_text, limit)
    return [
        Quarantined(
            **{
                **dict(row),
                "reasons": tuple(row["reasons"]),
                "action": None if row["action"] is None else Action(row["action"]),
            }
        )
        for row in rows
    ]


async def lock_screening(connection: Connection, message_id: int) -> tuple[Screening, bool] | None:
    """Where a message stands, and whether it was erased; None when there is no such message."""
    row = await connection.fetchrow(SQL["lock_screening"].sql, message_id, REPLACEMENT)
    return None if row is None else (Screening(row["screening"]), row["erased"])


async def record_decision(
    connection: Connection, message_id: int, action: Action, *, actor: str, device: str
) -> None:
    """Keeps who decided; only the owner of the pool may."""
    await connection.execute(SQL["insert_audit"].sql, actor, device, action, message_id)


async def list_decisions(connection: Connection, message_id: int) -> list[Decision]:
    """What was decided about a message, the first decision first."""
    return [
        Decision(row["at"], row["actor"], row["device"], Action(row["action"]))
        for row in await connection.fetch(SQL["list_audit"].sql, message_id)
    ]
