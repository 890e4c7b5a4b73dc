"""Holdouts compared: rivals tuned, parts of activation taken away, constants suggested."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from agents_memory.domain.activation import HALF_LIFE_DAYS, INFERRED, SURFACED, USED
from agents_memory.evaluation import scores
from agents_memory.evaluation.metrics import Estimate, auc, interval, over_items, recall_at
from agents_memory.evaluation.scores import SHIPPED, Constants
from agents_memory.evaluation.store import Floats, Holdout, Store, hold_out

Score = Callable[[Holdout], Floats]

HALF_LIVES = (1.0, 2.0, 4.0, 7.0, 14.0, HALF_LIFE_DAYS, 60.0, 90.0, 180.0, 365.0)
DECAYS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
EXPOSURE_WEIGHTS = (0.0, 0.03, 0.1, 0.3)
INFERRED_WEIGHTS = (0.25, 0.5, 1.0)
FOLDS = 3

# What is shipped comes first, so that another has to do better to be chosen.
CANDIDATES = (
    SHIPPED,
    *(
        Constants(decay).weighing(**{SURFACED: shown, INFERRED: guessed})
        for decay, shown, guessed in product(DECAYS, EXPOSURE_WEIGHTS, INFERRED_WEIGHTS)
    ),
)

MIN_ITEMS = 100
MIN_USED = 20
MIN_HORIZONS = 3
"""Below these nothing is said about a pool; `docs/evaluation.md` names them."""

TENTH = 10
"""Recall is that of the first 1/TENTH of the items."""


@dataclass(frozen=True, slots=True)
class Window:
    """What of a store can be seen, in days of its own time."""

    begin: float
    holdout_at: float
    end: float


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Constants that did best on earlier horizons, and what they gain on others."""

    decay: float
    surfaced: float
    inferred: float
    gain: Estimate
    """Of AUC on the last horizon against the constants as shipped."""
    folds: int
    gain_left_out: float
    """Mean gain on each earlier horizon when chosen on the others; NaN with a single one."""

    @property
    def holds(self) -> bool:
        """Whether the gain is more than noise."""
        return self.gain.low > 0.0


def window(store: Store, horizon: float) -> Window | None:
    """From the first trace to the last, with the last `horizon` days held out; None without any."""
    if not len(store.trace_at):
        return None
    # The last trace itself is inside.
    end = float(np.nextafter(store.trace_at.max(), np.inf))
    return Window(float(store.trace_at.min()), end - horizon, end)


def too_little(store: Store, seen: Window | None, horizon: float) -> str | None:
    """Why nothing can be said yet; None when there is enough."""
    if seen is None:
        return "no traces yet; they come with memories, searches and citations"
    days = seen.end - seen.begin
    if days < MIN_HORIZONS * horizon:
        return f"{days:.1f} days of traces; {MIN_HORIZONS} horizons of {horizon:g} days are needed"
    known = hold_out(store, seen.holdout_at, horizon)
    last = f"the last {horizon:g} days"
    if known.size < MIN_ITEMS:
        return f"{known.size} items with a trace before {last}; {MIN_ITEMS} are needed"
    earlier = hold_out(store, seen.holdout_at - horizon, horizon)
    for about, when in ((known, last), (earlier, f"the {horizon:g} days before {last}")):
        used = int(about.used.sum())
        if used < MIN_USED:
            return f"{used} items reported as used in {when}; {MIN_USED} are needed"
        if about.size - used < MIN_USED:
            return f"{about.size - used} items not used in {when}; {MIN_USED} are needed"
    return None


def tuned(training: Holdout) -> dict[str, Score]:
    """Every score, its free constants chosen by AUC on the training holdout.

    Activation too, and beside it as the daemon computes it.
    """
    best = CANDIDATES[int(np.argmax(_reached([training])))]
    return {
        "activation": lambda known: scores.activation(known, best),
        "activation_shipped": scores.activation,
        "exponential": _best(training, _exponentials()),
        "last_touch": scores.last_touch,
        "recency": _best(training, (_recency(shown) for shown in (False, True))),
        "frequency": _best(training, (_frequency(weight) for weight in (*EXPOSURE_WEIGHTS, 1.0))),
        "exposure": _best(training, (_exposure(decay) for decay in DECAYS)),
    }


