"""What one provider's runtime has to do: text for a request, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from cold.llm.port import Failure, Turn
from cold.llm.schemas import Schema


@dataclass(slots=True)
class Tally:
    """What a call has cost so far; kept up to date, since a call may be broken off."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One question: legible turns, the canonical schema of the answer, and its bounds.

    `max_tokens` is 1 or more. `temperature` is 0 for the first try of a question.
    """

    turns: Sequence[Turn]
    name: str
    schema: Schema
    max_tokens: int
    temperature: float = 0.0
    tally: Tally = field(default_factory=Tally)


UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Generated:
    """Text of the model, and whether it came to its end or was cut at a limit of tokens."""

    text: str
    finish: Literal["stop", "length"]


class Backend(Protocol):
    """One model of one runtime; loads, opens and sends nothing before its first use."""

    @property
    def model(self) -> str:
        """The model's name; UNKNOWN before the server said it."""
        ...

    async def generate(self, request: Request) -> Generated | Failure:
        """The answer as it came, unchecked.

        Failures: UNAVAILABLE, REJECTED, TOO_LONG, REFUSED. Has no limit of time of its own; a
        cancelled call ends its work too.
        """
        ...

    async def close(self) -> None: ...
