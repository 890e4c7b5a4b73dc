"""What the owner erased, known again by keyed digests alone: phrases, and whole turns."""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.messages import Draft
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


class Eraser(Protocol):
    """Whatever knows which places of a text are to go."""

    def spans(self, text: str) -> list[Span]:
        """Start and end of each place, in order and apart."""
        ...


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The phrases and turns of a pool that were erased; false when there are none.

    `phrases` are digests by number of words, `turns` digests of whole texts; `key` keyed them.
    """

    key: bytes
    phrases: Mapping[int, frozenset[bytes]]
    turns: frozenset[bytes]

    def __bool__(self) -> bool:
        return bool(self.phrases or self.turns)

    def spans(self, text: str) -> list[Span]:
        """Where erased phrases stand; the whole of a text that was erased as a turn."""
        if self.turns and turn_digest(self.key, text) in self.turns:
            return [(0, len(text))]
        return find_known(text, {size: self._knows(known) for size, known in self.phrases.items()})

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


def strike(text: str, eraser: Eraser) -> str:
    """The text with `REPLACEMENT` in each place that is to go."""
    return _without(text, eraser.spans(text))


def strike_name(text: str, eraser: Eraser, key: bytes) -> str:
    """The same for a name by which things are told apart: different ones stay different.

    The outcome depends on name and key alone, so what is taken in again is known again.
    """
    spans = eraser.spans(text)
    if not spans:
        return text
    return f"{_without(text, spans)}#{_digest(key, 'name', text).hex()[:16]}"


def strike_draft(draft: Draft, tombstones: Tombstones) -> Draft:
    """A turn as it may be stored; the very draft when nothing in it was erased."""
    text = strike(draft.text, tombstones)
    if text != draft.text:
        # A turn that was erased after its words were is known by what they left of it.
        text = strike(text, tombstones)
    changes: dict[str, Any] = {"text": text}
    for field in LABELS:
        if value := getattr(draft, field):
            changes[field] = strike(value, tombstones)
    for field in NAMES:
        if value := getattr(draft, field):
            changes[field] = strike_name(value, tombstones, tombstones.key)
    changes = {field: new for field, new in changes.items() if new != getattr(draft, field)}
    return replace(draft, **changes) if changes else draft


def strike_request(request: PatchRequest, tombstones: Tombstones) -> PatchRequest:
    """A patch as it may be applied. Raises Refused for a statement of which nothing is left."""
    return replace(
        request,
        reason=strike(request.reason, tombstones),
        operations=tuple(_strike_operation(op, tombstones) for op in request.operations),
    )


def _strike_operation(operation: Operation, tombstones: Tombstones) -> Operation:
    changes: dict[str, Any] = {
        field: strike(value, tombstones)
        for field in ("subject", "attribute", "content")
        if (value := getattr(operation, field, None))
    }
    if changes.get("content") == REPLACEMENT:
        raise Refused(
            Refusal(
                Code.INVALID_INPUT,
                "the owner had these words erased, and they are kept out; leave them away",
            )
        )
    if isinstance(operation, Add | Retag):
        struck = (strike(tag, tombstones) for tag in operation.tags)
        changes["tags"] = tuple(dict.fromkeys(struck))
    return replace(operation, **changes)


def _digest(key: bytes, purpose: str, text: str) -> bytes:
    return hmac.digest(key, f"{purpose}\n{text}".encode("utf-8", "surrogatepass"), "sha256")


def _without(text: str, spans: Iterable[Span]) -> str:
    parts, done = list[str](), 0
    for start, end in spans:
        parts += (text[done:start], REPLACEMENT)
        done = end
    return "".join((*parts, text[done:])) if parts else text
