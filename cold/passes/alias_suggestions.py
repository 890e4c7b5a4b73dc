"""Alias suggestions: tags that may name one project, compared by rules, judged by a model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations

import numpy as np

from agents_memory.clock import Clock
from agents_memory.domain.alias_scores import (
    AUTO_CONFIDENCE,
    PENDING_CONFIDENCE,
    Pair,
    Sign,
    Tag,
    compare,
)
from agents_memory.domain.alias_statements import Statement, statements_about
from agents_memory.domain.aliases import alias_problem
from agents_memory.observe import Action, get_logger
from agents_memory.storage import registry, suggestions, vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.registry import Change
from agents_memory.storage.suggestions import Status
from agents_memory.storage.vectors import Vector
from cold.fence import fenced
from cold.llm import pairing
from cold.llm.blaming import Blaming
from cold.llm.port import Away, Failure, LanguageModel, Role

log = get_logger()

MAX_TAGS = 120
MAX_PAIRS = 12
TOPICS = 30
VECTORS_OF_EACH = 200
# Two vectors differ from their mean in opposite ways, whatever they mean.
MIN_CENTROIDS = 3
STATEMENTS, STATEMENT_CHARS = 2000, 4000
STATED_WITHIN = timedelta(days=90)
# What a model found unlikely is asked again after so long, or when somebody states it.
UNLIKELY_FOR = timedelta(days=30)
# The least that is worth a question: a likeness of names where one is rare.
ASKED_FROM = 24
LOOK_EVERY_S = 600.0
DAEMON = "daemon"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How likely a pair is one project, and who says so."""

    confidence: float
    by: str


class AliasSuggestions:
    """Once in `interval_hours`, whoever leads. A direction that was rejected never comes back.

    Applied unasked only with `auto_apply`, and where the owner stated it and all else fits.
    """

    name = "alias_suggestions"

    def __init__(
        self,
        database: Database,
        models: LanguageModel,
        clock: Clock,
        *,
        interval_hours: int,
        auto_apply: bool,
    ) -> None:
        self._database = database
        self._models = Blaming(models)
        self._clock = clock
        self._interval = timedelta(hours=interval_hours)
        self._auto_apply = auto_apply
        self._look = 0.0

    async def run(self, epoch: int) -> None:
        if self._clock.monotonic() < self._look:
            return
        self._look = self._clock.monotonic() + LOOK_EVERY_S
        now = self._clock.now()
        since = now - self._interval
        if not await self._database.run(lambda c: suggestions.pairs_due(c, since, now)):
            return
        pairs = await self._pairs()
        made, whole = 0, True
        for pair in pairs[:MAX_PAIRS]:
            verdict = await self._judge(pair)
            if verdict is None:
                whole = False
                break
            async with fenced(self._database, epoch) as connection:
                made += await self._settle(connection, pair, verdict)
        if whole:
            async with fenced(self._database, epoch) as connection:
                await suggestions.note_pairs(connection, now)
        if made:
            log.info(Action.PASS_DONE, stage=self.name, items=made)

    async def _pairs(self) -> list[Pair]:
        """Pairs worth a look, the likeliest first."""
        now = self._clock.now()
        async with self._database.transaction() as connection:
            tags = await suggestions.list_candidates(connection, MAX_TAGS, TOPICS)
            texts = await suggestions.list_statements(
                connection, now - STATED_WITHIN, STATEMENTS, STATEMENT_CHARS
            )
            judged = await suggestions.list_judged_pairs(connection, now - UNLIKELY_FOR)
            centroids: dict[int, Vector] = {}
            if (model := await vectors.find_active_model(connection)) is not None:
                centroids = await suggestions.list_centroids(
                    connection, model, [tag.id for tag in tags], VECTORS_OF_EACH
                )
        return await asyncio.to_thread(compared, tags, texts, centroids, judged)

    async def _judge(self, pair: Pair) -> Verdict | None:
        """None when the model that would say is away."""
        if self._models.serves(Role.ALIAS):
            said = await self._models.complete(Role.ALIAS, pairing.question(pair), pairing.Judged)
            if not isinstance(said, Failure):
                return Verdict(said.value.likelihood, said.model)
            if isinstance(said, Away):
                return None
        return Verdict(pair.confidence, "rules")

    async def _settle(self, connection: Connection, pair: Pair, verdict: Verdict) -> bool:
        """Whether something is there for the user to see."""
        pending = verdict.confidence >= PENDING_CONFIDENCE
        if not pending and verdict.by == "rules":
            return False
        await registry.lock_registry(connection, self._database.schema)
        aliases = await registry.list_aliases(connection)
        tag, target = pair.tag.id, pair.target.id
        if tag in aliases or alias_problem(aliases, tag, target) is not None:
            return False
        made = await suggestions.suggest_alias(
            connection,
            tag,
            target,
            score=pair.score,
            confidence=verdict.confidence,
            reasons={
                "signs": {sign.value: value for sign, value in pair.signs.items()},
                "messages": list(pair.stated),
            },
            judged_by=verdict.by,
            status=Status.PENDING if pending else Status.UNLIKELY,
        )
        sure = pair.sure and verdict.confidence >= AUTO_CONFIDENCE
        if made is not None and sure and self._auto_apply:
            await suggestions.decide(connection, made, Status.CONFIRMED, DAEMON)
            await registry.write_alias(connection, tag, target)
            await registry.record_change(
                connection,
                Change.CONFIRM,
                actor=DAEMON,
                device=DAEMON,
                via=DAEMON,
                tag=tag,
                target=target,
                suggestion=made,
            )
        return made is not None and pending


