"""The Markdown mirror: what its pages are made of, and how a page says whose it is.

The same facts make the same bytes: no page says when it was made, and every list has an order.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.domain.text import repair, truncate

MAX_LINE_CHARS = 1_000
"""Of one memory on a page; `memory get ID` has the rest."""

MAKER = "mcp-agents-memory"

# What would format, link, embed or open a tag, or make a bare address a link; a line never begins
# with what is left.
_MARKUP = re.compile(r"([\\`*_\[\]<>|~#!]|:(?=//)|(?<=[wW][wW][wW])\.)")
# Control characters, and those that turn the order of the words around them.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# YAML takes JSON's strings, but for these.
_UNSAFE_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose pages they are: a user of a pool. Pages of others are never touched."""

    pool: str
    user: str


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A memory as a page shows it; `project` is the tag that its own stands for."""

    id: int
    kind: Kind
    subject: str
    content: str
    trust: Trust
    status: str
    pinned: bool
    tags: tuple[str, ...]
    project: str | None
    said_at: datetime
    resolved_at: datetime | None
    superseded_by: int | None


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the mirror: its place below the folder of the mirror, and its text."""

    folder: str
    name: str
    text: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name


def front_matter(owner: Owner, page: str, facts: Mapping[str, object]) -> str:
    """The head of a page: who made it, which kind of page it is, and facts as JSON values."""
    lines = [f"{name}: {_yaml(value)}" for name, value in facts.items()]
    return "\n".join(["---", *_marks(owner), f"mirror: {page}", *lines, "---", ""])


def is_ours(text: str, owner: Owner) -> bool:
    """Whether a file has the front matter of a page that was made for this owner."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    marks = _marks(owner)
    return lines[0] == "---" and lines[1 : 1 + len(marks)] == marks


def _marks(owner: Owner) -> list[str]:
    return [f"made_by: {MAKER}", f"pool: {_yaml(owner.pool)}", f"user: {_yaml(owner.user)}"]


def _yaml(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNSAFE_IN_YAML.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def plain(text: str, most: int = MAX_LINE_CHARS) -> str:
    """Any text as one line of Markdown that shows it as it is and does nothing."""
    one_line = " ".join(repair(text).text.split())
    return _MARKUP.sub(r"\\\1", truncate(_HIDDEN.sub("", one_line), most))


def line_of(memory: Mirrored, zone: tzinfo, link: str | None = None) -> str:
    """A memory in one line of a list, after its id; `link` is where its page has it."""
    facts = [f"{memory.said_at.astimezone(zone):%Y-%m-%d}", f"trust {memory.trust}"]
    if memory.pinned:
        facts.append("pinned")
    if memory.kind is Kind.PROMISE and memory.status == "active":
        kept = memory.resolved_at
        facts.append("open" if kept is None else f"settled {kept.astimezone(zone):%Y-%m-%d}")
    if memory.superseded_by is not None:
        facts.append(f"superseded by {memory.superseded_by}")
    named = f"[{memory.id}]({link})" if link else f"{memory.id}"
    return f"- {named} ({', '.join(facts)}) {plain(memory.subject, 100)}: {plain(memory.content)}"


def in_order(memories: Iterable[Mirrored]) -> Sequence[Mirrored]:
    """As they are listed: by when they were said."""
    return sorted(memories, key=lambda memory: (memory.said_at, memory.id))
