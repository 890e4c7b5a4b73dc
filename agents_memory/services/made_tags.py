"""The tags that a memory is given where nobody names any."""

from agents_memory.domain.redaction import redact
from agents_memory.domain.text import repair
from agents_memory.services.key_phrases import LOOKED_AT_CHARS, key_phrases

MAX_MADE_TAGS = 5


def made_tags(text: str) -> tuple[str, ...]:
    """Key phrases of a statement: the same of its words as told and as they are stored."""
    # Of what will be stored, or a part of a secret could become a tag.
    return key_phrases(redact(repair(text[:LOOKED_AT_CHARS]).text).text, MAX_MADE_TAGS)
