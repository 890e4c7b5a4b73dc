"""Measure how a model's cosines are to be read, so that one threshold means the same for all.

What counts as alike differs: unrelated texts have a cosine of .05 with one model and .8 with
another. Two normal distributions of equal variance σ², with means μ₀ (unrelated) and μ₁ (the same
in other words), are told apart best by the logistic curve with midpoint (μ₀ + μ₁)/2 and scale
σ²/(μ₁ − μ₀) (linear discriminant analysis).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agents_memory.embedding.pairs import PAIRS, Pair
from agents_memory.embedding.profiles import Calibration
from agents_memory.embedding.protocol import Embedder

# Unrelated texts come out below this on average.
UNRELATED = 0.05
# (μ₁ − μ₀)/σ of the weakest model that still knows meaning; hashed words have 0.1.
LEAST_SEPARATION = 0.7
_LEAST_SCALE = 0.005


async def measure(
    embedder: Embedder, pairs: Mapping[str, Sequence[Pair]] = PAIRS
) -> Calibration | None:
    """The curve of a model from 80 short texts, half of them asked as questions.

    None when it does not tell what means the same from what does not: then no curve helps.
    EmbedderUnavailable passes.
    """
    alike: list[NDArray[np.floating]] = []
    unlike: list[NDArray[np.floating]] = []
    for language in pairs.values():
        stored = np.stack(await embedder.embed([said for said, _ in language]))
        asked = np.stack([await embedder.embed_query(again) for _, again in language])
        cosines = stored @ asked.T
        same = np.eye(len(language), dtype=bool)
        alike.append(cosines[same])
        unlike.append(cosines[~same])
    return fit(np.concatenate(alike), np.concatenate(unlike))


def fit(alike: NDArray[np.floating], unlike: NDArray[np.floating]) -> Calibration | None:
    """The curve for cosines of the same in other words and of unrelated texts; None as above."""
    distance = float(alike.mean() - unlike.mean())
    variance = float(alike.var() + unlike.var()) / 2
    if distance <= 0 or distance < LEAST_SEPARATION * variance**0.5:
        return None
    scale = max(variance / distance, _LEAST_SCALE)
    midpoint = float(alike.mean() + unlike.mean()) / 2
    while (1 / (1 + np.exp((midpoint - unlike) / scale))).mean() > UNRELATED:
        midpoint += scale / 4
    return Calibration(round(midpoint, 4), round(scale, 4))
