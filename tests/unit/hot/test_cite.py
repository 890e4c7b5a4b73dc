"""cite."""

import pytest

from agents_memory.storage import traces
from agents_memory.storage.connections import Database
from tests.unit.hot.conftest import Talk


async def test_what_was_used_is_credited_by_kind(talk: Talk, hot_database: Database) -> None:
    saved = await talk.ask("save_message", role="user", message="Hi")
    added = await talk.ask(
        "manage_knowledge", action="add", target="memory", content="Mara prefers pytest."
    )
    ids = [added["memory_id"], saved["id"], added["patch_id"], 999_999]
    assert await talk.ask("cite", ids=ids) == {
        "ok": True,
        "cited": [
            {"id": saved["id"], "kind": "message"},
            {"id": added["memory_id"], "kind": "memory"},
        ],
        "unknown": [added["patch_id"], 999_999],
    }
    async with hot_database.acquire() as connection:
        assert (await traces.count_traces(connection, saved["id"]))["used"] == 1


async def test_ids_may_come_as_json_text(talk: Talk) -> None:
    saved = await talk.ask("save_message", role="user", message="Hi")
    assert (await talk.ask("cite", ids=f"[{saved['id']}]"))["unknown"] == []


@pytest.mark.parametrize(
    ("ids", "code"),
    [([], "INVALID_INPUT"), (list(range(1, 102)), "INVALID_INPUT"), ([424242], "UNKNOWN_ITEM")],
)
async def test_ids_that_credit_nothing_are_refused(talk: Talk, ids: list[int], code: str) -> None:
    assert (await talk.refused("cite", ids=ids))["code"] == code


@pytest.mark.parametrize("ids", ["17", 17, [-1], [1.5], [True], ["x"], [2**53], None])
async def test_malformed_ids_say_what_is_wrong(alone: Talk, ids: object) -> None:
    assert "ids" in await alone.malformed("cite", ids=ids)
