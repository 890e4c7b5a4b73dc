"""What the readers of lines have in common."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator

from agents_memory.domain.text import is_blank
from ingest.records import Dropped, Record, Tally
from ingest.transcripts.json_lines import Object, objects


class LineReader(ABC):
    """A reader whose lines are JSON objects; see `ingest.transcripts.protocol.Reader`."""

    def __init__(self) -> None:
        self.tally: Tally = Counter()
        self.withdrawn: set[str] = set()
        # Where a new reader has to begin: by default at the last line that gave a record.
        self._held: int | None = None

    @property
    def held(self) -> int | None:
        return self._held

    @property
    def waiting(self) -> bool:
        return False

    def feed(self, line: bytes, start: int) -> list[Record]:
        found, lost = objects(line, self._is_record)
        if lost:
            self.tally[Dropped.BROKEN] += 1
        return [record for one in found for record in self._take(one, start)]

    def settle(self, *, quiet: bool) -> list[Record]:
        return []

    def _is_record(self, line: Object) -> bool:
        """Whether an object found in a broken line is a whole record, not a part of one."""
        return isinstance(line.get("type"), str) and isinstance(line.get("timestamp"), str)

    @abstractmethod
    def _take(self, line: Object, start: int) -> Iterator[Record]:
        """The records that one line gives."""


def text_of(content: object, *kinds: str) -> str:
    """The text of a message: a string, or the blocks of these `kinds`, a blank line between."""
    return "\n\n".join(text for text in texts(content, *kinds) if not is_blank(text))


def texts(content: object, *kinds: str) -> Iterator[str]:
    """A string, or the texts of the blocks of these `kinds` in a list."""
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in kinds:
            text = block.get("text")
            yield text if isinstance(text, str) else ""


def mapping(value: object) -> Object:
    """A JSON object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def string(value: object) -> str | None:
    """A string that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def inside(text: str, tag: str) -> str | None:
    """What stands between `<tag>` and the last `</tag>`; None when it is not there."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    begin, end = text.find(opening), text.rfind(closing)
    if begin < 0 or end < begin:
        return None
    return text[begin + len(opening) : end].strip()


def without(text: str, tags: Iterable[str]) -> str:
    """A text without what stands in any of these tags; one that is not closed is left alone."""
    for tag in tags:
        opening, closing = f"<{tag}", f"</{tag}>"
        begin = text.find(opening)
        while begin >= 0:
            end = text.find(closing, begin)
            if end < 0:
                break
            text = text[:begin] + text[end + len(closing) :]
            begin = text.find(opening, begin)
    return text
