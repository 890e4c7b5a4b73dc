"""What the daemon proposes for the persona, and what it may make proposals from."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("proposals")

# Versions and rejected proposals that are looked at for what is not wanted.
DECLINED = 50


class Status(StrEnum):
    """What became of a proposal."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REPLACED = "replaced"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new version of a document, written for version `base` of it (0: there was none).

    `lost` are the messages of its `evidence` that may not be rested on any more.
    """

    id: int
    kind: str
    base: int
    content: str
    trust: Trust
    backend: str
    status: Status
    patch_id: int | None
    proposed_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    evidence: tuple[int, ...]
    lost: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """The open proposal for a document."""

    id: int
    base: int
    content: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memories tell about one side of the persona.

    `kinds` and `subjects` (lower case) None: all. `named`: the user's own name counts as a subject.
    """

    kinds: tuple[Kind, ...] | None
    subjects: tuple[str, ...] | None
    but: tuple[str, ...] = ()
    named: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory as it is read for a proposal, and the messages it rests on."""

    id: int
    text: str
    said_at: datetime
    trust: Trust
    evidence: tuple[int, ...]


async def list_proposals(
    connection: Connection, user_id: int, status: Status | None, limit: int
) -> list[Proposal]:
    """The newest proposals in one state, or in any."""
    rows = await connection.fetch(SQL["list_proposals"].sql, user_id, status, None, limit)
    return [_proposal(dict(row)) for row in rows]


async def find_proposal(connection: Connection, user_id: int, proposal_id: int) -> Proposal | None:
    """A proposal in any state; None when the id names none of this user."""
    row = await connection.fetchrow(SQL["list_proposals"].sql, user_id, None, proposal_id, 1)
    return None if row is None else _proposal(dict(row))


async def lock_proposal(connection: Connection, user_id: int, proposal_id: int) -> bool:
    """Whether a proposal is pending; it stays so until the transaction ends."""
    found = await connection.fetchval(SQL["lock_proposal"].sql, proposal_id, user_id)
    return found is not None and Status(found) is Status.PENDING


async def decide_proposal(
    connection: Connection,
    proposal_id: int,
    status: Status,
    *,
    patch_id: int | None = None,
    by: str | None = None,
) -> None:
    """What becomes of a pending proposal."""
    await connection.execute(SQL["decide_proposal"].sql, proposal_id, status, patch_id, by)


async def find_pending(connection: Connection, user_id: int, kind: str) -> Pending | None:
    """The open proposal for a document, locked."""
    row = await connection.fetchrow(SQL["find_pending"].sql, user_id, kind)
    return None if row is None else Pending(**dict(row))


async def insert_proposal(
    connection: Connection,
    user_id: int,
    kind: str,
    *,
    base: int,
    content: str,
    trust: Trust,
    backend: str,
    evidence: Sequence[int],
) -> int:
    """The id of a new proposal; none may be open for the document."""
    return int(
        await connection.fetchval(
            SQL["insert_proposal"].sql,
            user_id, kind, base, content, trust, backend, list(evidence),
        )
    )  # fmt: skip


async def list_declined(connection: Connection, user_id: int, kind: str) -> list[str]:
    """Texts of earlier versions and of rejected proposals, the newest `DECLINED` of each."""
    rows = await connection.fetch(SQL["list_declined"].sql, user_id, kind, DECLINED)
    return [row["content"] for row in rows]


async def list_statements(
    connection: Connection,
    user_id: int,
    wanted: Wanted,
    *,
    min_importance: int,
    limit: int,
    chars: int,
) -> list[Statement]:
    """Lasting memories that tell about one side, the weightiest first, cut to `chars`."""
    rows = await connection.fetch(
        SQL["list_statements"].sql,
        user_id, wanted.kinds, wanted.subjects, wanted.but, wanted.named, min_importance, limit,
        chars,
    )  # fmt: skip
    return [
        Statement(
            row["id"], row["text"], row["said_at"], Trust(row["trust"]), tuple(row["evidence"])
        )
        for row in rows
    ]


async def list_usable(connection: Connection, user_id: int, ids: Sequence[int]) -> dict[int, Trust]:
    """Those of some messages that a document may rest on now, and whose word each is."""
    rows = await connection.fetch(SQL["list_usable"].sql, user_id, list(ids))
    return {row["id"]: Trust(row["trust"]) for row in rows}


def _proposal(row: dict[str, Any]) -> Proposal:
    fields = {
        **row,
        "trust": Trust(row["trust"]),
        "status": Status(row["status"]),
        "evidence": tuple(row["evidence"]),
        "lost": tuple(row["lost"]),
    }
    return Proposal(**fields)
