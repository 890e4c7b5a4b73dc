"""A folder in memory for the database of a run, whose files are made and dropped by the million."""

import os
import shutil
import tempfile
from pathlib import Path

from agents_memory.storage.embedded.processes import exists

DISK = Path("/dev/shm")
ROOM = 2 * 2**30
_NAME = "agents-memory-tests-"


def make_folder(disk: Path = DISK, room: int = ROOM) -> Path | None:
    """A folder others may pass through, or None where `disk` lacks `room` bytes; yours to remove.

    What a killed run left there goes first: it would take memory until the machine restarts.
    """
    if not os.access(disk, os.W_OK):
        return None
    for left in disk.glob(f"{_NAME}[0-9]*-*"):
        if not exists(int(left.name.split("-")[3])):
            shutil.rmtree(left, ignore_errors=True)
    if shutil.disk_usage(disk).free < room:
        return None
    folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}{os.getpid()}-", dir=disk))
    # Passable: under root the server has an account of its own.
    folder.chmod(0o711)
    return folder
