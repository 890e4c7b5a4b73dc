"""Stand-ins for what tests must control; the real ones are tested too."""

from datetime import UTC, datetime, timedelta


class ManualClock:
    """A clock that moves only when told to.

    `start` is an aware datetime; `monotonic` begins at 0 and moves with `advance`, not with `set`,
    just as a machine's does when its wall clock is corrected.
    """

    def __init__(self, start: datetime = datetime(2026, 11, 29, 12, tzinfo=UTC)) -> None:
        self._now = start.astimezone(UTC)
        self._elapsed = 0.0

    def now(self) -> datetime:
        """The wall time: aware, in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Seconds advanced since the clock was made."""
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Let `seconds` (0 or more) pass."""
        if seconds < 0:
            raise ValueError("time does not run backwards; use set() to correct the wall clock")
        self._now += timedelta(seconds=seconds)
        self._elapsed += seconds

    def set(self, now: datetime) -> None:
        """Correct the wall clock to `now` (aware), in either direction."""
        self._now = now.astimezone(UTC)
