"""Which captured turn an agent's account is of."""

from agents_memory.domain.messages import Trust
from agents_memory.services.told import same_turns
from agents_memory.storage.captures import Twice


def near(
    told_id: int, said_id: int, text: str = "We ship.", *, again: bool = False, **changes: str
) -> Twice:
    told_trust = Trust(changes.get("told_trust", Trust.AGENT))
    trust = Trust(changes.get("trust", Trust.OWNER))
    return Twice(
        told_id, "we ship", told_trust, changes.get("session"), said_id, text, trust, again
    )


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


def test_what_a_session_hands_over_again_is_of_the_same_turn() -> None:
    """F77: once there is no turn that is free; another session's, or an unknown one's, waits."""
    rows = [near(told, said, session="s") for told in (1, 2, 3) for said in (11, 12)]
    assert same_turns(rows) == {1: 11, 2: 12, 3: 11}
    assert same_turns([near(2, 11, again=True), near(2, 12)]) == {2: 12}
    assert same_turns([near(2, 11, again=True)]) == {2: 11}
    assert same_turns([near(1, 11, session="s"), near(2, 11, session="t"), near(3, 11)]) == {1: 11}
    assert same_turns([near(2, 11, "Another.", again=True)]) == {}
