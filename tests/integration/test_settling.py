"""How outcomes are written: those of a batch together, and one that cannot be spoils no other."""

from collections.abc import Sequence
from typing import Any

import pytest

from agents_memory.storage import work
from agents_memory.storage.connections import Connection, Database
from cold.guard import Done, ItemFault
from cold.passes.screen import Screen
from cold.worker import Finish
from tests.factories import Services
from tests.integration.cold_daemons import FakeEmbedder, begin_term, drain, query, value

TURNS = [f"The heron number {number} stood in the shallow water." for number in range(5)]
TRANSACTIONS = "SELECT count(DISTINCT settled_at) FROM message_results WHERE stage = $1"


async def test_a_batch_is_written_in_one_transaction(
    use: Services, cold_database: Database
) -> None:
    for text in TURNS:
        await use.say(text)
    assert await drain(cold_database, FakeEmbedder()) is Finish.DRAINED
    for stage in ("screen", "embed", "tag", "context"):
        # now() is the same all through a transaction.
        assert await value(cold_database, TRANSACTIONS, stage) == 1, stage


async def test_one_that_cannot_be_written_is_put_off_and_the_others_are_written(
    use: Services, cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6: the whole batch is undone, and each is written by itself."""
    ids = [(await use.say(text)).id for text in TURNS]
    real = Screen.settle_all

    async def settle_all(
        step: Screen, connection: Connection, worked: Sequence[tuple[Any, Any]]
    ) -> list[Done]:
        outcomes = await real(step, connection, worked)
        if any(item.id == ids[2] for item, _ in worked):
            raise ItemFault("it cannot be written")
        return outcomes

    monkeypatch.setattr(Screen, "settle_all", settle_all)
    assert await drain(cold_database, FakeEmbedder(), max_attempts=1) is Finish.DRAINED
    rows = await query(cold_database, "SELECT item_id, stage, parked_reason FROM work")
    assert rows == [{"item_id": ids[2], "stage": "screen", "parked_reason": "it cannot be written"}]
    screened = await query(
        cold_database, "SELECT message_id FROM message_results WHERE stage = 'screen' ORDER BY 1"
    )
    assert [row["message_id"] for row in screened] == [ids[0], ids[1], ids[3], ids[4]]


async def test_what_is_settled_waits_for_what_follows_only_where_it_goes_on(
    use: Services, cold_database: Database
) -> None:
    ids = [(await use.say(text)).id for text in TURNS[:3]]
    async with cold_database.transaction() as connection:
        await work.settle_work(
            connection, "screen", ids, proceeding=ids[1:], next_stages=("embed", "tag")
        )
    rows = await query(cold_database, "SELECT item_id, stage FROM work ORDER BY 1, 2")
    assert [(row["item_id"], row["stage"]) for row in rows] == [
        (ids[1], "embed"),
        (ids[1], "tag"),
        (ids[2], "embed"),
        (ids[2], "tag"),
    ]


async def test_only_stages_with_something_to_take_are_due(
    use: Services, cold_database: Database
) -> None:
    item = (await use.say(TURNS[0])).id
    epoch = await begin_term(cold_database)
    async with cold_database.acquire() as connection:
        await work.queue_all(connection, [item], "context")
        stages = ["screen", "tag", "context"]
        assert await work.list_due_stages(connection, stages, epoch) == {"screen", "context"}
        await work.claim_work(connection, "screen", 5, epoch)
        await connection.execute(
            "UPDATE work SET run_after = now() + interval '1 hour' WHERE stage = 'context'"
        )
        assert await work.list_due_stages(connection, stages, epoch) == set()
