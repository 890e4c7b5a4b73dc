"""What a patch makes of the memories and profiles it meets: pure, one step after the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from agents_memory.domain.diffs import shown, shown_profile, unified
from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.memories import MemoryState, Status, same_key
from agents_memory.domain.messages import Role, Trust
from agents_memory.domain.patch_refusals import (
    conflict,
    kept_by_pin,
    not_active,
    profile_conflict,
    unknown_memory,
)
from agents_memory.domain.patches import (
    MAX_TAGS,
    Add,
    Archive,
    OnMemory,
    Operation,
    PatchRequest,
    Pin,
    Remove,
    Replace,
    Resolve,
    Retag,
    Supersede,
    Support,
    Update,
    Verb,
    WriteProfile,
    verb,
)
from agents_memory.domain.policy import ActorClass, Policy
from agents_memory.domain.trust import highest, lowest


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message that exists and may be cited; `unscreened`: its text, while no pass has seen it."""

    id: int
    role: Role
    trust: Trust
    unscreened: str | None = None


@dataclass(frozen=True, slots=True)
class ProfileState:
    """One version of a document about the user; version 0 with no content before the first."""

    id: int
    kind: str
    version: int
    content: str


@dataclass(frozen=True, slots=True)
class Basis:
    """What a version rests on: messages, and all that earlier versions of items rested on."""

    cited: tuple[int, ...] = ()
    like: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryStep:
    """One version that a patch makes; `new` is the operation that made the memory itself."""

    verb: Verb
    before: MemoryState | None
    after: MemoryState
    basis: Basis
    evidence: tuple[int, ...] = ()
    new: Add | None = None

    @property
    def diff(self) -> str:
        return unified(f"memory/{self.after.id}", shown(self.before), shown(self.after))


@dataclass(frozen=True, slots=True)
class ProfileStep:
    """One version of a document that a patch makes."""

    verb: Verb
    before: ProfileState
    after: ProfileState
    basis: Basis
    evidence: tuple[int, ...] = ()

    @property
    def diff(self) -> str:
        return unified(
            f"profile/{self.after.kind}",
            shown_profile(self.before.content),
            shown_profile(self.after.content),
        )


Step = MemoryStep | ProfileStep


Tagger = Callable[[str], tuple[str, ...]]


def _untagged(text: str) -> tuple[str, ...]:
    return ()


@dataclass(slots=True)
class Ground:
    """What a patch meets, locked; `ids` are for new memories, in the order of their operations.

    `tagger` makes the tags of words that were given none.
    """

    now: datetime
    evidence: Mapping[int, Evidence]
    ids: Sequence[int] = ()
    tagger: Tagger = _untagged
    memories: dict[int, MemoryState] = field(default_factory=dict)
    profiles: dict[str, ProfileState] = field(default_factory=dict)


def standing(
    memories: Mapping[int, MemoryState],
    memory_id: int,
    expected: int | None,
    statuses: Sequence[Status] = (Status.ACTIVE,),
) -> MemoryState:
    """The memory, if it stands as expected.

    Raises Refused with UNKNOWN_MEMORY, VERSION_CONFLICT and ALREADY_REMOVED.
    """
    state = memories.get(memory_id)
    if state is None:
        raise Refused(unknown_memory(memory_id))
    if expected not in (None, state.version):
        raise Refused(conflict(state, expected))
    if state.status not in statuses:
        raise Refused(not_active(state))
    return state


def steps(request: PatchRequest, ground: Ground, policy: Policy) -> tuple[Step, ...]:
    """All versions that the operations make, in their order; an operation sees the ones before it.

    Raises Refused with EVIDENCE_NOT_FOUND, EVIDENCE_ROLE_NOT_ALLOWED, UNKNOWN_MEMORY,
    VERSION_CONFLICT, ALREADY_REMOVED, PINNED, INVALID_INPUT and DUPLICATE_MEMORY.
    """
    _check_evidence(request, ground, policy)
    making = _Making(request, ground)
    for operation in request.operations:
        making.make(operation)
    require_distinct(making.made)
    return tuple(making.made)


def retagged(tags: tuple[str, ...], tagger: Tagger, old: str, new: str) -> tuple[str, ...]:
    """The tags of a memory whose words change: those made from the words are made anew.

    Where not all that would be made of the old words are there, somebody else chose the tags, and
    they stay. What somebody added to those that were made stays too.
    """
    made = tagger(old)
    if not made or not set(made) <= set(tags):
        return tags
    own = (tag for tag in tags if tag not in made)
    return tuple(dict.fromkeys((*own, *tagger(new))))[:MAX_TAGS]


def require_distinct(made: Sequence[Step]) -> None:
    """Raises Refused when two of the memories say the same in the end."""
    last = {step.after.id: step.after for step in made if isinstance(step, MemoryStep)}
    seen: dict[tuple[str, bytes], int] = {}
    for state in last.values():
        if state.status is Status.ACTIVE:
            key = (state.scope, same_key(state.subject, state.content))
            if seen.setdefault(key, state.id) != state.id:
                raise Refused(
                    Refusal(
                        Code.DUPLICATE_MEMORY,
                        "two operations of this patch end in the same statement; make it once",
                        {"memory_id": None},
                    )
                )


def _check_evidence(request: PatchRequest, ground: Ground, policy: Policy) -> None:
    cited = {number for operation in request.operations for number in operation.evidence}
    missing = sorted(cited - ground.evidence.keys())
    if missing:
        raise Refused(
            Refusal(
                Code.EVIDENCE_NOT_FOUND,
                "these ids name no message that may be cited; search for the right ones",
                {"missing": missing},
            )
        )
    for operation in request.operations:
        for number in operation.evidence:
            found = ground.evidence[number]
            if not policy.admits(verb(operation), found.role, found.trust):
                raise Refused(
                    Refusal(
                        Code.EVIDENCE_ROLE_NOT_ALLOWED,
                        f"message {number} (role {found.role}, trust {found.trust}) is no evidence "
                        f"for {verb(operation)} by the policy of this pool; cite another message",
                        {
                            "message_id": number,
                            "role": found.role.value,
                            "trust": found.trust.value,
                            "operation": verb(operation).value,
                        },
                    )
                )


