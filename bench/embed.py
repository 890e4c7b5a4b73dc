"""How fast the daemon works off a backlog, against how fast the embedding model alone would be.

    python -m bench.embed [--messages N] [--rounds N]

In every round the chunks of some messages are embedded by the bare model, and the same messages are
stored and drained by the daemon's own worker with its default batch size: screened, embedded,
tagged and given a context, each step settled in a transaction of its own. The speed is that of
chunks; the first round warms up and does not count.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from agents_memory.clock import SystemClock
from agents_memory.domain.messages import Draft, Origin, Role, Stored, Trust
from agents_memory.embedding.chunking import chunk
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.intake import Intake
from agents_memory.settings import Settings
from agents_memory.storage import users
from agents_memory.storage.notify import Hints
from bench import report
from bench.cached_embedder import CachedEmbedder
from bench.corpus import Corpus
from bench.insert import backends
from bench.measure import MS, Stopwatch, cpu_seconds, machine, ratio
from bench.pool import BenchPool, fresh_pool
from bench.turns import example_drafts
from cold.composition import compose
from cold.leadership import Leadership
from cold.stopping import Stop
from cold.worker import Finish, Pace

WARM_UP = 10


@dataclass(slots=True)
class Sides:
    """The clocks of both sides, and how many chunks each has embedded."""

    bare: Stopwatch = field(default_factory=Stopwatch)
    drain: Stopwatch = field(default_factory=Stopwatch)
    chunks: int = 0
    server_cpu: float = 0.0

    def figures(self) -> dict[str, Any]:
        bare, drain = sum(self.bare.wall), sum(self.drain.wall)
        bare_cpu, drain_cpu = sum(self.bare.cpu), sum(self.drain.cpu)
        return {
            "chunks": self.chunks,
            "bare_chunks_s": round(self.chunks / bare, 1),
            "drain_chunks_s": round(self.chunks / drain, 1),
            "bare_cpu_ms": round(bare_cpu / self.chunks * MS, 2),
            "drain_cpu_ms": round(drain_cpu / self.chunks * MS, 2),
            "drain_server_cpu_ms": round(self.server_cpu / self.chunks * MS, 2),
            "speed": ratio(bare, drain),
            "cpu_ratio": ratio(drain_cpu + self.server_cpu, bare_cpu),
        }


class Backlog:
    """Stores messages and has them drained, as the daemon of one pool does it."""

    def __init__(self, pool: BenchPool, embedder: Embedder) -> None:
        self._hot = pool.database("hot")
        self._cold = pool.database("cold")
        self._hints = Hints(self._hot)
        self._intake = Intake(self._hot, self._hints, SystemClock())
        self._stored = 0
        defaults = Settings.load({"HOME": "/nonexistent"})
        self._stop = Stop()
        self._worker = compose(
            self._cold,
            [embedder],
            self._stop,
            SystemClock(),
            pace=Pace(defaults.cold_path_batch_size, defaults.cold_path_interval_sec, drain=True),
            max_attempts=defaults.cold_path_max_attempts,
        )

    async def store(self, texts: Sequence[str]) -> None:
        user_id = await self._hot.run(lambda connection: users.ensure_user(connection, "bench"))
        for text in texts:
            self._stored += 1
            draft = Draft(
                role=Role.USER,
                text=text,
                origin=Origin.CAPTURED,
                trust=Trust.OWNER,
                platform="bench",
                session=f"session-{self._stored // 20}",
                cwd="/home/bench/work/heron",
            )
            assert isinstance(await self._intake.store(draft, user_id), Stored)

    async def drain(self) -> None:
        """In a term of its own, until nothing waits."""
        leadership = Leadership(self._cold, self._stop, holder="bench", wait=False)
        finish = await leadership.run(self._worker.run)
        assert finish is Finish.DRAINED, finish

    async def servers(self) -> list[int]:
        return await backends(self._cold)

    async def close(self) -> None:
        await self._hints.close()
        await self._hot.close()
        await self._cold.close()


async def one_round(
    sides: Sides, backlog: Backlog, embedder: Embedder, texts: Sequence[str], *, bare_first: bool
) -> None:
    """The same messages on both sides."""
    tokens = embedder.profile.chunk_tokens
    chunks = [part for text in texts for part in chunk(text, tokens).texts]
    sides.chunks += len(chunks)

    async def bare() -> None:
        with sides.bare:
            await embedder.embed(chunks)

    async def drained() -> None:
        await backlog.store(texts)
        before = cpu_seconds(await backlog.servers())
        with sides.drain:
            await backlog.drain()
        sides.server_cpu += cpu_seconds(await backlog.servers()) - before

    for side in (bare, drained) if bare_first else (drained, bare):
        await side()


async def run(count: int, rounds: int) -> None:
    real = [draft.text for draft in example_drafts()]
    embedder = open_embedder("local")
    cached = CachedEmbedder(embedder)
    corpus = Corpus(real, np.stack(await cached.embed(real)))
    texts = iter([message.text for message in corpus.messages(count + WARM_UP)])
    sides = Sides()
    async with fresh_pool(embedder.profile) as pool:
        backlog = Backlog(pool, embedder)
        await one_round(Sides(), backlog, embedder, [*islice(texts, WARM_UP)], bare_first=True)
        for number in range(rounds):
            began = time.perf_counter()
            part = [*islice(texts, count // rounds)]
            await one_round(sides, backlog, embedder, part, bare_first=number % 2 == 0)
            report.note(f"round {number + 1} of {rounds}: {time.perf_counter() - began:.0f} s")
        await backlog.close()
    await embedder.close()
    found = sides.figures()
    report.table(["figure", "value"], list(found.items()))
    report.result({"messages": count, "rounds": rounds, **found, **machine()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000, help="how many (1000)")
    parser.add_argument("--rounds", type=int, default=5, help="in how many parts (5)")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.messages, arguments.rounds))


if __name__ == "__main__":
    main()
