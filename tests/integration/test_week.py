"""A daemon lives for weeks by a clock that is set forward: what must not grow does not."""

import pytest

from agents_memory.storage.connections import Database
from bench.week import PER_MESSAGE, TOPICS, Day, Plan, live

# Past a week nothing may be pruned sooner; so the first prune falls into the second week.
PLAN = Plan(days=21, messages_an_hour=2, retention_days=7, archive_days=3, hours_a_day=2)
HEAD_ROOM_KIB = 16 * 1024
# A reply and a fact beside the turns of the hours.
A_DAY = PLAN.hours_a_day * PLAN.messages_an_hour + 2
# Names that can be suggested: the topics, the tug and its berth, alone and in pairs.
VOCABULARY = 2 * len(TOPICS)
# A memory's uses are folded into ever longer bins, so that there are a few an item.
BINS_OF_ITEM = 4


@pytest.fixture
async def days(
    hot_database: Database, cold_database: Database, owner_database: Database
) -> list[Day]:
    return await live(hot_database, cold_database, owner_database, PLAN)


async def test_three_weeks_leave_no_more_than_what_was_said_and_believed(
    days: list[Day], owner_database: Database
) -> None:
    """E7, F89: memory, connections and every table are flat but those that hold what was said, what
    is believed and how it was used; recalls, citations and revisions go on all the time."""
    before, after = days[10], days[-1]
    assert after.flat == before.flat
    assert before.rows["recall_log"] == after.rows["recall_log"] > 0
    assert after.rows["tag_suggestions"] <= VOCABULARY
    assert after.connections == before.connections
    assert after.rss_kib - before.rss_kib < HEAD_ROOM_KIB
    assert (after.rows["work"], after.rows["budgets"]) == (0, before.rows["budgets"])
    # One row, or always the same number of them, for each message.
    said = {day.number: day.rows["messages"] for day in (before, after)}
    assert said == {day: day * A_DAY for day in (11, 21)}
    for name in ("message_state", "message_context", "message_vectors_1"):
        assert after.rows[name] == after.rows["messages"]
    for name in PER_MESSAGE & after.rows.keys() - {"lexeme_stats"}:
        assert after.rows[name] * said[11] <= (before.rows[name] + said[21]) * said[21], name
    # One fact a day, in the place of the last: three patches, and no second memory.
    assert (after.rows["memories"], after.rows["patches"]) == (1, 3 * PLAN.days)
    assert after.rows["activations"] <= sum(
        after.rows[name] for name in ("messages", "memories", "tag_summaries")
    )
    assert after.rows["trace_bins"] <= BINS_OF_ITEM * after.rows["activations"]
    async with owner_database.acquire() as connection:
        uses = await connection.fetchval("SELECT count(*) FROM traces WHERE inferred")
    assert 0 < uses <= PLAN.days
    # Whole days older than three, and no other, have a summary.
    assert after.rows["tag_summaries"] == PLAN.days - PLAN.archive_days - 1
