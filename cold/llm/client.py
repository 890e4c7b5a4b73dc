"""One request to a server, with a bound on what it may send back.

To be imported at the first use only. Not OpenAI's library: it takes half a second, and sends what
OPENAI_ORG_ID and OPENAI_CUSTOM_HEADERS hold to any server.
"""

import ipaddress
import json
import math
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2

from agents_memory import __version__
from agents_memory.clock import Clock
from agents_memory.settings import Secret
from cold.llm.breaker import LONGEST_S
from cold.llm.port import Failure, Why

CONNECT_TIMEOUT_S = 5.0
MOST_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back; `text` is legible whatever it was."""

    status: int
    text: str
    retry_after: str | None = None

    def json(self) -> Any:
        """The value of the text; None when it is no JSON."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    def wanted_pause(self, clock: Clock) -> float | None:
        """Seconds, from a number or a date in Retry-After; None where it says neither."""
        if self.retry_after is None:
            return None
        try:
            seconds = float(self.retry_after)
        except ValueError:
            try:
                date = parsedate_to_datetime(self.retry_after)
                seconds = (date - clock.now()).total_seconds()
            except (ValueError, TypeError):
                return None
        return min(max(0.0, seconds), LONGEST_S) if math.isfinite(seconds) else None


class Client:
    """Requests to one server; a key is sent to no other, as no redirect is followed."""

    def __init__(self, base_url: str, key: Secret | None) -> None:
        self._base_url = base_url
        headers = {"Accept": "application/json", "User-Agent": f"mcp-agents-memory/{__version__}"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key.reveal()}"
        here, plain = _is_here(base_url), urlsplit(base_url).scheme == "http"
        self._client = httpx2.AsyncClient(
            headers=headers,
            # Reading all certificates takes a twentieth of a second, and nothing is encrypted on
            # the way there; a context without any trusts nobody.
            verify=not (here and plain) or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            # The caller limits the whole; a model may think for minutes before its first byte.
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
            # A proxy is for what lies outside of this machine.
            trust_env=not here,
        )

    async def get(self, path: str) -> Reply | Failure:
        """Failures: UNAVAILABLE, when no whole answer came."""
        return await self._sent("GET", path, None)

    async def post(self, path: str, body: dict[str, Any]) -> Reply | Failure:
        """Failures: UNAVAILABLE, when no whole answer came."""
        return await self._sent("POST", path, body)

    async def close(self) -> None:
        await self._client.aclose()

    async def _sent(self, method: str, path: str, body: dict[str, Any] | None) -> Reply | Failure:
        try:
            async with self._client.stream(method, f"{self._base_url}/{path}", json=body) as reply:
                received = bytearray()
                async for chunk in reply.aiter_bytes():
                    received += chunk
                    if len(received) > MOST_BYTES:
                        # No answer of ours is that long; what it is is not worth the memory.
                        return Reply(reply.status_code, "")
                return Reply(
                    reply.status_code,
                    received.decode("utf-8", "replace"),
                    reply.headers.get("retry-after"),
                )
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            return self._unavailable("cannot be reached")
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            return self._unavailable(f"broke off ({type(error).__name__})")

    def _unavailable(self, what: str) -> Failure:
        return Failure(
            Why.UNAVAILABLE, f"{self._base_url} {what}; start it, or correct its address"
        )


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
