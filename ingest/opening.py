"""Opens a transcript as its shape wants it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from ingest.batch import Transcript
from ingest.beside import opened
from ingest.cursor import Cursor
from ingest.database import Rows
from ingest.document import Document
from ingest.finding import Found
from ingest.packed import Packed
from ingest.records import Tally
from ingest.tail import Tail
from ingest.transcripts.protocol import Client, Shape

# How a transcript begins in UTF-16: with a byte order mark, or without one.
_UTF_16 = (b"\xff\xfe{\x00", b"\xfe\xff\x00{", b'{\x00"\x00', b'\x00{\x00"')
# A record behind it in UTF-8 tells that only the first line is damaged.
_RECORD = b'\n{"'
_HEAD_BYTES = 65_536


class ForeignEncoding(OSError):
    """A transcript is not UTF-8, as no client writes it: something has converted it."""


def open_transcript(
    root: Path,
    found: Found,
    client: Client,
    *,
    now: Callable[[], datetime],
    cursor: Cursor | None = None,
    since: datetime | None = None,
    tally: Tally | None = None,
) -> Transcript:
    """A transcript from `cursor` on, without what was said before `since`.

    What is left out is counted in `tally`. Raises OSError, and ForeignEncoding among them.
    """
    tally = Tally() if tally is None else tally
    match found.facts.shape:
        case Shape.LINES:
            with opened(root / found.path) as file:
                if file.read(4).startswith(_UTF_16) and _RECORD not in file.read(_HEAD_BYTES):
                    raise ForeignEncoding("it is UTF-16; convert it to UTF-8")
            return Tail(
                root,
                found.path,
                client,
                found.facts,
                cursor=cursor,
                since=since,
                tally=tally,
            )
        case Shape.PACKED:
            return Packed(root, found, client, since=since, tally=tally)
        case Shape.DOCUMENT:
            return Document(root, found, client, now=now, since=since, tally=tally)
        case Shape.DATABASE:
            return Rows(root, found, client, now=now, cursor=cursor, since=since, tally=tally)


def end_of_whole(found: Found) -> Cursor:
    """The cursor of a transcript that is read as a whole, in the state in which it was found."""
    inode, size, changed = found.signature
    return Cursor(inode, found.device, size, changed)