def parts(known: Holdout) -> dict[str, tuple[Floats, Floats]]:
    """Scores with and without each part of activation, with the constants as shipped."""
    whole = scores.activation(known)

    def weighing(**weights: float) -> Floats:
        return scores.activation(known, SHIPPED.weighing(**weights))

    found = {
        "decay": (whole, scores.activation(known, replace(SHIPPED, decay=0.0))),
        "use": (whole, weighing(**{USED: 0.0, INFERRED: 0.0})),
        "affect": (whole, scores.without_affect(known)),
        "importance": (whole, scores.without_importance(known)),
        "exposure": (whole, weighing(**{SURFACED: 0.0})),
        "inferred_use": (whole, weighing(**{INFERRED: 0.0})),
    }
    if known.mood is not None:
        found["mood"] = (scores.with_mood(known), whole)
    return found


def measure(known: Holdout, named: Mapping[str, Score]) -> dict[str, Floats]:
    """Each score of the items of a holdout."""
    return {name: score(known) for name, score in named.items()}


def recalls(measured: Mapping[str, Floats], known: Holdout) -> dict[str, float]:
    """Recall of the first tenth."""
    k = max(1, known.size // TENTH)
    return {name: recall_at(values, known.used, k) for name, values in measured.items()}


def estimates(measured: Mapping[str, Floats], known: Holdout, seed: int) -> dict[str, Estimate]:
    """AUCs with intervals over items."""
    draws = over_items(measured, known.used, seed)
    return {
        name: interval(auc(values, known.used), draws[name]) for name, values in measured.items()
    }


def gap(first: Floats, second: Floats, known: Holdout, seed: int) -> Estimate:
    """By how much the AUC of the first is above that of the second, paired."""
    draws = over_items({"first": first, "second": second}, known.used, seed)
    mean = auc(first, known.used) - auc(second, known.used)
    return interval(mean, draws["first"] - draws["second"])


def suggest(store: Store, seen: Window, horizon: float, seed: int) -> Suggestion:
    """Constants chosen on up to FOLDS horizons before the holdout, judged on the holdout."""
    folds = [
        hold_out(store, at, horizon)
        for at in (seen.holdout_at - horizon * (fold + 1) for fold in range(FOLDS))
        if at - seen.begin >= horizon
    ]
    reached = _reached([fold for fold in folds if _usable(fold)])
    best = CANDIDATES[int(np.argmax(reached.mean(axis=1)))] if reached.size else SHIPPED
    last = hold_out(store, seen.holdout_at, horizon)
    return Suggestion(
        decay=best.decay,
        surfaced=best.weights[SURFACED],
        inferred=best.weights[INFERRED],
        gain=gap(scores.activation(last, best), scores.activation(last), last, seed),
        folds=reached.shape[1],
        gain_left_out=_gain_left_out(reached),
    )


def _reached(folds: Sequence[Holdout]) -> Floats:
    """The AUC of each candidate (row) on each fold (column)."""
    columns = [_reached_on(fold) for fold in folds]
    return np.array(columns, dtype=np.float64).T.reshape(len(CANDIDATES), len(folds))


def _reached_on(fold: Holdout) -> list[float]:
    # The sums are linear in the weights, so that only another d needs all traces again.
    sums = {decay: scores.power_sums(fold, decay) for decay in {c.decay for c in CANDIDATES}}
    strength = fold.importance * fold.affect
    return [auc(strength * scores.weighed(sums[c.decay], c), fold.used) for c in CANDIDATES]


def _gain_left_out(reached: Floats) -> float:
    """Mean gain over what is shipped on each fold, when chosen on the other ones."""
    if reached.shape[1] < 2:
        return float("nan")
    gains = []
    for fold in range(reached.shape[1]):
        best = int(np.argmax(np.delete(reached, fold, axis=1).mean(axis=1)))
        gains.append(reached[best, fold] - reached[0, fold])
    return float(np.mean(gains))


def _usable(fold: Holdout) -> bool:
    used = int(fold.used.sum())
    return min(used, fold.size - used) >= MIN_USED


def _best(training: Holdout, candidates: Iterable[Score]) -> Score:
    return max(candidates, key=lambda score: auc(score(training), training.used))


def _exponentials() -> Iterable[Score]:
    for half_life in HALF_LIVES:
        for shown in EXPOSURE_WEIGHTS:
            yield _exponential(half_life, SHIPPED.weighing(**{SURFACED: shown}))


def _exponential(half_life: float, constants: Constants) -> Score:
    return lambda known: scores.exponential(known, half_life, constants)


def _recency(shown: bool) -> Score:
    return lambda known: scores.recency(known, exposure=shown)


def _frequency(weight: float) -> Score:
    constants = SHIPPED.weighing(**{SURFACED: weight})
    return lambda known: scores.frequency(known, constants)


def _exposure(decay: float) -> Score:
    return lambda known: scores.exposure(known, decay)
