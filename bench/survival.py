"""What becomes of acknowledged turns when everything is killed, again and again.

    python -m bench.survival [--agents N] [--seconds N]

Each agent writes through three clients at once: two editors' servers (`save_message`) and a
transcript that is captured. Meanwhile SIGKILL hits the capturer, an editor's server, a process
that drains the spool, and the database, which is away for some seconds; in turn, until the time is
over. Then everything is left alone, and what is stored is compared with what was acknowledged.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from agents_memory.clock import SystemClock
from agents_memory.settings import Settings
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage.spool.store import spool_of
from bench import report
from bench.measure import machine
from tests.acceptance.rpc import Hot
from tests.fixtures.transcripts.writer import Writer, jsonl
from tests.integration.foreign_server import ForeignServer

# Twice this: an answer waits four seconds before a turn is queued.
DATABASE_AWAY_S = 5.0
BETWEEN_KILLS_S = 1.0
SETTLED_WITHIN_S = 180.0
PAUSE_S = 0.02
LINE_EVERY_S = 0.5
ROWS = "SELECT json_agg(json_build_array(message, session) ORDER BY id) FROM agents_memory.messages"
# By when a turn was said; of one that waited, the spool told it.
TIMES = (
    "SELECT json_agg(message ORDER BY coalesce(occurred_at, created_at), id) "
    "FROM agents_memory.messages"
)


@dataclass(slots=True)
class Outcome:
    """What was acknowledged, and what became of it."""

    acknowledged: int = 0
    queued: int = 0
    lost: int = 0
    doubled: int = 0
    misordered: int = 0
    longest_answer_s: float = 0.0
    settled_after_s: float = 0.0
    kills: Counter[str] = field(default_factory=Counter)


class Editor:
    """One client with its server: turn after turn, and a new server when it was killed."""

    def __init__(self, name: str, environment: dict[str, str], home: Path) -> None:
        self.name = name
        self.acknowledged: list[str] = []
        self.queued = 0
        self.longest_s = 0.0
        self._hot = Hot(environment, home)
        self._running = False
        self._number = 0

    async def write(self, over: asyncio.Event) -> None:
        """Writes until `over`."""
        while not over.is_set():
            with suppress(ConnectionError, BrokenPipeError):
                await self._turn()
                continue
            self._running = False

    async def _turn(self) -> None:
        if not self._running:
            await self._hot.start()
            self._running = True
        self._number += 1
        text = f"{self.name} says {self._number}"
        began = time.monotonic()
        answer = await self._hot.call("save_message", role="user", message=text)
        self.longest_s = max(self.longest_s, time.monotonic() - began)
        if answer["ok"]:
            self.acknowledged.append(text)
            self.queued += answer.get("queued", False)
        await asyncio.sleep(PAUSE_S)

    def kill(self) -> bool:
        """Kills its server, if there is one."""
        if self._running:
            self._hot.kill()
        return self._running

    async def stop(self) -> None:
        if self._running:
            await self._hot.stop()


class Survival:
    """One run over a server of its own."""

    def __init__(self, server: ForeignServer, home: Path, agents: int) -> None:
        self.outcome = Outcome()
        self._server = server
        self._home = home
        self._environment = {
            "PATH": inherited_environment()["PATH"],
            "HOME": str(home),
            "DATABASE_URL": server.url("memory_hot"),
            "EMBEDDING_MODEL": "hashing",
            "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
            "USER_NAME": "mara",
            "DEVICE_NAME": "laptop",
            "CAPTURE_CLIENTS": "claude-code",
        }
        self._editors = [
            Editor(f"{client} of agent {agent}", self._environment, home)
            for agent in range(agents)
            for client in ("codex", "gemini-cli")
        ]
        self._folder = home / ".claude" / "projects" / "folder"
        self._folder.mkdir(parents=True)
        self._said: list[list[str]] = [[] for _ in range(agents)]
        self._capturer: subprocess.Popen[bytes] | None = None
        self._over = asyncio.Event()

    async def run(self, seconds: float) -> Outcome:
        """Writes and kills for so long, but each kind of kill at least once; then settles."""
        self._capture()
        await self._begun()
        writing = [
            *(asyncio.create_task(editor.write(self._over)) for editor in self._editors),
            *(asyncio.create_task(self._transcribe(n)) for n in range(len(self._said))),
        ]
        end = time.monotonic() + seconds
        try:
            await self._under_way()
            while time.monotonic() < end or not self.outcome.kills:
                for name, kill in self._kinds().items():
                    await asyncio.sleep(BETWEEN_KILLS_S)
                    await kill()
                    self.outcome.kills[name] += 1
            self._over.set()
            await asyncio.gather(*writing)
            await self._settled()
        finally:
            for task in writing:
                task.cancel()
            await asyncio.gather(*writing, return_exceptions=True)
            for editor in self._editors:
                await editor.stop()
            if self._capturer is not None:
                self._capturer.kill()
                self._capturer.wait()
        return await self._compared()

    def _kinds(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {
            "database": self._kill_database,
            "editor": self._kill_editor,
            "drainer": self._kill_drainer,
            "capturer": self._kill_capturer,
        }

    async def _kill_database(self) -> None:
        self._server.kill()
        await asyncio.sleep(DATABASE_AWAY_S)
        # While it is away, so that whoever spools is hit too.
        await self._kill_editor()
        await self._kill_capturer()
        await asyncio.sleep(DATABASE_AWAY_S)
        await asyncio.to_thread(self._server.start)

    async def _kill_editor(self) -> None:
        turn = self.outcome.kills["editor"] + self.outcome.kills["database"]
        for step in range(len(self._editors)):
            if self._editors[(turn + step) % len(self._editors)].kill():
                return

    async def _kill_drainer(self) -> None:
        drainer = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "agents_memory", "spool", "drain"),
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0 + self.outcome.kills["drainer"] % 5 / 10):
                await drainer.wait()
        with suppress(ProcessLookupError):
            drainer.kill()
        await drainer.wait()

    async def _kill_capturer(self) -> None:
        assert self._capturer is not None
        self._capturer.kill()
        self._capturer.wait()
        self._capture()

    def _capture(self) -> None:
        self._capturer = subprocess.Popen(
            [sys.executable, "-I", "-m", "ingest"],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    async def _begun(self) -> None:
        """Returns when the capturer holds its place: what is said from now on is its to keep."""
        data = Settings.load(self._environment).data_dir
        async with asyncio.timeout(SETTLED_WITHIN_S):
            while not list(data.glob("capture-*.json")):  # noqa: ASYNC110 (nothing tells of it)
                await asyncio.sleep(PAUSE_S)

    async def _under_way(self) -> None:
        """Returns when every editor has been answered."""
        async with asyncio.timeout(SETTLED_WITHIN_S):
            while not all(  # noqa: ASYNC110 (nothing tells of it)
                editor.acknowledged for editor in self._editors
            ):
                await asyncio.sleep(PAUSE_S)

    async def _transcribe(self, agent: int) -> None:
        # Its lines are a second apart, so they run ahead of the clock, but not by much.
        writer = Writer(session=f"session-{agent}", begun=SystemClock().now())
        path = self._folder / f"agent-{agent}.jsonl"
        while not self._over.is_set():
            text = f"claude-code of agent {agent} says {len(self._said[agent]) + 1}"
            with open(path, "ab") as file:  # noqa: ASYNC230 (a line of some hundred bytes)
                file.write(jsonl(writer.typed(text)))
            self._said[agent].append(text)
            await asyncio.sleep(LINE_EVERY_S)

    async def _settled(self) -> None:
        """Returns when all that waits is stored: by the living, who take over from the dead.

        Also when that takes too long: what is missing then counts as lost.
        """
        began = time.monotonic()
        spool = spool_of(Settings.load(self._environment))
        expected = {text for said in self._said for text in said}
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLED_WITHIN_S):
                while spool.has_any() or expected - set(  # noqa: ASYNC110 (nothing tells of it)
                    await self._list(TIMES)
                ):
                    await asyncio.sleep(0.2)
        self.outcome.settled_after_s = round(time.monotonic() - began, 1)

    async def _list(self, sql: str) -> list[Any]:
        listed: list[Any] = json.loads(await self._server.admin(sql, database="memory") or "[]")
        return listed

    async def _compared(self) -> Outcome:
        outcome = self.outcome
        rows = await self._list(ROWS)
        stored = Counter(text for text, _ in rows)
        promised = [*(one.acknowledged for one in self._editors), *self._said]
        outcome.acknowledged = sum(map(len, promised))
        outcome.queued = sum(editor.queued for editor in self._editors)
        outcome.longest_answer_s = round(max(one.longest_s for one in self._editors), 2)
        outcome.lost = sum(not stored[text] for said in promised for text in said)
        outcome.doubled = sum(number - 1 for number in stored.values())
        place = {text: number for number, text in enumerate(await self._list(TIMES))}
        sessions: dict[str, list[int]] = {}
        for text, session in rows:
            sessions.setdefault(session, []).append(int(text.rpartition(" ")[2]))
        by_time = [[place.get(text, 0) for text in said] for said in promised]
        outcome.misordered = sum(
            one > two
            for numbers in (*by_time, *sessions.values())
            for one, two in pairwise(numbers)
        )
        return outcome


async def survive(agents: int, seconds: float) -> Outcome:
    """One run in a home and over a server of its own."""
    server = ForeignServer()
    try:
        server.start()
        await server.found()
        await server.prepare()
        with tempfile.TemporaryDirectory(prefix="agents-memory-survival-") as home:
            return await Survival(server, Path(home), agents).run(seconds)
    finally:
        server.remove()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", type=int, default=4, help="agents, of three clients each (4)")
    parser.add_argument("--seconds", type=float, default=120, help="how long it is killed (120)")
    options = parser.parse_args()
    outcome = asyncio.run(survive(options.agents, options.seconds))
    found = {name: getattr(outcome, name) for name in Outcome.__slots__}
    kills = found.pop("kills")
    report.table(
        ["what", "number"], [*found.items(), *((f"{k} killed", n) for k, n in kills.items())]
    )
    report.result({"agents": options.agents, **found, "kills": dict(kills), **machine()})
    sys.exit(1 if outcome.lost or outcome.doubled or outcome.misordered else 0)


if __name__ == "__main__":
    main()
