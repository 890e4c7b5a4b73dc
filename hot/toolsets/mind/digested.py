"""What digest answers, as structure and as text."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from agents_memory.domain.fencing import fence
from hot.answers import NOTICE, Answer
from hot.present import indented, named, plain
from hot.toolsets.mind.answers import Memory


class Digested(Memory):
    """A memory, and what the text made of it."""

    outcome: Annotated[str, Field(description="add, support or supersede")]
    patch_id: int


class DigestAnswer(Answer):
    """What became of a text, or why it is not done yet."""

    notice: str = NOTICE
    job_id: Annotated[int, Field(description="Ask with it again while state is not done")]
    state: Annotated[str, Field(description="done, waiting, working, failed or parked")]
    reason: Annotated[str | None, Field(description="Why it is not done")] = None
    fix: Annotated[str | None, Field(description="What to do about it")] = None
    message_id: Annotated[int | None, Field(description="The text, stored as evidence")] = None
    backend: Annotated[str | None, Field(description="rules, or the model that chose")] = None
    affect: Annotated[str | None, Field(description="given, or estimated from the words")] = None
    left_out_chars: Annotated[int | None, Field(description="Characters not read")] = None
    note: str | None = None
    count: Annotated[int, Field(description="Memories")]
    memories: list[Digested]


def render_digest(answer: DigestAnswer) -> str:
    """A line on how it stands, then the memories, fenced as data."""
    head = [
        f"digest {answer.state}: job {answer.job_id}, {answer.count} memories",
        *named(
            ("why", answer.reason),
            ("do", answer.fix),
            ("evidence message", answer.message_id),
            ("chosen by", answer.backend),
            ("affect", answer.affect),
            ("characters not read", answer.left_out_chars),
            ("note", answer.note),
        ),
    ]
    if not answer.memories:
        return "\n".join(head)
    return "\n".join([*head, fence("\n".join(map(_memory, answer.memories)), "digest")])


def _memory(memory: Digested) -> str:
    facts = named(
        ("version", memory.version),
        ("patch", memory.patch_id),
        ("importance", memory.importance),
        ("tags", ", ".join(memory.tags) if memory.tags else None),
        ("about", memory.subject),
    )
    kind = f"[{memory.id}] {memory.outcome} {plain(memory.kind)}"
    return "\n".join([" · ".join([kind, *facts]), indented(memory.text)])


def notes(result: Mapping[str, Any]) -> Iterator[str]:
    """What whoever asked should know about a text that is digested."""
    found, seen = result.get("statements", 0), result.get("statements_seen", 0)
    if found == 1:
        yield (
            "the text holds one statement, so it is one memory; `remember` takes such a one with "
            "its affect"
        )
    if result.get("unanswered"):
        yield f"no answer of the model could be used ({result['unanswered']}), so rules chose"
    if seen < found:
        yield (
            f"the model was shown the first {seen} of {found} statements; hand over the rest by "
            "itself"
        )
    if left_out := result.get("left_out_chars"):
        yield f"the last {left_out} characters were not read; hand them over by themselves"
    if refused := result.get("refused"):
        refusal = result.get("refusal") or {}
        yield f"{refused} statements were not remembered: {refusal.get('message', 'refused')}"
