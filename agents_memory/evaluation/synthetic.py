"""Made-up stores: in one need follows history as the model supposes, in the other it does not.

The constants were written down before anything was measured, and are explained in
`docs/evaluation.md`. They are not the constants of activation: where both have one of the same
meaning (d by kind, importance) they differ, and need has parts that no trace tells of.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from agents_memory.domain.activation import CREATED, INFERRED, MIN_AGE_DAYS, SURFACED, USED
from agents_memory.domain.affect import INTENSITY_WEIGHT, VALENCE_WEIGHT
from agents_memory.domain.memories import Kind
from agents_memory.evaluation.store import TRACE_KINDS, Floats, Integers, Store

DAYS = 365
ITEMS = 2_000
HORIZON = 30

KIND_SHARES: Mapping[str, float] = MappingProxyType(
    {
        Kind.FACT: 0.35,
        Kind.NOTE: 0.25,
        Kind.PREFERENCE: 0.15,
        Kind.DECISION: 0.12,
        Kind.PROMISE: 0.05,
        Kind.PATTERN: 0.05,
        Kind.MILESTONE: 0.03,
    }
)
NEED_DECAY: Mapping[str, float] = MappingProxyType(
    {
        Kind.FACT: 0.5,
        Kind.NOTE: 0.7,
        Kind.PREFERENCE: 0.35,
        Kind.DECISION: 0.45,
        Kind.PATTERN: 0.35,
        # Once it is resolved.
        Kind.PROMISE: 0.5,
    }
)
"""The exponent of need by kind; the need of milestones and open promises stays as it is."""

USES_PER_ITEM_DAY = 0.01
"""Uses a day for each item that there is."""
UNEXPLAINED = 0.5
"""The standard deviation of the log of a factor of need that nothing tells of."""
IMPORTANCE_SHAPE = (2.0, 2.5)
"""Of the beta distribution of true importance over 1 .. 10."""
JUDGEMENT_ERROR = 1.0
"""The standard deviation of what somebody's judgement of importance is off by."""
VALENCE_SPREAD = 0.45
INTENSITY_SHAPE = (1.5, 3.0)
PROMISE_DAYS = 30.0
"""How long a promise stays open, on average (exponential)."""
MOOD_PERSISTENCE = 0.9
MOOD_SPREAD = 0.4
"""Mood goes from day to day as a first-order autoregression with this correlation and spread."""
MOOD_LIFT = 0.5
"""Need is multiplied by 1 + this · (1 − |mood − valence|)."""
SHOWN_BESIDE = 5
"""Other items that are shown with each that is used, whichever they are."""
REPORTED, INFERRED_OF_REST = 0.7, 0.5
"""The share of uses that is reported, and of the others the share that is inferred."""
INFERRED_WRONGLY = 0.02
"""The share of items shown beside a used one for which a use is inferred."""


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A store, and the need that each of its items really had over the last `horizon` days."""

    store: Store
    need: Floats
    """n; as far as it was settled when those days began."""
    holdout_at: float


@dataclass(frozen=True, slots=True)
class _Items:
    """What is true of the items, known or not."""

    created: Floats
    strength: Floats
    valence: Floats
    decay: Floats
    constant_until: Floats
    """Up to then need does not decay; −1 for most."""


class _Log:
    """Traces as they come."""

    def __init__(self) -> None:
        self.item: list[Integers] = []
        self.kind: list[Integers] = []
        self.at: list[Floats] = []

    def add(self, kind: str, item: Integers, at: Floats) -> None:
        self.item.append(item)
        self.kind.append(np.full(len(item), TRACE_KINDS.index(kind), dtype=np.int64))
        self.at.append(at)


def generate(
    seed: int,
    *,
    structured: bool = True,
    items: int = ITEMS,
    days: int = DAYS,
    horizon: int = HORIZON,
) -> Synthetic:
    """A store of that seed. Without structure, every item is as likely to be used at any time,
    whatever was before; all else is the same."""
    rng = np.random.default_rng([seed, int(structured)])
    kinds = rng.choice(list(KIND_SHARES), size=items, p=list(KIND_SHARES.values()))
    importance = 1.0 + 9.0 * rng.beta(*IMPORTANCE_SHAPE, size=items)
    valence = np.clip(rng.normal(0.0, VALENCE_SPREAD, items), -1.0, 1.0)
    intensity = rng.beta(*INTENSITY_SHAPE, size=items)
    created = np.sort(rng.uniform(0.0, days, items))
    resolved = np.where(
        kinds == Kind.PROMISE, created + rng.exponential(PROMISE_DAYS, items), np.nan
    )
    affect = 1.0 + INTENSITY_WEIGHT * intensity + VALENCE_WEIGHT * np.abs(valence)
    known = _Items(
        created=created,
        strength=importance * affect * rng.lognormal(0.0, UNEXPLAINED, items),
        valence=valence,
        decay=np.array([NEED_DECAY.get(kind, 0.0) for kind in kinds]),
        constant_until=np.where(
            kinds == Kind.MILESTONE, np.inf, np.where(np.isnan(resolved), -1.0, resolved)
        ),
    )
    judged = np.clip(np.rint(importance + rng.normal(0.0, JUDGEMENT_ERROR, items)), 1.0, 10.0)
    moods = _moods(rng, days)
    log = _Log()
    log.add(CREATED, np.arange(items), created)
    holdout_at = days - horizon
    used_item, used_at = np.arange(items), created
    true_need = np.zeros(items)
    for day in range(days):
        there = int(np.searchsorted(created, day))
        if day == holdout_at:
            true_need = _foreseen(known, used_item, used_at, day, horizon, moods[day - 1])
        if there == 0:
            continue
        need = np.ones(there)
        if structured:
            need = _need(known, used_item, used_at, day, day)[:there]
            need = need * _mood_factor(moods[day], known.valence[:there])
        wanted = min(there, int(rng.poisson(USES_PER_ITEM_DAY * there)))
        used = rng.choice(there, size=wanted, p=need / need.sum(), replace=False)
        at = day + rng.uniform(0.0, 1.0, wanted)
        used_item, used_at = np.r_[used_item, used], np.r_[used_at, at]
        _observe(rng, log, used, at, there)
    store = Store(
        kinds=tuple(str(kind) for kind in kinds),
        importance=judged,
        valence=valence,
        intensity=intensity,
        resolved_at=resolved,
        trace_item=np.concatenate(log.item),
        trace_kind=np.concatenate(log.kind),
        trace_at=np.concatenate(log.at),
        mood_at=np.arange(days, dtype=np.float64) + 0.75,
        mood_valence=moods,
        mood_intensity=np.ones(days),
    )
    return Synthetic(store, true_need if structured else np.ones(items), float(holdout_at))


def _need(known: _Items, item: Integers, at: Floats, known_at: float, when: float) -> Floats:
    """Need at `when`, from what had happened before `known_at` (Anderson, Schooler 1991)."""
    past = at < known_at
    age = np.maximum(MIN_AGE_DAYS, when - at[past])
    power = np.bincount(
        item[past], weights=age ** -known.decay[item[past]], minlength=len(known.strength)
    )
    return known.strength * np.where(known.constant_until > when, 1.0, power)


def _foreseen(
    known: _Items, item: Integers, at: Floats, day: int, horizon: int, mood: float
) -> Floats:
    """Mean need over the coming days if nothing more happened, mood going back to its mean."""
    total = np.zeros(len(known.strength))
    for ahead in range(horizon):
        faded = mood * MOOD_PERSISTENCE ** (ahead + 1)
        factor = _mood_factor(faded, known.valence)
        total += _need(known, item, at, day, day + ahead) * factor
    return total / horizon


def _mood_factor(mood: float, valence: Floats) -> Floats:
    return 1.0 + MOOD_LIFT * (1.0 - np.abs(mood - valence))


def _moods(rng: np.random.Generator, days: int) -> Floats:
    moods = np.zeros(days)
    step = MOOD_SPREAD * np.sqrt(1.0 - MOOD_PERSISTENCE**2)
    for day in range(1, days):
        moods[day] = MOOD_PERSISTENCE * moods[day - 1] + rng.normal(0.0, step)
    return np.clip(moods, -1.0, 1.0)


def _observe(rng: np.random.Generator, log: _Log, used: Integers, at: Floats, there: int) -> None:
    """What is logged of a day's uses: exposures, and the uses that are reported or inferred."""
    beside = rng.integers(there, size=len(used) * SHOWN_BESIDE)
    beside_at = np.repeat(at, SHOWN_BESIDE)
    log.add(SURFACED, np.r_[used, beside], np.r_[at, beside_at])
    reported = rng.uniform(size=len(used)) < REPORTED
    inferred = ~reported & (rng.uniform(size=len(used)) < INFERRED_OF_REST)
    wrongly = rng.uniform(size=len(beside)) < INFERRED_WRONGLY
    log.add(USED, used[reported], at[reported])
    log.add(
        INFERRED, np.r_[used[inferred], beside[wrongly]], np.r_[at[inferred], beside_at[wrongly]]
    )
