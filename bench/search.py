"""What a search costs in a big pool, where the time goes, and whether it finds what a scan finds.

    python -m bench.search [--messages N] [--queries N] [--data FILE] [--no-index]

Every question goes through `Recall.search` under four filters, and right before or after it the
same vector is looked for by one bare statement that scans every matching row: the baseline, and the
truth for the vector arm. Vectors of questions are made beforehand; what one costs is said apart.
FILE has LoCoMo's layout and then takes the place of the example conversations. At the end, searches
that write down what they show take turns with ones that don't.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from agents_memory.domain.filters import Filters
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.profiles import Profile
from agents_memory.embedding.protocol import Embedder, Vector
from agents_memory.services import candidates
from agents_memory.services.recall import Recall, RecallRequest
from agents_memory.storage import tags, vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.vectors import Model
from bench import conversations, report, shown
from bench.cached_embedder import CachedEmbedder
from bench.corpus import BEGIN, DAYS, PROJECTS, Corpus
from bench.loading import load, project_name
from bench.measure import MS, Stopwatch, cpu_seconds, machine, percentile, ratio
from bench.pool import BenchPool, fresh_pool
from bench.retrieval import count
from bench.turns import ask_about, example_drafts, example_questions

TEXTS, NEAREST, WARM_UP, EMBEDDED = 500, 10, 5, 20
EXACT = """\
SELECT v.message_id AS id FROM {table} v
WHERE v.searchable AND v.user_id = $2
  AND ($3::text IS NULL OR v.platform = $3)
  AND ($4::bigint IS NULL OR v.p_tag = $4)
  AND ($5::timestamptz IS NULL OR v.said_at >= $5)
  AND ($6::timestamptz IS NULL OR v.said_at < $6)
