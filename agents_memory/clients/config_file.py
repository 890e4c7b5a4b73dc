"""Another program's configuration file: read whole, replaced whole, with a copy kept."""

import os
import secrets
import shutil
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from agents_memory.domain.errors import MemoryFault

MAX_BYTES = 64 * 2**20


def load(file: Path) -> str | None:
    """The text of `file`, None when there is none. Raises MemoryFault."""
    try:
        if file.stat().st_size > MAX_BYTES:
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


def replace(file: Path, before: str | None, after: str, now: datetime) -> Path | None:
    """Write `after` in place of `before`, all or nothing; the copy of the old file, if there was.

    A link is followed and stays a link; mode and owner stay. Raises MemoryFault, also when the
    file was changed meanwhile.
    """
    target = Path(os.path.realpath(file))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = None if before is None else _backup(target, now)
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
