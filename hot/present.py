"""Answers as text: the same facts as the structure, for clients that show their model the text."""

from collections.abc import Mapping
from typing import Any

from agents_memory.domain.fencing import fence
from hot.answers import (
    CitedAnswer,
    Here,
    Item,
    KnowledgeAnswer,
    SavedAnswer,
    SearchAnswer,
    StartupAnswer,
)


def render_search(answer: SearchAnswer) -> str:
    """A line on how it was searched, then the items, fenced as data."""
    count = f"{answer.count} result{'' if answer.count == 1 else 's'}"
    head = [f"{count} ({answer.used}) · {_here(answer.here)}"]
    head += named(
        ("degraded", answer.degraded),
        ("threshold", answer.threshold),
        ("top similarity", answer.top_similarity),
        ("left out for lack of room", answer.left_out),
        ("note", answer.note),
    )
    if not answer.results:
        return "\n".join([*head, answer.notice])
    return "\n".join([*head, fence("\n".join(map(render_item, answer.results)), "recall")])


def render_item(item: Item) -> str:
    """A line about an item, then its words, indented so that they cannot pass for another item."""
    facts = [
        f"[{item.id}] {item.at}",
        " ".join(filter(None, (item.kind, item.role))),
        *named(
            # What we vouch for comes before what others wrote, which may look like it.
            ("trust", item.trust),
            ("score", item.score),
            ("similarity", item.similarity),
            ("version", item.version),
            ("pinned", item.pinned),
            ("excerpt", item.truncated),
            ("project", item.project),
            ("on", " / ".join(filter(None, (item.platform, item.model))) or None),
            ("device", item.device),
            ("venue", item.venue),
            ("tags", ", ".join(item.tags) if item.tags else None),
            ("about", item.subject),
            ("until", item.until),
            ("of session", item.session),
            ("tells of", ", ".join(map(str, item.messages)) if item.messages else None),
        ),
    ]
    return "\n".join([" · ".join(facts), indented(item.text)])


def render_startup(answer: StartupAnswer) -> str:
    """Where one is, what was counted, then the brief, which is fenced already."""
    counts = ", ".join(f"{key} {value}" for key, value in answer.counts.items())
    return f"Brief over {answer.days} days · {_here(answer.here)}\ncounts: {counts}\n{answer.brief}"


def render_knowledge(answer: KnowledgeAnswer) -> str:
    """What was changed, and the diff."""
    item = answer.target if answer.memory_id is None else f"{answer.target} {answer.memory_id}"
    facts = named(
        ("version", answer.version),
        ("patch", answer.patch_id),
        ("evidence message", answer.message_id),
        ("outcome", answer.outcome),
        ("pinned", answer.pinned),
        ("tagged", answer.tagged),
        ("embedded", answer.embedded),
    )
    return "\n".join(
        [f"{answer.action}: {item} done · {' · '.join(facts)}", fence(answer.diff, "diff")]
    )


def render_saved(answer: SavedAnswer) -> str:
    """The acknowledgement."""
    if answer.skipped is not None:
        return f"not stored ({answer.role}): {answer.skipped}"
    taken = ", ".join(f"{number} {sort}" for sort, number in (answer.redactions or {}).items())
    note = f" · taken out as secret: {taken}" if taken else ""
    if answer.queued:
        return (
            f"queued: {answer.intake_id} ({answer.role}) at {answer.created_at}{note} · "
            f"{plain(answer.note)}"
        )
    was = "already there" if answer.duplicate else "stored"
    return f"{was}: message {answer.id} ({answer.role}) at {answer.created_at}{note}"


def render_cited(answer: CitedAnswer) -> str:
    """What was credited, and what was not known."""
    cited = ", ".join(f"{item.kind} {item.id}" for item in answer.cited)
    unknown = ", ".join(map(str, answer.unknown))
    return f"cited: {cited}" + (f" · unknown ids: {unknown}" if unknown else "")


def render_refusal(code: str, message: str, details: Mapping[str, Any]) -> str:
    """Why not, what to do, and the details; the current state of an item is fenced as data."""
    lines = [f"not done: {code}: {message}"]
    for key, value in details.items():
        if isinstance(value, Mapping):
            state = "\n".join(f"{name}: {plain(part)}" for name, part in value.items())
            lines.append(fence(state, key))
        else:
            lines.append(f"{key}: {plain(value)}")
    return "\n".join(lines)


def _here(here: Here) -> str:
    return (
        f"here: project {here.project or '(none)'}, platform {here.platform}, device {here.device}"
    )


def named(*facts: tuple[str, object]) -> list[str]:
    """Each fact with its name; those that are None are left out."""
    return [f"{name} {plain(value)}" for name, value in facts if value is not None]


def plain(value: object) -> str:
    """A value on one line, so that it cannot begin another item."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())


def indented(text: str) -> str:
    """A text of several lines that cannot pass for another item."""
    return "\n".join(f"  {line}" for line in text.splitlines() or [""])
