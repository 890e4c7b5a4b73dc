"""F18, F19: affect is two numbers in their ranges and strengthens what it belongs to."""

import math

import pytest

from agents_memory.domain.affect import NEUTRAL, Affect


@pytest.mark.parametrize(
    ("valence", "intensity"), [(1.1, 0.5), (-1.1, 0.5), (0.0, -0.1), (0.0, 1.1), (math.nan, 0.5)]
)
def test_a_number_out_of_its_range_is_refused(valence: float, intensity: float) -> None:
    with pytest.raises(ValueError, match="must be from"):
        Affect(valence, intensity)


def test_strength_runs_from_one_to_two_point_two() -> None:
    assert NEUTRAL.strength == 1.0
    assert Affect(0.9, 0.85).strength == pytest.approx(2.04)
    assert Affect(-1.0, 1.0).strength == pytest.approx(2.2)
    assert Affect(1.0, 1.0).strength == Affect(-1.0, 1.0).strength


def test_estimates_are_clipped_to_the_nearest_legal_affect() -> None:
    assert Affect.clipped(-3.0, 7.0) == Affect(-1.0, 1.0)
    assert Affect.clipped(0.25, -0.2) == Affect(0.25, 0.0)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_an_estimate_that_is_no_number_is_refused(broken: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Affect.clipped(broken, 0.0)
    with pytest.raises(ValueError, match="finite"):
        Affect.clipped(0.0, broken)
