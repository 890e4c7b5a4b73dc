"""The models that this daemon can embed with, and those of them that the pool has."""

from collections.abc import Sequence

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.naming import setting_for
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.vectorising import Vectorised
from agents_memory.storage import vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors import ChunkVector, Model
from cold.passes.vectorising import Vectoriser


class Models:
    """Embedders by the id of their profile, of which there is at least one."""

    def __init__(self, embedders: Sequence[Embedder]) -> None:
        self._vectorisers = {e.profile.id: Vectoriser(e) for e in embedders}

    def has(self, model: Model) -> bool:
        """Whether this daemon has an embedder for the model."""
        return model.profile in self._vectorisers

    async def active(self, connection: Connection) -> Model:
        """The pool's active model, which must be one of this daemon's.

        Raises EmbedderUnavailable when it is another one, or when there is none.
        """
        model = await vectors.find_active_model(connection)
        if model is None:
            raise EmbedderUnavailable(
                "the pool has no active embedding model; run `mcp-agents-memory init`"
            )
        if not self.has(model):
            ours = next(iter(self._vectorisers))
            raise EmbedderUnavailable(
                f"the pool's active model is {model.profile} and this daemon has {ours}; set "
                f"EMBEDDING_MODEL={setting_for(model.profile)} here, or run "
                f"`mcp-agents-memory embedding use {ours}`"
            )
        return model

    async def others(self, connection: Connection) -> list[Model]:
        """The pool's models that searches don't use and this daemon can embed with."""
        models = await vectors.list_models(connection)
        return [model for model in models if not model.active and self.has(model)]

    async def vectorise(
        self,
        models: Sequence[Model],
        texts: Sequence[str],
        known: Sequence[Sequence[Sequence[ChunkVector]]],
    ) -> list[tuple[Vectorised, ...]]:
        """For each text its vectors in each model; `known` are those it has, in the same shape.

        Raises what `Vectoriser.vectorise` does.
        """
        columns = [
            await self._vectorisers[model.profile].vectorise(texts, [row[place] for row in known])
            for place, model in enumerate(models)
        ]
        return [tuple(column[row] for column in columns) for row in range(len(texts))]
