"""Use: cite is the signal; showing is not."""

from agents_memory.domain.errors import Code, Refusal
from agents_memory.services.citing import Cited, Citing
from agents_memory.storage import traces
from tests.factories import Services


async def test_cited_items_get_a_use_trace(use: Services) -> None:
    """F23."""
    stored = await use.say("alpha")
    citing = Citing(use.database)
    done = await citing.cite([stored.id, stored.id, 999_999, -1, 2**70], use.user_id, "s")
    assert isinstance(done, Cited)
    assert (done.cited, done.unknown) == ({stored.id: "message"}, (-1, 999_999, 2**70))
    async with use.database.acquire() as connection:
        assert await traces.count_traces(connection, stored.id) == {"used": 1}


async def test_citing_nothing_known_is_refused(use: Services) -> None:
    citing = Citing(use.database)
    for ids, code in (
        ([], Code.INVALID_INPUT),
        ([0], Code.UNKNOWN_ITEM),
        (list(range(1, 102)), Code.INVALID_INPUT),
    ):
        refused = await citing.cite(ids, use.user_id, None)
        assert isinstance(refused, Refusal)
        assert refused.code is code
