"""Redaction on the labelled sets of the benchmark: what it takes out, and what it leaves alone."""

from collections import Counter
from functools import cache

import pytest

from agents_memory.domain.redaction import redact
from bench.redaction_set import HALVES, Case, cases, new_cases
from bench.redaction_sets import LETTERS, cases_of


@cache
def _judged() -> list[tuple[Case, bool]]:
    """Every case, and whether it was judged rightly."""
    return [(case, _right(case)) for case in cases()]


def _right(case: Case) -> bool:
    text = redact(case.text).text
    return not case.leaks(text) if case.secrets else text == case.text


def test_the_set_is_the_same_each_time_and_every_case_holds_what_it_says() -> None:
    everything = cases()
    assert everything == cases()
    assert sum(bool(case.secrets) for case in everything) >= 300
    assert sum(not case.secrets for case in everything) >= 1_000
    for case in everything:
        assert all(secret in case.text for secret in case.secrets), case.shape
        assert case.leaks(case.text) == bool(case.secrets)


@pytest.mark.parametrize("half", HALVES)
def test_98_of_100_secrets_go(half: str) -> None:
    """F108, J6"""
    right = [right for case, right in _judged() if case.secrets and case.half == half]
    assert sum(right) / len(right) >= 0.98


@pytest.mark.parametrize("half", HALVES)
def test_998_of_1000_texts_that_only_look_like_secrets_stay(half: str) -> None:
    """F108"""
    right = [right for case, right in _judged() if not case.secrets and case.half == half]
    assert sum(right) / len(right) >= 0.998


def test_no_class_of_secrets_is_left_out() -> None:
    """F108"""
    found, said = Counter[str](), Counter[str]()
    for case, right in _judged():
        if case.secrets:
            said[case.name] += 1
            found[case.name] += right
    assert all(found[name] / said[name] >= 0.9 for name in said)


def test_the_new_part_is_judged_better_than_when_it_was_first_tried() -> None:
    """F108"""
    new = new_cases()
    assert new == new_cases()
    missed = [case.text for case in new if case.secrets and not _right(case)]
    changed = [case.text for case in new if not case.secrets and not _right(case)]
    assert len(missed) <= 9
    assert changed == []


def test_98_of_100_secrets_go_from_the_sets_of_strangers_whose_look_alikes_stay() -> None:
    """F108, J6"""
    judged = [(case, _right(case)) for letter in LETTERS for case in cases_of(letter)]
    secrets = [right for case, right in judged if case.secrets]
    others = [right for case, right in judged if not case.secrets]
    assert len(secrets) >= 2_900
    assert len(others) >= 6_000
    assert sum(secrets) / len(secrets) >= 0.98
    assert sum(others) / len(others) >= 0.998


@pytest.mark.parametrize("letter", LETTERS)
def test_every_case_of_a_set_holds_what_it_says(letter: str) -> None:
    for case in cases_of(letter, 3):
        assert all(secret in case.text for secret in case.secrets), case.text
        assert case.leaks(case.text) == bool(case.secrets)


def test_what_stands_outside_of_a_secret_too_is_no_leak_of_it() -> None:
    case = Case(
        "name", "shape", "half", "key: AAAABBBBCCCC1234, AAAABBBBCCCC", ("AAAABBBBCCCC1234",)
    )
    assert not case.leaks("key: [redacted:secret], AAAABBBBCCCC")
    assert case.leaks("key: AAAABBBBCCCC1234, AAAABBBBCCCC")
