"""Affect without a language model: a ridge regression on the vector that exists anyway.

Good enough to order messages, not to judge one: great joy told in few words may land near
valence 0. A text of several chunks has as many affects; take that of the most intense.
"""

import re
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.affect import Affect
from agents_memory.embedding.anchors import ANCHORS
from agents_memory.embedding.protocol import Embedder, Vector

RIDGE = 0.3
"""Penalty λ for vectors of length 1; anything from 0.1 to 1.0 serves as well."""

# Exclamation marks that end a word of prose, not `!=`, `println!(…)` or `#!/bin/sh`.
_EXCLAMATION = re.compile(r"""(?<=[\w?？])\s?([!！]+)(?=[\s"'”’»」』)）]|$)""")
_ONE_EXCLAMATION, _MORE_EXCLAMATIONS, _CAPITALS = 0.13, 0.1, 0.13
_SHOUTED = re.compile(r"\b[^\W\d_]{4,}\b")
# A calm statement has little colour, and its capitals and marks are mostly technical: below this
# intensity both count in proportion.
_FELT = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class AffectModel:
    """Fitted for the space of one embedder; vectors of another mean nothing to it.

    `centre` has shape (dims,), `weights` (dims, 2), `offset` (2,): valence, then intensity.
    """

    centre: NDArray[np.float64]
    weights: NDArray[np.float64]
    offset: NDArray[np.float64]

    @classmethod
    async def fit(cls, embedder: Embedder) -> Self:
        """Embed the anchors (some two seconds offline) and solve; EmbedderUnavailable passes."""
        vectors = np.stack(await embedder.embed([text for _, _, text in ANCHORS])).astype(float)
        targets = np.array([(valence, intensity) for valence, intensity, _ in ANCHORS])
        centre, offset = vectors.mean(axis=0), targets.mean(axis=0)
        centred = vectors - centre
        # The dual form: as many unknowns as anchors instead of dimensions.
        gram = centred @ centred.T + RIDGE * np.eye(len(ANCHORS))
        return cls(centre, centred.T @ np.linalg.solve(gram, targets - offset), offset)

    def score(self, vector: Vector, text: str) -> Affect:
        """The affect of a text from its vector, made more intense by its "!" and CAPITALS."""
        valence, intensity = map(float, (vector - self.centre) @ self.weights + self.offset)
        felt = min(1.0, max(0.0, intensity / _FELT))
        return Affect.clipped(felt * valence, intensity + felt * emphasis(text))


def emphasis(text: str) -> float:
    """What exclamation marks and words in capitals add to intensity, 0 .. 0.36."""
    marks = sum(len(found) for found in _EXCLAMATION.findall(text))
    return (
        _ONE_EXCLAMATION * (marks > 0)
        + _MORE_EXCLAMATIONS * (marks > 1)
        + _CAPITALS * any(word.isupper() for word in _SHOUTED.findall(text))
    )
