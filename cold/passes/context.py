"""Context: the turn before a message and the day it was said, in a column of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from agents_memory.domain.context import context_text
from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.storage import context, messages, patches, work
from agents_memory.storage.connections import Connection
from agents_memory.storage.context import Context as Written
from agents_memory.storage.context import Surrounded
from agents_memory.storage.messages import Settled
from cold.apart import apart
from cold.guard import Done
from cold.passes.protocol import Together


@dataclass(frozen=True, slots=True)
class Analysed:
    """The lexemes of a context, and how many words it has."""

    lexemes: str
    length: int


class Context(Together[Surrounded, Analysed]):
    """Makes a message findable by what it answers.

    A turn may come in after the one that follows it; then that one's context is asked for again.
    """

    stage = "context"
    backend = "rules"
    version = 1
    next_stages: tuple[str, ...] = ()

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Surrounded]:
        return await context.list_with_previous(connection, ids)

    async def prepare(self, items: Sequence[Surrounded]) -> list[Analysed]:
        return [
            await apart(partial(_analyse, item), len(item.text) + len(item.previous or ""))
            for item in items
        ]

    async def settle_all(
        self, connection: Connection, worked: Sequence[tuple[Surrounded, Analysed]]
    ) -> list[Done]:
        ids = [item.id for item, _ in worked]
        await context.write_contexts(
            connection,
            [
                Written(item.id, item.previous_id, result.lexemes, result.length)
                for item, result in worked
            ],
        )
        links = [(i.id, i.previous_id) for i, _ in worked if i.previous_id is not None]
        await patches.insert_links(connection, self.version, links)
        if successors := await context.list_successors(connection, ids):
            await work.queue_all(connection, successors, self.stage)
        await messages.record_results(
            connection,
            [
                Settled(item.id, self.backend, {"previous": item.previous_id is not None})
                for item, _ in worked
            ],
            stage=self.stage,
            version=self.version,
        )
        return [Done() for _ in worked]


def _analyse(item: Surrounded) -> Analysed:
    analysis = analyse(context_text(item.text, item.previous, item.said_at))
    return Analysed(to_tsvector_literal(analysis.terms), analysis.length)
