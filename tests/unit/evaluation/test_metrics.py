"""AUC, recall and intervals, against values worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.evaluation.metrics import auc, interval, over_items, over_seeds, recall_at
from agents_memory.evaluation.store import Flags, Floats


def _scores(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def _used(*values: int) -> Flags:
    return np.array(values, dtype=np.bool_)


def test_auc_is_the_share_of_pairs_in_the_right_order() -> None:
    """F27: used 3 and 1 against unused 2 and 0: three of four pairs are right."""
    assert auc(_scores(3, 2, 1, 0), _used(1, 0, 1, 0)) == 0.75


def test_ties_count_half() -> None:
    """Used 2 and 1 against unused 2 and 0: half + 1 + 0 + 1 of four."""
    assert auc(_scores(2, 2, 1, 0), _used(1, 0, 1, 0)) == 0.625
    assert auc(_scores(7, 7, 7), _used(1, 0, 0)) == 0.5


def test_auc_says_nothing_when_all_or_none_were_used() -> None:
    assert math.isnan(auc(_scores(1, 2), _used(1, 1)))
    assert math.isnan(auc(_scores(1, 2), _used(0, 0)))
    assert math.isnan(auc(_scores(), _used()))


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        auc(_scores(1, math.nan), _used(1, 0))
    with pytest.raises(ValueError, match="one for each"):
        auc(_scores(1), _used(1, 0))


_CASES = st.lists(st.tuples(st.integers(-50, 50), st.booleans()), min_size=2, max_size=40).filter(
    lambda case: len({used for _, used in case}) == 2
)


@given(_CASES)
def test_auc_is_that_of_all_pairs_compared(case: list[tuple[int, bool]]) -> None:
    used = [score for score, flag in case if flag]
    unused = [score for score, flag in case if not flag]
    pairs = [(a > b) + 0.5 * (a == b) for a in used for b in unused]
    scores, flags = (np.array(column) for column in zip(*case, strict=True))
    assert auc(scores.astype(np.float64), flags) == pytest.approx(sum(pairs) / len(pairs))


@given(_CASES)
def test_only_the_order_of_scores_counts(case: list[tuple[int, bool]]) -> None:
    """Any rising function leaves the AUC, negation turns it round, and so does who was used."""
    scores = np.array([score for score, _ in case], dtype=np.float64)
    used = np.array([flag for _, flag in case])
    found = auc(scores, used)
    assert auc(np.exp(scores / 10.0), used) == pytest.approx(found)
    assert auc(-scores, used) == pytest.approx(1.0 - found)
    assert auc(scores, ~used) == pytest.approx(1.0 - found)
    order = np.random.default_rng(len(case)).permutation(len(case))
    assert auc(scores[order], used[order]) == pytest.approx(found)


def test_recall_is_the_share_of_used_items_among_the_first() -> None:
    used = _used(1, 0, 1, 1)
    assert recall_at(_scores(4, 3, 2, 1), used, 1) == pytest.approx(1 / 3)
    assert recall_at(_scores(4, 3, 2, 1), used, 3) == pytest.approx(2 / 3)
    assert recall_at(_scores(4, 3, 2, 1), used, 9) == 1.0
    assert recall_at(_scores(4, 3, 2, 1), used, 0) == 0.0
    assert math.isnan(recall_at(_scores(1, 2), _used(0, 0), 1))


def test_recall_expects_what_equal_scores_would_give_in_any_order() -> None:
    """One place is left for two equal items of which one was used."""
    assert recall_at(_scores(2, 1, 1, 0), _used(0, 1, 0, 0), 2) == 0.5


def test_a_resample_is_the_auc_of_items_repeated() -> None:
    """The same draw for every score, so that equal scores have no gap."""
    rng = np.random.default_rng(1)
    scores, used = rng.normal(size=200), rng.uniform(size=200) < 0.3
    drawn = over_items({"one": scores, "same": scores.copy()}, used, seed=5, resamples=50)
    assert np.array_equal(drawn["one"], drawn["same"])
    chosen = np.random.default_rng(5).integers(200, size=200)
    assert drawn["one"][0] == pytest.approx(auc(scores[chosen], used[chosen]))


def test_an_interval_over_items_holds_what_is_measured() -> None:
    rng = np.random.default_rng(2)
    used = rng.uniform(size=400) < 0.4
    scores = rng.normal(size=400) + used
    found = interval(auc(scores, used), over_items({"s": scores}, used, seed=0)["s"])
    assert found.low < found.mean < found.high
    assert 0.05 < found.high - found.low < 0.15


def test_an_interval_over_stores_is_about_that_of_student() -> None:
    """Mean 3, standard error 0.5, t with 9 degrees 2.262: 1.87 .. 4.13."""
    values = [3.0 + 1.5 * sign for sign in (1, -1) for _ in range(5)]
    found = over_seeds(values)
    assert found.mean == 3.0
    assert found.high - 3.0 == pytest.approx(2.262 * 0.5, rel=0.1)
    assert 3.0 - found.low == pytest.approx(2.262 * 0.5, rel=0.1)


def test_two_stores_tell_no_interval() -> None:
    with pytest.raises(ValueError, match="three"):
        over_seeds([0.5, 0.6])
