"""What a stale version met, as it may be shown: stored words stay data in a refusal too."""

from dataclasses import replace

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import escape
from hot.session import Session


def shown_refusal(session: Session, refusal: Refusal) -> Refusal:
    """The refusal with its current state escaped; the session has seen that version then."""
    current = refusal.details.get("current")
    if refusal.code is not Code.VERSION_CONFLICT or current is None:
        return refusal
    session.show([(refusal.details["memory_id"], current["version"])])
    escaped = {
        name: escape(value) if isinstance(value, str) else value for name, value in current.items()
    }
    return replace(refusal, details={**refusal.details, "current": escaped})
