"""How well the product's own recall finds the evidence of questions about conversations.

    python -m bench.retrieval FILE [--limit-samples N] [--turns-only] [--prior]

FILE is LoCoMo, or a set in one of the other layouts that `bench.conversations` reads. Every turn is
stored through intake as a message with speaker and time, one conversation one venue; every question
is searched through recall, with that venue as filter and, for the shared pool, without one.
`--prior` asks again in the own conversation when ten answers to every question count as shown, with
the prior that follows from it, and without any.
"""

import argparse
import asyncio
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from agents_memory.clock import SystemClock
from agents_memory.domain.filters import Filters
from agents_memory.domain.messages import Draft, Origin, Role, Screening, Stored, Trust
from agents_memory.embedding.chunking import chunk
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.protocol import Embedder
from agents_memory.services import recall as recalling
from agents_memory.services.forgetting import Forgetting
from agents_memory.services.intake import Intake
from agents_memory.services.prior import Leaning
from agents_memory.services.recall import Recall, RecallRequest
from agents_memory.services.recalled import Ranked
from agents_memory.storage import lexemes, messages, users, vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.notify import Hints
from agents_memory.storage.vectors import ChunkVector, digest
from bench import conversations, report
from bench.cached_embedder import CachedEmbedder
from bench.conversations import Question, Sample
from bench.pool import BenchPool, fresh_pool
from cold.passes.context import Context

DEPTH, SHOWN = 50, 10
PLENTY_OF_TOKENS = 1_000_000
KS = (5, 10, 20)
Figures = dict[str, float]


async def store(sample: Sample, intake: Intake, user_id: int) -> dict[str, int]:
    """Turn id → message id; the speaker stands before the words, as people quote each other."""
    ids = {}
    for turn in sample.turns:
        draft = Draft(
            role=Role.USER,
            text=f"{turn.speaker}: {turn.text}",
            origin=Origin.IMPORTED,
            trust=Trust.OWNER,
            platform="bench",
            venue=sample.id,
            occurred_at=turn.said_at,
            source="bench",
            store_id=sample.id,
            native_id=turn.id,
        )
        stored = await intake.store(draft, user_id)
        assert isinstance(stored, Stored), stored
        ids[turn.id] = stored.id
    return ids


async def embed(cold: Database, embedder: Embedder, ids: Sequence[int]) -> None:
    """What the daemon would do to these messages: clear and embed them."""
    async with cold.transaction() as connection:
        model = await vectors.find_active_model(connection)
        assert model is not None
        for item in await messages.list_for_pass(connection, ids):
            await messages.settle_screening(connection, item.id, Screening.CLEAR)
            texts = chunk(item.text, embedder.profile.chunk_tokens).texts
            made = await embedder.embed(texts)
            await vectors.replace_message_vectors(
                connection,
                model,
                item.id,
                [ChunkVector(digest(t), v) for t, v in zip(texts, made, strict=True)],
            )


async def surround(cold: Database, ids: Sequence[int], *, neighbours: bool) -> None:
    """The context column by the daemon's own pass; without neighbours only the day is in it."""
    built = Context()
    async with cold.transaction() as connection:
        items = await built.load(connection, ids)
        if not neighbours:
            items = [replace(item, previous=None, previous_id=None) for item in items]
        for item, result in zip(items, await built.prepare(items), strict=True):
            await built.settle(connection, item, result)


async def count(cold: Database) -> None:
    """The statistics as the daemon keeps them."""

    async def refresh(connection: Connection) -> None:
        async with connection.transaction():
            documents, words = await lexemes.count_documents(connection)
            counts = await lexemes.count_all(connection)
            await lexemes.replace_counts(connection, counts, documents, words)

    await cold.run(refresh)


def metrics(ranked: Sequence[int], gold: Sequence[int]) -> Figures:
    """One question's figures; `ranked` is what recall answered, best first."""
    ranks = [ranked.index(item) + 1 if item in ranked else math.inf for item in gold]
    figures: Figures = {}
    for k in KS:
        figures[f"recall@{k}"] = sum(rank <= k for rank in ranks) / len(gold)
    figures["hit@10"] = float(min(ranks) <= 10)
    figures["all@10"] = float(max(ranks) <= 10)
    figures["mrr"] = 1 / min(ranks)
    ideal = sum(1 / math.log2(i + 2) for i in range(min(len(gold), 10)))
    figures["ndcg@10"] = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10) / ideal
    return figures


def mean(rows: Sequence[Figures]) -> Figures:
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}


