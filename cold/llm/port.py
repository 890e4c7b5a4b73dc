"""The port for language models; `Rules` answers where none is set up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    # Nine megabytes that a daemon without a model has no use for.
    from pydantic import BaseModel

Answer = TypeVar("Answer", bound="BaseModel")
AnswerGot = TypeVar("AnswerGot", bound="BaseModel", covariant=True)


class Role(StrEnum):
    """What a model is asked for; each may have a provider and a model of its own."""

    TAGGER = "tagger"
    LIBRARIAN = "librarian"
    CLUSTER = "cluster"
    ALIAS = "alias"
    EXTRACT = "extract"
    VERIFY = "verify"
    GATE = "gate"


class Provider(StrEnum):
    """Who answers: one ceiling and one hold for each."""

    LOCAL = "local"
    OPENAI = "openai"
    XAI = "xai"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a prompt; `source`: it holds what the answer is about and may quote from.

    Examples belong into turns that are no source, or what they say could pass for a quote.
    """

    role: Literal["system", "user", "assistant"]
    text: str
    source: bool = False


class Why(StrEnum):
    """Every way to get no answer; the ledger counts them under these names."""

    NO_MODEL = "no_model"
    NOTHING_ASKED = "nothing_asked"
    OVER_CEILING = "over_ceiling"
    ON_HOLD = "on_hold"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed_out"
    REJECTED = "rejected"
    TOO_LONG = "too_long"
    EMPTY = "empty"
    CUT = "cut"
    MALFORMED = "malformed"
    INVALID = "invalid"
    REFUSED = "refused"
    OVERLONG = "overlong"
    REPETITIVE = "repetitive"
    FOREIGN = "foreign"
    UNGROUNDED = "ungrounded"


@dataclass(frozen=True, slots=True)
class Failure:
    """No usable answer; the reason holds no content and says what to do where something can be.

    `until` is when asking makes sense again, where that is known.
    """

    why: Why
    reason: str
    until: datetime | None = None


class Away(Failure):
    """Nobody can be asked now, so what it is about is not to blame and waits untried."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Answered(Generic[AnswerGot]):
    """An answer that fits its schema and passed the guard, and who gave it."""

    value: AnswerGot
    provider: Provider
    model: str


UNTRIED = frozenset({Why.UNAVAILABLE, Why.ON_HOLD, Why.OVER_CEILING})
"""Nobody looked at the question, so what it is about is not to blame and waits."""


class LanguageModel(Protocol):
    """Text in, validated object out."""

    def serves(self, role: Role) -> bool:
        """Whether a model is set up for this role; it may be away all the same."""
        ...

    def named(self, role: Role) -> str | None:
        """Who answers for this role first, as `provider:model`; None: nobody, or not known yet."""
        ...

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        """An object that fits `schema`, a model of the subset that `cold.llm.schemas` reads.

        A model that is down, refuses, or answers what does not fit is a Failure, never an
        exception. Never inside a database transaction. May be cancelled at any time. Raises
        DatabaseUnavailable where the call cannot be counted.
        """
        ...

    async def close(self) -> None:
        """Ends connections and threads; a call that is under way ends as a Failure."""
        ...


class Rules:
    """No model: every pass has to do with rules, or leave the item in the queue."""

    def serves(self, role: Role) -> bool:
        return False

    def named(self, role: Role) -> str | None:
        return None

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        return Failure(
            Why.NO_MODEL,
            f"no model is set up for {role}; set LOCAL_LLM_BASE_URL or LOCAL_LLM_MODEL_PATH",
        )

    async def close(self) -> None:
        """Nothing to end."""
