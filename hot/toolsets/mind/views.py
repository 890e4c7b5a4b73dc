"""From what the services answer to what the tools show."""

from typing import TYPE_CHECKING

from agents_memory.domain.edges import Edge
from agents_memory.domain.fencing import escape
from agents_memory.domain.text import truncate
from hot.app import App
from hot.toolsets.items import item_of
from hot.toolsets.mind.answers import EdgePart, Memory, Recalled, ViaPart

if TYPE_CHECKING:
    from agents_memory.domain.memories import MemoryView
    from agents_memory.services.recalled import RecalledItem

EXCERPT_CHARS = 500


def recalled_of(app: App, item: "RecalledItem") -> Recalled:
    """A result, with the edge along which it came."""
    via = item.via
    return Recalled(
        **item_of(app, item).model_dump(),
        via=None if via is None else ViaPart(id=via.id, kind=via.kind, weight=round(via.weight, 4)),
    )


def memory_of(app: App, view: "MemoryView") -> Memory:
    """A memory, the beginning of a long one."""
    text = truncate(view.content, EXCERPT_CHARS)
    return Memory(
        id=view.id,
        at=app.moment(view.occurred_at or view.created_at),
        kind=view.kind,
        subject=view.subject,
        text=escape(text),
        truncated=text != view.content or None,
        trust=view.trust,
        version=view.version,
        importance=view.importance,
        pinned=view.pinned or None,
        tags=list(view.tags) or None,
    )


def edge_of(edge: Edge) -> EdgePart:
    """An edge."""
    return EdgePart(
        from_id=edge.from_id, to_id=edge.to_id, kind=edge.kind, weight=round(edge.weight, 4)
    )
