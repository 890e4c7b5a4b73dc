"""Records become messages: once each, with the trust they have earned."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from agents_memory.clock import Clock
from agents_memory.domain.errors import MemoryFault, Refusal
from agents_memory.domain.messages import Draft, Origin, Role, Trust
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
        for record in records:
            try:
                outcomes[await self.store(record)] += 1
            except MemoryFault as fault:
                if not blames_the_data(fault):
                    raise
                log.error(Action.CAPTURE_FAILED, client=self._client, error=fault)
                outcomes[Kept.FAILED] += 1
        return outcomes

    async def store(self, record: Record) -> Kept:
        """Stores one record, unless it is there."""
        draft = draft_of(
            record, self._client, self._device, origin=self._origin, now=self._clock.now()
        )
        turn = await accept(draft, self._clock.now())
        if isinstance(turn, Refusal):
            return Kept.REFUSED
        return await self._captured.store(turn, self._user_id)


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