@dataclass(frozen=True, slots=True)
class Asking:
    """The questions about what is stored, and whom to ask."""

    recall: Recall
    user_id: int
    samples: Sequence[Sample]
    stored: Mapping[str, Mapping[str, int]]

    async def ask(self, sample: Sample, question: Question, *, own: bool) -> Figures:
        """One question's figures, in its own conversation or in all of them."""
        answer = await self.recall.search(self._request(sample, question, DEPTH, own=own))
        gold = [self.stored[sample.id][turn] for turn in question.evidence]
        return metrics([item.id for item in answer.items], gold)

    async def ask_all(self) -> Figures:
        """The mean over all questions, each in its own conversation."""
        rows = [
            await self.ask(sample, question, own=True)
            for sample in self.samples
            for question in sample.questions
        ]
        return mean(rows)

    async def show_all(self) -> None:
        """Logs the best answers to every question as shown."""
        for sample in self.samples:
            for question in sample.questions:
                await self.recall.search(self._request(sample, question, SHOWN, own=True))
        await self.recall.close()

    def _request(
        self, sample: Sample, question: Question, limit: int, *, own: bool
    ) -> RecallRequest:
        venue = sample.id if own else None
        filters = Filters(self.user_id, venue=venue, include_archived=True)
        return RecallRequest(question.text, filters, limit=limit, max_tokens=PLENTY_OF_TOKENS)


async def compare_prior(pool: BenchPool, asking: Asking) -> dict[str, Figures]:
    """With the prior that follows from ten answers a question, and without one."""
    await asking.recall.close()
    owner, cold = pool.database("owner"), pool.database("cold")
    # So far, fifty answers were shown.
    async with owner.acquire() as connection:
        await connection.execute("TRUNCATE traces")
    await asking.show_all()
    done = await Forgetting(cold.transaction, SystemClock()).recompute()
    report.note(f"{done.items} items have been shown")
    shown = await asking.ask_all()
    with patch.object(recalling, "weigh", _unweighed):
        without = await asking.ask_all()
    await owner.close()
    await cold.close()
    return {"prior_after_shown": shown, "no_prior": without}


async def _unweighed(connection: Connection, ranked: Ranked, leaning: Leaning | None) -> Ranked:
    return ranked


async def run(path: Path, limit_samples: int | None, *, context: bool, prior: bool) -> None:
    samples = conversations.load(path)[:limit_samples]
    embedder = CachedEmbedder(open_embedder("local"))
    async with fresh_pool(embedder.profile) as pool:
        hot, cold = pool.database("hot"), pool.database("cold")
        user_id = await hot.run(lambda connection: users.ensure_user(connection, "bench"))
        hints = Hints(hot)
        intake = Intake(hot, hints, SystemClock())
        stored: dict[str, dict[str, int]] = {}
        for sample in samples:
            stored[sample.id] = await store(sample, intake, user_id)
            await embed(cold, embedder, list(stored[sample.id].values()))
            await surround(cold, list(stored[sample.id].values()), neighbours=context)
            report.note(f"{sample.id}: {len(sample.turns)} turns")
        await count(cold)
        recall = Recall(hot, embedder, embed_deadline_s=60)
        asking = Asking(recall, user_id, samples, stored)
        own: dict[str, list[Figures]] = defaultdict(list)
        shared: list[Figures] = []
        for sample in samples:
            for question in sample.questions:
                own[question.category].append(await asking.ask(sample, question, own=True))
                shared.append(await asking.ask(sample, question, own=False))
        priors = await compare_prior(pool, asking) if prior else {}
        await recall.close()
        await hints.close()
        await hot.close()
        await cold.close()
    everything = [row for rows in own.values() for row in rows]
    _print(own, everything, shared, priors, embedder.profile.id, context=context)


def _print(
    own: dict[str, list[Figures]],
    everything: list[Figures],
    shared: list[Figures],
    priors: dict[str, Figures],
    embedder: str,
    *,
    context: bool,
) -> None:
    total, pooled = mean(everything), mean(shared)
    by_category = {category: mean(rows) for category, rows in sorted(own.items())}
    rows = [
        ("all", len(everything), *total.values()),
        *(
            (category, len(own[category]), *figures.values())
            for category, figures in by_category.items()
        ),
        ("shared pool", len(shared), *pooled.values()),
        *((name, len(everything), *figures.values()) for name, figures in priors.items()),
    ]
    report.table(["questions", "n", *total], rows)
    report.result(
        {
            "n": len(everything),
            **total,
            "by_category": by_category,
            "shared_pool": pooled,
            **priors,
            "embedder": embedder,
            "context": context,
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--limit-samples", type=int, default=None)
    parser.add_argument("--turns-only", action="store_true", help="without what neighbours say")
    parser.add_argument("--prior", action="store_true", help="also with and without the prior")
    arguments = parser.parse_args()
    asyncio.run(
        run(
            arguments.file,
            arguments.limit_samples,
            context=not arguments.turns_only,
            prior=arguments.prior,
        )
    )


if __name__ == "__main__":
    main()
