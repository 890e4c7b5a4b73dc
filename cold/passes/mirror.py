"""Mirror: the Markdown pages of the daemon's user, where it has a folder for them."""

from datetime import tzinfo
from pathlib import Path

from agents_memory.clock import Clock
from agents_memory.domain.errors import Refusal
from agents_memory.observe import Action, get_logger
from agents_memory.services import mirror
from agents_memory.settings import Settings
from agents_memory.storage.connections import Database
from agents_memory.storage.users import ensure_user
from cold.fence import fenced

log = get_logger()

EVERY_S = 86_400.0
# After a folder could not be written to, or the database was away.
AGAIN_S = 3_600.0


class Mirror:
    """Daily: the page of last month, those of other months that are there, and those of tags.

    What did not change is not touched. Private items are left out.
    """

    name = "mirror"

    def __init__(
        self, database: Database, clock: Clock, directory: Path, *, user: str, zone: tzinfo
    ) -> None:
        self._database = database
        self._clock = clock
        self._directory = directory
        self._user = user
        self._zone = zone
        self._due = 0.0

    @classmethod
    def of(cls, settings: Settings, database: Database, clock: Clock) -> "Mirror | None":
        """As the settings say; None without a folder."""
        if settings.mirror_dir is None:
            return None
        return cls(
            database, clock, settings.mirror_dir, user=settings.user_name, zone=settings.time_zone
        )

    async def run(self, epoch: int) -> None:
        now = self._clock.monotonic()
        if now < self._due:
            return
        self._due = now + AGAIN_S
        async with fenced(self._database, epoch) as connection:
            user_id = await ensure_user(connection, self._user)
        pages = mirror.Mirror(
            self._database,
            self._clock,
            user_id=user_id,
            user=self._user,
            zone=self._zone,
            directory=self._directory,
        )
        made = await pages.everything(None)
        if isinstance(made, Refusal):
            log.warning(Action.PASS_FAILED, stage=self.name, reason=made.message)
            return
        written = 0
        for outcome in made:
            assert outcome.done is not None, "there is a folder"
            written += len(outcome.done.written) + len(outcome.done.removed)
        self._due = now + EVERY_S
        if written:
            log.info(Action.PASS_DONE, stage=self.name, items=written)
