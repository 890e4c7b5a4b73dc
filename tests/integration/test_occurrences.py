"""How often a word occurs is read off a rank of the server's; it must be the true number."""

import pytest

from agents_memory.domain.lexical import MAX_TERM_FREQUENCY
from agents_memory.storage import messages
from tests.factories import Services


@pytest.mark.parametrize("times", range(MAX_TERM_FREQUENCY + 1))
async def test_every_number_of_occurrences_is_told(use: Services, times: int) -> None:
    """F30: a word that occurs so many times, among others."""
    stored = await use.say(" ".join(["heron"] * times + ["weir", "weir"]))
    async with use.database.acquire() as connection:
        counts = await messages.count_lexemes(connection, [stored.id], ["weir", "heron", "otter"])
    assert counts == {stored.id: (times + 2, (2, times, 0))}


async def test_words_with_marks_of_the_query_language_are_counted(use: Services) -> None:
    """F30: quotes, backslashes and operators in a lexeme are letters like others."""
    text = r"don't C:\temp a&b c|d !e f:g 왜가리 鷺鷺 🦆"
    stored = await use.say(text)
    async with use.database.acquire() as connection:
        held = await connection.fetch(
            "SELECT lexeme, cardinality(positions) AS times "
            "FROM messages m, unnest(m.lexemes) WHERE m.id = $1",
            stored.id,
        )
        lexemes = [row["lexeme"] for row in held]
        counts = await messages.count_lexemes(connection, [stored.id], lexemes)
    assert len(lexemes) > 8
    assert counts[stored.id][1] == tuple(row["times"] for row in held)
