"""A file that appears whole or not at all, and that nobody else can read."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import click

from agents_memory.domain.errors import MemoryFault


def require_free(path: Path, *, force: bool) -> None:
    """Raises a usage error when there is something that must not be written over."""
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise click.UsageError(f"{path} is no plain file; name a file, or - for the output")
    if not path.parent.is_dir():
        raise click.UsageError(f"there is no folder {path.parent}; make it, or name another file")
    if not force and (path.exists() or path.is_symlink()):
        raise click.UsageError(f"{path} exists; add --force to replace it, or name another file")


@contextmanager
def private_file(path: Path, *, force: bool) -> Iterator[TextIO]:
    """A new file (mode 0600) that takes its name at the end of the block, when all is on disk.

    Nothing is left behind when the block fails. Without `force` a file that came to be meanwhile
    is left alone. Raises MemoryFault when the file cannot be written.
    """
    require_free(path, force=force)
    part = path.with_name(f".export-{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if force:
            os.replace(part, path)
        else:
            # Unlike a rename, this fails when the name is taken.
            os.link(part, path)
        _sync_folder(path.parent)
    except OSError as error:
        require_free(path, force=force)
        raise MemoryFault(
            f"{path} cannot be written ({error.strerror}); make room there, or name another file"
        ) from error
    finally:
        with suppress(OSError):
            os.unlink(part)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
