"""Private blocks and private keys: what stands between a beginning and an end."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import put_marks
from agents_memory.domain.redaction.rules import Rule

_QUOTES = ("`", '"', "'")
_PRIVATE_TAG = re.compile(r"<\s{0,4}(/?)\s{0,4}private\s{0,4}>", re.IGNORECASE)


def _replace_private(text: str, found: dict[str, int]) -> str:
    """Replaces `<private>…</private>`, whatever stands in it."""
    return put_marks(text, _private_spans(text), found)


def _private_spans(text: str) -> Iterator[tuple[int, int, str]]:
    depth = start = 0
    for tag in _PRIVATE_TAG.finditer(text):
        before, after = text[tag.start() - 1 : tag.start()], text[tag.end() : tag.end() + 1]
        if before == after and before in _QUOTES:
            continue  # The tag is spoken of, not used.
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, tag.end(), "private"
    if depth:
        yield start, len(text), "private"


_ARMOUR = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_BEGIN = re.compile(rf"-{{4,5}} ?BEGIN {_ARMOUR}|Private-Lines: [0-9]{{1,3}}", re.IGNORECASE)
_KEY_END = re.compile(rf"-{{4,5}} ?END {_ARMOUR}", re.IGNORECASE)
# Between the lines: white space, also escaped; the marks of quotations, differences, comments.
_BREAK = r"(?:[\s>|#*\"',-]|\\[nrt\"])"
_KEY_LINES = re.compile(
    rf"{_BREAK}*+"
    rf"(?:(?:Proc-Type|DEK-Info|Version|Comment|Subject|Hash): ?[^\n\\]{{0,200}}+{_BREAK}*+)*+"
    rf"(?:[A-Za-z0-9+/=]{{16,}}+(?:{_BREAK}++(?=[A-Za-z0-9+/=]{{16}}))?+)++"
    rf"(?:{_BREAK}++[A-Za-z0-9+/]{{1,80}}+(?:={{1,2}}|\Z))?"
)


def _replace_keys(text: str, found: dict[str, int]) -> str:
    """Replaces private key blocks, also cut off ones."""
    return put_marks(text, _key_spans(text), found)


def _key_spans(text: str) -> Iterator[tuple[int, int, str]]:
    done, end = 0, _KEY_END.search(text)
    begins = list(_KEY_BEGIN.finditer(text))
    limits = [begin.start() for begin in begins[1:]] + [len(text)]
    for begin, limit in zip(begins, limits, strict=False):
        if begin.start() < done:
            continue
        while end and end.start() < begin.end():
            end = _KEY_END.search(text, end.end())
        lines = _KEY_LINES.match(text, begin.end(), limit)
        if not lines:
            continue
        done = end.end() if end and end.start() < limit else lines.end()
        yield begin.start(), done, "private_key"


RULES = (Rule(_replace_private, ("<",)), Rule(_replace_keys, ("private",)))
