"""What a patch is refused with when the state it meets does not allow it."""

from typing import Any

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import MemoryState, Status


def unknown_memory(memory_id: int) -> Refusal:
    """No memory of this user has the id."""
    return Refusal(
        Code.UNKNOWN_MEMORY,
        f"{memory_id} names no memory; search for the one that is meant "
        "(messages are evidence and cannot be changed)",
        {"memory_id": memory_id},
    )


def duplicate(memory_id: int | None) -> Refusal:
    """An active memory says the same already."""
    return Refusal(
        Code.DUPLICATE_MEMORY,
        f"memory {memory_id} already says this; cite or update it instead",
        {"memory_id": memory_id},
    )


def conflict(state: MemoryState, expected: int | None) -> Refusal:
    """The memory is at another version than expected; shows it as it is."""
    current: dict[str, Any] = {
        "version": state.version,
        "status": state.status.value,
        "kind": state.kind.value,
        "subject": state.subject,
        "pinned": state.pinned,
    }
    if state.status is Status.ACTIVE:
        current["content"] = state.content
    return Refusal(
        Code.VERSION_CONFLICT,
        f"the current version is {state.version}, not {expected}; look at it and decide anew",
        {
            "memory_id": state.id,
            "version": state.version,
            "expected": expected,
            "current": current,
        },
    )


def profile_conflict(kind: str, version: int, expected: int | None) -> Refusal:
    """A document about the user is at another version than expected."""
    return Refusal(
        Code.VERSION_CONFLICT,
        f"profile {kind} is at version {version}, not {expected}; read it again and decide anew",
        {"profile": kind, "version": version, "expected": expected},
    )


def not_active(state: MemoryState) -> Refusal:
    """The memory was removed, or has given way to another one."""
    other = f", or change {state.superseded_by}" if state.superseded_by else ""
    return Refusal(
        Code.ALREADY_REMOVED,
        f"memory {state.id} is {state.status}; add a new memory instead{other}",
        {
            "memory_id": state.id,
            "version": state.version,
            "status": state.status.value,
            "superseded_by": state.superseded_by,
        },
    )


def kept_by_pin(state: MemoryState) -> Refusal:
    """A daemon wanted to change what is pinned."""
    return Refusal(
        Code.PINNED,
        f"memory {state.id} is pinned, so only the owner or an agent asked for it may change it; "
        "leave it as it is",
        {"memory_id": state.id},
    )
