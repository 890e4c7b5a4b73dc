"""A long text that an agent hands over: stored as evidence, then digested by the daemon."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self
from uuid import uuid4

from agents_memory.domain.digesting import READ_CHARS, units
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.messages import Draft
from agents_memory.domain.text import repair
from agents_memory.services.intake import Intake
from agents_memory.services.jobs import Asked, Jobs
from agents_memory.services.knowledge import ACTOR as ACTOR
from agents_memory.services.knowledge import SUBJECT, TOOL

KIND = "digest"
STATES_NOTHING = Refusal(
    Code.INVALID_INPUT,
    "the text says nothing that could be remembered; hand over sentences or a list",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of a text, as it waits for the daemon.

    `message_id` is the text as it was stored (0: not yet). `importance` (1..10), `valence`,
    `intensity` and `tags` hold for each memory that comes of it; what is not given is estimated, or
    made from its words.
    """

    message_id: int = 0
    subject: str = SUBJECT
    importance: int | None = None
    valence: float | None = None
    intensity: float | None = None
    tags: tuple[str, ...] = ()
    platform: str | None = None
    project: str | None = None

    @property
    def tells_affect(self) -> bool:
        """Whether nothing of the affect is left to be estimated."""
        return self.valence is not None or self.intensity is not None

    @classmethod
    def read(cls, request: Mapping[str, Any]) -> Self:
        """From the JSON of a job, which a newer client may have asked for."""
        known = {one.name: request[one.name] for one in fields(cls) if one.name in request}
        return cls(**{**known, "tags": tuple(request.get("tags", ()))})


class Digesting:
    """Asks the daemon to digest, and waits for it a little."""

    def __init__(self, intake: Intake, jobs: Jobs) -> None:
        self._intake = intake
        self._jobs = jobs

    async def digest(
        self, said: Draft, user_id: int, wanted: Wanted
    ) -> tuple[int, Asked] | Refusal:
        """Stores the text and has it digested; the id of the message it became, and how it stands.

        Refuses an empty text, one that states nothing, and one of more than 16 MiB;
        raises DatabaseUnavailable.
        """
        # Known here already, and not worth to wait for the daemon.
        if said.text and not await asyncio.to_thread(units, repair(said.text[:READ_CHARS]).text):
            return STATES_NOTHING
        # As what is told for one memory: recalled while a memory rests on it.
        told = replace(said, source=TOOL, store_id=ACTOR, native_id=str(uuid4()))
        stored = await self._intake.store(told, user_id)
        if isinstance(stored, Refusal):
            return stored
        request = asdict(replace(wanted, message_id=stored.id))
        return stored.id, await self._jobs.answer(user_id, KIND, request)

    async def outcome(self, user_id: int, job_id: int) -> Asked | Refusal:
        """What came of a text that was handed over before; waits for it a little."""
        return await self._jobs.wait(user_id, KIND, job_id)
