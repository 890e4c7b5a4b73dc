"""Date ranges of searches (F42, D13, I4)."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_memory.domain.dates import ACCEPTED, DateRange, parse_date_range
from agents_memory.domain.errors import Code, Refusal

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 25, 23, 30, tzinfo=UTC)  # Thursday 26 November 0:30 in Berlin


def utc(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        ("today", "2026-11-25T23:00", None),
        ("yesterday", "2026-11-24T23:00", "2026-11-25T23:00"),
        ("this_week", "2026-11-22T23:00", None),
        ("last_week", "2026-11-18T23:00", None),
        ("last_month", "2026-10-26T23:00", None),
        ("0_days_ago", "2026-11-25T23:00", None),
        ("1_day_ago", "2026-11-24T23:00", None),
        ("90_days_ago", "2026-08-27T22:00", None),
        ("2026-11-01", "2026-10-31T23:00", None),
        ("2026-11-01T08:15", "2026-11-01T07:15", None),
        ("2026-11-01 08:15:30.5", "2026-11-01T07:15:30.5", None),
        ("2026-11-01T08:15Z", "2026-11-01T08:15", None),
        ("2026-11-01T08:15-05:00", "2026-11-01T13:15", None),
        ("2026-11-01..2026-11-03", "2026-10-31T23:00", "2026-11-03T23:00"),
        ("2026-11-01/2026-11-03", "2026-10-31T23:00", "2026-11-03T23:00"),
        ("2026-11-01..2026-11-01", "2026-10-31T23:00", "2026-11-01T23:00"),
        ("2026-11-01 .. 2026-11-03T12:00", "2026-10-31T23:00", "2026-11-03T11:00"),
        ("..2026-11-03", None, "2026-11-03T23:00"),
        ("2026-11-01..", "2026-10-31T23:00", None),
        ("2026-11-01..9999-12-31", "2026-10-31T23:00", None),
        ("2026-11-01..9999-12-31T23:59:59z", "2026-10-31T23:00", None),
        ("0001-01-01..2026-11-03", None, "2026-11-03T23:00"),
        ("0001-01-01/9999-12-31", None, None),
        ("20261101", "2026-10-31T23:00", None),
        ("20261101..20261103", "2026-10-31T23:00", "2026-11-03T23:00"),
        ("2026-11-01t08:15z", "2026-11-01T08:15", None),
        ("../2026-11-03", None, "2026-11-03T23:00"),
        ("2026-11-01/..", "2026-10-31T23:00", None),
        ("30_days_ago..7_days_ago", "2026-10-26T23:00", "2026-11-19T23:00"),
        ("2026-11-01..today", "2026-10-31T23:00", "2026-11-26T23:00"),
        ("..yesterday", None, "2026-11-25T23:00"),
    ],
)
def test_a_range_is_read_in_the_given_zone(value: str, start: str | None, end: str | None) -> None:
    """F42, I4"""
    assert parse_date_range(value, NOW, BERLIN) == DateRange(utc(start), utc(end))


@pytest.mark.parametrize("value", [" Last Week ", "LAST-WEEK", "last week", "last__week"])
def test_spelling_of_words_is_lenient(value: str) -> None:
    assert parse_date_range(value, NOW, BERLIN) == parse_date_range("last_week", NOW, BERLIN)


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "..", "/", "../..", "tomorrow", "week", "last_year", "-1_days_ago", "days_ago"),
        *("999999_days_ago", "9999999_days_ago", "٣_days_ago", "2026", "2026-11", "20261301"),
        *("2026-02-30", "2026-13-01", "2026-11-01T25:00", "2026-11-01T08:15+99:00", "2026-W48"),
        *("0000-01-01", "0001-01-01", "1899-12-31", "3000-01-01", "9999-12-31T23:59-14:00"),
        *("9999-12-31..", "..0001-01-01", "9999-12-31..2026-11-01", "9999-13-31..", "0000-01-01.."),
        *("2026-11-01..nonsense", "nonsense..2026-11-01", "a..b..c", "2026-11-01..02/03"),
        *("last_week..today", "2026-11-01;drop", "2026-11-01\0", "today" * 100_000),
    ],
)
def test_anything_else_is_refused_with_what_would_do(value: str) -> None:
    """D13"""
    refusal = parse_date_range(value, NOW, BERLIN)
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.INVALID_INPUT
    assert ACCEPTED in refusal.message
    assert len(refusal.message) < 800


@pytest.mark.parametrize(
    "value", ["2026-11-03..2026-11-01", "today..yesterday", "2026-11-01T10:00/2026-11-01T10:00"]
)
def test_a_range_that_ends_before_it_begins_is_refused(value: str) -> None:
    """D13"""
    refusal = parse_date_range(value, NOW, BERLIN)
    assert isinstance(refusal, Refusal)
    assert "earlier end first" in refusal.message


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", 23),
        ("Europe/Berlin", "2026-10-25", 25),
        ("Asia/Beirut", "2026-03-29", 23),  # the clock skips midnight
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
        ("Pacific/Kiritimati", "2026-01-01", 24),
    ],
)
def test_a_day_is_as_long_as_the_clock_makes_it(zone: str, day: str, hours: float) -> None:
    found = parse_date_range(f"{day}..{day}", NOW, ZoneInfo(zone))
    assert isinstance(found, DateRange)
    assert found.start is not None
    assert found.end is not None
    assert found.end - found.start == timedelta(hours=hours)


def test_days_that_follow_each_other_leave_no_gap_where_midnight_is_skipped() -> None:
    zone = ZoneInfo("Asia/Beirut")
    before = parse_date_range("..2026-03-28", NOW, zone)
    after = parse_date_range("2026-03-29..", NOW, zone)
    assert isinstance(before, DateRange)
    assert isinstance(after, DateRange)
    assert before.end == after.start


def test_a_day_that_a_zone_skipped_holds_nothing_and_is_refused() -> None:
    found = parse_date_range("2011-12-30..2011-12-30", NOW, ZoneInfo("Pacific/Apia"))
    assert isinstance(found, Refusal)


def test_an_ambiguous_time_is_the_first_of_the_two() -> None:
    assert parse_date_range("2026-10-25T02:30", NOW, BERLIN) == DateRange(
        utc("2026-10-25T00:30"), None
    )


WORDS = st.sampled_from(
    [
        "today",
        "yesterday",
        "last_week",
        "3_days_ago",
        "2026-11-01",
        "2026-11-01T08:00",
        "..",
        "/",
        "Z",
    ]
)


@settings(deadline=None)
@given(st.text(max_size=30) | st.lists(WORDS | st.text(max_size=3), max_size=4).map("".join))
def test_any_text_is_a_range_or_a_refusal(value: str) -> None:
    """D13"""
    found = parse_date_range(value, NOW, BERLIN)
    if isinstance(found, DateRange):
        assert found.start or found.end
        assert not (found.start and found.end) or found.start < found.end


@settings(deadline=None)
@given(
    st.dates(date(1900, 1, 1), date(2999, 12, 31)),
    st.sampled_from(
        ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Auckland", "Asia/Kathmandu"]
    ),
)
def test_every_near_day_is_a_day_long_and_holds_its_noon(day: date, zone: str) -> None:
    found = parse_date_range(f"{day}..{day}", NOW, ZoneInfo(zone))
    assert isinstance(found, DateRange)
    assert found.start is not None
    assert found.end is not None
    assert timedelta(hours=22) <= found.end - found.start <= timedelta(hours=26)
