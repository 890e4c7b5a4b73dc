"""A patch: one atomic, audited change of memories or profiles."""

import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum

from agents_memory.domain.memories import Kind
from agents_memory.domain.policy import ActorClass

MAX_OPERATIONS = 50
MAX_CONTENT_CHARS = 20_000
MAX_SUBJECT_CHARS = 200
MAX_REASON_CHARS = 1_000
MAX_KEY_CHARS = 200
MAX_EVIDENCE = 100
MAX_TAGS = 20
MAX_TAG_CHARS = 50
PROFILE_KINDS = ("core", "sub", "persona.agent", "persona.user", "persona.shared")


class Verb(StrEnum):
    """What a patch did to one item, as it stands in the history."""

    ADD = "add"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    REPLACE = "replace"
    MERGE = "merge"
    SUPPORT = "support"
    ARCHIVE = "archive"
    REMOVE = "remove"
    PIN = "pin"
    UNPIN = "unpin"
    RESOLVE = "resolve"
    RETAG = "retag"
    WRITE_PROFILE = "write_profile"
    RESTORE = "restore"


# Of every operation: `evidence` are the ids of the messages it rests on (none: those of the
# request); `expected_version` is the version its author has seen. None means the current one, which
# only our own adapters may say.


@dataclass(frozen=True, slots=True)
class Add:
    """A statement that was not there before; `importance` 1..10, affect as in `domain.affect`.

    Where neither valence nor intensity is told, the daemon estimates both.
    """

    subject: str
    content: str
    kind: Kind = Kind.NOTE
    importance: int = 5
    valence: float | None = None
    intensity: float | None = None
    pinned: bool = False
    tags: tuple[str, ...] = ()
    attribute: str | None = None
    scope: str = "default"
    occurred_at: datetime | None = None
    evidence: tuple[int, ...] = ()

    @property
    def tells_affect(self) -> bool:
        return self.valence is not None or self.intensity is not None


@dataclass(frozen=True, slots=True)
class Update:
    """A better wording; the older one was not wrong."""

    memory_id: int
    content: str
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Supersede:
    """What holds now in place of a statement that is outdated; the memory keeps its id."""

    memory_id: int
    content: str
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Replace:
    """A memory gives way to another active one, `by`; for passes and the owner.

    `merge`: both said the same, so the evidence of the one supports the other from here on. The
    words of the other, and their trust, stay what they were.
    """

    memory_id: int
    by: int
    expected_version: int | None = None
    by_version: int | None = None
    merge: bool = False
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Support:
    """The same was said again: the memory rests on these messages too.

    Its words stay, and it has the trust of whichever is more trusted, since each would be enough.
    `saying`: the words that are supported, whichever version of the memory says them.
    """

    memory_id: int
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()
    saying: str | None = None


@dataclass(frozen=True, slots=True)
class Archive:
    """Out of sight, before it is removed: shown by its id alone. Unpins in the same patch."""

    memory_id: int
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Remove:
    """A reversible removal, of what is archived too: the words stay in the history. Unpins."""

    memory_id: int
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pin:
    """Sets or takes away the pin of a memory."""

    memory_id: int
    pinned: bool = True
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolve:
    """A promise was kept, a question settled; what was resolved before keeps its time."""

    memory_id: int
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Retag:
    """Other tags in place of all that a memory has."""

    memory_id: int
    tags: tuple[str, ...]
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteProfile:
    """The next version of a document about the user; empty content empties it."""

    kind: str
    content: str
    expected_version: int | None = None
    evidence: tuple[int, ...] = ()


OnMemory = Update | Supersede | Replace | Support | Archive | Remove | Pin | Resolve | Retag
Operation = Add | OnMemory | WriteProfile

_VERBS = {
    Add: Verb.ADD,
    Update: Verb.UPDATE,
    Supersede: Verb.SUPERSEDE,
    Replace: Verb.REPLACE,
    Support: Verb.SUPPORT,
    Archive: Verb.ARCHIVE,
    Remove: Verb.REMOVE,
    Resolve: Verb.RESOLVE,
    Retag: Verb.RETAG,
    WriteProfile: Verb.WRITE_PROFILE,
}


def verb(operation: Operation) -> Verb:
    """The name of an operation in the history, in policies and in refusals."""
    if isinstance(operation, Pin):
        return Verb.PIN if operation.pinned else Verb.UNPIN
    return _VERBS[type(operation)]


@dataclass(frozen=True, slots=True)
class PatchRequest:
    """What one actor wants changed, and why.

    `evidence` are message ids for every operation that names none of its own. `actor_class` decides
    what the policy asks of it; it is said by our adapters, never by a model.
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
    actor_class: ActorClass = ActorClass.AGENT


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one item."""

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


def payload_digest(request: PatchRequest, key: bytes) -> bytes:
    """What tells two payloads under one idempotency key apart (HMAC-SHA-256, 32 bytes)."""
    payload = {
        "operations": [[verb(op), asdict(op)] for op in request.operations],
        "evidence": request.evidence,
        "reason": request.reason,
    }
    text = json.dumps(payload, sort_keys=True, default=str)
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
