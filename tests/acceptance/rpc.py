"""A bare MCP client over a real child process: JSON-RPC lines, nothing between us and the wire."""

import asyncio
import json
import os
import resource
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
ANSWER_WITHIN_S = 60.0
SERVER = (sys.executable, "-I", "-m", "hot")


class Hot:
    """One `python -I -m hot`, as an editor starts it."""

    def __init__(
        self,
        environment: Mapping[str, str],
        cwd: Path,
        *,
        command: Sequence[str] = SERVER,
        file_bytes: int | None = None,
    ) -> None:
        """`file_bytes`: no file that it writes may grow beyond this, as on a full disk."""
        self._command = command
        self._environment = dict(environment)
        self._file_bytes = file_bytes
        self._cwd = cwd
        self._process: asyncio.subprocess.Process | None = None
        self._next = 0

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> dict[str, Any]:
        """Starts the server and shakes hands; the answer to `initialize`."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env=self._environment, cwd=self._cwd,
            limit=64 * 2**20, preexec_fn=self._limit,
        )  # fmt: skip
        answer = await self.request(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "claude-code", "version": "1"},
            },
        )
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool."""
        result = await self.request("tools/call", {"name": tool, "arguments": arguments})
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._next += 1
        number = self._next
        await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert self._process is not None
        assert self._process.stdout is not None
        async with asyncio.timeout(ANSWER_WITHIN_S):
            while True:
                line = await self._process.stdout.readline()
                if not line:
                    raise ConnectionResetError("the server ended")
                message = json.loads(line)
                if message.get("id") == number:
                    assert "error" not in message, message
                    result: dict[str, Any] = message["result"]
                    return result

    async def stop(self) -> int:
        """Closes stdin, as an editor does, and waits for the end."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with asyncio.timeout(ANSWER_WITHIN_S):
            return await self._process.wait()

    def kill(self) -> None:
        """Ends it with SIGKILL; does not wait for its end."""
        assert self._process is not None
        self._process.kill()

    def _limit(self) -> None:
        if self._file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._file_bytes, self._file_bytes))

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()


def environment(home: Path, **settings: str) -> dict[str, str]:
    """What a child process of a test gets: an empty home and nothing of the developer's."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "MEMORY_DATA_DIR": str(home / "data"),
        "EMBEDDING_MODEL": "hashing",
        "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "1",
        "EMBEDDED_LINGER_SEC": "1",
        "COLD_PATH_INTERVAL_SEC": "1",
        "USER_NAME": "mara",
        **settings,
    }


async def eventually(ask: Callable[[], Awaitable[T]], within_s: float = 60.0) -> T:
    """The first true answer of an awaitable question, asked again until then."""
    async with asyncio.timeout(within_s):
        while True:
            answer = await ask()
            if answer:
                return answer
            await asyncio.sleep(0.05)
