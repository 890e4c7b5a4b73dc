"""Services over a fresh pool, and a server of somebody else."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest

from agents_memory.embedding.opening import Access, open_embedder
from agents_memory.embedding.protocol import Embedder
from agents_memory.storage.connections import Database
from tests.factories import Services, services
from tests.fixtures.endpoint import ScriptedEndpoint, scripted_endpoint
from tests.fixtures.meanings import NAME, Meanings
from tests.integration.foreign_server import ForeignServer, RemotePool


@pytest.fixture
async def use(hot_database: Database) -> AsyncIterator[Services]:
    """The services of a hot process."""
    built = await services(hot_database)
    yield built
    await built.close()


@pytest.fixture(scope="session")
def foreign() -> Iterator[ForeignServer]:
    """A server of somebody else with a migrated pool; leave it as you found it."""
    server = ForeignServer()
    try:
        server.start()
        asyncio.run(server.found())
        asyncio.run(server.prepare())
        yield server
    finally:
        server.remove()


@pytest.fixture
async def remote(foreign: ForeignServer) -> AsyncIterator[RemotePool]:
    """A fresh migrated pool on that server."""
    name = f"remote_{uuid4().hex[:12]}"
    await foreign.admin(
        f"CREATE DATABASE {name} TEMPLATE memory OWNER memory_owner STRATEGY file_copy", "SELECT 1"
    )
    yield RemotePool(foreign, name)
    await foreign.drop(name)


@pytest.fixture
async def meanings() -> Meanings:
    """What an endpoint answers; its gate and its faults."""
    return Meanings()


@pytest.fixture
async def endpoint(meanings: Meanings) -> AsyncIterator[ScriptedEndpoint]:
    """An endpoint of OpenAI's kind on this machine."""
    async with scripted_endpoint(meanings) as running:
        yield running


@pytest.fixture
async def coming(endpoint: ScriptedEndpoint) -> AsyncIterator[Embedder]:
    """A model that the pool does not have yet."""
    embedder = open_embedder(NAME, access=Access(base_url=endpoint.url))
    yield embedder
    await embedder.close()
