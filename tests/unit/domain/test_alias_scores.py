"""How likely two tags are one project (F68)."""

import pytest

from agents_memory.domain.alias_scores import (
    AUTO_CONFIDENCE,
    PENDING_CONFIDENCE,
    Pair,
    Sign,
    Tag,
    compare,
)

TOPICS = frozenset({"tides", "cranes", "berths", "pilots"})


def tag(name: str, messages: int = 100, topics: frozenset[str] = frozenset()) -> Tag:
    return Tag(len(name), name, messages, topics=topics)


def signs(pair: Pair) -> set[Sign]:
    return set(pair.signs)


def test_each_sign_has_the_points_of_the_reference() -> None:
    """F68"""
    points = {Sign.STATED: 100, Sign.MEANING: 30, Sign.TOPICS: 18, Sign.SPELLING: 16, Sign.RARE: 8}
    for sign, score in points.items():
        assert Pair(tag("a"), tag("bb"), {sign: 1.0}).score == score


@pytest.mark.parametrize(
    ("names", "messages", "there"),
    [
        (("harbor", "harbour"), 100, True),
        (("harbor", "heron"), 100, False),
        (("patina", "outbox"), 100, False),
        (("memory", "mori"), 100, True),
    ],
)
def test_names_that_look_alike_are_a_sign(
    names: tuple[str, str], messages: int, there: bool
) -> None:
    one, other = (tag(name, messages) for name in names)
    assert (Sign.SPELLING in compare(one, other, distance=None).signs) is there
    assert compare(one, other, distance=None).signs == compare(other, one, distance=None).signs


def test_rare_tags_need_less_and_rarity_alone_is_nothing() -> None:
    """F68: 0.45 and 0.18 where one has few messages."""
    some, few = tag("abcdxx"), tag("abyyzz", 3)
    assert signs(compare(few, some, distance=None)) == set()
    close = tag("abcyyy", 3)
    assert signs(compare(close, some, distance=None)) == {Sign.SPELLING, Sign.RARE}
    assert signs(compare(tag("abcyyy"), some, distance=None)) == set()


def test_shared_topics_count_from_a_quarter() -> None:
    one = tag("aaaa", topics=TOPICS)
    other = tag("zzzz", topics=frozenset({"tides", "cranes"}))
    assert compare(one, other, distance=None).signs == {Sign.TOPICS: 0.5}
    apart = tag("zzzz", topics=frozenset({"tides", "b", "c", "d"}))
    assert signs(compare(one, apart, distance=None)) == set()
    rare = tag("zzzz", 2, topics=frozenset({"tides", "b"}))
    assert signs(compare(one, rare, distance=None)) == {Sign.TOPICS, Sign.RARE}


def test_meaning_counts_up_to_its_distance() -> None:
    one, other = tag("aaaa"), tag("zzzz")
    assert signs(compare(one, other, distance=0.28)) == {Sign.MEANING}
    assert signs(compare(one, other, distance=0.281)) == set()


def test_meaning_alone_makes_no_pair_however_near() -> None:
    """F68: vector similarity alone never merges."""
    assert compare(tag("aaaa"), tag("zzzz"), distance=0.0).confidence == 0.0
    assert compare(tag("aaaa"), tag("zzzz", 1), distance=0.0).confidence == 0.0


def test_two_signs_are_not_enough_to_ask_and_three_are() -> None:
    one, other = tag("harbor", topics=TOPICS), tag("harbour", topics=TOPICS)
    assert compare(one, other, distance=None).confidence < PENDING_CONFIDENCE
    assert compare(one, other, distance=0.1).confidence >= PENDING_CONFIDENCE


def test_only_a_statement_that_all_else_fits_is_sure() -> None:
    """F68: auto only explicit + at least 0.98."""
    one, other = tag("harbor", topics=TOPICS), tag("harbour", topics=TOPICS)
    everything = compare(one, other, distance=0.0)
    assert not everything.sure
    stated = compare(tag("aaaa"), tag("zzzz"), distance=None, stated=[7])
    assert PENDING_CONFIDENCE <= stated.confidence < AUTO_CONFIDENCE
    assert compare(one, other, distance=None, stated=[7]).sure
    assert compare(one, other, distance=None, stated=[7]).stated == (7,)


def test_what_somebody_denied_is_not_asked_about() -> None:
    pair = compare(tag("harbor"), tag("harbour"), distance=0.0, stated=[7], denied=[8])
    assert (pair.confidence, pair.sure) == (0.0, False)
