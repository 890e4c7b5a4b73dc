"""What it costs searches that what they show is written down."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from agents_memory.domain.filters import Filters
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.recall import Recall, RecallRequest
from agents_memory.storage.connections import Database
from bench.measure import MS, Stopwatch, cpu_seconds, percentile, ratio
from bench.pool import BenchPool

ROUNDS = 2
# One writes while the next search reads.
CONNECTIONS = 2


class Silent(Recall):
    """Recall that writes down nothing."""

    def _expose(self, ids: list[int], request: RecallRequest) -> None:
        """Says nothing of it."""


@dataclass(slots=True)
class Searches:
    """Two searches in a row by one recall: how long they took, and with all that followed."""

    recall: Recall
    servers: Sequence[int]
    watch: Stopwatch = field(default_factory=Stopwatch)
    cpu: list[float] = field(default_factory=list)

    async def run(self, first: RecallRequest, second: RecallRequest) -> None:
        before = cpu_seconds(self.servers)
        with self.watch:
            await self.recall.search(first)
            # What was just shown is written meanwhile, as for whoever asks without a pause.
            await self.recall.search(second)
        await self.recall.close()
        self.cpu.append(cpu_seconds(self.servers) - before)


async def measure(
    pool: BenchPool, embedder: Embedder, user_id: int, questions: Sequence[str]
) -> dict[str, float]:
    """Searches without a filter, in turns with and without the log of what was shown."""
    owner, hot = pool.database("owner"), pool.database("hot", max_size=CONNECTIONS)
    pids = await _servers(hot)
    silent = Searches(Silent(hot, embedder), pids)
    logged = Searches(Recall(hot, embedder), pids)
    requests = [RecallRequest(question, Filters(user_id)) for question in questions]
    # New connections plan what they are asked for the first time.
    await asyncio.gather(*(silent.recall.search(requests[0]) for _ in range(CONNECTIONS)))
    for first in [False, True] * ROUNDS:
        for one, other in zip(requests, [*requests[1:], requests[0]], strict=True):
            for searches in (logged, silent) if first else (silent, logged):
                # Each item is written once an hour, so that a second round would write none.
                async with owner.acquire() as connection:
                    await connection.execute("TRUNCATE traces")
                await searches.run(one, other)
    await hot.close()
    await owner.close()
    without, with_log = (percentile(each.watch.wall, 0.5) for each in (silent, logged))
    return {
        "two_silent_p50_ms": round(without * MS, 2),
        "two_logged_p50_ms": round(with_log * MS, 2),
        "log_ratio": ratio(with_log, without),
        "log_server_cpu_ms": round(
            (sum(logged.cpu) - sum(silent.cpu)) / len(logged.cpu) / 2 * MS, 2
        ),
    }


async def _servers(database: Database) -> list[int]:
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(database.acquire()) for _ in range(CONNECTIONS)
        ]
        return [connection.get_server_pid() for connection in connections]
