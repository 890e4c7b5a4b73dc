"""The one way to change what is believed: patches, applied whole or not at all."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from agents_memory.clock import SystemClock
from agents_memory.domain.admission import admit
from agents_memory.domain.changing import (
    Evidence,
    Ground,
    MemoryStep,
    ProfileState,
    Step,
    standing,
    steps,
)
from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.memories import Status, same_key
from agents_memory.domain.messages import Screening
from agents_memory.domain.patch_refusals import duplicate
from agents_memory.domain.patches import (
    Add,
    Applied,
    Change,
    PatchRequest,
    Replace,
    Supersede,
    Support,
    Update,
    WriteProfile,
    payload_digest,
)
from agents_memory.domain.policy import ActorClass, Policy
from agents_memory.domain.redaction import redact
from agents_memory.domain.screening import screen
from agents_memory.domain.tombstones import Tombstones, strike_request
from agents_memory.services.made_tags import made_tags
from agents_memory.storage import memories, patches, tags
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.notify import Hints
from agents_memory.storage.patches import Head, Place, Taken
from agents_memory.storage.tombstones import KnownTombstones

T = TypeVar("T")

# An id that names no message.
_TO_COME = -1
EMBED_STAGE = "embed_memory"
# Each is lost to somebody who was faster, so one is nearly always enough.
TRIES = 5


class Patching:
    """Checks and applies patches."""

    def __init__(self, database: Database, hints: Hints, policy: Policy | None = None) -> None:
        self._database = database
        self._hints = hints
        self._policy = policy or Policy()
        self._tombstones = KnownTombstones(SystemClock())

    async def apply(self, request: PatchRequest) -> Applied | Refusal:
        """Applies all operations in one transaction, or none.

        One after the other: an operation on a memory that an earlier one of the same request
        changed expects the version which that one made. Refusals: INVALID_INPUT, LIMIT_EXCEEDED,
        OPERATION_NOT_ALLOWED, MISSING_EVIDENCE, UNSAFE_CONTENT, EVIDENCE_NOT_FOUND,
        EVIDENCE_ROLE_NOT_ALLOWED, UNKNOWN_MEMORY, ALREADY_REMOVED, PINNED, DUPLICATE_MEMORY,
        VERSION_CONFLICT, IDEMPOTENCY_CONFLICT. Raises DatabaseUnavailable.
        """
        clean = admit(request, self._policy)
        if isinstance(clean, Refusal):
            return clean
        # To an agent what is private is not there, nor may it be cited; a pass knows what it reads.
        owner = clean.actor_class is ActorClass.OWNER
        attempt = _Attempt(clean, self._policy, self._tombstones, private=owner)
        outcome = await retried(self._database.run, attempt.run, attempt.made)
        if isinstance(outcome, Applied) and not outcome.replayed:
            self._hints.send()
        return outcome

    async def foresee(self, request: PatchRequest) -> Refusal | None:
        """Why `apply` would refuse a request whose evidence is still to be stored, if known now.

        So that nothing is stored for what cannot be. Raises DatabaseUnavailable.
        """
        clean = admit(replace(request, evidence=(_TO_COME,)), self._policy)
        if isinstance(clean, Refusal):
            return clean
        changed = [op for op in clean.operations if isinstance(op, Update | Supersede)]
        if not changed:
            return None
        known = [op.memory_id for op in changed if 0 < op.memory_id < 2**63]
        found = await self._database.run(
            lambda c: memories.lock_memories(c, known, clean.user_id, private=False)
        )
        for op in changed:
            try:
                standing(found, op.memory_id, op.expected_version)
            except Refused as refused:
                return refused.refusal
        return None

    async def apply_within(
        self, connection: Connection, request: PatchRequest
    ) -> Applied | Refusal:
        """The same in the caller's transaction, with which it stands or falls.

        For passes, whose every write is fenced by a term. After a refusal the transaction goes on.
        """
        clean = admit(request, self._policy)
        if isinstance(clean, Refusal):
            return clean

        async def nested(operation: Callable[[Connection], Awaitable[T]], /) -> T:
            async with connection.transaction():
                return await operation(connection)

        attempt = _Attempt(clean, self._policy, self._tombstones, private=True)
        return await retried(nested, attempt.run, attempt.made)


class _Attempt:
    """One request, tried until it stands or is refused."""

    def __init__(
        self,
        request: PatchRequest,
        policy: Policy,
        tombstones: KnownTombstones,
        *,
        private: bool,
    ) -> None:
        self._request = request
        self._private = private
        self._policy = policy
        self._tombstones = tombstones
        self.made = Made(request.user_id)

    async def run(self, connection: Connection) -> Applied:
        erased = await self._tombstones.now(connection)
        if self._request.idempotency_key is None:
            return await self._write(connection, None, erased)
        payload, earlier = await self._earlier(connection, erased)
        if earlier is not None:
            return earlier
        try:
            return await self._write(connection, payload, erased)
        except Refused:
            # The same request may have been applied since, and this is refused for its outcome.
            _, earlier = await self._earlier(connection, erased)
            if earlier is not None:
                return earlier
            raise

    async def _write(
        self, connection: Connection, payload: bytes | None, erased: Tombstones
    ) -> Applied:
        request = strike_request(self._request, erased) if erased else self._request
        adds = [op for op in request.operations if isinstance(op, Add)]
        kinds = sorted({op.kind for op in request.operations if isinstance(op, WriteProfile)})
        found = await patches.find_ground(
            connection,
            request.user_id,
            [number for op in request.operations for number in op.evidence],
            len(adds) + len(kinds) + 1,
            [(add.scope, same_key(add.subject, add.content)) for add in adds],
            private=self._private,
        )
        *ids, patch_id = found.ids
        ground = Ground(found.now, _citable(found.evidence), ids[: len(adds)], tagger=made_tags)
        place = Place(request.platform)
        if request.project is not None and adds:
            p_tag = await _project(connection, request.project, erased)
            place = Place(request.platform, p_tag)
        head = Head(
            patch_id, request.user_id, request.actor, request.tool, request.reason,
            request.idempotency_key, payload,
        )  # fmt: skip
        known = self._known()
        if not known and not kinds:
            # Nothing to lock, and the one statement that writes is a transaction of its own.
            made = steps(request, ground, self._policy)
            if found.same_id is not None:
                raise Refused(duplicate(found.same_id))
            return await self.made.write(connection, head, made, place)
        async with connection.transaction():
            # Always memories first, in the order of their ids, so that no two wait crosswise.
            # Nobody who patches sees what is private; who says the same words again may not fail.
            ground.memories = await memories.lock_memories(
                connection,
                known,
                request.user_id,
                private=any(isinstance(op, Support) for op in request.operations),
            )
            if kinds:
                there = await patches.lock_profiles(connection, request.user_id, kinds)
                ground.profiles = {
                    kind: there.get(kind) or ProfileState(fresh, kind, 0, "")
                    for kind, fresh in zip(kinds, ids[len(adds) :], strict=True)
                }
            made = steps(request, ground, self._policy)
            return await self.made.write(connection, head, made, place)

    def _known(self) -> list[int]:
        """Ids of the memories that have to be there."""
        wanted = set[int]()
        for op in self._request.operations:
            if not isinstance(op, Add | WriteProfile):
                wanted.add(op.memory_id)
            if isinstance(op, Replace):
                wanted.add(op.by)
        return [number for number in wanted if 0 < number < 2**63]

    async def _earlier(
        self, connection: Connection, erased: Tombstones
    ) -> tuple[bytes, Applied | None]:
        """The digest of this payload, and what its key made of it before."""
        request = self._request
        key = request.idempotency_key
        assert key is not None, "asked of a request with a key"
        # Under the name that the owner left it; the digest is of the words as they were sent, so an
        # answer that was lost before they were erased is still found after.
        key = erased.strike_name(key)
        earlier = await patches.find_earlier(connection, request.user_id, request.actor, key)
        payload = payload_digest(request, earlier.hmac_key)
        if earlier.id is None:
            return payload, None
        if earlier.payload_hmac != payload:
            raise Refused(
                Refusal(
                    Code.IDEMPOTENCY_CONFLICT,
                    "this idempotency key was used for another request; take a new key",
                    {"patch_id": earlier.id},
                )
            )
        return payload, await find_applied(connection, earlier.id, request.user_id, replayed=True)


async def _project(connection: Connection, name: str, erased: Tombstones) -> int | None:
    """The id of a project, which is made known as the daemon does it for messages."""
    known = await tags.find_project(connection, name)
    # A directory may be called by what must not be kept.
    if known is not None or redact(name).text != name or erased.spans(name):
        return known
    return await tags.find_or_add_project(connection, name, "directory")


def _citable(found: Mapping[int, Evidence]) -> dict[int, Evidence]:
    """Without what the screen pass is going to quarantine, had it been there already."""
    return {
        number: evidence
        for number, evidence in found.items()
        if evidence.unscreened is None
        or screen(evidence.unscreened, evidence.trust).screening is Screening.CLEAR
    }


@dataclass(slots=True)
class Made:
    """The patch that was sent last, for the case that the answer to its commit was lost."""

    user_id: int
    patch_id: int | None = None
    written: tuple[Step, ...] = ()

    async def write(
        self, connection: Connection, head: Head, made: Sequence[Step], place: Place
    ) -> Applied:
        """Writes a patch. Raises Taken when somebody was faster."""
        self.patch_id, self.written = head.id, tuple(made)
        diffs = [step.diff for step in made]
        await patches.write_patch(connection, head, made, diffs, place, EMBED_STAGE)
        changes = tuple(Change(step.verb, step.after.id, step.after.version) for step in made)
        return Applied(head.id, "".join(diffs), changes)


class Runner(Protocol):
    """Gives an operation a connection: `Database.run`, or something like it."""

    async def __call__(self, operation: Callable[[Connection], Awaitable[T]], /) -> T: ...


async def retried(
    runner: Runner, run: Callable[[Connection], Awaitable[Applied]], made: Made
) -> Applied | Refusal:
    """What `run` makes of the pool as it is; tried anew when somebody else was faster."""

    async def once(connection: Connection) -> Applied | Refusal:
        if made.patch_id is not None:
            stands = await find_applied(connection, made.patch_id, made.user_id)
            if stands is not None:
                return stands
        return await run(connection)

    async def again(connection: Connection) -> int | None:
        states = {s.after.id: s.after for s in made.written if isinstance(s, MemoryStep)}
        active = [state for state in states.values() if state.status is Status.ACTIVE]
        return await memories.find_same(connection, made.user_id, active)

    for number in range(TRIES):
        try:
            return await runner(once)
        except Refused as refused:
            return refused.refusal
        except Taken as taken:
            # The first time it may have been this very request, by its key.
            if number and taken.of_memory and (same := await runner(again)) is not None:
                return duplicate(same)
    return duplicate(None)


async def find_applied(
    connection: Connection, patch_id: int, user_id: int, *, replayed: bool = False
) -> Applied | None:
    """A committed patch as it was answered; None when there is none."""
    head = await patches.find_patch(connection, patch_id, user_id)
    if head is None:
        return None
    done = await patches.list_operations(connection, patch_id)
    changes = tuple(Change(row["operation"], row["item_id"], row["to_version"]) for row in done)
    return Applied(patch_id, head["diff"], changes, replayed)
