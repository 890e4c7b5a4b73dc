"""File names for any tag, on any file system."""

import re
import unicodedata
from hashlib import sha256

MAX_STEM_CHARS = 60
MAX_STEM_BYTES = 150

# These are their own name everywhere: no case, no second spelling in Unicode, nothing hidden.
_SAFE = re.compile(r"[a-z0-9]+(?:[.+_-]+[a-z0-9]+)*\+{0,2}")
# Windows opens a device for them, whatever follows the first dot; the index has its own place.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|conin|conout|index)(?:\..*)?")


def file_stem(tag: str) -> str:
    """A file name without its ending: readable, and another one for each tag.

    A plain name stays. Any other has a digest behind it, so that names which a file system takes
    for the same (`Foo` and `foo`, two spellings in Unicode) stay apart.
    """
    if len(tag) <= MAX_STEM_CHARS and _SAFE.fullmatch(tag) and not _RESERVED.fullmatch(tag):
        return tag
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", tag).casefold())
    kept = "".join(
        # Letters, marks and numbers of any script.
        char if unicodedata.category(char)[0] in "LMN" or char in "+_" else "-"
        for char in folded
    )
    shown = re.sub("-{2,}", "-", kept)[:MAX_STEM_CHARS]
    while len(shown.encode()) > MAX_STEM_BYTES:
        shown = shown[:-1]
    digest = sha256(tag.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return "-".join(filter(None, (shown.strip("-"), digest)))


def same_name(name: str) -> str:
    """What two file names have in common if some file system takes them for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
