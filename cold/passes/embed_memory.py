"""Embed memories: vectors for active ones, none for what was removed or superseded."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.domain.memories import Status
from agents_memory.embedding.protocol import Embedder
from agents_memory.storage import memories, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.memories import PassMemory
from agents_memory.storage.vectors import ChunkVector, Model
from cold.guard import Done, RetryLater
from cold.passes.embed import MODEL_CHANGED
from cold.passes.vectorising import Vectorised, Vectoriser


@dataclass(frozen=True, slots=True)
class EmbeddableMemory:
    """A memory and the vectors it has in the model that it is to be embedded with."""

    memory: PassMemory
    model: Model
    known: tuple[ChunkVector, ...]

    @property
    def id(self) -> int:
        return self.memory.id

    @property
    def text(self) -> str:
        """What is embedded: the words that are searched by keyword too; nothing when not active."""
        if self.memory.status is not Status.ACTIVE:
            return ""
        return f"{self.memory.subject}\n{self.memory.content}"


class EmbedMemory:
    """The vectors of a memory follow its current version."""

    stage = "embed_memory"
    version = 1
    next_stages: tuple[str, ...] = ()

    def __init__(self, embedder: Embedder) -> None:
        self._vectoriser = Vectoriser(embedder)
        self.backend = embedder.profile.id

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[EmbeddableMemory]:
        model = await self._vectoriser.usable_model(connection)
        known = await vectors.list_memory_chunks(connection, model, ids)
        return [
            EmbeddableMemory(memory, model, tuple(known.get(memory.id, ())))
            for memory in await memories.list_for_pass(connection, ids)
        ]

    async def prepare(self, items: Sequence[EmbeddableMemory]) -> list[Vectorised]:
        return await self._vectoriser.vectorise(
            [item.text for item in items], [item.known for item in items]
        )

    async def settle(
        self, connection: Connection, item: EmbeddableMemory, result: Vectorised
    ) -> Done | RetryLater:
        # A patch that came meanwhile found this very row of work and queued no other.
        if await memories.lock_for_pass(connection, item.id) != item.memory:
            return RetryLater("the memory changed meanwhile")
        if await vectors.find_active_model(connection) != item.model:
            return RetryLater(MODEL_CHANGED)
        # Always, since visibility may have changed where the words did not.
        await vectors.replace_memory_vectors(connection, item.model, item.id, result.chunks)
        return Done()
