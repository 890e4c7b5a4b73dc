"""The schema: forward only, safe twice, refused when it does not fit."""

import asyncio

import pytest

from agents_memory.domain.errors import ProgramTooOld, SchemaMismatch
from agents_memory.embedding.profiles import HASHING
from agents_memory.storage import migrate, vectors
from agents_memory.storage.connections import Database
from agents_memory.storage.migrate import Step
from tests.conftest import SCHEMA, Pool


async def test_a_second_migration_applies_nothing(empty_pool: Pool) -> None:
    """F94: every migration is safe to apply twice."""
    owner = empty_pool.database("memory_owner")
    assert [step.version for step in await migrate.migrate(owner)] == [
        step.version for step in migrate.steps()
    ]
    assert await migrate.migrate(owner) == ()
    assert (await owner.run(migrate.compatibility)).version == migrate.steps()[-1].version
    await owner.close()


async def test_processes_that_prepare_at_once_agree(empty_pool: Pool) -> None:
    owners = [empty_pool.database("memory_owner") for _ in range(4)]
    done = await asyncio.gather(
        *(
            migrate.prepare(
                owner, profile=HASHING.id, dims=HASHING.dims, hot="memory_hot", cold="memory_cold"
            )
            for owner in owners
        )
    )
    assert sorted(len(steps) for steps in done) == [0, 0, 0, len(migrate.steps())]
    async with owners[0].acquire() as connection:
        models = await vectors.list_models(connection)
    assert [(model.profile, model.active) for model in models] == [(HASHING.id, True)]
    for owner in owners:
        await owner.close()


async def test_a_changed_step_is_refused(empty_pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = empty_pool.database("memory_owner")
    await migrate.migrate(owner)
    first = migrate.steps()[0]
    altered = Step(first.version, first.name, f"{first.sql}\n-- altered")
    monkeypatch.setattr(migrate, "steps", lambda: (altered,))
    with pytest.raises(SchemaMismatch, match="another file"):
        await migrate.migrate(owner)
    await owner.close()


async def test_a_failing_step_leaves_the_schema_as_it_was(
    empty_pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = empty_pool.database("memory_owner")
    await migrate.migrate(owner)
    known = migrate.steps()
    broken = Step(9999, "broken", "CREATE TABLE half (id int); SELECT 1 / 0;")
    monkeypatch.setattr(migrate, "steps", lambda: (*known, broken))
    with pytest.raises(Exception, match="22012"):
        await migrate.migrate(owner)
    async with owner.acquire() as connection:
        assert await connection.fetchval("SELECT to_regclass('half')") is None
        assert await connection.fetchval("SELECT max(version) FROM schema_migrations") < 9999
    await owner.close()


async def test_a_list_that_lost_its_last_rows_is_told_with_what_to_do(pool: Pool) -> None:
    """D11: a step meets what it makes, or misses what it changes; none says to migrate again."""
    owner = pool.database("memory_owner")
    async with owner.acquire() as connection:
        listed = [tuple(row) for row in await connection.fetch("SELECT * FROM schema_migrations")]
    told = {}
    for step in reversed(migrate.steps()):
        async with owner.acquire() as connection:
            await connection.execute(
                "DELETE FROM schema_migrations WHERE version >= $1", step.version
            )
        with pytest.raises(SchemaMismatch, match=r"restore .* backup.*DB_SCHEMA") as caught:
            await migrate.migrate(owner)
        told[step.version] = str(caught.value)
        async with owner.acquire() as connection:
            await connection.executemany(
                "INSERT INTO schema_migrations SELECT $1, $2, $3, $4 ON CONFLICT DO NOTHING", listed
            )
    assert "0001 is not on the pool's list of applied steps, but what it makes is there" in told[1]
    assert "0031 is not on the pool's list of applied steps, but what it changes is not" in told[31]
    assert await migrate.migrate(owner) == ()
    await owner.close()


async def test_a_list_with_a_gap_is_told_before_an_older_step_undoes_a_newer_one(
    pool: Pool,
) -> None:
    """D11: step 16 could be applied again, and would bring back what step 18 made anew."""
    owner = pool.database("memory_owner")
    async with owner.acquire() as connection:
        await connection.execute("DELETE FROM schema_migrations WHERE version = 16")
    with pytest.raises(SchemaMismatch, match=r"0016 .*a later one, 00\d\d, is.*restore"):
        await migrate.migrate(owner)
    async with owner.acquire() as connection:
        assert 16 not in {
            row["version"] for row in await connection.fetch("TABLE schema_migrations")
        }
    await owner.close()


async def test_an_empty_pool_names_the_command(empty_pool: Pool) -> None:
    for role in ("memory_owner", "memory_hot"):
        database = empty_pool.database(role)
        with pytest.raises(SchemaMismatch, match=r"is empty; .*mcp-agents-memory migrate"):
            await database.run(migrate.compatibility)
        await database.close()


@pytest.mark.parametrize("applied", [0, 6])
async def test_a_migration_that_did_not_end_is_told_to_every_role(
    empty_pool: Pool, monkeypatch: pytest.MonkeyPatch, applied: int
) -> None:
    """D11, F94"""
    owner, hot = empty_pool.database("memory_owner"), empty_pool.database("memory_hot")
    known = migrate.steps()
    monkeypatch.setattr(migrate, "steps", lambda: known[:applied])
    await migrate.migrate(owner)
    with pytest.raises(SchemaMismatch, match=r"has not come to its end; .*goes on where"):
        await hot.run(migrate.compatibility)
    behind = f"at step {applied} and" if applied else "has not come to its end"
    with pytest.raises(SchemaMismatch, match=behind):
        await owner.run(migrate.compatibility)
    monkeypatch.setattr(migrate, "steps", lambda: known)
    await migrate.prepare(
        owner, profile=HASHING.id, dims=HASHING.dims, hot="memory_hot", cold="memory_cold"
    )
    assert (await hot.run(migrate.compatibility)).version == known[-1].version
    await owner.close()
    await hot.close()


async def test_a_pool_for_newer_programs_refuses_this_one(pool: Pool) -> None:
    owner, hot = pool.database("memory_owner"), pool.database("memory_hot")
    async with owner.acquire() as connection:
        await connection.execute("UPDATE pool SET min_client = '99.0.0'")
    with pytest.raises(ProgramTooOld, match=r"99\.0\.0"):
        await hot.run(migrate.compatibility)
    await owner.close()
    await hot.close()


async def test_a_newer_additive_schema_is_tolerated(pool: Pool) -> None:
    owner, hot = pool.database("memory_owner"), pool.database("memory_hot")
    async with owner.acquire() as connection:
        await connection.execute(
            "INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, 'later', 'x')"
        )
    assert (await hot.run(migrate.compatibility)).version == 9999
    await owner.close()
    await hot.close()


async def test_the_schema_is_named_by_the_settings(empty_pool: Pool) -> None:
    other = Database(empty_pool.url("memory_owner"), schema="second_pool", application="test")
    await migrate.migrate(other)
    async with other.acquire() as connection:
        assert await connection.fetchval("SELECT to_regclass('second_pool.messages')") is not None
        assert await connection.fetchval(f"SELECT to_regclass('{SCHEMA}.messages')") is None
    await other.close()
