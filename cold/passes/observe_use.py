"""Observe use: which of the items that were shown does a reply draw on, cited or not?"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.domain.activation import INFERRED, TRACE_WEIGHTS
from agents_memory.domain.messages import Role
from agents_memory.domain.use import Frequencies, Observation, Shown
from agents_memory.storage import lexemes, messages, use
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import Settled
from agents_memory.storage.use import Reply
from cold.guard import Done


@dataclass(frozen=True, slots=True)
class Observed:
    """A reply with what it is compared with; None where nothing can be told."""

    id: int
    sessions: dict[int, str]
    observation: Observation | None
    frequencies: Frequencies


class ObserveUse:
    """Looks at each clear reply once that follows on what was shown to its session.

    What was read before counts against it, so without the user's question nothing is told. A use
    that was cited, or inferred already, is not added again. A weight of 0 switches it off.
    """

    stage = use.STAGE
    backend = "rules"
    version = 1
    next_stages: tuple[str, ...] = ()

    def __init__(self, schema: str, weight: float = TRACE_WEIGHTS[INFERRED]) -> None:
        self._schema = schema
        self._weight = weight

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Observed]:
        found = [await use.find_reply(connection, number) for number in ids]
        return [await self._observed(connection, reply) for reply in found if reply is not None]

    async def _observed(self, connection: Connection, reply: Reply) -> Observed:
        sessions = {item.id: item.session for item in reply.shown}
        asked = any(turn.role == Role.USER for turn in reply.before)
        if not (sessions and asked and self._weight):
            return Observed(reply.id, sessions, None, Frequencies(0, {}))
        # Long words are compared as well, and the loop has its lead to keep.
        observation = await asyncio.to_thread(_observation, reply)
        wanted = sorted(observation.lexemes)
        totals = await lexemes.find_totals(connection)
        counts = await lexemes.list_counts(connection, wanted) if wanted else {}
        frequencies = Frequencies(
            totals.documents, {lexeme: count.documents for lexeme, count in counts.items()}
        )
        return Observed(reply.id, sessions, observation, frequencies)

    async def prepare(self, items: Sequence[Observed]) -> list[list[int]]:
        return [await asyncio.to_thread(_used, item) for item in items]

    async def settle(self, connection: Connection, item: Observed, result: list[int]) -> Done:
        used = {number: item.sessions[number] for number in result}
        added = 0
        if used:
            added = await use.insert_inferred(connection, self._schema, item.id, used, self._weight)
        detail = {"shown": len(item.sessions), "used": len(used), "added": added}
        await messages.record_results(
            connection,
            [Settled(item.id, self.backend, detail)],
            stage=self.stage,
            version=self.version,
        )
        return Done()


def _observation(reply: Reply) -> Observation:
    return Observation(
        reply.text,
        [turn.text for turn in reply.before],
        [Shown(item.id, item.text) for item in reply.shown],
    )


def _used(item: Observed) -> list[int]:
    return [] if item.observation is None else item.observation.used(item.frequencies)
