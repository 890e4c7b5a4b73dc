"""Date ranges as an agent writes them."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from agents_memory.domain.errors import Code, Refusal

ACCEPTED = (
    "today, yesterday, this_week (since Monday), last_week (the last 7 days), last_month "
    "(the last 30 days), N_days_ago (from that day until now), a date or datetime such as "
    "2026-11-29 or 2026-11-29T14:30 (from then until now), or a range A..B (or A/B) of any of "
    "today, yesterday, N_days_ago, dates and datetimes; ..B and A.. leave one end open; an end "
    "given as a day includes that whole day"
)
"""What `parse_date_range` understands, in words for tool descriptions and refusals."""

FIRST_YEAR, LAST_YEAR = 1900, 2999
"""Years outside are far from any memory, and a zone's offset could leave the calendar: a day before
them leaves the beginning of a range open, one after them its end; elsewhere they are refused."""

_LONGEST = 80
_DAYS_BACK = {"last_week": 7, "last_month": 30}
_DAYS_AGO = re.compile(r"([0-9]{1,6})_days?_ago")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}")
_OPEN = ("", "..")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?",
    re.IGNORECASE,
)


class DateRange(NamedTuple):
    """Moments from `start` (included) to `end` (not included), in UTC; None leaves an end open."""

    start: datetime | None
    end: datetime | None


def parse_date_range(value: str, now: datetime, tz: tzinfo) -> DateRange | Refusal:
    """The range that `value` names, days and naive datetimes being those of the zone `tz`.

    * `today`, `yesterday`: that calendar day; today is open towards the future
    * `this_week`: since Monday 0:00
    * `last_week`, `last_month`: since 0:00 of the day 7, 30 days ago (they reach until now, so that
      what was said yesterday belongs to them; a calendar week or month is written `A..B`)
    * `N_days_ago`: since 0:00 of that day
    * ISO date or datetime (`2026-11-29`, `20261129`, `2026-11-29T14:30`, with `Z` or an offset if
      wanted): a lower bound only
    * `A..B`, `A/B`, `..B`, `A..` where an end is `today`, `yesterday`, `N_days_ago`, a date or a
      datetime: an end given as a day includes that whole day

    Case and the choice of space, `-` or `_` in words make no difference. Anything else is refused
    with INVALID_INPUT, as is a range that ends before it begins. `now` must be aware.
    """
    today = now.astimezone(tz).date()
    words = value.strip() if len(value) <= _LONGEST else ""
    first, between, last = words.partition("/" if "/" in words else "..")
    found = _between(first, last, today, tz) if between else _since(words, today, tz)
    if found is None:
        return Refusal(Code.INVALID_INPUT, f"date_range was not understood; give {ACCEPTED}.")
    if found.start and found.end and found.end <= found.start:
        return Refusal(
            Code.INVALID_INPUT, "date_range ends before it begins; give the earlier end first."
        )
    return found


def _since(words: str, today: date, tz: tzinfo) -> DateRange | None:
    name = _plain(words)
    if name == "yesterday":
        return _span(name, today, tz)
    if name == "this_week":
        return DateRange(_midnight(today - timedelta(days=today.weekday()), tz), None)
    if name in _DAYS_BACK:
        return DateRange(_midnight(today - timedelta(days=_DAYS_BACK[name]), tz), None)
    span = _span(words, today, tz)
    return span and DateRange(span.start, None)


def _between(first: str, last: str, today: date, tz: tzinfo) -> DateRange | None:
    """None if an end is not understood, or neither is given."""
    if all(word.strip() in _OPEN for word in (first, last)):
        return None
    begin, end = (
        DateRange(None, None) if word.strip() in _OPEN or _year_of(word) in far else span
        for word, far, span in (
            (first, range(FIRST_YEAR), _span(first, today, tz)),
            (last, range(LAST_YEAR + 1, 10_000), _span(last, today, tz)),
        )
    )
    if begin is None or end is None:
        return None
    return DateRange(begin.start, end.end)


def _span(word: str, today: date, tz: tzinfo) -> DateRange | None:
    """A day from midnight to midnight, or a moment that begins and ends at once."""
    name = _plain(word)
    try:
        if ago := _DAYS_AGO.fullmatch(name):
            day = today - timedelta(days=int(ago[1]))
        elif name in ("today", "yesterday"):
            day = today - timedelta(days=name == "yesterday")
        elif _DAY.fullmatch(word.strip()):
            day = date.fromisoformat(word.strip())
        elif _MOMENT.fullmatch(word.strip()):
            moment = datetime.fromisoformat(word.strip().upper())
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=tz)).astimezone(UTC)
            return DateRange(moment, moment) if _is_near(moment) else None
        else:
            return None
    except (ValueError, OverflowError):  # 30 February; a day before the calendar
        return None
    if not _is_near(day):
        return None
    return DateRange(_midnight(day, tz), _midnight(day + timedelta(days=1), tz))


def _year_of(word: str) -> int:
    """The year of a day or moment as it is written, whatever the zone; -1 where it is neither."""
    word = word.strip().upper()
    try:
        if _DAY.fullmatch(word):
            return date.fromisoformat(word).year
        return datetime.fromisoformat(word).year if _MOMENT.fullmatch(word) else -1
    except ValueError:
        return -1


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]+", "_", word.strip().lower())


def _is_near(day: date) -> bool:
    return FIRST_YEAR <= day.year <= LAST_YEAR


def _midnight(day: date, tz: tzinfo) -> datetime:
    """The first moment of a day; where the clock skips midnight, the moment of the skip."""
    return datetime.combine(day, time.min, tz).astimezone(UTC)
