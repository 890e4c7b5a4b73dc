"""One MCP server over its pipes, spoken to in bare JSON-RPC: no SDK on this side."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE_S = 30.0
OUR_SERVER = (sys.executable, "-I", "-m", "hot")


class Server:
    """A child process that lives as long as the `with` block."""

    def __init__(
        self, environment: Mapping[str, str], cwd: Path, command: Sequence[str] = OUR_SERVER
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd=cwd,
        )
        self._number = 0

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def initialize(self) -> dict[str, Any]:
        """Shakes hands; the answer to `initialize`."""
        answer = self.request(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool; ConnectionError for one that failed."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError") or not result["structuredContent"]["ok"]:
            raise ConnectionError(f"{tool} failed: {result['content']}")
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of one request."""
        self._number += 1
        number = self._number
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == number:
                if "error" in message:
                    raise ConnectionError(f"{method} failed: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
        raise ConnectionError(f"the server ended before it answered {method}")

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
