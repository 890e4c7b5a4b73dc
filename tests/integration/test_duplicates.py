"""The daemon joins memories that say the same, and lets go of what is outdated."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from agents_memory.domain.memories import Status
from agents_memory.domain.messages import Trust
from agents_memory.domain.patches import Add, Applied, Pin
from agents_memory.domain.policy import ActorClass, parse_policy
from agents_memory.embedding.protocol import Vector
from agents_memory.services.patching import Patching
from agents_memory.services.rollback import Rollback
from agents_memory.storage.connections import Database
from cold.fence import fenced
from cold.passes.duplicates import ACTOR, Duplicates
from tests.factories import Services, services
from tests.integration.cold_daemons import FakeEmbedder, begin_term, drain, value
from tests.integration.patches import applied, check_diffs, versions


class Alike(FakeEmbedder):
    """To it, all texts mean the same: what then happens is the words' doing."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        found = await super().embed(texts)
        return [np.full_like(found[0], len(found[0]) ** -0.5) for _ in texts]


async def believed(use: Services, subject: str, content: str, **fields: Any) -> int:
    """A memory of an agent's, on words of its own."""
    trust = fields.pop("trust", Trust.AGENT)
    said = await use.say(content, trust=trust, occurred_at=fields.pop("said_at", None))
    done = await applied(
        use, Add(subject, content, **fields), evidence=(said.id,), actor_class=ActorClass.AGENT
    )
    return done.changes[0].item_id


async def status(use: Services, memory_id: int) -> tuple[Status, int | None]:
    found = await use.knowledge.find(memory_id, use.user_id)
    assert found is not None
    return found.status, found.superseded_by


async def test_near_duplicates_become_one_with_the_evidence_of_all(
    use: Services, cold_database: Database
) -> None:
    """F45, B4, B13: both texts stay in the history; a rollback brings the other one back."""
    first = await believed(use, "deploys", "Deploys happen on Tuesdays.")
    second = await believed(use, "Deploys", "On Tuesday, the deploys happen")
    third = await believed(use, "deploys", "the deploys happen on Tuesday!")
    await drain(cold_database, Alike())
    assert await status(use, first) == (Status.ACTIVE, None)
    assert await status(use, second) == await status(use, third) == (Status.SUPERSEDED, first)
    history = await versions(use, first)
    assert len(history[-1].sources) == 3
    assert {history[-1].actor, history[-1].operation} == {ACTOR, "merge"}
    assert history[-1].content == "Deploys happen on Tuesdays."
    assert (await versions(use, second))[0].content == "On Tuesday, the deploys happen"
    for memory_id in (first, second, third):
        await check_diffs(use, memory_id)
    patch = history[-1].patch_id
    back = await Rollback(use.database, use.hints).roll_back(patch, use.user_id, "no")
    assert isinstance(back, Applied)
    assert [(await status(use, one))[0] for one in (second, third)].count(Status.ACTIVE) == 1


async def test_what_is_near_but_not_the_same_stays(use: Services, cold_database: Database) -> None:
    """B7: with vectors that are all alike, another number, name, negation or subject is news."""
    ids = [
        await believed(use, subject, content)
        for subject, content in (
            ("deploys", "Deploys happen on Tuesdays."),
            ("deploys", "Deploys do not happen on Tuesdays."),
            ("deploys", "Deploys happen on Fridays."),
            ("ports", "The port is 5432."),
            ("ports", "The port is 5433."),
            ("releases", "Deploys happen on Tuesdays."),
        )
    ]
    await drain(cold_database, Alike())
    assert {await status(use, memory_id) for memory_id in ids} == {(Status.ACTIVE, None)}


