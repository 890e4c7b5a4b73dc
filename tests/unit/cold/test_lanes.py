"""As many side by side as is wanted, and fewer after something took too long."""

import pytest

from cold.lanes import Lanes


@pytest.mark.parametrize(
    ("too_slow", "opened"),
    [
        ([True, True, True], [2, 1, 1]),
        ([True, False, False, False, False, False], [2, 2, 3, 3, 3, 4]),
        ([True, True, False, False, True, False], [2, 1, 2, 2, 1, 2]),
        ([False] * 5, [4] * 5),
    ],
)
def test_half_as_many_after_one_that_took_too_long_and_more_once_each_lane_had_an_answer(
    too_slow: list[bool], opened: list[int]
) -> None:
    lanes, found = Lanes(4), []
    for slow in too_slow:
        lanes.note(too_slow=slow)
        found.append(lanes.open)
    assert found == opened
