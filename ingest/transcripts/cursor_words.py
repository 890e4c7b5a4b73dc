"""What Cursor's stores have in common: prompts, and the identity of a turn."""

from collections import Counter

from agents_memory.domain.text import content_key
from ingest.records import digest_id
from ingest.transcripts.line_reader import inside

NAME = "cursor"


class Said:
    """Counts what was said in one conversation."""

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._counts: Counter[tuple[str, str]] = Counter()

    def id_of(self, role: str, text: str) -> str:
        """The identity of a turn that comes next in its order."""
        key = content_key(text)
        self._counts[role, key] += 1
        return digest_id(NAME, self._conversation, role, key, str(self._counts[role, key]))


def typed_text(written: str) -> str | None:
    """What a person typed of a prompt; None where all of it is the client's."""
    asked = inside(written, "user_query")
    if asked is not None:
        return asked
    return None if written.lstrip().startswith("<") else written
