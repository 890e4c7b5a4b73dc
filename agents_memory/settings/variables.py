"""The shape of the table: one variable, its group, and the names that are accepted unused."""

import dataclasses
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from agents_memory.settings.surroundings import Surroundings
from agents_memory.settings.values import Kind, text


class Group(Enum):
    """A heading of `.env.example`; the value is its title and what to know about it."""

    SOURCES = (
        "Where settings come from",
        "These two are read from the environment of the process; the second also from the file.",
    )
    DATABASE = (
        "Database",
        "With none of these set, a private Postgres in the data folder starts by itself. "
        "Give either DATABASE_URL or the DB_ parts, not both. A pool is one Postgres schema.",
    )
    IDENTITY = ("Who writes", "Attribution of what is stored; not a matter of security.")
    HOT = ("Search, brief and tools", "What an editor's server does.")
    KNOWLEDGE = ("What is believed", "Memories change by patches only; the rules for them.")
    EMBEDDING = ("Embedding", "How text becomes a vector; the default needs no network.")
    MODELS = (
        "Language models",
        "What reads, tags and sums up in the background (docs/models.md); with none of these set, "
        "rules do what they can.",
    )
    TAGS = (
        "Project tags",
        "What is suggested, for you to confirm or reject (`mcp-agents-memory tags suggestions`).",
    )
    COLD = ("Background work", "The daemon that tags, embeds and links.")
    CAPTURE = (
        "Capture",
        "Reads what clients write down of their conversations: read-only, from now on, and only of "
        "clients named here.",
    )
    BUZZ = (
        "Buzz",
        "What `mcp-agents-memory buzz-ingest` reads (docs/buzz.md); no other command uses these.",
    )
    LOGGING = ("Logs", "Logs go to stderr and hold neither content nor secrets.")
    ACCEPTED = (
        "Accepted; no effect in this version",
        "One file may serve several versions and relatives of this program: these names are "
        "known and ignored.",
    )


class Variable(NamedTuple):
    """One variable of the environment.

    `default` is written as it would be in the file (None: there is none); `computed` finds a
    default in the surroundings; `unset` says in words what then holds. `misnomers` are names
    people write instead: never accepted, always corrected. `field` is the attribute of Settings,
    None for a name that is only accepted.
    """

    name: str
    group: Group
    about: str
    kind: Kind
    default: str | None = None
    computed: Callable[[Surroundings], object] | None = None
    unset: str = ""
    misnomers: tuple[str, ...] = ()
    field: str | None = None

    def default_in(self, surroundings: Surroundings) -> object:
        """The value that holds when the variable is not set."""
        if self.computed is not None:
            return self.computed(surroundings)
        return None if self.default is None else self.kind.read(self.default)


def setting(name: str, group: Group, about: str, kind: Kind, **details: Any) -> Any:
    """A field of Settings that variable `name` sets; `details` are the rest of `Variable`."""
    return dataclasses.field(metadata={"variable": Variable(name, group, about, kind, **details)})


# A name whose wrong value has no effect needs no check.
_ANYTHING = text(4096)
_ACCEPTED = {
    "language models": "GEMINI_API_KEY",
    "profile": "LIBRARIAN_DEEP_THINKING",
    "tags": "TAGGER_CANDIDATE_STRATEGY TAGGER_CANDIDATE_LIMIT JEV_ENABLED JEV_MIN_CONFIDENCE",
    "SSH tunnel (SSH_ENABLED=true is refused)": "SSH_ENABLED SSH_HOST SSH_PORT SSH_USER "
    "SSH_KEY_PATH SSH_PASS",
}
ACCEPTED = tuple(
    Variable(name, Group.ACCEPTED, f"{topic}: accepted; no effect in this version", _ANYTHING)
    for topic, names in _ACCEPTED.items()
    for name in names.split()
)
