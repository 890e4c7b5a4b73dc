"""Services and drafts as the tests need them."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from agents_memory.domain.messages import Draft, Origin, Role, Screening, Stored, Trust
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.intake import Intake
from agents_memory.services.knowledge import Knowledge
from agents_memory.services.patching import Patching
from agents_memory.services.recall import Recall
from agents_memory.storage import leadership, messages, users, vectors
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import Hints
from agents_memory.storage.vectors import ChunkVector, digest
from tests.fakes import ManualClock

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def draft(text: str, **changes: Any) -> Draft:
    """A turn of the owner, captured on one device, unless changed."""
    base = Draft(
        role=Role.USER,
        text=text,
        origin=Origin.CAPTURED,
        trust=Trust.OWNER,
        platform="claude-code",
        device="laptop",
    )
    return replace(base, **changes)


@dataclass
class Services:
    """The use cases over one database, as one user."""

    database: Database
    user_id: int
    hints: Hints
    intake: Intake
    patching: Patching
    knowledge: Knowledge
    embedder: Embedder

    async def say(self, text: str, **changes: Any) -> Stored:
        stored = await self.intake.store(draft(text, **changes), self.user_id)
        assert isinstance(stored, Stored), stored
        return stored

    def recall(self, **options: Any) -> Recall:
        options.setdefault("embedder", self.embedder)
        embedder = options.pop("embedder")
        return Recall(self.database, embedder, **options)

    async def close(self) -> None:
        await self.hints.close()
        await self.embedder.close()


async def services(database: Database, user: str = "mara") -> Services:
    """All services as the hot process composes them, with the hashing embedder."""
    user_id = await database.run(lambda connection: users.ensure_user(connection, user))
    hints = Hints(database)
    intake = Intake(database, hints, ManualClock(NOON))
    patching = Patching(database, hints)
    return Services(
        database,
        user_id,
        hints,
        intake,
        patching,
        Knowledge(database, intake, patching),
        open_embedder("hashing", allow_hashing=True),
    )


async def settle_by_hand(cold: Database, embedder: Embedder, message_ids: list[int]) -> None:
    """Does to messages what the daemon would: clears and embeds them."""
    async with cold.transaction() as connection:
        epoch = await leadership.take_lead(connection, "test", 1)
        await leadership.hold_epoch(connection, epoch)
        model = await vectors.find_active_model(connection)
        assert model is not None
        for item in await messages.list_for_pass(connection, message_ids):
            await messages.settle_screening(connection, item.id, Screening.CLEAR)
            [vector] = await embedder.embed([item.text])
            await vectors.replace_message_vectors(
                connection, model, item.id, [ChunkVector(digest(item.text), vector)]
            )
