"""Whether capture already stores what an agent is about to hand over."""

from agents_memory.clock import Clock
from agents_memory.storage import captures
from agents_memory.storage.connections import Connection, Database


class Coverage:
    """Asks for a fresh sign of life of the capturer for one session."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def covers(self, *, device: str, client: str, session: str) -> bool:
        """Whether every turn of this very session is being captured at this moment."""

        async def ask(connection: Connection) -> bool:
            return await captures.covered(
                connection, device=device, client=client, session=session, now=self._clock.now()
            )

        return await self._database.run(ask)
