"""Another program's configuration file: read whole, replaced whole, with a copy kept."""

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from agents_memory.domain.errors import MemoryFault

MAX_BYTES = 64 * 2**20
_MOST_COPIES = 20
_COPY = re.compile(r"\.(\d{8}-\d{6})(?:-(\d+))?\.bak")


def load(file: Path) -> str | None:
    """The text of `file`, None when there is none. Raises MemoryFault."""
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            # A pipe would be waited for, a device never ends.
            raise MemoryFault(f"{file} is no ordinary file; put one there, then run this again")
        if found.st_size > MAX_BYTES:
            raise MemoryFault(f"{file} is larger than {MAX_BYTES >> 20} MiB; edit it by hand")
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise MemoryFault(f"{file} is not UTF-8; edit it by hand") from None
    except OSError as error:
        raise MemoryFault(
            f"{file} cannot be read ({error.strerror}); make it readable, then run this again"
        ) from error


def replace(file: Path, before: str | None, after: str, now: datetime | None) -> Path | None:
    """Write `after` in place of `before`, all or nothing; the copy of the old file, if there is.

    The copy is named by `now`; None makes none.

    A link is followed and stays a link; mode and owner stay. Raises MemoryFault, also when the
    file was changed meanwhile.
    """
    target = Path(os.path.realpath(file))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = None if before is None or now is None else _backup(target, now)
        part = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as stream:
                stream.write(after.encode("utf-8"))
                stream.flush()
                os.fsync(stream.fileno())
            if before is not None:
                shutil.copymode(target, part)
                with suppress(PermissionError):
                    _same_owner(target, part)
            if load(target) != before:
                raise MemoryFault(f"{file} was changed meanwhile; run this again")
            os.replace(part, target)
        finally:
            with suppress(FileNotFoundError):
                part.unlink()
    except OSError as error:
        raise MemoryFault(
            f"{file} cannot be written ({error.strerror}); make it writable, or paste what "
            "`mcp-agents-memory init` prints"
        ) from error
    return copy


def remove(file: Path, before: str) -> None:
    """Remove a file that still says `before`. Raises MemoryFault, also when it says something else.

    Of a link the file it leads to goes.
    """
    if load(file) != before:
        raise MemoryFault(f"{file} was changed meanwhile; run this again")
    try:
        Path(os.path.realpath(file)).unlink()
    except OSError as error:
        raise MemoryFault(
            f"{file} cannot be removed ({error.strerror}); remove it by hand"
        ) from error


def copies(file: Path) -> list[Path]:
    """The copies that `replace` made of `file`, the newest first, at most twenty."""
    target = Path(os.path.realpath(file))
    found = []
    with suppress(OSError):
        for path in target.parent.iterdir():
            name = path.name.removeprefix(target.name)
            if name != path.name and (made := _COPY.fullmatch(name)):
                found.append((made[1], int(made[2] or 1), path))
    return [path for _, _, path in sorted(found, reverse=True)[:_MOST_COPIES]]


def discard(copies: Iterable[Path]) -> None:
    """Remove copies; what cannot be removed stays."""
    for path in copies:
        with suppress(OSError):
            path.unlink()


def _backup(target: Path, now: datetime) -> Path:
    copy = target.with_name(f"{target.name}.{now:%Y%m%d-%H%M%S}.bak")
    number = 1
    while copy.exists():
        number += 1
        copy = target.with_name(f"{target.name}.{now:%Y%m%d-%H%M%S}-{number}.bak")
    shutil.copy2(target, copy)
    return copy


def _same_owner(target: Path, part: Path) -> None:
    if os.name == "posix":
        status = target.stat()
        os.chown(part, status.st_uid, status.st_gid)
