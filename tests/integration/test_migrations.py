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


async def test_a_list_of_steps_that_lost_one_is_told_with_what_to_do(pool: Pool) -> None:
    """D11"""
    owner = pool.database("memory_owner")
    async with owner.acquire() as connection:
        await connection.execute("DELETE FROM schema_migrations WHERE version = 1")
    with pytest.raises(SchemaMismatch, match=r"0001 .*restore .* backup.*DB_SCHEMA"):
        await migrate.migrate(owner)
    await owner.close()


async def test_an_empty_pool_names_the_command(empty_pool: Pool) -> None:
    owner = empty_pool.database("memory_owner")
    with pytest.raises(SchemaMismatch, match="mcp-agents-memory migrate"):
        await owner.run(migrate.compatibility)
    await owner.close()


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