async def test_nothing_crosses_users_scopes_and_projects(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    theirs = await services(use.database, "ben")
    ids = [
        (use, await believed(use, "deploys", "Deploys happen on Tuesdays.")),
        (use, await believed(use, "deploys", "Deploys happen on Tuesday.", scope="other")),
        (theirs, await believed(theirs, "deploys", "Deploys happen on Tuesday.")),
    ]
    project = await believed(use, "deploys", "Deploys happen on a Tuesday.")
    async with owner_database.acquire() as connection:
        tag = await connection.fetchval(
            "INSERT INTO project_tags (name, origin) VALUES ('harbor', 'owner') RETURNING id"
        )
        await connection.execute("UPDATE memories SET p_tag = $1 WHERE id = $2", tag, project)
    await drain(cold_database, Alike())
    for of, memory_id in (*ids, (use, project)):
        assert await status(of, memory_id) == (Status.ACTIVE, None)
    await theirs.close()


async def test_a_pinned_memory_takes_the_other_in_and_never_gives_way(
    use: Services, cold_database: Database
) -> None:
    first = await believed(use, "deploys", "Deploys happen on Tuesdays.")
    second = await believed(use, "deploys", "Deploys happen on Tuesday.", pinned=True)
    third = await believed(use, "deploys", "Deploys happen on a Tuesday.", pinned=True)
    await drain(cold_database, Alike())
    assert await status(use, first) in {(Status.SUPERSEDED, second), (Status.SUPERSEDED, third)}
    assert {await status(use, second), await status(use, third)} == {(Status.ACTIVE, None)}


async def test_an_older_value_gives_way_to_the_newer(
    use: Services, cold_database: Database
) -> None:
    """F46, B6, B10: by attribute, named or certain; not by nearness."""
    colour = await believed(use, "user", "My favourite colour is blue.")
    now = await believed(use, "user", "My favourite color is green.")
    brothers = await believed(use, "user", "My brother's favourite colour is red.")
    day = await believed(use, "deploys", "They go out on Tuesdays.", attribute="deploy day")
    moved = await believed(use, "deploys", "Fridays from now on.", attribute="deploy day")
    await drain(cold_database, FakeEmbedder())
    assert await status(use, colour) == (Status.SUPERSEDED, now)
    assert await status(use, day) == (Status.SUPERSEDED, moved)
    for memory_id in (now, brothers, moved):
        assert await status(use, memory_id) == (Status.ACTIVE, None)
    [*_, last] = await versions(use, colour)
    assert (last.actor, last.operation) == (ACTOR, "replace")


async def test_what_was_said_earlier_and_learned_later_outdates_nothing(
    use: Services, cold_database: Database
) -> None:
    now = await believed(use, "user", "My favourite colour is green.")
    then = await believed(
        use, "user", "My favourite colour is blue.", said_at=datetime(2024, 1, 1, tzinfo=UTC)
    )
    await drain(cold_database, FakeEmbedder())
    assert await status(use, now) == (Status.ACTIVE, None)
    assert await status(use, then) == (Status.SUPERSEDED, now)


async def test_the_owners_word_stands_against_a_later_guess(
    use: Services, cold_database: Database
) -> None:
    """B12"""
    owners = await believed(use, "user", "My favourite colour is blue.", trust=Trust.OWNER)
    guess = await believed(use, "user", "My favourite colour is green.")
    await drain(cold_database, FakeEmbedder())
    assert await status(use, owners) == await status(use, guess) == (Status.ACTIVE, None)
    said = await believed(use, "user", "My favourite colour is red.", trust=Trust.OWNER)
    await drain(cold_database, FakeEmbedder())
    assert await status(use, owners) == await status(use, guess) == (Status.SUPERSEDED, said)


async def test_a_memory_that_changed_meanwhile_is_left_alone(
    use: Services, cold_database: Database
) -> None:
    first = await believed(use, "user", "My favourite colour is blue.", attribute="colour")
    second = await believed(use, "user", "My favourite colour is green.", attribute="colour")
    step = Duplicates(Patching(cold_database, use.hints))
    epoch = await begin_term(cold_database)
    [item] = await cold_database.run(lambda c: step.load(c, [second, 999_999]))
    [verdicts] = await step.prepare([item])
    assert len(verdicts) == 1
    await applied(use, Pin(first))
    async with fenced(cold_database, epoch) as connection:
        await step.settle(connection, item, verdicts)
    assert await status(use, first) == (Status.ACTIVE, None)
    [item] = await cold_database.run(lambda c: step.load(c, [second]))
    assert await step.prepare([item]) == [[]]


async def test_a_policy_that_keeps_the_daemon_from_it_is_kept_to(
    use: Services, cold_database: Database
) -> None:
    """F6"""
    first = await believed(use, "user", "My favourite colour is blue.")
    second = await believed(use, "user", "My favourite colour is green.")
    await drain(cold_database, FakeEmbedder(), policy=parse_policy('[daemon]\nmay = ["add"]'))
    assert await status(use, first) == await status(use, second) == (Status.ACTIVE, None)
    assert await value(cold_database, "SELECT count(*) FROM work") == 0
