"""A second provider for when the first is away; its answers carry its name."""

from collections.abc import Sequence

from agents_memory.observe import Action, get_logger
from cold.llm.port import Answer, Answered, Failure, LanguageModel, Role, Turn, Why

log = get_logger()

# Not where the first gave a bad answer or has reached its ceiling: what it costs to ask elsewhere
# is nothing that a bad answer should decide.
AWAY = frozenset({Why.UNAVAILABLE, Why.ON_HOLD})


class FallingBack:
    """Asks `first`, and `second` only when `first` is away."""

    def __init__(self, first: LanguageModel, second: LanguageModel) -> None:
        self._first = first
        self._second = second

    def serves(self, role: Role) -> bool:
        return True

    def named(self, role: Role) -> str | None:
        return self._first.named(role)

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        result = await self._first.complete(role, messages, schema)
        if not isinstance(result, Failure) or result.why not in AWAY:
            return result
        log.info(Action.MODEL_REPLACED, role=role.value, reason=result.why.value)
        second = await self._second.complete(role, messages, schema)
        if isinstance(second, Failure):
            return Failure(second.why, f"{result.reason}; then: {second.reason}", second.until)
        return second

    async def close(self) -> None:
        await self._first.close()
        await self._second.close()
