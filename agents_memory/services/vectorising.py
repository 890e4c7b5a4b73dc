"""From texts to the chunks and vectors of one model, as the pool keeps them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agents_memory.domain.text import has_word
from agents_memory.embedding.chunking import chunk
from agents_memory.embedding.profiles import Profile
from agents_memory.embedding.protocol import Vector
from agents_memory.storage.vectors import ChunkVector, digest

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Vector]]]


@dataclass(frozen=True, slots=True)
class Vectorised:
    """The chunk vectors of one text; `left_out` characters at its end are in none."""

    chunks: tuple[ChunkVector, ...]
    left_out: int = 0


def memory_text(subject: str, content: str) -> str:
    """What is embedded of a memory: the words that are searched by keyword too."""
    return f"{subject}\n{content}"


async def vectorise(
    profile: Profile,
    embed: Embed,
    texts: Sequence[str],
    known: Sequence[Sequence[ChunkVector]],
) -> list[Vectorised]:
    """Chunks and vectors of each text; `known` are the vectors it already has.

    A chunk without a letter or a digit gets none: it would be near to every short text.

    No chunk that is known or stands there twice is embedded again. Raises what `embed` does, which
    is asked for a vector of each of the other chunks, if there are any.
    """
    cut = [chunk(text, profile.chunk_tokens) for text in texts]
    legible = [[part for part in each.texts if has_word(part)] for each in cut]
    have: dict[bytes, Vector] = {
        chunk.content_hash: chunk.vector for chunks in known for chunk in chunks
    }
    wanted = {digest(part): part for parts in legible for part in parts}
    missing = {key: part for key, part in wanted.items() if key not in have}
    if missing:
        have |= zip(missing, await embed(list(missing.values())), strict=True)
    return [
        Vectorised(
            tuple(ChunkVector(digest(part), have[digest(part)]) for part in parts),
            each.left_out,
        )
        for parts, each in zip(legible, cut, strict=True)
    ]
