"""A model misbehaves in every way: a defined end, counted in the ledger, within every limit."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.services import retrying
from agents_memory.services.retrying import Retried
from agents_memory.storage import holds, model_calls
from agents_memory.storage.connections import Database
from agents_memory.storage.model_calls import Spent
from cold.guard import Backoff
from cold.llm.answering import Answering
from cold.llm.breaker import Breaker
from cold.llm.budget import Budget, Ceilings
from cold.llm.dialects import Dialect
from cold.llm.falling_back import FallingBack
from cold.llm.guard import Says
from cold.llm.holding import Holding
from cold.llm.openai_compatible import Endpoint, OpenAICompatible
from cold.llm.port import Answered, Failure, Provider, Role, Turn, Why
from cold.llm.turns import Turns, Urgent
from tests.conftest import SCHEMA
from tests.fakes import ManualClock
from tests.fixtures.completions import completion, error, in_turn
from tests.fixtures.endpoint import (
    Answer,
    HangUp,
    Request,
    Script,
    ScriptedEndpoint,
    scripted_endpoint,
)


class Fact(BaseModel):
    content: Annotated[str, Says.PROSE, Field(max_length=400)]
    quote: Annotated[str, Says.QUOTE, Field(max_length=100)]


SOURCE = (
    "We moved the order events into a Postgres table, because the team is small and it is enough."
)
QUOTE = "moved the order events into a Postgres"
GOOD = f'{{"content":"The order events are in Postgres.","quote":"{QUOTE}"}}'
PROMPT = [
    Turn("system", "Write down facts. Example: the heron stood there."),
    Turn("user", SOURCE, source=True),
]
SPENT = """\
SELECT coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(tokens), 0)::bigint AS tokens
FROM budgets WHERE provider = $1 AND hour >= $2"""
WIDE = Ceilings(1000, 1000, 10**9, 10**9)


async def _at_once(seconds: float) -> None:
    """A pause between two tries that takes no time."""


@dataclass
class Set:
    """One provider over a scripted server and a real ledger."""

    database: Database
    clock: ManualClock
    ceilings: Ceilings = WIDE
    limit_s: float = 60.0
    provider: Provider = Provider.LOCAL

    @asynccontextmanager
    async def over(self, script: Script) -> AsyncIterator[tuple[Answering, ScriptedEndpoint]]:
        async with scripted_endpoint(script) as server:
            endpoint = Endpoint(server.url, None, "tiny", Dialect.GENERIC)
            model = Answering(
                self.provider,
                OpenAICompatible(endpoint, self.clock, sleep=_at_once),
                Budget(self.database, self.provider, self.ceilings, self.clock),
                self.holding(),
                Turns(1),
                self.clock,
                limit_s=self.limit_s,
                max_tokens=500,
            )
            try:
                yield model, server
            finally:
                await model.close()

    def holding(self) -> Holding:
        """A process that knows nothing yet."""
        breaker = Breaker(self.clock, Backoff(30, 2, 1800, chance=lambda: 0.0))
        return Holding(self.database, self.provider, breaker, self.clock)

    async def outcomes(self) -> list[tuple[str, int, int]]:
        """Outcome, calls and requests of the ledger."""
        since = self.clock.now() - timedelta(days=30)
        counts = await self.database.run(lambda c: model_calls.count_calls(c, since))
        return [(count.outcome, count.calls, count.requests) for count in counts]

    async def spent(self) -> tuple[Spent, Spent]:
        """In this hour and in this day."""
        now = self.clock.now()
        since = [model_calls.hour_of(now), model_calls.day_of(now)]
        async with self.database.acquire() as connection:
            [hour], [day] = [await connection.fetch(SPENT, self.provider, one) for one in since]
        return Spent(**dict(hour)), Spent(**dict(day))


@pytest.fixture
def local(cold_database: Database) -> Set:
    return Set(cold_database, ManualClock())


async def asked(model: Any, prompt: Sequence[Turn] = PROMPT) -> Answered[Fact] | Failure:
    result: Answered[Fact] | Failure = await model.complete(Role.EXTRACT, prompt, Fact)
    return result


async def why(model: Any, prompt: Sequence[Turn] = PROMPT) -> Why:
    result = await asked(model, prompt)
    assert isinstance(result, Failure), result
    return result.why


async def test_an_answer_names_who_gave_it_and_is_in_the_ledger(local: Set) -> None:
    """F88: each call is booked with its tokens, and no word of it."""
    async with local.over(in_turn(completion(GOOD))) as (model, _):
        result = await asked(model)
    assert isinstance(result, Answered)
    assert result.value.quote == QUOTE
    assert (result.provider, result.model) == (Provider.LOCAL, "tiny")
    assert await local.outcomes() == [("answered", 1, 1)]
    assert await local.spent() == (Spent(1, 50), Spent(1, 50))


def changed(**fields: str) -> Answer:
    return completion(Fact.model_validate_json(GOOD).model_copy(update=fields).model_dump_json())


GERMAN = (
    "Die Bestellungen sind jetzt in einer Tabelle, weil das für die kleine Gruppe nicht zu viel "
    "ist und auch die Last sich nicht verändert."
)


@pytest.mark.parametrize(
    ("answer", "expected", "calls"),
    [
        (completion(f"Here is {{it}}: {GOOD} Enjoy {{}}!"), None, 1),
        (completion(f"```json\n{GOOD}\n```"), None, 1),
        (completion("", reasoning_content=GOOD), None, 1),
        (completion("I found nothing."), Why.MALFORMED, 2),
        (completion('{"facts":[]}'), Why.INVALID, 2),
        (completion(""), Why.EMPTY, 2),
        (completion(GOOD[:30], finish="length"), Why.CUT, 1),
        (completion("", finish="length"), Why.CUT, 1),
        (changed(content="and then " * 40), Why.REPETITIVE, 2),
        (changed(content="I'm sorry, but I can't help with that."), Why.REFUSED, 1),
        (completion("", refusal="No."), Why.REFUSED, 1),
        (completion("I'm sorry, but I can't assist with that."), Why.REFUSED, 1),
        (completion("Es tut mir leid, aber ich kann dabei nicht helfen."), Why.REFUSED, 1),
        (changed(content=GERMAN), Why.FOREIGN, 1),
        (changed(quote="the heron stood there"), Why.UNGROUNDED, 1),
        (error(400, "bad"), Why.REJECTED, 1),
        (error(400, "exceed_context_size_error"), Why.TOO_LONG, 1),
        (error(401, "bad"), Why.UNAVAILABLE, 1),
        (Answer(b"\0\xff"), Why.UNAVAILABLE, 1),
    ],
)
async def test_every_kind_of_answer_has_one_outcome(
    local: Set, answer: Answer, expected: Why | None, calls: int
) -> None:
    """A2, C3, C5, C6, C8: nothing that is refused is returned, and each is counted by its name."""
    async with local.over(in_turn(then=answer)) as (model, _):
        result = await asked(model)
    assert (result.why if isinstance(result, Failure) else None) == expected
    assert await local.outcomes() == [(expected or "answered", calls, calls)]


@pytest.mark.parametrize("step", [error(500, "x"), error(429, "x", retry_after="3"), HangUp()])
async def test_a_server_that_stays_down_is_asked_three_times_a_call(local: Set, step: Any) -> None:
    async with local.over(in_turn(then=step)) as (model, _):
        assert await why(model) is Why.UNAVAILABLE
    assert await local.outcomes() == [("unavailable", 1, 3)]


async def test_a_second_try_may_succeed(local: Set) -> None:
    """C5: empty content comes and goes; the second try has some chance in it."""
    async with local.over(in_turn(completion(""), completion(GOOD))) as (model, server):
        assert isinstance(await asked(model), Answered)
    first, second = (request.body["temperature"] for request in server.requests)
    assert first == 0
    assert second > 0
    assert await local.outcomes() == [("answered", 1, 1), ("empty", 1, 1)]


async def test_a_model_that_hangs_ends_at_the_limit_and_the_server_is_told(local: Set) -> None:
    async with replace(local, limit_s=0.05).over(in_turn(then=None)) as (model, server):
        assert await why(model) is Why.TIMED_OUT
        await server.left.wait()
    assert await local.outcomes() == [("timed_out", 1, 1)]


async def test_a_slow_first_byte_is_waited_for(local: Set) -> None:
    arrived, gate = asyncio.Event(), asyncio.Event()

    async def slow(request: Any) -> Answer:
        arrived.set()
        await gate.wait()
        return completion(GOOD)

    async with local.over(slow) as (model, _):
        call = asyncio.create_task(asked(model))
        await arrived.wait()
        gate.set()
        assert isinstance(await call, Answered)


async def test_a_cancelled_call_stays_booked_and_the_next_is_answered(local: Set) -> None:
    arrived = asyncio.Event()

    async def silent_once(request: Any) -> Answer:
        if not arrived.is_set():
            arrived.set()
            await asyncio.Event().wait()
        return completion(GOOD)

    async with local.over(silent_once) as (model, server):
        call = asyncio.create_task(asked(model))
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await server.left.wait()
        assert isinstance(await asked(model), Answered)
    assert await local.outcomes() == [("answered", 1, 1), ("open", 1, 1)]


@pytest.mark.parametrize("text", ["", " \n", "\u200b"])
async def test_nothing_to_ask_about_is_not_asked(local: Set, text: str) -> None:
    """C2: an empty message makes a model invent."""
    async with local.over(in_turn(then=completion(GOOD))) as (model, server):
        assert await why(model, [PROMPT[0], Turn("user", text, source=True)]) is Why.NOTHING_ASKED
    assert server.requests == []
    assert await local.outcomes() == []


async def test_control_tokens_and_broken_text_are_sent_as_data(local: Set) -> None:
    """I1: and what was quoted from them is still a quote."""
    said = f"{SOURCE} <|im_end|>\0\ud83d"
    async with local.over(in_turn(completion(GOOD))) as (model, server):
        assert isinstance(await asked(model, [Turn("user", said, source=True)]), Answered)
    [message] = server.requests[0].body["messages"]
    assert "<|im_end|>" not in message["content"]
    assert "\0" not in message["content"]


async def test_three_failures_in_a_row_hold_the_provider_until_one_call_succeeds(
    local: Set,
) -> None:
    down = error(401, "no")
    async with local.over(in_turn(down, down, down, down, then=completion(GOOD))) as (
        model,
        server,
    ):
        for _ in range(3):
            assert await why(model) is Why.UNAVAILABLE
        held = await asked(model)
        assert isinstance(held, Failure)
        assert held.why is Why.ON_HOLD
        assert held.until == local.clock.now() + timedelta(seconds=30)
        assert len(server.requests) == 3
        local.clock.advance(30)
        assert await why(model) is Why.UNAVAILABLE
        local.clock.advance(59)
        assert await why(model) is Why.ON_HOLD
        local.clock.advance(1)
        assert isinstance(await asked(model), Answered)
        assert isinstance(await asked(model), Answered)


async def test_a_restart_forgets_no_hold(local: Set) -> None:
    """F88, G2: the next process leaves the provider alone too, and every process can see it."""
    async with local.over(in_turn(then=error(401, "no"))) as (model, server):
        for _ in range(3):
            await asked(model)
        seen = len(server.requests)
        async with local.over(in_turn(then=error(401, "no"))) as (restarted, other):
            held = await asked(restarted)
            assert isinstance(held, Failure)
            assert (held.why, len(other.requests)) == (Why.ON_HOLD, 0)
            assert held.until == local.clock.now() + timedelta(seconds=30)
            [hold] = await local.database.run(holds.list_holds)
            assert (hold.provider, hold.times, hold.held_until) == ("local", 1, held.until)
            local.clock.advance(30)
            await asked(restarted)
            # Its one try failed, so that the first process waits twice as long as well.
            still = await asked(model)
            assert isinstance(still, Failure)
            assert still.until == local.clock.now() + timedelta(seconds=60)
            assert len(server.requests) == seen


async def test_a_hold_ends_with_an_answer_or_when_somebody_asks_again(local: Set) -> None:
    async with local.over(in_turn(then=error(401, "no"))) as (model, _):
        for _ in range(3):
            await asked(model)
        assert await retrying.retry(local.database) == Retried(providers=("local",))
        assert await why(model) is Why.UNAVAILABLE
        for _ in range(2):
            await asked(model)
        assert len(await local.database.run(holds.list_holds)) == 1
        local.clock.advance(3600)
    async with local.over(in_turn(completion(GOOD))) as (model, _):
        assert isinstance(await asked(model), Answered)
    assert await local.database.run(holds.list_holds) == []


async def test_bad_answers_hold_nobody(local: Set) -> None:
    async with local.over(in_turn(then=completion("", finish="length"))) as (model, _):
        assert {await why(model) for _ in range(6)} == {Why.CUT}


async def test_a_long_retry_after_holds_at_once(local: Set) -> None:
    async with local.over(in_turn(error(429, "x", retry_after="600"))) as (model, _):
        assert await why(model) is Why.UNAVAILABLE
        held = await asked(model)
    assert isinstance(held, Failure)
    assert held.until == local.clock.now() + timedelta(seconds=600)


@pytest.mark.parametrize(
    ("ceilings", "name", "waits"),
    [
        (Ceilings(2, 9, 10**9, 10**9), "LOCAL_LLM_REQUESTS_PER_HOUR", timedelta(hours=1)),
        (Ceilings(9, 2, 10**9, 10**9), "LOCAL_LLM_REQUESTS_PER_DAY", timedelta(hours=12)),
        (Ceilings(9, 9, 600, 10**9), "LOCAL_LLM_TOKENS_PER_HOUR", timedelta(hours=1)),
        (Ceilings(9, 9, 10**9, 600), "LOCAL_LLM_TOKENS_PER_DAY", timedelta(hours=12)),
    ],
)
async def test_at_the_ceiling_work_waits_and_says_until_when(
    local: Set, ceilings: Ceilings, name: str, waits: timedelta
) -> None:
    """F110: per hour and per day, requests and tokens."""
    async with replace(local, ceilings=ceilings).over(in_turn(then=completion(GOOD))) as (model, s):
        assert isinstance(await asked(model), Answered)
        assert isinstance(await asked(model), Answered)
        failure = await asked(model)
        assert isinstance(failure, Failure)
        assert failure.why is Why.OVER_CEILING
        assert name in failure.reason
        assert failure.until == local.clock.now() + waits
        assert len(s.requests) == 2
        local.clock.advance(waits.total_seconds())
        assert isinstance(await asked(model), Answered)


async def test_a_ceiling_of_nothing_lets_nothing_through(local: Set) -> None:
    async with replace(local, ceilings=Ceilings(0, 0, 0, 0)).over(in_turn()) as (model, server):
        assert await why(model) is Why.OVER_CEILING
    assert server.requests == []


async def test_calls_at_the_same_time_do_not_pass_a_ceiling_together(local: Set) -> None:
    narrow = replace(local, ceilings=Ceilings(3, 9, 10**9, 10**9))
    async with narrow.over(in_turn(then=completion(GOOD))) as (model, server):
        results = await asyncio.gather(*(asked(model) for _ in range(6)))
    assert sum(isinstance(result, Answered) for result in results) == 3
    assert len(server.requests) == 3


async def test_what_somebody_waits_for_is_asked_before_what_queues(local: Set) -> None:
    """F59: one call at a time, and a job is the next one."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def script(_: Request) -> Answer:
        begun.set()
        await go_on.wait()
        return completion(GOOD)

    async with local.over(script) as (model, server):
        queued = [asyncio.create_task(asked(model)) for _ in range(3)]
        await begun.wait()
        job = [Turn("user", f"A job: {QUOTE}", source=True)]
        urgent = asyncio.create_task(asked(Urgent(model), job))
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(server.requests) == 1
        go_on.set()
        await asyncio.gather(*queued, urgent)
    texts = [request.body["messages"][-1]["content"] for request in server.requests]
    assert [text.startswith("A job") for text in texts] == [False, True, False, False]


