"""Evidence as an agent hands it over, once for each id that it has outside of the pool."""

import hashlib
from dataclasses import replace
from datetime import datetime

from agents_memory.clock import Clock
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.messages import Draft, Stored
from agents_memory.domain.redaction import redact
from agents_memory.domain.text import is_blank, repair
from agents_memory.services.intake import FUTURE, Intake

SOURCE = "memory_record_event"
# All agents of a user share their ids, on whatever machine they run.
STORE = "agent"
MAX_EXTERNAL_ID_CHARS = 200


class Events:
    """Records events: messages that are there to be cited."""

    def __init__(self, intake: Intake, clock: Clock) -> None:
        self._intake = intake
        self._clock = clock

    async def record(
        self, draft: Draft, user_id: int, external_id: str | None = None
    ) -> Stored | Refusal:
        """Stores an event, or finds the one that is there under the same `external_id`.

        Refuses with EVENT_CONFLICT when that one is not identical (role, words once cleaned, time),
        with INVALID_INPUT and LIMIT_EXCEEDED. Raises DatabaseUnavailable.
        """
        if _too_late(draft.occurred_at, self._clock.now()):
            return Refusal(
                Code.INVALID_INPUT,
                "occurred_at lies in the future; give the time it happened, or leave it out",
            )
        if external_id is not None:
            native_id = _native_id(external_id)
            if isinstance(native_id, Refusal):
                return native_id
            draft = replace(draft, source=SOURCE, store_id=STORE, native_id=native_id)
        stored = await self._intake.store(draft, user_id)
        if isinstance(stored, Stored) and not stored.identical:
            return Refusal(
                Code.EVENT_CONFLICT,
                f"this external_id names event {stored.id} already, and that one says something "
                "else; events never change, so record yours under another external_id",
                {"event_id": stored.id},
            )
        return stored


def _too_late(occurred_at: datetime | None, now: datetime) -> bool:
    return occurred_at is not None and occurred_at > now + FUTURE


def _native_id(external_id: str) -> str | Refusal:
    if len(external_id) > MAX_EXTERNAL_ID_CHARS:
        return Refusal(
            Code.LIMIT_EXCEEDED,
            f"external_id may hold {MAX_EXTERNAL_ID_CHARS} characters; shorten it, or take a UUID",
            {"limit": MAX_EXTERNAL_ID_CHARS},
        )
    if is_blank(external_id):
        return Refusal(Code.INVALID_INPUT, "external_id is empty; leave it out, or name the event")
    if redact(repair(external_id).text).text.strip() == external_id:
        return external_id
    # Cleaned, two ids could become one.
    return f"blake2b:{hashlib.blake2b(_bytes(external_id), digest_size=32).hexdigest()}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
