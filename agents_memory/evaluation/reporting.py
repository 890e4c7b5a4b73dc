"""What is told of one store, and of many made-up ones: AUCs, gaps, parts, suggestions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agents_memory.evaluation import comparing, synthetic
from agents_memory.evaluation.comparing import Suggestion, Window
from agents_memory.evaluation.metrics import Estimate, auc, over_seeds
from agents_memory.evaluation.store import Floats, Store, hold_out

GAPS = (
    ("activation", "exponential"),
    ("activation", "last_touch"),
    ("activation", "recency"),
    ("activation", "frequency"),
    ("activation", "exposure"),
    ("activation_shipped", "exponential"),
    ("activation_shipped", "last_touch"),
    ("activation_shipped", "recency"),
    ("activation_shipped", "frequency"),
    ("activation_shipped", "exposure"),
)
"""Whose AUCs are subtracted; in what is told `activation - exponential`."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one store, or the mean of many."""

    items: int
    used: int
    auc: Mapping[str, Estimate]
    recall_at_tenth: Mapping[str, float]
    gaps: Mapping[str, Estimate]
    adds: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Own:
    """What a pool's own traces tell."""

    measured: Measured
    suggestion: Suggestion


@dataclass(frozen=True, slots=True)
class Suggested:
    """What the structured stores suggest: means over seeds."""

    decay: float
    surfaced: float
    inferred: float
    gain: Estimate
    gain_left_out: float


@dataclass(frozen=True, slots=True)
class Synthetics:
    """What made-up stores tell."""

    seeds: int
    structured: Measured
    structureless: Measured
    of_oracle: Estimate
    """The AUC of activation as a share of the oracle's, in structured stores."""
    of_oracle_shipped: Estimate
    """The same with the constants as shipped."""
    suggestion: Suggested


@dataclass(frozen=True, slots=True)
class _One:
    """Plain figures of one made-up store."""

    items: int
    used: int
    auc: dict[str, float]
    recall: dict[str, float]
    adds: dict[str, float]


def report_own(store: Store, seen: Window, horizon: float, *, seed: int = 0) -> Own:
    """Everything about a store of which `too_little` has nothing to say."""
    known = hold_out(store, seen.holdout_at, horizon)
    training = hold_out(store, seen.holdout_at - horizon, horizon)
    found = comparing.measure(known, comparing.tuned(training))
    measured = Measured(
        items=known.size,
        used=int(known.used.sum()),
        auc=comparing.estimates(found, known, seed),
        recall_at_tenth=comparing.recalls(found, known),
        gaps={
            f"{first} - {second}": comparing.gap(found[first], found[second], known, seed)
            for first, second in GAPS
        },
        adds={
            name: comparing.gap(whole, less, known, seed)
            for name, (whole, less) in comparing.parts(known).items()
        },
    )
    return Own(measured, comparing.suggest(store, seen, horizon, seed))


def report_synthetic(
    seeds: int,
    *,
    items: int = synthetic.ITEMS,
    days: int = synthetic.DAYS,
    step: Callable[[int], None] = lambda steps: None,
) -> Synthetics:
    """The means over stores of the seeds 0 … `seeds` − 1; `step` is called after each store.

    ValueError for fewer than three seeds.
    """
    horizon = float(synthetic.HORIZON)
    ones: dict[bool, list[_One]] = {True: [], False: []}
    suggestions: list[Suggestion] = []
    for structured, found in ones.items():
        for seed in range(seeds):
            made = synthetic.generate(seed, structured=structured, items=items, days=days)
            found.append(_one(made, horizon))
            if structured:
                seen = Window(0.0, made.holdout_at, made.holdout_at + horizon)
                suggestions.append(comparing.suggest(made.store, seen, horizon, seed))
            step(1)

    def share(name: str) -> Estimate:
        return over_seeds([one.auc[name] / one.auc["oracle"] for one in ones[True]])

    return Synthetics(
        seeds=seeds,
        structured=_over(ones[True]),
        structureless=_over(ones[False]),
        of_oracle=share("activation"),
        of_oracle_shipped=share("activation_shipped"),
        suggestion=Suggested(
            decay=float(np.mean([each.decay for each in suggestions])),
            surfaced=float(np.mean([each.surfaced for each in suggestions])),
            inferred=float(np.mean([each.inferred for each in suggestions])),
            gain=over_seeds([each.gain.mean for each in suggestions]),
            gain_left_out=float(np.mean([each.gain_left_out for each in suggestions])),
        ),
    )


def _one(made: synthetic.Synthetic, horizon: float) -> _One:
    known = hold_out(made.store, made.holdout_at, horizon)
    training = hold_out(made.store, made.holdout_at - horizon, horizon)
    found = comparing.measure(known, comparing.tuned(training))
    found["oracle"] = made.need[known.number]

    def reached(values: Floats) -> float:
        return auc(values, known.used)

    return _One(
        items=known.size,
        used=int(known.used.sum()),
        auc={name: reached(values) for name, values in found.items()},
        recall=comparing.recalls(found, known),
        adds={
            name: reached(whole) - reached(less)
            for name, (whole, less) in comparing.parts(known).items()
        },
    )


def _over(ones: Sequence[_One]) -> Measured:
    return Measured(
        items=round(float(np.mean([one.items for one in ones]))),
        used=round(float(np.mean([one.used for one in ones]))),
        auc={name: over_seeds([one.auc[name] for one in ones]) for name in ones[0].auc},
        recall_at_tenth={
            name: float(np.mean([one.recall[name] for one in ones])) for name in ones[0].recall
        },
        gaps={
            f"{first} - {second}": over_seeds([one.auc[first] - one.auc[second] for one in ones])
            for first, second in GAPS
        },
        adds={name: over_seeds([one.adds[name] for one in ones]) for name in ones[0].adds},
    )
