"""The index over the vectors: built when a scan would be slow, and compared with a scan daily."""

from agents_memory.clock import Clock
from agents_memory.observe import Action, get_logger
from agents_memory.storage import vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.vectors import EXACT_ROWS, Model
from cold.fence import fenced

log = get_logger()

LOOK_EVERY_S = 600.0
COMPARE_EVERY_S = 24 * 3600.0


class VectorIndex:
    """Indexes a model above 20,000 chunks; then measures what the index finds.

    A model that searches don't use yet is indexed when it has all its vectors: much faster than
    with each row, and the change to it is no slow day.
    """

    name = "vector_index"

    def __init__(self, database: Database, clock: Clock, *, from_rows: int = EXACT_ROWS) -> None:
        self._database = database
        self._clock = clock
        self._from_rows = from_rows
        self._look = clock.monotonic()
        self._compare: dict[int, float] = {}

    async def run(self, epoch: int) -> None:
        if self._clock.monotonic() < self._look:
            return
        models = await self._database.run(vectors.list_models)
        self._look = self._clock.monotonic() + LOOK_EVERY_S
        for model in models:
            if not model.indexed:
                if not await self._is_due(model):
                    continue
                # No fence is held: it would keep a successor waiting, and a second is not built.
                async with self._database.acquire() as connection:
                    await vectors.build_index(connection, model)
                self._compare.pop(model.id, None)
            if self._clock.monotonic() >= self._compare.get(model.id, 0.0):
                await self._measure(model, epoch)

    async def _is_due(self, model: Model) -> bool:
        async def look(connection: Connection) -> bool:
            if await vectors.count_searchable(connection, model) <= self._from_rows:
                return False
            return model.active or (await vectors.count_coverage(connection, model)).complete

        return await self._database.run(look)

    async def _measure(self, model: Model, epoch: int) -> None:
        async with self._database.acquire() as connection:
            recall = await vectors.compare_index(connection, model)
        async with fenced(self._database, epoch) as connection:
            await vectors.record_index_recall(connection, model, recall)
        self._compare[model.id] = self._clock.monotonic() + COMPARE_EVERY_S
        log.info(Action.PASS_DONE, stage=self.name, recall=round(recall, 3))
