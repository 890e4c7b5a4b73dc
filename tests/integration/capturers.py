"""Capturers for the tests: processes on a machine of their own."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents_memory.clock import SystemClock
from agents_memory.storage.connections import Connection, Database
from tests.conftest import SCHEMA
from tests.fixtures.transcripts.writer import Writer, jsonl

LIMIT_S = 60.0
"""How long a test waits for anything; reaching it is a failure."""


class Capturer:
    """A running process; what it logs can be waited for."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def said(self, action: str) -> dict[str, Any]:
        """The next line of this action."""
        assert self.process.stderr is not None
        heard: list[Any] = []
        try:
            async with asyncio.timeout(LIMIT_S):
                while line := await self.process.stderr.readline():
                    heard.append(json.loads(line))
                    if heard[-1]["action"] == action:
                        entry: dict[str, Any] = heard[-1]
                        return entry
        except TimeoutError:
            raise AssertionError(f"not within {LIMIT_S:g} s: {action}, but {heard}") from None
        raise AssertionError(f"it ended without saying {action}, but {heard}")

    async def ended(self, number: signal.Signals | None = None) -> int:
        """Its exit code, after a signal if any."""
        if number is not None:
            self.process.send_signal(number)
        async with asyncio.timeout(LIMIT_S):
            await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode


class Machine:
    """A home with a client's folder, and an environment that names the pool."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        # The command that starts a process on this machine, where it is not simply here.
        self.prefix: Sequence[str] = ()
        self.folder = home / ".claude" / "projects" / "folder"
        self.folder.mkdir(parents=True)
        self.write = Writer(begun=SystemClock().now())
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "DATABASE_URL": url,
            "DB_SCHEMA": SCHEMA,
            "USER_NAME": "mara",
            "DEVICE_NAME": "laptop",
            "CAPTURE_CLIENTS": "claude-code",
            "LOG_LEVEL": "debug",
            "LOG_FORMAT": "json",
        }

    def say(self, *texts: str, session: str = "s1") -> None:
        lines = [self.write.typed(text) for text in texts]
        with open(self.folder / f"{session}.jsonl", "ab") as file:
            file.write(jsonl(*lines))

    def command(self, module: str, *arguments: str) -> list[str]:
        return [*self.prefix, sys.executable, "-I", "-m", module, *arguments]

    @asynccontextmanager
    async def capturer(
        self, module: str = "ingest", *arguments: str, **environ: str
    ) -> AsyncIterator[Capturer]:
        process = await asyncio.create_subprocess_exec(
            *self.command(module, *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.home,
            env={**self.environ, **environ},
        )
        try:
            yield Capturer(process)
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()


async def until(
    database: Database, holds: Callable[[Connection], Awaitable[Any]], what: str
) -> Any:
    try:
        async with asyncio.timeout(LIMIT_S):
            while not (answer := await database.run(holds)):
                pass
            return answer
    except TimeoutError:
        raise AssertionError(f"not within {LIMIT_S:g} s: {what}") from None


async def stored(database: Database, *texts: str) -> None:
    """Waits until exactly these are stored, in this order."""

    async def look(connection: Connection) -> bool:
        rows = await connection.fetch("SELECT message FROM messages ORDER BY id")
        return [row["message"] for row in rows] == list(texts)

    await until(database, look, f"{texts} stored")
