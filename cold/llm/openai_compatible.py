"""Answers over HTTP, from any server of OpenAI's kind: llama-server, Ollama, vLLM, OpenAI, xAI."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from agents_memory.clock import Clock
from agents_memory.settings import Secret
from cold.llm.backend import UNKNOWN, Generated, Request
from cold.llm.dialects import Dialect, body_of, dialect_of, without_named
from cold.llm.port import Failure, Why
from cold.llm.schemas import KEYWORDS

if TYPE_CHECKING:
    from cold.llm.client import Client, Reply

ATTEMPTS = 3
# A server that wants to be left for longer is reported, and held until then.
LONGEST_PAUSE_S = 20.0
_GROWING = wait_random_exponential(multiplier=0.5, max=4)

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked for; `model` and `dialect` are found out where they are None.

    The settings are named in errors: of the address, the key and the model.
    """

    base_url: str
    key: Secret | None = None
    model: str | None = None
    dialect: Dialect | None = None
    url_setting: str = "LOCAL_LLM_BASE_URL"
    key_setting: str = "LOCAL_LLM_API_KEY"
    model_setting: str = "LOCAL_LLM_MODEL"


class _Passing(Exception):
    """The same request may succeed soon."""

    def __init__(self, failure: Failure, pause_s: float | None) -> None:
        super().__init__(failure.reason)
        self.failure = failure
        self.pause_s = pause_s


class OpenAICompatible:
    """A `Backend` over HTTP; nothing is imported, opened or sent before its first use.

    `sleep` waits between two tries; the caller limits the time of the whole.
    """

    def __init__(self, endpoint: Endpoint, clock: Clock, *, sleep: Sleep = asyncio.sleep) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._sleep = sleep
        self._client: Client | None = None
        self._model = endpoint.model
        self._dialect = endpoint.dialect
        self._closed = False

    @property
    def model(self) -> str:
        return self._model or UNKNOWN

    async def generate(self, request: Request) -> Generated | Failure:
        if self._closed:
            return Failure(Why.UNAVAILABLE, "the model was closed; open a new one")
        retrying = AsyncRetrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=_pause,
            retry=retry_if_exception(_worth_waiting_for),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            result: Generated | Failure = await retrying(self._ask, request)
        except _Passing as passing:
            return passing.failure
        return result

    async def close(self) -> None:
        self._closed = True
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def _ask(self, request: Request) -> Generated | Failure:
        client = self._opened()
        if self._model is None or self._dialect is None:
            failure = await self._look(client)
            if failure is not None:
                return failure
        assert self._model is not None
        assert self._dialect is not None
        body = body_of(request, self._model, self._dialect)
        reply = await self._post(client, body, request)
        if isinstance(reply, Failure):
            return reply
        if reply.status in (400, 422):
            lighter = without_named(body, reply.text, KEYWORDS)
            if lighter is not None:
                reply = await self._post(client, lighter, request)
        if isinstance(reply, Failure):
            return reply
        if reply.status != 200:
            return self._by_status(reply)
        return _answer(reply, request, self._endpoint)

    def _opened(self) -> "Client":
        if self._client is None:
            # Here, since most daemons ask no model over HTTP, and it takes a tenth of a second.
            from cold.llm.client import Client

            self._client = Client(self._endpoint.base_url, self._endpoint.key)
        return self._client

    async def _look(self, client: "Client") -> Failure | None:
        """Finds out what the server is and which model it has."""
        reply = await client.get("models")
        if isinstance(reply, Failure):
            raise _Passing(reply, None)
        if reply.status in (401, 403):
            return self._by_status(reply)
        if _is_passing(reply):
            raise self._passing(reply)
        # A server without such a list may still answer.
        listed = _listed(reply)
        self._dialect = self._dialect or dialect_of(listed[0].get("owned_by") if listed else None)
        if self._model is None:
            names = [name for each in listed if isinstance(name := each.get("id"), str)]
            if not names:
                return Failure(
                    Why.UNAVAILABLE,
                    f"{self._endpoint.base_url} names no model; load one there, or name it in "
                    f"{self._endpoint.model_setting}",
                )
            self._model = names[0]
        return None

    async def _post(
        self, client: "Client", body: dict[str, Any], request: Request
    ) -> "Reply | Failure":
        request.tally.requests += 1
        reply = await client.post("chat/completions", body)
        if isinstance(reply, Failure):
            raise _Passing(reply, None)
        if _is_passing(reply):
            raise self._passing(reply)
        return reply

    def _passing(self, reply: "Reply") -> _Passing:
        pause = reply.wanted_pause(self._clock)
        until = None if pause is None else self._clock.now() + timedelta(seconds=pause)
        failure = Failure(
            Why.UNAVAILABLE,
            f"{self._endpoint.base_url} answers HTTP {reply.status}; wait, or look into its log",
            until,
        )
        return _Passing(failure, pause)

    def _by_status(self, reply: "Reply") -> Failure:
        where, status = self._endpoint.base_url, reply.status
        if status in (401, 403):
            reason = (
                f"{where} refuses the key (HTTP {status}); correct {self._endpoint.key_setting}"
            )
            return Failure(Why.UNAVAILABLE, reason)
        if status == 404:
            return Failure(
                Why.UNAVAILABLE,
                f"{where} has no model {self.model} (HTTP 404); load it there, or correct "
                f"{self._endpoint.model_setting} or {self._endpoint.url_setting}, which usually "
                "ends in /v1",
            )
        if status == 429:
            return Failure(
                Why.UNAVAILABLE,
                f"{where} says that the account has no quota left (HTTP 429); add to it there",
            )
        if status in (400, 413) and any(word in reply.text for word in _TOO_LONG):
            return Failure(
                Why.TOO_LONG,
                f"the prompt does not fit into the context of {self.model}; raise its context, or "
                "give it less at a time",
            )
        if 300 <= status < 400:
            return Failure(
                Why.UNAVAILABLE,
                f"{where} sends us elsewhere (HTTP {status}); correct {self._endpoint.url_setting}",
            )
        return Failure(
            Why.REJECTED,
            f"{where} does not take the request (HTTP {status}); see in its log what it refuses, "
            "or set LOCAL_LLM_DIALECT",
        )


