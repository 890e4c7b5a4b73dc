"""A provider that fails is left alone for a while, longer each time, then tried by one call."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from agents_memory.clock import Clock
from cold.guard import Backoff

# Failures in a row before the first hold: one may be chance, and a batch is five items.
PATIENCE = 3
HOLDS = Backoff(30, 2, 1800)
# The longest that a provider may ask to be left alone, and so the longest hold.
LONGEST_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Held:
    """The provider is left alone; `until` is when the next call may try it."""

    until: datetime


class Breaker:
    """Belongs to one provider of one process; `holds` are its growing pauses."""

    def __init__(self, clock: Clock, holds: Backoff = HOLDS, patience: int = PATIENCE) -> None:
        self._clock = clock
        self._holds = holds
        self._patience = patience
        self._failures = 0
        self._times = 0
        # By the monotonic clock; None while nothing is held.
        self._until: float | None = None
        self._probing = False

    @property
    def hold(self) -> tuple[int, datetime] | None:
        """How often in a row it was held, and until when by the wall clock; None: it is not."""
        if self._until is None:
            return None
        left = self._until - self._clock.monotonic()
        return self._times, self._clock.now() + timedelta(seconds=left)

    def take_over(self, times: int, until: datetime) -> None:
        """Goes on with a hold that another one began; one of its own that is longer stays.

        One that ends later than any hold can was written by a clock that was wrong: it is over.
        """
        if times > self._times or self._until is None:
            self._times = times
            left = (until - self._clock.now()).total_seconds()
            self._until = self._clock.monotonic() + (left if left <= LONGEST_S else 0.0)

    def enter(self) -> Held | None:
        """Before a call: why it must not be made, or None.

        After None exactly one of `succeeded`, `failed` and `left` has to follow.
        """
        if self._until is None:
            return None
        left = self._until - self._clock.monotonic()
        if left > 0 or self._probing:
            pause = max(left, self._holds.first_s) if self._probing else left
            return Held(self._clock.now() + timedelta(seconds=pause))
        self._probing = True
        return None

    def succeeded(self) -> None:
        """The provider answered, whatever the answer was worth."""
        self._failures = self._times = 0
        self._until, self._probing = None, False

    def failed(self, at_least: timedelta = timedelta(0)) -> None:
        """The provider did not answer; `at_least` is how long it asked to be left alone.

        Of calls that were under way at the same time the first to make a hold decides its length.
        """
        now = self._clock.monotonic()
        if self._until is not None and now < self._until:
            self._until = max(self._until, now + at_least.total_seconds())
            return
        self._failures += 1
        if self._probing or self._failures >= self._patience or at_least:
            self._times += 1
            pause = max(self._holds.after(self._times), at_least)
            self._until = now + pause.total_seconds()
        self._probing = False

    def left(self) -> None:
        """The call was broken off before anything could be said about the provider."""
        self._probing = False
