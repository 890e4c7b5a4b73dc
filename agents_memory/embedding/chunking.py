"""Cut a text into chunks an embedder can take, at the best boundary near the wanted size.

Chunks do not overlap: they end where a sentence, line or paragraph ends, the message is returned
whole whichever chunk was hit, and an overlap would cost its share of embedding time every time.
"""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from agents_memory.domain.text import repair, truncate

MAX_CHUNKS = 64

# A remainder this much over the wanted size stays one chunk: better than a chunk of three words.
_SLACK = 1.25
# Tokens a character costs, fitted to the XLM-RoBERTa vocabulary (250,000 pieces): on prose in 16
# languages, code and JSON the sum is within a fifth of the tokenizer's count; capitals, formulas,
# hexadecimal and base64 text have two to three times the tokens estimated. Space is nearly free to
# the tokenizer; its price here bounds the characters of a chunk.
_SPACE, _LETTER, _FOREIGN_LETTER, _NUMBER, _SYLLABLE, _SYMBOL = 0.125, 0.22, 0.3, 0.5, 0.65, 1.0

_CLOSERS = r"""["'”’»」』）】〉》)\]]"""
_BREAK = re.compile(rf"[。！？｡]++{_CLOSERS}*+\s*+|[.!?…؟۔।]++{_CLOSERS}*+\s++|\s++|[，、；：]")
_TERMINATORS = frozenset("。！？｡.!?…؟۔।")
_BLANK = re.compile(r"\s*+")


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of a text in order, none of them blank, white space trimmed at both ends.

    `left_out` counts the characters at the end of the text that are in no chunk because
    the limit was reached; 0 when the whole text is covered.
    """

    texts: tuple[str, ...]
    left_out: int = 0


def chunk(text: str, tokens: int, max_chunks: int = MAX_CHUNKS) -> Chunks:
    """Chunks of about `tokens` tokens: from half of it to a quarter more, the last one any size.

    Any string is legal; what `repair` makes of it is cut, and white space alone has no chunks.
    No chunk begins inside what a reader sees as one character. Only the covered part costs time.
    Raises ValueError when a limit is below 1.
    """
    if tokens < 1 or max_chunks < 1:
        raise ValueError(f"tokens ({tokens}) and max_chunks ({max_chunks}) must be 1 or more")
    text = repair(text).text
    texts: list[str] = []
    start = _skip_blank(text, 0)
    while start < len(text) and len(texts) < max_chunks:
        stop = _end_of_chunk(text, start, tokens)
        texts.append(text[start:stop].rstrip())
        start = _skip_blank(text, stop)
    return Chunks(tuple(texts), len(text) - start)


def estimate_tokens(text: str) -> float:
    """About how many tokens a multilingual SentencePiece vocabulary makes of the text."""
    return sum(map(_cost, text))


def beginning(text: str, tokens: int) -> str:
    """As many characters from the start of the text as make about `tokens` tokens."""
    window = text[: int(tokens / _SPACE)]
    return window[: bisect_right(list(accumulate(map(_cost, window))), tokens)]


def _skip_blank(text: str, start: int) -> int:
    blank = _BLANK.match(text, start)
    return blank.end() if blank else start


def _end_of_chunk(text: str, start: int, tokens: int) -> int:
    window = text[start : start + int(tokens * _SLACK / _SPACE) + 1]
    costs = list(accumulate(map(_cost, window)))
    if start + len(window) == len(text) and costs[-1] <= tokens * _SLACK:
        return len(text)
    half, full = bisect_right(costs, tokens / 2), bisect_right(costs, tokens)
    breaks = [
        (_rank(found.group()), found.end())
        for found in _BREAK.finditer(window)
        if half <= found.end() <= full and _whole(window, found.end()) == found.end()
    ]
    # A single character of more marks than fit is cut wherever the chunk is full.
    return start + (max(breaks)[1] if breaks else _whole(window, full) or full)


def _rank(separator: str) -> int:
    """How good a place to cut: paragraph over sentence over line over word or clause."""
    newlines = separator.count("\n")
    if newlines > 1:
        return 3
    if separator[0] in _TERMINATORS:
        return 2
    return min(newlines, 1)


def _whole(window: str, stop: int) -> int:
    """`stop`, or where the character begins that a cut there would part."""
    return len(truncate(window[: stop + 2], stop + 1)) - 1


@lru_cache(maxsize=8192)
def _cost(char: str) -> float:
    if char.isspace():
        return _SPACE
    if char.isalpha() or unicodedata.category(char)[0] == "M":
        if char.isascii():
            return _LETTER
        return _SYLLABLE if _is_syllabic(char) else _FOREIGN_LETTER
    return _NUMBER if char.isdigit() else _SYMBOL


def _is_syllabic(char: str) -> bool:
    """Han, kana and Hangul: one character is a syllable or a word."""
    return (
        "\u3040" <= char <= "\u30ff"
        or "\u3400" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7a3"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
    )
