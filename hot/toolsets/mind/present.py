"""The answers as text: the same facts as the structure."""

from agents_memory.domain.fencing import fence
from hot.present import indented, named, plain, render_item
from hot.toolsets.mind.answers import (
    DuplicatesAnswer,
    EdgePart,
    Fading,
    FadingAnswer,
    ForgetAnswer,
    GraphAnswer,
    LinkAnswer,
    Memory,
    RecallAnswer,
    Recalled,
    RememberAnswer,
    ReviseAnswer,
    StatusAnswer,
    UnlinkAnswer,
    WakeAnswer,
)


def render_wake(answer: WakeAnswer) -> str:
    """Where one is, what was counted, then the brief, which is fenced already."""
    here = answer.here
    counts = ", ".join(f"{key} {value}" for key, value in answer.counts.items())
    place = f"project {here.project or '(none)'}, platform {here.platform}, device {here.device}"
    return f"here: {place}\ncounts: {counts}\n{answer.brief}"


def render_recall(answer: RecallAnswer) -> str:
    """A line on how it was searched, then the items, fenced as data."""
    left_out = ", ".join(map(str, answer.left_out_ids or ()))
    head = [
        f"{answer.count} recalled ({answer.used})",
        *named(
            ("degraded", answer.degraded),
            ("mood of the last messages" if answer.mood_derived else "mood", answer.mood),
            ("left out for lack of room", answer.left_out),
            ("of ids", left_out or None),
            ("note", answer.note),
        ),
    ]
    return _fenced(head, [_recalled(item) for item in answer.results], answer.notice)


def render_remember(answer: RememberAnswer) -> str:
    """What was made of it, and the diff."""
    facts = named(
        ("version", answer.version),
        ("patch", answer.patch_id),
        ("evidence message", answer.message_id),
        ("pinned", answer.pinned),
        ("embedded", answer.embedded),
    )
    head = f"{answer.outcome}: memory {answer.memory_id} · {' · '.join(facts)}"
    return "\n".join([head, fence(answer.diff, "diff")])


def render_revise(answer: ReviseAnswer) -> str:
    """What was changed, and the diff."""
    facts = named(
        ("version", answer.version),
        ("patch", answer.patch_id),
        ("evidence message", answer.message_id),
        ("status", answer.status),
        ("pinned", answer.pinned),
        ("resolved", answer.resolved_at),
        ("tags", ", ".join(answer.tags) if answer.tags else None),
        ("note", answer.note),
    )
    head = f"{answer.action}: memory {answer.id} · {' · '.join(facts)}"
    return "\n".join([head, *([fence(answer.diff, "diff")] if answer.diff else [])])


def render_link(answer: LinkAnswer) -> str:
    """The edge, and its weight before."""
    return " · ".join([f"linked: {_edge(answer.edge)}", *named(("weight before", answer.was))])


def render_unlink(answer: UnlinkAnswer) -> str:
    """What was taken away."""
    what = ", ".join(answer.removed) or "nothing"
    head = f"unlinked: {answer.from_id} -> {answer.to_id} · {what}"
    return " · ".join([head, *named(("note", answer.note))])


def render_graph(answer: GraphAnswer) -> str:
    """The edges, then the items, fenced as data."""
    head = [f"{answer.count} items around it", *named(("more", answer.more))]
    head += [f"edge {_edge(edge)}" for edge in answer.edges]
    items = [f"distance {item.distance}\n{render_item(item)}" for item in answer.items]
    return _fenced(head, items, answer.notice)


def render_status(answer: StatusAnswer) -> str:
    """Counts, then what does not work."""
    counts = ", ".join(f"{key} {value}" for key, value in answer.counts.items())
    kinds = ", ".join(f"{key} {value}" for key, value in answer.kinds.items())
    lines = [f"counts: {counts}", f"kinds: {kinds or '(none)'}"]
    lines += named(("recomputed at", answer.recomputed_at))
    lines += [f"health: {plain(reason)}" for reason in answer.health] or ["health: good"]
    return "\n".join(lines)


def render_forget(answer: ForgetAnswer) -> str:
    """What recomputing changed."""
    return (
        f"recomputed at {answer.recomputed_at}: {answer.items} items · changed {answer.changed} · "
        f"faded {answer.faded} · fading {answer.fading}"
    )


def render_duplicates(answer: DuplicatesAnswer) -> str:
    """The pairs, fenced as data."""
    head = [
        f"{answer.count} pairs among {answer.looked_at} memories and all older ones",
        *named(
            ("left out", answer.left_out), ("before_id", answer.before_id), ("note", answer.note)
        ),
    ]
    pairs = [
        "\n".join(
            [
                f"similarity {pair.similarity} · same {plain(pair.same)}",
                _memory(pair.older),
                _memory(pair.newer),
            ]
        )
        for pair in answer.pairs
    ]
    return _fenced(head, pairs, answer.notice)


def render_fading(answer: FadingAnswer) -> str:
    """The memories, fenced as data."""
    found = [_memory(memory) for memory in answer.memories]
    return _fenced([f"{answer.count} least present"], found, answer.notice)


def _fenced(head: list[str], parts: list[str], notice: str) -> str:
    return "\n".join([*head, fence("\n".join(parts), "recall") if parts else notice])


def _recalled(item: Recalled) -> str:
    if item.via is None:
        return render_item(item)
    return f"via {item.via.kind} {item.via.id} ({item.via.weight})\n{render_item(item)}"


def _memory(memory: Memory) -> str:
    facts = [f"[{memory.id}] {memory.at}", memory.kind]
    if isinstance(memory, Fading):
        facts += named(
            ("activation", memory.activation),
            ("fades", memory.fades),
            ("touched", memory.touched_at),
        )
    facts += named(
        ("trust", memory.trust),
        ("version", memory.version),
        ("importance", memory.importance),
        ("pinned", memory.pinned),
        ("excerpt", memory.truncated),
        ("tags", ", ".join(memory.tags) if memory.tags else None),
        ("about", memory.subject),
    )
    return "\n".join([" · ".join(facts), indented(memory.text)])


def _edge(edge: EdgePart) -> str:
    return f"{edge.from_id} -{edge.kind}-> {edge.to_id} (weight {edge.weight})"
