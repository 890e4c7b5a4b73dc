"""Activation: how present an item is, from when it was made, shown and used.

activation = importance · affect · Σ w·age^(−d). The formula and the constants said to be Patina's
are those of that system; the others are ours, and `docs/concepts.md` lists them all.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from agents_memory.domain.affect import Affect
from agents_memory.domain.memories import Kind

SECONDS_PER_DAY = 86_400.0

MIN_AGE_DAYS = 1.0 / 24.0
"""No trace counts as younger than an hour, so that none counts without bound (Patina's log has this
resolution). A trace from the future, after the clock jumped, counts as that young."""

DEFAULT_DECAY = 0.5
"""The exponent d of what has none of its own: ACT-R's usual value (Anderson, Lebiere 1998)."""

RESOLVED_PROMISE_DECAY = 0.5
"""The exponent d of a promise that was kept or dropped: from then on it is a fact like others."""

MESSAGE = "message"
"""The kind under which messages stand in `DECAY_BY_KIND`."""

DECAY_BY_KIND: Mapping[str, float] = MappingProxyType(
    {
        Kind.FACT: DEFAULT_DECAY,
        # What somebody likes, decided, or does again and again holds longer than a passing fact.
        Kind.PREFERENCE: 0.3,
        Kind.DECISION: 0.4,
        Kind.PATTERN: 0.3,
        # At full weight until it is resolved (Patina); after that RESOLVED_PROMISE_DECAY.
        Kind.PROMISE: 0.0,
        # Never decays (Patina).
        Kind.MILESTONE: 0.0,
        Kind.NOTE: 0.6,
        MESSAGE: DEFAULT_DECAY,
    }
)
"""The exponent d by kind, 0 .. 1; the middle values are ours."""

DEFAULT_IMPORTANCE = 5
"""What a message counts whose importance nobody judged: the middle of 1 .. 10."""

CREATED, USED, SURFACED, INFERRED = "created", "used", "surfaced", "inferred"

TRACE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    # An exposure is worth a tenth of a use (Patina); a use that nobody reported, but that the reply
    # shows, may be a coincidence and counts half (ours).
    {CREATED: 1.0, USED: 1.0, SURFACED: 0.1, INFERRED: 0.5}
)

FADING_BELOW = 0.5
"""Below this a memory fades: a calm fact of importance 5 after 100 days without use (ours)."""

CHANGED_BY = 0.01
"""The share of its value by which an activation must differ to have changed: more than a minute
does to what is an hour old (ours)."""

EXPOSURE_KEPT_DAYS = 365
"""How long the trace of a single exposure is kept beside the bin it was added to (ours)."""

HALF_LIFE_DAYS = 30.0
"""Of the exponential rival: the usual choice of systems that forget exponentially."""


def affect_factor(valence: float, intensity: float) -> float:
    """1.0 .. 2.2: 1 + 0.8·intensity + 0.4·|valence| (Patina).

    ValueError for a valence outside of −1..1, an intensity outside of 0..1, and NaN.
    """
    return Affect(valence, intensity).strength


def decay_of(kind: str, *, resolved: bool = False) -> float:
    """The exponent d of a memory's kind, or of a message; unknown kinds have the default."""
    if kind == Kind.PROMISE and resolved:
        return RESOLVED_PROMISE_DECAY
    return DECAY_BY_KIND.get(kind, DEFAULT_DECAY)


def trace_sum(ages_days: Sequence[float], weights: Sequence[float], d: float) -> float:
    """Σ w·age^(−d) over an item's traces, ages in days and at least an hour (Patina; ACT-R).

    A negative age is a trace from the future. ValueError when the two differ in length, when d or a
    weight is negative, or a number is not finite.
    """
    _check(ages_days, weights)
    if not (math.isfinite(d) and d >= 0.0):
        raise ValueError(f"the exponent d must be finite and not negative, not {d}")
    return sum(
        weight * math.pow(max(MIN_AGE_DAYS, age), -d)
        for age, weight in zip(ages_days, weights, strict=True)
    )


def activation(importance: float, affect: float, traces_sum: float) -> float:
    """importance · affect · Σ (Patina): importance 1 .. 10, affect as `affect_factor` gives it.

    ValueError for an importance outside of 1..10 and for NaN.
    """
    if not 1.0 <= importance <= 10.0:
        raise ValueError(f"importance must be from 1 to 10, not {importance}")
    if not (math.isfinite(affect) and math.isfinite(traces_sum)):
        raise ValueError(f"affect and sum must be finite, not ({affect}, {traces_sum})")
    return importance * affect * traces_sum


def _check(ages_days: Sequence[float], weights: Sequence[float]) -> None:
    if len(ages_days) != len(weights):
        raise ValueError(f"{len(ages_days)} ages, but {len(weights)} weights; give one for each")
    if not all(map(math.isfinite, ages_days)):
        raise ValueError("every age must be finite")
    if not all(math.isfinite(weight) and weight >= 0.0 for weight in weights):
        raise ValueError("every weight must be finite and not negative")
