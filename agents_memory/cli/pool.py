"""How a command comes to its pool: the settings, where the database is, and a sure end."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

import click

from agents_memory.cli.output import visible
from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.observe import configure
from agents_memory.services.opening import Role, naming, open_pool, owning
from agents_memory.services.reachability import explained
from agents_memory.settings import Settings
from agents_memory.storage import users
from agents_memory.storage.connections import Database
from agents_memory.storage.embedded.place import find_place
from agents_memory.storage.embedded.server import Cluster

# What the keeper of the embedded database runs beside it, as an editor's server asks for too.
DAEMON = "cold.kept"
CAPTURER = "ingest.kept"


@dataclass(frozen=True, slots=True)
class OpenPool:
    """A pool in use by one command, on behalf of the user the settings name."""

    database: Database
    user_id: int


def say(text: str) -> None:
    """Print progress or a remark on stderr."""
    click.echo(visible(text), err=True)


def load_settings() -> Settings:
    """The settings, their notes said, and logs set up: warnings, or more where asked for.

    Raises ConfigurationError.
    """
    settings = Settings.load()
    level = "warning" if settings.log_level == "info" else settings.log_level
    configure(level, settings.log_format, color=not settings.no_color)
    for note in settings.notes:
        say(f"note: {note}")
    return settings


def never_made(settings: Settings) -> bool:
    """Whether the settings name an embedded database that does not exist; touches nothing."""
    return (
        settings.embedded
        and sys.platform != "win32"
        and not find_place(settings.data_dir).data.exists()
    )


def stands_still(settings: Settings) -> bool:
    """Whether the settings name an embedded database whose server does not run now."""
    return settings.embedded and sys.platform != "win32" and not Cluster(settings.data_dir).alive()


def nothing_there(settings: Settings) -> DatabaseUnavailable:
    """What to tell who wants to read a pool that was never made."""
    return DatabaseUnavailable(
        f"there is no memory in {settings.data_dir} yet; run `mcp-agents-memory init` to make "
        "one, or set MEMORY_DATA_DIR or DATABASE_URL to the one that is meant"
    )


@asynccontextmanager
async def open_for(
    settings: Settings,
    command: str,
    *,
    role: Role = "hot",
    create: bool = False,
    services: Sequence[str] = (),
) -> AsyncIterator[OpenPool]:
    """The pool for the length of the block; an embedded one is started, and made if `create`.

    Raises DatabaseUnavailable, SchemaMismatch and ConfigurationError.
    """
    if never_made(settings):
        if not create:
            raise nothing_there(settings)
        say(f"making a new memory in {settings.data_dir} …")
    elif stands_still(settings):
        say(f"starting the database in {settings.data_dir} …")
    try:
        opened = await open_pool(
            settings, role, application=f"mcp-agents-memory {command}", services=services
        )
    except DatabaseUnavailable as fault:
        raise explained(fault, settings, role) from fault
    try:
        with owning(settings) if role == "owner" else nullcontext(), naming(settings, role):
            user_id = await opened.database.run(
                lambda connection: users.ensure_user(connection, settings.user_name)
            )
            yield OpenPool(opened.database, user_id)
    finally:
        await opened.close()


def wanted_services(settings: Settings) -> tuple[str, ...]:
    """What has to run for stored messages to be worked on soon."""
    return (DAEMON, CAPTURER) if settings.starts_local_services else ()
