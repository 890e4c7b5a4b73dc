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


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that was booked, and what was spent before it in its hour and its day."""

    id: int
    hour: Spent
    day: Spent


async def begin_call(
    connection: Connection,
    *,
    provider: str,
    model: str,
    role: str,
    now: datetime,
    tokens_in: int,
    tokens_out: int,
) -> Begun:
    """Books a call before it is made; nobody else books until the transaction ends.

    Belongs into one that is undone when that was too much.
    """
    row = await connection.fetchrow(
        SQL["begin_call"].sql,
        provider, model, role, now, hour_of(now), day_of(now), tokens_in, tokens_out,
    )  # fmt: skip
    assert row is not None, "the statement makes the row"
    return Begun(
        row["id"],
        Spent(row["requests"], row["tokens"]),
        Spent(row["day_requests"], row["day_tokens"]),
    )


async def end_call(connection: Connection, id_: int, ended: Ended) -> None:
    """Writes how a call ended, and corrects what was booked for it in its hour."""
    await connection.execute(
        SQL["end_call"].sql,
        id_,
        ended.model,
        ended.requests,
        ended.tokens_in,
        ended.tokens_out,
        ended.seconds,
        ended.outcome,
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
