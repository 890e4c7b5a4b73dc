"""Weeks of a daemon's life in minutes: what grows with what was said, and what must not.

    python -m bench.week [--days 100] [--an-hour 2] [--hours 24]

One daemon, composed as it is in production, and a clock that is set forward hour by hour. Each hour
some turns come in, a session is captured, something is recalled and cited, and a model is booked in
the ledger; once a day something is remembered, which takes the place of what was believed. Then the
memory of this process, its connections, and the rows of every table are counted.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agents_memory.domain.messages import Draft, Origin, Role, Stored, Trust
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.profiles import HASHING
from agents_memory.services.intake import Intake
from agents_memory.storage import captures, leadership, model_calls, users
from agents_memory.storage.connections import Database
from agents_memory.storage.model_calls import Ended
from agents_memory.storage.notify import Hints
from bench import report
from bench.habits import DEVICE, PLATFORM, PROJECT, Habits, berth
from bench.pool import fresh_pool
from cold.composition import compose
from cold.stopping import Stop
from cold.worker import Finish, Pace, Worker

HOUR = timedelta(hours=1)
RETENTION_DAYS, ARCHIVE_DAYS = 90, 30
# What was said and what is made of it, row for row; it grows with the messages and never otherwise.
PER_MESSAGE = frozenset(
    (
        "messages",
        "message_state",
        "message_results",
        "message_context",
        "message_vectors_1",
        "sources",
        "tag_summaries",
        "summary_vectors_1",
        "lexeme_stats",
    )
)
# What is believed, in every version and with the patch that wrote it, and how it was used; bins of
# uses are at most a few an item. It grows with what is remembered and used.
BELIEVED = frozenset(
    (
        "memories",
        "memory_versions",
        "memory_vectors_1",
        "patches",
        "patch_operations",
        "traces",
        "trace_bins",
        "activations",
    )
)
_COUNT = 'SELECT count(*) FROM "{}"'
# One row for each name that was ever suggested: about as many as there are topics.
BY_VOCABULARY = frozenset(("tag_suggestions",))
TOPICS = ("session tokens", "the crane brakes", "tide tables", "the staging copy", "berth prices")


class SetClock:
    """The time of the simulation: wall and monotonic move together."""

    def __init__(self, now: datetime) -> None:
        self.begin = self.time = now

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return (self.time - self.begin).total_seconds()


@dataclass(frozen=True, slots=True)
class Day:
    """The end of one day: KiB of this process, connections to the database, rows by table."""

    number: int
    rss_kib: int
    connections: int
    rows: Mapping[str, int]

    @property
    def flat(self) -> dict[str, int]:
        """Rows of the tables that must not grow."""
        grows = PER_MESSAGE | BELIEVED | BY_VOCABULARY
        return {name: rows for name, rows in self.rows.items() if name not in grows}


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, how busy, and when things end, in days."""

    days: int
    messages_an_hour: int = 2
    retention_days: int = RETENTION_DAYS
    archive_days: int = ARCHIVE_DAYS
    # Hours that are lived through; the others of a day only pass.
    hours_a_day: int = 24


async def live(hot: Database, cold: Database, owner: Database, plan: Plan) -> list[Day]:
    """Lives through the days up to now; one `Day` each. The pool is fresh, `hashing` its model."""
    clock = SetClock(datetime.now(UTC) - timedelta(days=plan.days))
    embedder = open_embedder("hashing", allow_hashing=True)
    hints = Hints(hot)
    intake = Intake(hot, hints, clock)
    habits = Habits(hot, owner, hints, intake, embedder)
    user_id = await hot.run(lambda c: users.ensure_user(c, "mara"))
    worker = compose(
        cold,
        [embedder],
        Stop(),
        clock,
        pace=Pace(50, 60.0, once=True),
        max_attempts=5,
        archive_after_days=plan.archive_days,
        log_retention_days=plan.retention_days,
    )
    epoch = await cold.run(lambda c: leadership.take_lead(c, "week", 1))
    days = []
    try:
        for number in range(1, plan.days + 1):
            session = f"s{number}"
            # What the reply draws on was remembered the day before, and nobody cites it.
            await habits.ask(user_id, session, "Where does the tug Ottilie lie?", cites=False)
            await _turn(intake, user_id, clock.time, number, Role.ASSISTANT, berth(number - 1))
            for hour in range(plan.hours_a_day):
                await habits.ask(user_id, session, _topic(number, hour, 0))
                for turn in range(plan.messages_an_hour):
                    await _say(intake, user_id, clock.time, number, hour, turn)
                await habits.date(clock.time)
                await _keep_busy(hot, cold, clock.time, number, hour)
                await _work(worker, epoch)
                clock.time += HOUR
            await habits.remember(user_id, session, number, clock.time - HOUR)
            await habits.date(clock.time - HOUR)
            await _work(worker, epoch)
            clock.time += HOUR * (24 - plan.hours_a_day)
            days.append(await _count(owner, number))
    finally:
        await hints.close()
        await embedder.close()
    return days


