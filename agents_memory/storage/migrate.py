"""Brings the schema of a pool to this version: plain SQL, forward only, safe twice.

Only the owner migrates. Each step is one transaction under an advisory lock, its checksum is
remembered, and a changed step that was already applied is refused.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

import asyncpg

from agents_memory import __version__
from agents_memory.domain.errors import ConfigurationError, ProgramTooOld, SchemaMismatch
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection, Database, advisory_key
from agents_memory.storage.faults import translated

SQL = queries.load("schema")
MINIMUM_POSTGRES = (15, 0)
MINIMUM_PGVECTOR = (0, 8)
_THERE_ALREADY = (
    asyncpg.DuplicateTableError,
    asyncpg.DuplicateColumnError,
    asyncpg.DuplicateObjectError,
    asyncpg.DuplicateFunctionError,
)
_GONE_ALREADY = (
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedObjectError,
    asyncpg.UndefinedFunctionError,
)
_UNFINISHED = (
    "the migration of the pool has not come to its end; run `mcp-agents-memory migrate` as its "
    "owner, which goes on where it stopped"
)
_STEP = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql\Z")


class Step(NamedTuple):
    """One migration file."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


class Compatibility(NamedTuple):
    """How the schema of the pool stands to this program; `latest` is what the program brings."""

    version: int
    latest: int
    min_client: str


def steps() -> tuple[Step, ...]:
    """All migration steps in order."""
    found = [
        Step(int(name["version"]), name["name"], file.read_text(encoding="utf-8"))
        for name, file in _files()
    ]
    return tuple(sorted(found, key=lambda step: step.version))


def latest_version() -> int:
    """The version of the last step; reads none of them."""
    return max(int(name["version"]) for name, _ in _files())


def _files() -> Iterator[tuple[re.Match[str], Traversable]]:
    folder = resources.files("agents_memory.storage").joinpath("sql/migrations")
    for file in folder.iterdir():
        if name := _STEP.match(file.name):
            yield name, file


async def migrate(owner: Database) -> tuple[Step, ...]:
    """Applies the missing steps and returns them; none when the schema is current.

    Raises SchemaMismatch when an applied step differs from the file of the same number, or a
    missing one finds that it, or one after it, was applied; ConfigurationError when server or
    pgvector are too old.
    """
    async with _alone(owner) as connection:
        return await _apply_steps(connection, owner.schema)


async def prepare(
    owner: Database, *, profile: str, dims: int, hot: str, cold: str
) -> tuple[Step, ...]:
    """Migrates, makes an embedding model ready and gives the runtime roles their rights.

    Safe to repeat and to run in several processes at once. The model becomes the active one only
    when no other is; a runtime role that is the owner itself needs no rights. Returns and raises
    what `migrate` does.
    """
    # Here, because most who come only ask for the compatibility, and vectors bring numpy.
    from agents_memory.storage import vectors

    async with _alone(owner) as connection:
        done = await _apply_steps(connection, owner.schema)
        me = await connection.fetchval("SELECT current_user")
        async with connection.transaction():
            model = await vectors.add_model(connection, profile, dims)
            if await vectors.find_active_model(connection) is None:
                await vectors.activate_model(connection, model)
            for extra, role in (("grant_hot", hot), ("grant_cold", cold)):
                if role != me:
                    await _grant_role(connection, owner.schema, role, extra)
            for each in await vectors.list_models(connection):
                if hot != me:
                    await _grant_tables(connection, "grant_memory_vectors", hot, each.memory_table)
                if cold != me:
                    tables = (each.message_table, each.memory_table, each.summary_table)
                    await _grant_tables(connection, "grant_vectors", cold, *tables)
        return done


@asynccontextmanager
async def _alone(owner: Database) -> AsyncIterator[Connection]:
    connection = await owner.connect(statement_timeout="0")
    try:
        with translated():
            await connection.execute(
                "SELECT pg_advisory_lock($1)", advisory_key(owner.schema, "migrate")
            )
            yield connection
    finally:
        await connection.close(timeout=5)


async def _apply_steps(connection: Connection, schema: str) -> tuple[Step, ...]:
    await require_server(connection)
    await _ensure_schema(connection, schema)
    await connection.execute(SQL["create_migrations"].sql)
    rows = await connection.fetch(SQL["list_migrations"].sql)
    applied = {row["version"]: row["checksum"] for row in rows}
    last = max(applied, default=0)
    done = []
    for step in steps():
        if step.version in applied:
            if applied[step.version] != step.checksum:
                raise SchemaMismatch(
                    f"migration {step.version:04d} was applied from another file; "
                    "install the version of the program that made this pool, then upgrade"
                )
            continue
        # Steps are only ever added at the end, so a gap is a row that was lost. To apply it anew
        # could put an older function over a newer one, and no fault would tell.
        if step.version < last:
            raise _lost(step, f"a later one, {last:04d}, is")
        async with connection.transaction():
            with _applied_before(step):
                await connection.execute(step.sql)
            await connection.execute(
                SQL["record_migration"].sql, step.version, step.name, step.checksum
            )
        done.append(step)
    return tuple(done)


