"""F103: real processes, a server that is stopped, frozen and started, and kill -9 in between."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from agents_memory.settings import Settings
from agents_memory.storage.connections import Database
from agents_memory.storage.spool.store import Spool, spool_of
from tests.acceptance.command_line import CommandLine
from tests.acceptance.rpc import Hot, environment, eventually
from tests.conftest import SCHEMA
from tests.integration.capturers import Machine
from tests.integration.foreign_server import ForeignServer, RemotePool

# Far below the minute that a start may take, far above what a loaded machine adds.
SOON_S = 20.0


@pytest.fixture(scope="module")
def mortal() -> Iterator[ForeignServer]:
    """A server that may be stopped, frozen and killed."""
    server = ForeignServer()
    try:
        server.start()
        asyncio.run(server.found())
        asyncio.run(server.prepare())
        yield server
    finally:
        server.remove()


class House:
    """A home whose settings name a pool on that server."""

    def __init__(self, pool: RemotePool, home: Path) -> None:
        self.server = pool.server
        self.pool = pool
        self.home = home
        self.env = environment(home, DATABASE_URL=pool.url("memory_hot"))
        del self.env["EMBEDDED_LINGER_SEC"]

    @property
    def spool(self) -> Spool:
        return spool_of(Settings.load(self.env))

    def hot(self) -> Hot:
        return Hot(self.env, self.home)

    def command_line(self) -> CommandLine:
        return CommandLine(self.home, self.env)

    async def texts(self) -> list[str]:
        """All that is stored, in the order of the ids."""
        database: Database = self.pool.database("memory_hot")
        try:
            async with database.acquire() as connection:
                rows = await connection.fetch("SELECT message FROM messages ORDER BY id")
                return [row["message"] for row in rows]
        finally:
            await database.close()

    async def holds(self, *texts: str) -> None:
        """Waits until exactly these are stored, in this order."""

        async def look() -> bool:
            return await self.texts() == list(texts)

        await eventually(look)


@pytest.fixture
async def house(mortal: ForeignServer, tmp_path: Path) -> AsyncIterator[House]:
    name = f"spooled_{uuid4().hex[:12]}"
    await mortal.admin(
        f"CREATE DATABASE {name} TEMPLATE memory OWNER memory_owner STRATEGY file_copy", "SELECT 1"
    )
    yield House(RemotePool(mortal, name), tmp_path)
    mortal.stop(signal.SIGQUIT)
    mortal.start()
    await mortal.drop(name)


async def _say(hot: Hot, text: str) -> dict[str, object]:
    async with asyncio.timeout(SOON_S):
        return await hot.call("save_message", role="user", message=text)


async def test_a_server_that_was_never_there_and_comes_hours_later(house: House) -> None:
    """Queued at once from the first turn on; stored in its order, by the same process."""
    house.server.stop()
    hot = house.hot()
    await hot.start()
    turns = [f"Turn {number}" for number in range(5)]
    answers = [await _say(hot, text) for text in turns]
    assert all((a["ok"], a["stored"], a["queued"]) == (True, False, True) for a in answers)
    assert len({a["intake_id"] for a in answers}) == 5
    assert all("Do not save it again" in str(a["note"]) for a in answers)
    house.server.start()
    await house.holds(*turns)

    async def stored() -> bool:
        return (await _say(hot, "Back."))["stored"] is True

    await eventually(stored)
    assert await hot.stop() == 0
    assert not house.spool.has_any()


async def test_a_server_that_is_lost_in_the_middle(house: House) -> None:
    """Order holds over the gap."""
    hot = house.hot()
    await hot.start()
    assert (await _say(hot, "Before."))["stored"] is True
    house.server.stop(signal.SIGQUIT)
    assert (await _say(hot, "During."))["queued"] is True
    assert (await _say(hot, "Still."))["queued"] is True
    house.server.start()
    await house.holds("Before.", "During.", "Still.")
    assert await hot.stop() == 0


async def test_a_server_that_froze_gets_the_turn_once_though_it_took_it_late(house: House) -> None:
    """Its insert was on the way, the turn was queued, and both arrive."""
    hot = house.hot()
    await hot.start()
    assert (await _say(hot, "Before."))["stored"] is True
    house.server.freeze()
    try:
        assert (await _say(hot, "Into the ice."))["queued"] is True
    finally:
        house.server.thaw()
    await house.holds("Before.", "Into the ice.")
    assert await hot.stop() == 0
    assert await house.texts() == ["Before.", "Into the ice."]


async def test_a_killed_writers_turns_are_stored_by_the_next_one(house: House) -> None:
    """kill -9 after the answer; whoever starts next drains."""
    house.server.stop()
    hot = house.hot()
    await hot.start()
    for number in range(3):
        assert (await _say(hot, f"Turn {number}"))["queued"] is True
    hot.kill()
    house.server.start()
    await _start_and_stop(house)
    await house.holds("Turn 0", "Turn 1", "Turn 2")


async def _start_and_stop(house: House) -> None:
    """A server that is only started, as an editor's window does."""
    hot = house.hot()
    await hot.start()

    async def drained() -> bool:
        return not house.spool.has_any()

    await eventually(drained)
    assert await hot.stop() == 0


