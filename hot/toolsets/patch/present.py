"""The same answers as text; whatever was stored stands inside the fence."""

from collections.abc import Iterable

from agents_memory.domain.fencing import fence
from hot.present import indented, named, plain
from hot.toolsets.patch.answers import (
    AppliedAnswer,
    FoundAnswer,
    HistoryAnswer,
    Memory,
    PatchAnswer,
    PatchOperation,
    ReadAnswer,
    RecordedAnswer,
    Version,
)


def render_recorded(answer: RecordedAnswer) -> str:
    """The acknowledgement."""
    was = "already there, the same" if answer.duplicate else "recorded"
    taken = ", ".join(f"{number} {sort}" for sort, number in (answer.redactions or {}).items())
    note = f" · taken out as secret: {taken}" if taken else ""
    return f"{was}: event {answer.event_id} ({answer.role}) at {answer.created_at}{note}"


def render_found(answer: FoundAnswer) -> str:
    """How many, then each of them."""
    head = f"{answer.count} {'memory' if answer.count == 1 else 'memories'}"
    return _with(head, map(_memory, answer.memories), "memories")


def render_read(answer: ReadAnswer) -> str:
    """The memory, then its versions."""
    parts = [_memory(answer.memory), *map(_version, answer.versions or ())]
    return _with(f"memory {answer.memory.memory_id}{_rest(answer.left_out)}", parts, "memory")


def render_history(answer: HistoryAnswer) -> str:
    """The versions, the oldest first."""
    head = f"memory {answer.memory_id}: {answer.count} versions{_rest(answer.left_out)}"
    return _with(head, map(_version, answer.versions), "history")


def render_applied(answer: AppliedAnswer) -> str:
    """What was changed, and the diff."""
    done = ", ".join(
        f"{o.type} memory {o.memory_id} version {o.version}" for o in answer.operations
    )
    again = " (applied before, not again)" if answer.replayed else ""
    return _with(f"patch {answer.patch_id}{again}: {done}", [answer.diff], "diff")


def render_patch(answer: PatchAnswer) -> str:
    """Who did what, when and why, and the diff."""
    facts = named(
        ("rollback of patch", answer.rollback_of), ("rolled back by patch", answer.rolled_back_by)
    )
    head = " · ".join([f"patch {answer.patch_id} at {answer.at}", *facts])
    why = f"by {plain(answer.actor)} ({plain(answer.tool)}) because: {plain(answer.reason)}"
    return _with(head, [why, *map(_done, answer.operations), answer.diff], "patch")


def _memory(memory: Memory) -> str:
    facts = [
        f"[{memory.memory_id}] {memory.at}",
        memory.kind,
        *named(
            ("version", memory.version),
            ("status", memory.status),
            ("trust", memory.trust),
            ("pinned", memory.pinned),
            ("importance", memory.importance),
            ("cut", memory.content_cut),
            ("resolved", memory.resolved_at),
            ("gave way to", memory.superseded_by),
            ("project", memory.project),
            ("on", memory.platform),
            ("tags", ", ".join(memory.tags) if memory.tags else None),
            ("about", memory.subject),
        ),
    ]
    return "\n".join([" · ".join(facts), indented(memory.content)])


def _version(version: Version) -> str:
    facts = [
        f"version {version.version} {version.at}",
        version.operation,
        *named(
            ("patch", version.patch_id),
            ("status", version.status),
            ("ended by", version.ended_by),
            ("cites", _listed(version.evidence_event_ids)),
            ("cut", version.diff_cut),
            ("by", f"{version.actor} ({version.tool})"),
            ("because", version.reason),
        ),
    ]
    return "\n".join([" · ".join(facts), indented(version.diff)])


def _done(operation: PatchOperation) -> str:
    return " · ".join(
        [
            operation.operation,
            *named(
                ("memory", operation.memory_id),
                ("profile", operation.profile_id),
                ("from version", operation.from_version),
                ("to version", operation.to_version),
                ("cites", _listed(operation.evidence_event_ids)),
            ),
        ]
    )


def _listed(ids: Iterable[int]) -> str | None:
    return ", ".join(map(str, ids)) or None


def _rest(left_out: int | None) -> str:
    return f" · {left_out} later versions left out (after_version)" if left_out else ""


def _with(head: str, parts: Iterable[str], kind: str) -> str:
    shown = "\n".join(parts)
    return f"{head}\n{fence(shown, kind)}" if shown else head
