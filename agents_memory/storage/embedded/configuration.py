"""The text of the server's three configuration files, and a safe way to write them."""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from agents_memory.storage.embedded.account import Account
from agents_memory.storage.embedded.endpoint import ROLES

INCLUDED = "agents-memory.conf"
_MAP = "memory"
_SMALL_SHARED_MEMORY = 512 * 1024 * 1024

_SETTINGS = {
    # Only a private socket, ever.
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "effective_io_concurrency": "64",
    "wal_compression": "on",
    "jit": "off",
    "fsync": "on",
    "autovacuum_naptime": "20s",
    # Crash recovery flushes one file system instead of opening every file.
    "recovery_init_sync_method": "syncfs" if sys.platform == "linux" else "fsync",
    # A query whose client was killed must not go on.
    "client_connection_check_interval": "5s",
    "timezone": "UTC",
    "logging_collector": "on",
    "log_directory": "log",
    "log_filename": "postgresql-%a.log",
    "log_truncate_on_rotation": "on",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_timezone": "UTC",
    "log_min_duration_statement": "2s",
    # Content stays out of the log: no parameters, no failing rows.
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",
}


def quote(value: str) -> str:
    """A value for postgresql.conf."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def server_settings(sockets: Path, extra: Mapping[str, str]) -> str:
    """The included file; `extra` wins over our own settings."""
    # One quoting for the list of directories, one more for the file.
    directory = '"' + str(sockets).replace('"', '""') + '"'
    settings = {
        **_SETTINGS,
        "dynamic_shared_memory_type": _shared_memory_type(),
        **extra,
        "unix_socket_directories": directory,
    }
    lines = "".join(f"{name} = {quote(value)}\n" for name, value in settings.items())
    return f"# Written anew at every start. Put your own settings below its include.\n{lines}"


def _shared_memory_type() -> str:
    """Containers give 64 MB of /dev/shm, too little for a parallel index build."""
    if sys.platform != "linux":
        return "posix"
    try:
        shared = os.statvfs("/dev/shm")
    except OSError:
        return "mmap"
    roomy = shared.f_blocks * shared.f_frsize >= _SMALL_SHARED_MEMORY
    return "posix" if roomy else "mmap"


def host_rules() -> str:
    """pg_hba.conf: three roles over the socket, by OS user; nobody else, the superuser neither."""
    return f"local all {','.join(ROLES)} peer map={_MAP}\n"


def identity_map(client: Account) -> str:
    """pg_ident.conf: the OS user of our processes may be each of the three roles."""
    name = '"' + client.name.replace('"', '""') + '"'
    return "".join(f"{_MAP} {name} {role}\n" for role in ROLES)


def write_private(path: Path, content: bytes, owner: Account) -> None:
    """Replace `path` at once by a file that only `owner` can read; follows no link."""
    descriptor, fresh = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if not owner.is_us:
                os.fchown(file.fileno(), owner.uid, owner.gid)
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        os.unlink(fresh)
        raise
