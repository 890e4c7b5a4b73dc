"""Which project a turn belongs to: from the folder it was said in, never from a file's name."""

from functools import lru_cache
from pathlib import Path

from agents_memory.domain.tags import project_from_directory

_LONGEST_PATH = 4096
# `.git/worktrees/<name>` below the main checkout, as a worktree's own `.git` file names it.
_WORKTREES = "/.git/worktrees/"


@lru_cache(maxsize=1024)
def project_of(cwd: str | None) -> str | None:
    """The project tag of a working directory; a worktree counts as its main checkout.

    Asks the disk for the repository; a folder that is gone, or of another machine, is judged by its
    name alone.
    """
    return project_from_directory(cwd, None if cwd is None else _repository(cwd))


def _repository(cwd: str) -> str | None:
    if not cwd.startswith("/") or len(cwd) > _LONGEST_PATH or "\0" in cwd:
        return None
    folder = Path(cwd)
    for place in (folder, *folder.parents):
        try:
            if (place / ".git").is_dir():
                return str(place)
            if (place / ".git").is_file():
                return _main_checkout(place)
        except (OSError, ValueError):
            # Not ours to look at; there may still be a repository above.
            continue
    return None


def _main_checkout(worktree: Path) -> str:
    with open(worktree / ".git", encoding="utf-8", errors="replace") as file:
        named = file.read(_LONGEST_PATH).removeprefix("gitdir:").strip()
    main, marker, _ = named.partition(_WORKTREES)
    return main if marker and main.startswith("/") else str(worktree)