_TOO_LONG = ("exceed_context_size", "context_length_exceeded", "maximum context length")


def _listed(reply: "Reply") -> list[dict[str, Any]]:
    data = reply.json()
    listed = data.get("data") if isinstance(data, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _answer(reply: "Reply", request: Request, endpoint: Endpoint) -> Generated | Failure:
    """What the model said, out of an answer that may be anything."""
    data = reply.json()
    choices = data.get("choices") if isinstance(data, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict) or not isinstance(choice, dict):
        return Failure(
            Why.UNAVAILABLE,
            f"{endpoint.base_url} answered no chat completion; check that it is a server of "
            "OpenAI's kind",
        )
    _count(data.get("usage"), request)
    if isinstance(message.get("refusal"), str) or choice.get("finish_reason") == "content_filter":
        return Failure(Why.REFUSED, f"the model at {endpoint.base_url} refused to answer")
    # vLLM with thinking switched off has put the answer there in several versions.
    texts = (message.get(name) for name in ("content", "reasoning_content", "reasoning"))
    text = next((each for each in texts if isinstance(each, str) and each.strip()), "")
    finish: Literal["stop", "length"] = (
        "length" if choice.get("finish_reason") == "length" else "stop"
    )
    return Generated(text, finish)


def _count(usage: object, request: Request) -> None:
    if not isinstance(usage, dict):
        return
    for name, field in (("prompt_tokens", "tokens_in"), ("completion_tokens", "tokens_out")):
        number = usage.get(name)
        if isinstance(number, int) and 0 <= number < 10**9:
            setattr(request.tally, field, getattr(request.tally, field) + number)


def _is_passing(reply: "Reply") -> bool:
    if reply.status == 429:
        return "insufficient_quota" not in reply.text
    return reply.status in (408, 409) or reply.status >= 500


def _worth_waiting_for(error: BaseException) -> bool:
    return isinstance(error, _Passing) and (error.pause_s or 0.0) <= LONGEST_PAUSE_S


def _pause(state: RetryCallState) -> float:
    """What the server asked for, else a little, growing, part of it by chance."""
    error = None if state.outcome is None else state.outcome.exception()
    if isinstance(error, _Passing) and error.pause_s is not None:
        return error.pause_s
    return _GROWING(state)
