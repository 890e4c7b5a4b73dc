"""A server of somebody else: roles with passwords over TCP, and settings that it may refuse."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agents_memory.domain.filters import Filters
from agents_memory.services.opening import open_pool, prepare_pool
from agents_memory.services.recall import RecallRequest
from agents_memory.settings import Settings
from agents_memory.storage import leadership
from agents_memory.storage.connections import SESSION, Connection
from tests.factories import services, settle_by_hand
from tests.integration.foreign_server import ForeignServer, RemotePool


@pytest.fixture
def environ(remote: RemotePool) -> dict[str, str]:
    """What the owner of a pool on such a server sets."""
    return {
        "OWNER_DATABASE_URL": remote.url("memory_owner"),
        "COLD_DATABASE_URL": remote.url("memory_cold"),
        "DATABASE_URL": remote.url("memory_hot"),
        "EMBEDDING_MODEL": "hashing",
        "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
    }


async def test_an_empty_database_becomes_a_pool_that_stores_and_finds(
    foreign: ForeignServer, environ: dict[str, str], tmp_path: Path
) -> None:
    """F94, F101: three roles with passwords, as on any managed server."""
    name = "untouched"
    await foreign.create(name)
    urls = {
        variable: foreign.url(role, name)
        for variable, role in (
            ("OWNER_DATABASE_URL", "memory_owner"),
            ("COLD_DATABASE_URL", "memory_cold"),
            ("DATABASE_URL", "memory_hot"),
        )
    }
    settings = Settings.load({**environ, **urls}, home=tmp_path)
    assert (await prepare_pool(settings))[0] == "0001_pool"
    hot = await open_pool(settings, "hot", application="test")
    cold = await open_pool(settings, "cold", application="test")
    use = await services(hot.database)
    stored = await use.say("The heron stood in the shallow water.")
    await settle_by_hand(cold.database, use.embedder, [stored.id])
    recall = use.recall()
    answer = await recall.search(RecallRequest("shallow heron", Filters(use.user_id)))
    assert (answer.used, [item.id for item in answer.items]) == ("hybrid", [stored.id])
    await recall.close()
    await use.close()
    await hot.close()
    await cold.close()
    await foreign.drop(name)


async def test_every_session_setting_is_in_force(remote: RemotePool) -> None:
    """Also on a connection that others used before."""
    database = remote.database("memory_hot", max_size=1)
    for _ in range(2):
        async with database.acquire() as connection:
            assert await _settings(connection, SESSION) == SESSION
    own = await database.connect(**leadership.LOCK_SESSION)
    # The server shows this one in milliseconds.
    wanted = {**SESSION, **leadership.LOCK_SESSION, "tcp_user_timeout": "8000"}
    assert await _settings(own, wanted) == wanted
    await own.close()
    await database.close()


@pytest.mark.parametrize(
    ("refused", "value"),
    [
        ("no_such_parameter", "1"),
        ("max_connections", "5"),
        ("log_min_messages", "panic"),
        ("statement_timeout", "a while"),
    ],
)
async def test_a_setting_that_the_server_refuses_costs_that_setting_alone(
    remote: RemotePool, refused: str, value: str
) -> None:
    """Unknown, fixed at the start, the superuser's, or of another form: all others hold."""
    database = remote.database("memory_hot", settings={refused: value})
    with capture_logs() as said:
        async with database.acquire() as connection:
            kept = {name: value for name, value in SESSION.items() if name != refused}
            assert await _settings(connection, kept) == kept
            assert await connection.fetchval("SELECT to_regclass('messages')") is not None
        # Learnt once, not with every connection.
        await asyncio.gather(*(database.run(_pause) for _ in range(3)))
        own = await database.connect()
        await own.close()
    notes = [line["note"] for line in said if line.get("note")]
    assert notes == [f"the server refuses the setting {refused}"]
    await database.close()


@pytest.mark.parametrize("pooled", [False, True])
async def test_pgvector_may_have_a_schema_of_its_own(
    foreign: ForeignServer, environ: dict[str, str], tmp_path: Path, pooled: bool
) -> None:
    """As some providers keep their extensions, under a name of their choice."""
    name = "apart"
    await foreign.admin(f"CREATE DATABASE {name} OWNER memory_owner", "SELECT 1")
    await foreign.admin(
        'CREATE SCHEMA "My ""extensions"""',
        'CREATE EXTENSION vector SCHEMA "My ""extensions"""',
        'GRANT USAGE ON SCHEMA "My ""extensions""" TO PUBLIC',
        "SELECT 1",
        database=name,
    )
    urls = {
        "OWNER_DATABASE_URL": foreign.url("memory_owner", name),
        "COLD_DATABASE_URL": foreign.url("memory_cold", name),
        "DATABASE_URL": foreign.url("memory_hot", name),
        "DATABASE_POOLED": str(pooled),
    }
    settings = Settings.load({**environ, **urls}, home=tmp_path)
    assert await prepare_pool(settings)
    hot = await open_pool(settings, "hot", application="test")
    cold = await open_pool(settings, "cold", application="test")
    use = await services(hot.database)
    stored = await use.say("The heron stood in the shallow water.")
    await settle_by_hand(cold.database, use.embedder, [stored.id])
    recall, request = use.recall(), RecallRequest("shallow heron", Filters(use.user_id))
    answers = await asyncio.gather(*(recall.search(request) for _ in range(6)))
    assert [answer.used for answer in answers] == ["hybrid"] * 6
    await recall.close()
    await use.close()
    await hot.close()
    await cold.close()
    await foreign.drop(name)


async def test_one_role_may_do_everything_there(remote: RemotePool, tmp_path: Path) -> None:
    """The simplest set-up: one URL, no roles of ours."""
    settings = Settings.load(
        {
            "DATABASE_URL": remote.url("memory_owner"),
            "EMBEDDING_MODEL": "hashing",
            "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
        },
        home=tmp_path,
    )
    assert await prepare_pool(settings) == ()
    for role in ("hot", "cold", "owner"):
        opened = await open_pool(settings, role, application="test")
        assert await opened.database.run(lambda c: c.fetchval("SELECT current_user::text")) == (
            "memory_owner"
        )
        await opened.close()


async def _settings(connection: Connection, names: dict[str, str]) -> dict[str, str]:
    rows = await connection.fetch(
        "SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name", list(names)
    )
    return {row["name"]: row["value"] for row in rows}


async def _pause(connection: Connection) -> None:
    await connection.execute("SELECT pg_sleep(0.01)")
