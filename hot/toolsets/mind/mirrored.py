"""What the tools of the mirror say of its files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from hot.answers import Part
from hot.present import named

if TYPE_CHECKING:
    from agents_memory.services.mirror_folder import Done

UNSET = (
    "no file was written: MIRROR_DIR names the folder for them; set it in the server's settings, "
    "or run `mcp-agents-memory mirror --dir DIR`"
)


class Files(Part):
    """What became of the files of the mirror, in numbers."""

    folder: Annotated[str, Field(description="Where they lie, on the server's machine")]
    written: int
    unchanged: int
    removed: int
    foreign: Annotated[
        list[str] | None, Field(description="Left alone: somebody else's file has that name")
    ] = None


def files_of(directory: Path | None, done: "Done | None") -> Files | None:
    """The numbers; None when there is no folder."""
    if directory is None or done is None:
        return None
    return Files(
        folder=str(directory),
        written=len(done.written),
        unchanged=len(done.unchanged),
        removed=len(done.removed),
        foreign=done.foreign[:20] or None,
    )


def render_files(files: Files | None) -> list[str]:
    """One line, or none."""
    if files is None:
        return []
    facts = named(
        ("written", files.written),
        ("unchanged", files.unchanged),
        ("removed", files.removed),
        ("left alone", ", ".join(files.foreign) if files.foreign else None),
    )
    return [" · ".join([f"files in {files.folder}", *facts])]
