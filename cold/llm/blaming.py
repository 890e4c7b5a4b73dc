"""Whose fault it is that a model gave no answer: that of what it was asked about, or nobody's."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from cold.guard import ModelAway
from cold.llm.port import UNTRIED, Answer, Answered, Away, Failure, LanguageModel, Role, Turn, Why

# Nobody said anything, about whatever it was.
SILENT = UNTRIED | {Why.TIMED_OUT}


class Blaming:
    """A `LanguageModel` that answers Away while nobody can be asked.

    Any other Failure is the fault of what was asked. A server may fall, hang or turn up its nose
    over one text each time; taken for away, it would keep all others waiting. One that does so over
    all of them is no text's fault. A trivial text tells which; after a hang it comes before
    anything else, so that a text over which a server hangs is found out.
    """

    def __init__(self, models: LanguageModel) -> None:
        self._models = models
        # By what did not answer in time when it was asked last, not even about the trivial text.
        self._hung: dict[Role, Away] = {}
        self._trials: defaultdict[Role, asyncio.Lock] = defaultdict(asyncio.Lock)

    def serves(self, role: Role) -> bool:
        return self._models.serves(role)

    def named(self, role: Role) -> str | None:
        return self._models.named(role)

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        hung = role in self._hung
        if hung and (away := await self._still_hung(role)) is not None:
            return away
        answer = await self._models.complete(role, messages, schema)
        if isinstance(answer, Failure) and answer.why is Why.REJECTED:
            return await self._refused(role, answer)
        if not isinstance(answer, Failure) or answer.why not in SILENT:
            return answer
        # After a hang it answered about the trivial text just now.
        return await self._blamed(role, answer, proven=hung)

    async def close(self) -> None:
        await self._models.close()

    async def _still_hung(self, role: Role) -> Away | None:
        trial = self._trials[role]
        asked_meanwhile = trial.locked()
        async with trial:
            if role in self._hung and not asked_meanwhile:
                silent = await self._try_out(role)
                if silent is None:
                    del self._hung[role]
                else:
                    self._hung[role] = _away(silent)
            return self._hung.get(role)

    async def _refused(self, role: Role, failure: Failure) -> Failure:
        """The provider's fault where it takes the trivial text as little, or nobody can tell."""
        trial = await self._try(role)
        refused = trial is not None and trial.why in SILENT | {Why.REJECTED}
        return Away(failure.why, failure.reason) if refused else failure

    async def _blamed(self, role: Role, failure: Failure, *, proven: bool) -> Failure:
        away = _away(failure)
        if failure.why is Why.TIMED_OUT:
            if proven or await self._try_out(role) is None:
                return failure
            self._hung[role] = away
            return away
        if failure.why is not Why.UNAVAILABLE or failure.until is not None:
            return away
        if await self._try_out(role) is not None:
            return away
        return Failure(Why.REJECTED, f"it answers, but not about this text: {failure.reason}")

    async def _try_out(self, role: Role) -> Failure | None:
        """Why nobody answers about a trivial text; None where anything is answered."""
        trial = await self._try(role)
        return trial if trial is not None and trial.why in SILENT else None

    async def _try(self, role: Role) -> Failure | None:
        """Asks about a trivial text; None where the answer is one that could be used."""
        # Here, because it brings pydantic, which a daemon without a model does without.
        from cold.llm import tagging

        trial = await self._models.complete(role, tagging.trial(), tagging.Filed)
        return trial if isinstance(trial, Failure) else None


def model_away(away: Away) -> ModelAway:
    """The reason why a stage rests, and until when, where that is known."""
    reason = away.reason
    if away.until is not None and "until" not in reason:
        reason = f"{reason}; until {away.until:%Y-%m-%d %H:%M:%S} UTC"
    return ModelAway(reason, away.until)


def _away(failure: Failure) -> Away:
    return Away(failure.why, failure.reason, failure.until)
