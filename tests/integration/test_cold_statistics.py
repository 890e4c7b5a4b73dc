"""Document frequencies: counted anew as the pool grows, never by a deposed daemon."""

import pytest

from agents_memory.domain.errors import Deposed
from agents_memory.storage import lexemes
from agents_memory.storage.connections import Database
from cold.passes.lexeme_statistics import LexemeStatistics
from tests.factories import Services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import begin_term, query


async def _counted(database: Database) -> tuple[int, dict[str, int]]:
    totals = await database.run(lexemes.find_totals)
    rows = await query(database, "SELECT lexeme, documents FROM lexeme_stats")
    return totals.documents, {row["lexeme"]: row["documents"] for row in rows}


async def test_the_count_follows_the_pool_a_look_a_minute(
    use: Services, cold_database: Database
) -> None:
    clock = ManualClock()
    statistics = LexemeStatistics(cold_database, clock)
    epoch = await begin_term(cold_database)
    for _ in range(2):
        await use.say("The heron stood in the water.")
    await statistics.run(epoch)
    documents, counts = await _counted(cold_database)
    assert (documents, counts["heron"]) == (2, 2)

    await use.say("Another heron came.")
    await statistics.run(epoch)
    assert (await _counted(cold_database))[0] == 2
    clock.advance(60)
    await statistics.run(epoch)
    documents, counts = await _counted(cold_database)
    assert (documents, counts["heron"]) == (3, 3)


async def test_words_of_messages_that_were_erased_do_not_stay(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    for _ in range(2):
        await use.say("The heron stood in the water.")
    for _ in range(2):
        await use.say("A kingfisher dived.")
    clock = ManualClock()
    statistics = LexemeStatistics(cold_database, clock)
    epoch = await begin_term(cold_database)
    await statistics.run(epoch)
    await query(owner_database, "DELETE FROM messages WHERE message LIKE '%kingfisher%'")
    clock.advance(60)
    await statistics.run(epoch)
    _, counts = await _counted(cold_database)
    assert "heron" in counts
    assert not [lexeme for lexeme in counts if lexeme.startswith("kingfish")]


async def test_a_deposed_daemon_leaves_the_count_as_it_is(
    use: Services, cold_database: Database
) -> None:
    """F105: statistics are fenced like everything else."""
    await use.say("The heron stood in the water.")
    statistics = LexemeStatistics(cold_database, ManualClock())
    epoch = await begin_term(cold_database)
    await begin_term(cold_database)
    with pytest.raises(Deposed):
        await statistics.run(epoch)
    assert (await cold_database.run(lexemes.find_totals)).counted_at is None
