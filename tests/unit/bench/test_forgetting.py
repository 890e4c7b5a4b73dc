"""The simulated searches: gains as recall gives them, and their measure."""

import numpy as np
import pytest

from agents_memory.domain.activation import SURFACED, USED, activation, trace_sum
from agents_memory.domain.prior import use_factor
from bench.forgetting import POLICIES, Traces, ndcg, recency


def _traces() -> Traces:
    traces = Traces()
    traces.add(np.array([0, 1]), 10.0, SURFACED)
    traces.add(np.array([0]), 10.0, USED)
    traces.add(np.array([1]), 19.0, SURFACED)
    return traces


def test_the_gain_of_activation_is_that_of_recall() -> None:
    gain = POLICIES["activation"](_traces(), 20.0)
    used = activation(5, 1.0, trace_sum([10.0, 10.0], [0.1, 1.0], 0.5))
    shown = activation(5, 1.0, trace_sum([10.0, 1.0], [0.1, 0.1], 0.5))
    expected = [use_factor(used, 10.0) - 1, use_factor(shown, 1.0) - 1, 0.0]
    assert gain[:3].tolist() == pytest.approx(expected)


def test_what_was_never_shown_gains_nothing() -> None:
    for prior in POLICIES.values():
        assert prior(Traces(), 5.0).max() == 0.0
    assert recency(_traces(), 20.0)[:3].tolist() == pytest.approx(
        [0.2 * 2 ** (-1 / 3), 0.2 * 2 ** (-1 / 30), 0.0]
    )


def test_ndcg_by_hand() -> None:
    """One of two needed items on the second place: (1/log2 3) over (1 + 1/log2 3)."""
    hit = np.array([False, True, False])
    assert ndcg(hit, 2) == pytest.approx(0.63093 / 1.63093, abs=1e-5)
    assert ndcg(np.array([True, True, False]), 2) == 1.0
    assert ndcg(np.zeros(3, dtype=np.bool_), 1) == 0.0
