"""A daemon lives for weeks by a clock that is set forward: what must not grow does not."""

import pytest

from agents_memory.storage.connections import Database
from bench.week import PER_MESSAGE, TOPICS, Day, Plan, live

# Past a week nothing may be pruned sooner; so the first prune falls into the second week.
PLAN = Plan(days=21, messages_an_hour=2, retention_days=7, archive_days=3, hours_a_day=2)
HEAD_ROOM_KIB = 16 * 1024


@pytest.fixture
async def days(
    hot_database: Database, cold_database: Database, owner_database: Database
) -> list[Day]:
    return await live(hot_database, cold_database, owner_database, PLAN)


async def test_three_weeks_leave_no_more_than_what_was_said(days: list[Day]) -> None:
    """E7, F89: memory, connections and every table are flat but those that hold what was said."""
    before, after = days[10], days[-1]
    assert after.flat == before.flat
    assert after.rows["tag_suggestions"] <= len(TOPICS)
    assert after.connections == before.connections
    assert after.rss_kib - before.rss_kib < HEAD_ROOM_KIB
    assert (after.rows["work"], after.rows["budgets"]) == (0, before.rows["budgets"])
    # One row, or always the same number of them, for each message.
    said = {day.number: day.rows["messages"] for day in (before, after)}
    assert said == {day: day * 2 * 2 for day in (11, 21)}
    for name in ("message_state", "message_context", "message_vectors_1"):
        assert after.rows[name] == after.rows["messages"]
    for name in PER_MESSAGE & after.rows.keys() - {"lexeme_stats", "traces"}:
        assert after.rows[name] * said[11] <= (before.rows[name] + said[21]) * said[21], name
    # Whole days older than three, and no other, have a summary.
    assert after.rows["tag_summaries"] == PLAN.days - PLAN.archive_days - 1
