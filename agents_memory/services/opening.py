"""Opens the pool that the settings name, as one of its three roles."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

from agents_memory.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    MemoryFault,
    SchemaMismatch,
)
from agents_memory.observe import Action, get_logger
from agents_memory.settings import Secret, Settings
from agents_memory.settings.address import parse
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import migrate
from agents_memory.storage.connections import PATIENCE_S, Database
from agents_memory.storage.embedded.endpoint import COLD, HOT, OWNER
from agents_memory.storage.faults import ANY_SETTING, lacks_right

if TYPE_CHECKING:
    from agents_memory.embedding.profiles import Profile
    from agents_memory.storage.embedded.attach import Attachment

Role = Literal["hot", "cold", "owner"]

_ROLES: dict[Role, str] = {"hot": HOT, "cold": COLD, "owner": OWNER}
START_TIMEOUT_S = 60.0
# Somebody waits for the answer of a tool, and has it within five seconds. The embedded database is
# started anew meanwhile, which may take longer.
HOT_PATIENCE_S = 4.0
# A killed keeper takes the local services with it, and only a client can start another.
ENSURE_EVERY_S = 30.0

log = get_logger()


class Way(NamedTuple):
    """Which setting leads to the database as one role, and where to; nothing secret."""

    setting: str
    where: str


class OpenedPool(NamedTuple):
    """A pool that can be used now; close it to let go of an embedded server."""

    database: Database
    attachment: "Attachment | None"
    watch: asyncio.Task[None] | None = None
    # Migrations that opening an embedded pool brought with it.
    applied: tuple[str, ...] = ()

    async def close(self) -> None:
        """Ends the connections, then the hold on the embedded server."""
        if self.watch is not None:
            self.watch.cancel()
            await asyncio.gather(self.watch, return_exceptions=True)
        await self.database.close()
        if self.attachment is not None:
            self.attachment.close()


async def _keep(attachment: "Attachment") -> None:
    while True:
        await asyncio.sleep(ENSURE_EVERY_S)
        try:
            await attachment.ensure()
        except MemoryFault as fault:
            log.warning(Action.DATABASE_LOST, error=fault)


async def open_pool(
    settings: Settings,
    role: Role,
    *,
    application: str,
    services: Sequence[str] = (),
    hold: bool = True,
    timeout_s: float = START_TIMEOUT_S,
) -> OpenedPool:
    """The pool as `role`; the embedded database is started, and brought to this version.

    `services` are modules the embedded database's keeper runs beside it; with `hold` false the
    process does not count as a client (the keeper's own children). Raises DatabaseUnavailable,
    SchemaMismatch (an external pool that its owner has to migrate) and ConfigurationError.
    """
    if not settings.embedded:
        database = external_database(settings, role, application)
        return await _checked(settings, OpenedPool(database, None), role)
    # Here, because with a database elsewhere nothing of it is needed.
    from agents_memory.storage.embedded.attach import attach
    from agents_memory.storage.embedded.place import find_place

    if not hold:
        url = find_place(settings.data_dir).endpoint.dsn(_ROLES[role])
        return OpenedPool(_database(settings, url, application), None)
    attachment = await attach(
        settings.data_dir,
        services,
        settings.embedded_linger_sec,
        timeout_s,
        inherited_environment(),
    )
    opened = OpenedPool(
        _database(settings, attachment.dsn(_ROLES[role]), application, attachment), attachment
    )
    try:
        applied = await _bring_up(settings, attachment, opened.database)
    except BaseException:
        await opened.close()
        raise
    watch = asyncio.create_task(_keep(attachment), name="keep")
    return opened._replace(watch=watch, applied=applied)


async def prepare(owner: Database, profile: "Profile", *, hot: str, cold: str) -> tuple[str, ...]:
    """Brings a pool to this version for this embedding model; the names of applied steps."""
    steps = await migrate.prepare(owner, profile=profile.id, dims=profile.dims, hot=hot, cold=cold)
    return tuple(f"{step.version:04d}_{step.name}" for step in steps)


@contextmanager
def naming(settings: Settings, role: Role) -> Iterator[None]:
    """Raises DatabaseUnavailable that names the one setting which leads to the database as `role`.

    Elsewhere nobody knows under which of them a database was opened.
    """
    try:
        yield
    except DatabaseUnavailable as fault:
        if settings.embedded or ANY_SETTING not in str(fault):
            raise
        named = str(fault).replace(ANY_SETTING, way(settings, role).setting)
        raise DatabaseUnavailable(named) from fault.__cause__


def way(settings: Settings, role: Role) -> Way:
    """The way to the database that the settings name, as `role`."""
    own = _own_url(settings, role)
    if own is not None:
        return Way(f"{role.upper()}_DATABASE_URL", parse(own.reveal()).describe())
    setting = "DATABASE_URL" if settings.database_url is not None else "the DB_ settings"
    if settings.database_direct_url is not None and role != "hot":
        setting += " or DATABASE_DIRECT_URL"
    return Way(setting, settings.describe_database())


def _own_url(settings: Settings, role: Role) -> Secret | None:
    own = {"cold": settings.cold_database_url, "owner": settings.owner_database_url}
    return own.get(role)


@contextmanager
def owning(settings: Settings) -> Iterator[None]:
    """Raises DatabaseUnavailable that says which setting names the owner, where it is another."""
    try:
        yield
    except DatabaseUnavailable as fault:
        if settings.embedded or not lacks_right(fault):
            raise
        if settings.owner_database_url is None:
            said = "OWNER_DATABASE_URL is not set, and the role of the other URL lacks the right"
        else:
            said = "the role in OWNER_DATABASE_URL lacks the right"
        raise DatabaseUnavailable(
            f"only the owner of the pool may do this: {said} (SQLSTATE 42501). Set "
            "OWNER_DATABASE_URL to the role that owns its schema, for this command alone"
        ) from fault.__cause__


async def prepare_pool(settings: Settings, profile: "Profile | None" = None) -> tuple[str, ...]:
    """The same for the pool the settings name, and for their EMBEDDING_MODEL if no other is given.

    Who owns the pool must be able to sign in from here.
    """
    profile = _profile_of(settings) if profile is None else profile
    if settings.embedded:
        opened = await open_pool(settings, "owner", application="mcp-agents-memory migrate")
        try:
            later = await prepare(opened.database, profile, hot=HOT, cold=COLD)
            return (*opened.applied, *later)
        finally:
            await opened.close()
    return await _prepare_external(settings, profile)


async def _prepare_external(settings: Settings, profile: "Profile") -> tuple[str, ...]:
    owner = external_database(settings, "owner", "mcp-agents-memory migrate")
    try:
        roles = {}
        for role in ("hot", "cold"):
            runtime = external_database(settings, role, "mcp-agents-memory migrate")
            try:
                with naming(settings, role):
                    async with runtime.acquire() as connection:
                        roles[role] = str(await connection.fetchval("SELECT current_user"))
            finally:
                await runtime.close()
        with owning(settings), naming(settings, "owner"):
            return await prepare(owner, profile, **roles)
    finally:
        await owner.close()


async def _bring_up(
    settings: Settings, attachment: "Attachment", database: Database
) -> tuple[str, ...]:
    """An embedded pool belongs to this machine, so whoever comes first migrates it."""
    try:
        await database.run(migrate.compatibility)
    except SchemaMismatch:
        owner = _database(settings, attachment.dsn(OWNER), "mcp-agents-memory migrate", attachment)
        try:
            applied = await prepare(owner, _profile_of(settings), hot=HOT, cold=COLD)
            await owner.run(migrate.compatibility)
            return applied
        finally:
            await owner.close()
    return ()


def _profile_of(settings: Settings) -> "Profile":
    # Here, because most who come find a pool that is ready.
    from agents_memory.embedding.opening import profiles_of

    return profiles_of(settings)[0]


async def _checked(settings: Settings, opened: OpenedPool, role: Role) -> OpenedPool:
    if role == "owner":
        return opened
    try:
        with naming(settings, role):
            await opened.database.run(migrate.compatibility)
    except BaseException:
        await opened.close()
        raise
    return opened


def external_database(settings: Settings, role: Role, application: str) -> Database:
    """The database that the settings name, as `role`; touches nothing yet.

    Raises ConfigurationError when it is the embedded one.
    """
    urls = {"hot": settings.hot_url, "cold": settings.cold_url, "owner": settings.owner_url}
    url, own = urls[role], _own_url(settings, role)
    if url is None:
        raise ConfigurationError("no database is configured; set DATABASE_URL")
    direct = settings.direct_url if own is None else None
    return _database(
        settings,
        url.reveal(),
        application,
        pooled=own is None and settings.database_pooled,
        direct_url=None if direct is None else direct.reveal(),
        patience_s=HOT_PATIENCE_S if role == "hot" else PATIENCE_S,
    )


def _database(
    settings: Settings,
    url: str,
    application: str,
    attachment: "Attachment | None" = None,
    *,
    pooled: bool = False,
    direct_url: str | None = None,
    patience_s: float = PATIENCE_S,
) -> Database:
    return Database(
        url,
        schema=settings.db_schema,
        application=application,
        max_size=settings.db_pool_max,
        recover=None if attachment is None else attachment.ensure,
        pooled=pooled,
        direct_url=direct_url,
        patience_s=patience_s,
    )
