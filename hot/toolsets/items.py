"""A recalled item as the tools show it."""

from typing import TYPE_CHECKING

from agents_memory.domain.fencing import escape
from hot.answers import Item
from hot.app import App

if TYPE_CHECKING:
    from agents_memory.services.recalled import RecalledItem


def item_of(app: App, item: "RecalledItem") -> Item:
    """The item with its words escaped and its times in the zone of the settings."""
    return Item(
        id=item.id,
        kind=item.kind,
        at=app.moment(item.said_at),
        until=None if item.until is None else app.moment(item.until),
        text=escape(item.text),
        truncated=item.truncated or None,
        role=item.role,
        subject=item.subject,
        version=item.version,
        project=item.project,
        platform=item.platform,
        model=item.model,
        device=item.device,
        venue=item.venue,
        trust=item.trust,
        pinned=item.pinned or None,
        tags=list(item.tags) or None,
        score=item.score,
        similarity=item.similarity,
        messages=list(item.messages) or None,
        session=item.session,
    )
