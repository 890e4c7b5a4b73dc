"""Nothing acknowledged is lost, whatever is killed."""

import asyncio
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from agents_memory.domain.errors import MemoryFault
from agents_memory.storage import leadership, work
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.embedded.server import Cluster
from tests.acceptance.rpc import Hot, environment, eventually
from tests.conftest import SCHEMA

ROUND = 12


class Writer:
    """One editor that saves turn after turn and remembers what was acknowledged."""

    def __init__(self, name: str, hot: Hot) -> None:
        self.name = name
        self.hot = hot
        self.acknowledged: list[str] = []
        self._turn = 0

    async def write(self, turns: int) -> None:
        for _ in range(turns):
            self._turn += 1
            text = f"{self.name} says number {self._turn}"
            try:
                answer = await self.hot.call("save_message", role="user", message=text)
            except (ConnectionError, BrokenPipeError):
                # The server was killed; an editor starts a new one.
                await self.hot.start()
                continue
            if answer["ok"]:
                # Stored, or safe on the disk until the database is back.
                self.acknowledged.append(text)


def _parent(pid: int) -> int:
    out = subprocess.run(
        ["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, check=True, text=True
    )
    return int(out.stdout)


async def test_no_acknowledged_message_is_missing_after_each_was_killed(tmp_path: Path) -> None:
    """A11, A32, E10, F103: two editors, daemon, keeper and server, each with SIGKILL."""
    env = environment(tmp_path)
    first, second = Hot(env, tmp_path), Hot(env, tmp_path)
    await asyncio.gather(first.start(), second.start())
    writers = [Writer("first", first), Writer("second", second)]
    cluster = Cluster(tmp_path / "data")
    watch = Database(cluster.dsn("memory_owner"), schema=SCHEMA, application="test")

    async def leading() -> int | None:
        try:
            leader = await watch.run(leadership.find_leader, within_s=1)
            led = await watch.run(
                lambda connection: leadership.is_locked(connection, SCHEMA), within_s=1
            )
        except MemoryFault:
            return None
        return leader.pid if led else None

    async def write_all() -> None:
        await asyncio.gather(*(writer.write(ROUND) for writer in writers))

    await write_all()

    def postmaster() -> int:
        return int((cluster.place.data / "postmaster.pid").read_text().splitlines()[0])

    async def killed(find: Callable[[int], int]) -> None:
        """Kills what `find` makes of the daemon's pid, while both editors go on writing."""
        daemon = await eventually(leading)
        assert daemon is not None
        writing = asyncio.create_task(write_all())
        os.kill(find(daemon), signal.SIGKILL)
        await writing

    await killed(lambda _: first.pid)
    await killed(lambda daemon: daemon)
    await killed(lambda _: postmaster())
    await killed(_parent)
    await killed(lambda _: second.pid)
    await eventually(leading)

    expected = writers[0].acknowledged + writers[1].acknowledged
    assert len(expected) >= 4 * ROUND

    async def held(connection: Connection) -> Counter[str]:
        rows = await connection.fetch("SELECT message FROM messages")
        return Counter(row["message"] for row in rows)

    async def complete() -> bool:
        return set(expected) <= set(await watch.run(held))

    await eventually(complete)
    assert set((await watch.run(held)).values()) == {1}

    async def drained() -> bool:
        rows = await watch.run(work.summarise_work)
        assert all(row.parked == 0 for row in rows)
        return not rows

    await eventually(drained)
    for writer in writers:
        await writer.write(1)
        assert await writer.hot.stop() == 0
    await watch.close()

    async def gone() -> bool:
        return not cluster.alive()

    await eventually(gone)
