"""Logs end; what was said, believed and decided does not."""

from datetime import UTC, datetime, timedelta

from agents_memory.storage import pruning
from agents_memory.storage.connections import Database
from cold.passes.prune import AT_A_TIME, Prune
from tests.factories import Services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import begin_term, query, value

DAYS = "SELECT now() - make_interval(days => d) FROM generate_series(0, 200) d"
LOGS = ("model_calls", "budgets", "captures", "jobs", "recall_log")


async def _fill(owner: Database) -> None:
    """A row of each log for each of the last 200 days."""
    for sql in (
        "INSERT INTO model_calls (provider, model, role, began_at, requests, tokens_in, tokens_out)"
        f" SELECT 'local', 'm', 'gate', at, 1, 1, 1 FROM ({DAYS}) AS days (at)",
        f"INSERT INTO budgets SELECT 'local', at, 1, 1 FROM ({DAYS}) AS days (at)",
        f"INSERT INTO captures SELECT 'd', 'c', at::text, at FROM ({DAYS}) AS days (at)",
        "INSERT INTO users (name) VALUES ('mara') ON CONFLICT DO NOTHING",
        "INSERT INTO jobs (user_id, kind, request, result, settled_at)"
        f" SELECT u.id, 'digest', '{{}}', '{{}}', at FROM users u, ({DAYS}) AS days (at)",
        "INSERT INTO recall_log (user_id, session, named, platform, device, item_ids, at)"
        f" SELECT u.id, 's', true, 'p', 'd', '{{1}}', at FROM users u, ({DAYS}) AS days (at)",
    ):
        await query(owner, sql)


async def _rows(database: Database) -> dict[str, int]:
    return {name: await value(database, f"SELECT count(*) FROM {name}") for name in LOGS}


async def test_what_is_older_than_asked_for_goes_and_nothing_else(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    said = await use.say("The tide table of March.")
    await query(
        owner_database, "UPDATE messages SET created_at = '2001-01-01' WHERE id = $1", said.id
    )
    await _fill(owner_database)
    clock = ManualClock(datetime.now(UTC))
    chore = Prune(cold_database, clock, 90)
    epoch = await begin_term(cold_database)
    await chore.run(epoch)
    assert set((await _rows(cold_database)).values()) == {90}
    assert await value(cold_database, "SELECT count(*) FROM messages") == 1
    await query(owner_database, "UPDATE budgets SET hour = hour - interval '1 year'")
    await chore.run(epoch)
    assert (await _rows(cold_database))["budgets"] == 90
    clock.advance(3600)
    await chore.run(epoch)
    assert (await _rows(cold_database))["budgets"] == 0


async def test_the_last_week_stays_whatever_is_asked_for(
    cold_database: Database, owner_database: Database
) -> None:
    """F94: the narrow right of the daemon cannot wipe a log."""
    await _fill(owner_database)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    gone = await cold_database.run(lambda c: pruning.prune_logs(c, tomorrow, AT_A_TIME))
    assert gone == dict.fromkeys(LOGS, 194)
    assert set((await _rows(cold_database)).values()) == {7}


async def test_a_batch_is_no_larger_than_asked_for(
    cold_database: Database, owner_database: Database
) -> None:
    await _fill(owner_database)
    before = datetime.now(UTC) - timedelta(days=90)
    gone = await cold_database.run(lambda c: pruning.prune_logs(c, before, 10))
    assert gone == dict.fromkeys(LOGS, 10)
