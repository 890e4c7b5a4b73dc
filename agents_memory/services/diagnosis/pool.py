"""The pool: its server answers, is new enough, holds our tables and lets us in."""

from agents_memory.domain.errors import MemoryFault, ProgramTooOld
from agents_memory.services.diagnosis.check import MIGRATE, Check, failed, passed
from agents_memory.services.diagnosis.subject import Subject, asked
from agents_memory.services.opening import START_TIMEOUT_S, external_database
from agents_memory.services.reachability import explain_in
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import health, migrate
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.embedded.attach import attach
from agents_memory.storage.embedded.endpoint import HOT

APPLICATION = "mcp-agents-memory doctor"
UPGRADE = (
    "upgrade the program on this machine: `git pull` in its checkout, then install from there anew "
    "(`pip install --upgrade /path/to/the/checkout`, with the pip of its environment)"
)
_ADDED_TO = ("messages", "message_state", "work", "traces", "users", "memories", "patches")
WANTED_RIGHTS = (
    *((table, right) for table in _ADDED_TO for right in ("SELECT", "INSERT")),
    ("memories", "UPDATE"),
    ("profiles", "UPDATE"),
    ("leader", "SELECT"),
    ("lexeme_stats", "SELECT"),
)


async def server(subject: Subject) -> Check:
    """The server answers; whoever asks it later finds the database in the subject."""
    settings = subject.settings
    try:
        subject.database = await _opened(subject)
        async with subject.database.acquire():
            pass
    except MemoryFault as fault:
        if settings.embedded:
            log = settings.data_dir / "server-start.log"
            return failed("server", str(fault), f"remove the cause; the whole log is {log}")
        return failed("server", *explain_in(settings, fault))
    return passed("server", settings.describe_database())


async def _opened(subject: Subject) -> Database:
    """The pool as the hot role, whatever state its schema is in."""
    settings = subject.settings
    if settings.embedded:
        attachment = await attach(
            settings.data_dir, (), 0, START_TIMEOUT_S, inherited_environment()
        )
        subject.stack.callback(attachment.close)
        url = attachment.dsn(HOT)
        database = Database(url, schema=settings.db_schema, application=APPLICATION)
    else:
        database = external_database(settings, "hot", APPLICATION)
    subject.stack.push_async_callback(database.close)
    return database


@asked
async def versions(connection: Connection, _: Subject) -> Check:
    """PostgreSQL and pgvector are new enough."""
    # Since PostgreSQL 10 the driver calls the second number micro.
    release = connection.get_server_version()
    vector = await health.find_vector_version(connection)
    detail = f"PostgreSQL {release.major}.{release.micro}, pgvector {vector or 'missing'}"
    if (release.major, release.minor) < migrate.MINIMUM_POSTGRES:
        least = migrate.MINIMUM_POSTGRES[0]
        return failed("versions", detail, f"upgrade the server to PostgreSQL {least} or newer")
    if vector is None:
        return failed(
            "versions", detail, "install pgvector and run `CREATE EXTENSION vector` there"
        )
    if tuple(int(part) for part in vector.split(".")[:2]) < migrate.MINIMUM_PGVECTOR:
        return failed(
            "versions",
            detail,
            "install pgvector 0.8 or newer and `ALTER EXTENSION vector UPDATE`",
        )
    return passed("versions", detail)


@asked
async def schema(connection: Connection, subject: Subject) -> Check:
    """The schema is one that this program works with."""
    try:
        found = await migrate.compatibility(connection)
    except ProgramTooOld as fault:
        return failed("schema", str(fault), UPGRADE)
    except MemoryFault as fault:
        return failed("schema", str(fault), MIGRATE)
    name = subject.settings.db_schema
    return passed("schema", f"{name} is at step {found.version} of {found.latest}")


@asked
async def grants(connection: Connection, subject: Subject) -> Check:
    """The role has the rights that a client needs."""
    name = subject.settings.db_schema
    role = await health.find_role(connection, name)
    missing = await health.list_missing_rights(connection, name, WANTED_RIGHTS)
    if missing:
        named = ", ".join(f"{right} on {table}" for table, right in missing[:5])
        return failed("grants", f"the role {role.name} lacks {named}", MIGRATE)
    detail = f"the role {role.name} has what it needs"
    if role.owner:
        detail += "; it owns the pool, so nothing keeps it from deleting evidence"
    return passed("grants", detail)
