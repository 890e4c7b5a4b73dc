"""How long a pool has no leader after the leading daemon was killed, froze, or was cut off.

    python -m bench.takeover [--runs N]

Two real daemons with default limits, each behind a relay of its own; the time runs from the signal,
or from the relay's silence (its sockets stay open), to the new term's row. A daemon that gives no
sign of life keeps its lock for ten seconds, by design.
"""

import argparse
import asyncio
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents_memory.embedding.profiles import HASHING
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import leadership
from agents_memory.storage.connections import Database
from bench import report
from bench.measure import machine, percentile
from bench.pool import BenchPool, fresh_pool

LIMIT_S = 60.0
GLANCE_S = 0.01
WAITERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' "
    "AND datname = current_database()"
)
KINDS = ("killed", "frozen", "cut off")


class Relay:
    """A way to the server's socket that can fall silent while everything stays open."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._folder = tempfile.TemporaryDirectory()
        self._open = asyncio.Event()
        self._open.set()
        self._server: asyncio.Server | None = None

    @property
    def folder(self) -> Path:
        """What a client is told as the host."""
        return Path(self._folder.name)

    async def start(self) -> None:
        path = self.folder / self._target.name
        self._server = await asyncio.start_unix_server(self._serve, path)

    def cut(self) -> None:
        self._open.clear()

    def close(self) -> None:
        self._open.set()
        assert self._server is not None, "it was started"
        self._server.close()
        self._folder.cleanup()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(self._target)
        # What still passes at the end of the run is cancelled with the loop.
        with suppress(asyncio.CancelledError):
            await asyncio.gather(self._pass_on(reader, back), self._pass_on(there, writer))

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        await self._open.wait()
        sink.close()


class Daemons:
    """A leader and a standby on one pool."""

    def __init__(self, pool: BenchPool, home: str, watch: Database) -> None:
        self._watch = watch
        self._running: dict[int, tuple[subprocess.Popen[bytes], Relay]] = {}
        self._pool = pool
        self._environment = {
            "PATH": inherited_environment()["PATH"],
            "HOME": home,
            "EMBEDDING_MODEL": "hashing",
            "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
        }

    async def ready(self) -> leadership.Leader:
        """Two daemons, of which one leads and one waits; the leader."""
        while len(self._running) < 2:
            await self._start()
        async with asyncio.timeout(LIMIT_S):
            while True:
                leader = await self._watch.run(leadership.find_leader)
                waiters = await self._watch.run(lambda c: c.fetchval(WAITERS))
                if leader.pid in self._running and waiters == 1:
                    return leader
                await asyncio.sleep(GLANCE_S)

    async def depose(self, kind: str) -> float:
        """Seconds from what happens to the leader until the next term began."""
        old = await self.ready()
        assert old.pid is not None, "it leads"
        process, relay = self._running[old.pid]
        began = time.perf_counter()
        match kind:
            case "killed":
                process.kill()
            case "frozen":
                process.send_signal(signal.SIGSTOP)
            case _:
                relay.cut()
        async with asyncio.timeout(LIMIT_S):
            while (  # noqa: ASYNC110 (the event is in the server)
                await self._watch.run(leadership.find_leader)
            ).epoch == old.epoch:
                await asyncio.sleep(GLANCE_S)
        took = time.perf_counter() - began
        self._end(old.pid)
        return took

    def close(self) -> None:
        for pid in list(self._running):
            self._end(pid)

    async def _start(self) -> None:
        relay = Relay(self._pool.socket)
        await relay.start()
        started = subprocess.Popen(  # noqa: ASYNC220 (it is ended by its id, outside the loop)
            [sys.executable, "-I", "-m", "cold"],
            env=self._environment | {"DATABASE_URL": self._pool.url("cold", relay.folder)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._running[started.pid] = started, relay

    def _end(self, pid: int) -> None:
        process, relay = self._running.pop(pid)
        process.kill()
        process.wait()
        relay.close()


async def run(runs: int) -> None:
    found: dict[str, Any] = {"runs": runs}
    async with fresh_pool(HASHING) as pool:
        watch = pool.database("cold")
        with tempfile.TemporaryDirectory() as home:
            daemons = Daemons(pool, home, watch)
            try:
                for name in KINDS:
                    took = []
                    for number in range(runs):
                        report.note(f"{name} {number + 1} of {runs}")
                        took.append(await daemons.depose(name))
                    found[name] = {
                        "p50_s": round(percentile(took, 0.5), 3),
                        "max_s": round(max(took), 3),
                    }
            finally:
                daemons.close()
                await watch.close()
    report.table(["leader", "p50 s", "max s"], [(name, *found[name].values()) for name in KINDS])
    report.result({**found, **machine()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10, help="take-overs of each kind (10)")
    asyncio.run(run(parser.parse_args().runs))


if __name__ == "__main__":
    main()
