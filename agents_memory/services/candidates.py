"""What a query may find, with a score from each arm for every candidate."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from agents_memory.domain.filters import Filters
from agents_memory.domain.lexical import to_tsquery_literal
from agents_memory.domain.ranking import bm25
from agents_memory.storage import lexemes, memories, messages, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors import Model, Vector

# How many rows the keyword arm may score, and how many of each arm are ranked. Bounds, not tuning:
# with them a query of common words costs the same as one of rare words.
MAX_KEYWORD_CANDIDATES = 3_000
ARM_LIMIT = 200

LexemeCounts = dict[int, tuple[int, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Scores by item id: `keyword` is BM25 (0 = no word in common), `cosine` is raw.

    `memories` says which of the ids are memories; the rest are messages.
    """

    keyword: Mapping[int, float]
    cosine: Mapping[int, float]
    memories: frozenset[int]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 asks of the whole pool; `frequencies` holds lexemes of two documents or more."""

    documents: int
    average_length: float
    frequencies: Mapping[str, int]


async def load_statistics(connection: Connection, terms: Sequence[str]) -> Statistics:
    """Document frequencies as last counted; the totals as of now when they never were."""
    totals = await lexemes.find_totals(connection)
    documents, words = totals.documents, totals.words
    if documents == 0:
        documents, words = await lexemes.count_documents(connection)
    frequencies = await lexemes.list_counts(connection, terms)
    return Statistics(documents, words / documents if documents else 1.0, frequencies)


def rarest(terms: Sequence[str], statistics: Statistics) -> list[str]:
    """The terms that choose the candidates: the rarest, while they are expected to fit.

    At least one. Common words still count in the score of what the rare ones found.
    """
    ordered = sorted(terms, key=lambda term: statistics.frequencies.get(term, 1))
    chosen: list[str] = []
    expected = 0
    for term in ordered:
        expected += statistics.frequencies.get(term, 1)
        if chosen and expected > MAX_KEYWORD_CANDIDATES:
            break
        chosen.append(term)
    return chosen


async def gather(
    connection: Connection,
    filters: Filters,
    terms: Sequence[str],
    model: Model | None,
    query: Vector | None,
) -> Candidates:
    """Candidates of both arms from messages and memories, each scored in both arms."""
    statistics = await load_statistics(connection, terms)
    chosen = to_tsquery_literal(rarest(terms, statistics)) if terms else ""
    found = await _messages(connection, filters, terms, chosen, model, query)
    counts, cosine = found
    memory_ids: frozenset[int] = frozenset()
    if not filters.only_messages:
        memory_counts, memory_cosine = await _memories(
            connection, filters, terms, chosen, model, query
        )
        memory_ids = frozenset(memory_counts) | frozenset(memory_cosine)
        counts |= memory_counts
        cosine |= memory_cosine
    keyword = score(terms, counts, statistics)
    best = set(sorted(keyword, key=lambda item: (-keyword[item], -item))[:ARM_LIMIT])
    kept = best | set(cosine)
    if model is not None and query is not None:
        missing = [item for item in best if item not in cosine]
        of_memories = [item for item in missing if item in memory_ids]
        of_messages = [item for item in missing if item not in memory_ids]
        cosine |= await vectors.compare_messages(connection, model, of_messages, query)
        cosine |= await vectors.compare_memories(connection, model, of_memories, query)
    return Candidates({item: keyword.get(item, 0.0) for item in kept}, cosine, memory_ids)


async def _messages(
    connection: Connection,
    filters: Filters,
    terms: Sequence[str],
    tsquery: str,
    model: Model | None,
    query: Vector | None,
) -> tuple[LexemeCounts, dict[int, float]]:
    near: dict[int, float] = {}
    if model is not None and query is not None:
        near = await vectors.search_messages(connection, model, filters, query, ARM_LIMIT)
    return await _arms(
        connection, terms, tsquery, near,
        lambda limit: messages.find_by_lexemes(connection, filters, tsquery, limit),
        messages.count_lexemes,
    )  # fmt: skip


async def _memories(
    connection: Connection,
    filters: Filters,
    terms: Sequence[str],
    tsquery: str,
    model: Model | None,
    query: Vector | None,
) -> tuple[LexemeCounts, dict[int, float]]:
    near: dict[int, float] = {}
    if model is not None and query is not None:
        near = await vectors.search_memories(connection, model, filters, query, ARM_LIMIT)
    return await _arms(
        connection, terms, tsquery, near,
        lambda limit: memories.find_by_lexemes(connection, filters, tsquery, limit),
        memories.count_lexemes,
    )  # fmt: skip


async def _arms(
    connection: Connection,
    terms: Sequence[str],
    tsquery: str,
    near: dict[int, float],
    find: Callable[[int], Awaitable[list[int]]],
    count: Callable[[Connection, Sequence[int], Sequence[str]], Awaitable[LexemeCounts]],
) -> tuple[LexemeCounts, dict[int, float]]:
    if not tsquery:
        return {}, near
    ids = set(await find(MAX_KEYWORD_CANDIDATES)) | set(near)
    return await count(connection, sorted(ids), terms), near


def score(terms: Sequence[str], counts: LexemeCounts, statistics: Statistics) -> dict[int, float]:
    """BM25 of every item that holds a term; items without any are left out."""
    # The counted statistics may lag behind what was just inserted, so what is seen here counts too.
    seen = [sum(1 for _, held in counts.values() if held[i]) for i in range(len(terms))]
    documents = max(statistics.documents, len(counts), 1)
    frequency = [max(statistics.frequencies.get(term, 1), seen[i]) for i, term in enumerate(terms)]
    scores: dict[int, float] = {}
    for item, (length, held) in counts.items():
        total = sum(
            bm25(tf, frequency[i], documents, length, statistics.average_length)
            for i, tf in enumerate(held)
            if tf
        )
        if total > 0:
            scores[item] = total
    return scores
