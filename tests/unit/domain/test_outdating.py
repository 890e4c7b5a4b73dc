"""A line about somebody is taken for outdated only where somebody says so of the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.grounding.outdating import contradicted, repeated, replaced
from agents_memory.domain.grounding.words import draws_on


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Lives in Linz.", "I live in Graz now."),
        ("Lives in Linz.", "I do not live in Linz anymore."),
        ("Wohnt in Linz.", "Ich wohne jetzt in Graz."),
        ("Habite à Lyon", "J'habite à Paris maintenant."),
        ("Habite à Lyon", "Je n'habite plus à Lyon."),
        ("住在上海", "我不住在上海了。"),
        ("Works as a carpenter", "I work as a teacher now."),
        ("Works at Siemens", "I work at Bosch."),
        ("Works as a carpenter", "Well, I no longer work as a carpenter."),
        ("Her name is Mara", "My name is Lena."),
        ("My favourite colour is green", "My favourite colour is blue."),
        ("Drinks coffee.", "I don't drink coffee any more."),
        ("Harbor keeps Kafka.", "We decided to drop Kafka from harbor."),
    ],
)
def test_another_value_and_a_denial_contradict(line: str, message: str) -> None:
    assert contradicted(line, ["The tide is high.", message], lasting=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Lives in Linz.", "The tide is high today."),
        ("Lives in Linz.", "My sister lives in Rome."),
        ("Lives in Linz.", "Bob lives in Rome."),
        ("Lives in Linz.", "She does not live in Linz."),
        ("Lives in Linz.", "I heard they live in Rome."),
        ("Lives in Linz.", "If I lived in Rome, I would be happy."),
        ("Lives in Linz.", "Maybe I live in Rome soon."),
        ("Lives in Linz.", "Do I live in Rome?"),
        ("Lives in Linz.", "I live in a small flat."),
        ("Lives in Linz.", "I live in the centre of Linz."),
        ("Lives in Graz", "I don't like Graz."),
        ("Lives in Graz", "I live in Graz."),
        ("Wohnt in Linz.", "Ich wohne in einem Haus."),
        ("住在上海", "我妹妹不住在上海。"),
        ("Works as a carpenter", "I finished my work."),
        ("Works as a carpenter", "I work at Siemens."),
        ("Speaks German", "I speak French."),
        ("Plays the viola", "I play chess."),
        ("Her name is Mara", "My dog's name is Rex."),
        ("", ""),
    ],
)
def test_other_talk_other_people_and_what_is_only_thought_of_do_not(
    line: str, message: str
) -> None:
    """A profile that goes without evidence is missed by nobody."""
    assert not contradicted(line, [message], lasting=True)


def test_work_that_is_done_ends_what_somebody_works_on_and_nothing_lasting() -> None:
    line = "Works on the harbor migration."
    assert contradicted(line, ["I finished the harbor migration."], lasting=False)
    assert not contradicted(line, ["The harbor migration is not finished."], lasting=False)
    assert not contradicted(line, ["I finished the harbor migration."], lasting=True)


@pytest.mark.parametrize(
    ("line", "by", "message", "lasting", "stands"),
    [
        ("Lives in Linz.", "Lives in Graz.", "I moved to Graz.", True, True),
        ("Lives in Linz.", "Lives in Graz.", "My sister lives in Graz.", True, False),
        ("Her name is Mara", "Her name is Lena", "My name is Lena.", True, True),
        ("Speaks German", "Speaks French", "I speak French.", True, False),
        ("Works as a nurse", "Works at Siemens", "I work at Siemens.", True, False),
        ("Works on harbor.", "Works on orchard.", "I work on orchard.", False, True),
        ("Lives in Linz.", "Plays chess.", "I play chess.", False, False),
    ],
)
def test_a_line_stands_in_the_place_of_one_of_the_same(
    line: str, by: str, message: str, lasting: bool, stands: bool
) -> None:
    assert replaced(line, by, [message], lasting=lasting) is stands


def test_a_line_that_says_more_repeats_one_and_its_opposite_does_not() -> None:
    assert repeated("Lives in Graz.", "Lives in Graz, near the bridges.")
    assert not repeated("Lives in Graz.", "Does not live in Graz.")
    assert not repeated("Lives in Graz, near the bridges.", "Lives in Graz.")


@given(st.text(), st.text())
def test_any_text_has_an_answer(line: str, text: str) -> None:
    for lasting in (True, False):
        assert contradicted(line, [text], lasting=lasting) in (True, False)
        assert replaced(line, text, [text], lasting=lasting) in (True, False)
    assert repeated(line, text) in (True, False)
    assert draws_on(line, text) in (True, False)


@pytest.mark.parametrize(
    ("line", "message", "draws"),
    [
        ("Ok.", "We moved the harbor sessions to opaque tokens.", False),
        ("Ok.", "Ok.", True),
        ("The harbor sessions.", "We moved the harbor sessions to opaque tokens.", True),
        ("The harbor sessions.", "The session table took forty minutes.", False),
        ("会議は月曜日に延期された。", "会議は来週の月曜日に延期された。", True),
        ("…", "The tide is high.", False),
        ("The tide is high.", "👍", False),
    ],
)
def test_a_line_tells_of_the_messages_it_draws_words_from(
    line: str, message: str, draws: bool
) -> None:
    assert draws_on(line, message) is draws
