"""Where the turns of a pool wait on this machine; a start looks there without the spool itself."""

from hashlib import sha256
from pathlib import Path

from agents_memory.settings import Settings

FOLDER = "spool"
SUFFIX = ".spool"


def pool_of(settings: Settings) -> str:
    """The pool that the settings name, as its spool knows it: address and schema, no secret."""
    return f"{settings.describe_database()}, schema {settings.db_schema}"


def mark_of(pool: str) -> str:
    """What stands for a pool in the names of folders, and in each turn that waits."""
    return sha256(pool.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def folder_of(data_dir: Path, pool: str) -> Path:
    """The folder with the files of a pool; it need not be there."""
    return data_dir / FOLDER / mark_of(pool)


def anything_waits(settings: Settings) -> bool:
    """Whether turns may wait for the pool that the settings name, of whatever process."""
    return any(folder_of(settings.data_dir, pool_of(settings)).glob(f"*{SUFFIX}"))
