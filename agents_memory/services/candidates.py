"""What a query may find, with a score from each arm for every candidate."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from agents_memory.domain.filters import Filters
from agents_memory.domain.ranking import idf, saturation
from agents_memory.storage import lexemes, summaries, vectors, words
from agents_memory.storage.connections import Connection
from agents_memory.storage.lexemes import Frequency
from agents_memory.storage.vectors import Model, Vector
from agents_memory.storage.words import Choice, Held

# How many texts may be expected to hold the words that choose the candidates of a keyword arm, how
# many of these are scored, and how many of each arm are ranked. With these bounds a query of common
# words costs about the same as one of rare words (docs/decisions/0006).
MAX_HOLDING = 1_000
MAX_SCORED = 200
ARM_LIMIT = 100
# How many messages are looked for by their vector: under a filter, each costs the index several.
NEAREST = 60
# Where only some kinds or tags of what is found are kept.
MAX_SCORED_WIDE = 2_000
ARM_LIMIT_WIDE = 1_000
NEAREST_WIDE = 600

NEVER_COUNTED = Frequency(1, 1)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Scores by item id: `keyword` and `context` are BM25 (0 = no word in common), `cosine` is raw.

    What has no context (memories, summaries, and messages not yet settled) has its own words there.
    `memories` and `summaries` say which of the ids are such; the rest are messages. `sessions` are
    those of the summaries whose messages can be found beside them.
    """

    keyword: Mapping[int, float]
    context: Mapping[int, float]
    cosine: Mapping[int, float]
    memories: frozenset[int]
    summaries: frozenset[int]
    sessions: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of the whole pool: how many messages, their average length in words, and for
    each term in how many messages and around how many it occurs."""

    documents: int
    average_length: float
    own: Mapping[str, int]
    surrounding: Mapping[str, int]


async def load_statistics(connection: Connection, terms: Sequence[str]) -> Statistics:
    """Document frequencies as last counted; the totals as of now when they never were."""
    totals = await lexemes.find_totals(connection)
    documents, words = totals.documents, totals.words
    if documents == 0:
        documents, words = await lexemes.count_documents(connection)
    counted = await lexemes.list_counts(connection, terms)
    frequencies = {term: counted.get(term, NEVER_COUNTED) for term in terms}
    return Statistics(
        documents,
        words / documents if documents else 1.0,
        {term: frequency.documents for term, frequency in frequencies.items()},
        # What stands in a message stands in its context, however late that is counted.
        {
            term: max(frequency.contexts, frequency.documents)
            for term, frequency in frequencies.items()
        },
    )


def rarest(frequencies: Mapping[str, int], documents: int) -> Choice:
    """The terms that choose the candidates: the rarest, while they are expected to fit.

    At least one. Common words still count in the score of what the rare ones found.
    """
    chosen: list[str] = []
    expected = 0
    for term in sorted(frequencies, key=lambda term: frequencies[term]):
        if chosen and expected + frequencies[term] > MAX_HOLDING:
            break
        expected += frequencies[term]
        chosen.append(term)
    return Choice(chosen, expected, documents)


async def gather(
    connection: Connection,
    filters: Filters,
    terms: Sequence[str],
    model: Model | None,
    query: Vector | None,
    *,
    wide: bool = False,
) -> Candidates:
    """Candidates of all arms from messages, memories and summaries, each scored in every arm.

    `wide`: ten times as many, for whoever keeps only some of them.
    """
    arm_limit = ARM_LIMIT_WIDE if wide else ARM_LIMIT
    max_scored = MAX_SCORED_WIDE if wide else MAX_SCORED
    cosine: dict[int, float] = {}
    near_memories: dict[int, float] = {}
    near_summaries: dict[int, float] = {}
    if model is not None and query is not None:
        nearest = NEAREST_WIDE if wide else NEAREST
        cosine = await vectors.search_messages(connection, model, filters, query, nearest)
        if not filters.only_messages:
            near_memories, near_summaries = await vectors.search_derived(
                connection, model, filters, query, arm_limit
            )
    own_words: dict[int, float] = {}
    surrounding: dict[int, float] = {}
    of_sessions: dict[int, float] = {}
    memory_ids, summary_ids = frozenset(near_memories), frozenset(near_summaries)
    sessions = frozenset[int]()
    if terms:
        statistics = await load_statistics(connection, terms)
        chosen = rarest(statistics.own, statistics.documents)
        holding = await words.find_messages(
            connection,
            filters,
            terms,
            own=chosen,
            surrounding=rarest(statistics.surrounding, statistics.documents),
            limit=max_scored,
        )
        held, around = await words.count_in_messages(connection, holding | cosine.keys(), terms)
        if not filters.only_messages:
            told, summed = await words.find_derived(
                connection,
                filters,
                terms,
                own=chosen,
                also=near_memories.keys() | near_summaries.keys(),
                limit=max_scored,
            )
            memory_ids |= told.keys()
            summary_ids |= summed.keys()
            sessions = await summaries.list_of_sessions(connection, summary_ids)
            # They say again what their messages say, and must not change how these are ranked.
            again = {item: text for item, text in summed.items() if item in sessions}
            of_sessions = score(terms, again, statistics, statistics.average_length)
            held = {**held, **told, **_without(summed, sessions)}
        own_words = score(terms, held, statistics, statistics.average_length)
        # Contexts are longer, so their length is compared among themselves.
        average = sum(text.length for text in around.values()) / max(len(around), 1)
        surrounding = own_words | score(terms, around, statistics, average)
    else:
        sessions = await summaries.list_of_sessions(connection, summary_ids)
    best = {
        *_best(own_words, arm_limit),
        *_best(surrounding, arm_limit),
        *_best(of_sessions, arm_limit),
    }
    cosine |= near_memories | near_summaries
    if model is not None and query is not None:
        missing = [item for item in best if item not in cosine]
        cosine |= await vectors.compare(connection, model, missing, query)
    kept = best | set(cosine)
    own_words |= of_sessions
    surrounding |= of_sessions
    return Candidates(
        {item: own_words.get(item, 0.0) for item in kept},
        {item: surrounding.get(item, 0.0) for item in kept},
        cosine,
        memory_ids,
        summary_ids,
        sessions,
    )


def _without(texts: Mapping[int, Held], ids: Collection[int]) -> dict[int, Held]:
    return {item: text for item, text in texts.items() if item not in ids}


def _best(scores: Mapping[int, float], limit: int) -> list[int]:
    return nsmallest(limit, scores, key=lambda item: (-scores[item], -item))


def score(
    terms: Sequence[str], texts: Mapping[int, Held], statistics: Statistics, average_length: float
) -> dict[int, float]:
    """BM25 of every text that holds a term.

    A word tells as much around a message as in it: frequencies are those of messages (with those of
    contexts instead, recall@10 on LoCoMo fell from .708 to .700).
    """
    # The counted statistics may lag behind what was just inserted, so what is seen here counts too.
    seen = Counter(place for text in texts.values() for place in text.counts)
    documents = max(statistics.documents, len(texts), 1)
    weights = [
        idf(max(statistics.own[term], seen[place]), documents) for place, term in enumerate(terms)
    ]
    return {
        item: sum(
            weights[place] * saturation(count, text.length, average_length)
            for place, count in text.counts.items()
        )
        for item, text in texts.items()
    }
