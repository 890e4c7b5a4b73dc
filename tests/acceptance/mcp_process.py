"""`python -I -m hot` as a process whose every byte and signal is ours to choose."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.acceptance.command_line import on_pool
from tests.conftest import Pool

SERVER = (sys.executable, "-I", "-m", "hot")
WITHIN_S = 60


def settings_of(pool: Pool, home: Path) -> dict[str, str]:
    """The environment of a server over this pool."""
    return on_pool(pool, home).environment


class HotProcess:
    """One server with its pipes; ended with the block, and killed if it does not end."""

    def __init__(
        self, environment: Mapping[str, str], cwd: Path, command: Sequence[str] = SERVER
    ) -> None:
        self.errors = cwd / "stderr.txt"
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=dict(environment),
                cwd=cwd,
            )
        self._number = 0

    def __enter__(self) -> "HotProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        # A killed one leaves a session behind, which keeps its database from being dropped.
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(WITHIN_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def send(self, **message: Any) -> None:
        """One message, with every character beyond ASCII escaped as JavaScript may do."""
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def send_raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next line on stdout, which must be JSON-RPC."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server ended: {self.said()}"
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request that must succeed."""
        self._number += 1
        self.send(id=self._number, method=method, params=params)
        answer = self.receive()
        assert answer["id"] == self._number
        result: dict[str, Any] = answer["result"]
        return result

    def shake_hands(self, client: str = "claude-code") -> dict[str, Any]:
        result = self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": client, "version": "1"},
        )
        self.send(method="notifications/initialized")
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call."""
        result = self.request("tools/call", name=tool, arguments=arguments)
        structure: dict[str, Any] = result["structuredContent"]
        return structure

    def hang_up(self) -> tuple[int, bytes]:
        """Closes stdin; the exit code, and what still came out."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.end()

    def stop(self, number: signal.Signals) -> tuple[int, bytes]:
        """Sends a signal while stdin stays open; the exit code, and what still came out."""
        os.kill(self.process.pid, number)
        return self.end()

    def end(self) -> tuple[int, bytes]:
        assert self.process.stdout is not None
        rest = self.process.stdout.read()
        return self.process.wait(WITHIN_S), rest

    def said(self) -> str:
        """What is on stderr by now."""
        return self.errors.read_text("utf-8", "replace")
