"""Texts of symbols alone."""

import pytest

from agents_memory.storage import vectors
from agents_memory.storage.connections import Database
from tests.factories import Services
from tests.integration.cold_daemons import FakeEmbedder, drain, query


@pytest.mark.parametrize("symbols", ["\ufffd" * 3, "??!", "👍 👍", "— — —", "\ud800"])
async def test_a_text_without_a_word_is_near_to_nothing(
    use: Services, cold_database: Database, symbols: str
) -> None:
    """Stored, found by its id and by its time, and in no search by meaning."""
    said = await use.say(symbols)
    await drain(cold_database, FakeEmbedder())
    model = await cold_database.run(vectors.find_active_model)
    assert model is not None
    found = await cold_database.run(lambda c: vectors.list_message_chunks(c, model, [said.id]))
    assert found.get(said.id, []) == []
    [row] = await query(
        cold_database,
        f"SELECT detail FROM message_results WHERE message_id = {said.id} AND stage = 'embed'",
    )
    assert "no word" in str(row["detail"])
