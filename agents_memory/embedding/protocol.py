"""What an embedder promises."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from agents_memory.embedding.profiles import Profile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """One dimension, `profile.dims` long, Euclidean length 1, every component finite."""
else:
    # What only names an embedder, as an editor's server does at its start, goes without numpy.
    Vector = object


class Embedder(Protocol):
    """Text to vectors, without ever blocking the event loop.

    Any string is legal. A blank one has a vector too, but it means nothing: callers don't ask.
    Cancelling a call returns at once; the model finishes at most the text it is at.
    """

    @property
    def profile(self) -> Profile: ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in their order; all of them or EmbedderUnavailable."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question; compare it with those of `embed` by their dot product."""
        ...

    async def close(self) -> None:
        """Refuse further calls, at once and any number of times."""
        ...
