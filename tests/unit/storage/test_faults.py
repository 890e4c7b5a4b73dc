"""What the driver raises becomes one message that names the fix, and quotes nothing."""

import socket
import ssl

import asyncpg
import pytest

from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault, SchemaMismatch
from agents_memory.storage.faults import NoHost, may_pass, translated

SECRET = "hunter2"


def raised(error: BaseException, where: str | None = None) -> MemoryFault:
    with pytest.raises(MemoryFault) as caught, translated(where=where):
        raise error
    assert SECRET not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("error", "fix", "passes"),
    [
        (asyncpg.InvalidPasswordError(SECRET), "correct the user or the password", False),
        (asyncpg.InvalidAuthorizationSpecificationError(SECRET), "pg_hba.conf", False),
        (asyncpg.InvalidCatalogNameError(SECRET), "create it, or correct its name", False),
        (asyncpg.InsufficientPrivilegeError(SECRET), "migrate` as the owner", False),
        (asyncpg.ReadOnlySQLTransactionError(SECRET), "name the primary", True),
        (asyncpg.TargetServerAttributeNotMatched(SECRET), "name the primary", True),
        (asyncpg.DiskFullError(SECRET), "make room", False),
        (asyncpg.OutOfMemoryError(SECRET), "give it more", True),
        (asyncpg.TooManyConnectionsError(SECRET), "lower DB_POOL_MAX", True),
        (asyncpg.CannotConnectNowError(SECRET), "try again in a minute", True),
        (asyncpg.AdminShutdownError(SECRET), "try again", True),
        (asyncpg.CrashShutdownError(SECRET), "try again", True),
        (asyncpg.IdleSessionTimeoutError(SECRET), "try again", True),
        (asyncpg.IdleInTransactionSessionTimeoutError(SECRET), "try again", True),
        (asyncpg.InvalidSQLStatementNameError(SECRET), "DATABASE_POOLED=true", False),
        (asyncpg.DuplicatePreparedStatementError(SECRET), "DATABASE_POOLED=true", False),
        (asyncpg.ProtocolViolationError(SECRET), "check user, password", True),
        (asyncpg.ConnectionDoesNotExistError(SECRET), "the network", True),
        (asyncpg.ClientConfigurationError(SECRET), "correct sslrootcert", False),
        (asyncpg.InterfaceError(SECRET), "doctor", True),
        (ssl.SSLCertVerificationError(SECRET), "sslrootcert=/path", False),
        (ssl.SSLError(SECRET), "with TLS", True),
        (ConnectionError(SECRET), "lower DB_SSL", False),
        (ConnectionResetError(SECRET), "the network", True),
        (ConnectionRefusedError(SECRET), "start the server", True),
        (TimeoutError(SECRET), "network and firewall", True),
        (socket.gaierror(SECRET), "correct the host", True),
        (FileNotFoundError(SECRET), "correct the folder", True),
        (PermissionError(SECRET), "permissions", False),
        (OSError(SECRET), "doctor", True),
        (NoHost({"a:1": asyncpg.DiskFullError(SECRET)}), "correct the list", False),
        (NoHost({"a:1": PermissionError(), "b:2": TimeoutError()}), "correct the list", True),
    ],
)
def test_every_way_to_be_away_names_its_fix_and_says_whether_to_try_again(
    error: BaseException, fix: str, passes: bool
) -> None:
    fault = raised(error)
    assert type(fault) is DatabaseUnavailable
    assert fix in str(fault)
    assert "{" not in str(fault)
    assert may_pass(fault) is passes


@pytest.mark.parametrize("state", ["42P01", "42703", "42883", "3F000", "42704"])
def test_a_schema_that_does_not_fit_is_migrated(state: str) -> None:
    fault = raised(asyncpg.PostgresError.new({"C": state, "M": SECRET}))
    assert type(fault) is SchemaMismatch
    assert "mcp-agents-memory migrate" in str(fault)
    assert not may_pass(fault)


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (asyncpg.DeadlockDetectedError(SECRET), True),
        (asyncpg.SerializationError(SECRET), True),
        (asyncpg.InvalidCachedStatementError(SECRET), True),
        (asyncpg.FeatureNotSupportedError(SECRET), False),
        (asyncpg.QueryCanceledError(SECRET), False),
        (asyncpg.InvalidTextRepresentationError(SECRET), False),
    ],
)
def test_the_rest_is_a_fault_of_the_call_and_repeated_only_if_it_was_undone(
    error: asyncpg.PostgresError, passes: bool
) -> None:
    fault = raised(error)
    assert type(fault) is MemoryFault
    assert str(error.sqlstate) in str(fault)
    assert may_pass(fault) is passes


def test_what_ended_a_connection_is_told_and_not_that_it_is_closed() -> None:
    """A transaction that is left on a lost connection raises once more."""
    closed = asyncpg.InterfaceError("the connection is closed")
    closed.__context__ = asyncpg.AdminShutdownError(SECRET)
    fault = raised(closed)
    assert "57P01" in str(fault)
    assert isinstance(fault.__cause__, asyncpg.AdminShutdownError)


def test_where_no_setting_leads_to_the_database_none_is_named() -> None:
    """The embedded server is started anew by whoever asks next."""
    with pytest.raises(DatabaseUnavailable) as caught, translated("try again"):
        raise ConnectionResetError(SECRET)
    assert str(caught.value) == "the server hung up (ConnectionResetError); try again"
    with pytest.raises(DatabaseUnavailable, match="make room"), translated("try again"):
        raise asyncpg.DiskFullError(SECRET)


def test_where_the_database_is_comes_first() -> None:
    """D11: of several hosts each is named already."""
    one = raised(ConnectionRefusedError(SECRET), where="db:5432/memory")
    assert str(one).startswith("db:5432/memory: nothing listens there (ConnectionRefusedError); ")
    several = raised(NoHost({"a:1": TimeoutError()}), where="a:1,b:2/memory")
    assert str(several).startswith("none of the hosts can be used: a:1: ")


def test_only_our_own_faults_are_worth_another_try() -> None:
    error = ValueError("no database is meant")
    error.__cause__ = TimeoutError()
    assert not may_pass(error)
    assert may_pass(DatabaseUnavailable("the embedded server does not answer yet"))
