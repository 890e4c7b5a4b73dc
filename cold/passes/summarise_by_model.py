"""How a model sums up a span."""

import asyncio
from collections.abc import Mapping, Sequence

from agents_memory.domain.grounding.words import draws_on
from agents_memory.storage.librarian import Said
from agents_memory.storage.summaries import Span
from cold.llm.port import Failure, Role, Why
from cold.llm.summarising import Summed, question
from cold.llm.verifying import Claim, Verifying
from cold.passes.profile_lines import refusal
from cold.passes.summarise import Written, sentences, tag_line


async def sum_up(asking: Verifying, span: Span) -> Written | Failure:
    """Asks about all of it at once; not inside a transaction.

    A line that does not rest on the messages it names, by rules and by the verifier, is left out;
    without any other the answer is UNGROUNDED. Messages of which no line is left, or from which the
    lines that name them draw no words, speak in sentences of their own.
    """
    shown = {
        number: Said(one.id, one.text, one.said_at) for number, one in enumerate(span.messages, 1)
    }

    def claims(summed: Summed) -> list[Claim]:
        said = [Claim(" ".join(one.line.split()), one.evidence) for one in summed.points]
        return [one for one in said if refusal(one.text, one.evidence, shown, core=False) is None]

    checked = await asking.ask(
        Role.CLUSTER,
        question(span.messages),
        Summed,
        claims,
        {number: one.text for number, one in shown.items()},
    )
    if isinstance(checked, Failure):
        return checked
    if not checked.kept:
        return Failure(Why.UNGROUNDED, "no line of the summary rests on what was said")
    lines = [one.text for one in checked.kept]
    told = await asyncio.to_thread(_told, checked.kept, shown)
    # The summary stands for all of them once they are archived.
    silent = [one for number, one in enumerate(span.messages, 1) if number not in told]
    lines += await asyncio.to_thread(sentences, silent, span.trust)
    content = "\n".join([*dict.fromkeys(lines), *tag_line(span.messages)])
    return Written(content, f"{checked.answer.provider}:{checked.answer.model}")


def _told(lines: Sequence[Claim], shown: Mapping[int, Said]) -> set[int]:
    """The messages that the lines naming them tell of."""
    return {
        number
        for one in lines
        for number in set(one.evidence)
        if draws_on(one.text, shown[number].text)
    }