async def test_tries_within_a_call_count_too(local: Set) -> None:
    async with local.over(in_turn(error(500, "x"), completion(GOOD))) as (model, _):
        assert isinstance(await asked(model), Answered)
    assert (await local.spent())[0].requests == 2


async def test_what_is_spent_belongs_to_one_provider(local: Set) -> None:
    async with local.over(in_turn(completion(GOOD))) as (model, _):
        await asked(model)
    assert await replace(local, provider=Provider.XAI).spent() == (Spent(), Spent())


async def test_what_cannot_be_counted_is_not_done() -> None:
    url = "postgresql://memory_cold@127.0.0.1:9/memory?sslmode=disable"
    database = Database(url, schema=SCHEMA, application="test")
    async with Set(database, ManualClock()).over(in_turn(then=completion(GOOD))) as (model, server):
        with pytest.raises(DatabaseUnavailable):
            await asked(model)
    await database.close()
    assert server.requests == []


async def test_no_call_is_made_inside_of_a_transaction(local: Set) -> None:
    """The ledger's own are over before the model is asked, and begin after it answered."""
    idle = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    seen: list[int] = []

    async def looking(request: Any) -> Answer:
        async with local.database.acquire() as connection:
            seen.append(await connection.fetchval(idle))
        return completion(GOOD)

    async with local.over(looking) as (model, _):
        assert isinstance(await asked(model), Answered)
    assert seen == [0]


async def test_another_provider_stands_in_only_while_the_first_is_away(local: Set) -> None:
    cloud = replace(local, provider=Provider.XAI)
    down = error(401, "no")
    script = in_turn(completion("", finish="length"), down, down, down, then=completion(GOOD))
    async with (
        local.over(script) as (near, _),
        cloud.over(in_turn(then=completion(GOOD))) as (far, server),
    ):
        model = FallingBack(near, far)
        assert await why(model) is Why.CUT
        assert server.requests == []
        for _ in range(4):
            result = await asked(model)
            assert isinstance(result, Answered)
            assert result.provider is Provider.XAI
        local.clock.advance(30)
        result = await asked(model)
        assert isinstance(result, Answered)
        assert result.provider is Provider.LOCAL
    assert len(server.requests) == 4


async def test_a_ceiling_of_the_first_does_not_send_work_to_the_second(local: Set) -> None:
    none = replace(local, ceilings=Ceilings(0, 0, 0, 0))
    cloud = replace(local, provider=Provider.XAI)
    async with none.over(in_turn()) as (near, _), cloud.over(in_turn()) as (far, server):
        assert await why(FallingBack(near, far)) is Why.OVER_CEILING
    assert server.requests == []
