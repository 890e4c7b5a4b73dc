"""Lexeme statistics: document frequencies for the keyword arm, counted anew as the pool grows."""

from agents_memory.clock import Clock
from agents_memory.observe import Action, get_logger
from agents_memory.storage import lexemes
from agents_memory.storage.connections import Database
from agents_memory.storage.lexemes import Totals
from cold.fence import fenced

log = get_logger()

LOOK_EVERY_S = 60.0
GROWN_BY_SHARE = 0.05
GROWN_BY_MESSAGES = 50
AT_LEAST_EVERY_S = 3600.0
# Counting reads every message: it may take a fiftieth of the time at most.
REST_FACTOR = 50.0


class LexemeStatistics:
    """Counts when the pool grew by 5 % or 50 messages, and once an hour when it grew at all."""

    name = "lexeme_statistics"

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._look = self._hourly = self._rested = clock.monotonic()

    async def run(self, epoch: int) -> None:
        started = self._clock.monotonic()
        if started < max(self._look, self._rested):
            return
        documents, words = await self._database.run(lexemes.count_documents)
        totals = await self._database.run(lexemes.find_totals)
        if not is_due(totals, documents, hourly=started >= self._hourly):
            self._look = started + LOOK_EVERY_S
            return
        async with self._database.transaction() as connection:
            counts = await lexemes.count_all(connection)
        async with fenced(self._database, epoch) as connection:
            await lexemes.replace_counts(connection, counts, documents, words)
        now = self._clock.monotonic()
        self._look = now + LOOK_EVERY_S
        self._hourly = now + AT_LEAST_EVERY_S
        self._rested = now + REST_FACTOR * (now - started)
        log.info(Action.PASS_DONE, stage=self.name, items=len(counts))


def is_due(totals: Totals, documents: int, *, hourly: bool) -> bool:
    """Whether the statistics are worth counting again; `hourly` when the last count is an hour ago.

    A pool that did not change in number is counted once, and never again.
    """
    if totals.counted_at is None:
        return True
    grown = abs(documents - totals.documents)
    if grown == 0:
        return False
    few = min(GROWN_BY_MESSAGES, max(1, GROWN_BY_SHARE * totals.documents))
    return hourly or grown >= few
