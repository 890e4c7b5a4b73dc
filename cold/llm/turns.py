"""Whose turn it is with a provider: so many calls at a time, first those somebody waits for."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextvars import ContextVar

from cold.llm.port import Answer, Answered, Failure, LanguageModel, Role, Turn

_urgent: ContextVar[bool] = ContextVar("_urgent", default=False)


class Turns:
    """Lets at most `most` (1 or more) in at a time, by `async with`; who is urgent goes first."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._urgent if _urgent.get() else self._others).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                # It came in the moment in which it was not wanted any more.
                self._pass_on()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        for queue in (self._urgent, self._others):
            while queue:
                turn = queue.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1


class Urgent:
    """A `LanguageModel` whose questions go before those that nobody waits for."""

    def __init__(self, models: LanguageModel) -> None:
        self._models = models

    def serves(self, role: Role) -> bool:
        return self._models.serves(role)

    def named(self, role: Role) -> str | None:
        return self._models.named(role)

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        before = _urgent.set(True)
        try:
            return await self._models.complete(role, messages, schema)
        finally:
            _urgent.reset(before)

    async def close(self) -> None:
        await self._models.close()
