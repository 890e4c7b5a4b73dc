"""Cluster: old messages of one project and day are put together, to be summarised and archived."""

from collections.abc import Sequence
from datetime import UTC, timedelta
from itertools import groupby

from agents_memory.clock import Clock
from agents_memory.domain.trust import lowest
from agents_memory.observe import Action, get_logger
from agents_memory.storage import summaries, work
from agents_memory.storage.connections import Database
from agents_memory.storage.summaries import MAX_MESSAGES, Archivable, Plan
from cold.fence import fenced
from cold.llm.port import LanguageModel, Role
from cold.passes.summarise import MODEL_BYTES, Summarise

log = get_logger()

ARCHIVE_AFTER_DAYS = 30
EVERY_S = 3600.0
# While there is more to plan; so many messages a look, that no transaction is long.
AT_A_TIME = 500
# Summaries that no longer fit, and those that a model may write better, at a look.
MISFITS, PROVISIONAL = 50, 20


class Cluster:
    """Plans a summary for each day (UTC) of a user's project on a platform, private turns apart.

    Looks at whole days that are older than `after_days` by when we learned of them, once an hour,
    and again at once while there is more. Withdraws summaries of which a message was held back or
    filed elsewhere, and asks anew for those that rules wrote once a model is there; where one was
    asked in vain, once it is another one or some time has passed, a few times in all.
    """

    name = "cluster"

    def __init__(
        self,
        database: Database,
        models: LanguageModel,
        clock: Clock,
        after_days: int = ARCHIVE_AFTER_DAYS,
    ) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._after = timedelta(days=after_days)
        self._due = 0.0

    async def run(self, epoch: int) -> None:
        now = self._clock.monotonic()
        if now < self._due:
            return
        withdrawn = await self._withdraw(epoch)
        planned, full = await self._plan(epoch)
        asked = 0
        if self._models.serves(Role.CLUSTER):
            async with fenced(self._database, epoch) as connection:
                asked = await summaries.queue_provisional(
                    connection, PROVISIONAL, self._models.named(Role.CLUSTER)
                )
        more = full or withdrawn == MISFITS or asked == PROVISIONAL
        self._due = now if more else now + EVERY_S
        if planned or withdrawn or asked:
            log.info(Action.PASS_DONE, stage=self.name, items=planned + withdrawn + asked)

    async def _withdraw(self, epoch: int) -> int:
        async with fenced(self._database, epoch) as connection:
            found = await summaries.list_misfits(connection, MISFITS)
            await summaries.withdraw(connection, found)
        return len(found)

    async def _plan(self, epoch: int) -> tuple[int, bool]:
        """How many were planned, and whether there may be more to plan."""
        today = (self._clock.now() - self._after).astimezone(UTC)
        before = today.replace(hour=0, minute=0, second=0, microsecond=0)
        async with fenced(self._database, epoch) as connection:
            found = await summaries.list_archivable(connection, before, AT_A_TIME)
            planned = spans(found)
            for span in planned:
                summary = await summaries.plan(connection, _planned(span))
                await work.queue_work(connection, summary, Summarise.stage)
        return len(planned), len(found) == AT_A_TIME


def spans(messages: Sequence[Archivable]) -> list[list[Archivable]]:
    """Messages put together by user, project, platform, privacy and day, in the order of time.

    At most 40, and no more than a model can read of; one that is longer stands alone.
    """
    found: list[list[Archivable]] = []
    ordered = sorted(messages, key=lambda one: (*_scope(one), one.said_at, one.id))
    for _, group in groupby(ordered, key=_scope):
        size = 0
        found.append([])
        for message in group:
            full = size + message.bytes > MODEL_BYTES or len(found[-1]) == MAX_MESSAGES
            if found[-1] and full:
                found.append([])
                size = 0
            found[-1].append(message)
            size += message.bytes
    return found


def _planned(span: Sequence[Archivable]) -> Plan:
    first, said = span[0], [message.said_at for message in span]
    return Plan(
        first.user_id,
        first.p_tag,
        first.platform,
        first.private,
        lowest(message.trust for message in span),
        min(said),
        max(said),
        tuple(message.id for message in span),
    )


def _scope(message: Archivable) -> tuple[int, int, str, bool, str]:
    day = message.said_at.astimezone(UTC).date().isoformat()
    return (message.user_id, message.p_tag or 0, message.platform, message.private, day)
