"""Recall: one pipeline for every tool that looks something up."""

import asyncio
from collections.abc import Set
from dataclasses import dataclass, replace

from agents_memory.domain.errors import EmbedderUnavailable, MemoryFault
from agents_memory.domain.fencing import strip_fenced
from agents_memory.domain.filters import Filters
from agents_memory.domain.lexical import query_terms
from agents_memory.domain.ranking import LOWEST_SCORE, fuse_min_max, fuse_ranks, pack
from agents_memory.domain.text import has_word, is_blank, repair
from agents_memory.domain.tokens import estimate_tokens, shorten
from agents_memory.domain.viewer import Viewer
from agents_memory.embedding.choice import Choice, fitting
from agents_memory.embedding.chunking import beginning
from agents_memory.embedding.naming import setting_for
from agents_memory.embedding.profiles import Calibration
from agents_memory.embedding.protocol import Embedder
from agents_memory.observe import Action, get_logger
from agents_memory.services import candidates, unasked
from agents_memory.services.candidates import Candidates
from agents_memory.services.embedding_models import calibration_of
from agents_memory.services.expanding import expand
from agents_memory.services.mood import Moods
from agents_memory.services.narrowing import EVERYTHING, Narrow, narrow_candidates, narrow_ranked
from agents_memory.services.prior import Leaning, recent_leaning, weigh
from agents_memory.services.recalled import Ranked, RecalledItem, load_distinct, top_similarity
from agents_memory.storage import messages, tags, traces, use, vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.traces import TraceKind
from agents_memory.storage.vectors import Model, Vector

MAX_QUERY_CHARS = 2_000
# What more of a query means costs seconds where it has no blanks, and the next ones wait for it.
MAX_EMBEDDED_TOKENS = 128
# What stands around a message tells more than its own few words alone (docs/decisions/0006).
WEIGHTS = {"keyword": 0.25, "context": 0.35, "vector": 0.4}

