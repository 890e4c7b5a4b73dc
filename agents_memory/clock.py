"""Time, injected: nothing of ours asks the machine for it directly."""

import time
from datetime import UTC, datetime
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
