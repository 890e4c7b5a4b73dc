"""Who captures on this machine, and of what the system tells it nothing: noted in its lock."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agents_memory.settings import Settings
from agents_memory.storage.embedded.locks import FileLock

MOST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Capturer:
    """The process at work, and of which clients the system tells it nothing, and why."""

    process: int | None = None
    polled: Mapping[str, str] = field(default_factory=dict)


def state_path(settings: Settings) -> Path:
    """Where the positions for this pool and user lie; the lock is beside them."""
    pool = f"{settings.describe_database()}\0{settings.db_schema}\0{settings.user_name}"
    mark = hashlib.sha256(pool.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return settings.data_dir / f"capture-{mark}.json"


def lock_path(settings: Settings) -> Path:
    """The lock that the one capturer for this pool and user holds."""
    return state_path(settings).with_suffix(".lock")


def write_capturer(lock: FileLock, polled: Mapping[str, str]) -> None:
    """Notes in the lock that this process holds it. Raises OSError."""
    data = json.dumps({"process": os.getpid(), "polled": dict(polled)}).encode("ascii")
    os.pwrite(lock.descriptor, data, 0)
    os.ftruncate(lock.descriptor, len(data))


def read_capturer(path: Path) -> Capturer:
    """What whoever holds the lock noted in it, as far as it can be read."""
    try:
        with open(path, "rb") as file:
            noted = json.loads(file.read(MOST_BYTES))
        polled = {str(client): str(why) for client, why in noted["polled"].items()}
        return Capturer(int(noted["process"]), polled)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Capturer()
