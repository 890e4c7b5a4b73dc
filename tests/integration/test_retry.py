"""The queue by hand: what failed or is parked is listed, and asked for again (A7, E7)."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from agents_memory.domain.errors import Code, ConfigurationError, Refusal
from agents_memory.domain.messages import Role, Trust
from agents_memory.services.retrying import Retried, retry
from agents_memory.storage import holds, work
from agents_memory.storage.connections import Database
from agents_memory.storage.holds import Hold
from agents_memory.storage.work import State
from tests.factories import Services
from tests.integration.cold_daemons import (
    FakeEmbedder,
    PacedStop,
    drain,
    query,
    running,
    until,
    value,
    worker,
)
from tests.integration.test_quarantine import PLANTED

LISTENS = (
    "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '-- beat%' "
    "AND datname = current_database() AND state = 'idle'"
)
HELD = "SELECT count(*) = 1 FROM work WHERE stage = 'embed' AND last_error IS NOT NULL"
SCREENED = "SELECT count(*) = 2 FROM message_results WHERE stage = 'screen'"
EMBEDDED = "SELECT count(*) = 2 FROM message_results WHERE stage = 'embed'"
TURNS = [f"The heron number {number} stood in the shallow water." for number in range(3)]


async def _broken(use: Services, cold: Database) -> list[int]:
    """Three messages that wait for tags: one is parked, one failed, one is new."""
    ids = [(await use.say(text)).id for text in TURNS]
    await query(
        cold,
        "UPDATE work SET attempts = 5, last_error = 'RuntimeError', parked_reason = 'RuntimeError' "
        "WHERE item_id = $1",
        ids[0],
    )
    await query(
        cold,
        "UPDATE work SET attempts = 2, last_error = 'TimeoutError', "
        "run_after = now() + interval '1 hour' WHERE item_id = $1",
        ids[1],
    )
    return ids


async def test_every_state_is_listed_by_itself_and_with_the_others(
    use: Services, cold_database: Database, hot_database: Database
) -> None:
    ids = await _broken(use, cold_database)
    rows = await hot_database.run(lambda c: work.list_work(c, 10))
    assert [(row.item_id, row.state) for row in rows] == list(
        zip(ids, (State.PARKED, State.FAILED, State.WAITING), strict=True)
    )
    [failed] = await hot_database.run(lambda c: work.list_work(c, 10, state=State.FAILED))
    assert (failed.item_id, failed.attempts, failed.reason) == (ids[1], 2, "TimeoutError")
    assert await hot_database.run(lambda c: work.list_work(c, 10, stage="tag")) == []
    assert len(await hot_database.run(lambda c: work.list_work(c, 2))) == 2


async def test_a_summary_tells_pending_failed_and_parked_apart(
    use: Services, cold_database: Database, hot_database: Database
) -> None:
    await _broken(use, cold_database)
    [stage] = await hot_database.run(work.summarise_work)
    assert (stage.pending, stage.held, stage.failed, stage.parked) == (2, 0, 1, 1)


async def test_all_that_failed_or_is_parked_is_done_after_a_retry(
    use: Services, cold_database: Database, hot_database: Database
) -> None:
    await _broken(use, cold_database)
    assert await retry(cold_database) == Retried(Counter(screen=2))
    rows = await hot_database.run(lambda c: work.list_work(c, 10))
    assert {(row.state, row.attempts, row.reason) for row in rows} == {(State.WAITING, 0, None)}
    await drain(cold_database, FakeEmbedder())
    assert await hot_database.run(lambda c: work.list_work(c, 10)) == []
    assert await retry(cold_database) == Retried()


async def test_one_item_or_one_stage_is_retried_alone(
    use: Services, cold_database: Database, hot_database: Database
) -> None:
    ids = await _broken(use, cold_database)
    one = Retried(Counter(screen=1))
    assert await retry(cold_database, stage="tag") == Retried()
    assert await retry(cold_database, item_id=ids[0]) == one
    [failed] = await hot_database.run(lambda c: work.list_work(c, 10, state=State.FAILED))
    assert failed.item_id == ids[1]
    assert await retry(cold_database, stage="screen") == one


async def test_what_the_daemon_is_at_is_left_to_it(use: Services, cold_database: Database) -> None:
    ids = await _broken(use, cold_database)
    await query(cold_database, "UPDATE work SET claimed_epoch = 7 WHERE item_id = $1", ids[1])
    assert await retry(cold_database) == Retried(Counter(screen=1))


async def test_what_is_held_is_tried_at_once_and_keeps_how_long_it_has_waited(
    use: Services, cold_database: Database
) -> None:
    """The rest of its stage ends; its row stays as it is."""
    await use.say(TURNS[0])
    await query(cold_database, "UPDATE work SET last_error = 'the model is not installed'")
    [stage] = await cold_database.run(work.summarise_work)
    assert (stage.held, stage.failed) == (1, 0)
    before = await query(cold_database, "SELECT * FROM work")
    assert await retry(cold_database) == Retried(held=Counter(screen=1))
    assert await query(cold_database, "SELECT * FROM work") == before


async def test_a_retry_of_all_is_heard_and_ends_the_rest_of_a_stage(
    use: Services, cold_database: Database
) -> None:
    """A7, F88: the clock stands still, so nothing but the hint brings the embedder back."""
    await use.say(TURNS[0])
    embedder, stop = FakeEmbedder(), PacedStop()
    embedder.down = True
    async with running(worker(cold_database, embedder, stop=stop), cold_database, stop):
        await until(cold_database, lambda c: c.fetchval(LISTENS), "somebody listens")
        await until(cold_database, lambda c: c.fetchval(HELD), "the stage is held")
        embedder.down = False
        await use.say(TURNS[1])
        await until(cold_database, lambda c: c.fetchval(SCREENED), "a usual hint is heard")
        assert await value(cold_database, EMBEDDED) is False, "which ends no rest"
        assert await retry(cold_database) == Retried(held=Counter(embed=1))
        await until(cold_database, lambda c: c.fetchval(EMBEDDED), "both are embedded")


async def test_a_retry_of_all_asks_held_models_and_says_which(
    use: Services, cold_database: Database
) -> None:
    """F88"""
    held = Hold("local", 3, datetime(2027, 1, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC))
    await cold_database.run(lambda c: holds.write_hold(c, held))
    assert await retry(cold_database, stage="tag") == Retried()
    assert await retry(cold_database) == Retried(providers=("local",))
    assert await cold_database.run(holds.list_holds) == []


async def test_a_quarantined_message_has_nothing_to_retry(
    use: Services, cold_database: Database
) -> None:
    planted = await use.say(PLANTED, role=Role.TOOL, trust=Trust.TOOL)
    await drain(cold_database, FakeEmbedder())
    refusal = await retry(cold_database, item_id=planted.id)
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.UNKNOWN_ITEM
    assert "receipt" in refusal.message


async def test_the_hot_role_may_not(use: Services, hot_database: Database) -> None:
    """F94: an agent's server can't put the queue back."""
    with pytest.raises(ConfigurationError, match="COLD_DATABASE_URL"):
        await retry(hot_database)
    with pytest.raises(Exception, match="42501"):
        await hot_database.run(work.retry_work)
