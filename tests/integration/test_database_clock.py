"""What the daemon files and holds goes by the clock of the database, not by that of its machine."""

import argparse
import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents_memory.clock import DatabaseClock, SystemClock
from agents_memory.settings import Settings
from agents_memory.storage import holds, suggestions
from agents_memory.storage.connections import Database
from cold.app import _run
from cold.guard import Backoff
from cold.leadership import Leadership
from cold.llm.breaker import LONGEST_S, Breaker
from cold.llm.holding import Holding
from cold.llm.port import Provider
from cold.sdnotify import Notifier
from cold.stopping import Stop
from tests.conftest import Pool
from tests.factories import Services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import LIMIT_S, begin_term, environment, query, value

YEAR = timedelta(days=365)
HARBOR = (
    "We moved the harbor sessions to opaque tokens because refresh tokens leaked.",
    "The migration of the session table took forty minutes on the staging copy.",
)


class Ahead(SystemClock):
    """The clock of a machine that is wrong by a year."""

    def now(self) -> datetime:
        return super().now() + YEAR


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cold.app.SystemClock", Ahead)


async def _once(pool: Pool, home: Path, **changes: str) -> int:
    settings = Settings.load(environment(pool, home, **changes))
    options = argparse.Namespace(exit_if_held=False, drain=False, once=True)
    async with asyncio.timeout(LIMIT_S):
        return await _run(settings, options, Notifier({}), kept=False)


async def test_a_machine_that_is_a_year_ahead_archives_nothing_of_today(
    use: Services, pool: Pool, cold_database: Database, tmp_path: Path, ahead: None
) -> None:
    """What was said a minute ago stays in everyday search."""
    for text in HARBOR:
        await use.say(text, project_hint="harbor")
    assert await _once(pool, tmp_path) == 0
    assert await value(cold_database, "SELECT count(*) FROM work") == 0
    archived = "SELECT count(*) FROM message_state WHERE archived_at IS NOT NULL"
    assert await value(cold_database, archived) == 0
    assert await value(cold_database, "SELECT count(*) FROM tag_summaries") == 0


async def test_what_it_writes_down_is_not_in_the_future(
    pool: Pool, cold_database: Database, tmp_path: Path, ahead: None
) -> None:
    """When pairs were looked at, and everything was weighed."""
    assert await _once(pool, tmp_path, PROJECT_ALIAS_PROMOTER_ENABLED="true") == 0
    assert await value(cold_database, "SELECT pairs_at <= now() FROM tag_upkeep") is True
    weighed = "SELECT recomputed_at <= now() FROM activation_upkeep"
    assert await value(cold_database, weighed) is True


async def test_it_prunes_no_log_before_its_time(
    pool: Pool, cold_database: Database, owner_database: Database, tmp_path: Path, ahead: None
) -> None:
    await query(
        owner_database,
        "INSERT INTO model_calls (provider, model, role, began_at, requests, tokens_in, tokens_out)"
        " SELECT 'local', 'm', 'gate', now() - make_interval(days => d), 1, 1, 1"
        " FROM unnest(ARRAY[10, 80, 100]) d",
    )
    assert await _once(pool, tmp_path) == 0
    assert await value(cold_database, "SELECT count(*) FROM model_calls") == 2


async def test_every_sign_of_life_sets_the_clock(cold_database: Database) -> None:
    """A machine that slept, and whose steady clock stood still, knows the time at once."""
    machine = ManualClock(datetime.now(UTC) + YEAR)
    clock = DatabaseClock(machine)
    told: asyncio.Queue[datetime] = asyncio.Queue()

    def set_clock(now: datetime) -> None:
        clock.set(now)
        told.put_nowait(now)

    async def work(_: int) -> list[datetime]:
        return [await told.get() for _ in range(3)]

    leadership = Leadership(
        cold_database, Stop(), holder="here", heartbeat_s=0.01, set_clock=set_clock
    )
    async with asyncio.timeout(LIMIT_S):
        said = await leadership.run(work)
    assert said == sorted(set(said))
    shown = await value(cold_database, "SELECT clock_timestamp()")
    assert said[-1] <= clock.now() <= shown < machine.now()


async def test_a_hold_that_a_wrong_clock_wrote_holds_nobody(cold_database: Database) -> None:
    """One call tries the provider, and keeps the hold by the right time, or ends it."""
    right = ManualClock()
    for _ in range(2):
        until = right.now() + YEAR
        kept = holds.Hold(Provider.LOCAL, 3, until, right.now() + YEAR)
        await cold_database.run(lambda c, kept=kept: holds.write_hold(c, kept))  # type: ignore[misc]
        fresh = _holding(cold_database, right)
        assert await fresh.enter() is None
        await fresh.failed(timedelta(0), "it fell")
        [hold] = await cold_database.run(holds.list_holds)
        assert right.now() < hold.held_until <= right.now() + timedelta(seconds=1800)
        right.advance(1800)


async def test_the_longest_hold_that_can_be_is_kept(cold_database: Database) -> None:
    right = ManualClock()
    until = right.now() + timedelta(seconds=LONGEST_S)
    kept = holds.Hold(Provider.LOCAL, 1, until, right.now())
    await cold_database.run(lambda c: holds.write_hold(c, kept))
    held = await _holding(cold_database, right).enter()
    assert held is not None
    assert held.until == until


async def test_pairs_that_were_looked_at_in_the_future_are_due(cold_database: Database) -> None:
    now = ManualClock().now()
    since = now - timedelta(hours=24)
    await begin_term(cold_database)
    for looked, due in ((now + YEAR, True), (now, False), (since, False), (now - YEAR, True)):
        await cold_database.run(lambda c, at=looked: suggestions.note_pairs(c, at))  # type: ignore[misc]
        assert await cold_database.run(lambda c: suggestions.pairs_due(c, since, now)) is due


def _holding(database: Database, clock: ManualClock) -> Holding:
    """Of a process that just started."""
    breaker = Breaker(clock, Backoff(30, 2, 1800, chance=lambda: 0.0))
    return Holding(database, Provider.LOCAL, breaker, clock)
