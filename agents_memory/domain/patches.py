"""A patch: one atomic, audited change of memories or profiles."""

import difflib
import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from datetime import datetime

from agents_memory.domain.memories import Kind

MAX_OPERATIONS = 50
MAX_CONTENT_CHARS = 20_000
MAX_SUBJECT_CHARS = 200
MAX_REASON_CHARS = 1_000
MAX_KEY_CHARS = 200
NOTHING = "/dev/null"


@dataclass(frozen=True, slots=True)
class Add:
    """A statement that was not there before; `importance` 1..10, affect as in `domain.affect`."""

    subject: str
    content: str
    kind: Kind = Kind.NOTE
    importance: int = 5
    valence: float = 0.0
    intensity: float = 0.0
    pinned: bool = False
    tags: tuple[str, ...] = ()
    attribute: str | None = None
    scope: str = "default"
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """A better wording; the older one was not wrong. No expected version means the current one."""

    memory_id: int
    content: str
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Remove:
    """A reversible removal: the words stay in the history. Unpins in the same patch."""

    memory_id: int
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """Sets or takes away the pin of a memory."""

    memory_id: int
    pinned: bool
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class WriteProfile:
    """The next version of a document about the user; empty content empties it."""

    kind: str
    content: str
    expected_version: int | None = None


Operation = Add | Update | Remove | Pin | WriteProfile


@dataclass(frozen=True, slots=True)
class PatchRequest:
    """What one actor wants changed, and why.

    `evidence` are message ids that every added or updated statement rests on.
    """

    user_id: int
    actor: str
    tool: str
    reason: str
    operations: tuple[Operation, ...]
    evidence: tuple[int, ...] = ()
    idempotency_key: str | None = None
    platform: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one operation."""

    operation: str
    item_id: int
    version: int


@dataclass(frozen=True, slots=True)
class Applied:
    """A committed patch; `replayed` when the idempotency key had made it before."""

    patch_id: int
    diff: str
    changes: tuple[Change, ...]
    replayed: bool = False


def projection(subject: str, content: str, *, pinned: bool) -> str:
    """What a reader of the active state sees of a memory, as text to compare."""
    return f"subject: {subject}\npinned: {'yes' if pinned else 'no'}\n\n{content}\n"


def unified(label: str, before: str | None, after: str | None) -> str:
    """The minimal unified diff of one item; None stands for an item that is not active."""
    lines = difflib.unified_diff(
        [] if before is None else before.splitlines(),
        [] if after is None else after.splitlines(),
        fromfile=NOTHING if before is None else f"a/{label}",
        tofile=NOTHING if after is None else f"b/{label}",
        lineterm="",
        n=1,
    )
    return "".join(f"{line}\n" for line in lines)


def payload_digest(request: PatchRequest, key: bytes) -> bytes:
    """What tells two payloads under one idempotency key apart (HMAC-SHA-256, 32 bytes)."""
    payload = {
        "operations": [[type(op).__name__, asdict(op)] for op in request.operations],
        "evidence": request.evidence,
        "reason": request.reason,
    }
    text = json.dumps(payload, sort_keys=True, default=str)
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
