"""What is compared: activation as it is computed, its parts taken away, and its rivals.

Each takes a `Holdout` and gives a score an item; only their order counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from agents_memory.domain.activation import (
    CREATED,
    DEFAULT_DECAY,
    HALF_LIFE_DAYS,
    INFERRED,
    SURFACED,
    TRACE_WEIGHTS,
    USED,
)
from agents_memory.domain.prior import MOOD_PRIOR
from agents_memory.evaluation.store import TRACE_KINDS, Floats, Holdout


@dataclass(frozen=True, slots=True)
class Constants:
    """What can be tuned of activation; the defaults are those that the daemon computes with."""

    decay: float = DEFAULT_DECAY
    """d of a fact; the other kinds keep their ratio to it."""
    weights: Mapping[str, float] = field(default_factory=lambda: TRACE_WEIGHTS)

    def weighing(self, **weights: float) -> "Constants":
        """The same with other weights of some kinds of trace."""
        return replace(self, weights=MappingProxyType({**self.weights, **weights}))


SHIPPED = Constants()


def activation(known: Holdout, constants: Constants = SHIPPED) -> Floats:
    """importance · affect · Σ w·age^(−d), as `domain.activation` and the database compute it."""
    return known.importance * known.affect * weighed(power_sums(known, constants.decay), constants)


def power_sums(known: Holdout, decay: float = DEFAULT_DECAY) -> Floats:
    """Σ age^(−d) of each item (column) over its traces of each kind (row); d of a fact is given."""
    d = known.decay[known.item] * (decay / DEFAULT_DECAY)
    place = known.kind * known.size + known.item
    shape = len(TRACE_KINDS), known.size
    sums = np.bincount(place, weights=known.age**-d, minlength=shape[0] * shape[1])
    return sums.astype(np.float64).reshape(shape)


def weighed(sums: Floats, constants: Constants = SHIPPED) -> Floats:
    """One sum for each item, from those of each kind of trace."""
    total: Floats = np.array([constants.weights[kind] for kind in TRACE_KINDS]) @ sums
    return total


def exponential(
    known: Holdout, half_life: float = HALF_LIFE_DAYS, constants: Constants = SHIPPED
) -> Floats:
    """The same with 2^(−age/half-life) in place of the power, and all else kept: only the shape of
    forgetting differs. `half_life` is that of a fact in days; what has a d of 0 does not decay."""
    rate = known.decay[known.item] / DEFAULT_DECAY / half_life
    total = _sum(known, _weights(known, constants) * np.exp2(-known.age * rate))
    return known.importance * known.affect * total


def last_touch(known: Holdout) -> Floats:
    """importance · 2^(−age of the last trace / 30 days): the usual forgetting of agents' memories,
    untuned (as in Generative Agents, Park et al. 2023, with a day as its unit)."""
    return known.importance * np.exp2(-_last(known, TRACE_KINDS) / HALF_LIFE_DAYS)


def recency(known: Holdout, *, exposure: bool = False) -> Floats:
    """The later the last trace, the higher; with or without exposures."""
    counted = (CREATED, USED, INFERRED, *([SURFACED] if exposure else []))
    return -_last(known, counted)


def frequency(known: Holdout, constants: Constants = SHIPPED) -> Floats:
    """How many traces, weighed."""
    return _sum(known, _weights(known, constants))


def exposure(known: Holdout, decay: float = DEFAULT_DECAY) -> Floats:
    """Σ age^(−d) of the exposures alone: what is known when nothing tells of use."""
    shown = known.kind == TRACE_KINDS.index(SURFACED)
    return _sum(known, np.where(shown, known.age**-decay, 0.0))


def without_affect(known: Holdout) -> Floats:
    """Activation where everything felt the same."""
    return known.importance * weighed(power_sums(known))


def without_importance(known: Holdout) -> Floats:
    """Activation where everything is as important."""
    return known.affect * weighed(power_sums(known))


def with_mood(known: Holdout) -> Floats:
    """Activation leaning to the mood of the moment as recall does; without one, activation."""
    if known.mood is None:
        return activation(known)
    return activation(known) * (1.0 + MOOD_PRIOR * (1.0 - np.abs(known.mood - known.valence)))


def _weights(known: Holdout, constants: Constants) -> Floats:
    return np.array([constants.weights[kind] for kind in TRACE_KINDS])[known.kind]


def _sum(known: Holdout, values: Floats) -> Floats:
    # Without any trace the sums would be whole numbers.
    return np.bincount(known.item, weights=values, minlength=known.size).astype(np.float64)


def _last(known: Holdout, kinds: tuple[str, ...]) -> Floats:
    """The age of each item's newest trace of these kinds; without any, older than all."""
    counted = np.isin(known.kind, [TRACE_KINDS.index(kind) for kind in kinds])
    oldest = float(known.age.max(initial=0.0)) + 1.0
    last = np.full(known.size, oldest)
    np.minimum.at(last, known.item[counted], known.age[counted])
    return last
