"""Embed: the vectors of a message in the pool's active model."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.embedding.protocol import Embedder
from agents_memory.storage import messages, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import PassItem
from agents_memory.storage.vectors import ChunkVector, Model
from cold.guard import Done, RetryLater
from cold.passes.vectorising import Vectorised, Vectoriser

MODEL_CHANGED = "the pool's active embedding model changed meanwhile"


@dataclass(frozen=True, slots=True)
class Embeddable:
    """A message and the vectors it has in the model that it is to be embedded with."""

    message: PassItem
    model: Model
    known: tuple[ChunkVector, ...]

    @property
    def id(self) -> int:
        return self.message.id


class Embed:
    """One vector for each of up to 64 chunks; a text that shows nothing gets none and says so."""

    stage = "embed"
    version = 1
    next_stages: tuple[str, ...] = ("tag",)

    def __init__(self, embedder: Embedder) -> None:
        self._vectoriser = Vectoriser(embedder)
        self.backend = embedder.profile.id

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Embeddable]:
        model = await self._vectoriser.usable_model(connection)
        known = await vectors.list_message_chunks(connection, model, ids)
        return [
            Embeddable(item, model, tuple(known.get(item.id, ())))
            for item in await messages.list_for_pass(connection, ids)
        ]

    async def prepare(self, items: Sequence[Embeddable]) -> list[Vectorised]:
        return await self._vectoriser.vectorise(
            [item.message.text for item in items], [item.known for item in items]
        )

    async def settle(
        self, connection: Connection, item: Embeddable, result: Vectorised
    ) -> Done | RetryLater:
        if await vectors.find_active_model(connection) != item.model:
            return RetryLater(MODEL_CHANGED)
        if not _same(item.known, result.chunks):
            await vectors.replace_message_vectors(connection, item.model, item.id, result.chunks)
        await messages.record_result(
            connection,
            item.id,
            stage=self.stage,
            backend=self.backend,
            version=self.version,
            detail=_detail(result),
        )
        return Done()


def _same(known: Sequence[ChunkVector], wanted: Sequence[ChunkVector]) -> bool:
    return [c.content_hash for c in known] == [c.content_hash for c in wanted]


def _detail(result: Vectorised) -> dict[str, object]:
    detail: dict[str, object] = {"chunks": len(result.chunks)}
    if not result.chunks:
        detail["note"] = "nothing to embed: the text shows nothing"
    if result.left_out:
        detail["left_out"] = result.left_out
    return detail
