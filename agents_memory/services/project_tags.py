"""The registry of project tags: what is in it, what stands for what, and what is suggested."""

import difflib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agents_memory.domain.aliases import Problem, alias_problem
from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.screening import commands
from agents_memory.domain.tags import normalise_tag
from agents_memory.domain.text import repair
from agents_memory.storage import registry, suggestions
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.notify import send_hint
from agents_memory.storage.registry import Change, Entry, KnownTag
from agents_memory.storage.suggestions import Found, Kind, Status, Suggestion

MAX_DESCRIPTION_CHARS = 200


@dataclass(frozen=True, slots=True)
class Registered:
    """What became of a change; `changed` is false when it was so before.

    `filing`: the daemon will file messages that carry the very name and have no project.
    """

    action: Change
    tag: str
    target: str | None = None
    suggestion: int | None = None
    changed: bool = True
    filing: bool = False


Changing = Callable[[Connection], Awaitable[Registered]]


class ProjectTags:
    """Acts as the user; each change is kept with `actor`, `device` and `via` (cli or tool)."""

    def __init__(self, database: Database, *, actor: str, device: str, via: str) -> None:
        self._database = database
        self._actor = actor
        self._device = device
        self._via = via

    async def list(self) -> list[Entry]:
        """Every tag with its messages, the fullest first."""
        return await self._database.run(registry.list_registry)

    async def suggestions(self, status: Status, limit: int) -> Sequence[Suggestion]:
        """Suggestions in one state, the surest of each kind first."""
        return await self._database.run(
            lambda connection: suggestions.list_suggestions(connection, status, limit)
        )

    async def add(self, name: str, description: str = "") -> Registered | Refusal:
        """Makes a project known; an open suggestion of that name is confirmed by it."""

        async def change(connection: Connection) -> Registered:
            tag, words = _name(name), described(description, by_owner=self._via == "cli")
            found = await registry.insert_tag(connection, tag, words)
            pending = await suggestions.find_pending_name(connection, tag)
            if pending is not None:
                await suggestions.decide(connection, pending, Status.CONFIRMED, self._actor)
                await send_hint(connection, self._database.schema)
            if found is None:
                return Registered(Change.ADD, tag, changed=False)
            await self._keep(connection, Change.ADD, tag=found, suggestion=pending)
            return Registered(Change.ADD, tag, suggestion=pending, filing=pending is not None)

        return await self._change(change)

    async def describe(self, name: str, description: str) -> Registered | Refusal:
        """Says in up to 200 characters what a project is about; an empty text takes it back."""

        async def change(connection: Connection) -> Registered:
            words = described(description, by_owner=self._via == "cli")
            tag = await _known(connection, name)
            if tag.description == words:
                return Registered(Change.DESCRIBE, tag.name, changed=False)
            await registry.write_description(connection, tag.id, words)
            await self._keep(connection, Change.DESCRIBE, tag=tag.id)
            return Registered(Change.DESCRIBE, tag.name)

        return await self._change(change)

    async def alias(self, name: str, target: str) -> Registered | Refusal:
        """Lets a tag stand for another from now on; messages stay under the tag they have."""

        async def change(connection: Connection) -> Registered:
            tag, other = await _known(connection, name), await _known(connection, target)
            if tag.alias_of == other.id:
                return Registered(Change.ALIAS, tag.name, other.name, changed=False)
            await _check_alias(connection, tag.id, tag.name, other.id, other.name)
            await registry.write_alias(connection, tag.id, other.id)
            pending = await suggestions.find_pending_pair(connection, tag.id, other.id)
            if pending is not None:
                status = Status.CONFIRMED if pending[1] else Status.REJECTED
                await suggestions.decide(connection, pending[0], status, self._actor)
            await self._keep(connection, Change.ALIAS, tag=tag.id, target=other.id)
            return Registered(Change.ALIAS, tag.name, other.name)

        return await self._change(change)

    async def unalias(self, name: str) -> Registered | Refusal:
        """Lets a tag stand for itself again; it is not suggested for that other tag any more."""

        async def change(connection: Connection) -> Registered:
            tag = await _known(connection, name)
            if tag.alias_of is None:
                raise Refused(
                    Refusal(
                        Code.OPERATION_NOT_ALLOWED,
                        f"{tag.name} stands for no other tag; the list shows which do",
                    )
                )
            await registry.write_alias(connection, tag.id, None)
            await self._keep(connection, Change.UNALIAS, tag=tag.id, target=tag.alias_of)
            return Registered(Change.UNALIAS, tag.name, tag.alias_name)

        return await self._change(change)

    async def confirm(self, suggestion_id: int) -> Registered | Refusal:
        """Does what was suggested."""

        async def change(connection: Connection) -> Registered:
            found = await _pending(connection, suggestion_id)
            if found.kind is Kind.NEW:
                tag = await _name_tag(connection, found)
                await send_hint(connection, self._database.schema)
            else:
                tag = await _pair_tag(connection, found)
            await suggestions.decide(connection, found.id, Status.CONFIRMED, self._actor)
            await self._keep(
                connection, Change.CONFIRM, tag=tag, target=found.target_id, suggestion=found.id
            )
            return Registered(
                Change.CONFIRM,
                found.name,
                found.target,
                found.id,
                filing=found.kind is Kind.NEW,
            )

        return await self._change(change)

    async def reject(self, suggestion_id: int) -> Registered | Refusal:
        """Declines for good: the name, or the pair in this direction, is not suggested again."""

        async def change(connection: Connection) -> Registered:
            found = await _pending(connection, suggestion_id)
            await suggestions.decide(connection, found.id, Status.REJECTED, self._actor)
            await self._keep(
                connection,
                Change.REJECT,
                tag=found.tag_id,
                target=found.target_id,
                suggestion=found.id,
            )
            return Registered(Change.REJECT, found.name, found.target, found.id)

        return await self._change(change)

    async def _change(self, change: Changing) -> Registered | Refusal:
        try:
            async with self._database.transaction() as connection:
                await registry.lock_registry(connection, self._database.schema)
                return await change(connection)
        except Refused as refused:
            return refused.refusal

    async def _keep(self, connection: Connection, action: Change, **items: int | None) -> None:
        await registry.record_change(
            connection, action, actor=self._actor, device=self._device, via=self._via, **items
        )


