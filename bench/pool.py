"""A pool of its own for one benchmark: a private server, migrated, gone at the end."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from agents_memory.embedding.profiles import Profile
from agents_memory.storage import migrate
from agents_memory.storage.connections import Database
from agents_memory.storage.embedded.server import Cluster


class BenchPool:
    """The three roles of one fresh pool."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def socket(self) -> Path:
        """Where the server listens."""
        endpoint = self._cluster.place.endpoint
        return endpoint.host / f".s.PGSQL.{endpoint.port}"

    def url(self, role: str, folder: Path | None = None) -> str:
        """The address for a role, by that socket or its namesake in another folder."""
        endpoint = self._cluster.place.endpoint
        there = endpoint if folder is None else replace(endpoint, host=folder)
        return there.dsn(f"memory_{role}")

    def database(self, role: str, max_size: int = 8) -> Database:
        return Database(
            self.url(role),
            schema="agents_memory",
            application=f"bench-{role}",
            max_size=max_size,
        )


@asynccontextmanager
async def fresh_pool(profile: Profile) -> AsyncIterator[BenchPool]:
    """A migrated pool whose active model is `profile`, with the durability users get."""
    with tempfile.TemporaryDirectory(prefix="agents-memory-bench-") as base:
        cluster = Cluster(base, tethered=True)
        cluster.start(timeout=120)
        try:
            pool = BenchPool(cluster)
            owner = pool.database("owner")
            await migrate.prepare(
                owner,
                profile=profile.id,
                dims=profile.dims,
                hot="memory_hot",
                cold="memory_cold",
            )
            await owner.close()
            yield pool
        finally:
            cluster.stop()
            cluster.remove()
