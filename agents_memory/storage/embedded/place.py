"""Where the parts of an embedded database live on disk."""

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from agents_memory.domain.errors import ConfigurationError
from agents_memory.storage.embedded.account import Account, find_server_account
from agents_memory.storage.embedded.endpoint import Endpoint

# Postgres cuts paths at 1,024 bytes, and has files of its own below this one.
_LONGEST_PATH = 800
SHARED = Path("/var/lib/mcp-agents-memory")
_NOBODY_IN_PARTICULAR = Account("", -1, -1)


@dataclass(frozen=True, slots=True)
class Place:
    """The paths of one embedded database.

    `base` belongs to the client processes and holds locks and logs; `home` holds the cluster:
    `base` itself, or a directory under `SHARED` when the server's account cannot get to `base`.
    """

    base: Path
    home: Path
    sockets: Path

    @property
    def data(self) -> Path:
        return self.home / "pgdata"

    @property
    def last_version(self) -> Path:
        return self.home / "pgdata.version"

    @property
    def clients_lock(self) -> Path:
        return self.base / "clients.lock"

    @property
    def keeper_lock(self) -> Path:
        return self.base / "keeper.lock"

    @property
    def server_lock(self) -> Path:
        return self.base / "server.lock"

    @property
    def start_log(self) -> Path:
        return self.base / "server-start.log"

    @property
    def keeper_log(self) -> Path:
        return self.base / "keeper.log"

    @property
    def failure(self) -> Path:
        return self.base / "keeper.failure"

    @property
    def wishes(self) -> Path:
        """A directory with one file for each service that some client wants."""
        return self.base / "services"

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.sockets)


def find_place(base: Path | str, shared: Path = SHARED) -> Place:
    """The place that belongs to `base`; touches nothing.

    Where a cluster exists is where it stays, so that a changed permission elsewhere never looks
    like an empty database. Raises ConfigurationError for a path no server can live in.
    """
    resolved = _resolve(base)
    mark = hashlib.sha256(os.fsencode(resolved)).hexdigest()[:12]
    # A short path whatever `base` is: a socket's path has room for about 100 bytes.
    sockets = Path(f"/tmp/agents-memory-{os.geteuid()}-{mark}")
    inside = Place(resolved, resolved, sockets)
    if os.geteuid() != 0:
        return inside
    apart = Place(resolved, shared / mark, sockets)
    if apart.data.exists():
        return apart
    account = find_server_account() or _NOBODY_IN_PARTICULAR
    return inside if inside.data.exists() or can_reach(resolved, account) else apart


def make_base(place: Place) -> None:
    """Create `base`: private to us, but under root the server's account may pass through.

    Raises ConfigurationError when it cannot be made, or belongs to somebody else.
    """
    base = place.base
    try:
        for directory in reversed((base, *base.parents)):
            _make_directory(directory, private=directory == base)
        found = base.stat()
    except OSError as error:
        raise ConfigurationError(
            f"{base} cannot be the data directory ({error.strerror}). Set MEMORY_DATA_DIR to a "
            "folder that can be written to."
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise ConfigurationError(f"{base} is no directory. Choose another data directory.")
    if found.st_uid != os.geteuid():
        raise ConfigurationError(
            f"The data directory {base} belongs to user id {found.st_uid}, and this program runs "
            f"as {os.geteuid()}. Run it as that user, or choose another data directory."
        )
    if found.st_mode & stat.S_IWOTH:
        raise ConfigurationError(
            f"Everybody may write to the data directory {base}. Run `chmod o-w` on it first."
        )


def make_home(place: Place, server: Account) -> None:
    """Create the directory of the cluster when it lies apart from `base`."""
    if place.home == place.base:
        return
    try:
        for path, mode in ((place.home.parent, 0o755), (place.home, 0o711)):
            if not path.is_dir():
                path.mkdir(parents=True, exist_ok=True)
                # The keeper's umask would shut the server's account out.
                path.chmod(mode)
    except OSError as error:
        raise ConfigurationError(
            f"The account {server.name!r} cannot get to {place.base}, and {place.home} cannot be "
            f"made instead ({error.strerror}). Choose a data directory that it can reach."
        ) from error


def make_sockets(place: Place, server: Account) -> None:
    """Create the private directory of the socket, or check the one that is there.

    Raises ConfigurationError when somebody else's directory bears its name.
    """
    path = place.sockets
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
        if found.st_uid == os.geteuid() and not server.is_us and stat.S_ISDIR(found.st_mode):
            os.chown(path, server.uid, server.gid, follow_symlinks=False)
            found = path.lstat()
    except OSError as error:
        raise ConfigurationError(
            f"Cannot make the socket directory {path} ({error.strerror}). Make /tmp writable, or "
            "set DATABASE_URL."
        ) from error
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if found.st_uid != server.uid or not private:
        raise ConfigurationError(
            f"{path} is not a private directory of {server.name!r}: somebody may have put it "
            "there to read along. Find out who, remove it, and start again."
        )


def remove_sockets(place: Place) -> None:
    """Take away the directory of the socket after its server has ended; one in use stays."""
    with contextlib.suppress(OSError):
        place.sockets.rmdir()


def can_reach(path: Path, account: Account) -> bool:
    """Whether `account` may pass through `path` and everything above it, by mode bits alone.

    A directory yet to be made counts as passable, because we make it so.
    """
    return all(_can_pass(directory, account) for directory in (path, *path.parents))


def _can_pass(directory: Path, account: Account) -> bool:
    try:
        found = directory.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    if found.st_uid == account.uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid == account.gid:
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)


def _make_directory(path: Path, *, private: bool) -> None:
    """Make one directory, and what is above it passable under root whatever the umask."""
    if path.is_dir():
        return
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700 if private else 0o777)
        if os.geteuid() == 0:
            path.chmod(0o711)


def _resolve(base: Path | str) -> Path:
    try:
        resolved = os.path.realpath(base)
        os.fsencode(resolved)
    except (ValueError, OSError) as error:
        raise ConfigurationError(
            "The data directory is no legal path. Choose another one."
        ) from error
    if len(os.fsencode(resolved)) > _LONGEST_PATH:
        raise ConfigurationError(
            f"The path of the data directory has more than {_LONGEST_PATH} bytes. Choose a "
            "shorter one."
        )
    if any(ord(character) < 32 or ord(character) == 127 for character in resolved):
        # The server keeps its directory in a file that is read line by line.
        raise ConfigurationError(
            "The path of the data directory holds control characters. Choose another one."
        )
    return Path(resolved)
