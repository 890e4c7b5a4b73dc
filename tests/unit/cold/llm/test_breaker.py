"""A provider that fails is left alone, longer each time, and then tried by one call."""

from datetime import timedelta

from cold.guard import Backoff
from cold.llm.breaker import Breaker, Held
from tests.fakes import ManualClock

HOLDS = Backoff(30, 2, 100, chance=lambda: 0.0)


def breaker() -> tuple[Breaker, ManualClock]:
    clock = ManualClock()
    return Breaker(clock, HOLDS, patience=3), clock


def fail(held: Breaker, times: int = 1) -> None:
    for _ in range(times):
        assert held.enter() is None
        held.failed()


def seconds(held: Breaker, clock: ManualClock) -> float | None:
    """How long until the next call may try; None when it may now (which it then does)."""
    result = held.enter()
    return None if result is None else (result.until - clock.now()).total_seconds()


def test_chance_is_forgiven_and_a_row_is_not() -> None:
    held, clock = breaker()
    fail(held, 2)
    assert held.enter() is None
    held.succeeded()
    fail(held, 3)
    assert seconds(held, clock) == 30


def test_each_hold_is_longer_until_the_longest() -> None:
    held, clock = breaker()
    fail(held, 3)
    pauses = []
    for _ in range(4):
        pause = seconds(held, clock)
        assert pause is not None
        pauses.append(pause)
        clock.advance(pause)
        fail(held)
    assert pauses == [30, 60, 100, 100]


def test_one_call_at_a_time_tries_whether_it_is_back() -> None:
    held, clock = breaker()
    fail(held, 3)
    clock.advance(30)
    assert held.enter() is None
    assert isinstance(held.enter(), Held)
    held.succeeded()
    assert held.enter() is None
    assert held.enter() is None


def test_a_try_that_was_broken_off_leaves_the_next_one_to_try() -> None:
    held, clock = breaker()
    fail(held, 3)
    clock.advance(30)
    assert held.enter() is None
    held.left()
    assert held.enter() is None


def test_after_an_answer_the_next_hold_is_short_again() -> None:
    held, clock = breaker()
    fail(held, 3)
    clock.advance(30)
    fail(held)
    clock.advance(60)
    assert held.enter() is None
    held.succeeded()
    fail(held, 3)
    assert seconds(held, clock) == 30


def test_a_provider_that_says_when_to_come_back_is_held_until_then() -> None:
    held, clock = breaker()
    assert held.enter() is None
    held.failed(timedelta(seconds=500))
    assert seconds(held, clock) == 500


def test_calls_that_fail_at_the_same_time_make_one_hold() -> None:
    held, clock = breaker()
    for _ in range(6):
        assert held.enter() is None
    for _ in range(6):
        held.failed()
    assert seconds(held, clock) == 30
    held.failed(timedelta(seconds=500))
    assert seconds(held, clock) == 500
    clock.advance(500)
    fail(held)
    assert seconds(held, clock) == 60


def test_a_corrected_wall_clock_ends_no_hold_and_makes_none_longer() -> None:
    held, clock = breaker()
    fail(held, 3)
    clock.set(clock.now() + timedelta(days=1))
    assert seconds(held, clock) == 30
    clock.set(clock.now() - timedelta(days=2))
    clock.advance(30)
    assert held.enter() is None
