"""What a query may find, with a score from each arm for every candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents_memory.domain.filters import Filters
from agents_memory.domain.lexical import to_tsquery_literal
from agents_memory.domain.ranking import bm25
from agents_memory.storage import context, lexemes, memories, messages, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors import Model, Vector

# How many rows the keyword arm may score, and how many of each arm are ranked. Bounds, not tuning:
# with them a query of common words costs the same as one of rare words.
MAX_KEYWORD_CANDIDATES = 3_000
ARM_LIMIT = 200

LexemeCounts = dict[int, tuple[int, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Scores by item id: `keyword` and `context` are BM25 (0 = no word in common), `cosine` is raw.

    What has no context (memories, and messages not yet settled) has its own words there.
    `memories` says which of the ids are memories; the rest are messages.
    """

    keyword: Mapping[int, float]
    context: Mapping[int, float]
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
    """Candidates of all arms from messages and memories, each scored in every arm."""
    statistics = await load_statistics(connection, terms)
    chosen = to_tsquery_literal(rarest(terms, statistics)) if terms else ""
    cosine: dict[int, float] = {}
    near_memories: dict[int, float] = {}
    if model is not None and query is not None:
        cosine = await vectors.search_messages(connection, model, filters, query, ARM_LIMIT)
        if not filters.only_messages:
            near_memories = await vectors.search_memories(
                connection, model, filters, query, ARM_LIMIT
            )
    counts: LexemeCounts = {}
    around: LexemeCounts = {}
    memory_ids = frozenset(near_memories)
    if chosen:
        found = await messages.find_by_lexemes(connection, filters, chosen, MAX_KEYWORD_CANDIDATES)
        nearby = await context.find_by_lexemes(connection, filters, chosen, MAX_KEYWORD_CANDIDATES)
        ids = sorted({*found, *nearby, *cosine})
        counts = await messages.count_lexemes(connection, ids, terms)
        around = await context.count_lexemes(connection, ids, terms)
        if not filters.only_messages:
            named = await memories.find_by_lexemes(
                connection, filters, chosen, MAX_KEYWORD_CANDIDATES
            )
            memory_ids |= frozenset(named)
            counts |= await memories.count_lexemes(connection, sorted(memory_ids), terms)
    keyword = score(terms, counts, statistics)
    surrounding = keyword | score(terms, around, _of_contexts(statistics, around))
    best = {*_best(keyword), *_best(surrounding)}
    cosine |= near_memories
    if model is not None and query is not None:
        missing = [item for item in best if item not in cosine]
        of_memories = [item for item in missing if item in memory_ids]
        of_messages = [item for item in missing if item not in memory_ids]
        cosine |= await vectors.compare_messages(connection, model, of_messages, query)
        cosine |= await vectors.compare_memories(connection, model, of_memories, query)
    kept = best | set(cosine)
    return Candidates(
        {item: keyword.get(item, 0.0) for item in kept},
        {item: surrounding.get(item, 0.0) for item in kept},
        cosine,
        memory_ids,
    )


def _best(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda item: (-scores[item], -item))[:ARM_LIMIT]


def _of_contexts(statistics: Statistics, around: LexemeCounts) -> Statistics:
    """The same frequencies; contexts are longer, so their length is compared among themselves."""
    lengths = [length for length, _ in around.values()]
    return replace(statistics, average_length=sum(lengths) / len(lengths) if lengths else 1.0)


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
