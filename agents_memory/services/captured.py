"""Captured turns: each stored once, or known by what an agent handed over before."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

from agents_memory.domain.errors import Refusal
from agents_memory.domain.messages import Accepted, Draft
from agents_memory.domain.text import content_key
from agents_memory.domain.trust import lowest
from agents_memory.services.intake import Intake, prepare
from agents_memory.storage import captures
from agents_memory.storage.captures import Identity, Told
from agents_memory.storage.connections import Connection, Database

# An agent hands a turn over while it works on it: within this time of its being said, either way.
TOLD_WITHIN = timedelta(minutes=10)


class Kept(StrEnum):
    """What became of a record: stored, known by its id, or by its words; waiting on this machine's
    disk; refused or failed."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    COLLAPSED = "collapsed"
    QUEUED = "queued"
    REFUSED = "refused"
    FAILED = "failed"


class Captured:
    """The way in for turns that bear their client's own id."""

    def __init__(self, database: Database, intake: Intake) -> None:
        self._database = database
        self._intake = intake

    async def store(self, turn: Accepted, user_id: int) -> Kept:
        """Stores one accepted turn, unless it is there; safe to repeat.

        The draft names its source, store, native id and device. Raises DatabaseUnavailable.
        """
        draft = turn.draft
        if draft.source is None or draft.store_id is None or draft.native_id is None:
            raise ValueError("a captured turn has an id in its client's store")
        identity = Identity(user_id, draft.source, draft.store_id, draft.native_id)
        said = draft.occurred_at or turn.at

        async def look(connection: Connection) -> tuple[int | None, list[Told]]:
            told = await captures.list_told(
                connection,
                user_id=user_id,
                role=draft.role,
                platform=draft.platform,
                device=draft.device or "",
                since=said - TOLD_WITHIN,
                until=said + TOLD_WITHIN,
            )
            # In this order: what another reader takes in between is then known by its turn.
            return await captures.find_turn(connection, identity), told

        known, told = await self._database.run(look)
        if known is not None:
            return Kept.DUPLICATE
        for candidate in same_words(draft, told):
            if await self._collapse(identity, candidate.id):
                return Kept.COLLAPSED
        stored = await self._intake.insert(turn, user_id)
        return Kept.DUPLICATE if stored.duplicate else Kept.STORED

    async def _collapse(self, turn: Identity, message_id: int) -> bool:
        async def write(connection: Connection) -> bool:
            if await captures.collapse_turn(connection, turn, message_id):
                return True
            # Another reader of the same transcript may just have done it.
            return await captures.find_turn(connection, turn) is not None

        return await self._database.run(write)


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
