"""How a session is cut and judged before it is summed up."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.messages import Role, Trust
from agents_memory.domain.sittings import (
    IDLE,
    LEAST_BYTES,
    PART_BYTES,
    WRITTEN_WITHIN,
    Line,
    Note,
    Part,
    is_written,
    parts,
    sittings,
    tells,
)

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
USER, ASSISTANT = Role.USER, Role.ASSISTANT


def lines(*said: tuple[Role, int], project: int | None = 1, private: bool = False) -> list[Line]:
    """Messages of some speakers and lengths, a minute apart."""
    return [
        Line(number, role, project, private, Trust.OWNER, NOON + number * MINUTE, size)
        for number, (role, size) in enumerate(said)
    ]


def cut(sitting: Sequence[Line], *, most_bytes: int = 14_000, most_lines: int = 40) -> list[Part]:
    return parts(sitting, most_bytes=most_bytes, most_lines=most_lines)


def ids(found: Sequence[Part]) -> list[list[int]]:
    return [[line.id for line in part.lines] for part in found]


def test_a_session_is_cut_where_it_rested() -> None:
    """F79."""
    first, second, third = lines((USER, 10), (ASSISTANT, 10), (USER, 10))
    later = Line(9, USER, 1, False, Trust.OWNER, third.said_at + IDLE, 10)
    assert sittings([first, second, third, later]) == [[first, second, third], [later]]
    assert sittings([]) == []


def test_what_is_short_or_one_sided_needs_no_summary() -> None:
    long = LEAST_BYTES
    assert tells(lines((USER, long), (ASSISTANT, 1), (ASSISTANT, 1)))
    assert not tells(lines((USER, long), (ASSISTANT, long)))
    assert not tells(lines((USER, 10), (ASSISTANT, 10), (USER, 10)))
    assert not tells(lines((ASSISTANT, long), (ASSISTANT, long), (ASSISTANT, long)))


def test_a_memory_that_rests_on_it_or_was_made_meanwhile_counts_as_written() -> None:
    """F79: nobody wrote it down, neither by evidence nor in its time."""
    sitting = lines((USER, 10), (ASSISTANT, 10))
    end = sitting[-1].said_at
    assert is_written(sitting, {1}, [])
    assert is_written(sitting, (), [Note(end + WRITTEN_WITHIN, 1)])
    assert is_written(sitting, (), [Note(end, None)])
    assert not is_written(sitting, {7}, [])
    assert not is_written(sitting, (), [Note(end + WRITTEN_WITHIN + MINUTE, 1)])
    assert not is_written(sitting, (), [Note(NOON - MINUTE, 1)])
    assert not is_written(sitting, (), [Note(end, 2)])


def test_a_sitting_of_no_project_is_written_by_any_memory_of_its_time() -> None:
    sitting = lines((USER, 10), (ASSISTANT, 10), project=None)
    assert is_written(sitting, (), [Note(NOON, 2)])


def test_turns_stay_whole_and_parts_are_bounded() -> None:
    half = PART_BYTES // 2
    sitting = lines((USER, half), (ASSISTANT, half), (USER, half), (ASSISTANT, half + 1))
    assert ids(cut(sitting)) == [[0, 1], [2, 3]]
    small = lines(*[(USER, 10), (ASSISTANT, 10)] * 30)
    assert [len(part.lines) for part in cut(small)] == [40, 20]


def test_a_turn_that_is_too_much_is_cut_between_messages() -> None:
    sitting = lines((USER, 10), *[(ASSISTANT, PART_BYTES - 10)] * 3)
    assert ids(cut(sitting, most_bytes=PART_BYTES)) == [[0, 1], [2], [3]]
    assert ids(cut(lines((USER, 10**9)))) == [[0]]


def test_a_short_rest_joins_what_comes_before_it() -> None:
    sitting = lines((USER, PART_BYTES), (USER, LEAST_BYTES - 1))
    assert ids(cut(sitting)) == [[0, 1]]


def test_another_project_begins_another_part_and_none_belongs_to_that_before() -> None:
    number = count()
    sitting = [
        Line(next(number), USER, project, False, Trust.OWNER, NOON, 600)
        for project in (None, 1, None, 2, 1)
    ]
    found = cut(sitting)
    assert ids(found) == [[0], [1, 2], [3], [4]]
    assert [part.p_tag for part in found] == [None, 1, 2, 1]


def test_private_turns_stand_apart() -> None:
    number = count()
    sitting = [
        Line(next(number), USER, 1, private, Trust.OWNER, NOON, 600)
        for private in (False, True, False)
    ]
    found = cut(sitting)
    assert ids(found) == [[0, 2], [1]]
    assert [part.private for part in found] == [False, True]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([USER, ASSISTANT]),
            st.integers(0, 20_000),
            st.sampled_from([None, 1, 2]),
            st.booleans(),
        ),
        max_size=60,
    )
)
def test_every_message_is_in_one_part_and_its_project_is_that_of_one(
    said: list[tuple[Role, int, int | None, bool]],
) -> None:
    sitting = [
        Line(number, role, project, private, Trust.OWNER, NOON, size)
        for number, (role, size, project, private) in enumerate(said)
    ]
    found = cut(sitting)
    assert sorted(line.id for part in found for line in part.lines) == list(range(len(said)))
    for part in found:
        assert 0 < len(part.lines) <= 40
        assert part.p_tag in {line.p_tag for line in part.lines}
        assert {line.private for line in part.lines} == {part.private}
