"""Scores, against the domain's own formula and values worked out by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain import activation as domain
from agents_memory.domain.memories import Kind
from agents_memory.evaluation import scores
from agents_memory.evaluation.scores import SHIPPED, Constants
from agents_memory.evaluation.store import TRACE_KINDS, Holdout, hold_out
from tests.unit.evaluation.stores import store

KINDS = [*Kind, domain.MESSAGE]


@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=5),
    traces=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(TRACE_KINDS), st.floats(0.0, 99.999)),
        min_size=1,
        max_size=20,
    ),
    importance=st.integers(1, 10),
    affect=st.tuples(st.floats(-1, 1), st.floats(0, 1)),
)
def test_activation_is_that_of_the_domain(
    kinds: list[str],
    traces: list[tuple[int, str, float]],
    importance: int,
    affect: tuple[float, float],
) -> None:
    """F20, F27: what is evaluated is what is computed, of any kinds, traces and affects."""
    n = len(kinds)
    kept = [(item % n, kind, at) for item, kind, at in traces]
    made = store(
        kept,
        kinds=kinds,
        importance=[importance] * n,
        valence=[affect[0]] * n,
        intensity=[affect[1]] * n,
    )
    known = hold_out(made, 100.0, 10.0)
    found = scores.activation(known)
    for row, number in enumerate(known.number):
        own = [(kind, 100.0 - at) for item, kind, at in kept if item == number]
        total = domain.trace_sum(
            [age for _, age in own],
            [domain.TRACE_WEIGHTS[kind] for kind, _ in own],
            domain.decay_of(kinds[number]),
        )
        expected = domain.activation(importance, domain.affect_factor(*affect), total)
        assert found[row] == pytest.approx(expected)


def _known(**given: Any) -> Holdout:
    """Two facts on day 100: one made on day 0 and used on day 96, one made on day 99."""
    traces = [(0, "created", 0.0), (0, "used", 96.0), (0, "surfaced", 99.0), (1, "created", 99.0)]
    return hold_out(store(traces, kinds=(Kind.FACT, Kind.FACT), **given), 100.0, 10.0)


def test_scores_by_hand() -> None:
    known = _known(importance=[2.0, 4.0])
    assert scores.activation(known).tolist() == pytest.approx([2 * (0.1 + 0.5 + 0.1), 4.0])
    assert scores.recency(known).tolist() == pytest.approx([-4.0, -1.0])
    assert scores.recency(known, exposure=True).tolist() == pytest.approx([-1.0, -1.0])
    assert scores.frequency(known).tolist() == pytest.approx([2.1, 1.0])
    assert scores.exposure(known).tolist() == pytest.approx([1.0, 0.0])
    half = 2.0 ** (-1 / 30)
    assert scores.last_touch(known).tolist() == pytest.approx([2 * half, 4 * half])
    power = [2 * (2.0**-25 + 0.5 + 0.1 * 2.0**-0.25), 4 * 2.0**-0.25]
    assert scores.exponential(known, 4.0).tolist() == pytest.approx(power)


def test_what_is_never_forgotten_does_not_decay_exponentially_either() -> None:
    """F24: the rival has all but the shape of forgetting."""
    traces = [(0, "created", 0.0), (1, "created", 0.0)]
    known = hold_out(store(traces, kinds=(Kind.MILESTONE, Kind.FACT)), 90.0, 1.0)
    assert scores.exponential(known, 30.0).tolist() == pytest.approx([1.0, 0.125])


def test_d_and_weights_can_be_tuned() -> None:
    known = _known()
    flat = Constants(decay=0.0).weighing(surfaced=0.0)
    assert scores.activation(known, flat).tolist() == pytest.approx([2.0, 1.0])
    steep = Constants(decay=1.0).weighing(surfaced=0.0)
    assert scores.activation(known, steep).tolist() == pytest.approx([0.01 + 0.25, 1.0])
    assert SHIPPED.weights == domain.TRACE_WEIGHTS


def test_parts_can_be_taken_away() -> None:
    """F117"""
    known = _known(importance=[2.0, 4.0], valence=[-0.5, 0.0], intensity=[1.0, 0.0])
    assert known.affect.tolist() == pytest.approx([2.0, 1.0])
    assert scores.without_affect(known).tolist() == pytest.approx([1.4, 4.0])
    assert scores.without_importance(known).tolist() == pytest.approx([1.4, 1.0])


def test_mood_lifts_what_felt_alike_where_it_is_known() -> None:
    """F28: two messages, the intense one counting three times: mood 0.5."""
    moods = [(99.6, 0.8, 0.6), (99.9, -0.4, 0.2), (90.0, -1.0, 1.0)]
    known = _known(valence=[0.5, -0.5], moods=moods)
    assert known.mood == pytest.approx(0.5)
    lifted = scores.with_mood(known) / scores.activation(known)
    assert lifted.tolist() == pytest.approx([1.5, 1.0])
    unmoved = _known(valence=[0.5, -0.5])
    assert unmoved.mood is None
    assert np.array_equal(scores.with_mood(unmoved), scores.activation(unmoved))
