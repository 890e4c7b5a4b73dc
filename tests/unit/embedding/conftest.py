from collections.abc import AsyncIterator

import pytest_asyncio

from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.protocol import Embedder


@pytest_asyncio.fixture(scope="session")
async def local() -> AsyncIterator[Embedder]:
    """The real offline embedder."""
    embedder = open_embedder("local")
    yield embedder
    await embedder.close()
