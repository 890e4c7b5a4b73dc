"""Which of two near memories gives way, if any."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agents_memory.domain.comparing import Verdict, compare
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.domain.statements import Statement

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OLD = Statement(1, "deploys", None, "Deploys happen on Tuesdays.", Trust.AGENT, NOON)
NEW = replace(OLD, id=2, content="The deploys happen on Tuesday")


def test_the_older_of_two_that_say_the_same_stays() -> None:
    assert compare(OLD, NEW, 0.98) == compare(NEW, OLD, 0.98) == Verdict(NEW, OLD, merge=True)


@pytest.mark.parametrize("cosine", [None, 0.96])
def test_without_near_vectors_nothing_happens(cosine: float | None) -> None:
    assert compare(OLD, NEW, cosine) is None


def test_a_pinned_memory_stays_and_takes_the_other_in() -> None:
    pinned = replace(NEW, pinned=True)
    assert compare(OLD, pinned, 1.0) == Verdict(OLD, pinned, merge=True)
    assert compare(replace(OLD, pinned=True), pinned, 1.0) is None


def test_what_is_trusted_more_is_not_lost_in_what_is_trusted_less() -> None:
    owners = replace(NEW, trust=Trust.OWNER)
    assert compare(OLD, owners, 1.0) == Verdict(OLD, owners, merge=True)
    assert compare(replace(OLD, pinned=True), owners, 1.0) is None


def test_a_promise_is_not_lost_in_a_note() -> None:
    promise = replace(NEW, kind=Kind.PROMISE)
    assert compare(OLD, promise, 1.0) == Verdict(OLD, promise, merge=True)
    assert compare(replace(OLD, kind=Kind.FACT), promise, 1.0) is None
    assert compare(replace(promise, id=3, resolved_at=NOON), promise, 1.0) is None


def test_a_milestone_that_happened_twice_is_two() -> None:
    first = replace(OLD, kind=Kind.MILESTONE, occurred_at=NOON)
    second = replace(first, id=2, occurred_at=NOON.replace(year=2027))
    assert compare(first, second, 1.0) is None


def test_another_subject_is_another_statement() -> None:
    assert compare(OLD, replace(NEW, subject="releases"), 1.0) is None


def test_what_is_outdated_gives_way_unless_it_is_pinned() -> None:
    old = replace(OLD, attribute="deploy day")
    new = replace(old, id=2, content="Deploys happen on Fridays.")
    assert compare(new, old, None) == Verdict(old, new, merge=False)
    assert compare(new, replace(old, pinned=True), None) is None
    assert compare(replace(new, attribute=None), old, 0.99) is None
