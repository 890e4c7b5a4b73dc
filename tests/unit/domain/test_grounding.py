"""A derived sentence says no more than its sources: names, numbers, denials, opposites."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.grounding import Unfounded, unfounded
from agents_memory.domain.grounding.figures import numbers_missing
from agents_memory.domain.grounding.keys import alike, hangul_stem, key
from agents_memory.domain.grounding.negation import denials, undecided
from agents_memory.domain.grounding.opposites import sides, sides_of_run
from agents_memory.domain.grounding.units import clauses, sentences
from bench.turns import example_drafts


@pytest.mark.parametrize(
    ("source", "statement", "what"),
    [
        ("We decided to drop Kafka.", "Decided to drop Kafka.", None),
        ("We decided to drop Kafka.", "Decided to keep Kafka.", Unfounded.OPPOSITE),
        ("We won't use Kafka.", "Uses Kafka.", Unfounded.OPPOSITE),
        ("We use Kafka.", "Does not use Kafka.", Unfounded.OPPOSITE),
        ("Kafka is used.", "Kafka is not used.", Unfounded.OPPOSITE),
        ("We don't use Redis, we use Postgres.", "Uses Postgres.", None),
        ("I like tea and not coffee.", "Likes tea.", None),
        ("I like tea and not coffee.", "Likes coffee.", Unfounded.OPPOSITE),
        ("I can't stand mushrooms.", "Dislikes mushrooms.", None),
        ("Don't forget the certificate.", "Must not forget the certificate.", None),
        ("Only Nina may deploy.", "Nobody but Nina may deploy.", None),
        ("Wir streichen Kafka.", "Wir behalten Kafka.", Unfounded.OPPOSITE),
        ("Ich esse kein Fleisch.", "Isst Fleisch.", Unfounded.OPPOSITE),
        ("Je ne mange pas de viande.", "Mange de la viande.", Unfounded.OPPOSITE),
        ("我住在上海。", "住在上海。", None),
        ("我住在上海。", "住在北京。", Unfounded.NAME),
        ("أسكن في القاهرة.", "يسكن في القاهرة.", None),
        ("أسكن في القاهرة.", "يسكن في الرياض.", Unfounded.NAME),
        ("東京に住んでいます。", "大阪に住んでいる。", Unfounded.NAME),
        ("저는 서울에 삽니다.", "부산에 산다.", Unfounded.NAME),
        ("Я живу в Москве.", "Живёт в Казани.", Unfounded.NAME),
        ("My favourite colour is green.", "My favourite colour is blue.", Unfounded.NAME),
        ("I work as a carpenter.", "Works as a plumber.", Unfounded.NAME),
        ("Store it in postgres_sessions.", "Stored in redis_sessions.", Unfounded.NAME),
        ("The limit is 30 seconds.", "The limit is 60 seconds.", Unfounded.NUMBER),
        ("We have three servers.", "Has 3 servers.", None),
        ("We have three servers.", "Has four servers.", Unfounded.NUMBER),
        ("I live in Graz.", "Enjoys sailing with friends.", Unfounded.UNRELATED),
        ("", "Lives in Graz.", Unfounded.NAME),
        ("Anything at all.", "", Unfounded.UNRELATED),
    ],
)
def test_what_the_source_does_not_say_is_found(
    source: str, statement: str, what: Unfounded | None
) -> None:
    """C3: a fact is grounded in what was said, in any script."""
    assert unfounded(statement, [source]) == what


def test_one_of_several_sources_is_enough() -> None:
    said = ["Kafka failed the load test.", "Redis passed the load test.", "Ich wohne in Graz."]
    assert unfounded("Redis passed the load test.", said) is None
    assert unfounded("Wohnt in Graz.", said) is None
    assert unfounded("Wohnt in Linz.", said) is Unfounded.NAME


def test_of_two_values_that_were_said_either_may_be_told() -> None:
    """Which one holds is not for the one who sums up to know."""
    said = ["My favourite editor is Emacs.", "My favourite editor is now Helix."]
    for editor in ("Emacs", "Helix"):
        assert unfounded(f"The user's favourite editor is {editor}.", said) is None
    other = ["My favourite editor is Emacs.", "I tried Helix."]
    told = unfounded("The user's favourite editor is Helix.", other)
    assert told is Unfounded.OPPOSITE


def test_a_sentence_rests_on_the_text_it_stands_in() -> None:
    """The rules refuse nearly nothing that is word for word what was said."""
    said = [
        (sentence, draft.text)
        for draft in example_drafts()
        for sentence in sentences(draft.text)
        if 15 <= len(sentence) <= 240
    ]
    refused = [sentence for sentence, text in said if unfounded(sentence, [text]) is not None]
    assert len(said) > 500
    assert len(refused) <= len(said) / 100


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_text_has_a_defined_result(statement: str, source: str) -> None:
    assert unfounded(statement, [source]) in (None, *Unfounded)


@pytest.mark.parametrize("text", ["\ud800 \udfff", "n'" * 30_000, "不要" * 30_000, "a" * 60_000])
def test_broken_and_endless_texts_have_one_too(text: str) -> None:
    assert unfounded(text[:240], [text]) in (None, *Unfounded)


@pytest.mark.parametrize(
    ("statement", "text", "missing"),
    [
        ("1,200 euros", "1.200 Euro", False),
        ("1200 euros", "1,200 euros", False),
        ("1,200 euros", "1,500 euros", True),
        ("at 07:30", "at 7:30", False),
        ("version 1.2", "version 1.2.3", False),
        ("٣٠", "30", False),
        ("١٢", "30", True),
        ("two dogs", "2 dogs", False),
        ("zwei Hunde", "vier Hunde", True),
        ("3台", "我们有三台服务器", False),
        ("no number", "", False),
    ],
)
def test_numbers_are_the_same_however_they_are_written(
    statement: str, text: str, missing: bool
) -> None:
    assert numbers_missing(statement, text) is missing


def test_forms_of_a_word_have_one_key() -> None:
    assert key("deployed") == key("deploys")
    assert key("أسكن") == key("يسكن")
    assert key("والقاهرة") == key("القاهرة") != key("الرياض")
    assert hangul_stem("서울에서는") == hangul_stem("서울에") == "서울"
    assert alike("warszawie", "warszawa")
    assert alike("москве", "москва")
    assert not alike("angela", "angelo")
    assert not alike("austria", "australia")


def test_a_denial_reaches_as_far_as_its_language_lets_it() -> None:
    english = denials("we will not use kafka and redis")
    assert [english.count_at(at) for at in (0, 16, 26)] == [None, 1, 0]
    assert denials("ich trinke kaffee nicht").count_at(11) == 1
    assert denials("je n'utilise pas kafka").count_at(17) == 1
    assert denials("not only kafka").count_at(9) == 0
    assert denials("deploys without downtime").count_at(16) == 1
    assert undecided("everything except kafka")


def test_opposites_have_sides() -> None:
    assert sides(key("kept")) != sides(key("dropped"))
    assert sides_of_run("비활성화했다") != sides_of_run("활성화했다")
    assert sides(key("kafka")) == frozenset()


def test_clauses_end_where_a_sentence_turns() -> None:
    assert clauses("I like tea, but not coffee. Kafka: gone!") == [
        "I like tea",
        "not coffee",
        "Kafka",
        "gone",
    ]
    assert clauses("不用Redis，现在用Postgres。") == ["不用Redis", "现在用Postgres"]
