"""An embedder without a model: hashed words and parts of words. It matches spelling only."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from agents_memory.embedding.profiles import HASHING
from agents_memory.embedding.threaded import ThreadedEmbedder

_WORD = re.compile(r"\w+")
_WORD_WEIGHT = 2.0


def open_hashing() -> ThreadedEmbedder:
    """The same text gives the same vector on every machine and in every process."""
    return ThreadedEmbedder(HASHING, lambda: encode)


def encode(text: str) -> NDArray[np.float64]:
    """Signed feature hashing (Weinberger et al. 2009), counts dampened by 1 + ln n."""
    vector = np.zeros(HASHING.dims)
    for (feature, weight), count in Counter(_features(text.casefold())).items():
        digest = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
        sign = 1.0 if digest >> 63 else -1.0
        vector[digest % HASHING.dims] += sign * weight * (1.0 + math.log(count))
    if not vector.any():
        # All features cancelled out; still a direction, as promised for every text.
        vector[0] = 1.0
    return vector


def _features(text: str) -> Iterator[tuple[str, float]]:
    """Words, and the n-grams of each; of text without a word, those of the text itself."""
    for word in _WORD.findall(text) or [text.strip()]:
        yield word, _WORD_WEIGHT
        edged = f"<{word}>"
        # Words of other scripts are shorter, or not separated at all.
        for size in (3, 4) if word.isascii() else (2, 3):
            for start in range(len(edged) - size + 1):
                yield edged[start : start + size], 1.0
