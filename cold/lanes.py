"""Questions to a model side by side, as many as its server can bear."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Lanes:
    """At most `most` (1 or more) at a time; fewer for a while after one took too long.

    A server that answers one at a time lets the others wait, and their time runs out meanwhile.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.open = most

    async def each(
        self, work: Callable[[Item], Awaitable[Result]], items: Sequence[Item]
    ) -> list[Result]:
        """The results in the order of the items, which are begun in that order.

        The first exception ends the others and is raised.
        """
        free = asyncio.Semaphore(self.open)

        async def one(item: Item) -> Result:
            async with free:
                return await work(item)

        tasks = [asyncio.ensure_future(one(item)) for item in items]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def note(self, *, too_slow: bool) -> None:
        """Half as many after a call that took too long, one more after each time without."""
        self.open = max(1, self.open // 2) if too_slow else min(self._most, self.open + 1)
