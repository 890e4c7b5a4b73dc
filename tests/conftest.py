"""A real PostgreSQL for every test: one private server a worker, a fresh database each time."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from agents_memory.embedding.profiles import HASHING
from agents_memory.storage import migrate
from agents_memory.storage.connections import Database
from agents_memory.storage.embedded.server import Cluster
from tests import memory_disk

SCHEMA = "agents_memory"
OURS = (
    "AGENTS_MEMORY_",
    "CAPTURE_",
    "COLD_",
    "LLM_",
    "LOCAL_",
    "CLOUD_LLM_",
    "SHORT_TERM_",
    "MEMORY_",
    "DB_",
    "DTAG_",
    "PROJECT_ALIAS_",
    "DATABASE_",
    "OWNER_DATABASE_",
)


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """No setting of the developer's own machine reaches a test."""
    patch = pytest.MonkeyPatch()
    for name in list(os.environ):
        if name.startswith(OURS):
            patch.delenv(name)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The server of this worker, in memory where there is room, as nothing has to survive it."""
    in_memory = memory_disk.make_folder()
    base = in_memory or tmp_path_factory.mktemp("cluster")
    server = Cluster(
        base,
        settings={
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "wal_level": "minimal",
            "max_wal_senders": "0",
            "max_wal_size": "128MB",
            # A worker of the superuser's in a database would keep its owner from dropping it.
            "autovacuum": "off",
        },
        tethered=True,
    )
    server.start(timeout=120)
    yield server
    server.stop()
    server.remove()
    if in_memory:
        shutil.rmtree(in_memory)


class Pool:
    """One migrated database of its own; `url(role)` reaches it as one of the three roles."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster = cluster
        self.name = name

    def url(self, role: str) -> str:
        return self._cluster.dsn(role).replace("/memory?", f"/{self.name}?")

    def database(self, role: str, **options: object) -> Database:
        return Database(self.url(role), schema=SCHEMA, application=f"test-{role}", **options)  # type: ignore[arg-type]


async def _create(cluster: Cluster, name: str, template: str) -> None:
    connection = await asyncpg.connect(cluster.dsn("memory_owner"))
    try:
        await connection.execute(
            f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy'
        )
    finally:
        await connection.close()


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> str:
    """A migrated database with the hashing model active, to copy from."""

    async def prepare() -> str:
        name = "pool_template"
        await _create(cluster, name, "memory")
        owner = Pool(cluster, name).database("memory_owner")
        await migrate.prepare(
            owner, profile=HASHING.id, dims=HASHING.dims, hot="memory_hot", cold="memory_cold"
        )
        await owner.close()
        return name

    return asyncio.run(prepare())


async def _drop(cluster: Cluster, name: str) -> None:
    """Drops a database, once the sessions in it are gone.

    The owner may not end a session of another role; one that is just ending, or of a killed child,
    is waited for, and the roles end what is left themselves.
    """
    for _ in range(100):
        owner = await asyncpg.connect(cluster.dsn("memory_owner"))
        try:
            await owner.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
            return
        except asyncpg.InsufficientPrivilegeError:
            await _end_sessions(cluster, name)
        finally:
            await owner.close()
    raise AssertionError(f"somebody holds on to {name}")


async def _end_sessions(cluster: Cluster, name: str) -> None:
    for role in ("memory_hot", "memory_cold"):
        connection = await asyncpg.connect(cluster.dsn(role))
        try:
            await connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = $1 AND usename = current_user",
                name,
            )
        finally:
            await connection.close()


@pytest.fixture
async def pool(cluster: Cluster, template: str) -> AsyncIterator[Pool]:
    """A fresh migrated pool for one test."""
    name = f"pool_{uuid4().hex[:12]}"
    await _create(cluster, name, template)
    yield Pool(cluster, name)
    await _drop(cluster, name)


@pytest.fixture
async def empty_pool(cluster: Cluster) -> AsyncIterator[Pool]:
    """A database with pgvector and no schema yet."""
    name = f"empty_{uuid4().hex[:12]}"
    await _create(cluster, name, "memory")
    yield Pool(cluster, name)
    await _drop(cluster, name)


@pytest.fixture
async def hot_database(pool: Pool) -> AsyncIterator[Database]:
    database = pool.database("memory_hot")
    yield database
    await database.close()


@pytest.fixture
async def cold_database(pool: Pool) -> AsyncIterator[Database]:
    database = pool.database("memory_cold")
    yield database
    await database.close()


@pytest.fixture
async def owner_database(pool: Pool) -> AsyncIterator[Database]:
    database = pool.database("memory_owner")
    yield database
    await database.close()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent
