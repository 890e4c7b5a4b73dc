"""Daemons for the tests: composed in this process, or running as processes of their own."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from agents_memory.clock import Clock
from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.domain.policy import Policy
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.profiles import HASHING, Profile
from agents_memory.embedding.protocol import Embedder, Vector
from agents_memory.storage import leadership
from agents_memory.storage.connections import Connection, Database
from cold.composition import compose
from cold.llm.port import LanguageModel
from cold.passes.librarianship import Librarianship
from cold.stopping import Stop
from cold.worker import Finish, Pace, Worker
from tests.fakes import ManualClock

LIMIT_S = 30.0
"""How long a test waits for anything; reaching it is a failure."""


class FakeEmbedder:
    """The hashing embedder, with an ear, a gate and faults.

    `asked` are all texts it was given. While `gate` is shut calls wait, and `reached` tells so.
    """

    def __init__(self, profile: Profile = HASHING) -> None:
        self.profile = profile
        self.asked: list[str] = []
        self.down = False
        self.refuses: Callable[[str], bool] = lambda _: False
        self.loses_one: Callable[[Sequence[str]], bool] = lambda _: False
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = asyncio.Event()
        self._real = open_embedder("hashing", allow_hashing=True)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.extend(texts)
        self.reached.set()
        await self.gate.wait()
        if self.down:
            raise EmbedderUnavailable("the model is not installed; install it")
        if any(map(self.refuses, texts)):
            raise RuntimeError("not a word of the text")
        found = await self._real.embed(texts)
        return found[:-1] if self.loses_one(texts) else found

    async def embed_query(self, text: str) -> Vector:
        [vector] = await self.embed([text])
        return vector

    async def close(self) -> None:
        await self._real.close()


class PacedStop(Stop):
    """Rests end by a waker, by the stop, or when the test lets the time pass."""

    def __init__(self) -> None:
        super().__init__()
        self.rests: list[float] = []
        self.resting = asyncio.Event()
        self._passed = asyncio.Event()

    async def rest(self, seconds: float, *wakers: asyncio.Event) -> bool:
        if seconds <= 0:
            return await super().rest(0, *wakers)
        self.rests.append(seconds)
        self.resting.set()
        asked = await super().rest(2 * LIMIT_S, self._passed, *wakers)
        self.resting.clear()
        self._passed.clear()
        return asked

    def let_time_pass(self) -> None:
        self.resting.clear()
        self._passed.set()


def worker(
    database: Database,
    *embedders: Embedder,
    stop: Stop | None = None,
    clock: Clock | None = None,
    drain: bool = False,
    batch_size: int = 5,
    max_attempts: int = 3,
    policy: Policy | None = None,
    models: LanguageModel | None = None,
    at_once: int = 1,
    librarianship: Librarianship | None = None,
) -> Worker:
    """The worker as the daemon composes it, with a clock that stands still."""
    return compose(
        database,
        embedders,
        stop or Stop(),
        clock or ManualClock(),
        pace=Pace(batch_size, 60.0, drain=drain),
        max_attempts=max_attempts,
        policy=policy,
        models=models,
        at_once=at_once,
        librarianship=librarianship,
    )


async def begin_term(database: Database) -> int:
    """A new term, as if the lock had been won."""
    return await database.run(lambda c: leadership.take_lead(c, "test", 1))


async def drain(database: Database, *embedders: Embedder, **options: Any) -> Finish:
    """One term that works until nothing waits."""
    async with asyncio.timeout(LIMIT_S):
        return await worker(database, *embedders, drain=True, **options).run(
            await begin_term(database)
        )


@asynccontextmanager
async def running(work: Worker, database: Database, stop: Stop) -> AsyncIterator[int]:
    """The worker in a term beside the block; it is stopped in order at the end."""
    epoch = await begin_term(database)
    task = asyncio.create_task(work.run(epoch))
    try:
        yield epoch
        stop.ask()
        async with asyncio.timeout(LIMIT_S):
            await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(
    database: Database, holds: Callable[[Connection], Awaitable[Any]], what: str
) -> Any:
    """The first true answer of `holds`, asked again and again."""
    try:
        async with asyncio.timeout(LIMIT_S):
            while True:
                if answer := await database.run(holds):
                    return answer
    except TimeoutError:
        raise AssertionError(f"not within {LIMIT_S:g} s: {what}") from None


async def query(database: Database, sql: str, *arguments: Any) -> list[dict[str, Any]]:
    async with database.acquire() as connection:
        return [dict(row) for row in await connection.fetch(sql, *arguments)]


async def value(database: Database, sql: str, *arguments: Any) -> Any:
    async with database.acquire() as connection:
        return await connection.fetchval(sql, *arguments)


class Reached(Protocol):
    """A pool with a way to it."""

    def url(self, role: str) -> str: ...


class Daemon:
    """`python -I -m cold` on a pool; what it logs can be waited for."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []

    @property
    def pid(self) -> int:
        return self.process.pid

    async def said(self, action: str) -> dict[str, Any]:
        """The next line of this action."""
        assert self.process.stderr is not None
        try:
            async with asyncio.timeout(LIMIT_S):
                async for raw in self.process.stderr:
                    line = self._note(raw)
                    if line.get("action") == action:
                        return line
        except TimeoutError:
            pass
        raise AssertionError(f"the daemon never said {action!r}, but {self.lines}")

    async def ended(self) -> int:
        """The exit code; what was left to read is in `lines`."""
        assert self.process.stderr is not None
        async with asyncio.timeout(LIMIT_S):
            async for raw in self.process.stderr:
                self._note(raw)
            return await self.process.wait()

    async def printed(self) -> bytes:
        """What it wrote to stdout; ask after its end."""
        assert self.process.stdout is not None
        return await self.process.stdout.read()

    def _note(self, raw: bytes) -> dict[str, Any]:
        try:
            line: dict[str, Any] = json.loads(raw)
        except ValueError:
            line = {"raw": raw.decode("utf-8", "replace")}
        self.lines.append(line)
        return line


def environment(pool: Reached, home: Path, **changes: str) -> dict[str, str]:
    """Everything a daemon on `pool` is told: the hashing embedder, and no look but for a hint."""
    return {
        "HOME": str(home),
        "DATABASE_URL": pool.url("memory_cold"),
        "EMBEDDING_MODEL": "hashing",
        "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
        "COLD_PATH_INTERVAL_SEC": "3600",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "debug",
        **changes,
    }


@asynccontextmanager
async def daemon(
    pool: Reached, home: Path, *arguments: str, prefix: Sequence[str] = (), **changes: str
) -> AsyncIterator[Daemon]:
    """A real daemon on `pool`, by the command `prefix`; killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *prefix, sys.executable, "-I", "-m", "cold", *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd="/",
        env=environment(pool, home, **changes),
    )  # fmt: skip
    try:
        yield Daemon(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
