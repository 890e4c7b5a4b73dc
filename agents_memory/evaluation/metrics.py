"""How well a score puts what is used before what is not, and how sure that is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from agents_memory.evaluation.store import Flags, Floats

CONFIDENCE = 0.95
RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


class Ordered:
    """A score's order and its ties, worked out once for any number of resamples."""

    def __init__(self, scores: Floats, used: Flags) -> None:
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        self._order, self._first, self._used = order, first, used[order]

    def auc(self, counts: Floats) -> float:
        """The AUC when item i is there counts[i] times; NaN when all or none were used."""
        weight = counts[self._order]
        positive = np.add.reduceat(np.where(self._used, weight, 0.0), self._first)
        negative = np.add.reduceat(np.where(self._used, 0.0, weight), self._first)
        pairs = positive.sum() * negative.sum()
        if pairs == 0.0:
            return float("nan")
        below = np.cumsum(negative) - negative
        return float((positive * (below + negative / 2.0)).sum() / pairs)


def auc(scores: Floats, used: Flags) -> float:
    """How likely a used item has the higher score than one that was not; ties count half.

    0 .. 1, 0.5 for a score that knows nothing (Mann, Whitney 1947). NaN when all or none were
    used. ValueError for a score that is NaN, or when the two differ in length.
    """
    if len(scores) != len(used):
        raise ValueError(f"{len(scores)} scores for {len(used)} items; give one for each")
    if np.isnan(scores).any():
        raise ValueError("a score is NaN; every item needs one")
    return Ordered(scores, used).auc(np.ones(len(used))) if len(used) else float("nan")


def recall_at(scores: Floats, used: Flags, k: int) -> float:
    """The share of used items among the k of the highest scores; NaN when none was used.

    Among equal scores at the edge every order is as likely: the expectation is given.
    """
    total = int(used.sum())
    if total == 0:
        return float("nan")
    if k >= len(scores):
        return 1.0
    if k < 1:
        return 0.0
    edge = np.partition(scores, -k)[-k]
    above, tied = scores > edge, scores == edge
    room = (k - int(above.sum())) / int(tied.sum())
    return float((used[above].sum() + room * used[tied].sum()) / total)


def over_items(
    scores: Mapping[str, Floats], used: Flags, seed: int, resamples: int = RESAMPLES
) -> dict[str, Floats]:
    """AUCs of each score when items are drawn anew, the same items for all scores (bootstrap).

    A draw without both used and unused items is left out.
    """
    ordered = {name: Ordered(values, used) for name, values in scores.items()}
    rng = np.random.default_rng(seed)
    drawn: list[list[float]] = []
    for _ in range(resamples):
        counts = np.bincount(rng.integers(len(used), size=len(used)), minlength=len(used))
        row = [each.auc(counts.astype(np.float64)) for each in ordered.values()]
        if not np.isnan(row).any():
            drawn.append(row)
    table = np.array(drawn).reshape(-1, len(ordered))
    return {name: table[:, column] for column, name in enumerate(ordered)}


def interval(mean: float, draws: Floats) -> Estimate:
    """The mean, and the interval that holds 95 % of the draws; NaN bounds without any."""
    if not len(draws):
        return Estimate(mean, float("nan"), float("nan"))
    low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(mean, float(low), float(high))


def over_seeds(values: Sequence[float], seed: int = 0) -> Estimate:
    """The mean over stores, and its interval when stores are drawn anew (bootstrap).

    Percentiles of few stores are too narrow, so they are widened as Student's t is wider than the
    normal distribution (after Hesterberg 2015). ValueError for fewer than three values.
    """
    count = len(values)
    if count < 3:
        raise ValueError(f"{count} stores tell no interval; measure at least three")
    measured = np.asarray(values, dtype=np.float64)
    mean = float(measured.mean())
    rng = np.random.default_rng(seed)
    drawn = measured[rng.integers(count, size=(RESAMPLES, count))].mean(axis=1)
    return interval(mean, mean + (drawn - mean) * _widening(count))


def _widening(count: int) -> float:
    """√(n/(n−1)) times the quantile of t with n − 1 degrees over that of the normal distribution.

    The quantile of t is its expansion to the second order (Abramowitz, Stegun 26.7.5).
    """
    z, degrees = NormalDist().inv_cdf((1 + CONFIDENCE) / 2), count - 1
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    t = z + first / degrees + second / degrees**2
    return math.sqrt(count / degrees) * t / z
