"""Screen: may the message feed anything, or was it planted, or erased?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.domain.messages import Screening
from agents_memory.domain.own_values import is_own
from agents_memory.domain.phrases import Span
from agents_memory.domain.screening import Verdict, screen
from agents_memory.domain.tombstones import REPLACEMENT, Tombstones, strike
from agents_memory.storage import messages, summaries, tombstones, use, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import PassItem, Settled
from cold.apart import apart
from cold.guard import Done
from cold.passes.protocol import Together

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


class Screen(Together[Screenable, Screened]):
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
        return [await apart(partial(_screened, item), len(item.message.text)) for item in items]

    async def settle_all(
        self, connection: Connection, worked: Sequence[tuple[Screenable, Screened]]
    ) -> list[Done]:
        for item, result in worked:
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
        verdicts = {item.id: result.verdict for item, result in worked}
        await messages.settle_screenings(
            connection, [(item, verdict.screening) for item, verdict in verdicts.items()]
        )
        clear = [item for item, verdict in verdicts.items() if verdict.screening is Screening.CLEAR]
        if held := [item for item in verdicts if item not in clear]:
            # It was clear before where a summary rests on it.
            await summaries.withdraw(connection, await summaries.list_resting(connection, held))
        for model in await vectors.list_models(connection):
            # There are vectors already when a message is screened anew.
            await vectors.sync_all_message_vectors(connection, model, list(verdicts))
        await messages.record_results(
            connection,
            [
                Settled(item, self.backend, {"reasons": list(verdict.reasons)})
                for item, verdict in verdicts.items()
            ],
            stage=self.stage,
            version=self.version,
        )
        await use.queue_observations(connection, clear)
        return [Done(proceed=item in clear) for item in verdicts]


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
