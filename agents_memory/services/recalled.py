"""What recall hands out: items loaded by rank, without repeats, cut to what a reader needs."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from agents_memory.domain.edges import Via
from agents_memory.domain.excerpt import excerpt
from agents_memory.domain.lexical import analyse
from agents_memory.domain.memories import MemoryView
from agents_memory.domain.messages import Trust
from agents_memory.domain.ranking import diversify, likeness
from agents_memory.domain.text import content_key
from agents_memory.storage import memories, messages, summaries
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import MessageView
from agents_memory.storage.summaries import SummaryView

MAX_ITEM_CHARS = 1_200
LOOKED_AT_ONCE = 20
# Of the summaries of sessions the best so many are considered, and with fewer places none is taken.
SESSIONS_LOOKED_AT = 10
SESSION_NEEDS = 3

# Of some memories those that are asked for.
Wanted = Callable[[Connection, Collection[int]], Awaitable[set[int]]]


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """One thing that was found.

    `score` is 0..1 within this answer; `similarity` is the calibrated likeness 0..1 or None. A
    summary names the `messages` it tells of, said from `said_at` to `until`: archived ones, or part
    of a `session`. `via`: it did not match by itself, and came along an edge. `told_for`: the
    memory for whose sake it was told.
    """

    id: int
    kind: str
    text: str
    truncated: bool
    said_at: datetime
    created_at: datetime
    trust: Trust
    pinned: bool
    tags: tuple[str, ...]
    project: str | None
    score: float
    similarity: float | None
    role: str | None = None
    platform: str | None = None
    model: str | None = None
    device: str | None = None
    venue: str | None = None
    subject: str | None = None
    version: int | None = None
    messages: tuple[int, ...] = ()
    until: datetime | None = None
    session: str | None = None
    via: Via | None = None
    told_for: int | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """Scores 0..1 of what matches, how it was searched, and raw likeness for the answer.

    `weak` counts what came near in meaning and not near enough; `via` says what came along an edge.
    `sessions` are scores of summaries of sessions, ranked apart, and `outdone` is the best that
    anything else would have among them. `private`: whoever asks may see what is private.
    """

    used: str
    scores: Mapping[int, float]
    memories: frozenset[int]
    similarity: Mapping[int, float]
    weak: int = 0
    summaries: frozenset[int] = frozenset()
    via: Mapping[int, Via] = field(default_factory=dict)
    sessions: Mapping[int, float] = field(default_factory=dict)
    outdone: float = 0.0
    private: bool = False


async def load_distinct(
    connection: Connection,
    ranked: Ranked,
    *,
    user_id: int,
    limit: int,
    terms: tuple[str, ...],
    wanted: Wanted | None = None,
) -> list[RecalledItem]:
    """By rank, up to `limit` items that don't repeat each other.

    `wanted` tells which memories may stand for the words that were told for them; None: no memory.
    """
    order = sorted(ranked.scores, key=lambda item: (-ranked.scores[item], -item))
    loaded: list[RecalledItem] = []
    distinct: list[RecalledItem] = []
    # Repeats take no slot, so it may need more rows than are asked for.
    for start in range(0, len(order), 2 * limit):
        page = order[start : start + 2 * limit]
        found = await load_items(connection, page, ranked, user_id, terms)
        loaded += await with_told_memories(connection, found, ranked, user_id, terms, wanted)
        distinct = without_repeats(loaded)
        if len(distinct) >= 2 * limit:
            break
    words = {item.id: analyse(item.text).terms.keys() for item in distinct}
    chosen = diversify(
        distinct,
        key=lambda item: content_key(item.text),
        similarity=lambda one, other: likeness(words[one.id], words[other.id]),
        limit=limit,
    )
    # Near-duplicates only fill what is left over; the order is that of the scores all the same.
    ordered = sorted(chosen, key=distinct.index)
    return await _with_sessions(connection, ranked, ordered, user_id, limit, terms)


async def _with_sessions(
    connection: Connection,
    ranked: Ranked,
    found: list[RecalledItem],
    user_id: int,
    limit: int,
    terms: tuple[str, ...],
) -> list[RecalledItem]:
    """What was found, and behind it summaries of sessions that say what nothing of it says.

    One fills a place that is left unless all its messages are there. Where none is left, the one
    that fits better than anything takes the last, unless a message of it is there: it is then found
    by what several messages say together, and none says alone.
    """
    order = sorted(ranked.sessions, key=lambda item: (-ranked.sessions[item], -item))
    if not order:
        return found
    shown, free = {item.id for item in found}, limit - len(found)
    at_most = found[-1].score if found else 1.0
    added: list[RecalledItem] = []
    for one in await summaries.list_summaries(connection, order[:SESSIONS_LOOKED_AT], user_id):
        item = _from_summary(one, ranked, terms)
        if free > len(added):
            if not shown.issuperset(item.messages):
                added.append(replace(item, score=min(item.score, at_most)))
        elif (
            free == 0
            and limit >= SESSION_NEEDS
            and ranked.sessions[one.id] > ranked.outdone
            and shown.isdisjoint(item.messages)
        ):
            return [*found[:-1], replace(item, score=min(item.score, at_most))]
    return [*found, *added]


async def top_similarity(
    connection: Connection, ranked: Ranked, shown: Sequence[RecalledItem], user_id: int
) -> float | None:
    """The best likeness of what may be shown; None when nothing was compared.

    What was told for the sake of a memory that was deleted is still among the candidates.
    """
    order = sorted(ranked.similarity, key=lambda item: (-ranked.similarity[item], -item))
    known = {item.id for item in shown}
    for start in range(0, len(order), LOOKED_AT_ONCE):
        page = order[start : start + LOOKED_AT_ONCE]
        if page[0] in known:
            return ranked.similarity[page[0]]
        for item in await load_items(connection, page, ranked, user_id, ()):
            return ranked.similarity[item.id]
    return None


async def with_told_memories(
    connection: Connection,
    items: list[RecalledItem],
    ranked: Ranked,
    user_id: int,
    terms: tuple[str, ...],
    wanted: Wanted | None,
) -> list[RecalledItem]:
    """The items, and behind words that were told for a memory the memory that says the same.

    It may not have been found itself: it is compared with its subject before it, and is of no role.
    """
    there = {item.id for item in items}
    told = {item.told_for for item in items if item.told_for is not None} - there
    if wanted is None or not told:
        return items
    kept = sorted(await wanted(connection, told))
    found = {
        memory.id: _from_memory(memory, ranked, terms)
        for memory in await memories.list_memories(
            connection, kept, user_id, grounded=True, private=ranked.private
        )
    }
    added: list[RecalledItem] = []
    for item in items:
        added.append(item)
        memory = None if item.told_for is None else found.get(item.told_for)
        if memory is not None and content_key(memory.text) == content_key(item.text):
            added.append(memory)
    return added


def without_repeats(items: list[RecalledItem]) -> list[RecalledItem]:
    """The first of each text; what is derived stands for the message whose words it repeats.

    It does so in the place of the message, and with its score where that is the better one.
    """
    kept: dict[str, RecalledItem] = {}
    for item in items:
        key = content_key(item.text)
        first = kept.setdefault(key, item)
        if first.role is not None and item.role is None:
            similarity = first.similarity if item.similarity is None else item.similarity
            score = max(first.score, item.score)
            kept[key] = replace(item, score=score, similarity=similarity, via=first.via)
    return list(kept.values())


async def load_items(
    connection: Connection,
    ids: list[int],
    ranked: Ranked,
    user_id: int,
    terms: tuple[str, ...],
) -> list[RecalledItem]:
    """The items in the order of `ids`; what is quarantined, unknown or private is left out."""
    of_memories = [item for item in ids if item in ranked.memories]
    of_summaries = [item for item in ids if item in ranked.summaries]
    of_messages = [item for item in ids if item not in ranked.memories | ranked.summaries]
    loaded: dict[int, RecalledItem] = {}
    if of_messages:
        for message in await messages.list_messages(
            connection, of_messages, user_id, private=ranked.private
        ):
            loaded[message.id] = _from_message(message, ranked, terms)
    if of_memories:
        for memory in await memories.list_memories(
            connection, of_memories, user_id, grounded=True, private=ranked.private
        ):
            loaded[memory.id] = _from_memory(memory, ranked, terms)
    if of_summaries:
        for summary in await summaries.list_summaries(connection, of_summaries, user_id):
            loaded[summary.id] = _from_summary(summary, ranked, terms)
    return [loaded[item] for item in ids if item in loaded]


def _from_message(message: MessageView, ranked: Ranked, terms: tuple[str, ...]) -> RecalledItem:
    text, truncated = excerpt(message.text, terms, MAX_ITEM_CHARS)
    return RecalledItem(
        id=message.id,
        kind="message",
        text=text,
        truncated=truncated,
        said_at=message.occurred_at or message.created_at,
        created_at=message.created_at,
        trust=message.trust,
        pinned=message.pinned,
        tags=message.tags,
        project=message.project,
        score=round(ranked.scores.get(message.id, 0.0), 4),
        similarity=_rounded(ranked.similarity.get(message.id)),
        role=message.role,
        platform=message.platform,
        model=message.model,
        device=message.device,
        venue=message.venue,
        told_for=message.told_for,
        via=ranked.via.get(message.id),
    )


def _from_memory(memory: MemoryView, ranked: Ranked, terms: tuple[str, ...]) -> RecalledItem:
    text, truncated = excerpt(memory.content, terms, MAX_ITEM_CHARS)
    return RecalledItem(
        id=memory.id,
        kind=memory.kind,
        text=text,
        truncated=truncated,
        said_at=memory.occurred_at or memory.created_at,
        created_at=memory.created_at,
        trust=memory.trust,
        pinned=memory.pinned,
        tags=memory.tags,
        project=memory.project,
        score=round(ranked.scores.get(memory.id, 0.0), 4),
        similarity=_rounded(ranked.similarity.get(memory.id)),
        platform=memory.platform,
        subject=memory.subject,
        version=memory.version,
        via=ranked.via.get(memory.id),
    )


def _from_summary(summary: SummaryView, ranked: Ranked, terms: tuple[str, ...]) -> RecalledItem:
    text, truncated = excerpt(summary.content, terms, MAX_ITEM_CHARS)
    return RecalledItem(
        id=summary.id,
        kind="summary",
        text=text,
        truncated=truncated,
        said_at=summary.began_at,
        created_at=summary.created_at,
        trust=summary.trust,
        pinned=False,
        tags=(),
        project=summary.project,
        score=round(ranked.scores.get(summary.id, ranked.sessions.get(summary.id, 0.0)), 4),
        similarity=_rounded(ranked.similarity.get(summary.id)),
        platform=summary.platform,
        session=summary.session,
        messages=summary.messages,
        until=summary.ended_at,
        via=ranked.via.get(summary.id),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
