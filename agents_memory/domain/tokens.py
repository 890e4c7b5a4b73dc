"""How many tokens a text takes, without a tokenizer."""

from fractions import Fraction
from math import ceil

from agents_memory.domain.text import truncate

BRIEF_CHARS_PER_TOKEN = Fraction(17, 10)
"""Characters a token in the brief's window (`SHORT_TERM_TOKEN_LIMIT`), as mcp-agents-memory counts
them: cautious for Latin text, about right for Korean."""

BYTES_PER_TOKEN = 4
"""UTF-8 bytes a token when packing into `max_tokens`. UTF-8 tells scripts apart much as byte-pair
vocabularies do: Latin 4 characters a token, Cyrillic, Greek, Arabic 2, CJK 1⅓, emoji 1."""


def estimate_tokens(text: str) -> int:
    """Tokens of `text` for a language model, by script: UTF-8 bytes / 4, rounded up."""
    return ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def shorten(text: str, max_tokens: int) -> str:
    """`text` if it takes at most so many tokens, else its beginning followed by `…`, which does.

    Cut where a reader would cut it; empty if not even the `…` has room.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    room = BYTES_PER_TOKEN * max_tokens
    if len(encoded) <= room:
        return text
    # Half a character at the end is none.
    beginning = encoded[: max(room - len("…".encode()), 0)].decode("utf-8", "ignore")
    return truncate(text, len(beginning) + 1) if room >= BYTES_PER_TOKEN else ""
