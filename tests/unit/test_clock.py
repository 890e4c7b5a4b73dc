"""Injected time."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agents_memory.clock import Clock, DatabaseClock, SystemClock
from tests.fakes import ManualClock

START = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize("clock", [SystemClock(), ManualClock(START), DatabaseClock(SystemClock())])
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


def test_the_database_says_what_time_it_is_and_the_machine_how_much_passed() -> None:
    machine = ManualClock(START + timedelta(days=365))
    clock = DatabaseClock(machine)
    assert clock.now() == machine.now()
    machine.advance(10)
    clock.set(START.astimezone(timezone(timedelta(hours=-2))))
    assert (clock.now(), clock.now().tzinfo) == (START, UTC)
    machine.advance(90.5)
    assert clock.now() == START + timedelta(seconds=90.5)
    assert clock.monotonic() == machine.monotonic()


def test_a_machine_that_is_set_right_or_wrong_moves_the_clock_of_the_database_nowhere() -> None:
    machine = ManualClock(START)
    clock = DatabaseClock(machine)
    clock.set(START)
    machine.set(START - timedelta(days=3))
    assert clock.now() == START
    clock.set(START + timedelta(hours=8))
    assert clock.now() == START + timedelta(hours=8)