@contextmanager
def _applied_before(step: Step) -> Iterator[None]:
    """Raises SchemaMismatch where a step meets what it is to make, or misses what it is to change.

    Both are what a step leaves behind.
    """
    try:
        yield
    except _THERE_ALREADY as fault:
        raise _lost(step, f"what it makes is there (SQLSTATE {fault.sqlstate})") from fault
    except _GONE_ALREADY as fault:
        raise _lost(step, f"what it changes is not there (SQLSTATE {fault.sqlstate})") from fault


def _lost(step: Step, but: str) -> SchemaMismatch:
    return SchemaMismatch(
        f"migration {step.version:04d} is not on the pool's list of applied steps, but {but}. If "
        "the list (schema_migrations) lost a row, restore the pool from a backup, or that row from "
        "one; if these tables are of another program, set DB_SCHEMA to a schema of its own. This "
        "step changed nothing"
    )


async def _ensure_schema(connection: Connection, schema: str) -> None:
    if await connection.fetchval(SQL["find_schema"].sql, schema) is None:
        await connection.execute(SQL["create_schema"].render(schema=schema))


async def require_server(connection: Connection) -> None:
    """Refuses a server or a pgvector that is too old, naming the fix.

    Raises ConfigurationError.
    """
    version = connection.get_server_version()
    if (version.major, version.minor) < MINIMUM_POSTGRES:
        raise ConfigurationError(
            f"PostgreSQL {version.major}.{version.minor} is too old; upgrade the server to "
            f"{MINIMUM_POSTGRES[0]} or newer"
        )
    installed = await connection.fetchval(SQL["find_pgvector"].sql)
    if installed is None:
        try:
            await connection.execute(SQL["create_pgvector"].sql)
        except asyncpg.PostgresError as fault:
            raise ConfigurationError(
                "the database has no pgvector; install the extension on the server and run "
                "`CREATE EXTENSION vector` there as a superuser, then migrate again"
            ) from fault
        installed = await connection.fetchval(SQL["find_pgvector"].sql)
    if tuple(int(part) for part in str(installed).split(".")[:2]) < MINIMUM_PGVECTOR:
        raise ConfigurationError(
            f"pgvector {installed} is too old; install 0.8 or newer on the server and run "
            "`ALTER EXTENSION vector UPDATE`"
        )


async def _grant_role(connection: Connection, schema: str, role: str, extra: str) -> None:
    quoted = str(await connection.fetchval("SELECT quote_ident($1)", role))
    for name in ("grant_runtime", extra):
        await connection.execute(SQL[name].render(schema=schema, role=quoted))


async def _grant_tables(connection: Connection, grant: str, role: str, *tables: str) -> None:
    quoted = str(await connection.fetchval("SELECT quote_ident($1)", role))
    for table in tables:
        await connection.execute(SQL[grant].render(table=table, role=quoted))


async def compatibility(connection: Connection) -> Compatibility:
    """Where the schema stands.

    Raises SchemaMismatch when there is no schema yet, it is behind this program, or it asks for a
    newer program. A newer schema that still admits this program is fine.
    """
    latest = latest_version()
    if await connection.fetchval(SQL["find_migrations"].sql) is None:
        raise await _unseen(connection)
    version = await connection.fetchval(SQL["find_version"].sql)
    if version is None:
        raise SchemaMismatch(_UNFINISHED)
    min_client = await connection.fetchval(SQL["find_min_client"].sql)
    if _numbers(__version__) < _numbers(min_client):
        raise ProgramTooOld(
            f"the pool needs version {min_client} or newer and this is {__version__}; "
            "upgrade mcp-agents-memory on this machine"
        )
    if version < latest:
        raise SchemaMismatch(
            f"the schema is at step {version} and this program needs {latest}; "
            "run `mcp-agents-memory migrate` as the owner of the pool"
        )
    return Compatibility(version, latest, min_client)


async def _unseen(connection: Connection) -> SchemaMismatch:
    """Why a role sees no list of steps, as the catalogue tells everybody."""
    found = await connection.fetchrow(SQL["find_progress"].sql)
    assert found is not None, "it counts"
    if found["finished"]:
        return SchemaMismatch(
            "this role has no right to see the pool; run `mcp-agents-memory migrate` as its owner, "
            "with the URL of this role beside the owner's, which grants what is needed"
        )
    if found["begun"]:
        return SchemaMismatch(_UNFINISHED)
    return SchemaMismatch(
        "the pool is empty; run `mcp-agents-memory migrate` as its owner, which makes it and "
        "grants what is needed"
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
