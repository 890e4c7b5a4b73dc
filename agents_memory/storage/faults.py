"""Translates what the driver raises into our own errors, in one place: what is wrong, and its fix.

The server's own words may quote content, so only its SQLSTATE is ever passed on.
"""

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

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
    asyncpg.TooManyConnectionsError,
)
# All that a call of the driver may raise.
FROM_DRIVER: tuple[type[BaseException], ...] = (*CONNECTION_LOST, asyncpg.PostgresError)


# What leads to the database, where it is not known as which role it was opened.
ANY_SETTING = "DATABASE_URL (or the URL of this role)"


class Reason(NamedTuple):
    """Why the database cannot serve us, and the one thing to do about it.

    `fix` names the variable that leads to the database as `{setting}`. `passing`: it may be over
    in a moment without anybody doing anything.
    """

    what: str
    fix: str
    passing: bool = False


class NoHost(OSError):
    """None of several hosts can be used; `failures` says of each why."""

    def __init__(self, failures: Mapping[str, BaseException]) -> None:
        super().__init__(", ".join(failures))
        self.failures = dict(failures)


_READ_ONLY = Reason(
    "the server takes no writes (a standby, or set read-only)",
    "name the primary in {setting}, or all its hosts with commas between",
    passing=True,
)
_IDLE = Reason(
    "the server ended a session that did nothing for too long", "try again", passing=True
)
_ENDED = Reason(
    "the server ended the connection",
    "try again; if it goes on, look into the server's log",
    passing=True,
)
_POOLER = Reason(
    "a pooler hands one server session to several clients, unknown to this program",
    "set DATABASE_POOLED=true",
)
_BY_STATE = {
    "08P01": Reason(
        "the server, or a pooler before it, turned the connection away",
        "check user, password and database name in {setting}, then look into its log",
        passing=True,
    ),
    "25006": _READ_ONLY,
    "25P03": _IDLE,
    "26000": _POOLER,
    "28000": Reason(
        "the server refuses this user", "correct the user in {setting}, or the server's pg_hba.conf"
    ),
    "28P01": Reason(
        "the server refused the password", "correct the user or the password in {setting}"
    ),
    "3D000": Reason(
        "the server has no such database", "create it, or correct its name in {setting}"
    ),
    "42501": Reason(
        "this user lacks a right",
        "run `mcp-agents-memory migrate` as the owner of the pool, which grants what is needed; "
        "where even the sign-in fails, GRANT CONNECT ON DATABASE … to the user",
    ),
    "42P05": _POOLER,
    "53100": Reason("the server's disk is full", "make room on it; nothing stored is lost"),
    "53200": Reason("the server ran out of memory", "give it more, or less work", passing=True),
    "53300": Reason(
        "the server has no connection left",
        "lower DB_POOL_MAX, or raise max_connections (or the role's CONNECTION LIMIT) there",
        passing=True,
    ),
    "57P01": _ENDED,
    "57P02": _ENDED,
    "57P03": Reason(
        "the server is starting, stopping or recovering", "try again in a minute", passing=True
    ),
    "57P05": _IDLE,
}
_UNREACHABLE = Reason(
    "the database cannot be reached",
    "check host and port in {setting} and that the server runs; `mcp-agents-memory doctor` "
    "looks further",
    passing=True,
)
# By the class of the error, the narrower one first.
_BY_CLASS: tuple[tuple[type[BaseException], Reason], ...] = (
    (socket.gaierror, Reason("the host name is unknown", "correct the host in {setting}", True)),
    (
        ssl.SSLCertVerificationError,
        Reason(
            "the encrypted connection failed: the server's certificate is not to be trusted",
            "add its root certificate to {setting} (sslrootcert=/path), connect by the host name "
            "it was made for, or lower DB_SSL where that is safe",
        ),
    ),
    (
        ssl.SSLError,
        Reason(
            "the encrypted connection failed",
            "check that a PostgreSQL server with TLS listens there, and the certificates in "
            "{setting}",
            passing=True,
        ),
    ),
    (
        ConnectionRefusedError,
        Reason(
            "nothing listens there",
            "start the server, or correct host and port in {setting}",
            passing=True,
        ),
    ),
    (
        TimeoutError,
        Reason(
            "no answer within some seconds",
            "check that the server is well, and the network and firewall between here and there",
            passing=True,
        ),
    ),
    (
        FileNotFoundError,
        Reason(
            "the server's socket cannot be opened: it is not there",
            "start the server, or correct the folder in {setting}; `mcp-agents-memory doctor` "
            "looks further",
            passing=True,
        ),
    ),
    (
        PermissionError,
        Reason(
            "the socket or a certificate file cannot be opened: no permission",
            "correct the paths in {setting}, or the permissions of the files",
        ),
    ),
    (
        asyncpg.ClientConfigurationError,
        Reason(
            "the settings of the connection cannot be used: a file they name is missing, or a "
            "value is none",
            "correct sslrootcert, sslcert and the other parameters in {setting}",
        ),
    ),
    (asyncpg.TargetServerAttributeNotMatched, _READ_ONLY),
)
_NO_ENCRYPTION = Reason(
    "the server does not take up encryption",
    "turn TLS on there, or lower DB_SSL where that is safe",
)
_HUNG_UP = Reason(
    "the server hung up",
    "check the network between here and there, that it is a PostgreSQL server, and its log",
    passing=True,
)

