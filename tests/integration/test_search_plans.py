"""What a search reads of a pool of 50,000 messages: a bounded part, whatever is asked (D, F101)."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from agents_memory.domain.filters import Filters
from agents_memory.embedding.profiles import HASHING
from agents_memory.embedding.protocol import Embedder, Vector
from agents_memory.services.recall import Recall, RecallRequest
from agents_memory.storage import lexemes, migrate, users, vectors, words
from agents_memory.storage.connections import Database
from agents_memory.storage.words import Choice
from tests.conftest import Pool

MESSAGES = 50_000
# What a scan of vectors or of all that hold a word may read, and a join beside it.
BOUND = vectors.EXACT_ROWS + words.MANY
DIMS = 8
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)

# "tide" is in every message, "heron" in one of ten, "kestrel" in one of a thousand, all of them in
# the last fortieth too; each month's word stands around its messages only.
FILL = f"""\
INSERT INTO project_tags (name, origin) SELECT 'p' || n, 'owner' FROM generate_series(1, 100) n;
INSERT INTO messages (intake_id, user_id, platform, role, message, origin, trust, occurred_at,
    created_at, lexemes, lexeme_count)
SELECT gen_random_uuid(), 1, CASE WHEN n % 4 = 0 THEN 'codex' ELSE 'claude-code' END, 'user',
    'turn ' || n, 'imported', 'owner', timestamptz '2026-01-01Z' + n * interval '5 minutes', now(),
    ('tide:1 ' || CASE WHEN n % 10 = 0 THEN 'heron:2 ' ELSE '' END
        || CASE WHEN n % 1000 = 0 THEN 'kestrel:3 ' ELSE '' END || 'only' || n || ':4')::tsvector, 4
FROM generate_series(1, {MESSAGES}) n;
INSERT INTO message_state (message_id, p_tag, screening)
SELECT id, 1 + id % 100, 'clear' FROM messages;
INSERT INTO message_context (message_id, lexemes, lexeme_count)
SELECT id, lexemes || ('month' || extract(month from occurred_at) || ':9')::tsvector, 8
FROM messages"""
VECTORS = """\
INSERT INTO {table} (message_id, chunk, content_hash, user_id, platform, role, p_tag, pinned,
    archived, searchable, said_at, embedding)
SELECT m.id, 0, ''::bytea, 1, m.platform, m.role, s.p_tag, false, false, true, m.occurred_at,
    l2_normalize((ARRAY(SELECT random() - 0.5 + m.id * 0 FROM generate_series(1, {dims})))::vector
        ::halfvec({dims}))
FROM messages m JOIN message_state s ON s.message_id = m.id"""


class Tiny:
    """An embedder of a few dimensions, whose vectors mean nothing."""

    profile = replace(HASHING, id="tiny", dims=DIMS)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [await self.embed_query(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        raw = np.random.default_rng(len(text)).standard_normal(DIMS).astype(np.float32)
        return raw / np.linalg.norm(raw)

    async def close(self) -> None:
        """Holds nothing."""


async def _fill(owner: Database) -> None:
    await migrate.prepare(
        owner, profile=Tiny.profile.id, dims=DIMS, hot="memory_hot", cold="memory_cold"
    )
    async with owner.acquire() as connection:
        await users.ensure_user(connection, "mara")
        await connection.execute(FILL)
        model = next(m for m in await vectors.list_models(connection) if m.dims == DIMS)
        async with connection.transaction():
            await vectors.activate_model(connection, model)
        await connection.execute(VECTORS.format(table=model.message_table, dims=DIMS))
        await vectors.build_index(connection, model)
        async with connection.transaction():
            documents, words = await lexemes.count_documents(connection)
            counts = await lexemes.count_all(connection)
            await lexemes.replace_counts(connection, counts, documents, words)
        await connection.execute("VACUUM (ANALYZE)", timeout=120)


@pytest.fixture
async def one_session(pool: Pool, owner_database: Database) -> AsyncIterator[Database]:
    """The hot role's pool with one connection, over 50,000 settled messages."""
    await _fill(owner_database)
    database = pool.database("memory_hot", max_size=1)
    yield database
    await database.close()


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


