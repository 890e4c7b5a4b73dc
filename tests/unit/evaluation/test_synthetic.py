"""Made-up stores: the same for a seed, plausible, and structureless where that was asked for."""

import numpy as np
import pytest

from agents_memory.domain.activation import CREATED, SURFACED, USED
from agents_memory.evaluation import reporting, scores, synthetic
from agents_memory.evaluation.metrics import auc
from agents_memory.evaluation.store import TRACE_KINDS, hold_out


def test_a_seed_makes_the_same_store() -> None:
    one, same, other = (synthetic.generate(seed, items=200, days=90) for seed in (1, 1, 2))
    assert np.array_equal(one.store.trace_at, same.store.trace_at)
    assert np.array_equal(one.need, same.need)
    assert not np.array_equal(one.store.importance, other.store.importance)


def test_shares_are_those_that_are_documented() -> None:
    store = synthetic.generate(0).store
    created = store.trace_at[store.trace_kind == TRACE_KINDS.index(CREATED)]
    used = int((store.trace_kind == TRACE_KINDS.index(USED)).sum())
    shown = int((store.trace_kind == TRACE_KINDS.index(SURFACED)).sum())
    item_days = float((synthetic.DAYS - created).sum())
    expected = synthetic.USES_PER_ITEM_DAY * item_days
    assert used == pytest.approx(synthetic.REPORTED * expected, rel=0.1)
    assert shown == pytest.approx((1 + synthetic.SHOWN_BESIDE) * expected, rel=0.1)
    for kind, share in synthetic.KIND_SHARES.items():
        assert store.kinds.count(kind) / synthetic.ITEMS == pytest.approx(share, abs=0.03)
    assert sum(synthetic.KIND_SHARES.values()) == pytest.approx(1.0)
    assert (store.importance.min(), store.importance.max()) == (1.0, 10.0)


def test_nothing_happens_to_an_item_before_it_was_made() -> None:
    store = synthetic.generate(4, items=300, days=120).store
    created = np.zeros(300)
    first = store.trace_kind == TRACE_KINDS.index(CREATED)
    created[store.trace_item[first]] = store.trace_at[first]
    assert (store.trace_at >= created[store.trace_item]).all()


def test_need_is_told_apart_from_what_is_known() -> None:
    """The oracle is better than activation, which is better than chance."""
    made = synthetic.generate(5)
    known = hold_out(made.store, made.holdout_at, 30.0)
    oracle = auc(made.need[known.number], known.used)
    assert 0.75 < auc(scores.activation(known), known.used) < oracle < 0.95


def test_activation_does_not_pretend_to_help_where_nothing_can() -> None:
    """F27: the mean over ten structureless stores is 0.5 within noise, and so is each rival's."""
    found = [synthetic.generate(seed, structured=False, days=180) for seed in range(100, 110)]
    known = [hold_out(made.store, made.holdout_at, 30.0) for made in found]
    for score in (scores.activation, scores.exponential, scores.frequency, scores.exposure):
        assert np.mean([auc(score(one), one.used) for one in known]) == pytest.approx(0.5, abs=0.02)


def test_a_report_has_every_score_with_an_interval() -> None:
    """F27, F117"""
    told = reporting.report_synthetic(3, items=400, days=150)
    for measured in (told.structured, told.structureless):
        assert {"activation", "exponential", "recency", "frequency", "exposure", "oracle"} <= set(
            measured.auc
        )
        assert all(each.low <= each.mean <= each.high for each in measured.auc.values())
    assert told.structured.auc["activation"].mean > told.structured.auc["exposure"].mean
    gap = told.structured.gaps["activation - exponential"].mean
    means = {name: each.mean for name, each in told.structured.auc.items()}
    assert gap == pytest.approx(means["activation"] - means["exponential"])
    for share, name in (
        (told.of_oracle, "activation"),
        (told.of_oracle_shipped, "activation_shipped"),
    ):
        assert share.mean == pytest.approx(means[name] / means["oracle"], rel=0.01)
