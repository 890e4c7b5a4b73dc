"""The documents about a user, to read; they are changed through patches."""

from datetime import datetime
from typing import NamedTuple

from agents_memory.domain.messages import Trust
from agents_memory.domain.persona import document_trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("profiles")


class Profile(NamedTuple):
    """A document about a user; `held`: a message that it rests on was quarantined since, or made
    private.
    """

    id: int
    kind: str
    version: int
    content: str
    updated_at: datetime
    trust: Trust
    held: bool

    @property
    def hidden(self) -> bool:
        """Whether nobody but the owner is told what it says.

        What the owner wrote or accepted is his own word, whatever became of its sources.
        """
        return self.held and self.trust is not Trust.OWNER


class ProfileVersion(NamedTuple):
    """One version of a document, the patch that made it, and the messages it rests on."""

    version: int
    content: str
    created_at: datetime
    patch_id: int
    actor: str
    tool: str
    reason: str
    evidence: tuple[int, ...]


async def list_profiles(connection: Connection, user_id: int) -> dict[str, Profile]:
    """The written documents of a user by kind."""
    rows = await connection.fetch(SQL["list_profiles"].sql, user_id)
    return {
        row["kind"]: Profile(
            row["id"],
            row["kind"],
            row["version"],
            row["content"],
            row["updated_at"],
            document_trust(row["actor"], map(Trust, row["trusts"])),
            row["held"],
        )
        for row in rows
    }


async def list_history(
    connection: Connection, user_id: int, kind: str, version: int | None = None
) -> tuple[ProfileVersion, ...]:
    """The versions of a document, the oldest first, or only one of them."""
    rows = await connection.fetch(SQL["list_history"].sql, user_id, kind, version)
    return tuple(
        ProfileVersion(**{**dict(row), "evidence": tuple(row["evidence"])}) for row in rows
    )