def _rows_read(plan: dict[str, Any]) -> int:
    """Rows that scans of tables and indexes looked at, those they threw away included."""
    return sum(
        node["Actual Loops"]
        * (
            node["Actual Rows"]
            + node.get("Rows Removed by Filter", 0)
            + node.get("Rows Removed by Index Recheck", 0)
        )
        for node in _nodes(plan)
        if "Scan" in node["Node Type"] and "Relation Name" in node
    )


async def _read_by(database: Database, sent: Sequence[tuple[str, Sequence[Any]]]) -> dict[str, int]:
    """Rows read by each statement, when all are sent again in their order."""
    read: dict[str, int] = {}
    async with database.acquire() as connection:
        for sql, arguments in sent:
            name = sql.split("\n", 1)[0].removeprefix("-- ")
            if "set_config" in sql or name in ("BEGIN;", "ROLLBACK;"):
                await connection.execute(sql, *arguments)
            elif "SELECT" in sql and "EXPLAIN" not in sql and "INSERT" not in sql:
                explained = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}"
                [found] = json.loads(await connection.fetchval(explained, *arguments))
                read[name] = read.get(name, 0) + int(_rows_read(found["Plan"]))
    return read


FILTERS = {
    "none": Filters(1),
    "platform": Filters(1, platform="codex"),
    "project": Filters(1, projects=(7,)),
    "month": Filters(1, since=BEGIN, until=BEGIN + timedelta(days=31)),
    "an hour": Filters(1, since=BEGIN, until=BEGIN + timedelta(hours=1)),
    "another user": Filters(2),
}
QUERIES = ["kestrel", "heron", "tide", "heron tide kestrel", "month3", "only77 tide", "nothing"]


async def test_no_search_reads_more_than_a_bounded_part(one_session: Database) -> None:
    """E, F30, F102: rare words and common ones, without a filter and with each."""
    embedder: Embedder = Tiny()
    recall = Recall(one_session, embedder, threshold=0.0)
    sent: list[tuple[str, Sequence[Any]]] = []
    async with one_session.acquire() as connection:
        connection.add_query_logger(lambda query: sent.append((query.query, query.args)))
    excess: list[str] = []
    statements: set[str] = set()
    for asked in QUERIES:
        for named, filters in FILTERS.items():
            sent.clear()
            await recall.search(RecallRequest(asked, filters))
            await recall.close()
            # The last statements are told one turn of the loop later.
            await asyncio.sleep(0)
            read = await _read_by(one_session, list(sent))
            statements |= read.keys()
            excess += [f"{asked} / {named}: {n} {r}" for n, r in read.items() if r > BOUND]
    assert {
        "find_by_rare_words",
        "find_by_common_words_around",
        "find_by_words_in_few",
        "count_words",
        "search_message_index",
        "search_message_vectors",
    } <= statements
    assert not excess, "\n".join(excess)

    async with one_session.acquire() as connection:
        model = await vectors.find_active_model(connection)
        assert model is not None
        query = await embedder.embed_query("any")
        matching = {
            named: len(await vectors.search_messages(connection, model, filters, query, 100))
            for named, filters in FILTERS.items()
        }
    # The estimate that chooses between scan and index loses nothing.
    assert matching == dict.fromkeys(FILTERS, 100) | {"an hour": 11, "another user": 0}
    await _check_words_that_many_hold(one_session)


async def _check_words_that_many_hold(database: Database) -> None:
    """Of those that hold "heron" the newest thousand are ranked, unless too few of them match."""
    heron = Choice(["heron"], MESSAGES // 10, MESSAGES)

    async def find(filters: Filters) -> list[datetime]:
        async with database.acquire() as connection:
            found = await words.find_messages(
                connection, filters, ["heron", "kestrel"], own=heron, surrounding=heron, limit=200
            )
            rows = await connection.fetch(
                "SELECT occurred_at FROM messages WHERE id = ANY ($1::bigint[]) ORDER BY id DESC",
                list(found),
            )
        return [row["occurred_at"] for row in rows]

    def said(turn: int) -> datetime:
        return BEGIN + turn * timedelta(minutes=5)

    newest = await find(Filters(1))
    assert len(newest) == 200
    assert {said(turn) for turn in range(MESSAGES - 9_000, MESSAGES + 1, 1_000)} <= set(newest)
    half = said(MESSAGES // 2)
    older = await find(Filters(1, until=half))
    assert len(older) == 200
    assert {said(turn) for turn in range(1_000, MESSAGES // 2, 1_000)} <= set(older)
    assert max(older) < half
