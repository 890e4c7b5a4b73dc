"""Patterns that are sought fast find what the plain ones find."""

import re

import pytest

from agents_memory.domain.redaction.sought import Names, by_letter

ALTERNATIVES = r"token|key(?:_base)?|api[-_ ]key|pass\(|password|s?ecret|密码"


@pytest.mark.parametrize(
    "text", ["token", "a key_base", "api-key, key", "pass(", "password", "ecret secret", "密码", ""]
)
def test_alternatives_by_their_letters_match_as_before(text: str) -> None:
    assert re.findall(f"(?:{by_letter(ALTERNATIVES)})", text) == re.findall(ALTERNATIVES, text)


def test_alternatives_match_nothing_behind_what_they_may_not() -> None:
    pattern = re.compile(f"(?:{by_letter('token|key', not_behind='a-z')})")
    assert pattern.findall("token monkey -key atoken") == ["token", "key"]


def test_names_come_in_their_order_and_one_in_another_is_skipped() -> None:
    names = Names(r"token|key|api[-_ ]key|密码", r"[:=]?")
    found = [match[0] for match in names.finditer("key: 密码= api-key token=")]
    assert found == ["key:", "密码=", "api-key", "token="]


def test_a_name_without_letters_at_its_beginning_is_refused() -> None:
    with pytest.raises(AssertionError):
        Names("a?b")
