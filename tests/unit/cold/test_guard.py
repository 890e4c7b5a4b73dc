"""When to try again, when to give up."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.errors import EmbedderUnavailable, MemoryFault
from cold.guard import Backoff, Guard, ItemFault, Park, RetryLater, reason_of

NEVER, ALWAYS = (lambda: 0.0), (lambda: 1.0)


def test_delays_grow_up_to_the_longest() -> None:
    backoff = Backoff(60, 4, 3600, NEVER)
    delays = [backoff.after(times).total_seconds() for times in (1, 2, 3, 4, 5, 10**9)]
    assert delays == [60, 240, 960, 3600, 3600, 3600]


@given(st.integers(-5, 10**6), st.floats(0, 1))
def test_chance_cuts_at_most_half(times: int, chance: float) -> None:
    whole = Backoff(5, 2, 300, NEVER).after(times)
    cut = Backoff(5, 2, 300, lambda: chance).after(times)
    assert whole / 2 <= cut <= whole


def test_a_failure_is_put_off_until_the_attempts_are_used_up() -> None:
    """A7, E6: a bounded number of tries, then a visible reason."""
    guard = Guard(3, ALWAYS)
    error = ItemFault("the text is not to be read")
    assert guard.after_failure(1, error) == RetryLater(str(error), timedelta(seconds=30))
    assert guard.after_failure(2, error) == RetryLater(str(error), timedelta(seconds=120))
    assert guard.after_failure(3, error) == Park(str(error))


def test_a_stage_is_held_from_five_seconds_to_five_minutes() -> None:
    guard = Guard(3, NEVER)
    fault = EmbedderUnavailable("no model")
    held = [guard.hold(times, fault).delay.total_seconds() for times in (1, 2, 7, 50)]
    assert held == [5, 10, 300, 300]
    assert guard.hold(1, fault).reason == "no model"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("what somebody said in private"), "ValueError"),
        (MemoryFault("run the doctor"), "run the doctor"),
        (MemoryFault(""), "MemoryFault"),
        (MemoryFault("x" * 1000), "x" * 300),
    ],
)
def test_a_reason_never_quotes_what_we_did_not_write(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason
