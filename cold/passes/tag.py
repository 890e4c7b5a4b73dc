"""Tag: project, free tags, affect and importance of a message, by a model or by rules."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents_memory.domain.affect import Affect
from agents_memory.domain.messages import Role, Screening
from agents_memory.domain.tags import normalise_tag, project_from_directory
from agents_memory.embedding.protocol import Embedder, Vector
from agents_memory.services.key_phrases import key_phrases
from agents_memory.storage import filing, messages, tags, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.filing import UNFILED, Choice, Filing
from agents_memory.storage.messages import PassItem, Settled
from cold.guard import Done, ItemFault
from cold.lanes import Lanes
from cold.llm.blaming import Blaming, model_away
from cold.llm.port import Away, Failure, LanguageModel, Rules, Why
from cold.llm.port import Role as ModelRole
from cold.passes.affects import Affects, mean
from cold.passes.protocol import Together

MAX_D_TAGS = 5
MAX_CHOICES = 60
# Importance 1..10 before any model: who speaks, whether it names a subject, how much it moved.
# People decide more than assistants, assistants more than machines; the middle is left to feeling.
BASE_IMPORTANCE = {Role.USER: 4, Role.ASSISTANT: 3, Role.SYSTEM: 2, Role.TOOL: 1}
SUBJECT_IMPORTANCE = 1
INTENSITY_IMPORTANCE = 4
# So often a model may answer badly about one message; each is two tries of its own.
BAD_ANSWERS = 3
RULES = "rules"


@dataclass(frozen=True, slots=True)
class Taggable:
    """A message and the mean of its chunk vectors (length 1), None when it has none.

    `profile` names the embedding model of the vector; None is the first that this daemon has.
    `choices` are the projects a language model may choose from.
    """

    message: PassItem
    vector: Vector | None
    profile: str | None = None
    filing: Filing = UNFILED
    choices: tuple[Choice, ...] = ()

    @property
    def id(self) -> int:
        return self.message.id


@dataclass(frozen=True, slots=True)
class Tagged:
    """Where a message belongs; `affect` is None where rules have no vector to read it from.

    `unanswered` is why a model was asked in vain.
    """

    project: str | None
    d_tags: tuple[str, ...]
    affect: Affect | None
    importance: int
    backend: str = RULES
    unanswered: Why | None = None


Result = Tagged | Failure | None


class Tag(Together[Taggable, Result]):
    """Asks the model that serves the tagger; rules where there is none, or none that can say.

    While a model is set up and away, or hangs, what it can read waits, and is not filed by rules.
    What a model filed is never filed anew by rules. A private message is shown to no model. A model
    is asked about `at_once` messages side by side.
    """

    stage = "tag"
    backend = RULES
    version = 1
    next_stages: tuple[str, ...] = ("context",)

    def __init__(
        self,
        *embedders: Embedder,
        models: LanguageModel | None = None,
        bad_answers: int = BAD_ANSWERS,
        at_once: int = 1,
        affects: Affects | None = None,
    ) -> None:
        self._first = embedders[0].profile.id
        self._affects = affects or Affects(embedders)
        self._models = Blaming(models or Rules())
        self._bad_answers = bad_answers
        # Rules work in threads of this process, and gain nothing by it.
        self.lanes = Lanes(at_once) if self._models.serves(ModelRole.TAGGER) else None

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Taggable]:
        model = await vectors.find_active_model(connection)
        means: dict[int, Vector] = {}
        # Affect is read in the space of an embedder of ours; other vectors mean nothing there.
        if model is not None and self._affects.knows(model.profile):
            found = await vectors.list_message_chunks(connection, model, ids)
            means = {item: mean([c.vector for c in chunks]) for item, chunks in found.items()}
        choices: tuple[Choice, ...] = ()
        if self._models.serves(ModelRole.TAGGER):
            choices = await filing.list_choices(connection, MAX_CHOICES)
        filings = await filing.list_filings(connection, ids, self.version)
        profile = None if model is None else model.profile
        return [
            Taggable(item, means.get(item.id), profile, filings.get(item.id, UNFILED), choices)
            for item in await messages.list_for_pass(connection, ids)
        ]

    async def prepare(self, items: Sequence[Taggable]) -> list[Result]:
        """A Failure leaves the item waiting, None: a model filed it before."""
        answer = self.answering()
        return [await answer(item) for item in items]

    def answering(self) -> Callable[[Taggable], Awaitable[Result]]:
        """What answers one message after another; once the model is away, it is not asked again."""
        away: list[Away] = []

        async def answer(item: Taggable) -> Result:
            asks = self._asks(item)
            # What needs no model goes on without it.
            if away and asks:
                return away[0]
            result = await self._result(item)
            if isinstance(result, Away):
                away.append(result)
            if asks and self.lanes is not None:
                self.lanes.note(too_slow=_timed_out(result))
            return result

        return answer

    def _asks(self, item: Taggable) -> bool:
        readable = item.message.screening is Screening.CLEAR and not item.filing.private
        return readable and not item.filing.by_model and self._models.serves(ModelRole.TAGGER)

    async def _result(self, item: Taggable) -> Result:
        if item.filing.by_model:
            return None
        unanswered = None
        if self._asks(item):
            # Here, because it loads what a daemon without a model has no use for.
            from cold.passes.tag_by_model import file_by_model

            filed = await file_by_model(self._models, item)
            if isinstance(filed, Tagged | Away):
                return filed
            last = item.filing.attempts >= self._bad_answers
            if not last and filed.why is not Why.NOTHING_ASKED:
                return filed
            unanswered = filed.why
        if item.vector is not None:
            await self._affects.learn(item.profile or self._first)
        return await asyncio.to_thread(self._tag, item, unanswered)

    def _tag(self, item: Taggable, unanswered: Why | None) -> Tagged:
        message = item.message
        affect = None
        if item.vector is not None:
            affect = self._affects.read(item.profile or self._first, item.vector, message.text)
        d_tags = key_phrases(message.text, MAX_D_TAGS)
        return Tagged(
            project_of(message),
            d_tags,
            affect,
            importance(message.role, d_tags, affect),
            unanswered=unanswered,
        )

    async def settle_all(
        self, connection: Connection, worked: Sequence[tuple[Taggable, Result]]
    ) -> list[Done]:
        """Raises ModelAway, and ItemFault for an answer that cannot be used."""
        usable = ((item.id, _usable(result)) for item, result in worked)
        tagged = {item: result for item, result in usable if result is not None}
        for item, result in tagged.items():
            await self._write(connection, item, result)
        for model in await vectors.list_models(connection):
            await vectors.sync_all_message_vectors(connection, model, list(tagged))
        await messages.record_results(
            connection,
            [
                Settled(item, result.backend, self._detail(result))
                for item, result in tagged.items()
            ],
            stage=self.stage,
            version=self.version,
        )
        return [Done() for _ in worked]

    async def _write(self, connection: Connection, item: int, result: Tagged) -> None:
        p_tag = None
        if result.project is not None:
            p_tag = await tags.find_or_add_project(connection, result.project, "directory")
        await messages.settle_tags(
            connection,
            item,
            p_tag=p_tag,
            d_tags=result.d_tags,
            importance=result.importance,
            valence=None if result.affect is None else result.affect.valence,
            intensity=None if result.affect is None else result.affect.intensity,
        )

    def _detail(self, result: Tagged) -> dict[str, Any]:
        detail: dict[str, Any] = {
            "d_tags": len(result.d_tags),
            "affect": result.affect is not None,
        }
        if result.unanswered is not None:
            detail["unanswered"] = result.unanswered.value
            detail["asked"] = self._models.named(ModelRole.TAGGER)
        return detail


def _usable(result: Result) -> Tagged | None:
    """What can be written, None when a model did before; raises what `settle_all` does."""
    if isinstance(result, Away):
        raise model_away(result)
    if isinstance(result, Failure):
        raise ItemFault(f"the model's answer could not be used ({result.why}): {result.reason}")
    return result


def _timed_out(result: Result) -> bool:
    return isinstance(result, Failure) and result.why is Why.TIMED_OUT


def project_of(message: PassItem) -> str | None:
    """The project of a message: what its writer called it, else what its directory says.

    By the letters of the path alone, since it may be of another machine.
    """
    hint = None if message.project_hint is None else normalise_tag(message.project_hint)
    return hint or project_from_directory(message.cwd)


def importance(role: Role, d_tags: Sequence[str], affect: Affect | None) -> int:
    """1..10, but never above 9 without a model: the base of the role, a subject, the intensity."""
    felt = 0.0 if affect is None else affect.intensity
    subject = SUBJECT_IMPORTANCE if d_tags else 0
    return BASE_IMPORTANCE[role] + subject + round(INTENSITY_IMPORTANCE * felt)
