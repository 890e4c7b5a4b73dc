"""Persona: what a page of the persona might say, proposed by a model or by rules when asked for."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents_memory.domain.memories import Kind
from agents_memory.domain.patches import MAX_EVIDENCE
from agents_memory.domain.persona import JOB, KINDS, dimension_of
from agents_memory.domain.trust import lowest
from agents_memory.storage import jobs, librarian, patches, profiles, proposals
from agents_memory.storage.connections import Connection
from agents_memory.storage.jobs import Job
from agents_memory.storage.proposals import Status, Wanted
from cold.guard import Done, ItemFault, RetryLater
from cold.llm.blaming import model_away
from cold.llm.port import Away, Failure, LanguageModel, Role, Rules
from cold.passes.persona_drafts import (
    RULES,
    Drafted,
    Page,
    Source,
    by_rules,
    declined_of,
    of_message,
    of_statement,
)

if TYPE_CHECKING:
    from cold.llm.verifying import Verifying

# So often a model may answer badly about one page.
BAD_ANSWERS = 3
MIN_IMPORTANCE = 5
MAX_STATEMENTS, STATEMENT_CHARS = 24, 400
MAX_MESSAGES, MESSAGE_CHARS = 40, 400
AGENT = ("agent", "assistant", "ai", "you", "persona")
WANTED = {
    "persona.agent": Wanted(None, AGENT),
    "persona.user": Wanted(
        (Kind.FACT, Kind.PREFERENCE, Kind.PATTERN, Kind.NOTE), ("user",), AGENT, named=True
    ),
    "persona.shared": Wanted((Kind.PROMISE, Kind.MILESTONE, Kind.DECISION), None, AGENT),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A page that somebody wants proposals for, and what they may come from.

    `kind` is None where the request does not say any more which page.
    """

    job: Job
    kind: str | None
    page: Page
    memories: tuple[Source, ...]
    messages: tuple[Source, ...]

    @property
    def id(self) -> int:
        return self.job.id

    @property
    def sources(self) -> tuple[Source, ...]:
        """Everything, what counts most at the end."""
        return (*self.messages, *reversed(self.memories))


Result = Drafted | Failure | None


class Persona:
    """Asks the model that serves the librarian's role; rules where there is none.

    Reads lasting memories, and with a model the owner's newest words, cleared and not private.
    Writes no document: a proposal becomes a version when the owner accepts it. What was rejected,
    or taken out of the page, is not proposed again.
    """

    stage = JOB
    backend = RULES
    version = 1
    next_stages: tuple[str, ...] = ()

    def __init__(self, models: LanguageModel | None = None) -> None:
        self._models = models or Rules()
        self._asking: Verifying | None = None

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Asked]:
        found = await jobs.list_unsettled(connection, ids, self.stage)
        return [await _asked(connection, job) for job in found]

    async def prepare(self, items: Sequence[Asked]) -> list[Result]:
        return [await self._draft(item) for item in items]

    async def _draft(self, item: Asked) -> Result:
        if item.kind is None:
            return None
        if self._models.serves(Role.LIBRARIAN):
            # Here, because it loads what a daemon without a model has no use for.
            from cold.llm.verifying import Verifying
            from cold.passes.persona_by_model import revisit

            # For all jobs, as what waits for the verifier is kept there.
            self._asking = self._asking or Verifying(self._models)
            said = await revisit(self._asking, dimension_of(item.kind), item.page, item.sources)
            if not isinstance(said, Failure):
                return said
            if isinstance(said, Away) or item.job.attempts < BAD_ANSWERS:
                return said
        return await asyncio.to_thread(by_rules, item.page, item.memories)

    async def settle(
        self, connection: Connection, item: Asked, result: Result
    ) -> Done | RetryLater:
        """Raises ModelAway, and ItemFault for an answer that cannot be used."""
        if isinstance(result, Away):
            raise model_away(result)
        if isinstance(result, Failure):
            raise ItemFault(f"the model's answer could not be used ({result.why}): {result.reason}")
        if result is None or item.kind is None:
            await jobs.settle_job(connection, item.id, {"proposal_id": None})
            return Done()
        user_id, kind = item.job.user_id, item.kind
        current = (await profiles.list_profiles(connection, user_id)).get(kind)
        if (current.version if current else 0) != item.page.version:
            return RetryLater("the page was changed while it was read")
        cited = [*result.evidence, *item.page.grounds]
        usable = await proposals.list_usable(connection, user_id, cited)
        if not usable.keys() >= {*result.evidence}:
            return RetryLater("a message was held back while it was read")
        evidence = [number for number in dict.fromkeys(cited) if number in usable][:MAX_EVIDENCE]
        trust = lowest([result.trust, *(usable[number] for number in evidence)])
        pending = await proposals.find_pending(connection, user_id, kind)
        if pending is not None:
            if (pending.base, pending.content) == (item.page.version, result.content):
                await jobs.settle_job(connection, item.id, {"proposal_id": pending.id})
                return Done()
            await proposals.decide_proposal(connection, pending.id, Status.REPLACED)
        proposal_id = await proposals.insert_proposal(
            connection, user_id, kind,
            base=item.page.version, content=result.content, trust=trust, backend=result.backend,
            evidence=evidence,
        )  # fmt: skip
        await jobs.settle_job(connection, item.id, {"proposal_id": proposal_id})
        return Done()


async def _asked(connection: Connection, job: Job) -> Asked:
    kind = job.request.get("kind")
    if kind not in KINDS:
        # Erased from the request since.
        return Asked(job, None, Page(), (), ())
    current = (await profiles.list_profiles(connection, job.user_id)).get(kind)
    # What nobody is told is shown to no model, and a proposal begins without it.
    told = current is not None and not current.hidden
    content = current.content if current and told else ""
    grounds: list[int] = []
    if current is not None and told:
        grounds = await patches.list_sources(connection, current.id, current.version)
    declined = await proposals.list_declined(connection, job.user_id, kind)
    page = Page(
        content,
        current.version if current else 0,
        declined_of(content, declined),
        tuple(grounds),
    )
    statements = await proposals.list_statements(
        connection,
        job.user_id,
        WANTED[kind],
        min_importance=MIN_IMPORTANCE,
        limit=MAX_STATEMENTS,
        chars=STATEMENT_CHARS,
    )
    newest, _ = await librarian.list_said(connection, job.user_id, MAX_MESSAGES, 0, MESSAGE_CHARS)
    return Asked(
        job,
        kind,
        page,
        tuple(map(of_statement, statements)),
        tuple(of_message(one) for one in reversed(newest)),
    )
