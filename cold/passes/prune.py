"""Prune: what was logged so long ago that nobody asks for it any more."""

from datetime import timedelta

from agents_memory.clock import Clock
from agents_memory.observe import Action, get_logger
from agents_memory.storage import pruning
from agents_memory.storage.connections import Database
from cold.fence import fenced

log = get_logger()

LOG_RETENTION_DAYS = 90
EVERY_S = 3600.0
# Of each log in one transaction.
AT_A_TIME = 2_000


class Prune:
    """Once an hour, and again at once while there is more."""

    name = "prune"

    def __init__(
        self, database: Database, clock: Clock, retention_days: int = LOG_RETENTION_DAYS
    ) -> None:
        self._database = database
        self._clock = clock
        self._retention = timedelta(days=retention_days)
        self._due = 0.0

    async def run(self, epoch: int) -> None:
        now = self._clock.monotonic()
        if now < self._due:
            return
        before = self._clock.now() - self._retention
        async with fenced(self._database, epoch) as connection:
            gone = await pruning.prune_logs(connection, before, AT_A_TIME)
        self._due = now if max(gone.values(), default=0) == AT_A_TIME else now + EVERY_S
        if total := sum(gone.values()):
            log.info(Action.PASS_DONE, stage=self.name, items=total)
