"""Librarian: the profile of a user, from what the owner said, by a model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from agents_memory.clock import Clock
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.patches import MAX_EVIDENCE, PatchRequest, WriteProfile
from agents_memory.domain.policy import ActorClass
from agents_memory.domain.text import is_blank
from agents_memory.observe import Action, get_logger
from agents_memory.services.patching import Patching
from agents_memory.storage import librarian
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.librarian import Due, Said
from cold.fence import fenced
from cold.llm.port import Away, Failure, LanguageModel, Role, Why
from cold.llm.profiling import MAX_SHOWN, OutdatedLine, Revised, question
from cold.llm.verifying import Checked, Claim, Verifying
from cold.passes.librarianship import Librarianship
from cold.passes.profile_lines import Document, Revision, acceptable, document, removable, revise

log = get_logger()

ACTOR = "cold/librarian"
KINDS = ("core", "sub")
LOOK_EVERY_S = 60.0
# While the model is away; where it is known until when, not before that.
AWAY_S = 300.0
MESSAGE_CHARS = 400
# Of all messages of one question, in UTF-8: about 3,500 tokens, more in scripts of many bytes.
MESSAGE_BYTES = 14_000
LEAST_SHOWN = 4
# So often an answer is held against a profile that somebody changes meanwhile.
TRIES = 3


@dataclass(frozen=True, slots=True)
class Read:
    """What one question is about, as it was when it was asked."""

    shown: tuple[Said, ...]
    documents: dict[str, Document]
    read_to: int


@dataclass(frozen=True, slots=True)
class Now:
    """What an answer is held against when it is there: what may be cited, and the profile."""

    usable: frozenset[int]
    documents: dict[str, Document]


class Librarian:
    """Once a user said enough new and some time has passed; a failed attempt counts as one.

    Reads the owner's own messages only, cleared and not private. Writes by patch, so that what it
    wrote can be traced and taken back.
    """

    name = "librarian"

    def __init__(
        self,
        database: Database,
        models: LanguageModel,
        patching: Patching,
        clock: Clock,
        plan: Librarianship,
    ) -> None:
        self._database = database
        self._models = models
        self._asking = Verifying(models)
        self._patching = patching
        self._clock = clock
        self._plan = plan
        self._due = 0.0

    async def run(self, epoch: int) -> None:
        now = self._clock.monotonic()
        if not self._plan.enabled or now < self._due or not self._models.serves(Role.LIBRARIAN):
            return
        self._due = now + LOOK_EVERY_S
        at = self._clock.now()
        before = at - timedelta(hours=self._plan.cooldown_hours)
        threshold = self._plan.threshold
        due = await self._database.run(lambda c: librarian.list_due(c, before, threshold, at))
        for user in due:
            if not await self._attend(epoch, user):
                return

    async def _attend(self, epoch: int, user: Due) -> bool:
        """Whether the model could be asked at all."""
        async with fenced(self._database, epoch) as connection:
            read = await self._read(connection, user.user_id)
            await librarian.write_attempt(connection, user.user_id, self._clock.now())
        read, answer = await self._ask(read)
        if isinstance(answer, Failure):
            log.warning(Action.PASS_FAILED, stage=self.name, outcome=answer.why.value)
            if not isinstance(answer, Away):
                return True
            async with fenced(self._database, epoch) as connection:
                await librarian.write_attempt(connection, user.user_id, user.attempted_at)
            self._due = self._clock.monotonic() + self._wait(answer)
            return False
        for _ in range(TRIES):
            now = await self._database.run(lambda c: _now(c, user.user_id, read))
            # Off the loop and outside of any transaction, as it compares each line with all else.
            revisions = await asyncio.to_thread(_revisions, read, now, answer)
            async with fenced(self._database, epoch) as connection:
                if await _now(connection, user.user_id, read) == now:
                    await self._settle(connection, user.user_id, read, now, revisions)
                    return True
        log.warning(Action.PATCH_REFUSED, stage=self.name, code=Code.VERSION_CONFLICT)
        return True

    def _wait(self, failure: Failure) -> float:
        if failure.until is None:
            return AWAY_S
        return max(AWAY_S, (failure.until - self._clock.now()).total_seconds())

    async def _read(self, connection: Connection, user_id: int) -> Read:
        newest, oldest = await librarian.list_said(
            connection, user_id, self._plan.newest, self._plan.oldest, MESSAGE_CHARS
        )
        return Read(
            _choose(newest, oldest),
            await _documents(connection, user_id),
            await librarian.find_reach(connection, user_id),
        )

    async def _ask(self, read: Read) -> tuple[Read, Checked[Revised] | Failure]:
        """Asks with less where all of it does not fit; the answer and what it is about."""
        own = {kind: read.documents[kind].own_lines for kind in KINDS}
        others = {kind: read.documents[kind].others_lines for kind in KINDS}
        while True:
            shown = dict(enumerate(read.shown, 1))
            answer = await self._asking.ask(
                Role.LIBRARIAN,
                question(read.shown, own, others),
                Revised,
                partial(_claims, read.documents, shown),
                {number: one.text for number, one in shown.items()},
            )
            fits = not isinstance(answer, Failure) or answer.why is not Why.TOO_LONG
            if fits or len(read.shown) <= LEAST_SHOWN:
                return read, answer
            read = replace(read, shown=read.shown[len(read.shown) // 2 :])

    async def _settle(
        self,
        connection: Connection,
        user_id: int,
        read: Read,
        now: Now,
        revisions: Mapping[str, Revision],
    ) -> None:
        writes = []
        refused = sum(len(revision.refused) for revision in revisions.values())
        for kind, revision in revisions.items():
            if revision.lines == now.documents[kind].lines:
                continue
            before = await librarian.list_grounds(connection, user_id, kind)
            evidence = tuple(dict.fromkeys((*revision.cited, *sorted(now.usable), *before)))
            content, version = "\n".join(revision.lines), now.documents[kind].version
            writes.append(WriteProfile(kind, content, version, evidence[:MAX_EVIDENCE]))
        if writes:
            done = await self._patching.apply_within(connection, _request(user_id, tuple(writes)))
            if isinstance(done, Refusal):
                # Changed by somebody meanwhile, or not wanted by the policy; read anew next time.
                log.warning(Action.PATCH_REFUSED, stage=self.name, code=done.code)
                return
        await librarian.write_reach(connection, user_id, read.read_to)
        log.info(Action.PASS_DONE, stage=self.name, items=len(writes), refused=refused)


def _claims(
    documents: Mapping[str, Document], shown: Mapping[int, Said], said: Revised
) -> list[Claim]:
    """The lines of an answer that rules let pass, then the lines that rules let it take away."""
    added, gone = list[Claim](), list[Claim]()
    for kind, offered, outdated in (
        ("core", said.core, said.core_outdated),
        ("sub", said.sub, said.sub_outdated),
    ):
        now, core = documents[kind], kind == "core"
        added += [Claim(*each) for each in acceptable(now, offered, shown, core=core)]
        gone += removable(now, offered, _against(now, outdated), shown, core=core)
    return [*added, *gone]


def _revisions(read: Read, now: Now, answer: Checked[Revised]) -> dict[str, Revision]:
    """What becomes of each document."""
    # What was held back while the model wrote is as if it had never been shown.
    shown = {number: one for number, one in enumerate(read.shown, 1) if one.id in now.usable}
    said = answer.answer.value
    return {
        kind: revise(
            now.documents[kind],
            offered,
            _against(read.documents[kind], outdated),
            shown,
            answer.refuted,
            core=kind == "core",
        )
        for kind, offered, outdated in (
            ("core", said.core, said.core_outdated),
            ("sub", said.sub, said.sub_outdated),
        )
    }


def _against(document: Document, outdated: Sequence[OutdatedLine]) -> list[Claim]:
    """What a model says against lines of ours, as they were shown to it."""
    lines = document.own_lines
    return [
        Claim(lines[one.number - 1], one.evidence, against=True)
        for one in outdated
        if one.number <= len(lines)
    ]


async def _now(connection: Connection, user_id: int, read: Read) -> Now:
    ids = [one.id for one in read.shown]
    usable = await librarian.list_usable(connection, user_id, ids)
    return Now(frozenset(usable), await _documents(connection, user_id))


async def _documents(connection: Connection, user_id: int) -> dict[str, Document]:
    drafts = await librarian.list_drafts(connection, user_id)
    return {kind: document(drafts.get(kind, ()), ACTOR) for kind in KINDS}


def _request(user_id: int, writes: tuple[WriteProfile, ...]) -> PatchRequest:
    return PatchRequest(
        user_id,
        ACTOR,
        "librarian",
        "what the owner said about himself and his work",
        writes,
        actor_class=ActorClass.DAEMON,
    )


def _choose(newest: Sequence[Said], oldest: Sequence[Said]) -> tuple[Said, ...]:
    """By turns from both ends, as much as fits, in the order of time."""
    taken: dict[int, Said] = {}
    left = MESSAGE_BYTES
    for number in range(max(len(newest), len(oldest))):
        for one in (*newest[number : number + 1], *oldest[number : number + 1]):
            size = len(one.text.encode("utf-8", "surrogatepass"))
            if one.id in taken or is_blank(one.text) or size > left or len(taken) == MAX_SHOWN:
                continue
            taken[one.id] = one
            left -= size
    return tuple(sorted(taken.values(), key=lambda one: (one.said_at, one.id)))
