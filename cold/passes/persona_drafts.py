"""What a new version of a page of the persona would say, by rules or by a model's answer."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from agents_memory.domain.messages import Screening, Trust
from agents_memory.domain.patches import MAX_EVIDENCE
from agents_memory.domain.persona import merge, said
from agents_memory.domain.screening import screen
from agents_memory.domain.tombstones import has_gap
from agents_memory.domain.trust import lowest
from agents_memory.storage.librarian import Said
from agents_memory.storage.proposals import Statement

RULES = "rules"
LINE_CHARS = 160
MAX_LINES = 12

_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Page:
    """A document as it stands; `declined`: what it said once, and what was rejected (as `said`)."""

    content: str = ""
    version: int = 0
    declined: frozenset[str] = frozenset()
    grounds: tuple[int, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Its lines that say anything."""
        return [line.strip() for line in self.content.splitlines() if said(line)]


@dataclass(frozen=True, slots=True)
class Source:
    """What a line may rest on: a memory with its evidence, or a message."""

    shown: Said
    evidence: tuple[int, ...]
    trust: Trust
    memory: bool


@dataclass(frozen=True, slots=True)
class Drafted:
    """A new version and the messages that its new lines rest on."""

    content: str
    evidence: tuple[int, ...]
    trust: Trust
    backend: str


def of_statement(statement: Statement) -> Source:
    """A memory as a source."""
    shown = Said(statement.id, statement.text, statement.said_at)
    return Source(shown, statement.evidence, statement.trust, memory=True)


def of_message(message: Said) -> Source:
    """The owner's own word as a source."""
    return Source(message, (message.id,), Trust.OWNER, memory=False)


def declined_of(content: str, texts: Iterable[str]) -> frozenset[str]:
    """The lines of these texts that a document does not say now."""
    now = {said(line) for line in content.splitlines()}
    return frozenset(said(line) for text in texts for line in text.splitlines()) - now


def by_rules(page: Page, sources: Sequence[Source]) -> Drafted | None:
    """The page with the key statements of memories as bullets; None when there is nothing new."""
    offered = [(line, source) for source in sources if (line := key_line(source))]
    return draft(page, [(line, [source]) for line, source in offered[:MAX_LINES]], (), RULES)


def draft(
    page: Page,
    offered: Sequence[tuple[str, Sequence[Source]]],
    outdated: Collection[str],
    backend: str,
) -> Drafted | None:
    """The page without outdated lines (as `said`) and with those offered that are not declined.

    Nor is a line offered out of which something was taken.
    """
    wanted = {
        line: sources
        for line, sources in offered
        if said(line) not in page.declined and not has_gap(line)
    }
    cited: dict[str, tuple[int, ...]] = {}
    total: set[int] = set()
    for line, sources in wanted.items():
        evidence = tuple(number for source in sources for number in source.evidence)
        if len(total | {*evidence}) <= MAX_EVIDENCE:
            total |= {*evidence}
            cited[line] = evidence
    content, taken = merge(page.content, outdated, list(cited))
    if content == page.content.strip():
        return None
    evidence = tuple(dict.fromkeys(number for line in taken for number in cited[line]))
    trust = lowest([Trust.OWNER, *(source.trust for line in taken for source in wanted[line])])
    return Drafted(content, evidence, trust, backend)


def key_line(source: Source) -> str | None:
    """A memory as one line: the whole of it, or its first sentence; None when neither fits."""
    text = " ".join(source.shown.text.split())
    if len(text) > LINE_CHARS:
        text = _END.split(text)[0]
    if not said(text) or len(text) > LINE_CHARS or has_gap(text):
        return None
    harmless = screen(text, source.trust).screening is Screening.CLEAR
    return text if harmless else None
