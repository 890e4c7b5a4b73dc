"""What the daemon suggests about tags: once, never after a rejection, and never more (F68, F69)."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.errors import Code, Deposed, Refusal
from agents_memory.domain.messages import Role as Speaker
from agents_memory.domain.messages import Screening, Trust
from agents_memory.services.project_tags import ProjectTags, Registered
from agents_memory.services.redacting import Redacting
from agents_memory.storage import messages, registry, suggestions, tags
from agents_memory.storage.connections import Database
from agents_memory.storage.suggestions import Kind, Status, Suggestion
from cold.llm import tagging
from cold.llm.blaming import SILENT
from cold.llm.pairing import Judged, Relation
from cold.llm.port import Answered, Failure, Provider, Role, Rules, Why
from cold.passes import confirmed_tags
from cold.passes.alias_suggestions import AliasSuggestions
from cold.passes.confirmed_tags import ConfirmedTags
from cold.passes.new_tag_suggestions import NewTagSuggestions
from tests.conftest import Pool
from tests.factories import Services, settle_by_hand
from tests.fakes import ManualClock
from tests.integration.cold_daemons import begin_term, daemon, query, until, value


@pytest.fixture
def project_tags(hot_database: Database) -> ProjectTags:
    return ProjectTags(hot_database, actor="mara", device="laptop", via="cli")


@pytest.fixture
async def clock(pool: Pool, owner_database: Database) -> ManualClock:
    """The time of the database, whose rows it is compared with."""
    now: datetime = await value(owner_database, "SELECT now()")
    return ManualClock(now)


async def said(
    use: Services,
    cold: Database,
    text: str,
    d_tags: Sequence[str] = (),
    project: str | None = None,
    **changes: Any,
) -> int:
    """A message as the daemon leaves it."""
    stored = await use.say(text, **changes)
    async with cold.transaction() as connection:
        p_tag = None
        if project is not None:
            p_tag = await tags.find_or_add_project(connection, project, "directory")
        await messages.settle_screening(connection, stored.id, Screening.CLEAR)
        await messages.settle_tags(
            connection, stored.id, p_tag=p_tag, d_tags=d_tags, importance=5, valence=None,
            intensity=None,
        )  # fmt: skip
    return stored.id


async def pending(project_tags: ProjectTags) -> Sequence[Suggestion]:
    return await project_tags.suggestions(Status.PENDING, 100)


async def projects(database: Database) -> Mapping[int, str | None]:
    rows = await query(
        database,
        "SELECT message_id, t.name FROM message_state s LEFT JOIN project_tags t ON t.id = p_tag",
    )
    return {row["message_id"]: row["name"] for row in rows}


def naming(cold: Database, clock: ManualClock, min_uses: int = 3) -> NewTagSuggestions:
    return NewTagSuggestions(cold, clock, window_days=30, min_uses=min_uses)


async def test_a_free_tag_in_frequent_use_is_suggested_once(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    """F69: a suggestion and nothing else; generic and known names are none."""
    for number in range(4):
        await said(use, cold_database, f"heron {number}", ["wetlands", "code", "harbor"])
    await said(use, cold_database, "rare", ["tides"])
    await project_tags.add("harbor")
    chore = naming(cold_database, clock)
    epoch = await begin_term(cold_database)
    for _ in range(3):
        await chore.run(epoch)
        clock.advance(600)
    [one] = await pending(project_tags)
    assert (one.kind, one.name, one.reasons["uses"], one.reasons["unfiled"]) == (
        Kind.NEW,
        "wetlands",
        4,
        4,
    )
    assert [entry.name for entry in await project_tags.list()] == ["harbor"]
    assert set((await projects(cold_database)).values()) == {None}


async def test_use_of_long_ago_and_of_unclear_messages_does_not_count(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock,
    owner_database: Database,
) -> None:  # fmt: skip
    for number in range(4):
        await said(use, cold_database, f"heron {number}", ["wetlands"])
        held = await said(use, cold_database, f"planted {number}", ["planted"])
        await query(
            cold_database,
            "UPDATE message_state SET screening = 'quarantined' WHERE message_id = $1",
            held,
        )
    clock.advance(31 * 86_400)
    await naming(cold_database, clock).run(await begin_term(cold_database))
    assert await pending(project_tags) == []


async def test_a_rejected_name_never_returns(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    """F69"""
    for number in range(4):
        await said(use, cold_database, f"heron {number}", ["wetlands"])
    chore, epoch = naming(cold_database, clock), await begin_term(cold_database)
    await chore.run(epoch)
    [one] = await pending(project_tags)
    rejected = await project_tags.reject(one.id)
    assert isinstance(rejected, Registered)
    clock.advance(600)
    await chore.run(epoch)
    assert await pending(project_tags) == []
    for change in (project_tags.confirm, project_tags.reject):
        refusal = await change(one.id)
        assert isinstance(refusal, Refusal)
        assert refusal.code is Code.OPERATION_NOT_ALLOWED
    [kept] = await project_tags.suggestions(Status.REJECTED, 10)
    assert kept.decided_by == "mara"


async def test_what_was_confirmed_is_filed_by_exact_matches_without_a_project_only(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """F69: the vectors learn of it, and what was filed so stays when the daemon tags anew."""
    monkeypatch.setattr(confirmed_tags, "AT_A_TIME", 2)
    mine = [await said(use, cold_database, f"heron {n}", ["wetlands", "birds"]) for n in range(5)]
    near = await said(use, cold_database, "near", ["wetlands-trip"])
    other = await said(use, cold_database, "other", ["wetlands"], project="harbor")
    await settle_by_hand(cold_database, use.embedder, [*mine, near, other])
    epoch = await begin_term(cold_database)
    await naming(cold_database, clock).run(epoch)
    [one] = [each for each in await pending(project_tags) if each.name == "wetlands"]
    assert isinstance(await project_tags.confirm(one.id), Registered)
    assert (await projects(cold_database))[mine[0]] is None
    await ConfirmedTags(cold_database).run(epoch)
    filed = await projects(cold_database)
    assert {filed[each] for each in mine} == {"wetlands"}
    assert (filed[near], filed[other]) == (None, "harbor")
    [kept] = await project_tags.suggestions(Status.CONFIRMED, 10)
    assert (kept.filed, kept.filed_at is not None) == (5, True)
    assert await value(
        cold_database,
        "SELECT count(*) FROM message_vectors_1 v JOIN project_tags t ON t.id = v.p_tag "
        "WHERE t.name = 'wetlands'",
    ) == len(mine)
    async with cold_database.transaction() as connection:
        await messages.settle_tags(
            connection, mine[0], p_tag=None, d_tags=[], importance=5, valence=None, intensity=None
        )
    assert (await projects(cold_database))[mine[0]] == "wetlands"


async def test_a_daemon_that_loses_the_lead_in_the_middle_is_followed_by_the_next(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """F69, F105: a batch is whole or not there at all."""
    monkeypatch.setattr(confirmed_tags, "AT_A_TIME", 2)
    mine = [await said(use, cold_database, f"heron {n}", ["wetlands"]) for n in range(5)]
    first = await begin_term(cold_database)
    await naming(cold_database, clock).run(first)
    [one] = await pending(project_tags)
    await project_tags.confirm(one.id)
    real = suggestions.file_messages

    async def deposed_after_one(*arguments: Any) -> Any:
        done = await real(*arguments)
        if await value(cold_database, "SELECT max(filed) FROM tag_suggestions"):
            raise Deposed("another daemon leads")
        return done

    monkeypatch.setattr(suggestions, "file_messages", deposed_after_one)
    with pytest.raises(Deposed):
        await ConfirmedTags(cold_database).run(first)
    assert list((await projects(cold_database)).values()).count("wetlands") == 2
    monkeypatch.setattr(suggestions, "file_messages", real)
    await ConfirmedTags(cold_database).run(await begin_term(cold_database))
    assert {(await projects(cold_database))[each] for each in mine} == {"wetlands"}
    [kept] = await project_tags.suggestions(Status.CONFIRMED, 10)
    assert kept.filed == 5


async def test_a_real_daemon_is_woken_by_a_confirmation(
    use: Services, cold_database: Database, project_tags: ProjectTags, pool: Pool, tmp_path: Path
) -> None:
    """F69: it looks but once an hour, unless it is told."""
    for number in range(4):
        await use.say(f"Kafka is slow again, for the {number}th time.")
    async with daemon(pool, tmp_path, DTAG_PROMOTE_MIN_COUNT="3"):

        async def suggested(connection: Any) -> Any:
            return await connection.fetchval("SELECT id FROM tag_suggestions WHERE name = 'kafka'")

        number = await until(cold_database, suggested, "the name is suggested")
        assert isinstance(await project_tags.confirm(number), Registered)

        async def filed(connection: Any) -> Any:
            return await connection.fetchval("SELECT max(filed_at) FROM tag_suggestions")

        await until(cold_database, filed, "all is filed")
    assert set((await projects(cold_database)).values()) == {"kafka"}


async def test_adding_a_name_that_is_suggested_confirms_it(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    for number in range(4):
        await said(use, cold_database, f"heron {number}", ["wetlands"])
    await naming(cold_database, clock).run(await begin_term(cold_database))
    added = await project_tags.add("Wetlands", "birds and water")
    assert isinstance(added, Registered)
    assert added.filing
    assert await pending(project_tags) == []


async def test_two_who_decide_at_once_decide_once(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    for number in range(4):
        await said(use, cold_database, f"heron {number}", ["wetlands"])
    await naming(cold_database, clock).run(await begin_term(cold_database))
    [one] = await pending(project_tags)
    outcomes = await asyncio.gather(
        *(project_tags.confirm(one.id) for _ in range(3)),
        *(project_tags.reject(one.id) for _ in range(3)),
    )
    assert sum(isinstance(outcome, Registered) for outcome in outcomes) == 1


async def test_a_name_whose_words_were_erased_cannot_be_confirmed(
    use: Services, cold_database: Database, owner_database: Database,
    project_tags: ProjectTags, clock: ManualClock,
) -> None:  # fmt: skip
    """F109"""
    for number in range(4):
        await said(use, cold_database, f"heron {number}", ["wetlands"])
    await naming(cold_database, clock).run(await begin_term(cold_database))
    await Redacting(owner_database).erase_words("wetlands", run=True)
    [one] = await pending(project_tags)
    assert "wetlands" not in one.name
    assert isinstance(await project_tags.confirm(one.id), Refusal)


class Judge(Rules):
    """A model that says the same of every pair; `asked` are the pairs."""

    def __init__(self, answer: Judged | Failure) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def serves(self, role: Role) -> bool:
        return role is Role.ALIAS

    async def complete(self, role: Any, messages: Any, schema: Any) -> Any:
        if messages != tagging.trial():
            self.asked.append(messages[-1].text)
        if isinstance(self.answer, Failure):
            return self.answer
        return Answered(self.answer, Provider.LOCAL, "tiny")


def pairing(
    cold: Database, clock: ManualClock, models: Any = None, *, auto: bool = False
) -> AliasSuggestions:
    return AliasSuggestions(cold, models or Rules(), clock, interval_hours=24, auto_apply=auto)


async def two_ports(use: Services, cold: Database, statement: str | None = None) -> None:
    """Two names of one project, and one of another."""
    topics = ["tides", "cranes"]
    for number in range(4):
        await said(use, cold, f"crane {number}", topics, project="harbor")
    for number in range(2):
        await said(use, cold, f"old crane {number}", topics, project="harbour")
    await said(use, cold, "soup", ["soup"], project="kitchen")
    if statement is not None:
        await said(use, cold, statement, project="harbor")


async def test_a_stated_alias_is_suggested_once_and_applied_by_the_user(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    """F68: pending, whatever the confidence, unless the setting says otherwise."""
    await two_ports(use, cold_database, "We renamed harbor to harbour.")
    chore, epoch = pairing(cold_database, clock), await begin_term(cold_database)
    for _ in range(2):
        await chore.run(epoch)
        clock.advance(25 * 3600)
    [one] = await pending(project_tags)
    assert (one.kind, one.name, one.target, one.judged_by) == (
        Kind.ALIAS,
        "harbor",
        "harbour",
        "rules",
    )
    assert set(one.reasons["signs"]) >= {"stated", "topics", "spelling"}
    assert one.confidence is not None
    assert one.confidence >= 0.98
    assert isinstance(await project_tags.confirm(one.id), Registered)
    entries = {entry.name: entry.alias_of for entry in await project_tags.list()}
    assert entries["harbor"] == "harbour"


async def test_a_project_of_private_messages_alone_is_compared_with_none(
    use: Services, cold_database: Database, clock: ManualClock
) -> None:
    """J1: its name would be told to a model."""
    await two_ports(use, cold_database)
    await query(
        cold_database,
        "UPDATE message_state SET private = true "
        "WHERE p_tag = (SELECT id FROM project_tags WHERE name = 'harbour') RETURNING 1",
    )
    found = await cold_database.run(lambda c: suggestions.list_candidates(c, 60, 9))
    assert [tag.name for tag in found] == ["harbor", "kitchen"]


async def test_a_sure_statement_is_applied_unasked_only_where_that_is_set(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    """F68"""
    await two_ports(use, cold_database, "We renamed harbor to harbour.")
    epoch = await begin_term(cold_database)
    await pairing(cold_database, clock, auto=True).run(epoch)
    assert await pending(project_tags) == []
    [one] = await project_tags.suggestions(Status.CONFIRMED, 10)
    assert one.decided_by == "daemon"
    entries = {entry.name: entry.alias_of for entry in await project_tags.list()}
    assert entries["harbor"] == "harbour"
    [change] = await cold_database.run(lambda c: registry.list_changes(c, 10))
    assert (change.action, change.via) == ("confirm", "daemon")
    assert isinstance(await project_tags.unalias("harbor"), Registered)
    clock.advance(25 * 3600)
    await pairing(cold_database, clock, auto=True).run(epoch)
    entries = {entry.name: entry.alias_of for entry in await project_tags.list()}
    assert entries["harbor"] is None


@pytest.mark.parametrize(
    ("trust", "role"), [(Trust.AGENT, Speaker.USER), (Trust.OWNER, Speaker.ASSISTANT)]
)
async def test_nobody_but_the_owner_states_an_alias(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock,
    trust: Trust, role: Speaker,
) -> None:  # fmt: skip
    await two_ports(use, cold_database)
    await said(use, cold_database, "We renamed harbor to harbour.", trust=trust, role=role)
    await pairing(cold_database, clock, auto=True).run(await begin_term(cold_database))
    assert await pending(project_tags) == []
    assert await project_tags.suggestions(Status.CONFIRMED, 10) == []


@pytest.mark.parametrize(
    "text",
    [
        "We decided not to rename harbor to harbour.",
        "If we renamed harbor to harbour, links would break.",
        "Bob said that harbor is the same as harbour.",
        "Please undo the commit that renamed harbor to harbour.",
    ],
)
async def test_what_the_owner_only_talks_about_merges_nothing_and_is_told_to_no_model(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock,
    text: str,
) -> None:  # fmt: skip
    """F68: unasked only on the owner's plain word."""
    await two_ports(use, cold_database, text)
    judge = Judge(Judged(relation=Relation.SAME_PROJECT, confidence=1.0))
    epoch = await begin_term(cold_database)
    for models in (None, judge):
        await pairing(cold_database, clock, models, auto=True).run(epoch)
        assert await project_tags.suggestions(Status.CONFIRMED, 10) == []
        assert {entry.alias_of for entry in await project_tags.list()} == {None}
        clock.advance(25 * 3600)
    assert not any("Their owner said" in question for question in judge.asked)


