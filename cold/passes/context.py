"""Context: the turn before a message and the day it was said, in a column of their own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.domain.context import context_text
from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.storage import context, messages, patches, work
from agents_memory.storage.connections import Connection
from agents_memory.storage.context import Surrounded
from cold.guard import Done


@dataclass(frozen=True, slots=True)
class Analysed:
    """The lexemes of a context, and how many words it has."""

    lexemes: str
    length: int


class Context:
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
        return [await asyncio.to_thread(_analyse, item) for item in items]

    async def settle(self, connection: Connection, item: Surrounded, result: Analysed) -> Done:
        await context.write_context(
            connection,
            item.id,
            item.previous_id,
            lexemes=result.lexemes,
            lexeme_count=result.length,
        )
        if item.previous_id is not None:
            await patches.insert_sources(connection, item.id, self.version, [item.previous_id])
        successor = await context.find_successor(connection, item.id)
        if successor is not None:
            await work.queue_work(connection, successor, self.stage)
        await messages.record_result(
            connection,
            item.id,
            stage=self.stage,
            backend=self.backend,
            version=self.version,
            detail={"previous": item.previous_id is not None},
        )
        return Done()


def _analyse(item: Surrounded) -> Analysed:
    analysis = analyse(context_text(item.text, item.previous, item.said_at))
    return Analysed(to_tsvector_literal(analysis.terms), analysis.length)
