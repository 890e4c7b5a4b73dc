"""From texts to the chunks and vectors of one model; shared by messages and memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.domain.text import is_blank
from agents_memory.embedding.chunking import chunk
from agents_memory.embedding.protocol import Embedder, Vector, unit
from agents_memory.storage.vectors import ChunkVector, digest
from cold.guard import ItemFault

MAX_CHUNKS = 64
# What any working embedder has a vector for; tells a broken embedder from a bad text.
_PROBE = "The heron stood in the shallow water."


@dataclass(frozen=True, slots=True)
class Vectorised:
    """The chunk vectors of one text; `left_out` characters at its end are in none."""

    chunks: tuple[ChunkVector, ...]
    left_out: int = 0


class Vectoriser:
    """Turns texts into the vectors that the pool wants, with one embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def vectorise(
        self, texts: Sequence[str], known: Sequence[Sequence[ChunkVector]]
    ) -> list[Vectorised]:
        """Chunks and vectors of each text; `known` are the vectors it already has.

        No chunk that is known or stands there twice is embedded again. Raises EmbedderUnavailable
        when the embedder works for nothing, ItemFault when it does not for one of these texts.
        """
        profile = self._embedder.profile
        cut = [chunk(text, profile.chunk_tokens, MAX_CHUNKS) for text in texts]
        legible = [[part for part in each.texts if not is_blank(part)] for each in cut]
        have: dict[bytes, Vector] = {
            chunk.content_hash: chunk.vector for chunks in known for chunk in chunks
        }
        wanted = {digest(part): part for parts in legible for part in parts}
        missing = {key: part for key, part in wanted.items() if key not in have}
        have |= await self._embed(missing)
        return [
            Vectorised(
                tuple(ChunkVector(digest(part), have[digest(part)]) for part in parts),
                each.left_out,
            )
            for parts, each in zip(legible, cut, strict=True)
        ]

    async def _embed(self, missing: Mapping[bytes, str]) -> dict[bytes, Vector]:
        if not missing:
            return {}
        try:
            found = await self._embedder.embed(list(missing.values()))
            checked = [unit(vector, self._embedder.profile) for vector in found]
            return dict(zip(missing, checked, strict=True))
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
