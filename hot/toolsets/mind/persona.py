"""What the tools of the persona share: their sides, their answers, and how these are shown."""

from typing import Annotated, Literal

from pydantic import Field

from agents_memory.domain.fencing import fence
from hot.answers import NOTICE, Answer
from hot.present import named

Dimension = Literal["agent", "user", "shared"]
SIDES = "agent (who you are), user (who the user is) or shared (what the two have become)"


class PersonaWriteAnswer(Answer):
    """What became of a page."""

    dimension: str
    version: int
    written: Annotated[bool, Field(description="false: it said the very same already")]
    patch_id: int | None = None
    message_id: Annotated[int | None, Field(description="The evidence stored for it")] = None
    diff: Annotated[str, Field(description="Unified diff of the page")]


class PersonaRegenAnswer(Answer):
    """A proposal, or how far the request has come."""

    notice: str = NOTICE
    dimension: str
    state: Annotated[
        str, Field(description="proposed, nothing_new, waiting, working, failed or parked")
    ]
    job_id: Annotated[int, Field(description="Pass it to ask for this very request again")]
    proposal_id: int | None = None
    for_version: Annotated[int | None, Field(description="The version it would follow")] = None
    content: Annotated[str | None, Field(description="The page as it is proposed")] = None
    evidence: Annotated[list[int] | None, Field(description="Messages it rests on")] = None
    trust: Annotated[str | None, Field(description="The lowest of what it rests on")] = None
    backend: Annotated[str | None, Field(description="rules, or the model")] = None
    reason: Annotated[str | None, Field(description="Why there is no proposal yet")] = None
    fix: Annotated[str | None, Field(description="What helps, where there is none yet")] = None
    note: Annotated[str | None, Field(description="What becomes of it")] = None


def render_write(answer: PersonaWriteAnswer) -> str:
    """What was made of the page, and the diff."""
    facts = named(
        ("version", answer.version),
        ("patch", answer.patch_id),
        ("evidence message", answer.message_id),
    )
    head = "written" if answer.written else "unchanged"
    text = f"{head}: persona {answer.dimension} · {' · '.join(facts)}"
    return "\n".join([text, fence(answer.diff, "diff")]) if answer.written else text


def render_regen(answer: PersonaRegenAnswer) -> str:
    """Where the request stands, then what is proposed, fenced as data."""
    facts = named(
        ("job", answer.job_id),
        ("proposal", answer.proposal_id),
        ("for version", answer.for_version),
        ("by", answer.backend),
        ("trust", answer.trust),
        ("rests on messages", ", ".join(map(str, answer.evidence or ())) or None),
        ("reason", answer.reason),
        ("fix", answer.fix),
    )
    lines = [f"{answer.state}: persona {answer.dimension} · {' · '.join(facts)}"]
    lines += named(("note", answer.note))
    if answer.content is not None:
        lines.append(fence(answer.content, "proposal"))
    return "\n".join(lines)
