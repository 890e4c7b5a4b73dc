"""Proposals: tags that agents would have in the registry, for the owner to decide on."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.nearest_tags import Near, nearest
from agents_memory.domain.tags import MAX_TAG_CHARS, is_generic_tag, normalise_tag
from agents_memory.domain.text import is_blank
from agents_memory.services.project_tags import described
from agents_memory.storage import registry, suggestions
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.suggestions import Status

MAX_OPEN = 20
"""Proposals of agents that may wait at a time, so that the owner is not flooded; ours."""


class Sort(StrEnum):
    """A project (p_tag), or a free tag (d_tag) that should become one."""

    PROJECT = "p"
    FREE = "d"


class Outcome(StrEnum):
    """What became of a proposal."""

    PROPOSED = "proposed"
    PENDING = "pending"
    """It was proposed before and waits."""
    KNOWN = "known"
    """The registry has it."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The tag as it is spelled, and the known ones nearest to it (itself is none of them)."""

    tag: str
    outcome: Outcome
    suggestion: int | None
    alias_of: str | None
    nearest: tuple[Near, ...]


class TagProposals:
    """Adds suggestions and never changes the registry."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def propose(
        self, name: str, sort: Sort, description: str, user_id: int
    ) -> Proposed | Refusal:
        """Proposes a tag, once; refuses one that says nothing, that was rejected, a free tag that
        nothing carries, one of more than 50 characters, and more than 20 that wait."""
        try:
            tag, about = await asyncio.to_thread(_checked, name, description)
            async with self._database.transaction() as connection:
                await registry.lock_registry(connection, self._database.schema)
                entries = await registry.list_registry(connection)
                known = await registry.find_tag(connection, tag)
                suggestion: int | None = None
                outcome = Outcome.KNOWN
                if known is None:
                    suggestion, outcome = await _suggest(connection, tag, sort, about, user_id)
        except Refused as refused:
            return refused.refusal
        others = [
            (one.name, one.description, one.alias_of, one.messages)
            for one in entries
            if one.name != tag
        ]
        near = await asyncio.to_thread(nearest, tag, about, others)
        alias_of = None if known is None else known.alias_name
        return Proposed(tag, outcome, suggestion, alias_of, tuple(near))


async def _suggest(
    connection: Connection, tag: str, sort: Sort, about: str, user_id: int
) -> tuple[int, Outcome]:
    """Raises Refused."""
    before = await suggestions.find_named(connection, tag)
    if before is not None:
        suggestion, status = before
        if status is Status.PENDING:
            return suggestion, Outcome.PENDING
        raise Refused(
            Refusal(
                Code.OPERATION_NOT_ALLOWED,
                f"{tag} was {status} before, which is final; use one of the known tags, or ask the "
                "owner to add it",
                {"id": suggestion, "status": status.value},
            )
        )
    carrying = await suggestions.count_carrying(connection, user_id, tag)
    if sort is Sort.FREE and not carrying.messages + carrying.memories:
        raise Refused(
            Refusal(
                Code.UNKNOWN_ITEM,
                f"no message or memory carries the free tag {tag}; propose it as a project "
                "(kind p)",
            )
        )
    if await suggestions.count_proposed(connection) >= MAX_OPEN:
        raise Refused(
            Refusal(
                Code.LIMIT_EXCEEDED,
                f"{MAX_OPEN} proposals wait for the owner; ask them to decide on these first "
                "(manage_project_tags, action suggestions)",
                {"limit": MAX_OPEN},
            )
        )
    suggestion_id = await suggestions.propose_name(connection, tag, about, sort, carrying)
    assert suggestion_id is not None, "the registry is locked, and nothing of the name was there"
    return suggestion_id, Outcome.PROPOSED


def _checked(name: str, description: str) -> tuple[str, str]:
    """The tag and its description as they are kept; raises Refused."""
    if len(name.strip()) > MAX_TAG_CHARS:
        raise Refused(
            Refusal(
                Code.LIMIT_EXCEEDED,
                f"a tag may hold {MAX_TAG_CHARS} characters; give a shorter name",
                {"limit": MAX_TAG_CHARS},
            )
        )
    tag = normalise_tag(name)
    if tag is None:
        raise Refused(Refusal(Code.INVALID_INPUT, "a tag needs a letter or a digit; give its name"))
    if is_generic_tag(tag):
        raise Refused(
            Refusal(
                Code.INVALID_INPUT,
                f"{tag} would fit everything; propose a name that tells this subject from others",
            )
        )
    about = described(description, by_owner=False)
    if is_blank(about):
        raise Refused(
            Refusal(
                Code.INVALID_INPUT,
                "the owner decides by the description; say in up to 200 characters what is filed "
                "under the tag",
            )
        )
    return tag, about
