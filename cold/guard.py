"""Decisions about attempts: when to try again, when to give up, when to hold a whole stage."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents_memory.domain.errors import MemoryFault

REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome is written; the item goes on to the next stages, or ends here."""

    proceed: bool = True


@dataclass(frozen=True, slots=True)
class RetryLater:
    """The item stays in the queue and is due again after `delay`."""

    reason: str
    delay: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Park:
    """The item leaves the queue until somebody asks for it again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Hold:
    """No item is to blame: the stage rests for `delay`, attempts are given back."""

    reason: str
    delay: timedelta


Outcome = Done | RetryLater | Park


class ItemFault(MemoryFault):
    """The item itself, not a lost resource, is why a pass failed; the text holds no content."""


class Hung(MemoryFault):
    """Work that should long have ended has not; only a new process gets rid of a hung thread."""


class ModelAway(MemoryFault):
    """No language model can be asked now; the item was not tried, and its stage waits.

    `until` is when one can, where that is known.
    """

    def __init__(self, message: str, until: datetime | None = None) -> None:
        super().__init__(message)
        self.until = until


@dataclass(frozen=True, slots=True)
class Backoff:
    """Growing delays: `first_s` · `factor`^(n−1) seconds, at most `longest_s`.

    Up to half is cut at random (`chance`, 0..1), so that many who wait don't come back at once.
    """

    first_s: float
    factor: float
    longest_s: float
    chance: Callable[[], float] = random.random

    def after(self, times: int) -> timedelta:
        """The delay after the `times`-th failure in a row (1 or more)."""
        # Beyond this any delay is the longest; a huge power would overflow.
        steps = min(max(times, 1) - 1, 32)
        whole = min(self.longest_s, self.first_s * self.factor**steps)
        return timedelta(seconds=whole * (1 - self.chance() / 2))


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules of one daemon; `chance` gives numbers from 0 to 1."""

    max_attempts: int
    chance: Callable[[], float] = random.random

    def after_failure(self, attempts: int, error: Exception) -> RetryLater | Park:
        """What becomes of an item whose `attempts`-th attempt raised `error`.

        One minute, then four, sixteen, at most an hour.
        """
        reason = reason_of(error)
        if attempts >= self.max_attempts:
            return Park(reason)
        return RetryLater(reason, Backoff(60, 4, 3600, self.chance).after(attempts))

    def hold(self, times: int, error: Exception) -> Hold:
        """The `times`-th rest in a row of a stage that `error` keeps from working: 5 s to 5 min."""
        return Hold(reason_of(error), Backoff(5, 2, 300, self.chance).after(times))


def reason_of(error: Exception) -> str:
    """Why, for whoever looks at the queue: our own words, else only the class, never content."""
    if isinstance(error, MemoryFault):
        return str(error)[:REASON_CHARS] or type(error).__name__
    return type(error).__name__
