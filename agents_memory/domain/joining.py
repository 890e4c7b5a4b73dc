"""What of a text means little alone, joined with what it stands beside."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

FEWEST_WORDS = 6
"""With fewer words a sentence rarely says who or what it is about (ours)."""

JOINED_CHARS = 300
"""What is joined grows no longer than this (ours)."""

# With so many times more than are wanted, a note would say too much at once (ours).
_MANY = 3
# So many characters of scripts that are written without spaces, or of Hangul, make a word.
_WIDE_PER_WORD = 1.5
_QUESTION = re.compile(r"""[?？؟]["'”’»)\]」』）]*\Z""")
_ENDED = re.compile(r"""[.!?…।؟。！？;；:：]["'”’»)\]」』）]*\Z""")
_ANSWER = re.compile(r"(?:a|answer|antwort|答案?|回答)\s*[:：]", re.IGNORECASE)
# What begins so speaks of what was said just before; "Das Team" and "Diese Woche" don't.
_REFERS = re.compile(
    r"(?:(?:It|This|That|These|Those|They|He|She|Then|Also|But|And|Therefore|However|So|Er|Es|Sie"
    r"|Damit|Daher|Deshalb|Dadurch|Danach|Dann|Dafür|Dazu|Außerdem|Aber|Und)\b"
    r"|(?:Das|Dies(?:e[rsnm]?)?)\b(?!\s+[A-ZÄÖÜ]))"
    r"|[它这那他她但]|因此|所以|然后|另外|これ|それ|そのため|しかし|이것|그것|그래서|하지만"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One statement of a text; `section` counts the headings before it, `block` its paragraphs and
    lists. `listed`: it is an item of a list, or a row of a table."""

    text: str
    section: int = 0
    heading: str | None = None
    block: int = field(default=0, compare=False)
    listed: bool = field(default=False, compare=False)

    @property
    def statement(self) -> str:
        """What it says where its heading is not seen."""
        if self.heading is None:
            return self.text
        return f"{self.heading}：{self.text}" if wide(self.heading[-1]) else self._spaced()

    def _spaced(self) -> str:
        return f"{self.heading}: {self.text}"

    @property
    def is_question(self) -> bool:
        """Whether it asks and states nothing."""
        return _QUESTION.search(self.text) is not None


def joined(found: Sequence[Unit]) -> list[Unit]:
    """The units in their order, with those that mean little alone in one with their neighbours.

    An answer goes with its question, and what refers to the sentence before, or has fewer than six
    words, with the rest of its paragraph. An item stands alone where it has a lead-in.
    """
    together: list[Unit] = []
    for unit in _titled(found):
        if together and _belong(together[-1], unit):
            together[-1] = _join(together[-1], unit)
        else:
            together.append(unit)
    kept: list[Unit] = []
    for unit in together:
        # A short line of its own announces what follows; the last one ends what came before.
        if kept and _is_near(kept[-1], unit) and _is_little(kept[-1]):
            kept[-1] = replace(_join(kept[-1], unit), listed=unit.listed)
        else:
            kept.append(unit)
    ends = len(kept) > 1 and kept[-2].listed == kept[-1].listed
    if ends and _is_little(kept[-1]) and _is_near(kept[-2], kept[-1]):
        last = kept.pop()
        kept[-1] = _join(kept[-1], last)
    return kept


def listed_together(found: Sequence[Unit], most: int) -> list[Unit]:
    """At most `most` units, with the shortest neighbours of one list made one; as they are where
    that is not enough.
    """
    fewer = list(found)
    if len(found) > _MANY * most:
        return fewer
    while len(fewer) > most:
        pairs = [
            (len(fewer[at].text) + len(fewer[at + 1].text), at)
            for at in range(len(fewer) - 1)
            if fewer[at].listed
            and fewer[at + 1].listed
            and fewer[at].block == fewer[at + 1].block
            and _is_near(fewer[at], fewer[at + 1])
        ]
        if not pairs:
            return list(found)
        _, at = min(pairs)
        fewer[at : at + 2] = [_join(fewer[at], fewer[at + 1])]
    return fewer


def wide(character: str) -> bool:
    """Whether a character is of a script that is written without spaces."""
    return (
        bool(character)
        and unicodedata.east_asian_width(character) in "WF"
        and not ("\uac00" <= character <= "\ud7a3")
    )


def _titled(found: Sequence[Unit]) -> Sequence[Unit]:
    """A short line at the top, above what has a lead-in, is the title of all that follows it."""
    if len(found) < 2:
        return found
    title, following = found[0], found[1]
    if (
        title.listed
        or title.heading is not None
        or following.heading is None
        or following.section != title.section
        or _ENDED.search(title.text)
        or not _is_short(title.text)
    ):
        return found
    return [
        replace(unit, heading=" – ".join(filter(None, (title.text, unit.heading))))
        if unit.section == title.section
        else unit
        for unit in found[1:]
    ]


def _belong(before: Unit, unit: Unit) -> bool:
    if not _is_near(before, unit):
        return False
    if before.is_question and _ANSWER.match(unit.text):
        return True
    if before.block != unit.block or before.listed != unit.listed or unit.is_question:
        return False
    if unit.listed:
        return unit.heading is None and (_is_short(before.text) or _is_short(unit.text))
    refers = _REFERS.match(unit.text) is not None
    return before.is_question or refers or _is_short(before.text) or _is_short(unit.text)


def _is_near(before: Unit, unit: Unit) -> bool:
    return (before.section, before.heading) == (unit.section, unit.heading) and len(
        before.text
    ) + len(unit.text) < JOINED_CHARS


def _is_little(unit: Unit) -> bool:
    """Whether it says too little even with its heading; a question says nothing anyway."""
    if unit.is_question or (unit.listed and unit.heading is not None):
        return False
    return _is_short(unit.statement)


def _is_short(text: str) -> bool:
    packed = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    spaced = "".join(" " if wide(character) else character for character in text).split()
    words = sum(any(map(str.isalnum, word)) and not _is_hangul(word) for word in spaced)
    return words + packed / _WIDE_PER_WORD < FEWEST_WORDS


def _is_hangul(word: str) -> bool:
    return any("\uac00" <= character <= "\ud7a3" for character in word)


def _join(before: Unit, unit: Unit) -> Unit:
    gap = " "
    if wide(before.text[-1]) or before.text[-1] in "。！？；：":
        gap = "" if _ENDED.search(before.text) else "；"
    elif not _ENDED.search(before.text):
        gap = "; " if before.block == unit.block else ": "
    return replace(before, text=f"{before.text}{gap}{unit.text}")