class _Making:
    """The states as they become, and the steps that made them so."""

    def __init__(self, request: PatchRequest, ground: Ground) -> None:
        self._actor = request.actor_class
        self._ground = ground
        self._memories = dict(ground.memories)
        self._profiles = dict(ground.profiles)
        self._ids = iter(ground.ids)
        self._bases: dict[int, Basis] = {}
        self.made: list[Step] = []

    def make(self, operation: Operation) -> None:
        match operation:
            case Add():
                self._add(operation)
            case WriteProfile():
                self._write_profile(operation)
            case Replace():
                self._replace(operation)
            case _:
                self._change(operation)

    def _add(self, add: Add) -> None:
        after = MemoryState(
            id=next(self._ids),
            version=1,
            subject=add.subject,
            attribute=add.attribute,
            content=add.content,
            kind=add.kind,
            importance=add.importance,
            valence=add.valence or 0.0,
            intensity=add.intensity or 0.0,
            trust=self._trust(add.evidence),
            status=Status.ACTIVE,
            pinned=add.pinned,
            tags=add.tags,
            resolved_at=None,
            superseded_by=None,
            scope=add.scope,
        )
        self.made.append(
            MemoryStep(Verb.ADD, None, after, Basis(add.evidence), add.evidence, new=add)
        )

    def _change(self, operation: OnMemory) -> None:
        # What is archived is beyond every change but the last one.
        changeable = (Status.ACTIVE, *([Status.ARCHIVED] if isinstance(operation, Remove) else []))
        state = self._changeable(operation.memory_id, operation.expected_version, changeable)
        self._keep_pinned(state)
        basis = self._basis(state)
        match operation:
            case Update(content=content) | Supersede(content=content):
                trust = self._trust(operation.evidence)
                tags = retagged(state.tags, self._ground.tagger, state.content, content)
                after = replace(state, content=content, trust=trust, tags=tags)
                basis = Basis(operation.evidence)
            case Support(saying=saying):
                if saying not in (None, state.content):
                    raise Refused(conflict(state, operation.expected_version))
                trust = highest((state.trust, self._trust(operation.evidence)))
                after = replace(state, trust=trust)
                basis = replace(basis, cited=basis.cited + operation.evidence)
            case Archive():
                after = replace(state, status=Status.ARCHIVED, pinned=False)
            case Remove():
                after = replace(state, status=Status.REMOVED, pinned=False)
            case Pin(pinned=pinned):
                after = replace(state, pinned=pinned)
            case Resolve():
                after = replace(state, resolved_at=state.resolved_at or self._ground.now)
            case Retag(tags=tags):
                after = replace(state, tags=tags)
            case Replace():
                raise AssertionError("a replacement concerns two memories")
        self._step(verb(operation), state, after, basis, operation.evidence)

    def _replace(self, operation: Replace) -> None:
        loser = self._changeable(operation.memory_id, operation.expected_version)
        winner = self._changeable(operation.by, operation.by_version)
        self._keep_pinned(loser)
        if loser.id == winner.id or loser.scope != winner.scope:
            raise Refused(
                Refusal(
                    Code.INVALID_INPUT,
                    "a memory gives way only to another one of its own scope; name that one as by",
                    {"memory_id": loser.id, "by": winner.id},
                )
            )
        basis, of_winner = self._basis(loser), self._basis(winner)
        after = replace(loser, status=Status.SUPERSEDED, superseded_by=winner.id, pinned=False)
        self._step(Verb.REPLACE, loser, after, basis, operation.evidence)
        if operation.merge:
            both = Basis(of_winner.cited + basis.cited, of_winner.like + basis.like)
            self._step(Verb.MERGE, winner, winner, both, operation.evidence)

    def _write_profile(self, write: WriteProfile) -> None:
        state = self._profiles[write.kind]
        if write.expected_version not in (None, state.version):
            raise Refused(profile_conflict(write.kind, state.version, write.expected_version))
        after = replace(state, version=state.version + 1, content=write.content)
        self._profiles[write.kind] = after
        basis = Basis(write.evidence)
        self.made.append(ProfileStep(Verb.WRITE_PROFILE, state, after, basis, write.evidence))

    def _step(
        self,
        name: Verb,
        before: MemoryState,
        changed: MemoryState,
        basis: Basis,
        evidence: tuple[int, ...],
    ) -> None:
        after = replace(changed, version=before.version + 1)
        self._memories[after.id] = after
        self._bases[after.id] = basis
        self.made.append(MemoryStep(name, before, after, basis, evidence))

    def _basis(self, state: MemoryState) -> Basis:
        return self._bases.get(state.id) or Basis(like=((state.id, state.version),))

    def _trust(self, evidence: Sequence[int]) -> Trust:
        if self._actor is ActorClass.OWNER:
            return Trust.OWNER
        return lowest(self._ground.evidence[number].trust for number in evidence)

    def _changeable(
        self, memory_id: int, expected: int | None, statuses: Sequence[Status] = (Status.ACTIVE,)
    ) -> MemoryState:
        return standing(self._memories, memory_id, expected, statuses)

    def _keep_pinned(self, state: MemoryState) -> None:
        if state.pinned and self._actor is ActorClass.DAEMON:
            raise Refused(kept_by_pin(state))
