"""Sessions that nobody wrote down: what is summed up, how it is found, what takes it back."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from agents_memory.domain.errors import Refusal
from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Role, Trust
from agents_memory.domain.sittings import IDLE
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.erasure import Report
from agents_memory.services.narrowing import Narrow
from agents_memory.services.recall import RecallRequest
from agents_memory.services.recalled import RecalledItem
from agents_memory.services.redacting import Redacting
from agents_memory.storage.connections import Database
from agents_memory.storage.summaries import SummaryView
from cold.llm.port import Why
from cold.passes.sessions import ANEW_S, EVERY_S, Sessions
from tests.factories import Services, draft
from tests.fakes import ManualClock
from tests.fixtures.language_model import BACKEND, ScriptedModel, failing, summed
from tests.integration.cold_daemons import begin_term, query, value
from tests.integration.test_cluster import DAY, NOW, Attic

YESTERDAY = NOW - DAY
EMBEDDER = open_embedder("hashing", allow_hashing=True)
TALK = (
    "The crane of the harbor stops each morning at nine; please find out what makes it stop.",
    "The watchdog of the crane resets it, because the clock of the gateway jumps by two hours "
    "when the summer rules of the time zone are loaded from the old table after midnight, and "
    "nothing in the yard says so.",
    "Then give the gateway the new table, and write the hour of each reset into the yard log.",
    "Done: the gateway reads the table of this year, and the yard log has a line for each reset. "
    "The watchdog was quiet in the trial run of an hour, and the crane lifted all containers. "
    "I left the old table beside the new one, so that it can be put back.",
)
ROLES = (Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT)


class Desk(Attic):
    """A pool with sessions of yesterday."""

    async def talk(self, session: str = "s1", *texts: str, **changes: Any) -> list[int]:
        """One turn after the other; the owner asks and the agent answers."""
        ids = []
        at = changes.pop("at", YESTERDAY)
        for number, text in enumerate(texts or TALK):
            role = ROLES[number % 4]
            trust = Trust.OWNER if role is Role.USER else Trust.AGENT
            told = {"session": session, "role": role, "trust": trust, **changes}
            ids += await self.say(text, at=at + timedelta(minutes=number), **told)
        return ids

    async def written(self, at: datetime, platform: str = "claude-code") -> int:
        """A memory that an agent wrote at a time; its id."""
        done = await self.use.knowledge.add_memory(
            draft("The crane stopped because of the time zone.", platform=platform),
            self.use.user_id,
            kind=Kind.NOTE,
            subject="crane",
            project=None,
        )
        assert not isinstance(done, Refusal), done
        await self.change("UPDATE memories SET created_at = $1", at)
        return int(await value(self.owner, "SELECT max(id) FROM memories"))

    async def settle_screening(self) -> None:
        """What the stages of a message would do, without the chores that follow."""
        await self.change("UPDATE message_state SET screening = 'clear'")
        await self.change("DELETE FROM work")

    async def recalled(
        self, words: str, *, embedder: Embedder | None = EMBEDDER, **options: Any
    ) -> tuple[RecalledItem, ...]:
        recall = self.use.recall(embedder=embedder)
        try:
            request = RecallRequest(words, Filters(self.use.user_id), **options)
            return (await recall.search(request)).items
        finally:
            await recall.close()


@pytest.fixture
async def desk(use: Services, cold_database: Database, owner_database: Database) -> Desk:
    return Desk(use, cold_database, owner_database)


async def only(desk: Desk) -> SummaryView:
    [summary] = await desk.summaries()
    return summary


async def test_a_session_that_nobody_wrote_down_becomes_a_summary_with_its_messages(
    desk: Desk,
) -> None:
    """F79: by rules, with every message among its sources, which stay in everyday search."""
    ids = await desk.talk()
    await desk.work()
    summary = await only(desk)
    assert (summary.session, summary.kind, summary.messages) == ("s1", "session", tuple(ids))
    assert (summary.project, summary.backend, summary.trust) == ("harbor", "rules", Trust.AGENT)
    assert "watchdog" in summary.content
    assert await desk.archived() == set()
    assert await value(desk.cold, "SELECT count(*) FROM summary_vectors_1") > 0
    await desk.work()
    assert await desk.summaries() == [summary]


async def test_a_session_that_goes_on_now_is_left_alone(desk: Desk) -> None:
    await desk.talk(at=NOW - IDLE)
    await desk.work()
    assert await desk.summaries() == []


@pytest.mark.parametrize("how", ["source", "time"])
async def test_a_session_somebody_wrote_down_gets_none(desk: Desk, how: str) -> None:
    """F79: a memory rests on a message of it, or was written on that client in its time."""
    ids = await desk.talk()
    memory = await desk.written(YESTERDAY if how == "time" else NOW)
    if how == "source":
        await desk.change(
            "INSERT INTO sources (item_id, item_version, message_id) VALUES ($1, 1, $2)",
            memory,
            ids[1],
        )
    await desk.work()
    assert await desk.summaries() == []


async def test_a_memory_of_another_client_does_not_count_as_written(desk: Desk) -> None:
    await desk.talk()
    await desk.written(YESTERDAY, platform="codex")
    await desk.work()
    assert (await only(desk)).session == "s1"


async def test_what_the_daemon_wrote_is_nobodys_note(desk: Desk) -> None:
    await desk.talk()
    await desk.written(YESTERDAY)
    await desk.change("UPDATE patches SET actor = 'cold/extract'")
    await desk.work()
    assert (await only(desk)).session == "s1"


async def test_short_talk_helpers_and_tools_make_no_summary(desk: Desk) -> None:
    await desk.talk("short", "Is the crane up?", "Yes.", "Fine.", "Good.")
    await desk.talk("helper", subagent=True)
    await desk.talk("tools", role=Role.TOOL, trust=Trust.TOOL)
    await desk.work()
    assert await desk.summaries() == []


async def test_a_session_that_goes_on_later_gets_another_summary(desk: Desk) -> None:
    """F79."""
    first = await desk.talk(at=NOW - 2 * DAY)
    await desk.work()
    later = await desk.talk("s1", *(f"{text} Again." for text in TALK))
    await desk.work()
    found = {one.messages for one in await desk.summaries()}
    assert found == {tuple(first), tuple(later)}


async def test_no_summary_crosses_user_platform_or_session(desk: Desk) -> None:
    other = await desk.owner.run(
        lambda c: c.fetchval("INSERT INTO users (name) VALUES ('jo') RETURNING id")
    )
    mine = await desk.talk()
    elsewhere = await desk.talk(platform="codex")
    second = await desk.talk("s2")
    his = await desk.talk()
    await desk.change("UPDATE messages SET user_id = $1 WHERE id = ANY ($2::bigint[])", other, his)
    await desk.work()
    rows = await query(
        desk.cold,
        "SELECT array_agg(message_id ORDER BY message_id) AS ids FROM sources s "
        "JOIN tag_summaries t ON t.id = s.item_id GROUP BY t.id",
    )
    assert sorted(row["ids"] for row in rows) == sorted([mine, elsewhere, second, his])


async def test_private_turns_are_shown_to_no_model_and_never_found(desk: Desk) -> None:
    ids = await desk.talk()
    await desk.settle_screening()
    await desk.change("UPDATE message_state SET private = true")
    model = ScriptedModel(cluster=lambda _: summed("The crane stops."))
    # The first run makes the vectors that were never made.
    await desk.work(model)
    await desk.work(model)
    assert model.asked == []
    [row] = await query(desk.cold, "SELECT id, private FROM tag_summaries")
    assert row["private"]
    assert row["id"] not in {item.id for item in await desk.find("watchdog gateway crane")}
    assert ids


async def test_a_model_rewrites_what_rules_wrote(desk: Desk) -> None:
    """F113."""
    ids = await desk.talk()
    await desk.work()
    before = await only(desk)
    model = ScriptedModel(
        cluster=lambda _: summed("Nobody.", "The watchdog resets the crane, as the clock jumps.")
    )
    await desk.work(model)
    after = await only(desk)
    assert (before.backend, after.backend, after.version) == ("rules", BACKEND, 2)
    assert (after.id, after.messages) == (before.id, tuple(ids))
    assert await desk.archived() == set()


async def test_a_model_that_is_away_holds_it_and_hides_nothing(desk: Desk) -> None:
    await desk.talk()
    await desk.work(ScriptedModel(cluster=lambda _: failing(Why.UNAVAILABLE)))
    assert await desk.summaries() == []
    assert {item.kind for item in await desk.find("watchdog")} == {"message"}


@pytest.mark.parametrize("screening", ["quarantined", "withdrawn"])
async def test_a_held_back_message_takes_the_summary_along(desk: Desk, screening: str) -> None:
    """F79, DESIGN §4: at once, and what is left is told anew."""
    ids = await desk.talk()
    await desk.work()
    before = await only(desk)
    await desk.change(
        "UPDATE message_state SET screening = $2 WHERE message_id = $1", ids[0], screening
    )
    assert await desk.summaries() == []
    await desk.work()
    after = await only(desk)
    assert (after.id != before.id, after.messages) == (True, tuple(ids[1:]))
    assert await value(desk.cold, "SELECT content = '' FROM tag_summaries WHERE id = $1", before.id)


async def test_erased_words_are_in_no_summary(desk: Desk) -> None:
    """F96."""
    await desk.talk("the summer session")
    await desk.work()
    report = await Redacting(desk.owner).erase_words("summer", run=True)
    assert isinstance(report, Report)
    assert report.changed["tag_summaries.content"] == 1
    assert report.changed["tag_summaries.session"] == 1
    await desk.work()
    after = await only(desk)
    assert "summer" not in f"{after.content}{after.session}"


async def test_what_is_filed_elsewhere_is_told_there(desk: Desk) -> None:
    await desk.talk()
    await desk.say("The orchard pump needs new brakes soon.", at=NOW, project_hint="orchard")
    await desk.work()
    await desk.change(
        "UPDATE message_state SET p_tag = (SELECT id FROM project_tags WHERE name = 'orchard')"
    )
    await desk.work()
    assert (await only(desk)).project == "orchard"


async def test_the_summary_of_its_day_takes_its_place_when_it_is_archived(desk: Desk) -> None:
    ids = await desk.talk()
    await desk.work()
    before = await only(desk)
    for table, column in (("messages", "created_at"), ("messages", "occurred_at")):
        await desk.change(f"UPDATE {table} SET {column} = {column} - interval '40 days'")
    await desk.work()
    after = await only(desk)
    assert (after.kind, after.session, after.messages) == ("archive", None, tuple(ids))
    assert await desk.archived() == set(ids)
    state = await value(desk.cold, "SELECT status FROM tag_summaries WHERE id = $1", before.id)
    assert state == "withdrawn"
    assert await value(desk.cold, "SELECT count(DISTINCT summary_id) FROM summary_vectors_1") == 1


async def test_the_summary_of_a_session_that_goes_brings_no_message_back(desk: Desk) -> None:
    """It has archived nothing, so it restores nothing that something else archived."""
    ids = await desk.talk()
    await desk.work()
    await desk.change("UPDATE message_state SET archived_at = now() WHERE message_id = $1", ids[0])
    await desk.work()
    assert await desk.archived() == {ids[0]}


async def test_it_is_found_by_what_no_message_says_alone(desk: Desk) -> None:
    """F79: in the last place, where it fits better than anything and none of its own is there."""
    ids = await desk.talk()
    others = ("Nine of the hour.", "Midnight containers.", "Containers at nine.", "Hour of nine.")
    await desk.say(*others, at=NOW - timedelta(hours=1))
    await desk.work()
    summary = await only(desk)
    found = await desk.recalled("nine midnight hour containers", limit=3, embedder=None)
    assert [item.id for item in found][2] == summary.id
    assert not {item.id for item in found} & set(ids)
    scores = [item.score for item in found]
    assert scores == sorted(scores, reverse=True)
    # Where a message of it is found, that is enough.
    found = await desk.recalled("watchdog midnight hour containers", limit=3, embedder=None)
    assert {item.kind for item in found} == {"message"}
    assert {item.id for item in found} & set(ids)


async def test_it_fills_a_free_place_but_repeats_no_answer(desk: Desk) -> None:
    """F79: never beside all of its messages, never before what matches by itself."""
    ids = await desk.talk()
    await desk.work()
    summary = await only(desk)
    found = await desk.find("watchdog")
    assert found[-1].id == summary.id
    assert (found[-1].session, found[-1].messages) == ("s1", tuple(ids))
    assert [item.kind for item in found[:-1]] == ["message"] * (len(found) - 1)
    assert found[-1].score <= found[0].score
    everything = await desk.find("crane gateway table reset yard")
    assert {item.id for item in everything} == set(ids)


async def test_the_order_of_messages_is_the_same_without_it(desk: Desk) -> None:
    """F79: a summary never pushes a message out of the top of an answer."""
    await desk.talk()
    await desk.say(*(f"The crane {n} lifts containers of the yard." for n in range(12)), at=NOW)
    await desk.work()
    words = "which crane lifts the containers after a reset"
    beside = [(item.id, item.score) for item in await desk.recalled(words, limit=8)]
    await desk.change("UPDATE tag_summaries SET status = 'withdrawn', content = '', backend = NULL")
    alone = [(item.id, item.score) for item in await desk.recalled(words, limit=8)]
    assert beside == alone
    assert len(alone) == 8


async def test_who_asks_for_summaries_alone_gets_it_by_its_score(desk: Desk) -> None:
    await desk.talk()
    await desk.work()
    summary = await only(desk)
    found = await desk.recalled("crane gateway watchdog", narrow=Narrow(("summary",)))
    assert [item.id for item in found] == [summary.id]


async def test_a_session_with_work_waiting_is_looked_at_when_it_is_done(desk: Desk) -> None:
    ids = await desk.talk()
    await desk.settle_screening()
    await desk.change("INSERT INTO work (item_id, stage) VALUES ($1, 'tag')", ids[0])
    clock = ManualClock()
    chore, epoch = Sessions(desk.cold, clock), await begin_term(desk.cold)
    await chore.run(epoch)
    assert await value(desk.cold, "SELECT count(*) FROM tag_summaries") == 0
    await desk.change("DELETE FROM work")
    await chore.run(epoch)
    assert await value(desk.cold, "SELECT count(*) FROM tag_summaries") == 0
    clock.advance(EVERY_S)
    await chore.run(epoch)
    assert await value(desk.cold, "SELECT count(*) FROM tag_summaries") == 1


async def test_many_sessions_are_planned_in_several_transactions_after_one_look(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cold.passes.sessions.AT_A_TIME", 2)
    for number in range(5):
        await desk.talk(session=f"s{number}")
    await desk.settle_screening()
    chore, epoch = Sessions(desk.cold, ManualClock()), await begin_term(desk.cold)
    planned = []
    for _ in range(4):
        await chore.run(epoch)
        planned.append(await value(desk.cold, "SELECT count(*) FROM tag_summaries"))
    assert planned == [2, 4, 5, 5]


async def test_what_was_released_later_is_looked_at_within_a_day(desk: Desk) -> None:
    ids = await desk.talk()
    await desk.settle_screening()
    await desk.change("UPDATE message_state SET screening = 'quarantined'")
    clock = ManualClock()
    chore, epoch = Sessions(desk.cold, clock), await begin_term(desk.cold)
    await chore.run(epoch)
    await desk.change("UPDATE message_state SET screening = 'clear'")
    clock.advance(EVERY_S)
    await chore.run(epoch)
    assert await value(desk.cold, "SELECT count(*) FROM tag_summaries") == 0
    clock.advance(ANEW_S)
    await chore.run(epoch)
    [row] = await query(
        desk.cold, "SELECT array_agg(message_id ORDER BY message_id) AS ids FROM sources"
    )
    assert row["ids"] == ids
