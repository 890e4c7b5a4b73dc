"""All that is stored, recomputed."""

from collections.abc import AsyncIterator, Set

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.embedding.choice import members
from agents_memory.services.consistency import examine
from agents_memory.services.diagnosis.check import Check, Outcome, failed, skipped
from agents_memory.services.diagnosis.subject import Subject


async def consistency(subject: Subject, blocked: Set[str]) -> AsyncIterator[Check]:
    """A check for each sort of thing; `blocked`: the checks that did not pass."""
    if "schema" in blocked:
        yield skipped("consistency", "not looked at: schema comes first")
        return
    assert subject.database is not None, "the schema was looked at"
    profiles = {one.profile.id: one.profile for one in members(subject.embedder)}
    try:
        async with subject.database.snapshot() as connection:
            async for found in examine(connection, profiles):
                yield Check(
                    found.name,
                    Outcome.OK if found.fix is None else Outcome.FAILED,
                    found.detail,
                    found.fix,
                )
    except DatabaseUnavailable as fault:
        yield failed("consistency", str(fault), "look into the server's log, then try again")
