"""The breaker of a provider, kept in the database: a restart forgets no hold, and all see it."""

from datetime import timedelta

from agents_memory.clock import Clock
from agents_memory.storage import holds
from agents_memory.storage.connections import Database
from agents_memory.storage.holds import Hold
from cold.llm.breaker import Breaker, Held
from cold.llm.port import Provider


class Holding:
    """Belongs to one provider; every method but `left` raises DatabaseUnavailable.

    `reason`: why it is held, known after `enter` said that it is.
    """

    def __init__(
        self, database: Database, provider: Provider, breaker: Breaker, clock: Clock
    ) -> None:
        self._database = database
        self._provider = provider
        self._breaker = breaker
        self._clock = clock
        self.reason: str | None = None

    async def enter(self) -> Held | None:
        """Before a call: why it must not be made, or None; see `Breaker.enter`.

        What another daemon kept is taken over; a hold that somebody took away is none.
        """
        kept = await self._database.run(lambda c: holds.find_hold(c, self._provider))
        if kept is not None:
            self.reason = kept.reason
            self._breaker.take_over(kept.times, kept.held_until)
        elif self._breaker.hold is not None:
            self._breaker.succeeded()
        return self._breaker.enter()

    async def succeeded(self) -> None:
        """The provider answered, whatever the answer was worth."""
        held = self._breaker.hold is not None
        self._breaker.succeeded()
        if held:
            await self._database.run(lambda c: holds.delete_hold(c, self._provider))

    async def failed(self, at_least: timedelta, reason: str) -> None:
        """The provider did not answer; `at_least` is how long it asked to be left alone.

        `reason`: what is wrong and what to do, for whoever looks at the hold.
        """
        self._breaker.failed(at_least)
        if (state := self._breaker.hold) is not None:
            hold = Hold(self._provider, *state, self._clock.now(), reason)
            await self._database.run(lambda c: holds.write_hold(c, hold))

    def left(self) -> None:
        """The call was broken off before anything could be said about the provider."""
        self._breaker.left()
