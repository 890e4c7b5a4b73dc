"""Embed: the vectors of a message, in the pool's active model and in the others it has."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.embedding.protocol import Embedder
from agents_memory.services.vectorising import Vectorised
from agents_memory.storage import messages, vectors, work
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import PassItem, Settled
from agents_memory.storage.vectors import ChunkVector, Model
from cold.guard import Done, RetryLater
from cold.passes.models import Models
from cold.passes.protocol import Together

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


Made = tuple[Embeddable, tuple[Vectorised, ...]]
"""A message and its vectors in each of its models."""


class Embed(Together[Embeddable, tuple[Vectorised, ...]]):
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

    async def settle_all(
        self, connection: Connection, worked: Sequence[Made]
    ) -> list[Done | RetryLater]:
        if await vectors.find_active_model(connection) != worked[0][0].models[0]:
            return [RetryLater(MODEL_CHANGED) for _ in worked]
        await self._write(connection, worked)
        if await self._models.others(connection):
            await work.queue_all(connection, [item.id for item, _ in worked], EmbedOther.stage)
        return [Done() for _ in worked]

    async def _load(
        self, connection: Connection, ids: Sequence[int], models: Sequence[Model]
    ) -> list[Embeddable]:
        known = [await vectors.list_message_chunks(connection, model, ids) for model in models]
        return [
            Embeddable(item, tuple(models), tuple(tuple(of.get(item.id, ())) for of in known))
            for item in await messages.list_for_pass(connection, ids)
        ]

    async def _write(self, connection: Connection, worked: Sequence[Made]) -> None:
        """The vectors and who made them; a model that was given up meanwhile is left out.

        All the items were loaded together, so they have the same models.
        """
        for place, model in enumerate(worked[0][0].models):
            if not await vectors.hold_model(connection, model):
                continue
            made = {item.id: result[place] for item, result in worked}
            changed = {
                item.id: made[item.id].chunks
                for item, _ in worked
                if not _same(item.known[place], made[item.id].chunks)
            }
            if changed:
                await vectors.replace_all_message_vectors(connection, model, changed)
            await messages.record_results(
                connection,
                [Settled(item, model.profile, _detail(of)) for item, of in made.items()],
                # Whichever stage it was: this is what a model owes to a message.
                stage=Embed.stage,
                version=self.version,
            )


class EmbedOther(Embed):
    """The same in the pool's other models that this daemon has: for a change that is to come.

    Searches go on with the active model meanwhile, and its messages come first.
    """

    stage = "embed_other"
    next_stages: tuple[str, ...] = ()

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Embeddable]:
        return await self._load(connection, ids, await self._models.others(connection))

    async def settle_all(
        self, connection: Connection, worked: Sequence[Made]
    ) -> list[Done | RetryLater]:
        await self._write(connection, worked)
        return [Done() for _ in worked]


def _same(known: Sequence[ChunkVector], wanted: Sequence[ChunkVector]) -> bool:
    return [c.content_hash for c in known] == [c.content_hash for c in wanted]


def _detail(result: Vectorised) -> dict[str, object]:
    detail: dict[str, object] = {"chunks": len(result.chunks)}
    if not result.chunks:
        detail["note"] = "nothing to embed: the text has no word"
    if result.left_out:
        detail["left_out"] = result.left_out
    return detail
