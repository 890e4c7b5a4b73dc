"""A new memory is found by its meaning at once, where this machine has the pool's model."""

import asyncio
from collections.abc import Callable, Sequence

from agents_memory.domain.memories import Status
from agents_memory.embedding.choice import fitting
from agents_memory.embedding.protocol import Embedder
from agents_memory.embedding.unit import unit
from agents_memory.observe import Action, get_logger
from agents_memory.services.vectorising import memory_text, vectorise
from agents_memory.storage import memories, vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.memories import PassMemory
from agents_memory.storage.vectors import ChunkVector, Model, Vector

# Somebody waits for the answer. A model that is not loaded yet takes about a second of it.
WITHIN_S = 1.5

log = get_logger()


class EmbeddingNow:
    """Does for a memory that was just added what the daemon would do for it soon.

    The daemon finds the vectors there, and embeds nothing again.
    """

    def __init__(
        self,
        database: Database,
        open_embedder: Callable[[], Embedder | None],
        *,
        within_s: float = WITHIN_S,
    ) -> None:
        self._database = database
        self._open_embedder = open_embedder
        self._within = within_s

    async def embed(self, memory_id: int, user_id: int) -> bool:
        """Whether the memory has its vectors now. Never raises: it is stored in any case."""
        try:
            async with asyncio.timeout(self._within):
                return await self._embed(memory_id, user_id)
        except Exception as fault:  # noqa: BLE001 (what fails here, the daemon will say)
            log.info(Action.EMBEDDER_FAILED, error=fault)
            return False

    async def _embed(self, memory_id: int, user_id: int) -> bool:
        embedder = self._open_embedder()
        if embedder is None:
            return False
        model, memory = await self._database.run(lambda c: _load(c, memory_id))
        if model is None or memory is None or memory.status is not Status.ACTIVE:
            return False
        chosen = fitting(embedder, model.profile)
        if chosen.profile.id != model.profile:
            return False

        async def embed(texts: Sequence[str]) -> list[Vector]:
            return [unit(vector, chosen.profile) for vector in await chosen.embed(texts)]

        text = memory_text(memory.subject, memory.content)
        [made] = await vectorise(chosen.profile, embed, [text], [()])
        return await self._database.run(lambda c: _add(c, model, memory, user_id, made.chunks))


async def _load(connection: Connection, memory_id: int) -> tuple[Model | None, PassMemory | None]:
    model = await vectors.find_active_model(connection)
    found = await memories.list_for_pass(connection, [memory_id])
    return model, next(iter(found), None)


async def _add(
    connection: Connection,
    model: Model,
    memory: PassMemory,
    user_id: int,
    chunks: tuple[ChunkVector, ...],
) -> bool:
    async with connection.transaction():
        # Against the daemon, which may be doing the same, and anybody who changes the words.
        states = await memories.lock_memories(connection, [memory.id], user_id, private=True)
        state = states.get(memory.id)
        if state is None or state.version != 1 or state.status is not Status.ACTIVE:
            return False
        await vectors.add_memory_vectors(connection, model, memory.id, chunks)
    return True
