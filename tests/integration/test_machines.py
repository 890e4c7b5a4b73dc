"""One pool, several machines: a server with the daemon, laptops with editors and nothing else."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_memory.services.intake import Intake
from tests.acceptance.rpc import SERVER, Hot, environment, eventually
from tests.factories import draft, services
from tests.fakes import ManualClock
from tests.integration.capturers import Machine
from tests.integration.cold_daemons import Daemon, daemon, query
from tests.integration.foreign_server import RemotePool
from tests.integration.silent_links import Link, forwarders, namespaces, namespaces_work

Ways = Callable[[RemotePool, int], AbstractAsyncContextManager[list[Link]]]
WAYS: list[Ways] = [forwarders, *([namespaces] if namespaces_work() else [])]
ON_SERVER = {"COLD_PATH_INTERVAL_SEC": "1", "DEVICE_NAME": "server", "DB_SSL": "disable"}
# A real server whose wall clock is wrong; whatever asks for the time asks this clock.
CLOCK_OFF = """
import sys
from datetime import timedelta
from agents_memory.clock import SystemClock
right, off = SystemClock.now, timedelta(hours=float(sys.argv[1]))
SystemClock.now = lambda clock: right(clock) + off
from hot.process import main
main()
"""


class Laptop:
    """A home of its own, settings as docs/machines.md has them, and one editor's server."""

    def __init__(self, name: str, link: Link, home: Path, hours_off: float = 0) -> None:
        self.name = name
        self.link = link
        self.home = home
        self.environment = environment(
            home,
            DATABASE_URL=link.url("memory_hot"),
            DB_SSL="disable",
            DEVICE_NAME=name,
            COLD_PATH_ENABLED="false",
        )
        off = (SERVER[0], "-I", "-c", CLOCK_OFF, str(hours_off))
        command = off if hours_off else SERVER
        self._hot = Hot(self.environment, home, command=(*link.prefix, *command))
        self.call = self._hot.call

    async def __aenter__(self) -> "Laptop":
        await self._hot.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert await self._hot.stop() == 0

    async def say(self, text: str) -> dict[str, Any]:
        return await self.call("save_message", role="user", message=text)

    async def found(self, query: str | None = None, **filters: Any) -> list[dict[str, Any]]:
        answer = await self.call("search_memory", query=query, **filters)
        results: list[dict[str, Any]] = answer["results"]
        return results

    async def texts(self, query: str | None = None, **filters: Any) -> list[str]:
        return [item["text"] for item in await self.found(query, **filters)]


@asynccontextmanager
async def _laptops(
    links: list[Link], folder: Path, **hours_off: float
) -> AsyncIterator[tuple[Laptop, ...]]:
    names = list(hours_off) or ["anna", "berta"]
    async with AsyncExitStack() as stack:
        laptops = []
        for name, link in zip(names, links, strict=True):
            (home := folder / name).mkdir()
            laptops.append(Laptop(name, link, home, hours_off.get(name, 0)))
        yield tuple(await asyncio.gather(*map(stack.enter_async_context, laptops)))


async def _sections(laptop: Laptop) -> dict[str, str]:
    """A brief by its headings, without what names the laptop's own client."""
    brief = (await laptop.call("memory_startup"))["brief"]
    parts = [part.partition("\n") for part in brief.split("## ")[1:]]
    return {"here" if "this device" in head else head: body for head, _, body in parts}


@pytest.mark.parametrize("ways", WAYS)
async def test_a_server_and_two_laptops(ways: Ways, remote: RemotePool, tmp_path: Path) -> None:
    """F62, F72, F78, F103, D11."""
    async with (
        ways(remote, 2) as links,
        daemon(links[0].pool, tmp_path, **ON_SERVER) as cold,
        _laptops(links, tmp_path) as (anna, berta),
    ):
        await cold.said("leader_elected")
        await _one_finds_what_another_heard(anna, berta)
        await _a_way_that_is_cut_is_said_and_comes_back(anna, berta)
        await _only_the_server_leads(links[0].pool, cold, berta)


