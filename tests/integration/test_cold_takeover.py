"""A leader that freezes, or whose line dies without a word, is followed by another; F105, B16."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents_memory.storage.connections import Connection, Database
from tests.factories import services
from tests.integration.cold_daemons import LIMIT_S, daemon, query, until
from tests.integration.foreign_server import RemotePool
from tests.integration.silent_links import Link, forwarder, namespace, namespaces_work

TURNS = [f"The heron number {number} stood in the shallow water." for number in range(8)]
LOOKS = {"COLD_PATH_INTERVAL_SEC": "1", "DB_SSL": "disable"}
NO_WORK = "SELECT count(*) = 0 FROM work"
WATCHED = ("work", "message_results", "message_state", "leader_beat")
STUCK = (
    "SELECT min(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
    "AND query LIKE '-- record_result%' AND datname = current_database()"
)
# Part of the transaction it speaks of: what was rolled back is not in it.
WITNESS = (
    "CREATE TABLE written (what text, term bigint, address text, port int)",
    "CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
    "INSERT INTO written SELECT TG_TABLE_NAME, epoch, host(inet_client_addr()), "
    "inet_client_port() FROM leader; RETURN NULL; END $$",
    *(
        f"CREATE TRIGGER seen AFTER INSERT OR UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION witness()"
        for table in WATCHED
    ),
)

Way = Callable[[RemotePool], AbstractAsyncContextManager[Link]]
WAYS: list[Way] = [forwarder, *([namespace] if namespaces_work() else [])]


@asynccontextmanager
async def _watched(link: Link) -> AsyncIterator[Database]:
    """The owner's database of the pool, which keeps a list of who wrote what in which term."""
    owner = link.pool.database("memory_owner")
    try:
        async with owner.transaction() as connection:
            for statement in WITNESS:
                await connection.execute(statement)
        yield owner
    finally:
        await owner.close()


@asynccontextmanager
async def _nobody_can_settle(owner: Database) -> AsyncIterator[Connection]:
    async with owner.transaction() as connection:
        await connection.execute("LOCK TABLE message_results IN EXCLUSIVE MODE")
        yield connection


async def _say(pool: RemotePool) -> None:
    hot = pool.database("memory_hot")
    use = await services(hot)
    for text in TURNS:
        await use.say(text)
    await use.close()
    await hot.close()


async def _stuck(pool: RemotePool) -> None:
    """Asked as the superuser: who else may see what others are at?"""
    async with asyncio.timeout(LIMIT_S):
        while await pool.admin(STUCK) is None:
            pass


async def _written_by(link: Link, owner: Database) -> list[dict[str, Any]]:
    rows = await query(owner, "SELECT * FROM written WHERE port IS NOT NULL")
    return [row for row in rows if link.carries(row["address"], row["port"])]


async def _nothing_of_the_deposed(link: Link, owner: Database) -> None:
    """It claimed in its term, and that is all there is of it."""
    rows = await _written_by(link, owner)
    assert {row["term"] for row in rows} == {1}, "it led, and wrote only while it did"
    assert "message_results" not in {row["what"] for row in rows}
    done = await query(owner, "SELECT stage, count(*) FROM message_results GROUP BY 1")
    assert {row["count"] for row in done} == {len(TURNS)}


@pytest.mark.parametrize("way", WAYS)
async def test_a_leader_whose_line_dies_in_mid_transaction_is_deposed_and_writes_nothing(
    way: Way, remote: RemotePool, tmp_path: Path
) -> None:
    """Half-open: neither side hears that the other is gone."""
    async with (
        way(remote) as link,
        _watched(link) as owner,
        daemon(link, tmp_path, prefix=link.prefix, **LOOKS) as first,
    ):
        await first.said("leader_elected")
        async with daemon(link.pool, tmp_path, **LOOKS) as second:
            await second.said("leader_waiting")
            async with _nobody_can_settle(owner):
                await _say(link.pool)
                await _stuck(link.pool)
                link.cut()
            assert (await second.said("leader_elected"))["epoch"] == 2
            await first.said("leader_lost")
            await until(owner, lambda c: c.fetchval(NO_WORK), "the second did it all")
            link.mend()
            await first.said("leader_waiting")
            await _nothing_of_the_deposed(link, owner)
            first.process.terminate()
            assert await first.ended() == 0


async def test_a_leader_that_froze_in_mid_transaction_is_deposed_and_writes_nothing(
    remote: RemotePool, tmp_path: Path
) -> None:
    """It wakes up in the middle of a write, which the server has long undone."""
    async with (
        forwarder(remote) as link,
        _watched(link) as owner,
        daemon(link, tmp_path, **LOOKS) as first,
    ):
        await first.said("leader_elected")
        async with daemon(remote, tmp_path, **LOOKS) as second:
            await second.said("leader_waiting")
            async with _nobody_can_settle(owner):
                await _say(remote)
                await _stuck(remote)
                first.process.send_signal(signal.SIGSTOP)
            assert (await second.said("leader_elected"))["epoch"] == 2
            await until(owner, lambda c: c.fetchval(NO_WORK), "the second did it all")
            first.process.send_signal(signal.SIGCONT)
            await first.said("leader_lost")
            await first.said("leader_waiting")
            await _nothing_of_the_deposed(link, owner)
            first.process.terminate()
            assert await first.ended() == 0
