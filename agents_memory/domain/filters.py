"""What a search may look at."""

from datetime import datetime
from typing import NamedTuple


class Filters(NamedTuple):
    """Conditions that all hold; None asks for nothing.

    `projects` are ids of project tags (aliases resolved), `since` is inclusive and `until`
    exclusive (aware datetimes, compared with when a thing was said), `device` also lets pinned rows
    through, and `venue` matches exactly or as a prefix before a colon. `include_archived` asks for
    messages that a summary stands for; whoever asks for a time gets them anyway. `include_private`
    is the owner's alone to ask for.
    """

    user_id: int
    projects: tuple[int, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    role: str | None = None
    platform: str | None = None
    device: str | None = None
    venue: str | None = None
    include_archived: bool = False
    include_private: bool = False

    @property
    def only_messages(self) -> bool:
        """Whether a condition is set that memories have no answer to."""
        return self.role is not None or self.venue is not None

    @property
    def shows_archived(self) -> bool:
        """Whether messages that a summary stands for match as well."""
        return self.include_archived or self.since is not None or self.until is not None
