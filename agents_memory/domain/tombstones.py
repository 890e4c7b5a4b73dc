"""What the owner erased, known again by keyed digests alone: phrases, and whole turns."""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.messages import Draft
from agents_memory.domain.own_values import is_own
from agents_memory.domain.patches import Add, Operation, PatchRequest, Retag
from agents_memory.domain.phrases import Known, Span, find_known, words_of

REPLACEMENT = "[redacted]"
MIN_TURN_WORDS = 4
"""A shorter turn is what others say too: it is not known again by its words."""

LABELS = (
    "platform", "model", "subagent_model", "subagent_role", "device", "venue", "cwd",
    "project_hint",
)  # fmt: skip
"""Fields of a turn in which words are struck out like in its text."""

NAMES = ("session", "source", "store_id", "native_id")
"""Fields that tell turns apart: a digest keeps them different when words were struck out."""


def has_gap(text: str) -> bool:
    """Whether something was taken out of a text: erased words, or a secret."""
    return REPLACEMENT in text or "[redacted:" in text


class Eraser(Protocol):
    """Whatever knows which places of a text are to go."""

    def spans(self, text: str) -> list[Span]:
        """Start and end of each place, in order and apart."""
        ...


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The phrases and turns of a pool that were erased; false when there are none.

    `phrases` are pairs of number of words and digest, the oldest first; `turns` digests of whole
    texts, and of statements; `key` keyed them.
    """

    key: bytes
    phrases: tuple[tuple[int, bytes], ...]
    turns: frozenset[bytes]
    _sizes: Mapping[int, frozenset[bytes]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sizes: dict[int, set[bytes]] = {}
        for words, digest in self.phrases:
            sizes.setdefault(words, set()).add(digest)
        object.__setattr__(self, "_sizes", {n: frozenset(found) for n, found in sizes.items()})

    def __bool__(self) -> bool:
        return bool(self.phrases or self.turns)

    def spans(self, text: str) -> list[Span]:
        """Where erased phrases stand; the whole of a text that was erased as a turn."""
        if self.turns and turn_digest(self.key, text) in self.turns:
            return [(0, len(text))]
        return find_known(text, {size: self._knows(known) for size, known in self._sizes.items()})

    def erased_statement(self, subject: str, content: str) -> bool:
        """Whether a memory that said this was erased."""
        return bool(self.turns) and statement_digest(self.key, subject, content) in self.turns

    def strike_name(self, name: str) -> str:
        """A name as the owner left it: one phrase after the other, in the order of erasing them."""
        if not self.spans(name):
            return name
        name = strike_name(name, Tombstones(self.key, (), self.turns), self.key)
        for phrase in self.phrases:
            name = strike_name(name, Tombstones(self.key, (phrase,), frozenset()), self.key)
        return name

    def _knows(self, digests: frozenset[bytes]) -> Known:
        seen: dict[tuple[str, ...], bool] = {}

        def known(words: tuple[str, ...]) -> bool:
            if words not in seen:
                seen[words] = phrase_digest(self.key, words) in digests
            return seen[words]

        return known


def phrase_digest(key: bytes, words: Sequence[str]) -> bytes:
    """What tells a phrase (HMAC-SHA-256, 32 bytes)."""
    return _digest(key, "phrase", " ".join(words))


def turn_digest(key: bytes, text: str) -> bytes | None:
    """What tells a whole turn by its words; None for one of fewer than `MIN_TURN_WORDS`."""
    words = [word for word, _ in words_of(text)]
    return None if len(words) < MIN_TURN_WORDS else _digest(key, "turn", " ".join(words))


def statement_digest(key: bytes, subject: str, content: str) -> bytes:
    """What tells a memory by its subject and its words, however few."""
    said = (" ".join(word for word, _ in words_of(text)) for text in (subject, content))
    return _digest(key, "statement", "\n".join(said))


def strike(text: str, eraser: Eraser) -> str:
    """The text with `REPLACEMENT` in each place that is to go."""
    return _without(text, eraser.spans(text))


def strike_name(text: str, eraser: Eraser, key: bytes) -> str:
    """The same for a name by which things are told apart: different ones stay different.

    The outcome depends on name, key and what is struck, so what is taken in again is known again.
    """
    spans = eraser.spans(text)
    if not spans:
        return text
    return told_apart(_without(text, spans), text, key)


def told_apart(struck: str, name: str, key: bytes) -> str:
    """What was left of a name, with a digest of the whole of it behind."""
    return f"{struck}#{_digest(key, 'name', name).hex()[:16]}"


def strike_draft(draft: Draft, tombstones: Tombstones) -> Draft:
    """A turn as it may be stored; the very draft when nothing in it was erased."""
    text = strike(draft.text, tombstones)
    if text != draft.text:
        # A turn that was erased after its words were is known by what they left of it.
        text = strike(text, tombstones)
    changes: dict[str, Any] = {"text": text}
    for label in LABELS:
        if (value := getattr(draft, label)) and not is_own(label, value):
            changes[label] = strike(value, tombstones)
    for name in NAMES:
        if (value := getattr(draft, name)) and not is_own(name, value):
            changes[name] = tombstones.strike_name(value)
    changes = {name: new for name, new in changes.items() if new != getattr(draft, name)}
    return replace(draft, **changes) if changes else draft


def strike_request(request: PatchRequest, tombstones: Tombstones) -> PatchRequest:
    """A patch as it may be applied.

    Raises Refused for a statement of which nothing is left, and for one that was erased.
    """
    key, platform = request.idempotency_key, request.platform
    return replace(
        request,
        reason=strike(request.reason, tombstones),
        idempotency_key=None if key is None else tombstones.strike_name(key),
        platform=platform
        if platform is None or is_own("platform", platform)
        else strike(platform, tombstones),
        operations=tuple(_strike_operation(op, tombstones) for op in request.operations),
    )


def _strike_operation(operation: Operation, tombstones: Tombstones) -> Operation:
    changes: dict[str, Any] = {
        name: strike(value, tombstones)
        for name in ("subject", "attribute", "content")
        if (value := getattr(operation, name, None)) and not is_own(name, value)
    }
    if content := changes.get("content"):
        # A statement that was erased after its words were is known by what they left of it.
        changes["content"] = strike(content, tombstones)
    if changes.get("content") == REPLACEMENT or _was_erased(operation, changes, tombstones):
        raise Refused(
            Refusal(
                Code.INVALID_INPUT,
                "the owner had these words erased, and they are kept out; leave them away",
            )
        )
    if isinstance(operation, Add) and not is_own("scope", operation.scope):
        changes["scope"] = tombstones.strike_name(operation.scope)
    if isinstance(operation, Add | Retag):
        struck = (strike(tag, tombstones) for tag in operation.tags)
        changes["tags"] = tuple(dict.fromkeys(struck))
    return replace(operation, **changes)


def _was_erased(operation: Operation, struck: Mapping[str, Any], tombstones: Tombstones) -> bool:
    if not isinstance(operation, Add):
        return False
    left = struck.get("subject", operation.subject), struck.get("content", operation.content)
    return tombstones.erased_statement(
        operation.subject, operation.content
    ) or tombstones.erased_statement(*left)


def _digest(key: bytes, purpose: str, text: str) -> bytes:
    return hmac.digest(key, f"{purpose}\n{text}".encode("utf-8", "surrogatepass"), "sha256")


def _without(text: str, spans: Iterable[Span]) -> str:
    parts, done = list[str](), 0
    for start, end in spans:
        parts += (text[done:start], REPLACEMENT)
        done = end
    return "".join((*parts, text[done:])) if parts else text
