"""Which captured turn an agent's account is of."""

from agents_memory.domain.messages import Trust
from agents_memory.services.told import same_turns
from agents_memory.storage.captures import Twice


def near(told_id: int, said_id: int, text: str = "We ship.", **changes: str) -> Twice:
    told = changes.get("told", "we ship")
    told_trust = Trust(changes.get("told_trust", Trust.AGENT))
    return Twice(told_id, told, told_trust, said_id, text, Trust(changes.get("trust", Trust.OWNER)))


def test_each_account_is_of_the_nearest_turn_that_is_free() -> None:
    """F77: the rows come by the time of the account, and how near the turn is."""
    rows = [near(1, 11), near(1, 12), near(2, 11), near(2, 12), near(3, 11), near(3, 12)]
    assert same_turns(rows) == {1: 11, 2: 12}


def test_words_decide_and_not_how_they_are_set() -> None:
    assert same_turns([near(1, 11, "We ship?"), near(1, 12, "  WE\nSHIP! ")]) == {1: 12}


def test_words_that_are_trusted_more_give_way_to_nothing() -> None:
    """F107."""
    assert same_turns([near(1, 11, told_trust="owner", trust="agent")]) == {}
    assert same_turns([near(1, 11, told_trust="owner", trust="owner")]) == {1: 11}
