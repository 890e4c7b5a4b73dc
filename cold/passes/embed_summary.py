"""Embed summaries: vectors for active ones in every model that this daemon has."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.vectorising import Vectorised
from agents_memory.storage import summaries, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.summaries import ACTIVE, PassSummary
from agents_memory.storage.vectors import Model
from cold.guard import Done, RetryLater
from cold.passes.models import Models

SUMMARY_CHANGED = "the summary changed meanwhile"


@dataclass(frozen=True, slots=True)
class EmbeddableSummary:
    """A summary and the models that it is embedded with."""

    summary: PassSummary
    models: tuple[Model, ...]

    @property
    def id(self) -> int:
        return self.summary.id


class EmbedSummary:
    """There are few, so the pool's models take turns in one stage."""

    stage = "embed_summary"
    backend = "embedding"
    version = 1
    next_stages: tuple[str, ...] = ()

    def __init__(self, *embedders: Embedder) -> None:
        self._models = Models(embedders)

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[EmbeddableSummary]:
        ours = tuple(m for m in await vectors.list_models(connection) if self._models.has(m))
        if not ours:
            raise EmbedderUnavailable(
                "the pool has no embedding model of this daemon; set EMBEDDING_MODEL, see "
                "`mcp-agents-memory embedding list`"
            )
        found = await summaries.list_for_pass(connection, ids)
        return [EmbeddableSummary(one, ours) for one in found if one.status == ACTIVE]

    async def prepare(self, items: Sequence[EmbeddableSummary]) -> list[tuple[Vectorised, ...]]:
        models = items[0].models
        texts = [item.summary.content for item in items]
        return await self._models.vectorise(models, texts, [[()] * len(models) for _ in items])

    async def settle(
        self, connection: Connection, item: EmbeddableSummary, result: tuple[Vectorised, ...]
    ) -> Done | RetryLater:
        if await summaries.list_for_pass(connection, [item.id]) != [item.summary]:
            return RetryLater(SUMMARY_CHANGED)
        for model, made in zip(item.models, result, strict=True):
            if await vectors.hold_model(connection, model):
                await vectors.replace_summary_vectors(connection, model, item.id, made.chunks)
        return Done()
