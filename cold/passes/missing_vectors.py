"""Missing vectors: whatever should have a vector of the active model and has none is queued."""

from agents_memory.clock import Clock
from agents_memory.embedding.protocol import Embedder
from agents_memory.observe import Action, get_logger
from agents_memory.storage import vectors, work
from agents_memory.storage.connections import Database
from cold.fence import fenced
from cold.passes.embed import Embed

log = get_logger()

EVERY_S = 3600.0
AT_A_TIME = 5000


class MissingVectors:
    """At the first look, when the active model changes, and once an hour.

    The queue has a row for every new item, so this finds something only after a change of the
    model, a new version of the pass, or a repair by hand.
    """

    name = "missing_vectors"

    def __init__(self, database: Database, embedder: Embedder, clock: Clock) -> None:
        self._database = database
        self._profile = embedder.profile.id
        self._clock = clock
        self._model: vectors.Model | None = None
        self._due = clock.monotonic()

    async def run(self, epoch: int) -> None:
        model = await self._database.run(vectors.find_active_model)
        now = self._clock.monotonic()
        if model is None or model.profile != self._profile:
            return
        if model == self._model and now < self._due:
            return
        async with fenced(self._database, epoch) as connection:
            queued = await work.queue_unembedded(connection, model, Embed.version, AT_A_TIME)
        self._model = model
        # A full batch means that there may be more.
        self._due = now if queued >= AT_A_TIME else now + EVERY_S
        if queued:
            log.info(Action.PASS_DONE, stage=self.name, items=queued)
