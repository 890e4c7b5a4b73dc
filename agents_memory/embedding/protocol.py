"""What an embedder promises."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.profiles import Profile

Vector = NDArray[np.float32]
"""One dimension, `profile.dims` long, Euclidean length 1, every component finite."""


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


def unit(raw: NDArray[np.floating], profile: Profile, mend: str = "reinstall it") -> Vector:
    """`raw` at length 1; EmbedderUnavailable when it is no direction in the profile's space.

    Of an answer of `native_dims` the beginning is kept. `mend` is what to do about a wrong shape.
    """
    if profile.native_dims is not None and raw.shape == (profile.native_dims,):
        raw = raw[: profile.dims]
    if raw.shape != (profile.dims,):
        raise EmbedderUnavailable(
            f"{profile.id} answered a vector of shape {raw.shape} instead of ({profile.dims},), so "
            f"the model is not the one this profile describes; {mend}"
        )
    # Float64, because the squares of a large float32 overflow.
    wide = raw.astype(np.float64)
    length = float(np.linalg.norm(wide))
    if not np.isfinite(length) or length < np.finfo(np.float32).tiny:
        raise EmbedderUnavailable(
            f"{profile.id} answered a zero or non-finite vector, which was not kept; "
            "run `mcp-agents-memory doctor` to test the model"
        )
    return (wide / length).astype(np.float32)
