"""What stands around a message, as text to be analysed for the context column."""

from datetime import datetime

MAX_PREVIOUS_CHARS = 2_000


def context_text(text: str, previous: str | None, said_at: datetime | None) -> str:
    """The day in words, the turn before, the turn itself: one text whose words find the message.

    `said_at` is None when nobody knows when it was said. The end of a long previous turn is what
    the next one answers, so its beginning is left out.
    """
    parts = [] if said_at is None else [said_at.strftime("%A %d %B %Y %Y-%m-%d")]
    if previous is not None:
        parts.append(previous[-MAX_PREVIOUS_CHARS:])
    return "\n".join([*parts, text])
