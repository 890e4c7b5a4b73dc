"""Summarise: what a planned summary says, by a model or by rules; what it replaces is archived."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents_memory.domain.key_sentences import key_sentences
from agents_memory.domain.messages import Role, Screening, Trust
from agents_memory.domain.screening import screen
from agents_memory.domain.text import is_blank, truncate
from agents_memory.domain.tombstones import strike
from agents_memory.storage import summaries, tombstones
from agents_memory.storage.connections import Connection
from agents_memory.storage.summaries import Span, Told
from cold.guard import Done, ItemFault
from cold.llm.blaming import model_away
from cold.llm.port import Away, Failure, LanguageModel, Rules, Why
from cold.llm.port import Role as ModelRole

if TYPE_CHECKING:
    from cold.llm.verifying import Verifying

RULES = "rules"
# So often a model may answer badly about one span; each is two tries of its own.
BAD_ANSWERS = 3
# Of all messages of one question, in UTF-8: about 3,500 tokens, more in scripts of many bytes. What
# does not fit is never shown in part, since a summary speaks for all of it.
MODEL_BYTES = 14_000
MAX_TAGS = 10
# What people say is what is asked for later; tools are looked at last.
WEIGHTS = {Role.USER: 1.5, Role.ASSISTANT: 1.0, Role.SYSTEM: 0.5, Role.TOOL: 0.5}


@dataclass(frozen=True, slots=True)
class Written:
    """What a span says; `provisional`: a model that comes may say it better.

    `unanswered` is why a model was asked in vain.
    """

    content: str
    backend: str
    provisional: bool = False
    unanswered: Why | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What rules wrote stays for now; `unanswered` as above."""

    unanswered: Why | None = None


Result = Written | Kept | Failure | None


class Summarise:
    """Asks the model that serves the cluster role; rules where there is none, or none that can say.

    While a model is set up and away, or hangs, also the one that verifies, what it may read waits,
    and stays in everyday search. A private message is shown to no model. A span of which something
    was held back or filed elsewhere meanwhile is given up, and planned anew without it.
    """

    stage = "summarise"
    backend = RULES
    version = 1
    next_stages: tuple[str, ...] = ("embed_summary",)

    def __init__(self, models: LanguageModel | None = None) -> None:
        self._models = models or Rules()
        self._asking: Verifying | None = None

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Span]:
        return await summaries.list_spans(connection, ids)

    async def prepare(self, items: Sequence[Span]) -> list[Result]:
        """A Failure leaves the item waiting; None: the span is to be given up."""
        results: list[Result] = []
        away: Away | None = None
        for item in items:
            result: Result
            if not item.messages or not all(message.fits for message in item.messages):
                result = None
            elif not self._asks(item):
                result = self._kept() if item.provisional else await self._by_rules(item)
            elif away is not None:
                result = away
            else:
                result = await self._by_model(item)
                if isinstance(result, Away):
                    away = result
            results.append(result)
        return results

    def _asks(self, item: Span) -> bool:
        return self._models.serves(ModelRole.CLUSTER) and readable(item)

    async def _by_model(self, item: Span) -> Result:
        # Here, because it loads what a daemon without a model has no use for.
        from cold.llm.verifying import Verifying
        from cold.passes.summarise_by_model import sum_up

        self._asking = self._asking or Verifying(self._models)
        said = await sum_up(self._asking, item)
        if isinstance(said, Written | Away) or item.attempts < BAD_ANSWERS:
            return said
        return Kept(said.why) if item.provisional else await self._by_rules(item, said.why)

    def _kept(self) -> Kept:
        # Where a model serves the role, it was too much for it.
        return Kept(Why.TOO_LONG if self._models.serves(ModelRole.CLUSTER) else None)

    async def _by_rules(self, item: Span, unanswered: Why | None = None) -> Written:
        content = await asyncio.to_thread(extract, item)
        return Written(content, RULES, readable(item), unanswered)

    async def settle(self, connection: Connection, item: Span, result: Result) -> Done:
        """Raises ModelAway, and ItemFault for an answer that cannot be used."""
        if isinstance(result, Away):
            raise model_away(result)
        if isinstance(result, Failure):
            raise ItemFault(f"the model's answer could not be used ({result.why}): {result.reason}")
        if isinstance(result, Kept):
            await self._record(connection, item, result.unanswered)
            return Done(proceed=False)
        if result is None or not await summaries.hold(connection, item):
            await summaries.withdraw(connection, [item.id])
            return Done(proceed=False)
        # A model may know, or keep, words that were erased while it wrote.
        known = await tombstones.list_tombstones(connection)
        content = "\n".join(strike(line, known) for line in result.content.splitlines())
        await summaries.write(
            connection,
            item,
            content,
            backend=result.backend,
            provisional=result.provisional,
        )
        await self._record(connection, item, result.unanswered)
        return Done()

    async def _record(self, connection: Connection, item: Span, unanswered: Why | None) -> None:
        if unanswered is not None:
            model = self._models.named(ModelRole.CLUSTER)
            await summaries.record_asked(connection, item.id, model, unanswered.value)


def readable(span: Span) -> bool:
    """Whether a model may be shown all of it: nothing private, and no more than it can read."""
    size = sum(len(one.text.encode("utf-8", "surrogatepass")) for one in span.messages)
    return not span.private and size <= MODEL_BYTES


def extract(span: Span) -> str:
    """Some of its own sentences, one a line, then the tags of its messages."""
    lines = sentences(span.messages, span.trust)
    if not lines:
        # Nothing in words: what there was, so that the day is not lost.
        said = next((one.text for one in span.messages if not is_blank(one.text)), "")
        short = truncate(" ".join(said.split()), 120)
        lines = [short if short and harmless(short, span.trust) else "…"]
    return "\n".join([*lines, *tag_line(span.messages)])


def sentences(messages: Sequence[Told], trust: Trust) -> list[str]:
    """What some messages say in a few of their own sentences; none where that were harmful."""
    chosen = key_sentences(
        [message.text for message in messages],
        [WEIGHTS[message.role] for message in messages],
        lambda sentence: harmless(sentence, trust),
    )
    lines = [sentence.text for sentence in chosen]
    return lines if lines and harmless("\n".join(lines), trust) else []


def tag_line(messages: Sequence[Told]) -> list[str]:
    """The commonest tags of some messages, in one line; no line without any."""
    counted = Counter(tag for message in messages for tag in message.tags)
    return [" · ".join(tag for tag, _ in counted.most_common(MAX_TAGS))] if counted else []


def harmless(line: str, trust: Trust) -> bool:
    """Whether a line would be cleared if it were a message of its own."""
    return screen(line, trust).screening is Screening.CLEAR
