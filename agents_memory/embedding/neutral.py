"""Take out of a vector what it says about the language and leave what it says.

Multilingual models put a shared offset and the language of a text into its vector. Unrelated
sentences of one language then look more alike than a sentence and its translation, and no single
threshold fits all languages. Both lie in few directions, found from the same sentences in several
languages: their mean, and the differences of each language's mean from it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Basis = NDArray[np.float32]
"""Row 0 is the shared offset; the other rows are orthonormal directions of language."""


def fit_basis(languages: Sequence[NDArray[np.floating]]) -> Basis:
    """The basis from one (sentences, dims) array per language, row for row the same meanings.

    n languages give n − 1 directions.
    """
    means = np.stack([vectors.mean(axis=0, dtype=np.float64) for vectors in languages])
    offset = means.mean(axis=0)
    directions = np.linalg.svd(means - offset, full_matrices=False)[2][: len(languages) - 1]
    return np.vstack([offset, directions]).astype(np.float32)


def neutralise(vector: NDArray[np.floating], basis: Basis) -> NDArray[np.floating]:
    """The vector without its parts along the basis; not of length 1."""
    centred = vector - basis[0]
    neutral: NDArray[np.floating] = centred - (basis[1:] @ centred) @ basis[1:]
    return neutral
