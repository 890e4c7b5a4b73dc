"""A statement that somebody wants remembered: added, or joined to what is believed already."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from agents_memory.domain.comparing import compare
from agents_memory.domain.contradiction import names_one_value, outdates
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.lexical import query_terms, to_tsquery_literal
from agents_memory.domain.memories import MemoryView, same_key
from agents_memory.domain.messages import Trust
from agents_memory.domain.patch_refusals import duplicate
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
from agents_memory.domain.text import repair
from agents_memory.services.patching import Patching, Runner
from agents_memory.storage import comparing, memories, tags
from agents_memory.storage.connections import Connection, Database

T = TypeVar("T")
Apply = Callable[[PatchRequest], Awaitable[Applied | Refusal]]

# What was believed changed between the look and the patch.
_FASTER = (Code.VERSION_CONFLICT, Code.ALREADY_REMOVED)
TRIES = 8
# Doubled each time, and a random share of it waited: who lost together does not come back together.
PAUSE_S = 0.01
_NOW = datetime.max.replace(tzinfo=UTC)


class Adding:
    """One statement, one memory."""

    def __init__(self, database: Database, patching: Patching) -> None:
        self._database = database
        self._patching = patching

    async def add(self, request: PatchRequest, add: Add, trust: Trust) -> Applied | Refusal:
        """What `add` says is believed in the end; `request` says who wants it, and on what words.

        An active memory that says the same, if only in nearly the same words (`domain.duplicates`),
        gains the evidence (and the pin). With an attribute, the memory of the same subject and
        attribute is superseded, unless it is trusted more than `trust`. Else there is a new memory.
        Refusals are those of `Patching.apply`.
        """
        return await self._add(self._database.run, self._patching.apply, request, add, trust)

    async def add_within(
        self, connection: Connection, request: PatchRequest, add: Add, trust: Trust
    ) -> Applied | Refusal:
        """The same in the caller's transaction, with which it stands or falls."""

        async def run(operation: Callable[[Connection], Awaitable[T]], /) -> T:
            return await operation(connection)

        apply = partial(self._patching.apply_within, connection)
        return await self._add(run, apply, request, add, trust)

    async def _add(
        self, run: Runner, apply: Apply, request: PatchRequest, add: Add, trust: Trust
    ) -> Applied | Refusal:
        request = replace(request, operations=(add,))
        for number in range(TRIES):
            if number:
                await asyncio.sleep(random.uniform(0, PAUSE_S * 2**number))
            said = await run(lambda c: _said_already(c, request, add, trust))
            older = await run(lambda c: _outdated(c, request, add, trust))
            done: Applied | Refusal
            if said is not None:
                done = duplicate(said)
            elif older is not None:
                done = await apply(replace(request, operations=_instead(add, older)))
            else:
                done = await apply(request)
            if isinstance(done, Refusal) and done.code is Code.DUPLICATE_MEMORY:
                done = await self._support(run, apply, request, add, done)
            if not (isinstance(done, Refusal) and done.code in _FASTER):
                break
        return done

    async def _support(
        self, run: Runner, apply: Apply, request: PatchRequest, add: Add, refusal: Refusal
    ) -> Applied | Refusal:
        memory_id = refusal.details["memory_id"]
        if memory_id is None:
            return refusal

        async def load(connection: Connection) -> Sequence[MemoryView]:
            return await memories.list_memories(
                connection, [memory_id], request.user_id, private=True
            )

        [same] = await run(load)
        # Others may support it meanwhile, as long as it says the same.
        operations: list[Operation] = [Support(same.id, saying=same.content)]
        if add.pinned and not same.pinned:
            operations.append(Pin(same.id))
        done = await apply(replace(request, operations=tuple(operations)))
        if isinstance(done, Refusal) and done.code not in _FASTER:
            # The policy of this pool does not want it.
            return refusal
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
        if p_tag is None:
            # Nothing is filed under it yet.
            return None
    found = await comparing.list_of_attribute(
        connection, request.user_id, add.scope, add.subject, add.attribute, p_tag
    )
    key = same_key(add.subject, add.content)
    if any(same_key(older.subject, older.content) == key for older in found):
        return None
    newer = _statement(add, trust)
    return next((older for older in found if outdates(newer, older)), None)


async def _said_already(
    connection: Connection, request: PatchRequest, add: Add, trust: Trust
) -> int | None:
    """The memory that says the same in nearly the same words, and may take the evidence."""
    terms = query_terms(repair(add.content).text)
    if not terms:
        return None
    wanted = " & ".join(to_tsquery_literal([term]) for term in terms)
    p_tag = None
    if request.project is not None:
        p_tag = await tags.find_project(connection, request.project)
        if p_tag is None:
            return None
    found = await comparing.list_with_words(
        connection, request.user_id, add.scope, repair(add.subject).text, p_tag, wanted
    )
    newer = _statement(add, trust)
    for older in found:
        verdict = compare(older, newer, cosine=1.0)
        if verdict is not None and verdict.merge and verdict.winner.id == older.id:
            return older.id
    return None


def _statement(add: Add, trust: Trust) -> Statement:
    """What is to be added, as it is compared: newer than all that is there."""
    return Statement(
        id=2**63,
        subject=add.subject,
        attribute=add.attribute,
        content=add.content,
        trust=trust,
        said_at=add.occurred_at or _NOW,
        kind=add.kind,
        occurred_at=add.occurred_at,
    )


def _instead(add: Add, older: Statement) -> tuple[Operation, ...]:
    supersede = Supersede(older.id, add.content, older.version)
    if add.pinned and not older.pinned:
        return supersede, Pin(older.id, expected_version=older.version + 1)
    return (supersede,)
