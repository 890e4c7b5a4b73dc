"""From what a request holds to a patch; imported by the first call, since a start does without."""

from datetime import tzinfo

from agents_memory.domain import patches
from agents_memory.domain.memories import Kind
from hot.toolsets.patch.arguments import (
    Add,
    ApplyRequest,
    Mark,
    Operation,
    Remove,
    Retag,
    Reword,
    aware,
)

ACTOR = "agent"
TOOL = "memory_apply"


def patch_of(
    request: ApplyRequest, user_id: int, zone: tzinfo, *, platform: str, project: str | None
) -> patches.PatchRequest:
    """The patch that an agent asks for; times without a zone are of `zone`."""
    return patches.PatchRequest(
        user_id,
        ACTOR,
        TOOL,
        request.reason,
        tuple(_operation(given, zone) for given in request.operations),
        idempotency_key=request.idempotency_key,
        platform=platform,
        project=project,
    )


def _operation(given: Operation, zone: tzinfo) -> patches.Operation:
    match given:
        case Add():
            return patches.Add(
                subject=given.subject,
                content=given.content,
                kind=Kind(given.kind),
                importance=given.importance,
                valence=given.valence,
                intensity=given.intensity,
                pinned=given.pinned,
                tags=tuple(given.tags),
                attribute=given.attribute,
                occurred_at=aware(given.occurred_at, zone),
                evidence=tuple(given.evidence_event_ids),
            )
        case Reword():
            kind = patches.Update if given.type == "UPDATE" else patches.Supersede
            evidence = tuple(given.evidence_event_ids)
            return kind(given.memory_id, given.new_content, given.expected_version, evidence)
        case Remove():
            evidence = tuple(given.evidence_event_ids)
            return patches.Remove(given.memory_id, given.expected_version, evidence)
        case Mark(type="RESOLVE"):
            return patches.Resolve(given.memory_id, given.expected_version)
        case Mark():
            return patches.Pin(given.memory_id, given.type == "PIN", given.expected_version)
        case Retag():
            return patches.Retag(given.memory_id, tuple(given.tags), given.expected_version)
