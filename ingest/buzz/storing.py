"""The plan becomes rows: each step a transaction of its own, and safe to repeat."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from agents_memory.clock import Clock
from agents_memory.domain.errors import Refusal
from agents_memory.domain.messages import Draft, Origin, Role, Stored, Trust
from agents_memory.services.intake import Intake, accept
from agents_memory.storage import withdrawals
from agents_memory.storage.connections import Database
from agents_memory.storage.withdrawals import Standing, Wrapped
from ingest.buzz.plan import Edit, Insert, Placed
from ingest.buzz.shapes import short
from ingest.buzz.wrapper import Wrapping

SOURCE = "buzz"
# An event's id is the same on every machine.
STORE_ID = "any"


@dataclass(frozen=True, slots=True)
class Speakers:
    """Whose words count as what: the owner's keys, the identity's own, and everybody's name."""

    owners: Collection[str]
    own: str
    names: Mapping[str, str]

    def role_and_trust(self, author: str) -> tuple[Role, Trust]:
        """Only the owner is the user; the identity itself is an agent, all others are others."""
        if author in self.owners:
            return Role.USER, Trust.OWNER
        return Role.ASSISTANT, Trust.AGENT if author == self.own else Trust.OTHER

    def label(self, author: str) -> str:
        """A name for the text."""
        return self.names.get(author, short(author))


class Storing:
    """Writes for one user; every method may raise DatabaseUnavailable."""

    def __init__(
        self, database: Database, intake: Intake, user_id: int, clock: Clock, speakers: Speakers
    ) -> None:
        self._database = database
        self._intake = intake
        self._user_id = user_id
        self._clock = clock
        self._speakers = speakers

    async def insert(self, step: Insert) -> bool:
        """Stores a message in its latest wording; false for one that is there, or has no words."""
        said_at = datetime.fromtimestamp(step.said.event.at, UTC)
        stored = await self._store(self._draft(step.said, step.content, said_at), step.content)
        return stored is not None and not stored.duplicate

    async def edit(self, step: Edit) -> bool:
        """Stores the new wording as a message of its own, which takes the place of the older."""
        if step.stored is not None:
            return await self._withdraw(step.standing.id, step.stored)
        content = step.change.event.content
        draft = self._draft(step.change, content, step.standing.occurred_at)
        stored = await self._store(draft, content)
        return stored is not None and await self._withdraw(step.standing.id, stored.id)

    async def hide(self, standing: Standing) -> bool:
        """Takes a deleted message out of everything but the evidence."""
        return await self._withdraw(standing.id, None)

    async def clean(self, wrapped: Wrapped, wrapping: Wrapping) -> bool:
        """Stores a turn without its wrapping, and lets that take the place of the wrapped one."""
        draft = replace(
            wrapped.draft, text=wrapping.text, native_id=f"{wrapped.draft.native_id}#unwrapped"
        )
        stored = await self._store(draft, wrapped.draft.text)
        return stored is not None and await self._withdraw(wrapped.id, stored.id)

    async def _store(self, draft: Draft, original: str) -> Stored | None:
        turn = await accept(draft, self._clock.now(), original)
        return None if isinstance(turn, Refusal) else await self._intake.insert(turn, self._user_id)

    async def _withdraw(self, message_id: int, successor: int | None) -> bool:
        return await self._database.run(
            lambda connection: withdrawals.withdraw(connection, message_id, successor)
        )

    def _draft(self, placed: Placed, content: str, said_at: datetime | None) -> Draft:
        event, room = placed.event, placed.room
        role, trust = self._speakers.role_and_trust(event.author)
        return Draft(
            role=role,
            text=f"[{self._speakers.label(event.author)}] {content}",
            origin=Origin.CAPTURED,
            trust=trust,
            platform=SOURCE,
            venue=room.venue,
            session=room.id,
            occurred_at=said_at,
            source=SOURCE,
            store_id=STORE_ID,
            native_id=event.id,
        )
