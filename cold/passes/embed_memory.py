"""Embed memories: vectors for active ones, none for what was removed or superseded."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.domain.affect import NEUTRAL, Affect
from agents_memory.domain.memories import Status
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.vectorising import Vectorised, memory_text
from agents_memory.storage import memories, vectors, work
from agents_memory.storage.connections import Connection
from agents_memory.storage.memories import PassMemory
from agents_memory.storage.vectors import Model
from cold.guard import Done, RetryLater
from cold.passes.affects import Affects, mean
from cold.passes.embed import MODEL_CHANGED, Known
from cold.passes.models import Models

MEMORY_CHANGED = "the memory changed meanwhile"


@dataclass(frozen=True, slots=True)
class EmbeddableMemory:
    """A memory, the models that it is to be embedded with, and the vectors it has in each."""

    memory: PassMemory
    models: tuple[Model, ...]
    known: Known

    @property
    def id(self) -> int:
        return self.memory.id

    @property
    def text(self) -> str:
        """What is embedded; nothing when it is not active."""
        if self.memory.status is not Status.ACTIVE:
            return ""
        return memory_text(self.memory.subject, self.memory.content)


class EmbedMemory:
    """The vectors of a memory follow its version, and affect that nobody told follows them."""

    stage = "embed_memory"
    backend = "embedding"
    version = 1
    next_stages: tuple[str, ...] = ("compare_memory",)

    def __init__(self, *embedders: Embedder, affects: Affects | None = None) -> None:
        self._models = Models(embedders)
        self._affects = affects or Affects(embedders)

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[EmbeddableMemory]:
        return await self._load(connection, ids, [await self._models.active(connection)])

    async def prepare(self, items: Sequence[EmbeddableMemory]) -> list[tuple[Vectorised, ...]]:
        if any(map(self._guesses_affect, items)):
            await self._affects.learn(items[0].models[0].profile)
        return await self._models.vectorise(
            items[0].models, [item.text for item in items], [item.known for item in items]
        )

    async def settle(
        self, connection: Connection, item: EmbeddableMemory, result: tuple[Vectorised, ...]
    ) -> Done | RetryLater:
        # A patch that came meanwhile found this very row of work and queued no other.
        if await memories.lock_for_pass(connection, item.id) != item.memory:
            return RetryLater(MEMORY_CHANGED)
        models = await vectors.list_models(connection)
        if item.models[0] not in models:
            return RetryLater(MODEL_CHANGED)
        await self._write(connection, item, result)
        if self._guesses_affect(item):
            affect = self._affect(item, result[0])
            await memories.record_affect(connection, item.id, affect)
        others = [model for model in models if not model.active]
        for model in others:
            if not self._models.has(model):
                # Of older words by now; who has the model makes them anew.
                await vectors.replace_memory_vectors(connection, model, item.id, ())
        if any(map(self._models.has, others)):
            await work.queue_work(connection, item.id, EmbedMemoryOther.stage)
        return Done()

    def _guesses_affect(self, item: EmbeddableMemory) -> bool:
        return not item.memory.affect_told and bool(item.text)

    def _affect(self, item: EmbeddableMemory, made: Vectorised) -> Affect:
        if not made.chunks:
            return NEUTRAL
        vector = mean([chunk.vector for chunk in made.chunks])
        return self._affects.read(item.models[0].profile, vector, item.memory.content)

    async def _load(
        self, connection: Connection, ids: Sequence[int], models: Sequence[Model]
    ) -> list[EmbeddableMemory]:
        known = [await vectors.list_memory_chunks(connection, model, ids) for model in models]
        return [
            EmbeddableMemory(item, tuple(models), tuple(tuple(of.get(item.id, ())) for of in known))
            for item in await memories.list_for_pass(connection, ids)
        ]

    async def _write(
        self, connection: Connection, item: EmbeddableMemory, result: tuple[Vectorised, ...]
    ) -> None:
        for model, made in zip(item.models, result, strict=True):
            if await vectors.hold_model(connection, model):
                # Always, since visibility may have changed where the words did not.
                await vectors.replace_memory_vectors(connection, model, item.id, made.chunks)


class EmbedMemoryOther(EmbedMemory):
    """The same in the pool's other models that this daemon has."""

    stage = "embed_memory_other"
    next_stages: tuple[str, ...] = ()

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[EmbeddableMemory]:
        return await self._load(connection, ids, await self._models.others(connection))

    async def settle(
        self, connection: Connection, item: EmbeddableMemory, result: tuple[Vectorised, ...]
    ) -> Done | RetryLater:
        if await memories.lock_for_pass(connection, item.id) != item.memory:
            return RetryLater(MEMORY_CHANGED)
        await self._write(connection, item, result)
        return Done()
