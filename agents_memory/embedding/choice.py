"""Two models on one machine, while a pool changes from one to the other."""

from collections.abc import Sequence

from agents_memory.embedding.profiles import Profile
from agents_memory.embedding.protocol import Embedder, Vector


class Choice:
    """An `Embedder` that is the first of several; `fitting` finds the others in it."""

    def __init__(self, embedders: Sequence[Embedder]) -> None:
        self.embedders = tuple(embedders)

    @property
    def profile(self) -> Profile:
        return self.embedders[0].profile

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return await self.embedders[0].embed(texts)

    async def embed_query(self, text: str) -> Vector:
        return await self.embedders[0].embed_query(text)

    async def close(self) -> None:
        for embedder in self.embedders:
            await embedder.close()


def members(embedder: Embedder) -> tuple[Embedder, ...]:
    """The embedders of a choice; any other embedder by itself."""
    return embedder.embedders if isinstance(embedder, Choice) else (embedder,)


def fitting(embedder: Embedder, profile_id: str | None) -> Embedder:
    """Of a choice the one with this profile, else its first; any other embedder as it is."""
    ours = members(embedder)
    return next((one for one in ours if one.profile.id == profile_id), ours[0])
