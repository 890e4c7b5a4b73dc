"""Takes a patch back by a new one: the owner's act, which erases nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents_memory.clock import SystemClock
from agents_memory.domain.admission import clean_reason
from agents_memory.domain.changing import (
    Basis,
    MemoryStep,
    ProfileStep,
    Step,
    require_distinct,
)
from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.memories import Status
from agents_memory.domain.patches import Applied, Verb
from agents_memory.domain.tombstones import strike
from agents_memory.services.history import MAX_ID, unknown_patch
from agents_memory.services.patching import Made, retried
from agents_memory.storage import memories, patches
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.notify import Hints
from agents_memory.storage.patches import Head, Place
from agents_memory.storage.tombstones import KnownTombstones


class Rollback:
    """Restores what a patch changed to what it was before."""

    def __init__(self, database: Database, hints: Hints) -> None:
        self._database = database
        self._hints = hints
        self._tombstones = KnownTombstones(SystemClock())

    async def roll_back(
        self, patch_id: int, user_id: int, reason: str, *, actor: str = "owner", tool: str = "cli"
    ) -> Applied | Refusal:
        """A new patch, linked to the one it takes back, with a new version of each item.

        What the patch had added becomes removed; evidence goes back with the words that rest on it.
        A rollback can be rolled back like any patch. Refusals: UNKNOWN_PATCH, ALREADY_ROLLED_BACK,
        UNSAFE_ROLLBACK (a later patch that stands changed an item), DUPLICATE_MEMORY, and of the
        reason INVALID_INPUT and LIMIT_EXCEEDED. Raises DatabaseUnavailable.
        """
        if not 0 < patch_id <= MAX_ID:
            return unknown_patch(patch_id)
        try:
            why = clean_reason(reason)
        except Refused as refused:
            return refused.refusal
        made = Made(user_id)
        head = Head(0, user_id, actor, tool, why, rollback_of=patch_id)
        attempt = _Attempt(patch_id, head, made, self._tombstones)
        outcome = await retried(self._database.run, attempt.run, made)
        if isinstance(outcome, Applied):
            self._hints.send()
        return outcome


@dataclass(frozen=True, slots=True)
class _Span:
    """From which version (None: there was none) to which a patch brought one item."""

    first: int | None
    last: int


@dataclass(frozen=True, slots=True)
class _Attempt:
    patch_id: int
    head: Head
    made: Made
    tombstones: KnownTombstones

    async def run(self, connection: Connection) -> Applied:
        user_id = self.head.user_id
        async with connection.transaction():
            if await patches.find_patch(connection, self.patch_id, user_id) is None:
                raise Refused(unknown_patch(self.patch_id))
            rows = await patches.list_operations(connection, self.patch_id)
            of_memories, of_profiles = _spans(rows, "memory"), _spans(rows, "profile")
            # In the order of every patch; who comes second sees what the first has done.
            now = await memories.lock_memories(connection, list(of_memories), user_id, private=True)
            documents = await patches.lock_profiles_by_id(connection, user_id, list(of_profiles))
            await self._require_last(connection, {**of_memories, **of_profiles})
            steps: list[Step] = []
            before = await memories.list_states(connection, _firsts(of_memories))
            for memory_id, span in of_memories.items():
                state = now[memory_id]
                if span.first is None:
                    after = replace(
                        state, status=Status.REMOVED, pinned=False, version=state.version + 1
                    )
                else:
                    after = replace(before[memory_id], version=state.version + 1)
                basis = Basis(like=((memory_id, span.first or state.version),))
                steps.append(MemoryStep(Verb.RESTORE, state, after, basis))
            said = await patches.list_profile_versions(connection, _firsts(of_profiles))
            for profile_id, span in of_profiles.items():
                document = documents[profile_id]
                then = replace(
                    document, version=document.version + 1, content=said.get(profile_id, "")
                )
                like = () if span.first is None else ((profile_id, span.first),)
                steps.append(ProfileStep(Verb.RESTORE, document, then, Basis(like=like)))
            require_distinct(steps)
            ground = await patches.find_ground(connection, user_id, (), 1, (), private=True)
            reason = strike(self.head.reason, await self.tombstones.now(connection))
            head = replace(self.head, id=ground.ids[0], reason=reason)
            return await self.made.write(connection, head, steps, Place())

    async def _require_last(self, connection: Connection, spans: Mapping[int, _Span]) -> None:
        head = await patches.find_patch(connection, self.patch_id, self.head.user_id)
        assert head is not None, "patches are never deleted"
        if head["rolled_back_by"] is not None:
            raise Refused(
                Refusal(
                    Code.ALREADY_ROLLED_BACK,
                    f"patch {head['rolled_back_by']} has taken this one back; roll that one back "
                    "to have it again",
                    {"patch_id": self.patch_id, "rolled_back_by": head["rolled_back_by"]},
                )
            )
        later = _standing(
            await patches.list_later(
                connection, {item_id: span.last for item_id, span in spans.items()}
            )
        )
        if later:
            raise Refused(
                Refusal(
                    Code.UNSAFE_ROLLBACK,
                    f"later patches changed the same items ({', '.join(map(str, later))}); roll "
                    "those back first, the newest before the others, or make a new patch",
                    {"patch_id": self.patch_id, "later": later},
                )
            )


def _standing(later: list[tuple[int, int | None]]) -> list[int]:
    """Those of the later patches that still have an effect, the oldest first.

    A patch and the rollback that took it back leave everything as it was before both.
    """
    standing = [patch_id for patch_id, _ in later]
    for patch_id, rollback_of in reversed(later):
        if patch_id in standing and rollback_of in standing:
            standing.remove(patch_id)
            standing.remove(rollback_of)
    return standing


def _spans(rows: list[dict[str, Any]], kind: str) -> dict[int, _Span]:
    spans: dict[int, _Span] = {}
    for row in rows:
        if row["item_kind"] == kind:
            earlier = spans.get(row["item_id"])
            first = row["from_version"] if earlier is None else earlier.first
            spans[row["item_id"]] = _Span(first, row["to_version"])
    return spans


def _firsts(spans: Mapping[int, _Span]) -> dict[int, int]:
    return {item_id: span.first for item_id, span in spans.items() if span.first is not None}
