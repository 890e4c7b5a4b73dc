"""Sessions: what was said and nobody wrote down is put into parts, to be summarised."""

from datetime import timedelta

from agents_memory.clock import Clock
from agents_memory.domain.sittings import (
    IDLE,
    WRITTEN_WITHIN,
    Line,
    Part,
    is_written,
    parts,
    sittings,
    tells,
)
from agents_memory.domain.trust import lowest
from agents_memory.observe import Action, get_logger
from agents_memory.storage import summaries, transcripts, work
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.summaries import MAX_MESSAGES, Plan
from agents_memory.storage.transcripts import QuietSession
from cold.fence import fenced
from cold.passes.cluster import ARCHIVE_AFTER_DAYS
from cold.passes.summarise import MODEL_BYTES, Summarise

log = get_logger()

EVERY_S = 3600.0
# So often all sessions are looked at again, for what was released or withdrawn since.
ANEW_S = 86_400.0
# Sessions in one transaction, and at most in one look at all messages.
AT_A_TIME, LISTED = 50, 5_000
# What is archived so soon gets a summary then, that of its day.
ARCHIVED_SOON = timedelta(days=1)


class Sessions:
    """Plans summaries of the parts of sessions that ended and of which nobody wrote a memory.

    Looks once an hour at sessions that messages came to, and again at once while there are more;
    once a day at all whose messages are not about to be archived (`after_days`). Their messages
    stay in everyday search.
    """

    name = "sessions"

    def __init__(
        self, database: Database, clock: Clock, after_days: int = ARCHIVE_AFTER_DAYS
    ) -> None:
        self._database = database
        self._clock = clock
        self._after = timedelta(days=after_days)
        self._due = 0.0
        # All up to this message were looked at, but for those of sessions that were not settled.
        self._reached = 0
        self._unsettled: int | None = None
        # Those that were found and not looked at yet.
        self._listed: list[QuietSession] = []
        self._anew = clock.monotonic() + ANEW_S

    async def run(self, epoch: int) -> None:
        now = self._clock.monotonic()
        if now < self._due:
            return
        if now >= self._anew:
            self._reached, self._listed, self._anew = 0, [], now + ANEW_S
        planned, full = await self._plan(epoch)
        if full:
            self._due = now
        else:
            self._due = now + EVERY_S
            if self._unsettled is not None:
                self._reached, self._unsettled = self._unsettled, None
        if planned:
            log.info(Action.PASS_DONE, stage=self.name, items=planned)

    async def _plan(self, epoch: int) -> tuple[int, bool]:
        """How many were planned, and whether there may be more to plan."""
        planned, reached, unsettled = 0, self._reached, self._unsettled
        if not self._listed:
            self._listed = await self._list()
        found = self._listed[:AT_A_TIME]
        async with fenced(self._database, epoch) as connection:
            for session in found:
                if await transcripts.is_unsettled(connection, session):
                    if unsettled is None:
                        unsettled = reached
                else:
                    planned += await self._plan_session(connection, session)
                reached = session.last_id
        # Once it is committed.
        self._reached, self._unsettled = reached, unsettled
        self._listed = self._listed[AT_A_TIME:]
        return planned, len(found) == AT_A_TIME

    async def _list(self) -> list[QuietSession]:
        # Not for each transaction anew, as it reads all messages that are not archived yet.
        now, reached = self._clock.now(), self._reached
        return await self._database.run(
            lambda connection: transcripts.list_quiet_sessions(
                connection,
                since=now - self._after + ARCHIVED_SOON,
                above=reached,
                before=now - IDLE,
                limit=LISTED,
            )
        )

    async def _plan_session(self, connection: Connection, session: QuietSession) -> int:
        planned = 0
        for sitting in sittings(await transcripts.list_lines(connection, session)):
            if not tells(sitting) or await _written(connection, session, sitting):
                continue
            for part in parts(sitting, most_bytes=MODEL_BYTES, most_lines=MAX_MESSAGES):
                summary = await summaries.plan(connection, _planned(session, part))
                await work.queue_work(connection, summary, Summarise.stage)
                planned += 1
        return planned


async def _written(connection: Connection, session: QuietSession, sitting: list[Line]) -> bool:
    rested_on = await transcripts.list_rested_on(connection, [line.id for line in sitting])
    began, ended = sitting[0].said_at, sitting[-1].said_at + WRITTEN_WITHIN
    notes = await transcripts.list_written(connection, session, began, ended)
    return is_written(sitting, rested_on, notes)


def _planned(session: QuietSession, part: Part) -> Plan:
    return Plan(
        session.user_id,
        part.p_tag,
        session.platform,
        part.private,
        lowest(line.trust for line in part.lines),
        part.lines[0].said_at,
        part.lines[-1].said_at,
        tuple(line.id for line in part.lines),
        session.session,
    )