def described(text: str, *, by_owner: bool) -> str:
    """The words of a description; raises Refused for more than 200 characters, and for an order
    to a model by anybody but the owner."""
    words = " ".join(repair(text).text.split())
    if len(words) > MAX_DESCRIPTION_CHARS:
        raise Refused(
            Refusal(
                Code.LIMIT_EXCEEDED,
                f"a description has at most {MAX_DESCRIPTION_CHARS} characters and this has "
                f"{len(words)}; shorten it",
                {"characters": len(words), "limit": MAX_DESCRIPTION_CHARS},
            )
        )
    # It goes into what a model is asked, beside the task.
    if not by_owner and commands(words):
        raise Refused(
            Refusal(
                Code.UNSAFE_CONTENT,
                "the description reads like an order to a model; say what the project is, or "
                "have its owner write it with `mcp-agents-memory tags describe`",
            )
        )
    return words


async def _known(connection: Connection, name: str) -> KnownTag:
    tag = _name(name)
    found = await registry.find_tag(connection, tag)
    if found is None:
        names = [entry.name for entry in await registry.list_registry(connection)]
        close = difflib.get_close_matches(tag, names, 1)
        hint = f"did you mean {close[0]}?" if close else "list shows all tags; add makes a new one"
        raise Refused(Refusal(Code.UNKNOWN_ITEM, f"no project is called {tag}; {hint}"))
    return found


async def _check_alias(
    connection: Connection, tag: int, name: str, target: int, other: str
) -> None:
    match alias_problem(await registry.list_aliases(connection), tag, target):
        case Problem.SELF:
            why = f"{name} cannot stand for itself; name another tag"
        case Problem.CYCLE:
            why = f"{other} stands for {name} already; unalias {other} first to turn them round"
        case Problem.TOO_DEEP:
            why = f"too many tags stand for each other; let {name} stand for the last of them"
        case None:
            return
    raise Refused(Refusal(Code.OPERATION_NOT_ALLOWED, why))


async def _pending(connection: Connection, suggestion_id: int) -> Found:
    found = None
    if 0 < suggestion_id < 2**63:
        found = await suggestions.find_suggestion(connection, suggestion_id)
    if found is None or found.status is Status.UNLIKELY:
        raise Refused(
            Refusal(
                Code.UNKNOWN_ITEM,
                f"{suggestion_id} names no suggestion; suggestions shows the open ones",
                {"id": suggestion_id},
            )
        )
    if found.status is not Status.PENDING:
        final = "; to have it all the same, use add or alias"
        raise Refused(
            Refusal(
                Code.OPERATION_NOT_ALLOWED,
                f"{suggestion_id} was {found.status} before, which is final"
                f"{final if found.status is Status.REJECTED else '; nothing is to be decided'}",
                {"id": suggestion_id, "status": found.status},
            )
        )
    return found


async def _name_tag(connection: Connection, found: Found) -> int:
    if normalise_tag(found.name) != found.name:
        raise Refused(
            Refusal(
                Code.OPERATION_NOT_ALLOWED,
                f"words of the name of {found.id} were erased; reject it",
                {"id": found.id},
            )
        )
    added = await registry.insert_tag(connection, found.name, found.description)
    if added is not None:
        return added
    known = await registry.find_tag(connection, found.name)
    assert known is not None, "a conflict without a row to conflict with"
    return known.id


async def _pair_tag(connection: Connection, found: Found) -> int:
    assert found.tag_id is not None
    assert found.target_id is not None
    assert found.target is not None
    if found.tag_alias_of not in (None, found.target_id):
        raise Refused(
            Refusal(
                Code.OPERATION_NOT_ALLOWED,
                f"{found.name} stands for another tag by now; unalias it first, or reject this",
                {"id": found.id},
            )
        )
    if found.tag_alias_of is None:
        await _check_alias(connection, found.tag_id, found.name, found.target_id, found.target)
        await registry.write_alias(connection, found.tag_id, found.target_id)
    return found.tag_id


def _name(name: str) -> str:
    tag = normalise_tag(name)
    if tag is None:
        raise Refused(Refusal(Code.INVALID_INPUT, "a tag needs a letter or a digit; give its name"))
    return tag
