"""What outdates what: subject and attribute decide, and only when certain."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.attributes import attribute_key, derived
from agents_memory.domain.contradiction import contradict, names_one_value, outdates
from agents_memory.domain.messages import Trust
from agents_memory.domain.statements import Statement
from bench.contradictions import measure
from tests.fixtures.contradictions import HELD, PAIRS

THEN = datetime(2026, 3, 1, tzinfo=UTC)


def said(
    content: str,
    *,
    number: int = 1,
    subject: str = "user",
    attribute: str | None = None,
    trust: Trust = Trust.AGENT,
) -> Statement:
    return Statement(number, subject, attribute, content, trust, THEN + timedelta(days=number))


def test_nothing_that_still_holds_is_superseded() -> None:
    """F45, B6, B7: precision 1.00 on both halves; the recall is in docs/benchmarks.md."""
    assert (len(PAIRS), len(HELD)) == (60, 20)
    for pairs in (PAIRS, HELD):
        outdated, found, wrong = measure(pairs)
        assert outdated == len(pairs) / 2
        assert wrong == 0
        assert found >= 0.6 * outdated


@pytest.mark.parametrize(
    ("subject", "content", "attribute"),
    [
        ("user", "My favorite color is light blue!", "favourite colour"),
        ("Mara", "Mara's favourite city is Graz.", "favourite city"),
        ("Mara", "Mara works at Siemens", "employer"),
        ("ich", "Meine Lieblingsjahreszeit ist Herbst.", "lieblingsjahreszeit"),
        ("Mara", "Maras Geburtstag ist am 4. Mai.", "geburtstag"),
        ("用户", "用户最喜欢的颜色是蓝色。", "最喜欢的颜色"),
        ("user", "我最喜欢的电影是《英雄》。", "最喜欢的电影"),
        ("user", "Meine Lieblingsautorin ist Juli Zeh.", "lieblingsautorin"),
    ],
)
def test_a_plain_statement_tells_its_attribute(subject: str, content: str, attribute: str) -> None:
    found = derived(subject, content)
    assert found is not None
    assert found.attribute == attribute


@pytest.mark.parametrize(
    ("subject", "content"),
    [
        ("user", "My brother's favourite colour is blue."),
        ("user", "Mara's favourite colour is blue."),
        ("Mara", "My favourite colour is blue."),
        ("user", "In 2019 my favourite colour was blue."),
        ("user", "My favourite colours are blue and green."),
        ("user", "My favourite colour is blue and green."),
        ("user", "My favourite colour is not blue."),
        ("user", "My favourite colour is blue, I think."),
        ("user", "One of my favourite cities is Graz."),
        ("user", "My favourite restaurant is closed."),
        ("user", "I work at home."),
        ("user", "I work at Christmas."),
        ("user", "If asked, my favourite colour is blue."),
        ("user", "Is my favourite colour blue?"),
        ("user", "My favourite colour is blue?"),
        ("user", "Mein Lieblingsrestaurant ist geschlossen."),
        ("user", "Mein Lieblingsautor ist Schwede."),
        ("user", "Meine Lieblingsstadt ist Hauptstadt."),
        ("user", "我最喜欢的作家是日本人。"),
        ("user", "我最喜欢的电影是喜剧片。"),
        ("user", "我最喜欢的城市是首都。"),
        ("user", "Meine frühere Lieblingsfarbe ist Blau."),
        ("user", "Unsere Lieblingsfarbe ist Blau."),
        ("user", "我哥哥最喜欢的颜色是蓝色。"),
        ("user", "我最喜欢的颜色不是蓝色。"),
        ("user", "我最喜欢的颜色是蓝色和绿色。"),
        ("user", ""),
        ("user", "My favourite colour is " + "very " * 50 + "blue."),
    ],
)
def test_what_is_not_certain_has_no_attribute(subject: str, content: str) -> None:
    assert derived(subject, content) is None


def test_a_named_attribute_decides_for_the_same_subject_alone() -> None:
    """B6, B7: "I work at A", three months later "I work at B"."""
    old = said("Mara is with Siemens.", subject="Mara", attribute="Employer")
    new = said("Mara moved on to Bosch.", number=2, subject="mara", attribute="employer")
    assert outdates(new, old)
    assert not outdates(old, new)
    other = said("Ben moved on to Bosch.", number=2, subject="Ben", attribute="employer")
    assert not outdates(other, old)
    place = said("Mara moved on to Bonn.", number=2, subject="Mara", attribute="home")
    assert not outdates(place, old)
    assert attribute_key("Favorite_Color") == attribute_key("favourite colour")


def test_what_was_so_once_outdates_nothing() -> None:
    old = said("Mara is with Siemens.", subject="Mara", attribute="employer")
    for content in ("In 2019 Mara was with Bosch.", "Früher war sie bei Bosch.", "她以前在博世。"):
        assert not outdates(said(content, number=2, subject="Mara", attribute="employer"), old)


def test_an_attribute_that_has_several_values_outdates_nothing() -> None:
    for attribute in ("allergy", "hobbies", "Spoken languages", "爱好", "note"):
        assert not names_one_value(attribute)
        old = said("Nuts.", attribute=attribute)
        assert not outdates(said("Pollen.", number=2, attribute=attribute), old)


def test_what_the_owner_said_stands_until_the_owner_says_otherwise() -> None:
    """B12: the last explicit correction wins, not the last guess."""
    owners = said("Tabs.", attribute="indentation", trust=Trust.OWNER)
    for trust in (Trust.AGENT, Trust.OTHER, Trust.TOOL):
        guess = said("Spaces.", number=2, attribute="indentation", trust=trust)
        assert not outdates(guess, owners)
    corrected = said("Spaces.", number=3, attribute="indentation", trust=Trust.OWNER)
    assert outdates(corrected, owners)


def test_a_value_said_more_exactly_contradicts_nothing() -> None:
    for one, other in (
        ("My name is Mara.", "My name is Mara Lindqvist."),
        ("My name is Ann.", "My name is Anna."),
        ("My favourite number is seven.", "My favourite number is 7."),
        ("我最喜欢的颜色是蓝色。", "我最喜欢的颜色是深蓝色。"),
        ("My phone number is +49 30 5551234.", "My phone number is 030 5551234."),
    ):
        assert not contradict(said(one), said(other))


@given(st.text(), st.text(), st.text() | st.none())
def test_any_text_has_an_answer(subject: str, content: str, attribute: str | None) -> None:
    one = said(content, subject=subject, attribute=attribute)
    assert not contradict(one, one)
