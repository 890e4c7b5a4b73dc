"""Missing vectors: whatever should have a vector of one of our models and has none is queued."""

from collections.abc import Sequence

from agents_memory.clock import Clock
from agents_memory.embedding.protocol import Embedder
from agents_memory.observe import Action, get_logger
from agents_memory.storage import vectors, work
from agents_memory.storage.connections import Database
from agents_memory.storage.vectors import Model
from cold.fence import fenced
from cold.passes.embed import Embed
from cold.passes.models import Models

log = get_logger()

EVERY_S = 3600.0
# Without the active model nobody settles new messages here, and so nobody asks for the others.
EVERY_WITHOUT_ACTIVE_S = 60.0
AT_A_TIME = 5000


class MissingVectors:
    """At the first look at a model, when the active one changes, and once an hour.

    The queue has a row for every new item, so this finds something only after a change of the
    models, a new version of the pass, or a repair by hand.
    """

    name = "missing_vectors"

    def __init__(self, database: Database, embedders: Sequence[Embedder], clock: Clock) -> None:
        self._database = database
        self._models = Models(embedders)
        self._clock = clock
        self._due: dict[Model, float] = {}

    async def run(self, epoch: int) -> None:
        models = [m for m in await self._database.run(vectors.list_models) if self._models.has(m)]
        behind = any(model.active for model in models)
        # A model that became active, or was given up and made again, is looked at as a new one.
        self._due = {model: self._due.get(model, 0.0) for model in models}
        for model in models:
            now = self._clock.monotonic()
            if now < self._due[model]:
                continue
            async with fenced(self._database, epoch) as connection:
                queued = await work.queue_unembedded(
                    connection, model, Embed.version, AT_A_TIME, behind=behind
                )
            # A full batch means that there may be more.
            rest = EVERY_S if behind else EVERY_WITHOUT_ACTIVE_S
            self._due[model] = now if queued >= AT_A_TIME else now + rest
            if queued:
                log.info(Action.PASS_DONE, stage=self.name, items=queued)
