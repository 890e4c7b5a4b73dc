"""Whether a patch may be tried at all: bounds, cleaning, and what the policy asks of its author."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import NoReturn, TypeVar

from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.messages import Screening, Trust
from agents_memory.domain.patches import (
    MAX_CONTENT_CHARS,
    MAX_EVIDENCE,
    MAX_KEY_CHARS,
    MAX_OPERATIONS,
    MAX_REASON_CHARS,
    MAX_SUBJECT_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    PROFILE_KINDS,
    Add,
    Operation,
    PatchRequest,
    Retag,
    Supersede,
    Support,
    Update,
    WriteProfile,
    verb,
)
from agents_memory.domain.policy import ActorClass, Policy
from agents_memory.domain.redaction import redact
from agents_memory.domain.screening import screen
from agents_memory.domain.text import is_blank, repair

# Redaction makes a text a little longer or shorter; far above its bound a text is not even read.
_FAR = 4
MAX_LABEL_CHARS = 200

_Wording = TypeVar("_Wording", Add, Update, Supersede)


def admit(request: PatchRequest, policy: Policy) -> PatchRequest | Refusal:
    """The request with its texts repaired and redacted, and its evidence beside each operation.

    Refuses with LIMIT_EXCEEDED, INVALID_INPUT, OPERATION_NOT_ALLOWED, MISSING_EVIDENCE and
    UNSAFE_CONTENT.
    """
    try:
        count = len(request.operations)
        if not 1 <= count <= MAX_OPERATIONS:
            _refuse_limit(
                f"a patch holds 1 to {MAX_OPERATIONS} operations and this has {count}; split it",
                MAX_OPERATIONS,
            )
        operations = tuple(_admitted(op, request, policy) for op in request.operations)
        return replace(
            request,
            operations=operations,
            reason=clean_reason(request.reason),
            idempotency_key=_clean_key(request.idempotency_key),
        )
    except Refused as refused:
        return refused.refusal


def clean_reason(reason: str) -> str:
    """A reason as it may be stored. Raises Refused when there is none, or too much of it."""
    return _text("reason", reason, MAX_REASON_CHARS, "say why in a sentence or two")


def _admitted(operation: Operation, request: PatchRequest, policy: Policy) -> Operation:
    name = verb(operation)
    if not policy.may(request.actor_class, name):
        raise Refused(
            Refusal(
                Code.OPERATION_NOT_ALLOWED,
                f"the policy of this pool does not let a {request.actor_class} {name}; "
                "ask the owner, who can do it or change the policy",
                {"operation": name},
            )
        )
    evidence = tuple(dict.fromkeys(operation.evidence or request.evidence))
    if len(evidence) > MAX_EVIDENCE:
        _refuse_limit(
            f"an operation cites at most {MAX_EVIDENCE} messages; take those that say it best",
            MAX_EVIDENCE,
        )
    must_cite = isinstance(operation, Support) or policy.must_cite(request.actor_class, name)
    if not evidence and must_cite:
        raise Refused(
            Refusal(
                Code.MISSING_EVIDENCE,
                "cite the messages this rests on; save what was said first if it is not stored yet",
                {"operation": name},
            )
        )
    cleaned = _clean(operation)
    if request.actor_class is not ActorClass.OWNER:
        _screen(cleaned)
    return replace(cleaned, evidence=evidence)


def _screen(operation: Operation) -> None:
    """What would be quarantined as a message is not believed either."""
    if not isinstance(operation, Add | Update | Supersede | WriteProfile):
        return
    if screen(operation.content, Trust.AGENT).screening is Screening.QUARANTINED:
        raise Refused(
            Refusal(
                Code.UNSAFE_CONTENT,
                "this reads like an order planted for whoever reads the memory; state the fact "
                "alone, in your own words, and put what somebody ordered in quotation marks",
                {"operation": verb(operation)},
            )
        )


def _clean(operation: Operation) -> Operation:
    match operation:
        case Add():
            return _clean_add(_worded(operation))
        case Update():
            return _worded(operation)
        case Supersede():
            return _worded(operation)
        case Retag():
            return replace(operation, tags=_clean_tags(operation.tags))
        case WriteProfile():
            if operation.kind not in PROFILE_KINDS:
                _refuse_input(f"there is no such profile; take one of {', '.join(PROFILE_KINDS)}")
            return replace(operation, content=_content(operation.content))
        case _:
            return operation


def _clean_add(add: Add) -> Add:
    if not 1 <= add.importance <= 10:
        _refuse_input("importance goes from 1 to 10; give a whole number between them")
    # Written so that NaN fails too.
    if add.valence is not None and not -1 <= add.valence <= 1:
        _refuse_input("valence goes from -1 (bad) to 1 (good); give a number between them")
    if add.intensity is not None and not 0 <= add.intensity <= 1:
        _refuse_input("intensity goes from 0 (calm) to 1 (strong); give a number between them")
    subject = _text("subject", add.subject, MAX_SUBJECT_CHARS, "name whom or what it is about")
    attribute = add.attribute
    if attribute is not None:
        attribute = _text("attribute", attribute, MAX_LABEL_CHARS, "leave it out, or name one")
    return replace(
        add,
        # One line of what is shown.
        subject=" ".join(subject.split()),
        attribute=attribute,
        # What is stored are single floats, and a tiny double would be out of their range.
        valence=None if add.valence is None else round(add.valence, 6),
        intensity=None if add.intensity is None else round(add.intensity, 6),
        scope=_text("scope", add.scope, MAX_LABEL_CHARS, "leave it out, or name one"),
        tags=_clean_tags(add.tags),
    )


def _worded(operation: _Wording) -> _Wording:
    content = _content(operation.content)
    if is_blank(content):
        _refuse_input("content is empty; say what is to be remembered")
    return replace(operation, content=content)


def _content(text: str) -> str:
    short = len(text) <= _FAR * MAX_CONTENT_CHARS
    content = _cleaned(text) if short else text
    if len(content) > MAX_CONTENT_CHARS:
        _refuse_limit(
            f"a memory may hold {MAX_CONTENT_CHARS} characters; save the whole text with "
            "save_message and remember its gist",
            MAX_CONTENT_CHARS,
        )
    return content


def _text(name: str, value: str, limit: int, instead: str) -> str:
    text = value
    if len(value) <= MAX_LABEL_CHARS:
        text = _cleaned_label(value)
    elif len(value) <= _FAR * limit:
        text = _cleaned(value)
    if len(text) > limit:
        _refuse_limit(f"{name} may hold {limit} characters; shorten it", limit)
    if is_blank(text):
        _refuse_input(f"{name} is empty; {instead}")
    return text


def _clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    if len(tags) > MAX_TAGS:
        _refuse_limit(f"a memory has at most {MAX_TAGS} tags; keep the telling ones", MAX_TAGS)
    found = (_text("a tag", tag, MAX_TAG_CHARS, "leave it out") for tag in tags)
    return tuple(dict.fromkeys(" ".join(tag.split()) for tag in found))


def _clean_key(key: str | None) -> str | None:
    if key is None:
        return None
    if len(key) > MAX_KEY_CHARS:
        _refuse_limit(
            f"an idempotency key may hold {MAX_KEY_CHARS} characters; a UUID will do", MAX_KEY_CHARS
        )
    if is_blank(key):
        _refuse_input("the idempotency key is empty; leave it out, or take a UUID")
    if redact(repair(key).text).text == key:
        return key
    # It may be a secret, and two keys must not become one by being redacted.
    return f"blake2b:{blake2b(key.encode('utf-8', 'surrogatepass'), digest_size=32).hexdigest()}"


def _cleaned(value: str) -> str:
    return redact(repair(value).text).text.strip()


# Reasons, scopes and tags come again and again, and redacting them cost as much as the rest.
_cleaned_label = lru_cache(maxsize=256)(_cleaned)


def _refuse_limit(message: str, limit: int) -> NoReturn:
    raise Refused(Refusal(Code.LIMIT_EXCEEDED, message, {"limit": limit}))


def _refuse_input(message: str) -> NoReturn:
    raise Refused(Refusal(Code.INVALID_INPUT, message))
