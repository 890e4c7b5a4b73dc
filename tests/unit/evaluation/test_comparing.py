"""Holdouts, tuning, suggestions, and when nothing can be said."""

import numpy as np
import pytest

from agents_memory.domain.memories import Kind
from agents_memory.evaluation import comparing, synthetic
from agents_memory.evaluation.comparing import Window
from agents_memory.evaluation.metrics import auc
from agents_memory.evaluation.store import Store, hold_out
from tests.unit.evaluation.stores import store


def test_a_holdout_knows_nothing_of_what_comes_after_it() -> None:
    """F27: traces before are evidence, a reported use from then on is the answer."""
    made = store(
        [
            (0, "created", 1.0),
            (0, "used", 12.0),
            (1, "created", 2.0),
            (1, "inferred", 12.0),
            (2, "created", 3.0),
            (2, "used", 20.0),
            (3, "created", 11.0),
            (3, "used", 12.0),
        ],
        kinds=[Kind.FACT] * 4,
    )
    known = hold_out(made, 10.0, 10.0)
    assert known.number.tolist() == [0, 1, 2]
    assert known.age.tolist() == [9.0, 8.0, 7.0]
    # Inferred is no answer, and day 20 is past the horizon.
    assert known.used.tolist() == [True, False, False]


def test_a_promise_decays_only_once_it_was_resolved() -> None:
    """F24: as of the holdout, not as of today."""
    made = store(
        [(0, "created", 0.0), (1, "created", 0.0), (2, "created", 0.0)],
        kinds=[Kind.PROMISE] * 3,
        resolved_at=[5.0, 15.0, float("nan")],
    )
    assert hold_out(made, 10.0, 5.0).decay.tolist() == [0.5, 0.0, 0.0]


def _daily(items: int, days: int, used: int) -> Store:
    """Items from day 0, the first `used` of them used every day."""
    traces = [(item, "created", item / items) for item in range(items)]
    traces += [(item, "used", day + 0.5) for day in range(1, days) for item in range(used)]
    return store(traces, kinds=[Kind.FACT] * items)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (store([]), "no traces"),
        (_daily(200, 20, 30), "3 horizons"),
        (_daily(99, 30, 30), "99 items"),
        (_daily(200, 30, 19), "19 items reported"),
        (_daily(200, 30, 181), "19 items not used"),
    ],
)
def test_too_little_data_is_said_with_what_is_missing(made: Store, why: str) -> None:
    """F27: below the documented minimum there is no number."""
    said = comparing.too_little(made, comparing.window(made, 7.0), 7.0)
    assert said is not None
    assert why in said


def test_enough_data_is_enough() -> None:
    made = _daily(100, 22, 20)
    seen = comparing.window(made, 7.0)
    assert seen is not None
    assert seen.holdout_at == pytest.approx(14.5)
    assert comparing.too_little(made, seen, 7.0) is None


def test_rivals_are_tuned_on_the_training_holdout() -> None:
    """What was used once long ago is used again: the longest half-life does best."""
    rng = np.random.default_rng(0)
    traces = [(item, "created", 0.0) for item in range(200)]
    for item in range(100):
        traces += [(item, "used", float(rng.uniform(1, 20))), (item, "used", 60.0 + item / 100)]
        traces += [(item + 100, "surfaced", float(rng.uniform(49, 50))) for _ in range(5)]
    training = hold_out(store(traces, kinds=[Kind.FACT] * 200), 50.0, 20.0)
    named = comparing.tuned(training)
    assert auc(named["exponential"](training), training.used) == 1.0
    assert auc(named["recency"](training), training.used) == 1.0
    assert auc(named["frequency"](training), training.used) == 1.0


def test_a_suggestion_is_judged_where_it_was_not_chosen() -> None:
    """A store whose exposures lead astray suggests to heed them less, and shows the gain."""
    made = synthetic.generate(3, items=800, days=240)
    seen = Window(0.0, made.holdout_at, 240.0)
    told = comparing.suggest(made.store, seen, 30.0, seed=0)
    assert told.folds == comparing.FOLDS
    assert told.surfaced <= 0.1
    assert told.gain.low <= told.gain.mean <= told.gain.high
    assert told.holds == (told.gain.low > 0.0)


def test_without_an_earlier_horizon_nothing_else_is_suggested() -> None:
    made = _daily(100, 22, 20)
    told = comparing.suggest(made, Window(14.0, 14.5, 21.5), 7.0, seed=0)
    assert (told.folds, told.decay, told.surfaced) == (0, 0.5, 0.1)
    assert np.isnan(told.gain_left_out)
    assert told.gain.mean == 0.0
    assert not told.holds


def test_every_part_is_compared_with_the_whole() -> None:
    """F117: mood only where it is known."""
    made = synthetic.generate(1, items=300, days=120)
    parts = comparing.parts(hold_out(made.store, made.holdout_at, 30.0))
    assert list(parts) == [
        "decay",
        "use",
        "affect",
        "importance",
        "exposure",
        "inferred_use",
        "mood",
    ]
    assert all(not np.array_equal(whole, less) for whole, less in parts.values())
    unmoved = hold_out(_daily(100, 22, 20), 14.5, 7.0)
    assert "mood" not in comparing.parts(unmoved)
