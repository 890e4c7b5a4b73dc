"""How a model sums up a span."""

import asyncio

from agents_memory.storage.librarian import Said
from agents_memory.storage.summaries import Span
from cold.llm.port import Answered, Failure, LanguageModel, Role, Why
from cold.llm.summarising import Summed, question
from cold.passes.profile_lines import refusal
from cold.passes.summarise import Written, sentences, tag_line


async def sum_up(models: LanguageModel, span: Span) -> Written | Failure:
    """Asks about all of it at once; not inside a transaction.

    A line that does not rest on the messages it names is left out; without any other the answer is
    UNGROUNDED. Messages of which no line is left speak in sentences of their own.
    """
    answer = await models.complete(Role.CLUSTER, question(span.messages), Summed)
    if not isinstance(answer, Answered):
        return answer
    shown = {
        number: Said(one.id, one.text, one.said_at) for number, one in enumerate(span.messages, 1)
    }
    lines: list[str] = []
    told: set[int] = set()
    for point in answer.value.points:
        line = " ".join(point.line.split())
        if refusal(line, point.evidence, shown, core=False) is None:
            lines.append(line)
            told.update(point.evidence)
    if not lines:
        return Failure(Why.UNGROUNDED, "no line of the summary rests on what was said")
    # The summary stands for all of them once they are archived.
    silent = [one for number, one in enumerate(span.messages, 1) if number not in told]
    lines += await asyncio.to_thread(sentences, silent, span.trust)
    content = "\n".join([*dict.fromkeys(lines), *tag_line(span.messages)])
    return Written(content, f"{answer.provider}:{answer.model}")
