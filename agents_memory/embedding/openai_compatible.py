"""Embeddings from OpenAI, or from any endpoint of its kind: Ollama, llama-server, vLLM."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from agents_memory.clock import Clock, SystemClock
from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.domain.text import is_blank, repair
from agents_memory.embedding.chunking import beginning, estimate_tokens
from agents_memory.embedding.endpoint import Endpoint, Passing, Refused
from agents_memory.embedding.profiles import Profile
from agents_memory.embedding.protocol import Vector
from agents_memory.embedding.unit import unit

if TYPE_CHECKING:
    from agents_memory.embedding.openai_client import OpenAIClient

# OpenAI takes 2,048 texts of 300,000 tokens at a time; an endpoint without a GPU needs up to a
# minute for these (tokens by estimate_tokens).
BATCH_TEXTS = 32
BATCH_TOKENS = 8_000
REQUEST_TIMEOUT_S = 60.0
ATTEMPTS = 3
# An endpoint that wants to be left for longer is reported, and asked again by whoever needs it.
LONGEST_PAUSE_S = 20.0
# Hexadecimal and base64 text has up to three times the tokens estimated.
_UNDERRATED = 3
_GROWING = wait_random_exponential(multiplier=0.5, max=4)

Sleep = Callable[[float], Awaitable[None]]


class OpenAICompatibleEmbedder:
    """An `Embedder` over HTTP; nothing is imported, opened or sent before its first use.

    `model` is what the endpoint calls the model. `timeout_s` is for one request; `sleep` waits
    between two tries.
    """

    def __init__(
        self,
        profile: Profile,
        model: str,
        endpoint: Endpoint,
        *,
        timeout_s: float = REQUEST_TIMEOUT_S,
        clock: Clock | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.profile = profile
        self._model = model
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._client: OpenAIClient | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return await self._vectors(texts, self.profile.document_prefix)

    async def embed_query(self, text: str) -> Vector:
        [vector] = await self._vectors([text], self.profile.query_prefix)
        return vector

    async def close(self) -> None:
        self._closed = True
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def _vectors(self, texts: Sequence[str], prefix: str) -> list[Vector]:
        self._refuse_if_closed()
        room = max(1, self.profile.max_tokens - round(estimate_tokens(prefix)))
        # An endpoint refuses an empty text; the vector of a blank one means nothing anyway.
        vectors = [_any_direction(self.profile.dims) for _ in texts]
        shown = [place for place, text in enumerate(texts) if not is_blank(text)]
        found: list[Vector] = []
        for batch in self._batches([prefix + _legible(texts[place], room) for place in shown]):
            found += await self._answered(batch)
        for place, vector in zip(shown, found, strict=True):
            vectors[place] = vector
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        most = 1 if self.profile.batch == "single" else BATCH_TEXTS
        batch: list[str] = []
        tokens = 0.0
        for text in texts:
            cost = estimate_tokens(text)
            if batch and (len(batch) == most or tokens + cost > BATCH_TOKENS):
                yield batch
                batch, tokens = [], 0.0
            batch.append(text)
            tokens += cost
        if batch:
            yield batch

    async def _answered(self, batch: list[str]) -> list[Vector]:
        client = await self._opened()
        retrying = AsyncRetrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=_pause,
            retry=retry_if_exception(_worth_waiting_for),
            sleep=self._sleep,
            reraise=True,
        )
        raw: list[NDArray[np.float64]]
        try:
            raw = await retrying(client.ask, batch)
        except Refused:
            # Perhaps one of them has more tokens than estimated.
            shorter = [beginning(text, self.profile.max_tokens // _UNDERRATED) for text in batch]
            if shorter == batch:
                raise
            raw = await retrying(client.ask, shorter)
        mend = "correct the length after the @ in its name, or the model that runs there"
        return [unit(vector, self.profile, mend) for vector in raw]

    async def _opened(self) -> "OpenAIClient":
        if (lacking := self._endpoint.lacks()) is not None:
            raise EmbedderUnavailable(lacking)
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            if self._closed:
                await self.close()
                self._refuse_if_closed()
            return self._client

    def _make_client(self) -> "OpenAIClient":
        # Here and in a thread: the import takes half a second, which most processes never need.
        from agents_memory.embedding.openai_client import OpenAIClient

        return OpenAIClient(
            self._endpoint, self._model, timeout_s=self._timeout_s, clock=self._clock
        )

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise EmbedderUnavailable(f"the embedder {self.profile.id} was closed; open a new one")


def _any_direction(dims: int) -> Vector:
    vector = np.zeros(dims, dtype=np.float32)
    vector[0] = 1.0
    return vector


def _legible(text: str, max_tokens: int) -> str:
    """The beginning of the text without NUL and lone surrogates."""
    return repair(beginning(text, max_tokens)).text


def _worth_waiting_for(error: BaseException) -> bool:
    return isinstance(error, Passing) and (error.after_s or 0.0) <= LONGEST_PAUSE_S


def _pause(state: RetryCallState) -> float:
    """What the endpoint asked for, else a little, growing, part of it by chance."""
    error = None if state.outcome is None else state.outcome.exception()
    if isinstance(error, Passing) and error.after_s is not None:
        return error.after_s
    return _GROWING(state)
