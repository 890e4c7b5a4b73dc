"""Activation: the numbers of a formula that everything else is compared with."""

import math

import pytest

from agents_memory.domain.activation import (
    CREATED,
    DECAY_BY_KIND,
    DEFAULT_DECAY,
    INFERRED,
    MESSAGE,
    MIN_AGE_DAYS,
    SURFACED,
    TRACE_WEIGHTS,
    USED,
    activation,
    affect_factor,
    decay_of,
    trace_sum,
)
from agents_memory.domain.memories import Kind

NAN = math.nan


@pytest.mark.parametrize(
    ("valence", "intensity", "factor"),
    [
        (0.7, 0.3, 1.52),
        (0.9, 0.85, 2.04),
        (-0.5, 0.2, 1.36),
        (-0.6, 0.85, 1.92),
        (0, 0, 1),
        (-1, 1, 2.2),
    ],
)
def test_affect_makes_stronger_whether_good_or_bad(
    valence: float, intensity: float, factor: float
) -> None:
    """F19: tender, excited, withdrawn, alarmed, calm, and the most there is."""
    assert affect_factor(valence, intensity) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("valence", "intensity", "named"),
    [
        (1.01, 0, "from -1 to 1"),
        (-1.01, 0, "from -1 to 1"),
        (0, 1.01, "from 0 to 1"),
        (0, -0.01, "from 0 to 1"),
        (NAN, 0, "from -1 to 1"),
        (0, NAN, "from 0 to 1"),
    ],
)
def test_affect_out_of_range_is_refused_with_the_range(
    valence: float, intensity: float, named: str
) -> None:
    """F18."""
    with pytest.raises(ValueError, match=named):
        affect_factor(valence, intensity)


def test_an_exposure_is_worth_a_tenth_of_a_use() -> None:
    """F21, F106: and a use that was only inferred is worth less than one that was reported."""
    assert TRACE_WEIGHTS[CREATED] == TRACE_WEIGHTS[USED] == 1.0
    assert TRACE_WEIGHTS[SURFACED] == 0.1
    assert TRACE_WEIGHTS[SURFACED] < TRACE_WEIGHTS[INFERRED] < TRACE_WEIGHTS[USED]


def test_traces_decay_by_a_power_of_their_age() -> None:
    """F20."""
    assert trace_sum([4.0, 16.0], [1.0, 0.1], 0.5) == pytest.approx(0.5 + 0.025)
    assert trace_sum([], [], 0.5) == 0.0


@pytest.mark.parametrize("age", [0.0, MIN_AGE_DAYS / 2, -400.0, MIN_AGE_DAYS])
def test_what_is_younger_than_an_hour_or_to_come_counts_as_an_hour_old(age: float) -> None:
    assert trace_sum([age], [1.0], 0.5) == pytest.approx(24**0.5)


def test_promises_hold_until_resolved_and_milestones_for_ever() -> None:
    """F24."""
    for kind in (Kind.PROMISE, Kind.MILESTONE):
        assert trace_sum([5_000.0], [1.0], decay_of(kind)) == 1.0
    assert decay_of(Kind.PROMISE, resolved=True) > 0
    assert decay_of(Kind.MILESTONE, resolved=True) == 0
    assert decay_of("of another version") == DEFAULT_DECAY


def test_every_kind_has_its_exponent() -> None:
    assert set(DECAY_BY_KIND) == {*Kind, MESSAGE}
    assert all(0 <= d <= 1 for d in DECAY_BY_KIND.values())


def test_activation_is_a_product() -> None:
    assert activation(9, 2.2, 0.5) == pytest.approx(9.9)


@pytest.mark.parametrize(
    ("ages", "weights", "d"),
    [
        ([1.0], [], 0.5),
        ([NAN], [1.0], 0.5),
        ([1.0], [-1.0], 0.5),
        ([1.0], [NAN], 0.5),
        ([1.0], [1.0], -1.0),
        ([1.0], [1.0], NAN),
    ],
)
def test_numbers_that_mean_nothing_are_refused(
    ages: list[float], weights: list[float], d: float
) -> None:
    with pytest.raises(ValueError, match=r"finite|weights"):
        trace_sum(ages, weights, d)


@pytest.mark.parametrize("importance", [0, 10.5, NAN])
def test_an_importance_out_of_range_is_refused(importance: float) -> None:
    with pytest.raises(ValueError, match="from 1 to 10"):
        activation(importance, 1.0, 1.0)
