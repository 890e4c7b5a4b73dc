"""The documents about the user and the persona: read, written anew, taken back to a version."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from agents_memory.domain.diffs import shown_profile, unified
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import strip_fenced
from agents_memory.domain.messages import Draft
from agents_memory.domain.patch_refusals import profile_conflict
from agents_memory.domain.patches import Applied, PatchRequest, WriteProfile
from agents_memory.domain.persona import OWNER as OWNER_NAME
from agents_memory.domain.persona import too_long
from agents_memory.domain.policy import ActorClass
from agents_memory.domain.text import is_blank
from agents_memory.services.intake import Intake
from agents_memory.services.knowledge import ACTOR
from agents_memory.services.knowledge import TOOL as TOLD
from agents_memory.services.patching import Patching
from agents_memory.services.persona_seeds import Seed
from agents_memory.storage import profiles
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.profiles import Profile, ProfileVersion


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes a document, as it stands in the history."""

    name: str
    tool: str
    actor_class: ActorClass


OWNER = Author(OWNER_NAME, "cli", ActorClass.OWNER)
AGENT = Author(ACTOR, "persona_write", ActorClass.AGENT)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a document; `message_id` is the evidence that was stored for it.

    `patch_id` is None where it said the very same already, and nothing was written.
    """

    id: int
    kind: str
    version: int
    patch_id: int | None
    message_id: int | None = None
    diff: str = ""


@dataclass(frozen=True, slots=True)
class Seeded:
    """The documents that were written, and those that were there and stay as they are."""

    written: tuple[str, ...]
    kept: tuple[str, ...]
    patch_id: int | None


class Profiles:
    """Every change is a patch with a new version; what stood there before is kept."""

    def __init__(self, database: Database, intake: Intake, patching: Patching) -> None:
        self._database = database
        self._intake = intake
        self._patching = patching

    async def list(self, user_id: int) -> dict[str, Profile]:
        """The documents that were ever written, by kind."""
        return await self._database.run(lambda c: profiles.list_profiles(c, user_id))

    async def history(self, user_id: int, kind: str) -> tuple[ProfileVersion, ...]:
        """The versions of a document, the oldest first; none when it was never written."""
        return await self._database.run(lambda c: profiles.list_history(c, user_id, kind))

    async def version(self, user_id: int, kind: str, version: int) -> ProfileVersion | Refusal:
        """One version of a document; refuses with UNKNOWN_ITEM."""

        async def load(connection: Connection) -> tuple[ProfileVersion, ...]:
            return await profiles.list_history(connection, user_id, kind, version)

        found = await self._database.run(load) if 0 < version < 2**31 else ()
        return found[0] if found else _unknown_version(kind, version)

    async def write(
        self,
        user_id: int,
        kind: str,
        content: str,
        said: Draft,
        by: Author,
        *,
        expected_version: int | None = None,
        evidence: tuple[int, ...] = (),
    ) -> Written | Refusal:
        """A document anew. Unless messages are cited, `content` itself is stored in `said` as what
        it rests on.

        `expected_version` 0: it was never written; None: whatever is there now. Refuses what
        `Patching.apply` refuses, an empty text and one that is too long; VERSION_CONFLICT shows the
        document as it stands under `current`.
        """
        text = strip_fenced(content).strip() if len(content) < 2**20 else content
        if is_blank(text):
            return Refusal(Code.INVALID_INPUT, "the text is empty; say what the document is to say")
        refusal = too_long(kind, len(text))
        if refusal is not None:
            return refusal
        current = (await self.list(user_id)).get(kind)
        version = current.version if current else 0
        if expected_version not in (None, version):
            return _conflict(kind, current, expected_version)
        hidden = current is not None and current.hidden and by is not OWNER
        if current is not None and by is not OWNER and not hidden and current.content == text:
            return Written(current.id, kind, version, None)
        message_id = None
        if not evidence:
            told = replace(said, text=text, source=TOLD, store_id=ACTOR, native_id=str(uuid4()))
            stored = await self._intake.store(told, user_id)
            if isinstance(stored, Refusal):
                return stored
            message_id = stored.id
            evidence = (stored.id,)
        write = WriteProfile(kind, text, expected_version, evidence)
        request = _request(user_id, by, "written anew", (write,))
        done = await self._applied(request, kind, expected_version, message_id)
        if hidden and isinstance(done, Written):
            # The page that it took the place of is nothing to be shown.
            diff = unified(f"profile/{kind}", None, shown_profile(text))
            return replace(done, diff=diff)
        return done

    async def revert(self, user_id: int, kind: str, to: int) -> Written | Refusal:
        """A new version with the words, and the evidence, of an older one; 0 empties the document.

        The owner's act. Refuses with UNKNOWN_ITEM, INVALID_INPUT for the current version,
        EVIDENCE_NOT_FOUND when what it rests on was held back since, and VERSION_CONFLICT.
        """
        versions = await self.history(user_id, kind)
        known = {one.version: one for one in versions}
        if not versions or (to != 0 and to not in known):
            return _unknown_version(kind, to)
        last = versions[-1].version
        if to == last:
            return Refusal(
                Code.INVALID_INPUT,
                f"{kind} is at version {to} already; `profile history {kind}` shows the others",
                {"version": to},
            )
        older = known.get(to)
        content, evidence = (older.content, older.evidence) if older else ("", ())
        write = WriteProfile(kind, content, last, evidence)
        request = _request(user_id, OWNER, f"back to version {to}", (write,))
        done = await self._applied(request, kind, last, None)
        if isinstance(done, Refusal) and done.code is Code.EVIDENCE_NOT_FOUND:
            return replace(
                done,
                message=f"version {to} rests on messages that were held back or erased since; "
                "write the text anew if it still holds",
            )
        return done

    async def seed(
        self, user_id: int, seeds: Sequence[Seed], said: Draft | None
    ) -> Seeded | Refusal:
        """Writes the documents that were never written, in one patch; no other is touched.

        `said`: the texts are the owner's own, and stored as his word; None for our examples.
        """
        told: dict[str, tuple[int, ...]] = {}
        while True:
            there = await self.list(user_id)
            new = [seed for seed in seeds if seed.kind not in there]
            kept = tuple(seed.kind for seed in seeds if seed.kind in there)
            if not new:
                return Seeded((), kept, None)
            for seed in new:
                if said is not None and seed.kind not in told:
                    draft = replace(
                        said,
                        text=seed.content,
                        source=TOLD,
                        store_id=ACTOR,
                        native_id=str(uuid4()),
                    )
                    stored = await self._intake.store(draft, user_id)
                    if isinstance(stored, Refusal):
                        return stored
                    told[seed.kind] = (stored.id,)
            writes = tuple(
                WriteProfile(seed.kind, seed.content, 0, told.get(seed.kind, ())) for seed in new
            )
            done = await self._patching.apply(_request(user_id, OWNER, "seeded", writes))
            if isinstance(done, Applied):
                return Seeded(tuple(seed.kind for seed in new), kept, done.patch_id)
            if done.code is not Code.VERSION_CONFLICT:
                return done
            # Somebody wrote one of them meanwhile, which can happen once for each.

    async def _applied(
        self, request: PatchRequest, kind: str, expected: int | None, message_id: int | None
    ) -> Written | Refusal:
        done = await self._patching.apply(request)
        if isinstance(done, Applied):
            change = done.changes[0]
            return Written(
                change.item_id, kind, change.version, done.patch_id, message_id, done.diff
            )
        if done.code is Code.VERSION_CONFLICT:
            return _conflict(kind, (await self.list(request.user_id)).get(kind), expected)
        return done


def unseen(kind: str, current: Profile) -> Refusal:
    """A document would be replaced by somebody who has not seen all of it."""
    if current.hidden:
        return _hidden(kind, current, None)
    return _shown(
        Refusal(
            Code.VERSION_CONFLICT,
            f"{kind} is at version {current.version}, which this session has not been shown whole; "
            "read it in details.current, keep what holds, and pass its version as expected_version",
            {"profile": kind, "version": current.version, "expected": None},
        ),
        current,
    )


def _conflict(kind: str, current: Profile | None, expected: int | None) -> Refusal:
    if current is not None and current.hidden:
        return _hidden(kind, current, expected)
    refusal = profile_conflict(kind, current.version if current else 0, expected)
    return refusal if current is None else _shown(refusal, current)


def _hidden(kind: str, current: Profile, expected: int | None) -> Refusal:
    """A document would be replaced that rests on what was held back or made private since."""
    return Refusal(
        Code.VERSION_CONFLICT,
        f"{kind} is at version {current.version}, which is shown to nobody, as what it rests on "
        "was held back or made private since; ask the user (`mcp-agents-memory profile show` has "
        f"it), or write the page anew with expected_version {current.version}",
        {"profile": kind, "version": current.version, "expected": expected},
    )


def _shown(refusal: Refusal, current: Profile) -> Refusal:
    state = {
        "version": current.version,
        "content": current.content,
        "trust": current.trust.value,
        "updated_at": current.updated_at.isoformat(timespec="seconds"),
    }
    return replace(refusal, details={**refusal.details, "current": state})


def _request(
    user_id: int, by: Author, reason: str, writes: tuple[WriteProfile, ...]
) -> PatchRequest:
    return PatchRequest(user_id, by.name, by.tool, reason, writes, actor_class=by.actor_class)


def _unknown_version(kind: str, version: int) -> Refusal:
    return Refusal(
        Code.UNKNOWN_ITEM,
        f"{kind} has no version {version}; `mcp-agents-memory profile history {kind}` shows all",
        {"profile": kind, "version": version},
    )
