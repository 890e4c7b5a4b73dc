"""The port for language models; `rules` answers where none is set up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Failure:
    """No usable answer; the reason holds no content and says what to do where something can be."""

    reason: str


class LanguageModel(Protocol):
    """Text in, validated object out."""

    async def complete(
        self, role: str, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answer | Failure:
        """An object that fits `schema`; `role` names the task, such as `extract`.

        A model that is down, refuses, or answers what does not fit is a Failure, never an
        exception. May be cancelled at any time.
        """
        ...


class Rules:
    """No model: every pass has to do with rules, or leave the item in the queue."""

    async def complete(
        self, role: str, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answer | Failure:
        return Failure("no model is set up")
