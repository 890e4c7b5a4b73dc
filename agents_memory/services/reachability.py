"""Why a database cannot be reached, and the one thing to do about it."""

from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault
from agents_memory.services.opening import Role, external_database, way
from agents_memory.settings import Settings
from agents_memory.storage.faults import reason


async def knock(settings: Settings, application: str) -> None:
    """Signs in once to the database that the settings name, and leaves.

    Raises DatabaseUnavailable that says why and what to do, at once. An embedded database is not
    asked: whoever opens it starts it.
    """
    if settings.hot_url is None:
        return
    database = external_database(settings, "hot", application)
    try:
        async with database.acquire():
            return
    except DatabaseUnavailable as fault:
        raise explained(fault, settings) from fault
    finally:
        await database.close()


def explained(
    fault: DatabaseUnavailable, settings: Settings, role: Role = "hot"
) -> DatabaseUnavailable:
    """The same fault, with its reason and its fix as text."""
    if settings.embedded:
        return fault
    detail, fix = explain_in(settings, fault, role)
    return DatabaseUnavailable(f"{detail}; {fix}")


def explain_in(settings: Settings, fault: MemoryFault, role: Role = "hot") -> tuple[str, str]:
    """What is wrong and its fix, for the database that the settings name."""
    setting, where = way(settings, role)
    return explain(fault, where=where, setting=setting)


def explain(fault: MemoryFault, *, where: str, setting: str) -> tuple[str, str]:
    """What is wrong and its fix, for a fault that a connection attempt to `where` ended with.

    `setting` is the variable that names the database. Nothing secret is in either.
    """
    found = reason(fault.__cause__)
    if found is None:
        return f"{where}: {fault}", f"correct {setting}, or look into the server's log"
    return f"{where}: {found.what}", found.fix.format(setting=setting)
