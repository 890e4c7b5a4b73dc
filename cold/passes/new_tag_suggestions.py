"""New-tag suggestions: free tags in frequent use that may be projects."""

from datetime import timedelta

from agents_memory.clock import Clock
from agents_memory.domain.tags import is_generic_tag, normalise_tag
from agents_memory.observe import Action, get_logger
from agents_memory.storage import suggestions
from agents_memory.storage.connections import Database
from agents_memory.storage.suggestions import Kind
from cold.fence import fenced

log = get_logger()

EVERY_S = 600.0
# So many stand open at a time; and so many are looked at, as those that say nothing are passed by.
MAX_OPEN = 50
LOOKED_AT = 500


class NewTagSuggestions:
    """Suggests and no more: a name that is known, open or was ever rejected is left alone."""

    name = "new_tag_suggestions"

    def __init__(
        self, database: Database, clock: Clock, *, window_days: int, min_uses: int
    ) -> None:
        self._database = database
        self._clock = clock
        self._window = timedelta(days=window_days)
        self._min_uses = min_uses
        self._due = 0.0

    async def run(self, epoch: int) -> None:
        now = self._clock.monotonic()
        if now < self._due:
            return
        since = self._clock.now() - self._window
        found = await self._database.run(
            lambda c: suggestions.list_frequent_d_tags(c, since, self._min_uses, LOOKED_AT)
        )
        telling = [
            tag
            for tag in found
            if not is_generic_tag(tag.name) and normalise_tag(tag.name) == tag.name
        ]
        made = 0
        async with fenced(self._database, epoch) as connection:
            room = MAX_OPEN - await suggestions.count_pending(connection, Kind.NEW)
            for tag in telling[: max(0, room)]:
                reasons = {
                    "uses": tag.uses,
                    "unfiled": tag.unfiled,
                    "sessions": tag.sessions,
                    "days": self._window.days,
                }
                made += (
                    await suggestions.suggest_name(connection, tag.name, tag.uses, reasons)
                ) is not None
        self._due = now + EVERY_S
        if made:
            log.info(Action.PASS_DONE, stage=self.name, items=made)
