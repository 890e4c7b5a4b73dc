"""Translates what the driver raises into our own errors, in one place and by SQLSTATE."""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault, SchemaMismatch

# What the driver raises when the server is away, restarting, failing over or full.
CONNECTION_LOST: tuple[type[BaseException], ...] = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TargetServerAttributeNotMatched,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)

_SCHEMA_STATES = frozenset({"42P01", "42703", "42883", "3F000", "42704"})
_ACCESS_STATES = frozenset({"28000", "28P01", "3D000", "42501"})


@contextmanager
def translated() -> Iterator[None]:
    """Raises DatabaseUnavailable, SchemaMismatch or MemoryFault for what asyncpg raised inside."""
    try:
        yield
    except CONNECTION_LOST as lost:
        raise DatabaseUnavailable(
            f"the database cannot be reached ({type(lost).__name__}); "
            "run `mcp-agents-memory doctor` to see why"
        ) from lost
    except asyncpg.PostgresError as fault:
        raise _fault(fault) from fault


def _fault(fault: asyncpg.PostgresError) -> MemoryFault:
    state = str(fault.sqlstate)
    if state in _SCHEMA_STATES:
        return SchemaMismatch(
            f"the schema of the pool does not fit this program (SQLSTATE {state}); "
            "run `mcp-agents-memory migrate`"
        )
    if state in _ACCESS_STATES:
        return DatabaseUnavailable(
            f"the database refused us (SQLSTATE {state}); check user, password and database name "
            "in DATABASE_URL, and that `mcp-agents-memory migrate` granted this role its rights"
        )
    # The server's own text may quote content, so only the state is passed on.
    return MemoryFault(f"the database reported SQLSTATE {state}; the server's log has the details")
