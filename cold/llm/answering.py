"""One provider as a language model: counted, held, limited in time, validated and guarded."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from agents_memory.clock import Clock
from agents_memory.domain.text import is_blank
from agents_memory.domain.tokens import estimate_tokens
from agents_memory.observe import Action, get_logger
from cold.apart import apart
from cold.llm.backend import UNKNOWN, Backend, Generated, Request
from cold.llm.budget import Budget
from cold.llm.guard import refused
from cold.llm.holding import Holding
from cold.llm.port import Answer, Answered, Failure, Provider, Role, Turn, Why
from cold.llm.reading import read
from cold.llm.schemas import canonical, longest
from cold.llm.turns import Turns
from cold.llm.wording import legible

log = get_logger()

# Worth a second try with some chance in it: small models give these on and off.
AGAIN = frozenset({Why.EMPTY, Why.MALFORMED, Why.INVALID, Why.REPETITIVE})
SECOND_TEMPERATURE = 0.5
# Nothing is wrong with the answer: there was none.
SILENT = frozenset({Why.UNAVAILABLE, Why.TIMED_OUT})
LEAST_TOKENS = 64


class Answering:
    """A `LanguageModel` over one backend, asked as often at a time as `turns` let it.

    `limit_s` is the wall-clock limit of one call, `max_tokens` the most that is asked for at a time
    (less where the schema needs less).
    """

    def __init__(
        self,
        provider: Provider,
        backend: Backend,
        budget: Budget,
        holding: Holding,
        turns: Turns,
        clock: Clock,
        *,
        limit_s: float,
        max_tokens: int,
    ) -> None:
        self._provider = provider
        self._backend = backend
        self._budget = budget
        self._holding = holding
        self._turns = turns
        self._clock = clock
        self._limit_s = limit_s
        self._max_tokens = max_tokens

    def serves(self, role: Role) -> bool:
        return True

    def named(self, role: Role) -> str | None:
        model = self._backend.model
        return None if model == UNKNOWN else f"{self._provider}:{model}"

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        turns = [Turn(turn.role, legible(turn.text), turn.source) for turn in messages]
        sources = [turn.text for turn in turns if turn.source]
        if all(map(is_blank, sources or [turn.text for turn in turns])):
            return Failure(Why.NOTHING_ASKED, "there is no text to ask about")
        form = canonical(schema)
        tokens = max(LEAST_TOKENS, min(self._max_tokens, longest(form)))
        first = Request(turns, schema.__name__, form, tokens)
        result = await self._in_turn(role, first, schema, sources)
        if isinstance(result, Failure) and result.why in AGAIN:
            second = Request(turns, schema.__name__, form, tokens, SECOND_TEMPERATURE)
            again = await self._in_turn(role, second, schema, sources)
            # A ceiling met by the second try is not why the first failed.
            if not (isinstance(again, Failure) and again.why is Why.OVER_CEILING):
                return again
        return result

    async def close(self) -> None:
        await self._backend.close()

    async def _in_turn(
        self, role: Role, request: Request, schema: type[Answer], sources: Sequence[str]
    ) -> Answered[Answer] | Failure:
        # Before anything else, so that what happened meanwhile is known.
        async with self._turns:
            return await self._counted(role, request, schema, sources)

    async def _counted(
        self, role: Role, request: Request, schema: type[Answer], sources: Sequence[str]
    ) -> Answered[Answer] | Failure:
        """One booked call."""
        if (held := await self._holding.enter()) is not None:
            reason = self._holding.reason or "it did not answer; see that it runs"
            return Failure(
                Why.ON_HOLD,
                f"{self._provider} is left alone until {held.until:%Y-%m-%d %H:%M:%S} UTC: "
                f"{reason}",
                held.until,
            )
        asked = sum(estimate_tokens(turn.text) for turn in request.turns)
        settled = False
        try:
            call = await self._budget.begin(role, self._backend.model, asked, request.max_tokens)
            if isinstance(call, Failure):
                return call
            began = self._clock.monotonic()
            result = await self._guarded(request, schema, sources)
            settled = True
            await self._settle(result)
        finally:
            if not settled:
                self._holding.left()
        tally, seconds = request.tally, self._clock.monotonic() - began
        tally.tokens_in = tally.tokens_in or asked * min(tally.requests, 1)
        outcome = result.why.value if isinstance(result, Failure) else "answered"
        await self._budget.end(call, self._backend.model, tally, seconds, outcome)
        log.info(
            Action.MODEL_ASKED,
            role=role.value,
            backend=self._provider.value,
            model=self._backend.model,
            outcome=outcome,
        )
        return result

    async def _guarded(
        self, request: Request, schema: type[Answer], sources: Sequence[str]
    ) -> Answered[Answer] | Failure:
        try:
            async with asyncio.timeout(self._limit_s):
                generated = await self._backend.generate(request)
        except TimeoutError:
            return Failure(
                Why.TIMED_OUT,
                f"{self._provider} gave no answer within {self._limit_s:g} s; raise "
                "LLM_CALL_LIMIT_SEC, or choose a smaller model",
            )
        except Exception as error:  # noqa: BLE001 (a runtime's own bug is a model that is down)
            return Failure(
                Why.UNAVAILABLE, f"{self._provider} failed ({type(error).__name__}); see its log"
            )
        if isinstance(generated, Failure):
            return generated
        # A megabyte takes a second.
        answer = await apart(
            partial(_looked_through, generated, schema, sources),
            len(generated.text) + sum(map(len, sources)),
        )
        if isinstance(answer, Failure):
            return answer
        return Answered(answer, self._provider, self._backend.model)

    async def _settle(self, result: object) -> None:
        if isinstance(result, Failure) and result.why in SILENT:
            wanted = result.until
            pause = timedelta(0) if wanted is None else wanted - self._clock.now()
            await self._holding.failed(max(pause, timedelta(0)), result.reason)
        else:
            await self._holding.succeeded()


def _looked_through(
    generated: Generated, schema: type[Answer], sources: Sequence[str]
) -> Answer | Failure:
    answer = read(generated, schema)
    if isinstance(answer, Failure):
        return answer
    return refused(answer, sources) or answer
