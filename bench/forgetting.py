"""A year of searches over drifting topics: what forgetting adds to finding.

    python -m bench.forgetting [--seeds N] [--strengths 1 3]

Nothing is timed, and no pool is needed. The year is made without the model's formula: each item has
a desirability (gamma distributed; Burrell 1980) that fades exponentially with a half-life of its
own, from days to a year (their mixture fades as a power; Anderson, Milson 1989), and its topic
gains and loses interest. A query is near to the one to three items that are needed, and near to
others by chance. Ten are shown and leave exposures; of these, the needed ones are cited.

Each policy lives through the same year, with the traces that its own answers leave, and multiplies
relevance by a factor of the shape of `domain.prior.use_factor`. `strength` multiplies all of the
factor above 1; 1 is what recall does. NOISE was set on other seeds so that `none` finds about the
share of LoCoMo's evidence that recall finds (0.73), before anything was compared.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agents_memory.domain.activation import (
    DEFAULT_DECAY,
    DEFAULT_IMPORTANCE,
    HALF_LIFE_DAYS,
    MIN_AGE_DAYS,
    SURFACED,
    TRACE_WEIGHTS,
    USED,
)
from agents_memory.domain.prior import (
    ACTIVATION_PRIOR,
    FRESH_HALF_LIFE_DAYS,
    FRESHNESS_PRIOR,
    HALF_EVIDENCE,
)
from agents_memory.evaluation.metrics import Estimate, over_seeds
from agents_memory.evaluation.store import Floats, Integers
from bench import report

DAYS, ITEMS, TOPICS, DIMENSIONS = 365, 3_000, 40, 64
QUERIES_A_DAY = 10
WARM_UP_DAYS = 30
SHOWN = 10
CANDIDATES = 200
# Of the log of a topic's interest: its spread, and its correlation from day to day (30 days).
INTEREST_SPREAD, INTEREST_PERSISTENCE = 1.5, float(np.exp(-1 / 30))
HALF_LIVES = (3.0, 365.0)
WITHIN_TOPIC = 1.0
NOISE = 1.6

Prior = Callable[["Traces", float], Floats]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked on a day, and which items are needed."""

    day: int
    vector: Floats
    needed: Integers


@dataclass(frozen=True, slots=True)
class Year:
    """Items with their vectors in the order of their creation, and the queries."""

    vectors: Floats
    created: Floats
    queries: tuple[Query, ...]


class Traces:
    """What was shown and used so far."""

    def __init__(self) -> None:
        self.item = np.zeros(0, dtype=np.int64)
        self.at = np.zeros(0)
        self.weight = np.zeros(0)

    def add(self, items: Integers, at: float, kind: str) -> None:
        """A trace of each."""
        self.item = np.r_[self.item, items]
        self.at = np.r_[self.at, np.full(len(items), at)]
        self.weight = np.r_[self.weight, np.full(len(items), TRACE_WEIGHTS[kind])]

    def sums(self, values: Floats) -> Floats:
        """One number a trace, summed for each item."""
        # Without any trace the sums would be whole numbers.
        return np.bincount(self.item, weights=values, minlength=ITEMS).astype(np.float64)

    def ages(self, now: float) -> Floats:
        """Of each trace, in days."""
        return np.maximum(MIN_AGE_DAYS, now - self.at)

    def last(self, now: float) -> Floats:
        """The age of each item's last trace; infinite without any."""
        found = np.full(ITEMS, np.inf)
        np.minimum.at(found, self.item, self.ages(now))
        return found


def none(traces: Traces, now: float) -> Floats:
    """Relevance alone."""
    return np.zeros(ITEMS)


def recency(traces: Traces, now: float) -> Floats:
    """Only how lately it was shown or used."""
    most = ACTIVATION_PRIOR + FRESHNESS_PRIOR
    return most * np.exp2(-traces.last(now) / FRESH_HALF_LIFE_DAYS)


def exponential(traces: Traces, now: float) -> Floats:
    """As recall does, with 2^(−age/30 days) in place of the power."""
    ages = traces.ages(now)
    return _gain(traces, now, traces.sums(traces.weight * np.exp2(-ages / HALF_LIFE_DAYS)))


def activation(traces: Traces, now: float) -> Floats:
    """As recall does."""
    return _gain(traces, now, traces.sums(traces.weight * traces.ages(now) ** -DEFAULT_DECAY))


POLICIES: dict[str, Prior] = {
    "none": none,
    "recency": recency,
    "exponential": exponential,
    "activation": activation,
}


def _gain(traces: Traces, now: float, total: Floats) -> Floats:
    """`domain.prior.use_factor` − 1, for all items at once."""
    evidence = DEFAULT_IMPORTANCE * total
    fresh = np.exp2(-traces.last(now) / FRESH_HALF_LIFE_DAYS)
    return evidence / (evidence + HALF_EVIDENCE) * (ACTIVATION_PRIOR + FRESHNESS_PRIOR * fresh)


