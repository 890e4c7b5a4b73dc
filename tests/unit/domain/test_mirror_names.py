"""File names of the mirror, for tags that mean no good (F65)."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.mirror_names import MAX_STEM_BYTES, file_stem, same_name

RESERVED = ("con", "prn", "aux", "nul", "com1", "lpt9", "con.txt", "nul.tar.gz", "index")
HOSTILE = (
    *("", ".", "..", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "C:\\x", "\x00", "a\nb"),
    *(" ", "trailing.", "trailing ", ".hidden", "-rf", "~", "$HOME", "a:b", 'a"b', "a|b", "*", "?"),
    *("x" * 5_000, "会" * 5_000, "\U0001f600" * 300, "\ud800", "\u202egnp.exe", "é", "e\u0301"),
    *("COM¹", "com¹", "ＣＯＮ", "İ", "ß", "ẞ", "\u200b", "Foo", "foo", "FOO", *RESERVED),
)


@pytest.mark.parametrize("tag", ["harbor", "node.js", "c++", "a-b_c", "2026", "x" * 60])
def test_a_plain_tag_is_its_own_name(tag: str) -> None:
    assert file_stem(tag) == tag


@pytest.mark.parametrize("tag", HOSTILE)
def test_a_hostile_tag_gets_a_name_that_every_file_system_takes(tag: str) -> None:
    check(file_stem(tag))


def test_no_two_tags_share_a_file() -> None:
    """Not even where case and the spelling in Unicode make no difference."""
    tags = dict.fromkeys((*HOSTILE, "a-b", "a.b", "harbor"))
    assert len({same_name(file_stem(tag)) for tag in tags}) == len(tags)


@given(st.text(max_size=300))
def test_any_tag_gets_such_a_name(tag: str) -> None:
    check(file_stem(tag))
    assert file_stem(tag) == file_stem(tag)


@given(
    st.text(alphabet="aA.+-_/ iİıßéÉ", max_size=6), st.text(alphabet="aA.+-_/ iİıßéÉ", max_size=6)
)
def test_different_tags_have_different_names(one: str, other: str) -> None:
    assert (same_name(file_stem(one)) == same_name(file_stem(other))) == (one == other)


def test_a_long_run_of_signs_is_settled_at_once() -> None:
    assert file_stem("a" + "+-" * 20 + "!").startswith("a")


def check(stem: str) -> None:
    assert stem
    assert stem.isprintable() or unicodedata.normalize("NFC", stem) == stem
    assert len(stem.encode()) <= MAX_STEM_BYTES + 20
    assert not re.search(r'[\x00-\x1f<>:"/\\|?*\s]', stem)
    assert not stem.startswith((".", "-"))
    assert not stem.endswith((".", " "))
    assert stem.split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9", "index"}
