"""How often a word occurs is read off a rank of the server's; it must be the true number."""

from collections.abc import Sequence

import pytest

from agents_memory.domain.lexical import MAX_TERM_FREQUENCY
from agents_memory.storage import words
from agents_memory.storage.words import Held
from tests.factories import Services


async def _held(use: Services, message_id: int, terms: Sequence[str]) -> Held | None:
    async with use.database.acquire() as connection:
        own, _ = await words.count_in_messages(connection, [message_id], terms)
    return own.get(message_id)


@pytest.mark.parametrize("times", range(MAX_TERM_FREQUENCY + 1))
async def test_every_number_of_occurrences_is_told(use: Services, times: int) -> None:
    """F30: a word that occurs so many times, among others."""
    stored = await use.say(" ".join(["heron"] * times + ["weir", "weir"]))
    held = await _held(use, stored.id, ["weir", "heron", "otter"])
    assert held is not None
    assert held.length == times + 2
    assert held.counts == ({0: 2, 1: times} if times else {0: 2})


async def test_words_with_marks_of_the_query_language_are_counted(use: Services) -> None:
    """F30: quotes, backslashes and operators in a lexeme are letters like others."""
    text = r"don't C:\temp a&b c|d !e f:g 왜가리 鷺鷺 🦆"
    stored = await use.say(text)
    async with use.database.acquire() as connection:
        rows = await connection.fetch(
            "SELECT lexeme, cardinality(positions) AS times "
            "FROM messages m, unnest(m.lexemes) WHERE m.id = $1",
            stored.id,
        )
    held = await _held(use, stored.id, [row["lexeme"] for row in rows])
    assert len(rows) > 8
    assert held is not None
    assert held.counts == {place: row["times"] for place, row in enumerate(rows)}
