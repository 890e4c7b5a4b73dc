"""Activations: the sums of the domain, made by the database from folded and from single traces."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from agents_memory.domain.activation import (
    DEFAULT_IMPORTANCE,
    MESSAGE,
    TRACE_WEIGHTS,
    activation,
    affect_factor,
    decay_of,
    trace_sum,
)
from agents_memory.domain.errors import Deposed
from agents_memory.domain.memories import Kind
from agents_memory.domain.patches import Resolve
from agents_memory.services.forgetting import Forgetting
from agents_memory.storage import activations, traces
from agents_memory.storage.connections import Database
from agents_memory.storage.traces import TraceKind
from cold.passes.decay import Decay
from tests.factories import Services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import begin_term, query
from tests.integration.patches import add, applied

ADDED = """\
INSERT INTO traces (item_id, kind, weight, hour, at)
SELECT $1, $2, $3, n, $4::timestamptz - make_interval(secs => days * 86400)
FROM unnest($5::double precision[]) WITH ORDINALITY AS given (days, n)"""


async def _leave(
    database: Database, item: int, kind: TraceKind, ages_days: Sequence[float], now: datetime
) -> None:
    await query(database, ADDED, item, kind, TRACE_WEIGHTS[kind], now, list(ages_days))


async def _value(database: Database, item: int) -> tuple[float, float]:
    [row] = await query(
        database, "SELECT value, evidence FROM activations WHERE item_id = $1", item
    )
    return row["value"], row["evidence"]


def _forgetting(database: Database, now: datetime) -> Forgetting:
    return Forgetting(database.transaction, ManualClock(now))


async def _now(database: Database) -> datetime:
    [row] = await query(database, "SELECT now() AS now")
    moment: datetime = row["now"]
    return moment.astimezone(UTC)


async def test_a_memory_is_created_once_in_the_log(use: Services) -> None:
    """F20: the creation is the first trace, written with the memory, and once."""
    memory = await add(use)
    async with use.database.acquire() as connection:
        await traces.insert_traces(connection, [memory], TraceKind.CREATED, None)
        assert await traces.count_traces(connection, memory) == {"created": 1}


async def test_activation_is_that_of_the_formula(use: Services) -> None:
    """F19, F20, F21: importance, affect and traces, by kind."""
    memory = await add(use, kind=Kind.PREFERENCE, importance=9, valence=-0.6, intensity=0.85)
    now = await _now(use.database) + timedelta(days=40)
    used, shown = [0.5, 3.0, 39.0], [0.2, 12.0]
    await _leave(use.database, memory, TraceKind.USED, used, now)
    await _leave(use.database, memory, TraceKind.SURFACED, shown, now)
    done = await _forgetting(use.database, now).recompute()
    assert (done.items, done.changed) == (1, 1)
    ages, weights = [40.0, *used, *shown], [1.0] * 4 + [0.1] * 2
    strength = affect_factor(-0.6, 0.85)
    value, evidence = await _value(use.database, memory)
    d = decay_of(Kind.PREFERENCE)
    assert value == pytest.approx(activation(9, strength, trace_sum(ages, weights, d)), rel=1e-5)
    rest = trace_sum(ages[1:], weights[1:], d)
    assert evidence == pytest.approx(activation(9, strength, rest), rel=1e-5)


async def test_a_message_has_no_creation_and_takes_traces(use: Services) -> None:
    said, silent = await use.say("alpha"), await use.say("beta")
    now = await _now(use.database)
    await _leave(use.database, said.id, TraceKind.USED, [4.0], now)
    assert (await _forgetting(use.database, now).recompute()).items == 1
    value, evidence = await _value(use.database, said.id)
    expected = DEFAULT_IMPORTANCE * trace_sum([4.0], [1.0], decay_of(MESSAGE))
    assert value == evidence == pytest.approx(expected, rel=1e-5)
    assert not await query(use.database, "SELECT 1 FROM activations WHERE item_id = $1", silent.id)


async def test_a_promise_weighs_in_full_until_it_is_resolved(use: Services) -> None:
    """F24: and a milestone for ever."""
    promise = await add(use, "I will send the report.", kind=Kind.PROMISE)
    milestone = await add(use, "We shipped version 1.", kind=Kind.MILESTONE)
    fact = await add(use, "The port is 8080.", kind=Kind.FACT)
    later = await _now(use.database) + timedelta(days=400)
    forgetting = _forgetting(use.database, later)
    await forgetting.recompute()
    for lasting in (promise, milestone):
        assert (await _value(use.database, lasting))[0] == pytest.approx(5.0)
    assert (await _value(use.database, fact))[0] == pytest.approx(5.0 / 20, rel=1e-3)
    await applied(use, Resolve(promise, 1))
    await forgetting.recompute()
    assert (await _value(use.database, promise))[0] == pytest.approx(5.0 / 20, rel=1e-3)


async def test_recomputing_twice_changes_nothing(use: Services, cold_database: Database) -> None:
    """F25: in whatever batches, and whether traces were folded before or not."""
    items = [await add(use, f"Statement {number}.") for number in range(7)]
    now = await _now(use.database) + timedelta(days=10)
    for item in items:
        await _leave(use.database, item, TraceKind.USED, [0.1 * item % 9, 2.0], now)
    forgetting = _forgetting(cold_database, now)
    first = await forgetting.recompute(batch=3)
    assert (first.items, first.changed) == (7, 7)
    assert (await forgetting.recompute()).changed == 0
    assert await forgetting.fold() > 0
    await forgetting.recompute()
    before = [await _value(use.database, item) for item in items]
    assert await forgetting.fold() == 0
    assert (await forgetting.recompute(batch=2)).changed == 0
    assert [await _value(use.database, item) for item in items] == before


@pytest.mark.parametrize("most", [0, 1_000_000])
async def test_each_item_is_computed_once_whether_its_traces_are_in_bins_or_not(
    use: Services, cold_database: Database, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """F116: some in bins alone, some in none, some in both; few and many that are in none."""
    monkeypatch.setattr(activations, "READ_UNBINNED", most)
    now = datetime.now(UTC)
    old, both = await add(use, "The tide turns."), await add(use, "The gate is shut.")
    await _forgetting(cold_database, now).fold()
    fresh = await add(use, "The lamp is lit.")
    async with cold_database.acquire() as connection:
        await traces.insert_traces(connection, [both, fresh], TraceKind.USED, None)
    done = await _forgetting(cold_database, now).recompute(batch=1)
    assert done.items == 3
    rows = await query(cold_database, "SELECT item_id FROM activations ORDER BY item_id")
    assert [row["item_id"] for row in rows] == [old, both, fresh]


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.NOTE, Kind.PATTERN, Kind.MILESTONE])
async def test_folded_traces_err_by_less_than_two_percent(
    kind: Kind, use: Services, cold_database: Database
) -> None:
    """F116: over three years of nights, in which bins are joined again and again."""
    memory = await add(use, kind=kind)
    start = await _now(use.database)
    days = [0.0, 0.01, 0.5, 1.0, 3.0, 3.1, 20.0, 90.0, 91.0, 200.0, 365.0, 800.0, 1_100.0]
    known: list[float] = []
    for night in days:
        now = start + timedelta(days=night)
        fresh = [0.3 * step * night / 7 for step in range(7)] + [0.02, 0.07]
        await _leave(use.database, memory, TraceKind.USED, fresh, now)
        known += [night - age for age in fresh]
        forgetting = _forgetting(cold_database, now)
        assert await forgetting.fold() > 0
        await forgetting.recompute()
        ages = [night - at for at in known]
        exact = 5.0 * trace_sum(ages, [1.0] * len(ages), decay_of(kind))
        assert (await _value(use.database, memory))[1] == pytest.approx(exact, rel=0.02)
    [row] = await query(use.database, "SELECT count(*) AS n, sum(weight) AS w FROM trace_bins")
    # Nothing is lost, and there are fewer bins than traces.
    assert row["w"] == len(known) + 1
    assert row["n"] < len(known) / 2


async def test_a_trace_that_came_late_with_an_old_date_counts(
    use: Services, cold_database: Database
) -> None:
    """What was folded already is told by ids, never by dates."""
    memory = await add(use)
    now = await _now(use.database) + timedelta(days=1)
    forgetting = _forgetting(cold_database, now)
    await forgetting.fold()
    await _leave(use.database, memory, TraceKind.USED, [300.0], now)
    await forgetting.recompute()
    before = await _value(use.database, memory)
    assert before[1] > 0
    assert await forgetting.fold() == 1
    await forgetting.recompute()
    assert await _value(use.database, memory) == pytest.approx(before, rel=1e-3)


async def test_a_clock_that_jumps_breaks_nothing(use: Services, cold_database: Database) -> None:
    """Traces of the future count as an hour old, before and after folding."""
    memory = await add(use, kind=Kind.FACT)
    now = await _now(use.database) - timedelta(days=500)
    forgetting = _forgetting(cold_database, now)
    for _ in range(2):
        await forgetting.recompute()
        assert (await _value(use.database, memory))[0] == pytest.approx(5 * 24**0.5, rel=1e-5)
        await forgetting.fold()


async def test_old_exposures_end_and_go_on_counting(use: Services, cold_database: Database) -> None:
    """F116: creation, use and what is in no bin yet stay; a wrong clock holds up nothing."""
    memory, now = await add(use, kind=Kind.FACT), await _now(use.database)
    said = (await use.say("The ferry leaves at nine.")).id
    await _leave(use.database, memory, TraceKind.SURFACED, [800.0, 400.0, 300.0, -4000.0], now)
    await _leave(use.database, memory, TraceKind.USED, [500.0], now)
    await _leave(use.database, said, TraceKind.SURFACED, [500.0], now)
    forgetting = _forgetting(cold_database, now)
    assert await forgetting.prune() == 0
    await forgetting.recompute()
    before = await _value(use.database, memory), await _value(use.database, said)
    await forgetting.fold()
    assert await forgetting.prune(batch=2) == 2
    assert await forgetting.prune() == 0
    left = await query(use.database, "SELECT kind, count(*) AS n FROM traces GROUP BY 1 ORDER BY 1")
    assert left == [
        {"kind": "created", "n": 1}, {"kind": "surfaced", "n": 3}, {"kind": "used", "n": 1}
    ]  # fmt: skip
    assert (await forgetting.recompute()).items == 2
    after = await _value(use.database, memory), await _value(use.database, said)
    assert [value for value, *_ in after] == pytest.approx([v for v, *_ in before], rel=0.02)
    later = _forgetting(cold_database, now + timedelta(days=100))
    assert await later.prune() == 2


async def test_a_million_traces_of_one_memory(use: Services, cold_database: Database) -> None:
    """F116."""
    memory = await add(use, kind=Kind.FACT)
    now = await _now(use.database)
    await query(
        use.database,
        "INSERT INTO traces (item_id, kind, weight, hour, at) SELECT $1, 'used', 1, n, "
        "$2::timestamptz - make_interval(secs => n * 60) FROM generate_series(1, 1000000) n",
        memory,
        now,
    )
    forgetting = _forgetting(cold_database, now)
    assert await forgetting.fold() == 1_000_001
    assert (await forgetting.recompute()).items == 1
    ages = [number / 1440 for number in range(1, 1_000_001)]
    exact = 5 * trace_sum(ages, [1.0] * len(ages), decay_of(Kind.FACT))
    assert (await _value(use.database, memory))[1] == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT fold_traces(10, now())",
        "SELECT join_trace_bins(0, 10, now())",
        "SELECT settle_traces()",
        "INSERT INTO trace_bins VALUES (1, false, 0, 0, 1, now())",
        "UPDATE activation_upkeep SET folded_id = 0",
        "DELETE FROM activations",
    ],
)
async def test_the_hot_role_folds_nothing(statement: str, hot_database: Database) -> None:
    """F94."""
    with pytest.raises(Exception, match=r"42501"):
        await query(hot_database, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM traces",
        "UPDATE traces SET weight = 9",
        "DELETE FROM trace_bins",
        "UPDATE trace_bins SET weight = 9",
        "UPDATE activation_upkeep SET folded_id = 0",
    ],
)
async def test_the_daemon_folds_by_the_owners_functions_only(
    statement: str, cold_database: Database
) -> None:
    """F94."""
    with pytest.raises(Exception, match=r"42501"):
        await query(cold_database, statement)


async def test_the_daemon_folds_daily_and_feels_use_at_every_look(
    use: Services, cold_database: Database
) -> None:
    memory = await add(use, kind=Kind.FACT)
    clock = ManualClock(await _now(use.database))
    decay = Decay(cold_database, clock)
    epoch = await begin_term(cold_database)
    await decay.run(epoch)
    assert (await _value(use.database, memory))[1] == 0
    [bins] = await query(use.database, "SELECT count(*) AS n FROM trace_bins")
    assert bins["n"] == 1

    await _leave(use.database, memory, TraceKind.USED, [0.0], clock.now())
    await decay.run(epoch)
    assert (await _value(use.database, memory))[1] == 0
    clock.advance(60)
    await decay.run(epoch)
    felt = (await _value(use.database, memory))[1]
    assert felt == pytest.approx(5 * 24**0.5, rel=1e-5)

    clock.advance(24 * 3600)
    await decay.run(epoch)
    assert (await _value(use.database, memory))[1] < felt / 4
    upkeep = await cold_database.run(activations.find_upkeep)
    assert upkeep.recomputed_at == clock.now()


async def test_a_clock_put_back_does_not_stop_the_daemon(
    use: Services, cold_database: Database
) -> None:
    await add(use)
    clock = ManualClock(await _now(use.database))
    decay = Decay(cold_database, clock)
    epoch = await begin_term(cold_database)
    await decay.run(epoch)
    clock.advance(60)
    clock.set(clock.now() - timedelta(days=30))
    await decay.run(epoch)
    upkeep = await cold_database.run(activations.find_upkeep)
    assert upkeep.recomputed_at == clock.now()


async def test_a_deposed_daemon_computes_nothing(use: Services, cold_database: Database) -> None:
    """F105."""
    await add(use)
    epoch = await begin_term(cold_database)
    await begin_term(cold_database)
    with pytest.raises(Deposed):
        await Decay(cold_database, ManualClock()).run(epoch)
    assert not await query(use.database, "SELECT 1 FROM activations")


async def test_a_writer_that_takes_long_does_not_stop_the_recompute(
    use: Services, cold_database: Database
) -> None:
    """What cannot be folded tonight counts from its single traces."""
    memory = await add(use, kind=Kind.FACT)
    clock = ManualClock(await _now(use.database))
    epoch = await begin_term(cold_database)
    async with use.database.transaction() as writer:
        await traces.insert_traces(writer, [memory], TraceKind.USED, None)
        await Decay(cold_database, clock).run(epoch)
    assert not await query(use.database, "SELECT 1 FROM trace_bins")
    assert (await _value(use.database, memory))[0] == pytest.approx(5 * 24**0.5, rel=1e-5)
