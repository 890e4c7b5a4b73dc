"""The clocks and figures of the benchmarks."""

import math
import os
import time

import pytest

from bench.measure import Stopwatch, cpu_seconds, percentile, ratio, resident_mb


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 1.0), (0.5, 2.0), (0.75, 3.0), (0.76, 4.0), (0.95, 4.0), (1, 4.0)]
)
def test_a_percentile_is_the_smallest_value_that_enough_do_not_exceed(
    share: float, expected: float
) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], share) == expected


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1.0], -0.1), ([1.0], 1.1)])
def test_no_percentile_is_made_up(values: list[float], share: float) -> None:
    with pytest.raises(ValueError, match="percentile"):
        percentile(values, share)


def test_a_ratio_has_two_digits_and_survives_nothing() -> None:
    assert ratio(1, 3) == 0.33
    assert ratio(1, 0) == math.inf


def test_a_stopwatch_takes_each_block_by_itself() -> None:
    watch = Stopwatch()
    for _ in range(3):
        with watch:
            sum(range(1000))
    assert len(watch.wall) == len(watch.cpu) == 3
    assert all(seconds > 0 for seconds in watch.wall)
    assert set(watch.milliseconds()) == {"p50_ms", "p95_ms", "cpu_ms"}


def test_another_process_has_the_clock_it_sees_itself() -> None:
    before = time.process_time()
    outside = cpu_seconds([os.getpid()])
    assert before <= outside <= time.process_time()


def test_a_process_that_has_ended_counts_as_nothing() -> None:
    pid = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(pid, 0)
    assert cpu_seconds([pid]) == 0.0


def test_memory_is_told_in_megabytes() -> None:
    assert 5 < resident_mb(os.getpid()) < 5_000
