"""The vectors of texts by one embedder, told apart when it fails: by its own fault or a text's."""

from collections.abc import Sequence

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.protocol import Embedder, Vector
from agents_memory.embedding.unit import unit
from agents_memory.services.vectorising import Vectorised, vectorise
from agents_memory.storage.vectors import ChunkVector
from cold.guard import ItemFault

# What any working embedder has a vector for; tells a broken embedder from a bad text.
_PROBE = "The heron stood in the shallow water."


class Vectoriser:
    """Turns texts into the vectors that the pool wants, with one embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def vectorise(
        self, texts: Sequence[str], known: Sequence[Sequence[ChunkVector]]
    ) -> list[Vectorised]:
        """Chunks and vectors of each text; `known` are the vectors it already has.

        Raises EmbedderUnavailable when the embedder works for nothing, ItemFault when it does not
        for one of these texts.
        """
        return await vectorise(self._embedder.profile, self._embed, texts, known)

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        try:
            found = await self._embedder.embed(texts)
            checked = [unit(vector, self._embedder.profile) for vector in found]
            return [vector for _, vector in zip(texts, checked, strict=True)]
        except Exception as error:
            await self._probe()
            raise ItemFault("the embedder has no vector for this text, but for others") from error

    async def _probe(self) -> None:
        try:
            [vector] = await self._embedder.embed([_PROBE])
            unit(vector, self._embedder.profile)
        except EmbedderUnavailable:
            raise
        except Exception as error:
            raise EmbedderUnavailable(
                f"the embedder {self._embedder.profile.id} fails ({type(error).__name__}); run "
                "`mcp-agents-memory doctor` to test it"
            ) from error
