"""The sign of life of the work itself: the lock alone says only that the process is there."""

import asyncio
from datetime import timedelta
from typing import Any

from agents_memory.clock import Clock
from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.observe import Action, get_logger
from agents_memory.storage import leadership
from agents_memory.storage.connections import Database
from cold.fence import fenced

log = get_logger()

EVERY_S = 15.0
# The longest that a batch may take; `status` turns red after that.
PATIENCE_S = 600.0


class Beat:
    """Written with the looks at the queue, at most every 15 seconds a term.

    Each promises another one within the longest rest (`rest_s`) and ten minutes.
    """

    def __init__(self, clock: Clock, rest_s: float) -> None:
        self._clock = clock
        self._within = timedelta(seconds=rest_s + PATIENCE_S)
        self._epoch: int | None = None
        self._shown_at = 0.0

    async def show(self, database: Database, epoch: int) -> None:
        """Shows that the queue is looked at. Raises Deposed when another term began."""
        now = self._clock.monotonic()
        if epoch == self._epoch and now - self._shown_at < EVERY_S:
            return
        async with fenced(database, epoch) as connection:
            await leadership.show_beat(connection, epoch, self._within)
        self._epoch, self._shown_at = epoch, now

    async def keep(self, database: Database, epoch: int) -> Any:
        """Shows life again and again beside a chore, which may take hours; never returns.

        Raises Deposed when another term began.
        """
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self.show(database, epoch)
            except DatabaseUnavailable as fault:
                # The chore finds out for itself, or need not know.
                log.info(Action.DATABASE_LOST, error=fault)
