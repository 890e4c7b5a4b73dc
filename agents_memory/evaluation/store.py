"""Items and their traces as arrays, and what was known of them at a moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.activation import (
    CREATED,
    DECAY_BY_KIND,
    DEFAULT_DECAY,
    INFERRED,
    MIN_AGE_DAYS,
    RESOLVED_PROMISE_DECAY,
    SURFACED,
    USED,
)
from agents_memory.domain.affect import INTENSITY_WEIGHT, VALENCE_WEIGHT
from agents_memory.domain.memories import Kind
from agents_memory.domain.prior import RECENT_MOOD_HOURS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

TRACE_KINDS = (CREATED, USED, SURFACED, INFERRED)
"""A trace's kind is its place in here."""


@dataclass(frozen=True, slots=True)
class Store:
    """n items, m traces and k moods; times in days since any moment, the same for all of them."""

    kinds: tuple[str, ...]
    """n; memories' kinds, and `message`."""
    importance: Floats
    """n; 1 .. 10."""
    valence: Floats
    """n; −1 .. 1."""
    intensity: Floats
    """n; 0 .. 1."""
    resolved_at: Floats
    """n; NaN for what was never resolved."""
    trace_item: Integers
    """m; which item, from 0."""
    trace_kind: Integers
    """m; an index of `TRACE_KINDS`."""
    trace_at: Floats
    """m"""
    mood_at: Floats
    """k; when somebody felt like this."""
    mood_valence: Floats
    """k; −1 .. 1."""
    mood_intensity: Floats
    """k; 0 .. 1."""


@dataclass(frozen=True, slots=True)
class Holdout:
    """What was known of n items at a moment (m traces), and which of them were used after it."""

    importance: Floats
    affect: Floats
    valence: Floats
    decay: Floats
    """n; the exponent d of each, as of that moment."""
    item: Integers
    kind: Integers
    age: Floats
    """m; in days, at least MIN_AGE_DAYS."""
    mood: float | None
    used: Flags
    """n; whether a use was reported within the horizon."""
    number: Integers
    """n; which item of the store each is."""

    @property
    def size(self) -> int:
        """n"""
        return len(self.used)


def hold_out(store: Store, at: float, horizon: float) -> Holdout:
    """The items with a trace before `at`; used: those with a reported use from then on.

    Importance and affect are those of now: a store remembers no earlier ones.
    """
    before = store.trace_at < at
    code = TRACE_KINDS.index(USED)
    after = (store.trace_at >= at) & (store.trace_at < at + horizon) & (store.trace_kind == code)
    number = np.unique(store.trace_item[before])
    used = np.isin(number, store.trace_item[after])
    kept = [store.kinds[n] for n in number]
    decay = np.array([DECAY_BY_KIND.get(kind, DEFAULT_DECAY) for kind in kept], dtype=np.float64)
    promise = np.array([kind == Kind.PROMISE for kind in kept], dtype=np.bool_)
    decay[promise & (store.resolved_at[number] < at)] = RESOLVED_PROMISE_DECAY
    valence = store.valence[number]
    affect = 1.0 + INTENSITY_WEIGHT * store.intensity[number] + VALENCE_WEIGHT * np.abs(valence)
    return Holdout(
        importance=store.importance[number],
        affect=affect,
        valence=valence,
        decay=decay,
        item=np.searchsorted(number, store.trace_item[before]),
        kind=store.trace_kind[before],
        age=np.maximum(MIN_AGE_DAYS, at - store.trace_at[before]),
        mood=_mood(store, at),
        used=used,
        number=number,
    )


def _mood(store: Store, at: float) -> float | None:
    since = at - RECENT_MOOD_HOURS / 24.0
    recent = (store.mood_at < at) & (store.mood_at >= since)
    weight = float(store.mood_intensity[recent].sum())
    if weight <= 0.0:
        return None
    return float((store.mood_valence[recent] * store.mood_intensity[recent]).sum() / weight)