async def test_a_drainer_that_is_killed_in_the_middle_loses_and_doubles_nothing(
    house: House,
) -> None:
    """Killed while the server holds its insert; the insert may still be committed."""
    house.server.stop()
    hot = house.hot()
    await hot.start()
    turns = [f"Turn {number}" for number in range(6)]
    for text in turns:
        assert (await _say(hot, text))["queued"] is True
    hot.kill()
    house.server.start()
    gate = await asyncpg.connect(
        host=str(house.server.base), port=house.server.port, user="boss", database=house.pool.name
    )
    await gate.execute(
        "CREATE FUNCTION public.wait_there() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
        "IF NEW.message IN ('Turn 2', 'Turn 4') THEN PERFORM pg_advisory_xact_lock(1); END IF; "
        "RETURN NEW; END$$; "
        f"CREATE TRIGGER gate AFTER INSERT ON {SCHEMA}.messages FOR EACH ROW "
        "EXECUTE FUNCTION public.wait_there(); SELECT pg_advisory_lock(1)"
    )
    held = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' "
        "AND datname = current_database()"
    )
    killed = house.command_line().start("spool", "drain")
    async with asyncio.timeout(SOON_S):
        while not await gate.fetchval(held):
            assert killed.poll() is None
    killed.kill()
    killed.communicate()
    await gate.execute("SELECT pg_advisory_unlock_all()")
    ended = await asyncio.to_thread(house.command_line().run, "spool", "drain", "--json")
    assert ended.code == 0, ended.stderr
    assert ended.json["ok"] is True
    await gate.close()
    assert await house.texts() == turns
    assert not house.spool.has_any()


async def test_two_editors_spool_side_by_side_and_each_keeps_its_order(house: House) -> None:
    """A26."""
    house.server.stop()
    editors = [house.hot(), house.hot()]
    await asyncio.gather(*(hot.start() for hot in editors))

    async def write(hot: Hot, name: str) -> None:
        for number in range(10):
            assert (await _say(hot, f"{name} {number}"))["queued"] is True

    await asyncio.gather(*(write(hot, name) for hot, name in zip(editors, "ab", strict=True)))
    editors[1].kill()
    house.server.start()

    async def all_there() -> bool:
        # The living one also takes over what the dead one left.
        return len(await house.texts()) == 20

    await eventually(all_there)
    stored = await house.texts()
    for name in "ab":
        assert [t for t in stored if t[0] == name] == [f"{name} {n}" for n in range(10)]
    assert await editors[0].stop() == 0


