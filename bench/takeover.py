"""How long a pool has no leader after the leading daemon was killed, or froze.

    python -m bench.takeover [--runs N]

Two real daemons with default limits; the time runs from the signal to the new term's row. A daemon
that froze keeps its lock for ten seconds after its last sign of life, by design.
"""

import argparse
import asyncio
import signal
import subprocess
import sys
import tempfile
import time
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
HOW = {"killed": signal.SIGKILL, "frozen": signal.SIGSTOP}


class Daemons:
    """A leader and a standby on one pool."""

    def __init__(self, pool: BenchPool, home: str, watch: Database) -> None:
        self._watch = watch
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._environment = {
            "PATH": inherited_environment()["PATH"],
            "HOME": home,
            "DATABASE_URL": pool.url("cold"),
            "EMBEDDING_MODEL": "hashing",
            "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
        }

    async def ready(self) -> leadership.Leader:
        """Two daemons, of which one leads and one waits; the leader."""
        while len(self._running) < 2:
            started = subprocess.Popen(  # noqa: ASYNC220 (it is ended by its id, outside the loop)
                [sys.executable, "-I", "-m", "cold"],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self._running[started.pid] = started
        async with asyncio.timeout(LIMIT_S):
            while True:
                leader = await self._watch.run(leadership.find_leader)
                waiters = await self._watch.run(lambda c: c.fetchval(WAITERS))
                if leader.pid in self._running and waiters == 1:
                    return leader
                await asyncio.sleep(GLANCE_S)

    async def depose(self, how: signal.Signals) -> float:
        """Seconds from the signal to the leader until the next term began."""
        old = await self.ready()
        assert old.pid is not None, "it leads"
        began = time.perf_counter()
        self._running[old.pid].send_signal(how)
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

    def _end(self, pid: int) -> None:
        process = self._running.pop(pid)
        process.kill()
        process.wait()


async def run(runs: int) -> None:
    found: dict[str, Any] = {"runs": runs}
    async with fresh_pool(HASHING) as pool:
        watch = pool.database("cold")
        with tempfile.TemporaryDirectory() as home:
            daemons = Daemons(pool, home, watch)
            try:
                for name, how in HOW.items():
                    took = []
                    for number in range(runs):
                        report.note(f"{name} {number + 1} of {runs}")
                        took.append(await daemons.depose(how))
                    found[name] = {
                        "p50_s": round(percentile(took, 0.5), 3),
                        "max_s": round(max(took), 3),
                    }
            finally:
                daemons.close()
                await watch.close()
    report.table(["leader", "p50 s", "max s"], [(name, *found[name].values()) for name in HOW])
    report.result({**found, **machine()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10, help="take-overs of each kind (10)")
    asyncio.run(run(parser.parse_args().runs))


if __name__ == "__main__":
    main()
