"""Recall: one pipeline for every tool that looks something up."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from agents_memory.domain.errors import EmbedderUnavailable, MemoryFault
from agents_memory.domain.excerpt import excerpt
from agents_memory.domain.fencing import strip_fenced
from agents_memory.domain.filters import Filters
from agents_memory.domain.lexical import analyse, query_terms
from agents_memory.domain.memories import MemoryView
from agents_memory.domain.messages import Trust
from agents_memory.domain.ranking import diversify, fuse_min_max, likeness, pack
from agents_memory.domain.text import content_key, is_blank, repair, truncate
from agents_memory.domain.tokens import estimate_tokens
from agents_memory.embedding.choice import Choice, fitting
from agents_memory.embedding.naming import setting_for
from agents_memory.embedding.profiles import Calibration
from agents_memory.embedding.protocol import Embedder
from agents_memory.observe import Action, get_logger
from agents_memory.services import candidates
from agents_memory.services.candidates import Candidates
from agents_memory.services.embedding_models import calibration_of
from agents_memory.storage import memories, messages, tags, traces, vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.messages import MessageView
from agents_memory.storage.traces import TraceKind
from agents_memory.storage.vectors import Model, Vector

MAX_QUERY_CHARS = 2_000
MAX_ITEM_CHARS = 1_200
# What stands around a message tells more than its own few words alone (docs/decisions/0006).
WEIGHTS = {"keyword": 0.25, "context": 0.35, "vector": 0.4}

log = get_logger()


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to look for. `limit` items at most, of `max_tokens` together (estimated)."""

    query: str | None
    filters: Filters
    limit: int = 10
    max_tokens: int = 2_000
    session: str | None = None


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """One thing that was found.

    `score` is 0..1 within this answer; `similarity` is the calibrated likeness 0..1 or None.
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


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """What was found, and how.

    `used` is hybrid, keyword, recency or none; `degraded` says why an arm is missing; `left_out`
    counts what would have fitted the query and not the budget.
    """

    used: str
    items: tuple[RecalledItem, ...]
    degraded: str | None = None
    threshold: float | None = None
    top_similarity: float | None = None
    left_out: int = 0
    note: str | None = None


@dataclass(frozen=True, slots=True)
class _Ranked:
    used: str
    scores: Mapping[int, float]
    memories: frozenset[int]
    similarity: Mapping[int, float]
    weak: int = 0


class Recall:
    """Finds what fits a query, or what is newest."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder | None,
        *,
        threshold: float = 0.3,
        embed_deadline_s: float = 1.5,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._threshold = threshold
        self._deadline = embed_deadline_s
        self._exposures: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Waits for exposure that is still being written."""
        await asyncio.gather(*self._exposures, return_exceptions=True)

    async def search(self, request: RecallRequest) -> RecallAnswer:
        """Answers any query string; raises DatabaseUnavailable when the pool cannot be asked."""
        request, unknown = await self._with_aliases(request)
        if unknown is not None:
            return RecallAnswer("none", (), note=unknown)
        query = clean_query(request.query)
        if query is None:
            answer = await self._newest(request)
        else:
            answer = await self._matching(request, query)
        self._expose([item.id for item in answer.items], request.session)
        return answer

    async def _with_aliases(self, request: RecallRequest) -> tuple[RecallRequest, str | None]:
        asked = request.filters.projects
        if asked is None:
            return request, None

        async def resolve(connection: Connection) -> list[str]:
            return [name for tag in asked for name in await tags.resolve_projects(connection, tag)]

        names = await self._database.run(resolve)
        if not names:
            return request, (
                f"no project is called {', '.join(asked)}; search without p_tag to see which are"
            )
        return replace(request, filters=replace(request.filters, projects=tuple(names))), None

    async def _newest(self, request: RecallRequest) -> RecallAnswer:
        wanted = request.limit

        async def load(connection: Connection) -> list[RecalledItem]:
            message_ids = await messages.list_recent(connection, request.filters, wanted)
            memory_ids: list[int] = []
            if not request.filters.only_messages:
                memory_ids = await memories.list_recent(connection, request.filters, wanted)
            ranked = _Ranked("recency", {}, frozenset(memory_ids), {})
            return await _load(
                connection, [*message_ids, *memory_ids], ranked, request.filters.user_id, ()
            )

        found = await self._database.run(load)
        found.sort(key=lambda item: (item.said_at, item.id), reverse=True)
        kept, left_out = _packed(found[:wanted], request)
        return RecallAnswer("recency" if kept else "none", kept, left_out=left_out)

    async def _matching(self, request: RecallRequest, query: str) -> RecallAnswer:
        terms = query_terms(query)
        embedder = await self._chosen()
        vector, degraded = await self._embed(embedder, query)

        async def find(
            connection: Connection,
        ) -> tuple[_Ranked, list[RecalledItem], str | None]:
            model = await vectors.find_active_model(connection)
            reason = degraded or _mismatch(model, embedder)
            usable = None if reason else vector
            found = await candidates.gather(
                connection, request.filters, terms, model if usable is not None else None, usable
            )
            calibration = None if embedder is None else calibration_of(model, embedder.profile)
            ranked = self._rank(found, calibration)
            return ranked, await _load_distinct(connection, ranked, request, terms), reason

        ranked, items, reason = await self._database.run(find)
        kept, left_out = _packed(items, request)
        top = max(ranked.similarity.values(), default=None)
        note = None
        if ranked.weak and not kept:
            note = (
                f"{ranked.weak} items came near in meaning, none near enough and none with a word "
                "in common; ask in other words, or lower SEARCH_FALLBACK_THRESHOLD"
            )
        return RecallAnswer(
            used=ranked.used if kept else "none",
            items=kept,
            degraded=reason,
            threshold=self._threshold if top is not None and top < self._threshold else None,
            top_similarity=None if top is None else round(top, 3),
            left_out=left_out,
            note=note,
        )

    async def _chosen(self) -> Embedder | None:
        """The embedder of the pool's active model, where this machine has several."""
        if not isinstance(self._embedder, Choice):
            return self._embedder
        model = await self._database.run(vectors.find_active_model)
        return fitting(self._embedder, None if model is None else model.profile)

    async def _embed(
        self, embedder: Embedder | None, query: str
    ) -> tuple[Vector | None, str | None]:
        if embedder is None:
            return None, "no embedding model is set up on this machine; searched by keyword"
        try:
            return await asyncio.wait_for(embedder.embed_query(query), self._deadline), None
        except TimeoutError:
            return None, "the embedding model is still busy; searched by keyword"
        except EmbedderUnavailable as fault:
            return None, f"{fault}; searched by keyword"

    def _rank(self, found: Candidates, calibrate: Calibration | None) -> _Ranked:
        similarity: dict[int, float] = {}
        if calibrate is not None:
            similarity = {item: calibrate(cosine) for item, cosine in found.cosine.items()}
        worded = {
            item
            for item in found.keyword
            if found.keyword[item] > 0 or found.context.get(item, 0.0) > 0
        }
        words = {
            "keyword": {item: found.keyword[item] for item in worded},
            "context": {item: found.context.get(item, 0.0) for item in worded},
        }
        if max(similarity.values(), default=0.0) < self._threshold:
            # The vectors know nothing like it: words alone decide.
            return _Ranked(
                "keyword",
                fuse_min_max(words, WEIGHTS),
                found.memories,
                similarity,
                weak=len(similarity),
            )
        # Every candidate is scored in every arm. What has no word in common and is not near enough
        # is no match, however few others there are.
        near = {item for item, value in similarity.items() if value >= self._threshold}
        matching = worded | near
        arms = {
            "keyword": {item: found.keyword.get(item, 0.0) for item in matching},
            "context": {item: found.context.get(item, 0.0) for item in matching},
            "vector": {item: found.cosine.get(item, 0.0) for item in matching},
        }
        return _Ranked("hybrid", fuse_min_max(arms, WEIGHTS), found.memories, similarity)

    def _expose(self, ids: list[int], session: str | None) -> None:
        if not ids:
            return
        task = asyncio.create_task(self._log_exposure(ids, session), name="exposure")
        self._exposures.add(task)
        task.add_done_callback(self._exposures.discard)

    async def _log_exposure(self, ids: list[int], session: str | None) -> None:
        try:
            async with self._database.acquire() as connection:
                await traces.insert_traces(connection, ids, TraceKind.SURFACED, session)
        except MemoryFault as fault:
            # A recall is never failed by its own bookkeeping.
            log.warning(Action.RECALL_UNLOGGED, error=fault)