async def test_a_full_disk_is_said_and_what_was_acknowledged_stays(house: House) -> None:
    """The process may write files of so many bytes; the turn that is too much is not kept."""
    house.server.stop()
    hot = Hot(house.env, house.home, file_bytes=20_000)
    await hot.start()
    assert (await _say(hot, "fits"))["queued"] is True
    refused = await _say(hot, "x" * 30_000)
    assert refused["ok"] is False
    assert "Nothing was stored" in str(refused["error"])
    assert (await _say(hot, "fits too"))["queued"] is True
    house.server.start()
    await house.holds("fits", "fits too")
    assert await hot.stop() == 0


async def test_what_the_owner_adds_by_hand_waits_as_the_owners_own(house: House) -> None:
    house.server.stop()
    line = house.command_line()
    added = await asyncio.to_thread(line.run, "message", "add", "--text", "By hand.", "--json")
    assert (added.code, added.json["ok"], added.json["queued"]) == (0, True, True)
    assert (added.json["id"], added.json["duplicate"]) == (None, None)
    assert "spool drain" in added.stderr
    told = await asyncio.to_thread(line.run, "message", "add", "--text", "Again.")
    assert (told.code, told.stdout.startswith("queued as ")) == (0, True)
    house.server.start()
    drained = await asyncio.to_thread(line.run, "spool", "drain", "--json")
    assert (drained.code, drained.json["stored"]) == (0, 2)
    await house.holds("By hand.", "Again.")
    database = house.pool.database("memory_hot")
    async with database.acquire() as connection:
        rows = await connection.fetch("SELECT intake_id, trust FROM messages ORDER BY id")
    await database.close()
    assert (str(rows[0]["intake_id"]), rows[0]["trust"]) == (added.json["intake_id"], "owner")


async def test_status_spool_and_doctor_tell_what_waits(house: House) -> None:
    house.server.stop()
    hot = house.hot()
    await hot.start()
    assert (await _say(hot, "Waiting."))["queued"] is True
    line = house.command_line()
    status = await asyncio.to_thread(line.run, "status", "--json")
    assert status.code == 3
    assert (status.json["spool"]["queued"], status.json["spool"]["aside"]) == (1, 0)
    assert status.json["spool"]["oldest_age_s"] >= 0
    told = await asyncio.to_thread(line.run, "spool", "status")
    assert "1 turns" in told.stdout or "1 turn" in told.stdout
    doctor = await asyncio.to_thread(line.run, "doctor", "--json")
    [check] = [one for one in doctor.json["checks"] if one["name"] == "spool"]
    assert check["outcome"] == "ok"
    assert "1 turn" in check["detail"]
    house.server.start()
    await house.holds("Waiting.")
    assert await hot.stop() == 0


async def test_capture_begins_without_a_database_and_loses_no_words_of_a_vanished_file(
    house: House,
) -> None:
    """A25: the transcript is gone before the database is there."""
    machine = Machine(house.home, house.pool.url("memory_hot"))
    house.server.stop()
    async with machine.capturer() as capturer:
        await capturer.said("capture_begun")
        machine.say("One.", "Two.")
        await capturer.said("spool_begun")
        machine.say("Three.")
        await capturer.said("capture_stored")
        await capturer.said("capture_stored")
        (machine.folder / "s1.jsonl").unlink()
        house.server.start()
        await house.holds("One.", "Two.", "Three.")
        assert await capturer.ended(signal.SIGTERM) == 0


async def test_a_killed_capturers_turns_are_stored_by_the_next_one(house: House) -> None:
    machine = Machine(house.home, house.pool.url("memory_hot"))
    async with machine.capturer() as capturer:
        await capturer.said("database_ready")
        house.server.stop(signal.SIGQUIT)
        machine.say("One.", "Two.")
        stored = await capturer.said("capture_stored")
        assert stored["queued"] == 2
        assert await capturer.ended(signal.SIGKILL) == -signal.SIGKILL
    machine.say("Three.")
    house.server.start()
    async with machine.capturer() as capturer:
        await house.holds("One.", "Two.", "Three.")
        assert await capturer.ended(signal.SIGTERM) == 0
