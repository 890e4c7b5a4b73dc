"""Records become messages: once each, with the trust they have earned."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from agents_memory.clock import Clock
from agents_memory.domain.errors import MemoryFault, Refusal
from agents_memory.domain.messages import Draft, Origin, Role, Trust
from agents_memory.domain.text import content_key
from agents_memory.domain.trust import lowest
from agents_memory.observe import Action, get_logger
from agents_memory.services.intake import Intake, prepare
from agents_memory.storage import captures
from agents_memory.storage.captures import Identity, Told
from agents_memory.storage.connections import Connection, Database
from ingest.projects import project_of
from ingest.records import Record

log = get_logger()

# The ids of these clients are the same wherever their files are copied to, so all stores are one.
STORE_ID = "any"
# An agent hands a turn over while it works on it: within this time of its being said, either way.
TOLD_WITHIN = timedelta(minutes=10)
# A turn from later than this is one from a wrong clock, and its time unknown.
_FUTURE = timedelta(minutes=5)
# Classes of SQLSTATE that blame the data itself: its values, constraints, limits of the server.
_OF_THE_RECORD = ("22", "23", "54")


class Kept(StrEnum):
    """What became of a record: stored, known by its id, or by its words; refused or failed."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    COLLAPSED = "collapsed"
    REFUSED = "refused"
    FAILED = "failed"


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
        self._database = database
        self._intake = intake
        self._user_id = user_id
        self._clock = clock
        self._client = client
        self._device = device
        self._origin = origin
        self.redacted: Counter[str] = Counter()

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
                state = str(getattr(fault.__cause__, "sqlstate", None))
                if not state.startswith(_OF_THE_RECORD):
                    raise
                log.error(Action.CAPTURE_FAILED, client=self._client, error=fault)
                outcomes[Kept.FAILED] += 1
        return outcomes

    async def store(self, record: Record) -> Kept:
        """Stores one record, unless it is there."""
        draft = draft_of(
            record, self._client, self._device, origin=self._origin, now=self._clock.now()
        )
        turn = Identity(self._user_id, self._client, STORE_ID, record.native_id)
        said = draft.occurred_at or self._clock.now()

        async def look(connection: Connection) -> tuple[int | None, list[Told]]:
            told = await captures.list_told(
                connection,
                user_id=self._user_id,
                role=draft.role,
                platform=draft.platform,
                device=self._device,
                since=said - TOLD_WITHIN,
                until=said + TOLD_WITHIN,
            )
            # In this order: what another reader takes in between is then known by its turn.
            return await captures.find_turn(connection, turn), told

        known, told = await self._database.run(look)
        if known is not None:
            return Kept.DUPLICATE
        for candidate in same_words(draft, told):
            if await self._collapse(turn, candidate.id):
                return Kept.COLLAPSED
        stored = await self._intake.store(draft, self._user_id)
        if isinstance(stored, Refusal):
            return Kept.REFUSED
        self.redacted.update(stored.redactions)
        return Kept.DUPLICATE if stored.duplicate else Kept.STORED

    async def _collapse(self, turn: Identity, message_id: int) -> bool:
        async def write(connection: Connection) -> bool:
            if await captures.collapse_turn(connection, turn, message_id):
                return True
            # Another reader of the same transcript may just have done it.
            return await captures.find_turn(connection, turn) is not None

        return await self._database.run(write)


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


def same_words(draft: Draft, told: Sequence[Told]) -> list[Told]:
    """Of what agents handed over, what says the same and is trusted as much, the nearest first.

    So a person's own words are stored although an agent reported them: its report is worth less.
    """
    prepared = prepare(draft) if told else None
    if prepared is None or isinstance(prepared, Refusal):
        return []
    clean, _ = prepared
    key = content_key(clean.text)
    same = [
        one
        for one in told
        if content_key(one.text) == key and lowest((one.trust, draft.trust)) is draft.trust
    ]
    said = draft.occurred_at
    return same if said is None else sorted(same, key=lambda one: abs(one.created_at - said))
