"""From what the services found to what is answered: escaped, and within bounds."""

from typing import TYPE_CHECKING

from agents_memory.domain.fencing import escape
from agents_memory.domain.memories import MemoryView
from agents_memory.domain.text import truncate
from hot.app import App
from hot.toolsets.patch.answers import Memory, Version

if TYPE_CHECKING:
    from agents_memory.services.history import Version as StoredVersion

# An answer of more than some 25,000 tokens is refused by clients, or put away in a file.
ROOM_CHARS = 30_000
# A search is there to choose; reading is there to read.
EXCERPT_CHARS = 500


def memory_of(app: App, view: MemoryView, max_chars: int | None = None) -> Memory:
    """A memory as it is shown; with `max_chars` only the beginning of a longer one."""
    content = escape(view.content)
    shown = content if max_chars is None else truncate(content, max_chars)
    return Memory(
        memory_id=view.id,
        version=view.version,
        status=view.status.value,
        kind=view.kind.value,
        subject=escape(view.subject),
        content=shown,
        content_cut=shown != content or None,
        importance=view.importance,
        trust=view.trust.value,
        pinned=view.pinned,
        tags=[escape(tag) for tag in view.tags],
        project=view.project,
        platform=view.platform,
        at=app.moment(view.occurred_at or view.created_at),
        resolved_at=None if view.resolved_at is None else app.moment(view.resolved_at),
        superseded_by=view.superseded_by,
    )


def versions_of(
    app: App, found: tuple["StoredVersion", ...], after: int = 0, room: int = ROOM_CHARS
) -> tuple[list[Version], int | None]:
    """The versions after one, as many as there is room for, and how many later ones there are.

    One at least, if there is any.
    """
    later = [version for version in found if version.version > after]
    shown: list[Version] = []
    for version in later:
        diff, cut = shortened(version.diff or "")
        room -= len(diff) + len(version.reason)
        if room < 0 and shown:
            break
        shown.append(_version(app, version, diff, cut))
    return shown, (len(later) - len(shown)) or None


def shortened(diff: str) -> tuple[str, bool | None]:
    """A diff as it is shown, and whether there is more of it."""
    escaped = escape(diff)
    shown = truncate(escaped, ROOM_CHARS)
    return shown, shown != escaped or None


def _version(app: App, version: "StoredVersion", diff: str, cut: bool | None) -> Version:
    return Version(
        version=version.version,
        operation=version.operation.upper(),
        patch_id=version.patch_id,
        evidence_event_ids=list(version.evidence),
        actor=escape(version.actor),
        tool=escape(version.tool),
        reason=escape(version.reason),
        at=app.moment(version.created_at),
        status=version.status.value,
        ended_by=None if version.ended_by is None else version.ended_by.upper(),
        diff=diff,
        diff_cut=cut,
    )
