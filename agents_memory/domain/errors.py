"""Everything that can go wrong, in one small tree.

MemoryFault                     a broken promise or a lost resource: raised
├── ConfigurationError          a setting is wrong; the message names the right one
├── DatabaseUnavailable         the database cannot be reached now; retrying may help
├── SchemaMismatch              the schema is older or newer than this program can use
│   └── ProgramTooOld           it is newer; the program is to be upgraded
├── Deposed                     this daemon is no longer the leader; its write was refused
└── EmbedderUnavailable         the embedding model cannot answer now

Refusal                         an expected outcome: returned, never raised (`Refused` carries
                                one out of nested checks, and leaves no service)
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class MemoryFault(Exception):
    """Base of every exception this product raises; its text says what to do next."""


class ConfigurationError(MemoryFault):
    """A setting is missing, misspelt or out of range."""


class DatabaseUnavailable(MemoryFault):
    """The database cannot be reached, or went away in the middle of a call."""


class SchemaMismatch(MemoryFault):
    """The schema of the pool does not fit this version of the program."""


class ProgramTooOld(SchemaMismatch):
    """The pool asks for a newer version of the program."""


class Deposed(MemoryFault):
    """Another daemon leads the pool now; nothing of this transaction was kept."""


class MirrorUnavailable(MemoryFault):
    """The folder of the Markdown mirror cannot be read or written."""


class EmbedderUnavailable(MemoryFault):
    """The embedding model is missing, broken or too slow."""


class Code(StrEnum):
    """Codes of refusals; docs/errors.md says of each what to do next."""

    INVALID_INPUT = "INVALID_INPUT"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    UNKNOWN_ITEM = "UNKNOWN_ITEM"
    UNKNOWN_MEMORY = "UNKNOWN_MEMORY"
    UNKNOWN_PATCH = "UNKNOWN_PATCH"
    ALREADY_REMOVED = "ALREADY_REMOVED"
    DUPLICATE_MEMORY = "DUPLICATE_MEMORY"
    MISSING_EVIDENCE = "MISSING_EVIDENCE"
    EVIDENCE_NOT_FOUND = "EVIDENCE_NOT_FOUND"
    EVIDENCE_ROLE_NOT_ALLOWED = "EVIDENCE_ROLE_NOT_ALLOWED"
    OPERATION_NOT_ALLOWED = "OPERATION_NOT_ALLOWED"
    UNSAFE_CONTENT = "UNSAFE_CONTENT"
    PINNED = "PINNED"
    VERSION_CONFLICT = "VERSION_CONFLICT"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    EVENT_CONFLICT = "EVENT_CONFLICT"
    INVALID_QUERY = "INVALID_QUERY"
    UNSAFE_ROLLBACK = "UNSAFE_ROLLBACK"
    ALREADY_ROLLED_BACK = "ALREADY_ROLLED_BACK"
    UNKNOWN_MODEL = "UNKNOWN_MODEL"
    MODEL_INCOMPLETE = "MODEL_INCOMPLETE"
    MODEL_IN_USE = "MODEL_IN_USE"
    DATABASE_UNAVAILABLE = "DATABASE_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A well-formed request that was not carried out.

    `message` says what to do next; `details` holds ids and numbers, and content only below
    `current`, the state that a VERSION_CONFLICT met.
    """

    code: Code
    message: str
    details: dict[str, Any] = field(default_factory=dict)


class Refused(Exception):
    """Carries a refusal out of nested checks; whoever began them returns it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal
