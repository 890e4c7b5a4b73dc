"""When a profile is written, and what is read for it."""

from dataclasses import dataclass

from agents_memory.settings import Settings


@dataclass(frozen=True, slots=True)
class Librarianship:
    """Counts of messages, and hours between two attempts for one user."""

    enabled: bool = True
    threshold: int = 30
    cooldown_hours: int = 24
    newest: int = 25
    oldest: int = 25

    @classmethod
    def of(cls, settings: Settings) -> "Librarianship":
        return cls(
            settings.librarian_enabled,
            settings.librarian_msg_threshold,
            settings.librarian_cooldown_hours,
            settings.librarian_recent_slice,
            settings.librarian_history_slice,
        )
