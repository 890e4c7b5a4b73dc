"""What an agent does with the memory in a simulated hour: it asks, cites, remembers, revises."""

from datetime import UTC, datetime

from agents_memory.domain.errors import Refusal
from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Draft, Origin, Role, Trust
from agents_memory.domain.patches import Add, Pin
from agents_memory.domain.viewer import Viewer
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.citing import Citing
from agents_memory.services.intake import Intake
from agents_memory.services.knowledge import Knowledge, Remembered
from agents_memory.services.patching import Patching
from agents_memory.services.recall import Recall, RecallRequest
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import Hints

PLATFORM, DEVICE, PROJECT = "claude-code", "laptop", "harbor"
# The database knows one time only, the real one: what was written since gets the simulated one.
_OF_NOW = (
    "UPDATE messages SET created_at = $1 WHERE created_at >= $2",
    "UPDATE recall_log SET at = $1 WHERE at >= $2",
    "UPDATE traces SET at = $1, hour = floor(extract(epoch FROM $1::timestamptz) / 3600) "
    "WHERE at >= $2",
)


def berth(day: int) -> str:
    """What is remembered on a day."""
    return f"The tug Ottilie lies at the northern berth {day} now."


class Habits:
    """Those of one agent of one user, through the services that its server calls."""

    def __init__(
        self, hot: Database, owner: Database, hints: Hints, intake: Intake, embedder: Embedder
    ) -> None:
        self._owner = owner
        self._hot = hot
        self._embedder = embedder
        self._citing = Citing(hot)
        self._knowledge = Knowledge(hot, intake, Patching(hot, hints))
        self._began = datetime.now(UTC)

    async def ask(self, user_id: int, session: str, words: str, *, cites: bool = True) -> None:
        """Recalls something, and may say of the first of it that it was of use."""
        recall = Recall(self._hot, self._embedder)
        viewer = Viewer(session, named=True, platform=PLATFORM, device=DEVICE, project=PROJECT)
        try:
            found = await recall.search(RecallRequest(words, Filters(user_id), viewer=viewer))
        finally:
            await recall.close()
        if found.items and cites:
            await self._citing.cite([found.items[0].id], user_id, session)

    async def remember(self, user_id: int, session: str, day: int, now: datetime) -> None:
        """A fact that takes the place of yesterday's, which is pinned and let go again."""
        said = Draft(
            role=Role.ASSISTANT,
            text=berth(day),
            origin=Origin.ASSERTED,
            trust=Trust.AGENT,
            platform=PLATFORM,
            device=DEVICE,
            session=session,
            project_hint=PROJECT,
            occurred_at=now,
        )
        add = Add("tug", said.text, Kind.FACT, attribute="berth")
        done = await self._knowledge.remember(said, user_id, add, project=PROJECT)
        if isinstance(done, Refusal):
            raise RuntimeError(f"nothing was remembered: {done.message}")
        memory_id = done.applied.changes[-1].item_id
        for pinned in (True, False):
            pin = Pin(memory_id, pinned)
            revised = await self._knowledge.revise(said, user_id, pin, tool="revise")
            if not isinstance(revised, Remembered):
                raise RuntimeError(f"nothing was revised: {revised}")

    async def date(self, now: datetime) -> None:
        """Gives the time of the simulation to what was written since the last time."""
        async with self._owner.acquire() as connection:
            for sql in _OF_NOW:
                await connection.execute(sql, now, self._began)
