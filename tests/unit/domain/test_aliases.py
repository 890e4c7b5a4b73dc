"""Which tag may stand for which other (F67)."""

from agents_memory.domain.aliases import MAX_DEPTH, Problem, alias_problem


def test_a_tag_may_stand_for_another_and_for_an_alias() -> None:
    """F67"""
    assert alias_problem({}, 1, 2) is None
    assert alias_problem({2: 3}, 1, 2) is None
    assert alias_problem({1: 2}, 1, 3) is None


def test_itself_and_circles_are_refused() -> None:
    """F67"""
    assert alias_problem({}, 1, 1) is Problem.SELF
    assert alias_problem({2: 1}, 1, 2) is Problem.CYCLE
    assert alias_problem({2: 3, 3: 4, 4: 1}, 1, 2) is Problem.CYCLE


def test_a_circle_that_is_there_already_ends_the_walk() -> None:
    assert alias_problem({2: 3, 3: 2}, 1, 2) is None


def test_no_chain_grows_longer_than_it_is_followed() -> None:
    chain = {number: number + 1 for number in range(1, MAX_DEPTH)}
    assert alias_problem(chain, 99, 1) is Problem.TOO_DEEP
    assert alias_problem(chain, MAX_DEPTH, 99) is Problem.TOO_DEEP
    assert alias_problem(chain, 99, 2) is None
    assert alias_problem(chain | {50: 51, 51: 52}, 52, 2) is Problem.TOO_DEEP
