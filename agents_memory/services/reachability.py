"""Why a database cannot be reached, and the one thing to do about it."""

import socket
import ssl

from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault
from agents_memory.settings import Settings
from agents_memory.storage.connections import Database

# What a server says when it turns us away; its own words may quote what nobody should read.
_REFUSALS = {
    "28P01": ("the server refused the password", "correct the user or the password in {setting}"),
    "28000": ("the server refuses this user", "correct the user in {setting}, or pg_hba.conf"),
    "3D000": ("the server has no such database", "create it, or correct its name in {setting}"),
    "42501": ("this user may not connect", "GRANT CONNECT ON DATABASE … to the user"),
    "53300": ("the server has no connection left", "lower DB_POOL_MAX, or raise max_connections"),
    "57P03": ("the server is starting or stopping", "try again in a minute"),
}


async def knock(settings: Settings, application: str) -> None:
    """Signs in once to the database that the settings name, and leaves.

    Raises DatabaseUnavailable that says why and what to do, at once. An embedded database is not
    asked: whoever opens it starts it.
    """
    if settings.hot_url is None:
        return
    database = Database(
        settings.hot_url.reveal(), schema=settings.db_schema, application=application
    )
    try:
        connection = await database.connect()
    except DatabaseUnavailable as fault:
        raise explained(fault, settings) from fault
    await connection.close(timeout=5)


def explained(fault: DatabaseUnavailable, settings: Settings) -> DatabaseUnavailable:
    """The same fault, with its reason and its fix as text."""
    if settings.embedded:
        return fault
    detail, fix = explain_in(settings, fault)
    return DatabaseUnavailable(f"{detail}; {fix}")


def explain_in(settings: Settings, fault: MemoryFault) -> tuple[str, str]:
    """What is wrong and its fix, for the database that the settings name."""
    setting = "DATABASE_URL" if settings.database_url is not None else "DB_HOST"
    return explain(fault, where=settings.describe_database(), setting=setting)


def explain(fault: MemoryFault, *, where: str, setting: str) -> tuple[str, str]:
    """What is wrong and its fix, for a fault that a connection attempt to `where` ended with.

    `setting` is the variable that names the database. Nothing secret is in either.
    """
    cause = fault.__cause__
    refusal = _REFUSALS.get(str(getattr(cause, "sqlstate", None)))
    if refusal is not None:
        return f"{where}: {refusal[0]}", refusal[1].format(setting=setting)
    match cause:
        case socket.gaierror():
            return f"{where}: the host name is unknown", f"correct the host in {setting}"
        case ssl.SSLError():
            return (
                f"{where}: the encrypted connection failed ({type(cause).__name__})",
                f"add the server's root certificate to {setting} (sslrootcert=/path), "
                "or lower DB_SSL where that is safe",
            )
        case ConnectionRefusedError():
            return (
                f"{where}: nothing listens there",
                f"start the server, or correct host and port in {setting}",
            )
        case TimeoutError():
            return (
                f"{where}: no answer within some seconds",
                "check the network and the firewall between here and the server",
            )
        case FileNotFoundError() | PermissionError():
            return (
                f"{where}: the socket or a certificate file cannot be opened",
                f"correct the paths in {setting}",
            )
        case ConnectionError():
            return (
                f"{where}: the server hung up ({type(cause).__name__})",
                "check that it is a PostgreSQL server and whether it accepts encryption (DB_SSL)",
            )
    return f"{where}: {fault}", f"correct {setting}, or look into the server's log"
