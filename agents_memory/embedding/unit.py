"""Vectors at length 1."""

import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.profiles import Profile
from agents_memory.embedding.protocol import Vector


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
