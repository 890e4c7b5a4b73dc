"""A process that leads a pool with short time limits and says so: `python -m … URL`."""

import asyncio
import sys

from agents_memory.storage.connections import Database
from agents_memory.storage.leadership import LOCK_SESSION
from cold.leadership import Leadership
from cold.stopping import Stop
from tests.conftest import SCHEMA


async def _work(epoch: int) -> None:
    print(f"leads {epoch}", flush=True)  # noqa: T201 (its parent reads it)
    try:
        await asyncio.Event().wait()
    finally:
        print(f"lost {epoch}", flush=True)  # noqa: T201


async def _main(url: str) -> None:
    database = Database(url, schema=SCHEMA, application="holder")
    session = {**LOCK_SESSION, "idle_session_timeout": "600ms"}
    leadership = Leadership(database, Stop(), holder="holder", session=session, heartbeat_s=0.1)
    await leadership.run(_work)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
