"""The ledger of model calls and what they spent; ids, names and numbers, never content.

These writes carry no epoch: what a deposed daemon spends was spent all the same.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("model_calls")


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests and tokens of some span of time."""

    requests: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended: `outcome` is `answered` or the name of a failure."""

    model: str
    requests: int
    tokens_in: int
    tokens_out: int
    seconds: float
    outcome: str


@dataclass(frozen=True, slots=True)
class Count:
    """The calls of one provider and role that ended alike; `open` never ended."""

    provider: str
    role: str
    outcome: str
    calls: int
    requests: int
    tokens_in: int
    tokens_out: int


def hour_of(now: datetime) -> datetime:
    """The beginning of the hour; `now` is aware, in UTC."""
    return now.replace(minute=0, second=0, microsecond=0)


def day_of(now: datetime) -> datetime:
    """The beginning of the day in UTC."""
    return hour_of(now).replace(hour=0)


async def hold_budget(connection: Connection, provider: str, now: datetime) -> tuple[Spent, Spent]:
    """What was spent in this hour and this day; nobody else books until the transaction ends."""
    hour = hour_of(now)
    row = await connection.fetchrow(SQL["hold_budget"].sql, provider, hour)
    assert row is not None, "the statement makes the row"
    day = await connection.fetchrow(SQL["sum_budget"].sql, provider, day_of(now), hour)
    assert day is not None, "an aggregate always answers"
    return Spent(row["requests"], row["tokens"]), Spent(day["requests"], day["tokens"])


async def begin_call(
    connection: Connection,
    *,
    provider: str,
    model: str,
    role: str,
    now: datetime,
    tokens_in: int,
    tokens_out: int,
) -> int:
    """Books a call before it is made; its id. `hold_budget` comes first."""
    await connection.execute(
        SQL["spend_budget"].sql, provider, hour_of(now), 1, tokens_in + tokens_out
    )
    id_ = await connection.fetchval(
        SQL["begin_call"].sql, provider, model, role, now, tokens_in, tokens_out
    )
    return int(id_)


async def end_call(connection: Connection, id_: int, ended: Ended) -> None:
    """Writes how a call ended, and corrects what was booked for it in its hour."""
    booked = await connection.fetchrow(
        SQL["end_call"].sql,
        id_,
        ended.model,
        ended.requests,
        ended.tokens_in,
        ended.tokens_out,
        ended.seconds,
        ended.outcome,
    )
    if booked is None:
        return
    await connection.execute(
        SQL["spend_budget"].sql,
        booked["provider"],
        hour_of(booked["began_at"]),
        ended.requests - booked["requests"],
        ended.tokens_in + ended.tokens_out - booked["tokens"],
    )


async def count_calls(connection: Connection, since: datetime) -> list[Count]:
    """How the calls since a time ended, by provider, role and outcome."""
    rows = await connection.fetch(SQL["count_calls"].sql, since)
    return [Count(*row.values()) for row in rows]


def next_hour(now: datetime) -> datetime:
    """When the hour's budget is fresh again."""
    return hour_of(now) + timedelta(hours=1)


def next_day(now: datetime) -> datetime:
    """When the day's budget is fresh again."""
    return day_of(now) + timedelta(days=1)
