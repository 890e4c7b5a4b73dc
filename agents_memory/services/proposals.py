"""What the daemon proposes for the persona, and the owner's word on it."""

from dataclasses import dataclass, replace

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.patches import Applied, PatchRequest, WriteProfile
from agents_memory.services.patching import Patching
from agents_memory.services.profiles import OWNER
from agents_memory.storage import proposals
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.proposals import Proposal, Status

MAX_ID = 2**63 - 1
ASK_ANEW = "reject it, and have an agent ask for a new one with persona_regen"


@dataclass(frozen=True, slots=True)
class Accepted:
    """A proposal that became a version."""

    proposal_id: int
    kind: str
    version: int
    patch_id: int
    diff: str


class Proposals:
    """Nothing of a proposal is shown in a brief until the owner accepts it."""

    def __init__(self, database: Database, patching: Patching) -> None:
        self._database = database
        self._patching = patching

    async def list(
        self, user_id: int, status: Status | None = Status.PENDING, limit: int = 50
    ) -> tuple[Proposal, ...]:
        """The newest proposals in one state, or in any (None)."""

        async def load(connection: Connection) -> list[Proposal]:
            return await proposals.list_proposals(connection, user_id, status, limit)

        return tuple(await self._database.run(load))

    async def find(self, user_id: int, proposal_id: int) -> Proposal | Refusal:
        """A proposal in any state; refuses with UNKNOWN_ITEM."""

        async def load(connection: Connection) -> Proposal | None:
            return await proposals.find_proposal(connection, user_id, proposal_id)

        found = await self._database.run(load) if 0 < proposal_id <= MAX_ID else None
        return found or _unknown(proposal_id)

    async def accept(self, user_id: int, proposal_id: int, by: str) -> Accepted | Refusal:
        """Makes it the next version, by the owner's patch with the evidence of the proposal.

        Refuses with UNKNOWN_ITEM, INVALID_INPUT when it was decided before, EVIDENCE_NOT_FOUND when
        what it rests on was held back since, VERSION_CONFLICT when the document changed since.
        """

        async def decide(connection: Connection) -> Accepted | Refusal:
            async with connection.transaction():
                found = await self._pending(connection, user_id, proposal_id)
                if isinstance(found, Refusal):
                    return found
                if found.lost:
                    return Refusal(
                        Code.EVIDENCE_NOT_FOUND,
                        f"messages that it rests on were held back or taken back since; {ASK_ANEW}",
                        {"missing": list(found.lost)},
                    )
                write = WriteProfile(found.kind, found.content, found.base, found.evidence)
                request = PatchRequest(
                    user_id, OWNER.name, OWNER.tool, f"accepted proposal {found.id}", (write,),
                    actor_class=OWNER.actor_class,
                )  # fmt: skip
                done = await self._patching.apply_within(connection, request)
                if isinstance(done, Applied):
                    await proposals.decide_proposal(
                        connection, found.id, Status.ACCEPTED, patch_id=done.patch_id, by=by
                    )
                    version = done.changes[0].version
                    return Accepted(found.id, found.kind, version, done.patch_id, done.diff)
                if done.code is Code.VERSION_CONFLICT:
                    return replace(
                        done, message=f"{found.kind} changed since this was proposed; {ASK_ANEW}"
                    )
                return done

        return await self._database.run(decide)

    async def reject(self, user_id: int, proposal_id: int, by: str) -> Proposal | Refusal:
        """Declines for good: what it would have added is not proposed again.

        Refuses with UNKNOWN_ITEM, and INVALID_INPUT when it was decided before.
        """

        async def decide(connection: Connection) -> Proposal | Refusal:
            async with connection.transaction():
                found = await self._pending(connection, user_id, proposal_id)
                if isinstance(found, Refusal):
                    return found
                await proposals.decide_proposal(connection, found.id, Status.REJECTED, by=by)
                decided = await proposals.find_proposal(connection, user_id, found.id)
                assert decided is not None, "it is locked"
                return decided

        return await self._database.run(decide)

    async def _pending(
        self, connection: Connection, user_id: int, proposal_id: int
    ) -> Proposal | Refusal:
        if not 0 < proposal_id <= MAX_ID:
            return _unknown(proposal_id)
        pending = await proposals.lock_proposal(connection, user_id, proposal_id)
        found = await proposals.find_proposal(connection, user_id, proposal_id)
        if found is None:
            return _unknown(proposal_id)
        if pending:
            return found
        return Refusal(
            Code.INVALID_INPUT,
            f"proposal {proposal_id} is {found.status} already; `profile proposals` shows those "
            "that are open",
            {"id": proposal_id, "status": found.status.value},
        )


def _unknown(proposal_id: int) -> Refusal:
    return Refusal(
        Code.UNKNOWN_ITEM,
        f"{proposal_id} names no proposal; `mcp-agents-memory profile proposals` shows them",
        {"id": proposal_id},
    )
