"""Embed: the vectors of a message, in the pool's active model and in the others it has."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.embedding.protocol import Embedder
from agents_memory.services.vectorising import Vectorised
from agents_memory.storage import messages, vectors, work
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import PassItem
from agents_memory.storage.vectors import ChunkVector, Model
from cold.guard import Done, RetryLater
from cold.passes.models import Models

MODEL_CHANGED = "the pool's active embedding model changed meanwhile"

Known = tuple[tuple[ChunkVector, ...], ...]
"""For each of some models the vectors that an item has in it."""


@dataclass(frozen=True, slots=True)
class Embeddable:
    """A message, the models that it is to be embedded with, and the vectors it has in each."""

    message: PassItem
    models: tuple[Model, ...]
    known: Known

    @property
    def id(self) -> int:
        return self.message.id


class Embed:
    """One vector for each of up to 64 chunks; a text without a word gets none and says so."""

    stage = "embed"
    backend = "embedding"
    version = 1
    next_stages: tuple[str, ...] = ("tag",)

    def __init__(self, *embedders: Embedder) -> None:
        self._models = Models(embedders)

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Embeddable]:
        return await self._load(connection, ids, [await self._models.active(connection)])

    async def prepare(self, items: Sequence[Embeddable]) -> list[tuple[Vectorised, ...]]:
        return await self._models.vectorise(
            items[0].models, [item.message.text for item in items], [item.known for item in items]
        )

    async def settle(
        self, connection: Connection, item: Embeddable, result: tuple[Vectorised, ...]
    ) -> Done | RetryLater:
        if await vectors.find_active_model(connection) != item.models[0]:
            return RetryLater(MODEL_CHANGED)
        await self._write(connection, item, result)
        if await self._models.others(connection):
            await work.queue_work(connection, item.id, EmbedOther.stage)
        return Done()

    async def _load(
        self, connection: Connection, ids: Sequence[int], models: Sequence[Model]
    ) -> list[Embeddable]:
        known = [await vectors.list_message_chunks(connection, model, ids) for model in models]
        return [
            Embeddable(item, tuple(models), tuple(tuple(of.get(item.id, ())) for of in known))
            for item in await messages.list_for_pass(connection, ids)
        ]

    async def _write(
        self, connection: Connection, item: Embeddable, result: tuple[Vectorised, ...]
    ) -> None:
        """The vectors and who made them; a model that was given up meanwhile is left out."""
        for model, known, made in zip(item.models, item.known, result, strict=True):
            if not await vectors.hold_model(connection, model):
                continue
            if not _same(known, made.chunks):
                await vectors.replace_message_vectors(connection, model, item.id, made.chunks)
            await messages.record_result(
                connection,
                item.id,
                # Whichever stage it was: this is what a model owes to a message.
                stage=Embed.stage,
                backend=model.profile,
                version=self.version,
                detail=_detail(made),
            )


class EmbedOther(Embed):
    """The same in the pool's other models that this daemon has: for a change that is to come.

    Searches go on with the active model meanwhile, and its messages come first.
    """

    stage = "embed_other"
    next_stages: tuple[str, ...] = ()

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Embeddable]:
        return await self._load(connection, ids, await self._models.others(connection))

    async def settle(
        self, connection: Connection, item: Embeddable, result: tuple[Vectorised, ...]
    ) -> Done | RetryLater:
        await self._write(connection, item, result)
        return Done()


def _same(known: Sequence[ChunkVector], wanted: Sequence[ChunkVector]) -> bool:
    return [c.content_hash for c in known] == [c.content_hash for c in wanted]


def _detail(result: Vectorised) -> dict[str, object]:
    detail: dict[str, object] = {"chunks": len(result.chunks)}
    if not result.chunks:
        detail["note"] = "nothing to embed: the text has no word"
    if result.left_out:
        detail["left_out"] = result.left_out
    return detail
