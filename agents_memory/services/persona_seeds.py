"""The first texts of the persona: files that a person edits, and examples of ours."""

from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.front_matter import Page, broken, read_page
from agents_memory.domain.persona import DIMENSIONS, KINDS, too_long
from agents_memory.domain.text import is_blank

FILES = {f"{dimension}.md": f"persona.{dimension}" for dimension in DIMENSIONS}
MAX_FILE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Seed:
    """The text of one document of the persona."""

    kind: str
    content: str


def shipped() -> tuple[Seed, ...] | Refusal:
    """The examples of this package."""
    folder = resources.files("agents_memory").joinpath("persona")
    return _seeds({name: folder.joinpath(name).read_bytes() for name in FILES})


def in_folder(folder: Path) -> tuple[Seed, ...] | Refusal:
    """What agent.md, user.md and shared.md in a folder say; any of them may be missing.

    Refuses what cannot be read or understood by file and line; nothing of the others counts then.
    """
    found: dict[str, bytes] = {}
    for name in FILES:
        data = read_file(folder / name)
        if isinstance(data, Refusal):
            return data
        if data is not None:
            found[str(folder / name)] = data
    if not found:
        return Refusal(
            Code.INVALID_INPUT,
            f"{folder} holds none of {', '.join(FILES)}; name the folder that does, or leave it "
            "out for the examples",
        )
    return _seeds(found)


def read_file(path: Path) -> bytes | Refusal | None:
    """The bytes of a text file of at most 256 KiB; None when there is no such file."""
    try:
        if not path.is_file():
            return _unreadable(path, "no regular file") if path.exists() else None
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        return _unreadable(path, error.strerror or type(error).__name__)


def read_text(name: str, data: bytes) -> Page | Refusal:
    """The page in a file of at most 256 KiB of UTF-8; refuses what is none by file and line."""
    if len(data) > MAX_FILE_BYTES:
        return Refusal(
            Code.LIMIT_EXCEEDED,
            f"{name} is longer than {MAX_FILE_BYTES} bytes; nothing was written; shorten it",
            {"limit": MAX_FILE_BYTES, "file": name},
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return broken(name, line, "this is not UTF-8 text; save the file as UTF-8")
    return read_page(name, text)


def page_for(name: str, data: bytes, kind: str) -> Seed | Refusal:
    """What a file says for a document; front matter may name its kind, which is `kind` else."""
    page = read_text(name, data)
    if isinstance(page, Refusal):
        return page
    named = page.keys.get("kind", kind)
    if "kind" in page.keys and kind not in KINDS and named != kind:
        return broken(name, page.lines["kind"], f"kind is {named}, and {kind} is to be written")
    if named not in (*KINDS, kind):
        return broken(name, page.lines["kind"], f"kind is one of {', '.join(KINDS)}")
    if is_blank(page.content):
        lines = data.count(b"\n") + 1
        return broken(name, lines, "the text is empty; say what the document is to say")
    refusal = too_long(named, len(page.content))
    if refusal is not None:
        return replace(
            refusal, message=f"{name}: {refusal.message}", details={**refusal.details, "file": name}
        )
    return Seed(named, page.content)


def _seeds(files: dict[str, bytes]) -> tuple[Seed, ...] | Refusal:
    found: dict[str, Seed] = {}
    for name, data in files.items():
        seed = page_for(name, data, FILES[Path(name).name])
        if isinstance(seed, Refusal):
            return seed
        if seed.kind in found:
            return broken(name, 1, f"another file is {seed.kind} already; give each its own kind")
        found[seed.kind] = seed
    return tuple(found.values())


def _unreadable(path: Path, why: str) -> Refusal:
    return Refusal(
        Code.INVALID_INPUT,
        f"{path} cannot be read ({why}); nothing was written",
        {"file": str(path)},
    )
