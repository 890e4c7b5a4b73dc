"""How a model revisits a page of the persona."""

from collections.abc import Mapping, Sequence
from functools import partial

from agents_memory.domain.persona import said
from agents_memory.domain.text import is_blank
from cold.llm.personas import MAX_NUMBERED, Revisited, question
from cold.llm.port import Failure, Role, Why
from cold.llm.verifying import Checked, Claim, Verifying
from cold.passes.persona_drafts import Drafted, Page, Source, draft
from cold.passes.profile_lines import refusal

# Of all that is shown in one question, in UTF-8: about 3,500 tokens.
SHOWN_BYTES = 14_000
MAX_SHOWN = 99
LEAST_SHOWN = 4


async def revisit(
    asking: Verifying, dimension: str, page: Page, sources: Sequence[Source]
) -> Drafted | Failure | None:
    """Asks about one page; not inside a transaction. None when there is nothing to propose.

    A line that does not rest on what it names, by rules and by the verifier, is left out, and then
    no line is taken away either, since it may have been meant to take the other's place.
    """
    shown = _fitting(sources)
    if not shown:
        return None
    while True:
        numbered = dict(enumerate(shown, 1))
        answer = await asking.ask(
            Role.LIBRARIAN,
            question(dimension, [one.shown for one in shown], page.lines),
            Revisited,
            partial(_claims, numbered),
            {number: source.shown.text for number, source in numbered.items()},
        )
        if isinstance(answer, Checked):
            return _drafted(page, numbered, answer)
        if answer.why is not Why.TOO_LONG or len(shown) <= LEAST_SHOWN:
            return answer
        shown = shown[len(shown) // 2 :]


def _claims(numbered: Mapping[int, Source], answer: Revisited) -> list[Claim]:
    """The lines of an answer that rules let pass."""
    texts = {number: source.shown for number, source in numbered.items()}
    claims: list[Claim] = []
    for each in answer.lines or ():
        line = " ".join(each.line.split()).lstrip("-*•# ")
        lasting = any(numbered[number].memory for number in each.evidence if number in numbered)
        if refusal(line, each.evidence, texts, core=not lasting) is None:
            claims.append(Claim(line, each.evidence))
    return claims


def _drafted(
    page: Page, numbered: Mapping[int, Source], checked: Checked[Revisited]
) -> Drafted | None:
    answer = checked.answer
    offered = [
        (claim.text, [numbered[number] for number in claim.evidence]) for claim in checked.kept
    ]
    refused = len(offered) < len(answer.value.lines or ())
    lines = page.lines[:MAX_NUMBERED]
    outdated = {said(lines[n - 1]) for n in answer.value.outdated if n <= len(lines)}
    backend = f"{answer.provider}:{answer.model}"
    return draft(page, offered, () if refused else outdated, backend)


def _fitting(sources: Sequence[Source]) -> list[Source]:
    """The last ones, memories and new words, as many as one question holds, in their order."""
    taken: list[Source] = []
    left = SHOWN_BYTES
    for source in reversed(sources):
        size = len(source.shown.text.encode("utf-8", "surrogatepass"))
        if is_blank(source.shown.text) or size > left or len(taken) == MAX_SHOWN:
            continue
        taken.append(source)
        left -= size
    return taken[::-1]
