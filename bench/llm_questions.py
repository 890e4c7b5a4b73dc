"""What the daemon would ask a language model about the example conversations, by schema."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations, cycle, islice

from pydantic import BaseModel

from agents_memory.domain.alias_scores import Tag, compare
from agents_memory.domain.digesting import units
from agents_memory.domain.grounding.units import sentences
from agents_memory.domain.messages import Draft, Screening
from agents_memory.domain.messages import Role as Speaker
from agents_memory.domain.persona import DIMENSIONS
from agents_memory.domain.tags import project_from_directory
from agents_memory.services.key_phrases import key_phrases
from agents_memory.storage.filing import Choice
from agents_memory.storage.librarian import Said
from agents_memory.storage.messages import PassItem
from agents_memory.storage.summaries import Told
from bench.turns import example_drafts
from cold.llm import digesting, pairing, personas, profiling, summarising, tagging, verifying
from cold.llm.port import Role, Turn

SHOWN = 8
BEGINNING = 400
WHEN = datetime(2026, 11, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as a pass words it."""

    role: Role
    turns: list[Turn]
    schema: type[BaseModel]


def questions(count: int) -> dict[str, list[Asked]]:
    """`count` questions for each schema, from the top again where the examples are fewer."""
    drafts = example_drafts()
    kinds: dict[str, Callable[[list[Draft]], Iterator[Asked]]] = {
        "Filed": _filing,
        "Revised": _revising,
        "Revisited": _revisiting,
        "Judged": _judging,
        "Summed": _summing,
        "Verified": _verifying,
        "Digested": _digesting,
    }
    return {name: list(islice(cycle(list(make(drafts))), count)) for name, make in kinds.items()}


def _filing(drafts: list[Draft]) -> Iterator[Asked]:
    choices = [Choice(name, "") for name in _projects(drafts)]
    for number, draft in enumerate(drafts, 1):
        item = PassItem(
            number, draft.role, draft.trust, draft.text, draft.cwd, None, Screening.CLEAR
        )
        asked = tagging.question(item, choices, project_from_directory(draft.cwd))
        yield Asked(Role.TAGGER, asked, tagging.Filed)


def _revising(drafts: list[Draft]) -> Iterator[Asked]:
    """Windows over what the user said; nothing is in the profile yet."""
    own = [draft for draft in drafts if draft.role is Speaker.USER]
    nothing: dict[str, tuple[str, ...]] = {"core": (), "sub": ()}
    for start in range(len(own) - SHOWN):
        shown = [
            Said(number, draft.text[:BEGINNING], draft.occurred_at or WHEN)
            for number, draft in enumerate(own[start : start + SHOWN], 1)
        ]
        asked = profiling.question(shown, nothing, nothing)
        yield Asked(Role.LIBRARIAN, asked, profiling.Revised)


def _revisiting(drafts: list[Draft]) -> Iterator[Asked]:
    """Windows over what the user said, for each page of the persona in turn."""
    own = [draft for draft in drafts if draft.role is Speaker.USER]
    for start, dimension in zip(range(len(own) - SHOWN), cycle(DIMENSIONS), strict=False):
        shown = [
            Said(number, draft.text[:BEGINNING], draft.occurred_at or WHEN)
            for number, draft in enumerate(own[start : start + SHOWN], 1)
        ]
        asked = personas.question(dimension, shown, ["# Notes", "- Answers in German."])
        yield Asked(Role.LIBRARIAN, asked, personas.Revisited)


def _judging(drafts: list[Draft]) -> Iterator[Asked]:
    """Every two projects of the examples, and each with itself under another name."""
    tags = [_tag(number, name, texts) for number, (name, texts) in enumerate(_said(drafts), 1)]
    others = [Tag(100 + tag.id, f"{tag.name}-app", 3, topics=tag.topics) for tag in tags]
    for one, other in (*combinations(tags, 2), *zip(tags, others, strict=True)):
        pair = compare(one, other, distance=None)
        yield Asked(Role.ALIAS, pairing.question(pair), pairing.Judged)


def _summing(drafts: list[Draft]) -> Iterator[Asked]:
    """Windows over what was said in one project."""
    for name in _projects(drafts):
        said = [draft for draft in drafts if project_from_directory(draft.cwd) == name]
        for start in range(0, len(said), SHOWN):
            shown = [
                Told(number, draft.role, draft.text[:BEGINNING], WHEN, (), fits=True)
                for number, draft in enumerate(said[start : start + SHOWN], 1)
            ]
            yield Asked(Role.CLUSTER, summarising.question(shown), summarising.Summed)


def _verifying(drafts: list[Draft]) -> Iterator[Asked]:
    """The first sentence of each message of a window, as if it were derived from the next one."""
    for start in range(0, len(drafts) - 1, SHOWN):
        window = drafts[start : start + SHOWN]
        shown = {number: draft.text[:BEGINNING] for number, draft in enumerate(window, 1)}
        claims = [
            verifying.Claim(sentences(text)[0], [number % len(shown) + 1])
            for number, text in shown.items()
        ]
        yield Asked(Role.VERIFY, verifying.question(claims, shown), verifying.Verified)


def _digesting(drafts: list[Draft]) -> Iterator[Asked]:
    """What was said in windows, as one text each."""
    for start in range(0, len(drafts), SHOWN):
        text = "\n\n".join(draft.text[:BEGINNING] for draft in drafts[start : start + SHOWN])
        lines = [unit.statement for unit in units(text)][: digesting.MAX_LINES]
        if len(lines) > 1:
            yield Asked(Role.EXTRACT, digesting.question(lines), digesting.Digested)


def _tag(number: int, name: str, texts: list[str]) -> Tag:
    topics = key_phrases("\n".join(texts[:SHOWN]), SHOWN)
    return Tag(number, name, len(texts), topics=frozenset(topics))


def _said(drafts: list[Draft]) -> list[tuple[str, list[str]]]:
    said: dict[str, list[str]] = {}
    for draft in drafts:
        if (name := project_from_directory(draft.cwd)) is not None:
            said.setdefault(name, []).append(draft.text)
    return list(said.items())


def _projects(drafts: list[Draft]) -> list[str]:
    return [name for name, _ in _said(drafts)]