async def _one_finds_what_another_heard(anna: Laptop, berta: Laptop) -> None:
    transcripts = Machine(anna.home, anna.environment["DATABASE_URL"])
    transcripts.environ |= anna.environment
    transcripts.prefix = anna.link.prefix
    async with transcripts.capturer() as capturer:
        await capturer.said("capture_begun")
        transcripts.say("The heron nests behind the boathouse.")
        await capturer.said("capture_stored")
        assert await capturer.ended(signal.SIGTERM) == 0
    [heard] = await berta.found("heron", venue="terminal")
    assert (heard["device"], heard["venue"], heard["trust"]) == ("anna", "terminal", "owner")
    assert (await berta.say("The weir was mended."))["stored"] is True
    pinned = await anna.call(
        "manage_knowledge", action="add", target="memory", content="The boathouse key hangs left."
    )
    assert pinned["ok"] is True
    assert await anna.texts("heron", device_scope="local") == [heard["text"]]
    assert await berta.texts("heron", device_scope="local") == []
    # What is pinned is of every machine, and of none.
    assert await berta.texts("boathouse key", device_scope="local") == [
        "The boathouse key hangs left."
    ]

    async def worked() -> bool:
        told, here = await _sections(berta), await _sections(anna)
        return (
            "weir" in told.get("here", "")
            and "heron" in told.get("Recently elsewhere", "")
            and "heron" in here.get("here", "")
            and "weir" in here.get("Recently elsewhere", "")
            and "key" in told.get("Pinned", "")
        )

    await eventually(worked)


async def _a_way_that_is_cut_is_said_and_comes_back(anna: Laptop, berta: Laptop) -> None:
    berta.link.cut()
    refused = await berta.call("search_memory", query="heron")
    assert refused["error"]["code"] == "DATABASE_UNAVAILABLE"
    assert "network" in refused["error"]["message"]
    kept = await berta.say("The ferry is late.")
    assert (kept["stored"], kept["queued"]) == (False, True)
    assert "heron" in (await anna.texts("heron"))[0]
    berta.link.mend()

    async def arrived() -> bool:
        return await anna.texts("ferry") == ["The ferry is late."]

    await eventually(arrived)
    assert "heron" in (await berta.texts("heron"))[0]


async def _only_the_server_leads(pool: RemotePool, cold: Daemon, laptop: Laptop) -> None:
    """Not even when the server's daemon is gone, and somebody starts one on a laptop."""
    leads = "SELECT epoch, pid FROM leader"
    owner = pool.database("memory_owner")
    try:
        assert await query(owner, leads) == [{"epoch": 1, "pid": cold.pid}]
        cold.process.terminate()
        assert await cold.ended() == 0
        async with _started(laptop) as off, _started(laptop, COLD_PATH_ENABLED="true") as on:
            assert await off.ended() == 0
            # The laptop's role cannot begin a term, whatever is switched on.
            assert "lacks a right" in (await on.said("leader_lost"))["error"]
        assert (await laptop.say("Nobody works on this now."))["stored"] is True
        assert await query(owner, leads) == [{"epoch": 1, "pid": None}]
    finally:
        await owner.close()


def _started(laptop: Laptop, **changes: str) -> AbstractAsyncContextManager[Daemon]:
    """A daemon that somebody starts there."""
    settings = {**laptop.environment, **changes}
    return daemon(laptop.link, laptop.home, prefix=laptop.link.prefix, **settings)


async def test_clocks_that_are_hours_off_lose_nothing_and_put_nothing_on_top(
    remote: RemotePool, tmp_path: Path
) -> None:
    """F42, F54: the pool dates what is handed over; what a laptop dated never lies ahead of it."""
    hot = remote.database("memory_hot")
    use = await services(hot)
    now = datetime.now(UTC)

    async def hear(text: str, **off: float) -> None:
        """A turn of a transcript, dated and brought in by a machine with this clock."""
        theirs = now + timedelta(**off)
        intake = Intake(hot, use.hints, ManualClock(theirs))
        await intake.store(draft(text, occurred_at=theirs), use.user_id)

    async with (
        forwarders(remote, 2) as links,
        _laptops(links, tmp_path, early=9, late=-7) as (early, late),
    ):
        await early.say("one")
        await late.say("two")
        await hear("three", hours=9)
        await hear("four", days=4000)
        await early.say("five")
        await hear("long ago", hours=-7)
        await late.say("six")
        in_order = ["six", "five", "four", "three", "two", "one", "long ago"]
        assert await early.texts(limit=50) == in_order
        assert await late.texts(limit=50) == in_order
        around = f"{now - timedelta(hours=8):%FT%TZ}..{now - timedelta(hours=6):%FT%TZ}"
        assert await early.texts(date_range=around) == ["long ago"]
        assert await late.texts(date_range=f"{now + timedelta(hours=1):%FT%TZ}..") == []
    await use.close()
    await hot.close()
