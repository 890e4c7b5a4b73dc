"""Services over a fresh pool."""

from collections.abc import AsyncIterator

import pytest

from agents_memory.storage.connections import Database
from tests.factories import Services, services


@pytest.fixture
async def use(hot_database: Database) -> AsyncIterator[Services]:
    """The services of a hot process."""
    built = await services(hot_database)
    yield built
    await built.close()
