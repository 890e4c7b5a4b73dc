"""Everything a stopped cluster needs before its server can be started."""

import logging
import os
from collections.abc import Mapping

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.storage.embedded import founding
from agents_memory.storage.embedded.account import current_account, make_server_account
from agents_memory.storage.embedded.binaries import Binaries, locate_binaries
from agents_memory.storage.embedded.configuration import (
    INCLUDED,
    host_rules,
    identity_map,
    server_settings,
    write_private,
)
from agents_memory.storage.embedded.journal import read_tail
from agents_memory.storage.embedded.pidfile import disown_stale, running_postmaster
from agents_memory.storage.embedded.place import Place, make_home, make_sockets
from agents_memory.storage.embedded.programs import Programs
from agents_memory.storage.embedded.runtime import usable_binaries

log = logging.getLogger(__name__)


def prepare(place: Place, settings: Mapping[str, str], lock: int) -> Programs:
    """Make or check the cluster and write its configuration; the programs to start it with.

    The caller owns the server's lock, whose descriptor is `lock`. Raises ConfigurationError for
    what the user must change, DatabaseUnavailable for what stands in the way now.
    """
    if (pid := running_postmaster(place.data)) is not None:
        raise DatabaseUnavailable(
            f"Postgres process {pid}, which was started by hand, uses {place.data}. Stop it "
            "(`pg_ctl stop`) and start again."
        )
    try:
        return _prepare(place, settings, lock)
    except OSError as error:
        raise DatabaseUnavailable(
            f"Cannot prepare the embedded Postgres in {place.home}: {error}. Remove the cause (a "
            "full disk, missing permissions) and start again."
        ) from error


def _prepare(place: Place, settings: Mapping[str, str], lock: int) -> Programs:
    server = make_server_account()
    programs = Programs(usable_binaries(locate_binaries(), server), server)
    make_home(place, server)
    make_sockets(place, server)
    if not place.data.exists():
        founding.found_cluster(place, programs, lock, durable=settings.get("fsync") != "off")
        _remember_version(place, programs.binaries)
    founding.check_cluster(place, programs)
    disown_stale(place.data, server)
    for name, text in (
        (INCLUDED, server_settings(place.sockets, settings)),
        ("pg_hba.conf", host_rules()),
        ("pg_ident.conf", identity_map(current_account())),
    ):
        write_private(place.data / name, os.fsencode(text), server)
    if read_tail(place.last_version) != _version(programs.binaries):
        try:
            founding.update_vector(place, programs, lock)
            _remember_version(place, programs.binaries)
        except DatabaseUnavailable as fault:
            # Older files than last time have no way back, and work all the same.
            log.warning("pgvector stays as it is: %s", fault)
    return programs


def _version(binaries: Binaries) -> str:
    return f"{binaries.release} vector {binaries.vector_version}"


def _remember_version(place: Place, binaries: Binaries) -> None:
    place.last_version.write_text(_version(binaries), "utf-8")
