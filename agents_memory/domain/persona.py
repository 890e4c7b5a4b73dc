"""The persona: who the agent is, who the user is, and what the two have become."""

import re
from collections.abc import Collection, Iterable, Sequence

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.messages import Trust
from agents_memory.domain.text import content_key, is_blank
from agents_memory.domain.trust import lowest

DIMENSIONS = ("agent", "user", "shared")
KINDS = tuple(f"persona.{dimension}" for dimension in DIMENSIONS)
MAX_PERSONA_CHARS = 4_000
"""Of one document: a page. A brief shows about a fourth of it."""
MAX_PROFILE_CHARS = 20_000
"""Of core and sub, as of any text in a patch, whose module a start does without."""

JOB = "persona"
"""The kind of the job that proposes a page."""
OWNER = "owner"
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_HEADING = re.compile(r"^\s*#{1,6}\s+")
_RULE = re.compile(r"^\s*(?:-{3,}|={2,}|\*{3,}|_{3,})\s*$")


def dimension_of(kind: str) -> str:
    """The side of the persona that a document is about."""
    return kind.removeprefix("persona.")


def too_long(kind: str, chars: int) -> Refusal | None:
    """Why a document cannot be as long as that; None when it can."""
    limit = MAX_PERSONA_CHARS if kind in KINDS else MAX_PROFILE_CHARS
    if chars <= limit:
        return None
    return Refusal(
        Code.LIMIT_EXCEEDED,
        f"{kind} may hold {limit} characters and this has {chars}; keep what matters in every "
        "conversation, and remember the rest as single memories",
        {"limit": limit, "chars": chars},
    )


def document_trust(actor: str | None, sources: Iterable[Trust]) -> Trust:
    """Whose word a version is: the owner's where he wrote or accepted it, else its sources'.

    An agent's version has the trust of an agent at most, whatever it cites.
    """
    if actor == OWNER:
        return Trust.OWNER
    found = list(sources)
    return lowest([*found, Trust.AGENT] if actor == "agent" or not found else found)


def readable_lines(text: str) -> list[str]:
    """The lines as they may stand below a heading of ours, of which none can pass for one."""
    lines = (_HEADING.sub("", line.rstrip()) for line in text.splitlines())
    return [line for line in lines if not is_blank(line) and not _RULE.match(line)]


def said(line: str) -> str:
    """What a line says without its bullet or heading, for comparing; nothing without a word."""
    key = content_key(_HEADING.sub("", _BULLET.sub("", line)))
    return key if any(map(str.isalnum, key)) else ""


def merge(content: str, outdated: Collection[str], new: Sequence[str]) -> tuple[str, list[str]]:
    """A document without some of its lines (as `said`) and with new ones as bullets at its end.

    New ones that it says already, and those for which it has no room, are left out; which got in
    is the second value.
    """
    kept = [line for line in content.splitlines() if said(line) not in outdated or not said(line)]
    text = "\n".join(kept).strip()
    known = {said(line) for line in kept}
    taken: list[str] = []
    for line in new:
        longer = f"{text}\n- {line}".strip()
        if said(line) in known or len(longer) > MAX_PERSONA_CHARS:
            continue
        known.add(said(line))
        taken.append(line)
        text = longer
    return text, taken