async def _work(worker: Worker, epoch: int) -> None:
    finish = await worker.run(epoch)
    if finish is not Finish.DRAINED:
        raise RuntimeError(f"the daemon ended as {finish}")


def _topic(day: int, hour: int, turn: int) -> str:
    return TOPICS[(day + hour + turn) % len(TOPICS)]


async def _say(intake: Intake, user_id: int, now: datetime, day: int, hour: int, turn: int) -> None:
    topic = _topic(day, hour, turn)
    text = f"{(day * 24 + hour) * 97 + turn}: {topic} came up again, and it still holds."
    await _turn(intake, user_id, now, day, Role.USER if turn % 2 == 0 else Role.ASSISTANT, text)


async def _turn(
    intake: Intake, user_id: int, now: datetime, day: int, role: Role, text: str
) -> None:
    stored = await intake.store(
        Draft(
            role=role,
            text=text,
            origin=Origin.CAPTURED,
            trust=Trust.OWNER,
            platform=PLATFORM,
            device=DEVICE,
            session=f"s{day}",
            project_hint=PROJECT,
            occurred_at=now,
        ),
        user_id,
    )
    assert isinstance(stored, Stored), stored


async def _keep_busy(hot: Database, cold: Database, now: datetime, day: int, hour: int) -> None:
    """What other processes do in an hour: a sign of life, and a call of a model."""
    sessions = [f"s{day}-{hour // 8}"]
    await hot.run(
        lambda c: captures.beat(c, device="laptop", client="cc", sessions=sessions, now=now)
    )
    async with cold.transaction() as connection:
        call = await model_calls.begin_call(
            connection, provider="local", model="m", role="gate", now=now, tokens_in=9, tokens_out=9
        )
        await model_calls.end_call(connection, call.id, Ended("m", 1, 9, 9, 0.1, "answered"))


async def _count(owner: Database, number: int) -> Day:
    async with owner.acquire() as connection:
        tables = await connection.fetch(
            "SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'",
            owner.schema,
        )
        rows = {
            row["relname"]: await connection.fetchval(_COUNT.format(row["relname"]))
            for row in tables
        }
        connections = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND backend_type = 'client backend'"
        )
    return Day(number, resident_kib(), connections, rows)


def resident_kib() -> int:
    """The resident memory of this process (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("no VmRSS in /proc/self/status")


async def _measure(plan: Plan) -> Sequence[Day]:
    async with fresh_pool(HASHING) as pool:
        hot, cold, owner = (pool.database(role, 4) for role in ("hot", "cold", "owner"))
        try:
            return await live(hot, cold, owner, plan)
        finally:
            for database in (hot, cold, owner):
                await database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="What grows in a daemon's life, and what not.")
    parser.add_argument("--days", type=int, default=100)
    parser.add_argument("--an-hour", type=int, default=2, help="messages each hour")
    parser.add_argument("--hours", type=int, default=24, help="hours of each day that are lived")
    options = parser.parse_args()
    plan = Plan(options.days, options.an_hour, hours_a_day=options.hours)
    days = asyncio.run(_measure(plan))
    wanted = sorted({1, 7, 30, 60, 90, 95, len(days)} & set(range(1, len(days) + 1)))
    shown = [days[number - 1] for number in wanted]
    report.table(
        ["day", "RSS MiB", "connections", "messages", "summaries", "calls", "budgets", "captures"],
        [
            [
                day.number,
                day.rss_kib / 1024,
                day.connections,
                *(
                    day.rows[name]
                    for name in ("messages", "tag_summaries", "model_calls", "budgets", "captures")
                ),
            ]
            for day in shown
        ],
    )
    last = days[-1]
    grown = {
        name: rows - days[-8].rows[name]
        for name, rows in last.flat.items()
        if len(days) > 8 and rows > days[-8].rows[name]
    }
    report.result(
        {
            "bench": "week",
            "days": len(days),
            "rss_kib": {str(day.number): day.rss_kib for day in shown},
            "connections": {str(day.number): day.connections for day in shown},
            "rows": dict(sorted(last.rows.items())),
            "grown_in_the_last_week": grown,
        }
    )


if __name__ == "__main__":
    main()
