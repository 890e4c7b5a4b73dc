"""Work side by side: as much at a time as is wanted, and less after something took too long."""

import asyncio

import pytest

from cold.lanes import Lanes


async def test_as_many_at_a_time_as_there_are_lanes_and_results_in_order() -> None:
    now, most = 0, 0

    async def work(item: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(10 - item):
            await asyncio.sleep(0)
        now -= 1
        return item * item

    assert await Lanes(3).each(work, range(10)) == [n * n for n in range(10)]
    assert most == 3
    assert await Lanes(3).each(work, []) == []


async def test_the_first_exception_is_raised_and_ends_the_others() -> None:
    running: set[int] = set()

    async def work(item: int) -> None:
        if item == 1:
            raise ValueError(item)
        running.add(item)
        try:
            await asyncio.Event().wait()
        finally:
            running.remove(item)

    with pytest.raises(ValueError, match="1"):
        await Lanes(2).each(work, range(4))
    assert running == set()


def test_fewer_after_one_that_took_too_long_and_slowly_more_again() -> None:
    lanes = Lanes(4)
    opened = []
    for too_slow in (True, True, True, False, False, False, False):
        lanes.note(too_slow=too_slow)
        opened.append(lanes.open)
    assert opened == [2, 1, 1, 2, 3, 4, 4]
