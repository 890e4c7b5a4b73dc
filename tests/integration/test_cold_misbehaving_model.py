"""A thousand messages, a model that goes wrong in every way, and a leader that is killed."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.text import is_blank
from agents_memory.storage import notify
from agents_memory.storage.connections import Database
from tests.conftest import Pool
from tests.factories import Services
from tests.fixtures.endpoint import scripted_endpoint
from tests.fixtures.misbehaving import (
    FILED_ALL_THE_SAME,
    MisbehavingServer,
    Trouble,
    lasts,
    text_of,
    trouble_of,
)
from tests.integration.cold_daemons import daemon, query, until, value

MESSAGES, LATE = 1000, 20
WITHIN_S = 400
SETTINGS = {
    "COLD_PATH_BATCH_SIZE": "50",
    "COLD_PATH_INTERVAL_SEC": "1",
    "LLM_CALL_LIMIT_SEC": "1",
    "LLM_CONCURRENCY": "16",
    "LOCAL_LLM_REQUESTS_PER_HOUR": "1000000",
    "LOCAL_LLM_REQUESTS_PER_DAY": "1000000",
    "LOCAL_LLM_TOKENS_PER_HOUR": "1000000000",
    "LOCAL_LLM_TOKENS_PER_DAY": "1000000000",
    # Nobody reads the pipe, which would hold the daemon up when it is full.
    "LOG_LEVEL": "error",
}
# Which session wrote in which term.
WITNESS = """\
CREATE TABLE written (message_id bigint, stage text, epoch bigint, session integer);
CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
    INSERT INTO agents_memory.written
        SELECT NEW.message_id, NEW.stage, epoch, pg_backend_pid() FROM agents_memory.leader;
    RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER INSERT OR UPDATE ON message_results
    FOR EACH ROW EXECUTE FUNCTION note_written()"""
FILED = "SELECT count(*) FROM message_results WHERE stage = 'tag'"
# Both lead only once the other has gone.
STANDS_BY = "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


async def _filed(database: Database, at_least: int) -> None:
    async with asyncio.timeout(WITHIN_S):
        while await value(database, FILED) < at_least:
            await _due_again(database)


async def _due_again(database: Database) -> None:
    """Lets the minutes pass that failed work is put off for."""
    await query(
        database,
        "UPDATE work SET run_after = now() WHERE run_after > now() AND claimed_epoch IS NULL",
    )
    await database.run(lambda c: notify.send_hint(c, database.schema))
    await asyncio.sleep(0.2)


async def _filings(database: Database) -> dict[int, list[dict[str, Any]]]:
    """How each message was filed, by its number."""
    rows = await query(
        database,
        "SELECT m.message, r.backend, r.detail->>'unanswered' AS unanswered, s.d_tags "
        "FROM messages m JOIN message_state s ON s.message_id = m.id "
        "LEFT JOIN message_results r ON r.message_id = m.id AND r.stage = 'tag' ORDER BY m.id",
    )
    found: dict[int, list[dict[str, Any]]] = {number: [] for number in range(len(rows))}
    for row in rows:
        if row["backend"] is not None:
            found[int(row["message"].split()[3])].append(row)
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_thousand_messages_outlive_a_model_that_fails_in_every_way_and_their_leader(
    use: Services,
    pool: Pool,
    cold_database: Database,
    owner_database: Database,
    tmp_path: Path,
) -> None:
    """A1, A2, A7, A11, B16, C5, C6, C8, E6, E16, F72, F105: each is filed once, or waits and says
    why; nothing is lost, doubled, or written by a term that has ended."""
    async with owner_database.acquire() as connection:
        await connection.execute(WITNESS)
    for number in range(MESSAGES):
        await use.say(text_of(number))
    server = MisbehavingServer()
    async with scripted_endpoint(server) as endpoint:
        model = {**SETTINGS, "LOCAL_LLM_BASE_URL": endpoint.url}
        async with daemon(pool, tmp_path, **model) as killed:
            await until(
                cold_database, lambda c: c.fetchval("SELECT epoch = 1 FROM leader"), "it leads"
            )
            async with daemon(pool, tmp_path, **model) as heir:
                await until(cold_database, lambda c: c.fetchval(STANDS_BY), "one stands by")
                await _filed(cold_database, 300)
                killed.process.kill()
                await _filed(cold_database, MESSAGES)
                assert await value(cold_database, "SELECT epoch FROM leader") == 2
                server.closed = True
                for number in range(MESSAGES, MESSAGES + LATE):
                    await use.say(text_of(number))
                waiting = await _waiting(cold_database)
                heir.process.terminate()
                assert await heir.ended() == 0
    _check(await _filings(cold_database), server)
    assert {row["attempts"] for row in waiting} == {0}
    assert all(" until " in row["last_error"] for row in waiting)
    assert await value(cold_database, "SELECT count(*) FROM messages") == MESSAGES + LATE
    terms: dict[int, set[int]] = {}
    for row in await query(owner_database, "SELECT DISTINCT epoch, session FROM written"):
        terms.setdefault(row["epoch"], set()).add(row["session"])
    assert sorted(terms) == [1, 2]
    assert terms[1].isdisjoint(terms[2])


async def _waiting(database: Database) -> list[dict[str, Any]]:
    """What is left once the model has sent us away: all that came late, with the reason."""
    held = (
        "SELECT count(*) = $1 AND count(last_error) = $1 FROM work "
        "WHERE stage = 'tag' AND claimed_epoch IS NULL"
    )
    await until(database, lambda c: c.fetchval(held, LATE), "the late ones wait")
    return await query(database, "SELECT attempts, last_error FROM work ORDER BY item_id")


def _check(filings: dict[int, list[dict[str, Any]]], server: MisbehavingServer) -> None:
    assert set(server.met) == set(Trouble)
    assert len(filings) == MESSAGES + LATE
    assert Counter(len(filings[number]) for number in range(MESSAGES)) == {1: MESSAGES}
    assert not any(filings[number] for number in range(MESSAGES, MESSAGES + LATE))
    for number in range(MESSAGES):
        [row] = filings[number]
        trouble = trouble_of(number)
        by_model = not lasts(number) or trouble in FILED_ALL_THE_SAME
        assert row["backend"] == ("local:tiny" if by_model else "rules"), (number, trouble, row)
        assert (row["unanswered"] is None) == by_model, (number, trouble, row)
        assert all(tag.isascii() and len(tag) < 40 and not is_blank(tag) for tag in row["d_tags"])