def _mismatch(model: Model | None, embedder: Embedder | None) -> str | None:
    if model is None:
        return "the pool has no active embedding model yet; searched by keyword"
    if embedder is not None and embedder.profile.id != model.profile:
        return (
            f"the pool uses the embedding model {model.profile}, which this machine has not set "
            f"up (EMBEDDING_MODEL={setting_for(model.profile)}); searched by keyword"
        )
    return None


def clean_query(query: str | None) -> str | None:
    """The query without what we injected ourselves, bounded; None when nothing is left."""
    if query is None:
        return None
    text = strip_fenced(repair(query).text).strip()[:MAX_QUERY_CHARS]
    return None if is_blank(text) else text


def _packed(
    items: list[RecalledItem], request: RecallRequest
) -> tuple[tuple[RecalledItem, ...], int]:
    packed = pack(items, request.max_tokens, cost=_cost, shorten=_shortened)
    return packed.kept, len(packed.left_out)


def _cost(item: RecalledItem) -> int:
    return estimate_tokens(item.text)


def _shortened(item: RecalledItem, max_tokens: int) -> RecalledItem:
    room = len(item.text) * max_tokens // max(_cost(item), 1)
    return replace(item, text=truncate(item.text, room), truncated=True)


async def _load_distinct(
    connection: Connection, ranked: _Ranked, request: RecallRequest, terms: tuple[str, ...]
) -> list[RecalledItem]:
    """By rank, as many items as are asked for that don't repeat each other."""
    order = sorted(ranked.scores, key=lambda item: (-ranked.scores[item], -item))
    loaded: list[RecalledItem] = []
    distinct: list[RecalledItem] = []
    # Near-duplicates take no slot, so it may need more rows than are asked for.
    # Repeats take no slot, so it may need more rows than are asked for.
    for start in range(0, len(order), 2 * request.limit):
        page = order[start : start + 2 * request.limit]
        loaded += await _load(connection, page, ranked, request.filters.user_id, terms)
        distinct = _without_repeats(loaded)
        if len(distinct) >= 2 * request.limit:
            break
    words = {item.id: analyse(item.text).terms.keys() for item in distinct}
    return diversify(
        distinct,
        key=lambda item: content_key(item.text),
        similarity=lambda one, other: likeness(words[one.id], words[other.id]),
        limit=request.limit,
    )


