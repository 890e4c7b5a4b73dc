"""Near duplicates: only what tells nothing may differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.duplicates import same_statement, same_subject


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys happen on Tuesdays.", "On Tuesday, the deploys happen"),
        ("We don't deploy on Fridays.", "we do not deploy on fridays"),
        ("Mara prefers tea.", "prefers the tea"),
        ("Das Passwort liegt im Tresor.", "passwort liegt im Tresor!"),
        ("我喜欢喝茶。", "我喜欢喝茶"),
        ("It won't run", "It will not run."),
    ],
)
def test_the_same_in_nearly_the_same_words(one: str, other: str) -> None:
    """F45"""
    assert same_statement("Mara", one, other)
    assert same_statement("Mara", other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 5432.", "The port is 5433."),
        ("We deploy on Fridays.", "We do not deploy on Fridays."),
        ("Mara prefers tea to coffee.", "Mara prefers coffee to tea."),
        ("Mara lives in Bonn.", "Mara lived in Bonn."),
        ("Mara's brother lives in Bonn.", "Mara's brother lives in Bern."),
        ("The limit is -5 degrees.", "The limit is 5 degrees."),
        ("It costs $5.", "It costs €5."),
        ("A > B", "B > A"),
        ("Is it done?", "It is done."),
        ("Use C++.", "Use C."),
        ("Plan A holds.", "Plan holds."),
        ("Ship with tests.", "Ship without tests."),
        ("Mara always tests.", "Mara tests."),
        ("!!!", "???"),
        ("", ""),
    ],
)
def test_a_small_difference_that_is_news(one: str, other: str) -> None:
    """B7: similarity proposes, it never decides."""
    assert not same_statement("deploys", one, other)


def test_a_name_in_front_that_is_not_the_subject_counts() -> None:
    assert not same_statement("Mara", "Ben prefers tea.", "prefers tea")
    assert not same_statement("Mara", "Mara", "prefers tea")
    assert same_statement("deploys", "Deploys happen daily.", "daily deploys happen")
    assert same_subject(" Mara", "mara")
    assert not same_subject("Mara", "Maria")


@given(st.text(), st.text())
def test_any_text_has_an_answer(subject: str, text: str) -> None:
    assert same_statement(subject, f"so {text}", f"so {text}")
    assert not same_statement(subject, text, f"{text} so")
