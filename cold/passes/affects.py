"""How texts felt, read off their vectors; learned once a process for each embedding model."""

from collections.abc import Sequence

import numpy as np

from agents_memory.domain.affect import Affect
from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.affect import AffectModel
from agents_memory.embedding.protocol import Embedder, Vector


class Affects:
    """One regression for each embedder of this daemon."""

    def __init__(self, embedders: Sequence[Embedder]) -> None:
        self._embedders = {embedder.profile.id: embedder for embedder in embedders}
        self._fits: dict[str, AffectModel] = {}

    def knows(self, profile: str) -> bool:
        """Whether affect can be read in the space of a model; other vectors mean nothing here."""
        return profile in self._embedders

    async def learn(self, profile: str) -> None:
        """Must come before `read`; raises EmbedderUnavailable."""
        if profile in self._fits:
            return
        try:
            self._fits[profile] = await AffectModel.fit(self._embedders[profile])
        except EmbedderUnavailable:
            raise
        except Exception as error:
            raise EmbedderUnavailable(
                f"affect cannot be learned from {profile} "
                f"({type(error).__name__}); run `mcp-agents-memory doctor` to test the model"
            ) from error

    def read(self, profile: str, vector: Vector, text: str) -> Affect:
        """The affect of a text from its vector (length 1) in the space of a model."""
        return self._fits[profile].score(vector, text)


def mean(chunks: Sequence[Vector]) -> Vector:
    """The direction of the chunks of one text together (length 1)."""
    middle = np.mean(chunks, axis=0)
    length = float(np.linalg.norm(middle))
    # Chunks that cancel each other out leave no direction; the first then stands for all.
    return (middle / length).astype(np.float32) if length > 1e-6 else chunks[0]
