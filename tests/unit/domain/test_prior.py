"""The prior: neutral without evidence, and never more than its bounds."""

import math

import pytest

from agents_memory.domain.prior import (
    ACTIVATION_PRIOR,
    FRESHNESS_PRIOR,
    HALF_EVIDENCE,
    MOOD_PRIOR,
    mood_factor,
    use_factor,
)


@pytest.mark.parametrize("age", [-5.0, 0.0, 1.0, 5_000.0])
def test_without_evidence_nothing_changes(age: float) -> None:
    assert use_factor(0.0, age) == 1.0


def test_more_use_and_fresher_use_count_more_within_bounds() -> None:
    often, seldom = use_factor(1e9, 0.0), use_factor(HALF_EVIDENCE, 0.0)
    assert often == pytest.approx(1 + ACTIVATION_PRIOR + FRESHNESS_PRIOR)
    assert 1.0 < use_factor(HALF_EVIDENCE, 300.0) < seldom < often
    assert use_factor(HALF_EVIDENCE, -3.0) == seldom
    assert math.isfinite(use_factor(1e30, 1e9))


def test_a_mood_leans_towards_what_felt_alike() -> None:
    """F28."""
    low = -0.6
    assert mood_factor(low, low) == 1 + MOOD_PRIOR
    assert mood_factor(low, -0.5) > mood_factor(low, 0.0) > mood_factor(low, 0.9)
    assert mood_factor(low, None) == 1.0
    assert mood_factor(-1.0, 1.0) == pytest.approx(1 - MOOD_PRIOR)
