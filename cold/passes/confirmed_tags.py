"""Confirmed tags: messages that carry the very name and have no project come under it."""

from agents_memory.observe import Action, get_logger
from agents_memory.storage import retags, suggestions
from agents_memory.storage.connections import Database
from cold.fence import fenced

log = get_logger()

AT_A_TIME = 500


class ConfirmedTags:
    """A batch a transaction, so that a daemon that dies in the middle is followed by the next."""

    name = "confirmed_tags"

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, epoch: int) -> None:
        for confirmed in await self._database.run(suggestions.list_unfiled):
            total, more = 0, True
            while more:
                async with fenced(self._database, epoch) as connection:
                    ids = await suggestions.file_messages(connection, confirmed, AT_A_TIME)
                    await retags.sync_projects(connection, ids)
                total, more = total + len(ids), len(ids) == AT_A_TIME
            log.info(Action.PASS_DONE, stage=self.name, items=total)