def make_year(seed: int) -> Year:
    """Items and queries of that seed."""
    rng = np.random.default_rng(seed)
    interest = np.exp(_drift(rng))
    centroids = _unit(rng.normal(size=(TOPICS, DIMENSIONS)))
    created = np.sort(rng.uniform(0.0, DAYS, ITEMS))
    topic = np.array([_draw(rng, interest[int(day)]) for day in created])
    spread = rng.normal(size=(ITEMS, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    vectors = _unit(centroids[topic] + WITHIN_TOPIC * spread)
    desirability = rng.gamma(1.0, size=ITEMS)
    half_life = np.exp(rng.uniform(np.log(HALF_LIVES[0]), np.log(HALF_LIVES[1]), ITEMS))
    queries: list[Query] = []
    for day in range(DAYS):
        there = int(np.searchsorted(created, day))
        need = desirability[:there] * np.exp2(-(day - created[:there]) / half_life[:there])
        for _ in range(QUERIES_A_DAY):
            about = np.flatnonzero(topic[:there] == _draw(rng, interest[day]))
            wanted = min(int(rng.integers(1, 4)), len(about))
            if wanted == 0:
                continue
            share = need[about] / need[about].sum()
            needed = rng.choice(about, size=wanted, replace=False, p=share)
            noise = rng.normal(size=DIMENSIONS) / np.sqrt(DIMENSIONS)
            vector = _unit(vectors[needed].mean(axis=0) + NOISE * noise)
            queries.append(Query(day, vector, needed))
    return Year(vectors, created, tuple(queries))


def live(year: Year, prior: Prior, strength: float) -> tuple[float, float]:
    """The mean nDCG@10 and recall@10 of a year's searches after the warm-up."""
    traces = Traces()
    factor, computed = np.ones(ITEMS), -1
    found: list[tuple[float, float]] = []
    for number, query in enumerate(year.queries):
        if query.day != computed:
            # As the daemon does; what is touched within the day waits for the next here.
            factor, computed = 1.0 + strength * prior(traces, float(query.day)), query.day
        there = int(np.searchsorted(year.created, query.day))
        cosine = year.vectors[:there] @ query.vector
        nearest = np.argsort(-cosine, kind="stable")[:CANDIDATES]
        span = cosine[nearest[0]] - cosine[nearest[-1]]
        relevance = (cosine[nearest] - cosine[nearest[-1]]) / (span or 1.0)
        order = np.argsort(-relevance * factor[nearest], kind="stable")
        shown = nearest[order[:SHOWN]]
        hit = np.isin(shown, query.needed)
        if query.day >= WARM_UP_DAYS:
            found.append((ndcg(hit, len(query.needed)), float(hit.sum() / len(query.needed))))
        at = query.day + (number % QUERIES_A_DAY) / QUERIES_A_DAY
        traces.add(shown, at, SURFACED)
        traces.add(shown[hit], at, USED)
    means = np.mean(found, axis=0)
    return float(means[0]), float(means[1])


def ndcg(hit: np.ndarray[tuple[int], np.dtype[np.bool_]], needed: int) -> float:
    """Normalised discounted gain of ranked hits, 0 .. 1, when `needed` could be hit."""
    discount = 1.0 / np.log2(np.arange(len(hit)) + 2.0)
    return float((hit * discount).sum() / discount[: min(needed, len(hit))].sum())


def run(seeds: int, strengths: Sequence[float]) -> None:
    reached: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for seed in range(seeds):
        year = make_year(seed)
        for name, prior in POLICIES.items():
            for strength in strengths if name != "none" else strengths[:1]:
                reached.setdefault((name, strength), []).append(live(year, prior, strength))
        report.note(f"seed {seed}: {len(year.queries)} queries")
    base = np.array(reached["none", strengths[0]])
    rows, policies = [], []
    for (name, strength), values in reached.items():
        figures = np.array(values)
        measured, gain = (
            over_seeds(figures[:, 0].tolist()),
            over_seeds((figures[:, 0] - base[:, 0]).tolist()),
        )
        recall = float(figures[:, 1].mean())
        rows.append([name, strength, _shown(measured), _shown(gain), recall])
        policies.append(
            {
                "policy": name,
                "strength": strength,
                "ndcg_10": [measured.mean, measured.low, measured.high],
                "gain": [gain.mean, gain.low, gain.high],
                "recall_10": recall,
            }
        )
    report.table(["policy", "strength", "nDCG@10", "gain over none", "recall@10"], rows)
    gaps = {}
    for strength in strengths:
        ours, theirs = (np.array(reached[n, strength]) for n in ("activation", "exponential"))
        gap = over_seeds((ours[:, 0] - theirs[:, 0]).tolist())
        report.note(f"activation - exponential, strength {strength}: {_shown(gap)}")
        gaps[str(strength)] = [gap.mean, gap.low, gap.high]
    report.result({"seeds": seeds, "policies": policies, "activation_exponential": gaps})


def _shown(estimate: Estimate) -> str:
    return f"{estimate.mean:.4f} ({estimate.low:.4f}..{estimate.high:.4f})"


def _drift(rng: np.random.Generator) -> Floats:
    """The log of each topic's interest, day by day."""
    step = INTEREST_SPREAD * np.sqrt(1.0 - INTEREST_PERSISTENCE**2)
    drifting = np.zeros((DAYS, TOPICS))
    drifting[0] = rng.normal(0.0, INTEREST_SPREAD, TOPICS)
    for day in range(1, DAYS):
        noise = rng.normal(0.0, step, TOPICS)
        drifting[day] = INTEREST_PERSISTENCE * drifting[day - 1] + noise
    return drifting


def _draw(rng: np.random.Generator, weights: Floats) -> int:
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10, help="how many years (10)")
    parser.add_argument("--strengths", type=float, nargs="+", default=[1.0, 3.0], help="(1 3)")
    given = parser.parse_args()
    run(given.seeds, given.strengths)


if __name__ == "__main__":
    main()