log = get_logger()


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to look for. `limit` items at most, of `max_tokens` together (estimated).

    `viewer` is who is shown them.

    `project` is a tag's name; it and its aliases take the place of the projects in `filters`.
    `mood` is a number −1..1 or words; without one, `mood_of` may name the platform whose newest
    messages tell it to a query. `opening`: without a query, what is pinned or promised and not what
    is newest, whatever the filters. `narrow` keeps some kinds and tags; `expand` follows edges from
    the best results, where the filters ask for nothing that neighbours may not have.
    """

    query: str | None
    filters: Filters
    limit: int = 10
    max_tokens: int = 2_000
    viewer: Viewer | None = None
    project: str | None = None
    mood: float | str | None = None
    mood_of: str | None = None
    opening: bool = False
    narrow: Narrow = EVERYTHING
    expand: bool = False

    @property
    def expands(self) -> bool:
        """Whether neighbours of what is found may stand beside it."""
        plain = Filters(self.filters.user_id, include_archived=self.filters.include_archived)
        return self.expand and self.filters == plain


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """What was found, and how.

    `used` is hybrid, keyword, recency or none; `degraded` says why an arm is missing; `left_out`
    counts what would have fitted the query and not the budget, `left_out_ids` says which. `mood` is
    the valence −1..1 that the answer leans towards, `mood_derived` when nobody told it.
    """

    used: str
    items: tuple[RecalledItem, ...]
    degraded: str | None = None
    threshold: float | None = None
    top_similarity: float | None = None
    left_out: int = 0
    note: str | None = None
    left_out_ids: tuple[int, ...] = ()
    mood: float | None = None
    mood_derived: bool = False


class Recall:
    """Finds what fits a query, or what is newest."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder | None,
        *,
        threshold: float = 0.3,
        fusion: str = "scores",
        embed_deadline_s: float = 1.5,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._threshold = threshold
        self._fusion = fusion
        self._deadline = embed_deadline_s
        self._moods = Moods()
        self._exposures: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Waits for exposure that is still being written."""
        await self._moods.close()
        await asyncio.gather(*self._exposures, return_exceptions=True)

    async def search(self, request: RecallRequest) -> RecallAnswer:
        """Answers any query string; raises DatabaseUnavailable when the pool cannot be asked."""
        request, unknown = await self._with_project(request)
        if unknown is not None:
            return RecallAnswer("none", (), note=unknown)
        query = clean_query(request.query)
        if query is None:
            answer = await self._unasked(request)
        else:
            answer = await self._matching(request, query)
        self._expose([item.id for item in answer.items], request)
        return answer

    async def _with_project(self, request: RecallRequest) -> tuple[RecallRequest, str | None]:
        name = request.project
        if name is None:
            return request, None
        found = await self._database.run(lambda c: tags.resolve_projects(c, name))
        if not found:
            return request, (
                "no project of this name is known (yet: a new one is within seconds of its first "
                "message); leave out the project (p_tag, --project) to see which are"
            )
        return replace(request, filters=request.filters._replace(projects=found)), None

    async def _unasked(self, request: RecallRequest) -> RecallAnswer:
        leaning, unread = await self._mood(request, await self._chosen() if request.mood else None)
        filters, narrow, limit = request.filters, request.narrow, request.limit

        async def load(connection: Connection) -> list[RecalledItem]:
            if request.opening:
                return await unasked.load_opening(connection, filters, limit, leaning)
            if leaning is not None:
                return await unasked.load_alike(connection, filters, narrow, limit, leaning)
            return await unasked.load_newest(connection, filters, narrow, limit)

        items = await self._database.run(load)
        kept, left_out = _packed(items, request)
        return RecallAnswer(
            "recency" if kept else "none",
            kept,
            left_out=len(left_out),
            note=unread,
            left_out_ids=left_out,
            mood=None if leaning is None else round(leaning.valence, 3),
        )

    async def _matching(self, request: RecallRequest, query: str) -> RecallAnswer:
        terms = query_terms(query)
        embedder = await self._chosen()
        vector, degraded = await self._embed(embedder, query) if has_word(query) else (None, None)
        told, unread = await self._mood(request, embedder)

        async def find(
            connection: Connection,
        ) -> tuple[Ranked, list[RecalledItem], float | None, str | None, Leaning | None]:
            model = await vectors.find_active_model(connection)
            reason = degraded or _mismatch(model, embedder)
            usable = None if reason else vector
            found = await candidates.gather(
                connection,
                request.filters,
                terms,
                model if usable is not None else None,
                usable,
                wide=bool(request.narrow),
            )
            if (
                usable is not None
                and not found.cosine
                and await messages.list_recent(connection, request.filters, 1)
            ):
                reason = "nothing that the filters leave is embedded yet; searched by keyword"
            if request.narrow:
                found = await narrow_candidates(connection, found, request.narrow)
            calibration = None if embedder is None else calibration_of(model, embedder.profile)
            leaning = told
            if request.mood is None and request.mood_of is not None:
                leaning = await recent_leaning(connection, request.filters.user_id, request.mood_of)
            # Where no messages are asked for, there are none that they could push out.
            apart = found.sessions if request.narrow.takes_messages else frozenset()
            ranked = self._rank(found, calibration, apart)
            ranked = replace(ranked, private=request.filters.include_private)
            ranked = await weigh(connection, ranked, leaning)
            if request.expands:
                ranked = await expand(
                    connection,
                    ranked,
                    request.filters.user_id,
                    include_archived=request.filters.shows_archived,
                )
                ranked = await narrow_ranked(connection, ranked, request.narrow)
            items = await load_distinct(
                connection,
                ranked,
                user_id=request.filters.user_id,
                limit=request.limit,
                terms=terms,
                wanted=None if request.filters.only_messages else request.narrow.keep,
            )
            top = await top_similarity(connection, ranked, items, request.filters.user_id)
            return ranked, items, top, reason, leaning

        ranked, items, top, reason, leaning = await self._database.run(find)
        kept, left_out = _packed(items, request)
        note = unread
        if ranked.weak and not kept:
            note = (
                f"{ranked.weak} items came near in meaning, none near enough and none with a word "
                "in common; ask in other words, or lower SEARCH_FALLBACK_THRESHOLD"
            )
        elif not kept and not has_word(query):
            note = "the query has no word, and nothing stored has its signs; ask in words"
        return RecallAnswer(
            used=ranked.used if kept else "none",
            items=kept,
            degraded=reason,
            threshold=self._threshold if top is not None and top < self._threshold else None,
            top_similarity=None if top is None else round(top, 3),
            left_out=len(left_out),
            note=note,
            left_out_ids=left_out,
            mood=None if leaning is None else round(leaning.valence, 3),
            mood_derived=leaning is not None and told is None,
        )

    async def _mood(
        self, request: RecallRequest, embedder: Embedder | None
    ) -> tuple[Leaning | None, str | None]:
        """What the told mood leans towards, or why it was left out."""
        if request.mood is None:
            return None, None
        read = await self._moods.valence(request.mood, embedder)
        return (None, read) if isinstance(read, str) else (Leaning(read), None)

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
            text = beginning(query, MAX_EMBEDDED_TOKENS)
            return await asyncio.wait_for(embedder.embed_query(text), self._deadline), None
        except TimeoutError:
            return None, "the embedding model is still busy; searched by keyword"
        except EmbedderUnavailable as fault:
            return None, f"{fault}; searched by keyword"

    def _rank(
        self, found: Candidates, calibrate: Calibration | None, apart: frozenset[int]
    ) -> Ranked:
        similarity: dict[int, float] = {}
        if calibrate is not None:
            similarity = {item: calibrate(cosine) for item, cosine in found.cosine.items()}
        worded = {
            item
            for item in found.keyword
            if found.keyword[item] > 0 or found.context.get(item, 0.0) > 0
        }
        known = {item: value for item, value in similarity.items() if item not in apart}
        if max(known.values(), default=0.0) < self._threshold:
            # The vectors know nothing like it: words alone decide.
            matching, used, weak = worded, "keyword", len(known)
        else:
            # Every candidate is scored in every arm. What has no word in common and is not near
            # enough is no match, however few others there are.
            near = {item for item, value in similarity.items() if value >= self._threshold}
            matching, used, weak = worded | near, "hybrid", 0
        scores = _fused(found, matching - apart, used, self._fusion)
        together = _fused(found, matching, used, self._fusion) if matching & apart else {}
        return Ranked(
            used,
            scores,
            found.memories,
            known,
            weak=weak,
            summaries=found.summaries,
            sessions={item: score for item, score in together.items() if item in apart},
            outdone=max((together[item] for item in scores if item in together), default=0.0),
        )

    def _expose(self, ids: list[int], request: RecallRequest) -> None:
        if not ids:
            return
        task = asyncio.create_task(self._log_exposure(ids, request), name="exposure")
        self._exposures.add(task)
        task.add_done_callback(self._exposures.discard)

    async def _log_exposure(self, ids: list[int], request: RecallRequest) -> None:
        viewer = request.viewer
        try:
            async with self._database.acquire() as connection:
                session = None if viewer is None else viewer.session
                await traces.insert_traces(connection, ids, TraceKind.SURFACED, session)
                if viewer is not None:
                    await use.record_recall(connection, ids, request.filters.user_id, viewer)
        except MemoryFault as fault:
            # A recall is never failed by its own bookkeeping.
            log.warning(Action.RECALL_UNLOGGED, error=fault)


def _fused(found: Candidates, matching: Set[int], used: str, fusion: str) -> dict[int, float]:
    arms = {
        "keyword": {item: found.keyword.get(item, 0.0) for item in matching},
        "context": {item: found.context.get(item, 0.0) for item in matching},
    }
    if used == "hybrid":
        arms["vector"] = {item: found.cosine.get(item, 0.0) for item in matching}
    fused = fuse_ranks(arms) if fusion == "ranks" else fuse_min_max(arms, WEIGHTS)
    return {item: LOWEST_SCORE + (1.0 - LOWEST_SCORE) * score for item, score in fused.items()}


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
) -> tuple[tuple[RecalledItem, ...], tuple[int, ...]]:
    packed = pack(items, request.max_tokens, cost=_cost, shorten=_shortened)
    return packed.kept, tuple(item.id for item in packed.left_out)


def _cost(item: RecalledItem) -> int:
    return estimate_tokens(item.text)


def _shortened(item: RecalledItem, max_tokens: int) -> RecalledItem:
    return replace(item, text=shorten(item.text, max_tokens), truncated=True)