async def test_a_rejected_direction_never_returns_and_the_other_only_on_a_word(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    """F68"""
    await two_ports(use, cold_database)
    judge = Judge(Judged(relation=Relation.SAME_PROJECT, confidence=0.95))
    chore, epoch = pairing(cold_database, clock, judge), await begin_term(cold_database)
    await chore.run(epoch)
    [one] = await pending(project_tags)
    assert (one.name, one.target, one.judged_by) == ("harbour", "harbor", "tiny")
    await project_tags.reject(one.id)
    for _ in range(2):
        clock.advance(25 * 3600)
        await chore.run(epoch)
    assert await pending(project_tags) == []
    await said(use, cold_database, "harbour is an alias for harbor")
    clock.advance(25 * 3600)
    await chore.run(epoch)
    assert await pending(project_tags) == []
    await said(use, cold_database, "We renamed harbor to harbour.")
    clock.advance(25 * 3600)
    await chore.run(epoch)
    [other] = await pending(project_tags)
    assert (other.name, other.target) == ("harbor", "harbour")


async def test_what_a_model_finds_unlikely_is_not_asked_every_day(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    await two_ports(use, cold_database)
    judge = Judge(Judged(relation=Relation.DIFFERENT, confidence=0.99))
    chore, epoch = pairing(cold_database, clock, judge), await begin_term(cold_database)
    await chore.run(epoch)
    asked = len(judge.asked)
    assert asked == 1
    clock.advance(25 * 3600)
    await chore.run(epoch)
    assert (len(judge.asked), await pending(project_tags)) == (asked, [])


@pytest.mark.parametrize("why", sorted(SILENT))
async def test_a_model_that_is_away_or_hangs_is_asked_again_soon(
    use: Services,
    cold_database: Database,
    project_tags: ProjectTags,
    clock: ManualClock,
    why: Why,
) -> None:
    """D2: rules don't stand in for it."""
    await two_ports(use, cold_database)
    judge = Judge(Failure(why, "the model is away; start it"))
    chore, epoch = pairing(cold_database, clock, judge), await begin_term(cold_database)
    await chore.run(epoch)
    await chore.run(epoch)
    assert len(judge.asked) == 1
    judge.answer = Judged(relation=Relation.RENAME, confidence=0.9)
    clock.advance(600)
    await chore.run(epoch)
    [one] = await pending(project_tags)
    assert one.judged_by == "tiny"
    clock.advance(600)
    await chore.run(epoch)
    assert len(judge.asked) == 2


async def test_a_model_that_says_so_alone_merges_nothing(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    """F68: unasked only on the owner's word."""
    await two_ports(use, cold_database)
    judge = Judge(Judged(relation=Relation.SAME_PROJECT, confidence=1.0))
    epoch = await begin_term(cold_database)
    await pairing(cold_database, clock, judge, auto=True).run(epoch)
    assert [one.status for one in await pending(project_tags)] == [Status.PENDING]
    assert {entry.alias_of for entry in await project_tags.list()} == {None}


async def test_suggestions_of_a_deposed_daemon_are_not_kept(
    use: Services, cold_database: Database, project_tags: ProjectTags, clock: ManualClock
) -> None:
    """F105"""
    await two_ports(use, cold_database, "We renamed harbor to harbour.")
    for number in range(4):
        await said(use, cold_database, f"heron {number}", ["wetlands"])
    epoch = await begin_term(cold_database)
    await begin_term(cold_database)
    for chore in (naming(cold_database, clock), pairing(cold_database, clock)):
        with pytest.raises(Deposed):
            await chore.run(epoch)
    assert await pending(project_tags) == []
