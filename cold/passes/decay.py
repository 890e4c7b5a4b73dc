"""Decay: activations as of now, all of them once a day, those of what was touched at every look."""

from datetime import timedelta

from agents_memory.clock import Clock
from agents_memory.domain.errors import DatabaseUnavailable, Deposed, MemoryFault
from agents_memory.observe import Action, get_logger
from agents_memory.services.forgetting import Forgetting
from agents_memory.storage import activations
from agents_memory.storage.connections import Database
from cold.fence import fenced

log = get_logger()

ALL_EVERY = timedelta(hours=24)
LOOK_EVERY_S = 60.0


class Decay:
    """Folds traces and computes everything daily; in between, a use is felt within a minute."""

    name = "decay"

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._look = clock.monotonic()

    async def run(self, epoch: int) -> None:
        if self._clock.monotonic() < self._look:
            return
        forgetting = Forgetting(lambda: fenced(self._database, epoch), self._clock)
        upkeep = await self._database.run(activations.find_upkeep)
        now, last = self._clock.now(), upkeep.recomputed_at
        # A time in the future was written before the clock was put back.
        if last is None or not timedelta() <= now - last < ALL_EVERY:
            newest = await self._database.run(activations.find_newest_trace)
            folded = await self._fold(forgetting)
            await forgetting.prune()
            done = await forgetting.recompute()
            async with fenced(self._database, epoch) as connection:
                await activations.record_recomputed(connection, now, newest)
            log.info(Action.PASS_DONE, stage=self.name, items=done.changed, folded=folded)
        else:
            newest = await forgetting.recompute_touched(upkeep.counted_id)
            if newest != upkeep.counted_id:
                async with fenced(self._database, epoch) as connection:
                    await activations.record_counted(connection, newest)
        self._look = self._clock.monotonic() + LOOK_EVERY_S

    async def _fold(self, forgetting: Forgetting) -> int:
        try:
            return await forgetting.fold()
        except (Deposed, DatabaseUnavailable):
            raise
        except MemoryFault as fault:
            # Somebody was writing all the time: what is not folded is computed from single traces.
            log.warning(Action.PASS_FAILED, stage=self.name, error=fault)
            return 0
