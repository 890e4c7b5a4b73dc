"""A statement that somebody wants remembered: added, or joined to what is believed already."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from agents_memory.domain.contradiction import names_one_value, outdates
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import MemoryView, same_key
from agents_memory.domain.messages import Trust
from agents_memory.domain.patches import (
    Add,
    Applied,
    Operation,
    PatchRequest,
    Pin,
    Supersede,
    Support,
)
from agents_memory.domain.statements import Statement
from agents_memory.services.patching import TRIES, Patching
from agents_memory.storage import comparing, memories, tags
from agents_memory.storage.connections import Connection, Database

# What was believed changed between the look and the patch.
_FASTER = (Code.VERSION_CONFLICT, Code.ALREADY_REMOVED)
_NOW = datetime.max.replace(tzinfo=UTC)


class Adding:
    """One statement, one memory."""

    def __init__(self, database: Database, patching: Patching) -> None:
        self._database = database
        self._patching = patching

    async def add(self, request: PatchRequest, add: Add, trust: Trust) -> Applied | Refusal:
        """What `add` says is believed in the end; `request` says who wants it, and on what words.

        An active memory that says the same gains the evidence (and the pin). With an attribute, the
        memory of the same subject and attribute is superseded, unless it is trusted more than
        `trust`. Else there is a new memory. Refusals are those of `Patching.apply`.
        """
        request = replace(request, operations=(add,))
        for _ in range(TRIES):
            older = await self._database.run(lambda c: _outdated(c, request, add, trust))
            if older is not None:
                done = await self._patching.apply(replace(request, operations=_instead(add, older)))
            else:
                done = await self._patching.apply(request)
            if isinstance(done, Refusal) and done.code is Code.DUPLICATE_MEMORY:
                done = await self._support(request, add, done)
            if not (isinstance(done, Refusal) and done.code in _FASTER):
                break
        return done

    async def _support(
        self, request: PatchRequest, add: Add, duplicate: Refusal
    ) -> Applied | Refusal:
        memory_id = duplicate.details["memory_id"]
        if memory_id is None:
            return duplicate

        async def load(connection: Connection) -> Sequence[MemoryView]:
            return await memories.list_memories(connection, [memory_id], request.user_id)

        [same] = await self._database.run(load)
        operations: list[Operation] = [Support(same.id, same.version)]
        if add.pinned and not same.pinned:
            operations.append(Pin(same.id, expected_version=same.version + 1))
        done = await self._patching.apply(replace(request, operations=tuple(operations)))
        if isinstance(done, Refusal) and done.code not in _FASTER:
            # The policy of this pool does not want it.
            return duplicate
        return done


async def _outdated(
    connection: Connection, request: PatchRequest, add: Add, trust: Trust
) -> Statement | None:
    """The memory that the statement takes the place of."""
    if add.attribute is None or not names_one_value(add.attribute):
        return None
    p_tag = None
    if request.project is not None:
        p_tag = await tags.find_project(connection, request.project)
    found = await comparing.list_of_attribute(
        connection, request.user_id, add.scope, add.subject, add.attribute, p_tag
    )
    key = same_key(add.subject, add.content)
    if any(same_key(older.subject, older.content) == key for older in found):
        return None
    newer = Statement(
        id=0,
        subject=add.subject,
        attribute=add.attribute,
        content=add.content,
        trust=trust,
        said_at=add.occurred_at or _NOW,
    )
    return next((older for older in found if outdates(newer, older)), None)


def _instead(add: Add, older: Statement) -> tuple[Operation, ...]:
    supersede = Supersede(older.id, add.content, older.version)
    if add.pinned and not older.pinned:
        return supersede, Pin(older.id, expected_version=older.version + 1)
    return (supersede,)
