"""Screen: may the message feed anything, or was it planted, or erased?"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.domain.messages import Screening
from agents_memory.domain.own_values import is_own
from agents_memory.domain.phrases import Span
from agents_memory.domain.screening import Verdict, screen
from agents_memory.domain.tombstones import REPLACEMENT, Tombstones, strike
from agents_memory.storage import messages, summaries, tombstones, use, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import PassItem
from cold.guard import Done

BURIED = Verdict(Screening.QUARANTINED, ("erased",))


@dataclass(frozen=True, slots=True)
class Screenable:
    """A message, what stands beside its text, and what of it must not be stored."""

    message: PassItem
    fields: Mapping[str, str]
    tombstones: Tombstones

    @property
    def id(self) -> int:
        return self.message.id


@dataclass(frozen=True, slots=True)
class Screened:
    """The verdict, and what slipped in before its writer knew of a tombstone."""

    verdict: Verdict
    spans: tuple[Span, ...] = ()
    fields: tuple[str, ...] = ()
    lexemes: str = ""
    lexeme_count: int = 0


class Screen:
    """By rules: obvious injections are quarantined, everything else is clear.

    What was erased by the owner is struck out once more, and a message of which nothing else is
    left is quarantined. A quarantined message goes no further; whoever releases it has to ask for
    `embed`.
    """

    stage = "screen"
    backend = "rules"
    version = 1
    next_stages: tuple[str, ...] = ("embed",)

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Screenable]:
        known = await tombstones.list_tombstones(connection)
        fields = await tombstones.list_fields(connection, ids) if known else {}
        return [
            Screenable(item, fields.get(item.id, {}), known)
            for item in await messages.list_for_pass(connection, ids)
        ]

    async def prepare(self, items: Sequence[Screenable]) -> list[Screened]:
        return [await asyncio.to_thread(_screened, item) for item in items]

    async def settle(self, connection: Connection, item: Screenable, result: Screened) -> Done:
        if result.spans or result.fields:
            # Refused for one that was screened before: its writer knew, or the owner struck it.
            await tombstones.strike_message(
                connection,
                item.id,
                spans=result.spans,
                fields=result.fields,
                lexemes=result.lexemes,
                lexeme_count=result.lexeme_count,
            )
        await messages.settle_screening(connection, item.id, result.verdict.screening)
        if result.verdict.screening is not Screening.CLEAR:
            # It was clear before where a summary rests on it.
            resting = await summaries.list_resting(connection, [item.id])
            await summaries.withdraw(connection, resting)
        for model in await vectors.list_models(connection):
            # There are vectors already when a message is screened anew.
            await vectors.sync_message_vectors(connection, model, item.id)
        await messages.record_result(
            connection,
            item.id,
            stage=self.stage,
            backend=self.backend,
            version=self.version,
            detail={"reasons": list(result.verdict.reasons)},
        )
        if result.verdict.screening is not Screening.CLEAR:
            return Done(proceed=False)
        await use.queue_observation(connection, item.id)
        return Done()


def _screened(item: Screenable) -> Screened:
    text, known = item.message.text, item.tombstones
    spans = tuple(known.spans(text)) if known else ()
    left = strike(text, known) if spans else text
    verdict = BURIED if left == REPLACEMENT else screen(left, item.message.trust)
    fields = tuple(
        name
        for name, value in item.fields.items()
        if not is_own(name, value) and known.spans(value)
    )
    if not spans and not fields:
        return Screened(verdict)
    analysis = analyse("" if left == REPLACEMENT else left)
    return Screened(verdict, spans, fields, to_tsvector_literal(analysis.terms), analysis.length)
