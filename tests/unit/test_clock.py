"""Injected time."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agents_memory.clock import Clock, SystemClock
from tests.fakes import ManualClock

START = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize("clock", [SystemClock(), ManualClock(START)])
def test_now_is_aware_and_in_utc(clock: Clock) -> None:
    assert clock.now().tzinfo is UTC


def test_the_system_clock_moves_forward() -> None:
    clock = SystemClock()
    wall, steady = clock.now(), clock.monotonic()
    assert clock.now() >= wall
    assert clock.monotonic() >= steady


def test_a_manual_clock_stands_still_until_advanced() -> None:
    clock = ManualClock(START)
    assert (clock.now(), clock.monotonic()) == (START, 0.0)
    clock.advance(90.5)
    assert (clock.now(), clock.monotonic()) == (START + timedelta(seconds=90.5), 90.5)


def test_correcting_the_wall_clock_leaves_the_steady_one_alone() -> None:
    clock = ManualClock(START)
    clock.set(datetime(2026, 3, 28, 23, 30, tzinfo=timezone(timedelta(hours=-2))))
    assert clock.now() == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert clock.monotonic() == 0.0


def test_a_manual_clock_refuses_to_run_backwards() -> None:
    with pytest.raises(ValueError, match="set"):
        ManualClock(START).advance(-1)
