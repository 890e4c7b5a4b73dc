"""What is only supposed, wished or asked is not told as so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.grounding import Unfounded, unfounded
from agents_memory.domain.grounding.supposed import only_supposed


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("If I moved, I would live in Graz.", "Lives in Graz."),
        ("I used to live in Graz.", "Lives in Graz."),
        ("I want to live in Graz.", "Lives in Graz."),
        ("Do I live in Graz?", "Lives in Graz."),
        ("Ich möchte in Graz wohnen.", "Wohnt in Graz."),
        ("Quiero vivir en Sevilla.", "Vive en Sevilla."),
        ("Je voudrais habiter à Lyon.", "Habite à Lyon."),
        ("Vorrei vivere a Torino.", "Vive a Torino."),
    ],
)
def test_what_is_only_supposed_is_not_told_as_so(source: str, statement: str) -> None:
    """C3: with no verifier, too."""
    assert unfounded(statement, [source]) is Unfounded.SUPPOSED


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("I live in Graz.", "Lives in Graz."),
        ("Do I live in Graz? Yes, I live in Graz.", "Lives in Graz."),
        ("I used to live in Graz.", "Used to live in Graz."),
        ("I want to live in Graz.", "Wants to live in Graz."),
        ("I'd like short answers.", "Prefers short answers."),
        ("I want to use tabs everywhere.", "Uses tabs everywhere."),
        ("Ich möchte kurze Antworten.", "Bevorzugt kurze Antworten."),
    ],
)
def test_what_is_said_so_or_told_as_a_wish_is(source: str, statement: str) -> None:
    assert unfounded(statement, [source]) is None


@given(st.text(), st.text())
def test_any_text_has_an_answer(statement: str, source: str) -> None:
    assert only_supposed(statement, source) in (True, False)
