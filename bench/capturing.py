"""A capturer as a process, and transcripts for it: what it costs and how soon it stores."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from random import Random
from uuid import UUID

from agents_memory.settings.capturing import CAPTURE_CLIENTS
from agents_memory.settings.inherited import inherited_environment
from bench.pool import BenchPool
from bench.turns import example_drafts
from tests.fixtures.transcripts.stores import STORES
from tests.fixtures.transcripts.writer import Writer, jsonl

LIMIT_S = 120.0
SECRET = "and the key is AKIAIOSFODNN7EXAMPLE, "
SECRET_EVERY = 50
BLOCK_BYTES = 100_000
WATCHED = ("-m", "ingest")
# As where the user's limit of inotify is reached, without touching the machine's.
UNWATCHED = (
    "-c",
    "import errno, runpy\n"
    "from ingest.looking import Looker\n"
    "def refused(changes): raise OSError(errno.EMFILE, 'too many')\n"
    "Looker.__init__.__kwdefaults__['listen'] = refused\n"
    "runpy.run_module('ingest', run_name='__main__', alter_sys=True)\n",
)


def words(size: int, seed: int = 0) -> Iterator[str]:
    """Texts of about `size` bytes out of the example conversations, one in 50 with a secret."""
    random = Random(seed)
    said = " ".join(draft.text for draft in example_drafts()).split()
    for number in cycle(range(SECRET_EVERY)):
        text = SECRET if number == 0 else ""
        while len(text.encode()) < size:
            begin = random.randrange(len(said))
            text += " ".join(said[begin : begin + 12]) + " "
        yield text.strip()


def session(number: int) -> str:
    """The id of a session as Claude Code makes them."""
    return str(UUID(int=Random(number).getrandbits(128), version=4))


def talk(write: Writer, texts: Iterator[str], turns: int) -> Iterator[bytes]:
    """Lines of prompts and answers by turns."""
    for number in range(turns):
        text = next(texts)
        if number % 2 == 0:
            yield jsonl(write.typed(text))
        else:
            yield jsonl(write.answer(text, key=f"msg_{write.session}_{number}", stop="end_turn"))


class Home:
    """A home folder with the transcripts of ten clients, and the environment of a capturer."""

    def __init__(
        self,
        base: Path,
        pool: BenchPool,
        clients: str = "claude-code",
        *,
        watched: bool = True,
    ) -> None:
        self.claude = base / "claude-code"
        self._program = WATCHED if watched else UNWATCHED
        self.claude.mkdir()
        self._base = base
        self.environ: Mapping[str, str] = {
            "PATH": inherited_environment()["PATH"],
            "HOME": str(base),
            "DATABASE_URL": pool.url("hot"),
            "USER_NAME": "bench",
            "DEVICE_NAME": "laptop",
            "CAPTURE_CLIENTS": clients,
            "LOG_FORMAT": "json",
            **{
                f"CAPTURE_{client.replace('-', '_').upper()}_DIR": str(base / client)
                for client in CAPTURE_CLIENTS
            },
            "CAPTURE_CURSOR_DIR": str(base / "cursor" / "User" / "globalStorage"),
            "CAPTURE_CURSOR_CLI_DIR": str(base / "cursor"),
            "CAPTURE_CLINE_CLI_DIR": str(base / "cline_cli"),
        }

    def fill(self, files: int) -> int:
        """Old transcripts: one of every kind of store, the rest Claude Code's; their number."""
        for name, store in STORES.items():
            store.write(self._base / ("cline_cli" if name == "cline_cli" else store.client))
        others = sum(path.is_file() for path in self._base.rglob("*"))
        line = jsonl(Writer().typed("Said long ago."))
        for number in range(files - others):
            folder = self.claude / f"-home-mara-code-{number // 40}"
            folder.mkdir(exist_ok=True)
            (folder / f"{session(number)}.jsonl").write_bytes(line)
        long_ago = time.time() - 86_400
        for path in self._base.rglob("*"):
            os.utime(path, (long_ago, long_ago))
        return files

    @asynccontextmanager
    async def capturer(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """A capturer that has its place in every transcript and its pool open."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", *self._program),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._base,
            env=self.environ,
        )
        assert process.stderr is not None
        reading = None
        try:
            async with asyncio.timeout(LIMIT_S):
                while json.loads(await process.stderr.readline())["action"] != "database_ready":
                    pass
            reading = asyncio.create_task(process.stderr.read())
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            if reading is not None:
                await reading
            await process.wait()


class Live:
    """Sessions that are spoken in now; `written` tells when each text was."""

    def __init__(self, folder: Path, sessions: int) -> None:
        now = datetime.now(UTC)
        folder.mkdir(exist_ok=True)
        self.written: dict[str, float] = {}
        self._random = Random(sessions)
        self._talks = []
        for number in range(sessions):
            write = Writer(session=session(10_000 * sessions + number), begun=now)
            self._talks.append((folder / f"{write.session}.jsonl", write))

    async def speak(self, turns: int, pause_s: float) -> None:
        """All sessions at once, each `turns` turns with pauses of half to one and a half."""
        await asyncio.gather(*(self._one(*talk, turns, pause_s) for talk in self._talks))

    async def _one(self, path: Path, write: Writer, turns: int, pause_s: float) -> None:
        texts = (f"Turn {number} of {write.session}." for number in range(turns))
        for number, line in enumerate(talk(write, texts, turns)):
            await asyncio.sleep(self._random.uniform(pause_s / 2, 3 * pause_s / 2))
            _append(path, line)
            self.written[f"Turn {number} of {write.session}."] = time.perf_counter()


async def begin_sessions(home: Path, count: int, pause_s: float) -> dict[str, float]:
    """First prompts of new sessions, one after the other; when each was written."""
    written: dict[str, float] = {}
    random = Random(count)
    for number in range(count):
        await asyncio.sleep(random.uniform(pause_s / 2, 3 * pause_s / 2))
        folder = home / f"-home-mara-code-new-{number // 2}"
        folder.mkdir(exist_ok=True)
        write = Writer(session=session(1_000_000 + number), begun=datetime.now(UTC))
        text = f"The first words of {write.session}."
        _append(folder / f"{write.session}.jsonl", jsonl(write.typed(text)))
        written[text] = time.perf_counter()
    return written


def _append(path: Path, line: bytes) -> None:
    with open(path, "ab") as file:
        file.write(line)


def write_giant(path: Path, size: int) -> int:
    """A transcript of `size` bytes, nearly all of it results of tools; its number of turns."""
    write = Writer(session=path.stem, begun=datetime.now(UTC))
    texts, turns, written = words(2_000), 0, 0
    result = "x" * BLOCK_BYTES
    with open(path, "wb") as file:
        while written < size:
            lines = b"".join(talk(write, texts, 2))
            lines += jsonl(write.tool_result(result)) * 2
            written += file.write(lines)
            turns += 2
    return turns
