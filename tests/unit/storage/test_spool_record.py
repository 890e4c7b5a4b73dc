"""A waiting turn comes back as it was, and only into its own pool."""

import json
from datetime import timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.messages import Accepted, Draft, Origin, Role, Trust
from agents_memory.storage.spool.record import Waiting, from_bytes, to_bytes
from tests.factories import NOON

any_text = st.text(st.characters(exclude_categories=()), max_size=40)
maybe = st.none() | any_text
# With the offset of that moment: an hour that a zone has twice equals nothing outside its zone.
moments = st.datetimes(timezones=st.timezones()).map(
    lambda moment: moment.replace(tzinfo=timezone(moment.utcoffset() or timedelta()))
)
drafts = st.builds(
    Draft,
    role=st.sampled_from(Role),
    text=any_text,
    origin=st.sampled_from(Origin),
    trust=st.sampled_from(Trust),
    platform=any_text,
    model=maybe,
    subagent=st.booleans(),
    device=maybe,
    session=maybe,
    cwd=maybe,
    occurred_at=st.none() | moments,
    source=maybe,
    store_id=maybe,
    native_id=maybe,
)
turns = st.builds(
    Accepted,
    intake_id=st.uuids(),
    at=moments,
    draft=drafts,
    raw=maybe,
    redactions=st.dictionaries(any_text, st.integers(0, 9), max_size=3),
)


@given(any_text, turns)
def test_a_turn_comes_back_as_it_was(user: str, turn: Accepted) -> None:
    """I1: any string, lone surrogates too."""
    waiting = Waiting(user, turn)
    assert from_bytes(to_bytes(waiting, "pool"), "pool") == waiting


@given(turns)
def test_another_pools_turn_is_refused(turn: Accepted) -> None:
    with pytest.raises(ValueError, match="another pool"):
        from_bytes(to_bytes(Waiting("mara", turn), "pool"), "other")


@given(st.binary() | st.recursive(st.none() | st.text(), st.lists).map(json.dumps).map(str.encode))
def test_anything_else_is_no_turn(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (json's and ours alike)
        from_bytes(data, "pool")


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"user": None},
        {"raw": 7},
        {"at": "2026-11-20T12:00:00"},
        {"intake_id": "x"},
        {"redactions": None},
        {"draft": {}},
        {"draft": []},
    ],
)
def test_a_turn_of_another_shape_is_refused(change: dict[str, Any]) -> None:
    draft = Draft(Role.USER, "Hi", Origin.ASSERTED, Trust.AGENT, "codex")
    turn = Accepted(UUID(int=7), NOON, draft, None, {})
    document = json.loads(to_bytes(Waiting("mara", turn), "pool"))
    with pytest.raises(ValueError):  # noqa: PT011
        from_bytes(json.dumps(document | change).encode(), "pool")
