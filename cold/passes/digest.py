"""Digest: a long text that an agent handed over becomes a few memories that rest on it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from agents_memory.domain.digesting import READ_CHARS, fragments, key_units
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.joining import Unit, joined
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Screening
from agents_memory.domain.patches import Add, PatchRequest
from agents_memory.domain.screening import screen
from agents_memory.domain.tombstones import has_gap
from agents_memory.services.adding import Adding
from agents_memory.services.digesting import ACTOR, KIND, Wanted
from agents_memory.services.made_tags import made_tags
from agents_memory.storage import filing, jobs, messages
from agents_memory.storage.connections import Connection
from agents_memory.storage.jobs import Job
from agents_memory.storage.messages import PassItem
from cold.guard import Done
from cold.llm.blaming import model_away
from cold.llm.port import Away, LanguageModel, Role, Rules

if TYPE_CHECKING:
    from cold.llm.verifying import Verifying

RULES = "rules"
REASON = "asked to digest a text"


@dataclass(frozen=True, slots=True)
class Digestible:
    """A job and the text it is about; None when that is not there.

    `private`: no model may be shown it.
    """

    job: Job
    wanted: Wanted
    message: PassItem | None
    private: bool = False

    @property
    def id(self) -> int:
        return self.job.id


@dataclass(frozen=True, slots=True)
class Statement:
    """One memory to be; `importance` 1..10."""

    content: str
    kind: Kind = Kind.NOTE
    importance: int = 5


@dataclass(frozen=True, slots=True)
class Digested:
    """What a text says in a few statements.

    `found` are the statements it holds, `seen` those of them that were looked at, from its
    beginning. `unanswered`: why a model was asked in vain.
    """

    statements: tuple[Statement, ...]
    backend: str
    found: int
    seen: int
    unanswered: str | None = None


Result = Digested | Refusal | Away


class Digest:
    """Asks the model that serves the role extract; rules where there is none, or none that can say.

    While a model is set up and away, or hangs, also the one that verifies, the job waits. Somebody
    may wait for the answer, so what a model says badly is not asked again: rules say it. A private
    text is shown to no model.
    """

    stage = KIND
    backend = RULES
    version = 1
    next_stages: tuple[str, ...] = ()

    def __init__(self, adding: Adding, models: LanguageModel | None = None) -> None:
        self._adding = adding
        self._models = models or Rules()
        self._asking: Verifying | None = None

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Digestible]:
        waiting = await jobs.list_unsettled(connection, ids, self.stage)
        wanted = {job.id: Wanted.read(job.request) for job in waiting}
        about = [each.message_id for each in wanted.values()]
        texts = {one.id: one for one in await messages.list_for_pass(connection, about)}
        filings = await filing.list_filings(connection, about, 1)
        return [
            Digestible(
                job,
                wanted[job.id],
                texts.get(number),
                number in filings and filings[number].private,
            )
            for job in waiting
            for number in [wanted[job.id].message_id]
        ]

    async def prepare(self, items: Sequence[Digestible]) -> list[Result]:
        return [await self._digest(item) for item in items]

    async def _digest(self, item: Digestible) -> Result:
        message = item.message
        if message is None:
            return Refusal(Code.UNKNOWN_ITEM, "the text is not there any more; hand it over again")
        if not await asyncio.to_thread(_usable, message):
            return Refusal(
                Code.UNSAFE_CONTENT,
                "the text was held back, as it reads like orders planted for whoever reads it; "
                "state what you want remembered in your own words with `remember`",
                {"message_id": message.id},
            )
        found = await asyncio.to_thread(_whole_units, message.text)
        if not found:
            return Refusal(
                Code.INVALID_INPUT,
                "the text says nothing that could be remembered; hand over sentences or a list",
                {"message_id": message.id},
            )
        unanswered = None
        if len(found) > 1 and not item.private and self._models.serves(Role.EXTRACT):
            # Here, because it loads what a daemon without a model has no use for.
            from cold.llm.verifying import Verifying
            from cold.passes.digest_by_model import digest

            # For all jobs, as what waits for the verifier is kept there.
            self._asking = self._asking or Verifying(self._models)
            said = await digest(self._asking, found, item.job.created_at)
            if isinstance(said, Digested | Away):
                return said
            unanswered = said.why.value
        return await asyncio.to_thread(by_rules, found, unanswered)

    async def settle(self, connection: Connection, item: Digestible, result: Result) -> Done:
        """Raises ModelAway."""
        if isinstance(result, Away):
            raise model_away(result)
        if isinstance(result, Digested):
            outcome = await self._remember(connection, item, result)
        else:
            outcome = {"refusal": _told(result)}
        await jobs.settle_job(connection, item.id, outcome)
        return Done()

    async def _remember(
        self, connection: Connection, item: Digestible, result: Digested
    ) -> dict[str, Any]:
        assert item.message is not None, "it was digested"
        made: dict[int, dict[str, Any]] = {}
        refused: list[Refusal] = []
        for statement in result.statements:
            add = _add(item.wanted, statement)
            done = await self._adding.add_within(
                connection, _request(item, add), add, item.message.trust
            )
            if isinstance(done, Refusal):
                refused.append(done)
                continue
            first, last = done.changes[0], done.changes[-1]
            # Two statements of one text may come to the same memory.
            made[last.item_id] = {
                "id": last.item_id,
                "version": last.version,
                "outcome": made.get(last.item_id, {}).get("outcome", first.operation),
                "patch_id": done.patch_id,
            }
        return {
            "message_id": item.message.id,
            "memories": list(made.values()),
            "refused": len(refused),
            # Of statements that were not remembered, beside others that were.
            "refusal": _told(refused[0]) if refused else None,
            "backend": result.backend,
            "unanswered": result.unanswered,
            "affect": "given" if item.wanted.tells_affect else "estimated",
            "statements": result.found,
            "statements_seen": result.seen,
            "left_out_chars": max(0, len(item.message.text) - READ_CHARS),
        }


def _told(refusal: Refusal) -> dict[str, Any]:
    return {"code": refusal.code.value, "message": refusal.message}


def by_rules(found: Sequence[Unit], unanswered: str | None = None) -> Digested:
    """The few statements of a text that say most, in its own words."""
    chosen = [Statement(unit.statement) for unit in key_units(found)]
    return Digested(tuple(chosen), RULES, len(found), len(found), unanswered)


def _usable(message: PassItem) -> bool:
    """Whether the text may feed anything, by the screen pass or as that would find it."""
    if message.screening is Screening.UNSCREENED:
        return screen(message.text, message.trust).screening is Screening.CLEAR
    return message.screening is Screening.CLEAR


def _whole_units(text: str) -> list[Unit]:
    """What something was taken out of says too little to be believed, and joins nothing."""
    whole = groupby(fragments(text), key=lambda unit: not has_gap(unit.statement))
    return [unit for is_whole, found in whole if is_whole for unit in joined(list(found))]


def _add(wanted: Wanted, statement: Statement) -> Add:
    return Add(
        wanted.subject,
        statement.content,
        statement.kind,
        importance=wanted.importance or statement.importance,
        valence=wanted.valence,
        intensity=wanted.intensity,
        tags=wanted.tags or made_tags(statement.content),
    )


def _request(item: Digestible, add: Add) -> PatchRequest:
    return PatchRequest(
        item.job.user_id,
        ACTOR,
        KIND,
        REASON,
        (add,),
        (item.wanted.message_id,),
        platform=item.wanted.platform,
        project=item.wanted.project,
    )
