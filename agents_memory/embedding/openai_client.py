"""One request to an endpoint of OpenAI's kind, with what can go wrong sorted out.

To be imported at the first use only: OpenAI's library takes half a second.
"""

import asyncio
import base64
import math
from collections.abc import Sequence
from email.utils import parsedate_to_datetime

import httpx2
import numpy as np
import openai
from numpy.typing import NDArray
from openai import AsyncOpenAI, Omit

from agents_memory.clock import Clock
from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.endpoint import Endpoint, Passing, Refused

CONNECT_TIMEOUT_S = 5.0


class _Client(AsyncOpenAI):
    @property
    def default_headers(self) -> dict[str, str | Omit]:
        # Not the library's own, which sends what OPENAI_ORG_ID, OPENAI_PROJECT_ID and
        # OPENAI_CUSTOM_HEADERS hold to any endpoint.
        return {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": self.user_agent,
            **self.auth_headers,
        }


class OpenAIClient:
    """Asks one endpoint for the vectors of one model; errors never hold what it answered."""

    def __init__(self, endpoint: Endpoint, model: str, *, timeout_s: float, clock: Clock) -> None:
        self._endpoint = endpoint
        self._model = model
        self._timeout_s = timeout_s
        self._clock = clock
        self._client = _Client(
            # The library insists on one; the header is taken out below.
            api_key="none" if endpoint.key is None else endpoint.key.reveal(),
            base_url=endpoint.base_url,
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
            max_retries=0,
        )

    async def ask(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """A raw vector for each text, in their order.

        Raises Passing, Refused, and EmbedderUnavailable for what stays wrong until it is mended.
        """
        keyless = {"Authorization": Omit()} if self._endpoint.key is None else {}
        try:
            # For the whole, since an endpoint that drips keeps any single read short.
            async with asyncio.timeout(self._timeout_s):
                answer = await self._client.embeddings.create(
                    model=self._model,
                    input=list(texts),
                    encoding_format=self._endpoint.encoding,
                    extra_headers=keyless,
                )
        except openai.APIStatusError as error:
            raise self._by_status(error) from None
        except (openai.APITimeoutError, TimeoutError):
            raise EmbedderUnavailable(
                f"{self._endpoint.base_url} did not answer in time; see whether it is busy or stuck"
            ) from None
        except openai.APIConnectionError:
            raise Passing(
                f"{self._endpoint.base_url} cannot be reached; start it, or correct its address"
            ) from None
        except (openai.OpenAIError, ValueError) as error:
            raise self._garbled(type(error).__name__) from None
        return self._vectors(answer, len(texts))

    async def close(self) -> None:
        """Ends the connections."""
        await self._client.close()

    def _vectors(self, answer: object, wanted: int) -> list[NDArray[np.float64]]:
        """The vectors of an answer, which may be anything."""
        data = getattr(answer, "data", None)
        if not isinstance(data, list):
            raise self._garbled("no list of vectors")
        if len(data) != wanted:
            raise EmbedderUnavailable(
                f"{self._endpoint.base_url} answered {len(data)} vectors for {wanted} texts, and "
                "none was kept; update the server, or choose another"
            )
        positions = [getattr(item, "index", None) for item in data]
        if any(position is not None for position in positions):
            placed = dict(zip(map(str, positions), data, strict=True))
            if placed.keys() != {str(place) for place in range(wanted)}:
                raise self._garbled("it is unclear which vector is of which text")
            data = [placed[str(place)] for place in range(wanted)]
        return [self._decoded(getattr(item, "embedding", None)) for item in data]

    def _decoded(self, vector: object) -> NDArray[np.float64]:
        try:
            if isinstance(vector, str):
                return np.frombuffer(base64.b64decode(vector, validate=True), "<f4").astype(float)
            if isinstance(vector, list):
                return np.asarray(vector, dtype=float)
        except (ValueError, TypeError):
            pass
        raise self._garbled("what should be a vector is none")

    def _by_status(self, error: openai.APIStatusError) -> EmbedderUnavailable:
        where, status = self._endpoint.base_url, error.status_code
        if status in (401, 403):
            return EmbedderUnavailable(
                f"{where} refuses the key (HTTP {status}); correct {self._endpoint.key_setting}"
            )
        if status == 404:
            return EmbedderUnavailable(
                f"{where} has no embedding model {self._model} (HTTP 404); load it there (Ollama: "
                f"ollama pull {self._model}), or correct the name or the address, which usually "
                "ends in /v1"
            )
        if status == 429 and error.code == "insufficient_quota":
            return EmbedderUnavailable(
                f"{where} says that the account has no quota left (HTTP 429); add to it there"
            )
        if status in (408, 409, 429) or status >= 500:
            return Passing(
                f"{where} answers HTTP {status}; wait, or look into its log",
                self._wanted_pause(error.response.headers.get("retry-after")),
            )
        return Refused(
            f"{where} refuses a request (HTTP {status}); see in its log what it does not take"
        )

    def _wanted_pause(self, header: str | None) -> float | None:
        """Seconds, from a number or a date; None where it says neither."""
        if header is None:
            return None
        try:
            seconds = float(header)
        except ValueError:
            try:
                date = parsedate_to_datetime(header)
                seconds = (date - self._clock.now()).total_seconds()
            except (ValueError, TypeError):
                return None
        return max(0.0, seconds) if math.isfinite(seconds) else None

    def _garbled(self, what: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(
            f"{self._endpoint.base_url} answered no embeddings ({what}); check that it is an "
            "endpoint of OpenAI's kind"
        )
