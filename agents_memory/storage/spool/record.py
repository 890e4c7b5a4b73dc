"""A turn as it waits: what the intake accepted, whose it is, and which pool it is for."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from agents_memory.domain.messages import Accepted, Draft, Origin, Role, Trust

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Waiting:
    """An accepted turn of a user."""

    user: str
    turn: Accepted


def to_bytes(waiting: Waiting, pool: str) -> bytes:
    """UTF-8 JSON for the pool with that mark."""
    turn = waiting.turn
    said = turn.draft.occurred_at
    document = {
        "version": _VERSION,
        "pool": pool,
        "user": waiting.user,
        "intake_id": str(turn.intake_id),
        "at": turn.at.isoformat(),
        "raw": turn.raw,
        "redactions": turn.redactions,
        "draft": {**asdict(turn.draft), "occurred_at": said and said.isoformat()},
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def from_bytes(data: bytes, pool: str) -> Waiting:
    """What `to_bytes` wrote. Raises ValueError for anything else, and for another pool's turn."""
    try:
        document = json.loads(data.decode("utf-8", "surrogatepass"))
        if (document["version"], document["pool"]) != (_VERSION, pool):
            raise ValueError("of another version or another pool")
        known = (document["user"], document["draft"]["text"], document["raw"] or "")
        if not all(isinstance(text, str) for text in known):
            raise ValueError("no words")
        turn = Accepted(
            UUID(document["intake_id"]),
            _moment(document["at"]),
            _draft(document["draft"]),
            document["raw"],
            dict(document["redactions"]),
        )
        return Waiting(document["user"], turn)
    except (KeyError, TypeError, AttributeError) as wrong:
        raise ValueError("no turn that waits") from wrong


def _draft(fields: dict[str, Any]) -> Draft:
    said = fields["occurred_at"]
    return Draft(
        **{
            **fields,
            "role": Role(fields["role"]),
            "origin": Origin(fields["origin"]),
            "trust": Trust(fields["trust"]),
            "occurred_at": None if said is None else _moment(said),
        }
    )


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment
