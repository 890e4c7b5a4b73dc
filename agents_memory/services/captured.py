"""Captured turns: each stored once, or known by what an agent handed over before."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from agents_memory.domain.errors import Refusal
from agents_memory.domain.messages import Accepted, Draft, Stored
from agents_memory.domain.text import content_key
from agents_memory.domain.trust import lowest
from agents_memory.services.intake import Intake, prepare
from agents_memory.services.told import TOLD_WITHIN, apart, give_way
from agents_memory.storage import captures
from agents_memory.storage.captures import Identity, Told
from agents_memory.storage.connections import Connection, Database


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
        [kept] = await self.store_many([turn], user_id)
        return kept

    async def store_many(self, turns: Sequence[Accepted], user_id: int) -> list[Kept]:
        """Stores turns of one client on one device in their order, as `store` does each."""
        if not turns:
            return []
        identities = [_identity(turn, user_id) for turn in turns]
        platform, device = turns[0].draft.platform, turns[0].draft.device or ""
        spans = apart(_span(turn) for turn in turns)

        async def look(connection: Connection) -> tuple[list[Told], set[str]]:
            told = await captures.list_told(
                connection, user_id=user_id, platform=platform, device=device, spans=spans
            )
            # In this order: what another reader takes in between is then known by its turn.
            return told, await captures.find_turns(connection, identities)

        told, known = await self._database.run(look)
        kept: list[Kept | None] = []
        for turn, identity in zip(turns, identities, strict=True):
            kept.append(await self._known(turn, identity, told, known))
            known.add(identity.native_id)
        new = [turn for turn, outcome in zip(turns, kept, strict=True) if outcome is None]
        stored = iter(await self._intake.insert_many(new, user_id) if new else ())
        await give_way(self._database, user_id, spans)
        return [outcome or _outcome(next(stored)) for outcome in kept]

    async def _known(
        self, turn: Accepted, identity: Identity, told: Sequence[Told], known: set[str]
    ) -> Kept | None:
        """What stands for a turn already; None when nothing does."""
        if identity.native_id in known:
            return Kept.DUPLICATE
        since, until = _span(turn)
        near = [
            one
            for one in told
            if one.role is turn.draft.role
            and one.session in (None, turn.draft.session)
            and since <= one.created_at <= until
        ]
        for candidate in same_words(turn.draft, near):
            if await self._collapse(identity, candidate.id):
                return Kept.COLLAPSED
        return None

    async def _collapse(self, turn: Identity, message_id: int) -> bool:
        async def write(connection: Connection) -> bool:
            if await captures.collapse_turn(connection, turn, message_id):
                return True
            # Another reader of the same transcript may just have done it.
            return await captures.find_turn(connection, turn) is not None

        return await self._database.run(write)


def _identity(turn: Accepted, user_id: int) -> Identity:
    draft = turn.draft
    if draft.source is None or draft.store_id is None or draft.native_id is None:
        raise ValueError("a captured turn has an id in its client's store")
    return Identity(user_id, draft.source, draft.store_id, draft.native_id)


def _outcome(stored: Stored) -> Kept:
    return Kept.DUPLICATE if stored.duplicate else Kept.STORED


def _span(turn: Accepted) -> tuple[datetime, datetime]:
    said = turn.draft.occurred_at or turn.at
    return said - TOLD_WITHIN, said + TOLD_WITHIN


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
