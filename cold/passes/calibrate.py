"""Calibrate: how the cosines of a model are to be read, measured once with the model itself."""

from collections.abc import Sequence

from agents_memory.clock import Clock
from agents_memory.embedding.calibrating import measure
from agents_memory.embedding.profiles import UNMEASURED
from agents_memory.embedding.protocol import Embedder
from agents_memory.observe import Action, get_logger
from agents_memory.storage import vectors
from agents_memory.storage.connections import Database
from cold.fence import fenced

log = get_logger()

AGAIN_AFTER_S = 600.0


class Calibrate:
    """For models that came into the pool without `embedding add`, which measures too.

    A model whose profile brings a curve is not measured; one that fails is tried again later.
    """

    name = "calibrate"

    def __init__(self, database: Database, embedders: Sequence[Embedder], clock: Clock) -> None:
        self._database = database
        self._unmeasured = {
            e.profile.id: e for e in embedders if e.profile.calibration is UNMEASURED
        }
        self._clock = clock
        self._due = clock.monotonic()

    async def run(self, epoch: int) -> None:
        if not self._unmeasured or self._clock.monotonic() < self._due:
            return
        self._due = self._clock.monotonic() + AGAIN_AFTER_S
        for model in await self._database.run(vectors.list_models):
            if model.profile not in self._unmeasured or model.midpoint is not None:
                continue
            curve = await measure(self._unmeasured[model.profile])
            if curve is None:
                # No curve helps, today or tomorrow.
                del self._unmeasured[model.profile]
                log.warning(
                    Action.PASS_FAILED, stage=self.name, model=model.profile, outcome="no meaning"
                )
                continue
            async with fenced(self._database, epoch) as connection:
                await vectors.record_calibration(connection, model, curve.midpoint, curve.scale)
            log.info(Action.PASS_DONE, stage=self.name, model=model.profile)
