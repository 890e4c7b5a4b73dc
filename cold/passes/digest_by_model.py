"""How a model digests a text: part by part, each statement checked against the lines it names."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from agents_memory.domain.digesting import LEAST, MOST, key_units
from agents_memory.domain.joining import Unit
from agents_memory.domain.memories import Kind
from agents_memory.domain.text import content_key
from agents_memory.storage.librarian import Said
from cold.llm.digesting import MAX_LINES, Gist, question
from cold.llm.digesting import Digested as Answer
from cold.llm.port import Away, Failure, Role, Why
from cold.llm.verifying import Checked, Claim, Verifying
from cold.passes.digest import Digested, Statement
from cold.passes.profile_lines import refusal

# Of one question, in UTF-8: about 3,500 tokens, more in scripts of many bytes.
PART_BYTES = 14_000
# So many questions a text is worth; what comes after is left out, and told.
MAX_PARTS = 6


async def digest(asking: Verifying, found: Sequence[Unit], at: datetime) -> Digested | Failure:
    """Asks about each part; not inside a transaction.

    Statements that do not rest on the lines they name, by rules and by the verifier, are left out;
    with fewer than two left, rules add some lines that no statement rests on. Parts that a model
    answers badly are passed over; the last Failure where it answered none.
    """
    kept: list[list[Gist]] = []
    told: set[int] = set()
    backend, failure = "", Failure(Why.UNGROUNDED, "no statement rests on what the text says")
    seen = 0
    for part in islice(_parts(found), MAX_PARTS):
        answer = await _ask(asking, part, at)
        if isinstance(answer, Checked):
            sound = _sound(answer)
            kept.append(sound)
            told |= {seen + number for gist in sound for number in gist.lines}
            backend = f"{answer.answer.provider}:{answer.answer.model}"
        elif isinstance(answer, Away):
            return answer
        else:
            failure = answer
        seen += len(part)
    statements = [_statement(gist) for gist in _best(kept)]
    if not statements:
        return failure
    if len(statements) < LEAST:
        silent = [unit for number, unit in enumerate(found[:seen], 1) if number not in told]
        more = await asyncio.to_thread(key_units, silent, LEAST - len(statements))
        statements += [Statement(unit.statement) for unit in more]
    return Digested(tuple(statements), backend, len(found), seen)


def _parts(found: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Neighbours together, as many as one question takes."""
    part: list[Unit] = []
    size = 0
    for unit in found:
        own = len(unit.statement.encode("utf-8", "surrogatepass"))
        if part and (size + own > PART_BYTES or len(part) == MAX_LINES):
            yield part
            part, size = [], 0
        part.append(unit)
        size += own
    if part:
        yield part


async def _ask(asking: Verifying, part: Sequence[Unit], at: datetime) -> Checked[Answer] | Failure:
    shown = {number: Said(number, unit.statement, at) for number, unit in enumerate(part, 1)}

    def claims(answer: Answer) -> list[Claim]:
        said = [Claim(_line(gist), gist.lines) for gist in answer.memories]
        return [one for one in said if refusal(one.text, one.evidence, shown, core=False) is None]

    return await asking.ask(
        Role.EXTRACT,
        question([one.text for one in shown.values()]),
        Answer,
        claims,
        {number: one.text for number, one in shown.items()},
    )


def _sound(checked: Checked[Answer]) -> list[Gist]:
    """What rests on the lines it names, each once."""
    kept = {one.text for one in checked.kept} - {one.text for one in checked.refuted}
    sound: dict[str, Gist] = {}
    for gist in checked.answer.value.memories:
        if (line := _line(gist)) in kept:
            sound.setdefault(content_key(line), gist)
    return list(sound.values())


def _best(kept: Sequence[Sequence[Gist]]) -> list[Gist]:
    """Up to six, in the order of the text: the weightiest of each part first, then what is left."""
    ranked = [
        (rank, -gist.importance, place, gist)
        for place, part in enumerate(kept)
        for rank, gist in enumerate(sorted(part, key=lambda one: -one.importance))
    ]
    ranked.sort(key=lambda one: (one[0] > 0, one[1], one[2], one[0]))
    chosen = sorted(ranked[:MOST], key=lambda one: (one[2], min(one[3].lines)))
    return [gist for *_, gist in chosen]


def _statement(gist: Gist) -> Statement:
    return Statement(_line(gist), Kind(gist.kind), gist.importance)


def _line(gist: Gist) -> str:
    return " ".join(gist.statement.split())
