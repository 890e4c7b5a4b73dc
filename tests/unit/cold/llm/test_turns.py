"""So many calls at a time, and what somebody waits for before what nobody does."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from cold.llm.port import Answer, Answered, Failure, LanguageModel, Role, Rules, Turn, Why
from cold.llm.tagging import Filed
from cold.llm.turns import Turns, Urgent


class Served(Rules):
    """Answers nothing, in turn; `begun` are the texts it was asked about, until each is let go."""

    def __init__(self, most: int) -> None:
        self.turns = Turns(most)
        self.begun: list[str] = []
        self.let_go: dict[str, asyncio.Event] = {}

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        async with self.turns:
            [turn] = messages
            self.begun.append(turn.text)
            await self.let_go.setdefault(turn.text, asyncio.Event()).wait()
        return Failure(Why.EMPTY, turn.text)


_BEGUN: list[asyncio.Task[object]] = []


@pytest.fixture(autouse=True)
async def _ended() -> AsyncIterator[None]:
    """What a test leaves asking ends with it."""
    yield
    for task in _BEGUN:
        task.cancel()
    await asyncio.gather(*_BEGUN, return_exceptions=True)
    _BEGUN.clear()


async def begin(model: LanguageModel, *texts: str) -> list[asyncio.Task[object]]:
    tasks = [asyncio.create_task(_ask(model, text)) for text in texts]
    _BEGUN.extend(tasks)
    await settle()
    return tasks


async def _ask(model: LanguageModel, text: str) -> object:
    return await model.complete(Role.GATE, [Turn("user", text)], Filed)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def finish(served: Served, text: str) -> None:
    served.let_go[text].set()
    await settle()


async def test_no_more_than_so_many_are_asked_at_a_time() -> None:
    served = Served(2)
    await begin(served, "a", "b", "c")
    assert served.begun == ["a", "b"]
    await finish(served, "b")
    assert served.begun == ["a", "b", "c"]


async def test_a_job_that_somebody_waits_for_goes_before_what_queued_earlier() -> None:
    """F68: with one call at a time, too."""
    served = Served(1)
    await begin(served, "tag 1", "tag 2", "tag 3")
    await begin(Urgent(served), "digest")
    await finish(served, "tag 1")
    assert served.begun == ["tag 1", "digest"]
    await finish(served, "digest")
    assert served.begun == ["tag 1", "digest", "tag 2"]


async def test_beside_a_call_that_hangs_a_job_gets_the_next_place_that_is_free() -> None:
    served = Served(2)
    await begin(served, "hangs", "tag 1", "tag 2")
    await begin(Urgent(served), "digest")
    await finish(served, "tag 1")
    assert served.begun == ["hangs", "tag 1", "digest"]


async def test_who_gives_up_waiting_takes_no_place() -> None:
    served = Served(1)
    [first, second, third] = await begin(served, "a", "b", "c")
    second.cancel()
    await settle()
    await finish(served, "a")
    assert served.begun == ["a", "c"]
    await finish(served, "c")
    await asyncio.gather(first, third)
    await begin(served, "d")
    assert served.begun == ["a", "c", "d"]


async def test_a_place_that_was_given_to_who_gives_up_goes_to_the_next() -> None:
    turns = Turns(1)
    await turns.__aenter__()
    second, third = (asyncio.create_task(turns.__aenter__()) for _ in range(2))
    await settle()
    await turns.__aexit__()
    # It has the place, and never comes to take it.
    second.cancel()
    await settle()
    assert (second.cancelled(), third.done()) == (True, True)


async def test_a_call_that_is_broken_off_leaves_its_place() -> None:
    served = Served(1)
    [first, _] = await begin(served, "a", "b")
    first.cancel()
    await settle()
    assert served.begun == ["a", "b"]