def compared(
    tags: Sequence[Tag],
    texts: Sequence[tuple[int, str]],
    centroids: Mapping[int, Vector],
    judged: Mapping[tuple[int, int], Status],
) -> list[Pair]:
    """All pairs worth a question that nobody decided, the likeliest first.

    `texts` are what the owner said, the newest first; `judged` are pairs by direction.
    """
    said = _said(texts, frozenset(tag.name for tag in tags))
    distances = _distances(centroids)
    found = []
    for one, other in combinations(tags, 2):
        tag, target = _directed(one, other, said)
        statements = said.get(frozenset((one.name, other.name)), [])
        pair = compare(
            tag,
            target,
            distance=distances.get(frozenset((one.id, other.id))),
            stated=[message for message, each in statements if not each.denied],
            denied=[message for message, each in statements if each.denied],
        )
        if pair.score >= ASKED_FROM and not pair.denied and not _decided(pair, judged):
            found.append(pair)
    return sorted(found, key=lambda pair: (-pair.score, pair.tag.id, pair.target.id))


def _decided(pair: Pair, judged: Mapping[tuple[int, int], Status]) -> bool:
    there = judged.get((pair.tag.id, pair.target.id))
    back = judged.get((pair.target.id, pair.tag.id))
    if there is Status.REJECTED or {there, back} & {Status.PENDING, Status.CONFIRMED}:
        return True
    # The other way round, or again, only on somebody's word.
    return (there is not None or back is not None) and Sign.STATED not in pair.signs


def _said(
    texts: Sequence[tuple[int, str]], names: frozenset[str]
) -> dict[frozenset[str], list[tuple[int, Statement]]]:
    said: dict[frozenset[str], list[tuple[int, Statement]]] = {}
    for message, text in texts:
        for statement in statements_about(text, names):
            pair = frozenset((statement.tag, statement.target))
            said.setdefault(pair, []).append((message, statement))
    return said


def _directed(
    one: Tag, other: Tag, said: Mapping[frozenset[str], list[tuple[int, Statement]]]
) -> tuple[Tag, Tag]:
    """Which stands for which: as was said last, else the one with fewer messages for the other."""
    for _, statement in said.get(frozenset((one.name, other.name)), []):
        if not statement.denied:
            return (one, other) if statement.tag == one.name else (other, one)
    return (one, other) if (one.messages, -one.id) < (other.messages, -other.id) else (other, one)


def _distances(centroids: Mapping[int, Vector]) -> dict[frozenset[int], float]:
    """Cosine distances of projects, each seen from the middle of all.

    All that one person says is alike in many a model; what sets projects apart is what is left.
    """
    if len(centroids) < MIN_CENTROIDS:
        return {}
    ids = list(centroids)
    rows = np.stack([centroids[one] for one in ids])
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    rows = rows - rows.mean(axis=0)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    away = 1 - rows @ rows.T
    return {
        frozenset((ids[i], ids[j])): float(away[i, j]) for i, j in combinations(range(len(ids)), 2)
    }
