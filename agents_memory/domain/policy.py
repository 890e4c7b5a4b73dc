"""Who may change what is believed, and what may be cited for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from agents_memory.domain.errors import ConfigurationError
from agents_memory.domain.messages import Role, Trust

# The operations of `domain.patches.Verb` that a request can hold.
OPERATIONS = (
    "add",
    "update",
    "supersede",
    "replace",
    "support",
    "archive",
    "remove",
    "pin",
    "unpin",
    "resolve",
    "retag",
    "write_profile",
)
CLAIMS = frozenset({"add", "update", "supersede"})
"""Operations that say something new of the world."""


class ActorClass(StrEnum):
    """On whose behalf a patch is made."""

    AGENT = "agent"
    DAEMON = "daemon"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Rule:
    """What one class of actors may do, and for what it has to cite messages."""

    may: frozenset[str]
    must_cite: frozenset[str]


@dataclass(frozen=True, slots=True)
class Citable:
    """The role and the trust that a message must have to be evidence."""

    roles: frozenset[Role] = frozenset({Role.USER, Role.ASSISTANT, Role.TOOL})
    trust: frozenset[Trust] = frozenset(Trust)


def _default_rules() -> dict[ActorClass, Rule]:
    everything = frozenset(OPERATIONS)
    return {
        ActorClass.AGENT: Rule(everything - {"replace"}, CLAIMS),
        ActorClass.DAEMON: Rule(everything, CLAIMS),
        ActorClass.OWNER: Rule(everything, frozenset()),
    }


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of a pool; without a file, these defaults.

    `special` holds what may be cited for single operations in place of `citable`.
    """

    rules: Mapping[ActorClass, Rule] = field(default_factory=_default_rules)
    citable: Citable = Citable()
    special: Mapping[str, Citable] = field(default_factory=dict)

    def may(self, actor: ActorClass, operation: str) -> bool:
        """Whether such an actor may do this at all."""
        return operation in self.rules[actor].may

    def must_cite(self, actor: ActorClass, operation: str) -> bool:
        """Whether such an actor has to name messages for this."""
        return operation in self.rules[actor].must_cite

    def admits(self, operation: str, role: Role, trust: Trust) -> bool:
        """Whether a message of this role and trust may be evidence for this."""
        citable = self.special.get(operation, self.citable)
        return role in citable.roles and trust in citable.trust


T = TypeVar("T", bound=str)


def parse_policy(text: str) -> Policy:
    """The policy that a TOML document describes; what it leaves out keeps its default.

    Tables `agent`, `daemon` and `owner` with `may` and `must_cite` (lists of operations); table
    `evidence` with `roles` and `trust`, and tables of the same two below it, one an operation.
    Raises ConfigurationError that names what is wrong and what would be right.
    """
    # Takes longer to import than all of this package, and most pools have no file.
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"the policy is no TOML ({error}); compare it with docs/policy.example.toml"
        ) from error
    _known(document, (*ActorClass, "evidence"), "")
    policy = Policy()
    rules = {
        actor: _rule(_table(document, actor, ""), actor, policy.rules[actor])
        for actor in ActorClass
    }
    evidence = _table(document, "evidence", "")
    _known(evidence, ("roles", "trust", *OPERATIONS), "evidence.")
    citable = _citable(evidence, "evidence.", policy.citable)
    special = {}
    for operation in OPERATIONS:
        if operation in evidence:
            table, where = _table(evidence, operation, "evidence."), f"evidence.{operation}."
            _known(table, ("roles", "trust"), where)
            special[operation] = _citable(table, where, citable)
    return Policy(rules, citable, special)


def _rule(table: Mapping[str, Any], actor: str, default: Rule) -> Rule:
    _known(table, ("may", "must_cite"), f"{actor}.")
    may = _words(table, "may", f"{actor}.", OPERATIONS, default.may)
    must_cite = _words(table, "must_cite", f"{actor}.", OPERATIONS, default.must_cite)
    return Rule(may, must_cite)


def _citable(table: Mapping[str, Any], where: str, default: Citable) -> Citable:
    return replace(
        default,
        roles=_words(table, "roles", where, tuple(Role), default.roles),
        trust=_words(table, "trust", where, tuple(Trust), default.trust),
    )


def _table(parent: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    table = parent.get(key, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"policy: {where}{key} must be a table; write [{where}{key}]")
    return table


def _known(table: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    known = tuple(keys)
    for key in table:
        if key not in known:
            raise ConfigurationError(
                f"policy: {where}{key} is no key of a policy; take one of {', '.join(known)}"
            )


def _words(
    table: Mapping[str, Any],
    key: str,
    where: str,
    words: tuple[T, ...],
    default: frozenset[T],
) -> frozenset[T]:
    if key not in table:
        return default
    listed = table[key]
    if not isinstance(listed, list) or any(word not in words for word in listed):
        raise ConfigurationError(
            f"policy: {where}{key} must be a list of these words only: {', '.join(words)}"
        )
    return frozenset(word for word in words if word in listed)
