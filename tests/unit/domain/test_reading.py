"""What the intake reads out of a text at once is what the rules and the analyser read apart."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_memory.domain.lexical import analyse
from agents_memory.domain.reading import Reading, read
from agents_memory.domain.redaction import redact
from bench.redaction_set import cases
from bench.turns import example_drafts

WORDS = st.sampled_from(
    [
        *(
            "password:",
            "token",
            "the",
            "Harbor",
            "hunter2",
            "Tr3ibholz-quer-71",
            "[redacted:secret]",
        ),
        *(
            "<private>",
            "x",
            "</private>",
            "パスワード",
            "ｐａｓｓ",
            "pass\u200bword:",
            "ghp_",
            "search_memory",
        ),
        *(
            "kitty",
            "小猫",
            "고양이",
            "🐈",
            "->",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl",
        ),
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=12), max_size=12).map(" ".join)


def apart(text: str) -> Reading:
    redacted = redact(text)
    return Reading(redacted.text, redacted.counts, analyse(redacted.text))


@settings(deadline=None, max_examples=500)
@given(TEXTS | st.text())
def test_any_text_is_read_as_by_the_rules_and_then_the_analyser(text: str) -> None:
    """F108, D1"""
    assert read(text) == apart(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "word " * 10_000,
        "好" * 8_000,
        " ".join(f"word{number}" for number in range(3_000)),
        "plain words, and password: Tr3ibholz-quer-71 behind them",
        "password: \ud800Tr3ibholz-quer-71\0",
        "again " * 40,
    ],
    ids=["empty", "blank", "large", "pairs", "many lexemes", "secret", "broken", "repeated"],
)
def test_texts_at_the_bounds_are_read_so_too(text: str) -> None:
    """D1, D2"""
    assert read(text) == apart(text)


def test_turns_and_secrets_of_the_labelled_sets_are_read_so_too() -> None:
    """F108"""
    for text in (*(turn.text for turn in example_drafts()), *(case.text for case in cases())):
        assert read(text) == apart(text), text
