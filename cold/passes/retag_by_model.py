"""Retag by model: what rules have filed is filed again once a model is there."""

from agents_memory.clock import Clock
from agents_memory.observe import Action, get_logger
from agents_memory.storage import filing
from agents_memory.storage.connections import Database
from cold.fence import fenced
from cold.llm.port import LanguageModel, Role
from cold.passes.tag import Tag

log = get_logger()

EVERY_S = 3600.0
# So few that a new message never waits long behind them.
AT_A_TIME = 20


class RetagByModel:
    """Newest first, a few at a look; from the top again once an hour.

    Never the other way round, and where a model was asked in vain only by another one.
    """

    name = "retag_by_model"

    def __init__(self, database: Database, models: LanguageModel, clock: Clock) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._due = 0.0
        self._below = filing.NEWEST

    async def run(self, epoch: int) -> None:
        now = self._clock.monotonic()
        if now < self._due or not self._models.serves(Role.TAGGER):
            return
        async with fenced(self._database, epoch) as connection:
            if await filing.count_waiting(connection, AT_A_TIME) >= AT_A_TIME:
                return
            queued = await filing.queue_filed_by_rules(
                connection,
                self._below,
                AT_A_TIME,
                model=self._models.named(Role.TAGGER),
                version=Tag.version,
            )
        if queued:
            log.info(Action.PASS_DONE, stage=self.name, items=len(queued))
        # A full batch means that there may be more, further down.
        if len(queued) >= AT_A_TIME:
            self._below = queued[-1]
        else:
            self._below, self._due = filing.NEWEST, now + EVERY_S
