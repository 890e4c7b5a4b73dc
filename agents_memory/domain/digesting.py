"""A long text in parts: what stands in it as one statement each, and the few that say most."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents_memory.domain.joining import Unit, joined, listed_together, wide
from agents_memory.domain.key_sentences import key_sentences
from agents_memory.domain.text import content_key, is_blank, truncate

LEAST, MOST = 2, 6
"""How many memories one text becomes (Patina)."""

READ_CHARS = 200_000
"""So much of one text is read; what comes after is left out, and told."""

UNIT_CHARS = 600
HEADING_CHARS = 120
# A question states nothing; it is taken where there is little else.
_QUESTION_WEIGHT = 0.4

# Of a line that may be a heading, a rule or a row; longer ones are prose.
_MARKED_CHARS = 500
# Whoever wraps lines does so later than this.
_WRAPPED_CHARS = 50
_FENCE = re.compile(r"(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+(?P<title>.*)\Z")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})\Z")
_RULE = re.compile(r"[\s:|*_=-]{3,}\Z")
_ITEM = re.compile(
    r"(?:[-*+•–—]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?|[・●○■□◆◦‣]\s*"
    r"|\d{1,3}[、．]\s*|[（(]\d{1,3}[)）]\s*"
)
_QUOTED = re.compile(r"(?:>\s?)+")
_ANNOUNCED = (":", "：")
# The end of a sentence is none after a title, an initial or the "z." of "z. B.", in "3. März", nor
# before a word in small letters; scripts that are written without spaces need none after theirs.
_END = re.compile(
    r"""(?:(?<=[.!?…।؟۔])|(?<=[.!?…।؟۔]["'”’»)\]]))"""
    r"""(?<!\b[A-ZÀ-Þ]\.)(?<!\b[adeiouz]\.)(?<!\b[DM]r\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bProf\.)(?<!\b[NS][rt]\.)"""
    r"""\s+(?![a-zß-ÿ]|(?<=\d\.\s)(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez))"""
    r"""|(?<=[。！？])(?![。！？」』”’）])|(?<=[。！？][」』”’）])"""
)


def units(text: str) -> list[Unit]:
    """What a text says in its order, each once; what means little alone is joined with the rest.

    By headings, paragraphs, list items, rows and sentences, in any script, of the first READ_CHARS
    characters; at most 600 characters each. Code is left out unless there is nothing else.
    """
    return joined(fragments(text))


def fragments(text: str) -> list[Unit]:
    """The single sentences, items and rows of a text, as `units` begins with them."""
    beginning = text[:READ_CHARS]
    found = list(_Reader(code=False).read(beginning))
    if not found:
        found = list(_Reader(code=True).read(beginning))
    if len(text) > READ_CHARS and len(found) > 1:
        # It was cut somewhere.
        found.pop()
    seen: set[tuple[str | None, str]] = set()
    kept = []
    for unit in found:
        key = unit.heading, content_key(unit.text)
        if key not in seen:
            seen.add(key)
            kept.append(unit)
    return kept


def key_units(found: Sequence[Unit], most: int = MOST) -> list[Unit]:
    """The up to `most` units that say most, in their order: of every section, if they are few.

    Where it is enough to join neighbours of one list, none is left out.
    """
    found = listed_together(found, most)
    if len(found) <= most:
        return list(found)
    sections = list(dict.fromkeys(unit.section for unit in found))
    if not 1 < len(sections) <= most:
        return _telling(found, most)
    by_section = [[unit for unit in found if unit.section == section] for section in sections]
    room = dict.fromkeys(range(len(sections)), 1)
    for _ in range(most - len(sections)):
        # What is left goes where most is said for each memory so far.
        longest = max(room, key=lambda at: len(by_section[at]) / room[at])
        room[longest] += 1
    return [unit for at, own in enumerate(by_section) for unit in _telling(own, room[at])]


def _telling(found: Sequence[Unit], most: int) -> list[Unit]:
    if len(found) <= most:
        return list(found)
    weights = [_QUESTION_WEIGHT if unit.is_question else 1.0 for unit in found]
    chosen = key_sentences([unit.text for unit in found], weights, most=most)
    places = sorted({sentence.place for sentence in chosen})
    return [found[place] for place in places] or list(found[:most])


@dataclass(slots=True)
class _Reader:
    """Goes through the lines; what belongs together is collected in `lines`."""

    code: bool
    section: int = 0
    block: int = 0
    heading: str | None = None
    # What announces what follows stands for a heading: until the next paragraph that is none of it,
    # and of an item until the next one that is indented no further.
    announced: str | None = None
    outer: list[tuple[int, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    item: bool = False
    indent: int = 0
    # Of a table: the cells of the row before, until it is told, and of its head.
    row: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)

    def read(self, text: str) -> Iterator[Unit]:
        fenced = False
        for raw in text.splitlines():
            line = _unquoted(raw.strip())
            if _FENCE.match(line):
                fenced = not fenced
                yield from self._flush()
            elif not fenced or self.code:
                yield from self._line(line, len(raw) - len(raw.lstrip()))
        yield from self._flush()
        yield from self._tell_row()

    def _line(self, line: str, indent: int) -> Iterator[Unit]:
        if self.row or self.head:
            if line.startswith("|") and _RULE.match(line) and not self.head:
                self.head, self.row = self.row, []
                return
            yield from self._tell_row()
            if not (line.startswith("|") and line.endswith("|")):
                # What announced the table announces nothing behind it.
                self.head, self.announced = [], None
        if is_blank(line):
            after_item = self.item
            yield from self._flush(announcing=True)
            if after_item:
                self.announced = None
            self.block += 1
        elif len(line) > _MARKED_CHARS:
            yield from self._prose(line, indent)
        elif (title := _HEADING.match(line)) is not None:
            yield from self._flush()
            self._begin(title["title"].rstrip("# "))
        elif _UNDERLINE.match(line) and len(self.lines) == 1 and not self.item:
            self._begin(self.lines.pop())
        elif _RULE.match(line):
            yield from self._flush()
        elif (mark := _ITEM.match(line)) is not None:
            yield from self._flush(announcing=True, inner=self.item and indent > self.indent)
            while self.outer and indent <= self.outer[-1][0]:
                self.outer.pop()
            self.lines, self.item, self.indent = [line[mark.end() :]], True, indent
        elif line.startswith("|") and line.endswith("|"):
            yield from self._flush(announcing=True)
            # Told with the next line, which says whether it was the head.
            self.row = [cell.strip() for cell in line.strip("|").split("|")]
        else:
            yield from self._prose(line, indent)

    def _tell_row(self) -> Iterator[Unit]:
        cells, self.row = self.row, []
        if not cells:
            return
        heads = [*self.head, *[""] * len(cells)]
        told = (
            f"{head}: {cell}" if head else cell
            for head, cell in zip(heads, cells, strict=False)
            if cell
        )
        self.lines, self.item = [" · ".join(told)], True
        yield from self._flush()

    def _prose(self, line: str, indent: int) -> Iterator[Unit]:
        if self.item and not indent:
            yield from self._flush()
            self.announced = None
        elif self.lines and not self.item and _is_whole(self.lines[-1], line):
            yield from self._flush()
        if not self.item:
            self.outer.clear()
        self.lines.append(line)

    def _begin(self, title: str) -> None:
        self.section += 1
        self.block += 1
        self.heading = None if is_blank(title) else truncate(" ".join(title.split()), HEADING_CHARS)
        self.announced = None
        self.outer.clear()

    def _flush(self, *, announcing: bool = False, inner: bool = False) -> Iterator[Unit]:
        """What was collected; of a lead-in (`announcing`) all but its last sentence.

        `inner`: an item follows that is indented further.
        """
        text, item = _joined(self.lines), self.item
        self.lines, self.item = [], False
        if is_blank(text):
            return
        if inner and text.endswith(_ANNOUNCED):
            self.outer.append((self.indent, truncate(text.rstrip("：: "), HEADING_CHARS)))
            return
        sentences = [text] if item else _END.split(text)
        lead_in = None
        if not item and announcing and text.endswith(_ANNOUNCED):
            *rest, last = sentences
            if len(last) <= HEADING_CHARS:
                lead_in, sentences = last.rstrip("：: "), rest
        above = [self.announced or self.heading, *(text for _, text in self.outer)]
        heading = " – ".join(filter(None, above)) or None
        for sentence in sentences:
            for piece in _pieces(sentence.strip()):
                if _says(piece, heading):
                    yield Unit(piece, self.section, heading, self.block, item)
        if lead_in is not None or not item:
            self.announced = lead_in


def _says(piece: str, heading: str | None) -> bool:
    """Whether it says anything; a single letter or digit does so under a heading only."""
    letters = [character for character in piece if character.isalnum()]
    return len(letters) > 1 or bool(letters and (heading is not None or wide(letters[0])))


def _is_whole(line: str, following: str) -> bool:
    """Whether a line stands for itself and was not only wrapped, as in a log or a list of names."""
    return len(line) < _WRAPPED_CHARS and (following[0].isupper() or following[0].isdigit())


def _unquoted(line: str) -> str:
    return _QUOTED.sub("", line, count=1).strip() if line.startswith(">") else line


def _joined(lines: Sequence[str]) -> str:
    """Wrapped lines as one; no space between scripts that are written without."""
    text = ""
    for line in lines:
        gap = "" if not text or (wide(text[-1]) and wide(line[:1])) else " "
        text += gap + line
    return " ".join(text.split())


def _pieces(sentence: str) -> Iterator[str]:
    """A sentence without an end, cut where a reader would pause."""
    while len(sentence) > UNIT_CHARS:
        head = sentence[:UNIT_CHARS]
        cut = max(head.rfind(mark) + 1 for mark in ("; ", ", ", "，", "、", "；"))
        if cut < UNIT_CHARS // 2:
            cut = head.rfind(" ") + 1
        if cut < UNIT_CHARS // 2:
            # One long word, or a script without spaces.
            cut = len(truncate(sentence, UNIT_CHARS)) - 1 or UNIT_CHARS
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence
