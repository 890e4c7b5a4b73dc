"""Time, injected: nothing of ours asks the machine for it directly."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What a part that needs the time is given; tests bring their own."""

    def now(self) -> datetime:
        """The wall time: aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never goes backwards."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The wall time: aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never goes backwards."""
        return time.monotonic()


class DatabaseClock:
    """The clock of the database: what it said last, carried on by a clock that never jumps.

    That of `machine` until somebody says what the database's clock shows.
    """

    def __init__(self, machine: Clock) -> None:
        self._machine = machine
        self._said: tuple[datetime, float] | None = None

    def set(self, now: datetime) -> None:
        """The database's clock shows `now` (aware)."""
        self._said = now.astimezone(UTC), self._machine.monotonic()

    def now(self) -> datetime:
        """The wall time: aware, in UTC."""
        if self._said is None:
            return self._machine.now()
        then, at = self._said
        return then + timedelta(seconds=self._machine.monotonic() - at)

    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never goes backwards."""
        return self._machine.monotonic()
