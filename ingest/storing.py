"""Records become messages: once each, with the trust they have earned."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from agents_memory.clock import Clock
from agents_memory.domain.errors import MemoryFault, Refusal
from agents_memory.domain.messages import Accepted, Draft, Origin, Role, Trust
from agents_memory.observe import Action, get_logger
from agents_memory.services.captured import Captured
from agents_memory.services.captured import Kept as Kept
from agents_memory.services.intake import Intake, accept
from agents_memory.storage.connections import Database
from agents_memory.storage.faults import blames_the_data
from ingest.projects import project_of
from ingest.records import Record

log = get_logger()

# The ids of these clients are the same wherever their files are copied to, so all stores are one.
STORE_ID = "any"
# A turn from later than this is one from a wrong clock, and its time unknown.
_FUTURE = timedelta(minutes=5)
# Stored in one transaction: more gain little, and hold up what else the database is asked.
MOST_TURNS = 200
MOST_CHARS = 1_000_000


class Storing:
    """Hands the records of one client on one device to the intake."""

    def __init__(
        self,
        database: Database,
        intake: Intake,
        user_id: int,
        clock: Clock,
        *,
        client: str,
        device: str,
        origin: Origin = Origin.CAPTURED,
    ) -> None:
        self._captured = Captured(database, intake)
        self._user_id = user_id
        self._clock = clock
        self._client = client
        self._device = device
        self._origin = origin

    async def keep(self, records: Sequence[Record]) -> Counter[Kept]:
        """Stores records in their order; safe to repeat.

        Raises MemoryFault when the database cannot take any now; what was stored before stays. A
        record that it will never take is left out, said in the log, and stops no other.
        """
        outcomes: Counter[Kept] = Counter()
        turns: list[Accepted] = []
        for record in records:
            turn = await self._accepted(record)
            if isinstance(turn, Refusal):
                outcomes[Kept.REFUSED] += 1
            else:
                turns.append(turn)
        for group in _groups(turns):
            outcomes.update(await self._stored(group))
        return outcomes

    async def store(self, record: Record) -> Kept:
        """Stores one record, unless it is there."""
        turn = await self._accepted(record)
        if isinstance(turn, Refusal):
            return Kept.REFUSED
        return await self._captured.store(turn, self._user_id)

    async def _accepted(self, record: Record) -> Accepted | Refusal:
        now = self._clock.now()
        draft = draft_of(record, self._client, self._device, origin=self._origin, now=now)
        return await accept(draft, now)

    async def _stored(self, turns: Sequence[Accepted]) -> Sequence[Kept]:
        try:
            return await self._captured.store_many(turns, self._user_id)
        except MemoryFault as fault:
            if not blames_the_data(fault):
                raise
            if len(turns) > 1:
                # One of them; which, the next tries tell.
                return [kept for turn in turns for kept in await self._stored([turn])]
            log.error(Action.CAPTURE_FAILED, client=self._client, error=fault)
            return [Kept.FAILED]


def _groups(turns: Sequence[Accepted]) -> Iterator[list[Accepted]]:
    """Turns as they are stored in one transaction."""
    group: list[Accepted] = []
    chars = 0
    for turn in turns:
        chars += len(turn.draft.text)
        if group and (len(group) == MOST_TURNS or chars > MOST_CHARS):
            yield group
            group, chars = [], len(turn.draft.text)
        group.append(turn)
    if group:
        yield group


def draft_of(record: Record, client: str, device: str, *, origin: Origin, now: datetime) -> Draft:
    """A record as the intake takes it; what a person typed has the owner's trust.

    The rest has an agent's. A time in the future is unknown: the clock was wrong.
    """
    said = record.occurred_at
    return Draft(
        role=record.role,
        text=record.text,
        origin=origin,
        trust=Trust.OWNER if record.human and record.role is Role.USER else Trust.AGENT,
        platform=client,
        model=record.model,
        subagent=record.subagent,
        subagent_model=record.model if record.subagent else None,
        subagent_role=record.subagent_role,
        device=device,
        venue=record.venue,
        session=record.session,
        cwd=record.cwd,
        project_hint=project_of(record.cwd),
        occurred_at=None if said is not None and said > now + _FUTURE else said,
        source=client,
        store_id=STORE_ID,
        native_id=record.native_id,
    )