def _without_repeats(items: list[RecalledItem]) -> list[RecalledItem]:
    """The first of each text; a memory stands for the message whose words it repeats."""
    kept: dict[str, RecalledItem] = {}
    for item in items:
        key = content_key(item.text)
        if key not in kept or (kept[key].role is not None and item.role is None):
            kept[key] = item
    return list(kept.values())


async def _load(
    connection: Connection,
    ids: list[int],
    ranked: _Ranked,
    user_id: int,
    terms: tuple[str, ...],
) -> list[RecalledItem]:
    of_memories = [item for item in ids if item in ranked.memories]
    of_messages = [item for item in ids if item not in ranked.memories]
    loaded: dict[int, RecalledItem] = {}
    for message in await messages.list_messages(connection, of_messages, user_id):
        loaded[message.id] = _from_message(message, ranked, terms)
    for memory in await memories.list_memories(connection, of_memories, user_id):
        loaded[memory.id] = _from_memory(memory, ranked, terms)
    return [loaded[item] for item in ids if item in loaded]


def _from_message(message: MessageView, ranked: _Ranked, terms: tuple[str, ...]) -> RecalledItem:
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
    )


def _from_memory(memory: MemoryView, ranked: _Ranked, terms: tuple[str, ...]) -> RecalledItem:
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
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