GROUP BY v.message_id ORDER BY min(v.embedding <=> $1), v.message_id DESC LIMIT $7"""


class Prepared:
    """An embedder whose answers were worked out beforehand."""

    def __init__(self, profile: Profile, known: dict[str, Vector]) -> None:
        self.profile = profile
        self._known = known

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._known[text] for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return self._known[text]

    async def close(self) -> None:
        """Holds nothing."""


@dataclass(slots=True)
class Case:
    """One filter, and what was measured under it."""

    filters: Filters
    search: Stopwatch = field(default_factory=Stopwatch)
    exact: Stopwatch = field(default_factory=Stopwatch)
    database: list[float] = field(default_factory=list)
    server_cpu: float = 0.0
    exact_cpu: float = 0.0
    statements: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    recalls: list[float] = field(default_factory=list)
    same_counts: list[bool] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        searches = len(self.search.wall)
        search, exact = self.search.milliseconds(), self.exact.milliseconds()
        server, scan = self.server_cpu / searches * MS, self.exact_cpu / searches * MS
        return {
            **search,
            "server_cpu_ms": round(server, 2),
            "database_p50_ms": round(percentile(self.database, 0.5) * MS, 2),
            "database_p95_ms": round(percentile(self.database, 0.95) * MS, 2),
            "exact_p50_ms": exact["p50_ms"],
            "wall_ratio": ratio(search["p50_ms"], exact["p50_ms"]),
            "cpu_ratio": ratio(search["cpu_ms"] + server, exact["cpu_ms"] + scan),
            "recall@10": round(sum(self.recalls) / len(self.recalls), 4),
            "same_counts": all(self.same_counts),
        }


def cases(user_id: int, tag_id: int) -> dict[str, Case]:
    """From everything down to a thousandth; `tag_id` is of one of the projects."""
    middle = BEGIN + timedelta(days=DAYS / 2)
    window = timedelta(days=DAYS / 1000)
    return {
        "none": Case(Filters(user_id)),
        "platform 25 %": Case(Filters(user_id, platform="codex")),
        "project 1 %": Case(Filters(user_id, projects=(tag_id,))),
        "dates 0.1 %": Case(Filters(user_id, since=middle, until=middle + window)),
    }


class Measured:
    """A database with one connection, so that its server process and its statements are known."""

    def __init__(self, database: Database, model: Model) -> None:
        self.database = database
        self.model = model
        self.pid = 0
        self.elapsed: dict[str, float] = defaultdict(float)

    async def watch(self) -> None:
        async with self.database.acquire() as connection:
            self.pid = connection.get_server_pid()
            connection.add_query_logger(self._note)

    def _note(self, query: Any) -> None:
        # Named statements begin with their name as a comment.
        name = query.query.split("\n", 1)[0].removeprefix("-- ")
        self.elapsed[name] += query.elapsed

    async def search(self, case: Case, recall: Recall, question: str) -> None:
        # The last statements of the comparison are told one turn of the loop later.
        await asyncio.sleep(0)
        self.elapsed.clear()
        before = cpu_seconds([self.pid])
        with case.search:
            answer = await recall.search(RecallRequest(question, case.filters))
        case.server_cpu += cpu_seconds([self.pid]) - before
        assert answer.degraded is None, answer.degraded
        case.database.append(sum(self.elapsed.values()))
        for name, seconds in self.elapsed.items():
            case.statements[name] += seconds
        # What was shown is written down after the answer; here, before the next question.
        await recall.close()

    async def compare(self, case: Case, vector: Vector) -> None:
        """The bare scan, and what the vector arm finds beside it."""
        async with self.database.acquire() as connection:
            filters = case.filters
            [tag] = filters.projects or [None]
            sql = EXACT.format(table=self.model.message_table)
            matching = (filters.user_id, filters.platform, tag, filters.since, filters.until)
            before = cpu_seconds([self.pid])
            with case.exact:
                rows = await connection.fetch(sql, vector, *matching, NEAREST)
            case.exact_cpu += cpu_seconds([self.pid]) - before
            nearest = {row["id"] for row in rows}
            found = await vectors.search_messages(
                connection, self.model, filters, vector, candidates.NEAREST
            )
            case.recalls.append(len(nearest & {*list(found)[:NEAREST]}) / len(nearest))
            expected = await connection.fetch(sql, vector, *matching, candidates.NEAREST)
            case.same_counts.append(len(found) == len(expected))


async def material(data: Path | None) -> tuple[list[str], list[str]]:
    """Texts to build a corpus from, and real questions about them."""
    if data is None:
        return [draft.text for draft in example_drafts()], example_questions()
    samples = conversations.load(data)
    turns = [f"{turn.speaker}: {turn.text}" for sample in samples for turn in sample.turns]
    questions = [question.text for sample in samples for question in sample.questions]
    return turns[:: max(1, len(turns) // TEXTS)], questions[:: max(1, len(questions) // 50)]


async def embedding_time(embedder: Embedder, questions: Sequence[str]) -> float:
    """Seconds that the vector of a question takes, p50."""
    watch = Stopwatch()
    for question in questions[:EMBEDDED]:
        with watch:
            await embedder.embed_query(question)
    return percentile(watch.wall, 0.5)


async def prepare(
    pool: BenchPool, corpus: Corpus, messages: int, *, index: bool
) -> tuple[int, Model]:
    """A pool with that many messages, as the daemon would leave it."""
    owner, cold = pool.database("owner"), pool.database("cold")
    user_id = await load(owner, corpus.messages(messages), PROJECTS, "bench")
    await count(cold)

    async def find(connection: Connection) -> Model:
        model = await vectors.find_active_model(connection)
        assert model is not None
        return model

    if index:
        report.note("builds the index")
        async with cold.acquire() as connection:
            await vectors.build_index(connection, await find(connection))
    model = await owner.run(find)
    await owner.close()
    await cold.close()
    return user_id, model


async def run(messages: int, queries: int, data: Path | None, *, index: bool) -> None:
    texts, real = await material(data)
    questions = [*real, *ask_about(texts, max(0, queries - len(real)))][:queries]
    local = open_embedder("local")
    embedder = CachedEmbedder(local)
    report.note(f"embeds {len(texts)} texts and {len(questions)} questions")
    known = {question: await embedder.embed_query(question) for question in questions}
    corpus = Corpus(texts, np.stack(await embedder.embed(texts)))
    embed_s = await embedding_time(local, questions)
    await local.close()
    async with fresh_pool(embedder.profile) as pool:
        user_id, model = await prepare(pool, corpus, messages, index=index)
        hot = pool.database("hot", max_size=1)
        tag_id = await hot.run(lambda c: tags.find_project(c, project_name(7)))
        assert tag_id is not None, "it was loaded"
        measured = Measured(hot, model)
        await measured.watch()
        recall = Recall(hot, Prepared(embedder.profile, known))
        found = cases(user_id, tag_id)
        for warm in (True, False):
            found = cases(user_id, tag_id)
            for question in questions[: WARM_UP if warm else None]:
                for case in found.values():
                    await measured.search(case, recall, question)
                    await measured.compare(case, known[question])
        await hot.close()
        logging = await shown.measure(pool, Prepared(embedder.profile, known), user_id, questions)
    _print(found, messages, len(questions), embed_s, logging, index=index)


def _print(
    found: dict[str, Case],
    messages: int,
    questions: int,
    embed_s: float,
    logging: dict[str, float],
    *,
    index: bool,
) -> None:
    figures = {name: case.figures() for name, case in found.items()}
    columns = list(next(iter(figures.values())))
    report.table(["filter", *columns], [(name, *row.values()) for name, row in figures.items()])
    statements = {
        name: {
            statement: round(seconds / questions * MS, 2)
            for statement, seconds in sorted(case.statements.items(), key=lambda item: -item[1])
        }
        for name, case in found.items()
    }
    names = list(dict.fromkeys(name for row in statements.values() for name in row))
    report.table(
        ["statement, mean ms a search", *statements],
        [(name, *(row.get(name, 0.0) for row in statements.values())) for name in names],
    )
    report.table([*logging], [[*logging.values()]])
    report.result(
        {
            "messages": messages,
            "questions": questions,
            "index": index,
            "embed_p50_ms": round(embed_s * MS, 1),
            "filters": figures,
            "statements": statements,
            "logging": logging,
            **machine(),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000, help="how many (100000)")
    parser.add_argument("--queries", type=int, default=48, help="how many questions (48)")
    parser.add_argument("--data", type=Path, help="a file in LoCoMo's layout")
    parser.add_argument("--no-index", action="store_true", help="scan, as small pools do")
    arguments = parser.parse_args()
    asyncio.run(
        run(arguments.messages, arguments.queries, arguments.data, index=not arguments.no_index)
    )


if __name__ == "__main__":
    main()
