"""Token estimates (F33, I3)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_memory.domain.tokens import estimate_tokens, shorten

ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=60)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("four", 1),
        ("fives", 2),
        ("база", 2),
        ("数据库", 3),
        ("🙂", 1),
        ("a" * 400, 100),
    ],
)
def test_an_estimate_depends_on_the_script(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_control_tokens_and_broken_text_are_counted_as_text() -> None:
    """I1, I3"""
    assert estimate_tokens("<|endoftext|>") == 4
    assert estimate_tokens(chr(0xD83D) + "\0") == 1


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_more_text_never_takes_fewer_tokens(one: str, other: str) -> None:
    assert estimate_tokens(one) <= estimate_tokens(one + other)
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


@settings(deadline=None)
@given(ANY_TEXT.map(lambda text: text * 3), st.integers(0, 40))
def test_a_shortened_text_takes_no_more_than_it_may(text: str, room: int) -> None:
    """F33, I3"""
    short = shorten(text, room)
    assert estimate_tokens(short) <= room
    assert (short == text) == (estimate_tokens(text) <= room)
    assert short == text or not short or text.startswith(short[:-1])


@pytest.mark.parametrize(
    "text", ["word " * 300, "数据库" * 200, "🧑‍👩‍👧‍👦" * 100, "a" + "数" * 400]
)
@pytest.mark.parametrize("room", [1, 5, 200, 201, 250, 299])
def test_a_long_text_fills_what_it_may_take(text: str, room: int) -> None:
    """F33: but for the character that would be cut in half."""
    assert room - 7 <= estimate_tokens(shorten(text, room)) <= room
