"""Storable, cuttable, comparable text (I1, C2)."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_memory.domain.text import (
    CONTENT_KEY_CHARS,
    Repaired,
    content_key,
    counted,
    is_blank,
    repair,
    truncate,
)

ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=80)
CODE_UNITS = st.text(st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF), max_size=12)
CHARACTERS = """
a é e\u0301 n\u0303\u0323 👍🏽 👨‍👩‍👧‍👦 ❤️‍🔥 🇩🇪 🇯🇵 1️⃣ क्ष கி ก็ น้ำ 漢 \u1112\u1161\u11ab
🏴\U000e0067\U000e0062\U000e007f
"""
GRAPHEMES = st.lists(st.sampled_from([*CHARACTERS.split(), "\r\n", " "]), max_size=20)
HIGH, LOW = chr(0xD83D), chr(0xDE00)


def test_nul_becomes_a_visible_replacement() -> None:
    assert repair("pass\0word") == Repaired("pass\ufffdword", ("nul",))


def test_a_pair_of_code_units_becomes_its_character() -> None:
    """I1"""
    assert repair(f"ok {HIGH}{LOW}") == Repaired("ok 😀", ("surrogate_pair",))


@pytest.mark.parametrize("broken", [HIGH, LOW, LOW + HIGH, f"a{HIGH}b", HIGH + HIGH])
def test_a_lone_surrogate_is_replaced_and_the_rest_kept(broken: str) -> None:
    """I1"""
    repaired = repair(broken)
    assert repaired.changed == ("lone_surrogate",)
    assert len(repaired.text) == len(broken)
    assert [c for c in repaired.text if c != "\ufffd"] == [c for c in broken if c.isascii()]


@pytest.mark.parametrize(
    "said", ["", "  two  spaces ", "e\u0301", "ﬁ", "\ufeffbom", "a\r\nb\t", "👩‍💻", "\x01\x7f\x85"]
)
def test_everything_else_stays_byte_for_byte(said: str) -> None:
    assert repair(said) == Repaired(said, ())


@settings(deadline=None)
@given(ANY_TEXT | CODE_UNITS)
def test_repaired_text_can_be_stored_and_repairing_twice_changes_nothing(text: str) -> None:
    """I1"""
    repaired = repair(text)
    repaired.text.encode("utf-8")
    assert "\0" not in repaired.text
    assert repair(repaired.text) == Repaired(repaired.text, ())


@settings(deadline=None)
@given(GRAPHEMES, st.integers(min_value=-2, max_value=60))
def test_a_cut_falls_between_what_a_reader_sees_as_characters(parts: list[str], room: int) -> None:
    text = "".join(parts)
    cut = truncate(text, room)
    assert len(cut) <= max(room, 0)
    if cut == text or room <= 0:
        return
    assert cut.endswith("…")
    starts = {len("".join(parts[:n])) for n in range(len(parts) + 1)}
    assert len(cut) - 1 in starts
    assert text.startswith(cut[:-1])


@settings(deadline=None)
@given(ANY_TEXT, st.integers(min_value=0, max_value=100))
def test_a_cut_keeps_within_its_bound_for_any_text(text: str, room: int) -> None:
    cut = truncate(text, room)
    assert len(cut) <= room
    assert cut == text or len(text) > room


def test_a_cut_keeps_as_much_as_fits() -> None:
    assert truncate("hello world", 8) == "hello w…"
    assert truncate("hello", 5) == "hello"
    assert truncate("👨‍👩‍👧‍👦 family", 4) == "…"
    assert truncate("🇩🇪🇯🇵🇫🇷", 4) == "🇩🇪…"
    assert truncate("x" + "\u0301" * 100_000, 50) == "…"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Uses Postgres.", "  uses\n POSTGRES "),
        ("“Uses tabs”", "uses tabs"),
        ("- prefers tea", "* Prefers tea!"),
        ("Straße", "STRASSE"),
        ("cafe\u0301", "café"),
        ("ﬁle １２", "file 12"),
        ("喜欢喝茶。", "「喜欢喝茶」"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_the_same_words_have_the_same_key(one: str, other: str) -> None:
    assert content_key(one) == content_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("likes C++", "likes C"),
        ("likes C#", "likes C"),
        (".NET", "net"),
        ("-5", "5"),
        ("50%", "50"),
        ("Uses Postgres", "Uses Postgres?"),
        ("café", "cafe"),
        ("!!!", "???"),
        ("a" * 1000, "a" * 1001),
    ],
)
def test_a_difference_that_matters_keeps_keys_apart(one: str, other: str) -> None:
    assert content_key(one) != content_key(other)


@settings(deadline=None)
@given(ANY_TEXT)
def test_a_key_is_bounded_and_its_own_key(text: str) -> None:
    key = content_key(text)
    assert len(key) <= CONTENT_KEY_CHARS
    assert content_key(key) == key


def test_a_key_of_a_megabyte_of_closing_marks_is_found() -> None:
    assert len(content_key("." * 1_000_000 + "x" + "!" * 1_000_000)) == CONTENT_KEY_CHARS


@pytest.mark.parametrize(
    "nothing",
    ["", " \t\r\n", "\u3000\u00a0", "\0\x07", "\u200b\u200d\ufeff", "\ufe0f", "\u3164", "\u2800"],
)
def test_what_cannot_be_seen_is_blank(nothing: str) -> None:
    """C2"""
    assert is_blank(nothing)


@pytest.mark.parametrize("something", ["a", ".", "\ufffd", "\u0301", "🙂", " \u200b水", HIGH])
def test_what_can_be_seen_is_not_blank(something: str) -> None:
    assert not is_blank(something)


@settings(deadline=None)
@given(ANY_TEXT)
def test_text_with_a_letter_is_never_blank(text: str) -> None:
    if any(unicodedata.category(c) in ("Lu", "Ll", "Nd", "Po") for c in text):
        assert not is_blank(text)


def test_one_is_counted_in_the_singular() -> None:
    assert [counted(n, "message") for n in (0, 1, 2)] == ["0 messages", "1 message", "2 messages"]
    assert [counted(n, "memory", "memories") for n in (1, 3)] == ["1 memory", "3 memories"]