_SCHEMA_STATES = frozenset({"42P01", "42703", "42883", "3F000", "42704"})
# The whole transaction was undone through no fault of its own: two of them met, or the schema was
# migrated under it.
_UNDONE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,
)
# Classes of SQLSTATE that blame the data itself: its values, constraints, limits of the server.
_OF_THE_DATA = ("22", "23", "54")


def reason(error: BaseException | None) -> Reason | None:
    """Why the database is away for us, for what the driver raised; None when it is not away."""
    if isinstance(error, NoHost):
        return _of_hosts(error)
    state = getattr(error, "sqlstate", None)
    if state in _BY_STATE:
        return _BY_STATE[state]
    for kind, found in _BY_CLASS:
        if isinstance(error, kind):
            return found
    # The driver's own class when the server declines TLS; a lost connection has a narrower one.
    if type(error) is ConnectionError:
        return _NO_ENCRYPTION
    if isinstance(error, (ConnectionError, asyncpg.PostgresConnectionError)):
        return _HUNG_UP
    return _UNREACHABLE if isinstance(error, CONNECTION_LOST) else None


def _of_hosts(error: NoHost) -> Reason:
    listed = "; ".join(f"{host}: {describe(lost)}" for host, lost in error.failures.items())
    reasons = [reason(lost) for lost in error.failures.values()]
    return Reason(
        f"none of the hosts can be used: {listed}",
        "see to one of them, or correct the list in {setting}",
        passing=any(found is not None and found.passing for found in reasons),
    )


def describe(error: BaseException) -> str:
    """What is wrong in a few words, with the error's SQLSTATE or class."""
    found = reason(error) or _UNREACHABLE
    state = getattr(error, "sqlstate", None)
    return f"{found.what} ({f'SQLSTATE {state}' if state else type(error).__name__})"


def may_pass(fault: BaseException) -> bool:
    """Whether the same call may well succeed in a moment."""
    if isinstance(fault, DatabaseUnavailable):
        found = reason(fault.__cause__)
        return found is None or found.passing
    return isinstance(fault, MemoryFault) and isinstance(fault.__cause__, _UNDONE)


def lacks_right(fault: BaseException) -> bool:
    """Whether the role that signed in may not do what it was asked."""
    return getattr(fault.__cause__, "sqlstate", None) == "42501"


def blames_the_data(fault: BaseException) -> bool:
    """Whether the server will never take what it was given, so that trying again is of no use."""
    return str(getattr(fault.__cause__, "sqlstate", None)).startswith(_OF_THE_DATA)


@contextmanager
def translated(mended: str | None = None, where: str | None = None) -> Iterator[None]:
    """Raises DatabaseUnavailable, SchemaMismatch or MemoryFault for what asyncpg raised inside.

    `mended` says what to do about what may pass by itself, where no setting leads to the database.
    `where` is the address of the database, without secrets.
    """
    try:
        yield
    except FROM_DRIVER as error:
        told = _first(error)
        raise _fault(told, mended, where) from told


def _first(error: BaseException) -> BaseException:
    """What ended the connection, where a call, or leaving a transaction, only found it ended."""
    link = None
    if type(error) is asyncpg.InterfaceError:
        link = error.__context__
    elif isinstance(error, asyncpg.ConnectionDoesNotExistError):
        link = error.__cause__
    return _first(link) if isinstance(link, FROM_DRIVER) else error


def _fault(error: BaseException, mended: str | None, where: str | None) -> MemoryFault:
    state = getattr(error, "sqlstate", None)
    if state in _SCHEMA_STATES:
        return SchemaMismatch(
            f"the schema of the pool does not fit this program (SQLSTATE {state}); "
            "run `mcp-agents-memory migrate`"
        )
    if (found := reason(error)) is not None:
        fix = mended if found.passing else None
        fix = fix or found.fix.format(setting=ANY_SETTING)
        # Of several hosts each is named beside what is wrong with it.
        place = "" if where is None or isinstance(error, NoHost) else f"{where}: "
        return DatabaseUnavailable(f"{place}{describe(error)}; {fix}")
    if isinstance(error, _UNDONE):
        return MemoryFault(
            f"the server undid a call that met another one (SQLSTATE {state}); try again"
        )
    if state == "57014":
        return MemoryFault(
            "the server broke off a call that took too long (SQLSTATE 57014); try again, or look "
            "for what keeps the server busy"
        )
    return MemoryFault(f"the database reported SQLSTATE {state}; the server's log has the details")
