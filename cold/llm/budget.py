"""Ceilings: what a provider may cost in an hour and in a day, counted in the database."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from agents_memory.clock import Clock
from agents_memory.storage import model_calls
from agents_memory.storage.connections import Database
from agents_memory.storage.model_calls import Ended, Spent
from cold.llm.backend import Tally
from cold.llm.port import Failure, Provider, Role, Why


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The most of each hour and each day (UTC); `settings` is how their variables begin.

    0 allows nothing.
    """

    requests_per_hour: int
    requests_per_day: int
    tokens_per_hour: int
    tokens_per_day: int
    settings: str = "LOCAL_LLM"

    def refused(self, hour: Spent, day: Spent, tokens: int, now: datetime) -> Failure | None:
        """Why one more request of `tokens` tokens is too much; None when it is not.

        The day's reason comes first, since it lasts longer.
        """
        for unit, span, spent, more, most in self._lines(hour, day, tokens):
            if spent + more > most:
                fresh = model_calls.next_day if span == "day" else model_calls.next_hour
                until = fresh(now)
                name = f"{self.settings}_{unit.upper()}_PER_{span.upper()}"
                return Failure(
                    Why.OVER_CEILING,
                    f"the ceiling of {most} {unit} per {span} is reached ({spent} spent); work "
                    f"waits until {until:%Y-%m-%d %H:%M} UTC, or raise {name}",
                    until,
                )
        return None

    def _lines(
        self, hour: Spent, day: Spent, tokens: int
    ) -> Iterator[tuple[str, str, int, int, int]]:
        yield "requests", "day", day.requests, 1, self.requests_per_day
        yield "tokens", "day", day.tokens, tokens, self.tokens_per_day
        yield "requests", "hour", hour.requests, 1, self.requests_per_hour
        yield "tokens", "hour", hour.tokens, tokens, self.tokens_per_hour


class _Undone(Exception):
    """Ends the transaction of a booking that was too much."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class Budget:
    """Books the calls of one provider; each booking is a short transaction of its own."""

    def __init__(
        self, database: Database, provider: Provider, ceilings: Ceilings, clock: Clock
    ) -> None:
        self._database = database
        self._provider = provider
        self._ceilings = ceilings
        self._clock = clock

    async def begin(self, role: Role, model: str, tokens_in: int, tokens_out: int) -> int | Failure:
        """Books a call before it is made: its id, or OVER_CEILING and until when.

        Raises DatabaseUnavailable: what cannot be counted is not done.
        """
        now = self._clock.now()
        try:
            async with self._database.transaction() as connection:
                begun = await model_calls.begin_call(
                    connection,
                    provider=self._provider,
                    model=model,
                    role=role,
                    now=now,
                    tokens_in=tokens_in,
                    tokens_out=tokens_out,
                )
                tokens = tokens_in + tokens_out
                refused = self._ceilings.refused(begun.hour, begun.day, tokens, now)
                if refused is not None:
                    raise _Undone(refused)
        except _Undone as undone:
            return undone.failure
        return begun.id

    async def end(self, call: int, model: str, tally: Tally, seconds: float, outcome: str) -> None:
        """Writes how a call ended. Raises DatabaseUnavailable."""
        ended = Ended(model, tally.requests, tally.tokens_in, tally.tokens_out, seconds, outcome)
        async with self._database.acquire() as connection:
            await model_calls.end_call(connection, call, ended)
