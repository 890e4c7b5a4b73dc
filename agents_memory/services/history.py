"""What became of a memory, and what a patch did: read from what is never changed."""

from dataclasses import dataclass
from datetime import datetime

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import Kind, Status
from agents_memory.domain.messages import Trust
from agents_memory.domain.patch_refusals import unknown_memory
from agents_memory.domain.patches import Verb
from agents_memory.storage import memories, patches
from agents_memory.storage.connections import Connection, Database

MAX_ID = 2**63 - 1
MAX_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory, and the patch that made it.

    `evidence` was cited for it, `sources` is all it rests on; `ended_by` is the operation that made
    the next version, None for the current one. `diff` is None for patches of older programs.
    """

    version: int
    patch_id: int
    operation: Verb
    actor: str
    tool: str
    reason: str
    evidence: tuple[int, ...]
    sources: tuple[int, ...]
    subject: str
    content: str
    kind: Kind
    importance: int
    trust: Trust
    status: Status
    pinned: bool
    tags: tuple[str, ...]
    resolved_at: datetime | None
    superseded_by: int | None
    created_at: datetime
    ended_by: Verb | None
    diff: str | None


@dataclass(frozen=True, slots=True)
class OperationView:
    """What a patch did to one item; `item_kind` is "memory" or "profile"."""

    position: int
    operation: Verb
    item_id: int
    item_kind: str
    from_version: int | None
    to_version: int
    evidence: tuple[int, ...]
    diff: str | None


@dataclass(frozen=True, slots=True)
class PatchView:
    """A committed patch; `rollback_of` and `rolled_back_by` are ids of other patches."""

    id: int
    actor: str
    tool: str
    reason: str
    created_at: datetime
    diff: str
    rollback_of: int | None
    rolled_back_by: int | None
    operations: tuple[OperationView, ...]


@dataclass(frozen=True, slots=True)
class PatchSummary:
    """A patch in a list; `operations` are like "update 17"."""

    id: int
    actor: str
    tool: str
    reason: str
    created_at: datetime
    operations: tuple[str, ...]
    rollback_of: int | None
    rolled_back_by: int | None


class History:
    """Reads histories; takes no locks and changes nothing.

    What a private memory said is told where `private` asks for it, which only the owner does.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def versions(
        self, memory_id: int, user_id: int, *, private: bool = False
    ) -> tuple[Version, ...] | Refusal:
        """Every version of a memory, the oldest first; refuses with UNKNOWN_MEMORY."""

        async def load(connection: Connection) -> tuple[Version, ...] | Refusal:
            rows = await memories.list_versions(connection, memory_id, user_id, private=private)
            if not rows:
                return unknown_memory(memory_id)
            return tuple(
                Version(
                    **{
                        **row,
                        "operation": Verb(row["operation"]),
                        "kind": Kind(row["kind"]),
                        "trust": Trust(row["trust"]),
                        "status": Status(row["status"]),
                        "evidence": tuple(row["evidence"]),
                        "sources": tuple(row["sources"]),
                        "tags": tuple(row["tags"]),
                        "ended_by": row["ended_by"] and Verb(row["ended_by"]),
                    }
                )
                for row in rows
            )

        if not 0 < memory_id <= MAX_ID:
            return unknown_memory(memory_id)
        return await self._database.run(load)

    async def patch_view(
        self, patch_id: int, user_id: int, *, private: bool = False
    ) -> PatchView | Refusal:
        """A patch with all it did; refuses with UNKNOWN_PATCH."""

        async def load(connection: Connection) -> PatchView | Refusal:
            head = await patches.find_patch(connection, patch_id, user_id, private=private)
            if head is None:
                return unknown_patch(patch_id)
            rows = await patches.list_operations(connection, patch_id)
            operations = tuple(
                OperationView(
                    **{
                        **row,
                        "operation": Verb(row["operation"]),
                        "evidence": tuple(row["evidence"]),
                    }
                )
                for row in rows
            )
            return PatchView(**head, operations=operations)

        if not 0 < patch_id <= MAX_ID:
            return unknown_patch(patch_id)
        return await self._database.run(load)

    async def list_patches(
        self,
        user_id: int,
        memory_id: int | None = None,
        limit: int = 50,
        before: int | None = None,
        *,
        private: bool = False,
    ) -> tuple[PatchSummary, ...]:
        """Up to `limit` (1..1000) of the newest patches, of one memory or of all.

        `before` continues below the id of a patch.
        """

        async def load(connection: Connection) -> tuple[PatchSummary, ...]:
            rows = await patches.list_patches(
                connection,
                user_id,
                memory_id,
                before,
                max(1, min(limit, MAX_LISTED)),
                private=private,
            )
            return tuple(
                PatchSummary(**{**row, "operations": tuple(row["operations"])}) for row in rows
            )

        if not all(number is None or 0 < number <= MAX_ID for number in (memory_id, before)):
            return ()
        return await self._database.run(load)


def unknown_patch(patch_id: int) -> Refusal:
    """No patch of this user has the id."""
    return Refusal(
        Code.UNKNOWN_PATCH,
        f"{patch_id} names no patch; the history of a memory names those that changed it",
        {"patch_id": patch_id},
    )
