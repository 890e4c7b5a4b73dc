"""What a person asks to remember, correct or forget, in one step."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import Kind, MemoryView, Status
from agents_memory.domain.messages import Draft
from agents_memory.domain.patches import (
    Add,
    Applied,
    Archive,
    OnMemory,
    Operation,
    PatchRequest,
    Pin,
    Remove,
    Resolve,
    Retag,
    Supersede,
    Update,
    WriteProfile,
)
from agents_memory.domain.text import content_key, repair
from agents_memory.services.adding import Adding
from agents_memory.services.embedding_now import EmbeddingNow
from agents_memory.services.intake import Intake
from agents_memory.services.made_tags import made_tags
from agents_memory.services.patching import Patching
from agents_memory.storage import memories, profiles
from agents_memory.storage.connections import Connection, Database

SUBJECT = "user"
ACTOR = "agent"
TOOL = "manage_knowledge"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of the request; `message_id` is the evidence that was stored for it.

    `embedded`: a memory that was added can be found by its meaning already.
    """

    applied: Applied
    message_id: int | None
    embedded: bool = False


@dataclass(frozen=True, slots=True)
class Unchanged:
    """It was so already, and nothing was written."""

    memory: MemoryView


class Knowledge:
    """Stores the words as a message first, then patches what is believed and cites them."""

    def __init__(
        self,
        database: Database,
        intake: Intake,
        patching: Patching,
        embedding: EmbeddingNow | None = None,
    ) -> None:
        self._database = database
        self._intake = intake
        self._patching = patching
        self._embedding = embedding
        self._adding = Adding(database, patching)

    async def add_memory(
        self,
        said: Draft,
        user_id: int,
        *,
        kind: Kind,
        subject: str | None,
        project: str | None,
        attribute: str | None = None,
    ) -> Remembered | Refusal:
        """A new pinned memory that rests on the words as they were handed over.

        One that says the same already rests on them too from then on; one of the same subject and
        `attribute`, of which there is one value at a time, is superseded.
        It is tagged by the rules, and embedded in time if this machine can (else the daemon does).
        """
        add = Add(subject or SUBJECT, said.text, kind, pinned=True, attribute=attribute)
        return await self.remember(said, user_id, add, project=project)

    async def remember(
        self,
        said: Draft,
        user_id: int,
        add: Add,
        *,
        project: str | None,
        evidence: tuple[int, ...] = (),
        tool: str = TOOL,
    ) -> Remembered | Refusal:
        """The same for a memory of any kind, weight and affect; its own tags stay what they are.

        Where messages are cited as `evidence`, it rests on these and `said` is not stored.
        """
        if not add.tags:
            add = replace(add, tags=await asyncio.to_thread(made_tags, said.text))
        done = await self._evidenced(
            said, user_id, add, "asked to remember", project, tool=tool, evidence=evidence
        )
        if isinstance(done, Refusal) or self._embedding is None:
            return done
        change = done.applied.changes[0]
        return replace(done, embedded=await self._embedding.embed(change.item_id, user_id))

    async def update_memory(
        self, said: Draft, user_id: int, memory_id: int, expected_version: int | None
    ) -> Remembered | Refusal:
        """A better wording of a memory."""
        update = Update(memory_id, said.text, expected_version)
        return await self._evidenced(said, user_id, update, "asked to correct", None)

    async def revise(
        self, said: Draft, user_id: int, operation: OnMemory, *, tool: str
    ) -> Remembered | Unchanged | Refusal:
        """One change of a memory; new words are stored first and cited.

        Words, a pin, tags or a resolution that it has already are no change.
        """
        current = await self.find(operation.memory_id, user_id)
        if current is not None and _is_so(current, operation):
            return Unchanged(current)
        if isinstance(operation, Update | Supersede):
            return await self._evidenced(
                said, user_id, operation, "asked to revise", None, tool=tool
            )
        request = self._request(user_id, (operation,), "asked to revise", (), tool)
        return _remembered(await self._patching.apply(request))

    async def delete_memory(
        self, user_id: int, memory_id: int, expected_version: int | None, *, tool: str
    ) -> Remembered | Refusal:
        """Archives a memory, and removes one that is archived already."""
        archive = Archive(memory_id, expected_version)
        request = self._request(user_id, (archive,), "asked to delete", (), tool)
        done = await self._patching.apply(request)
        if isinstance(done, Refusal) and done.details.get("status") == Status.ARCHIVED:
            remove = Remove(memory_id, expected_version or done.details["version"])
            done = await self._patching.apply(replace(request, operations=(remove,)))
        return _remembered(done)

    async def remove_memory(
        self, user_id: int, memory_id: int, expected_version: int | None
    ) -> Remembered | Refusal:
        """Hides a memory and the words told for it; the history keeps both. Pins don't protect."""
        request = self._request(
            user_id, (Remove(memory_id, expected_version),), "asked to remove", ()
        )
        return _remembered(await self._patching.apply(request))

    async def find(self, memory_id: int, user_id: int) -> MemoryView | None:
        """A memory as it is now, whatever its status; None when the id names none."""
        return next(iter(await self.find_all([memory_id], user_id)), None)

    async def find_all(self, ids: Sequence[int], user_id: int) -> list[MemoryView]:
        """The same of several, in the order of their ids as given."""
        return await self._database.run(lambda c: memories.list_memories(c, ids, user_id))

    async def add_to_profile(self, line: str, user_id: int) -> Remembered | Refusal:
        """One more line in the sub profile; lines that others add at the same time are kept."""
        while True:
            kept, version = await self._sub_profile(user_id)
            content = f"{kept}\n{line}".strip()
            done = await self.write_profile(content, user_id, expected_version=version)
            # Somebody was faster, and every round somebody is: this ends.
            if isinstance(done, Remembered) or done.code is not Code.VERSION_CONFLICT:
                return done

    async def remove_from_profile(self, line: str, user_id: int) -> Remembered | Refusal:
        """Without one line of the sub profile; others that change it at the same time are heeded.

        Refuses a line that is not there.
        """
        while True:
            kept, version = await self._sub_profile(user_id)
            lines = kept.splitlines()
            left = [one for one in lines if content_key(one) != content_key(line)]
            if len(left) == len(lines):
                return Refusal(
                    Code.INVALID_INPUT,
                    "the profile has no such line; pass one as it stands there (memory_startup "
                    "shows it), or leave content out to empty the page",
                )
            content = "\n".join(left).strip()
            done = await self.write_profile(content, user_id, expected_version=version)
            if isinstance(done, Remembered) or done.code is not Code.VERSION_CONFLICT:
                return done

    async def write_profile(
        self, content: str, user_id: int, *, expected_version: int | None = None
    ) -> Remembered | Refusal:
        """The sub profile anew; empty content empties it."""
        write = WriteProfile("sub", content, expected_version)
        request = self._request(user_id, (write,), "asked to change the profile", ())
        return _remembered(await self._patching.apply(request))

    async def _sub_profile(self, user_id: int) -> tuple[str, int]:
        async def load(connection: Connection) -> tuple[str, int]:
            document = (await profiles.list_profiles(connection, user_id)).get("sub")
            return ("", 0) if document is None else (document.content, document.version)

        return await self._database.run(load)

    async def _evidenced(
        self,
        said: Draft,
        user_id: int,
        operation: Add | Update | Supersede,
        reason: str,
        project: str | None,
        *,
        tool: str = TOOL,
        evidence: tuple[int, ...] = (),
    ) -> Remembered | Refusal:
        if evidence:
            return await self._applied(said, user_id, operation, reason, project, tool, evidence)
        # What is refused anyway stores nothing.
        foreseen = await self._patching.foresee(
            self._request(user_id, (operation,), reason, (), tool)
        )
        if foreseen is not None:
            return foreseen
        # Told for the sake of this memory alone: when it goes, or somebody was faster, the words
        # are kept as evidence and recalled no more.
        told = replace(said, source=TOOL, store_id=ACTOR, native_id=str(uuid4()))
        stored = await self._intake.store(told, user_id)
        if isinstance(stored, Refusal):
            return stored
        done = await self._applied(said, user_id, operation, reason, project, tool, (stored.id,))
        if isinstance(done, Remembered):
            return replace(done, message_id=stored.id)
        return replace(done, details={**done.details, "message_id": stored.id})

    async def _applied(
        self,
        said: Draft,
        user_id: int,
        operation: Add | Update | Supersede,
        reason: str,
        project: str | None,
        tool: str,
        evidence: tuple[int, ...],
    ) -> Remembered | Refusal:
        request = replace(
            self._request(user_id, (operation,), reason, evidence, tool),
            platform=said.platform,
            project=project,
        )
        if isinstance(operation, Add):
            return _remembered(await self._adding.add(request, operation, said.trust))
        return _remembered(await self._patching.apply(request))

    @staticmethod
    def _request(
        user_id: int,
        operations: tuple[Operation, ...],
        reason: str,
        evidence: tuple[int, ...],
        tool: str = TOOL,
    ) -> PatchRequest:
        return PatchRequest(user_id, ACTOR, tool, reason, operations, evidence)


def _is_so(memory: MemoryView, operation: OnMemory) -> bool:
    if memory.status is not Status.ACTIVE:
        return False
    if operation.expected_version not in (None, memory.version):
        return False
    match operation:
        case Resolve():
            return memory.resolved_at is not None
        case Pin(pinned=pinned):
            return memory.pinned == pinned
        case Retag(tags=tags):
            return memory.tags == tags
        case Update(content=content) | Supersede(content=content):
            return memory.content == repair(content).text.strip()
    return False


def _remembered(applied: Applied | Refusal) -> Remembered | Refusal:
    return applied if isinstance(applied, Refusal) else Remembered(applied, None)
