"""How a keeper that gives up tells the clients why."""

from agents_memory.domain.errors import ConfigurationError, DatabaseUnavailable, MemoryFault
from agents_memory.storage.embedded.journal import private, read_tail
from agents_memory.storage.embedded.place import Place

_CONFIGURATION = "configuration"


def report_failure(place: Place, fault: MemoryFault) -> None:
    """Leave `fault` for those who wait for the server."""
    kind = _CONFIGURATION if isinstance(fault, ConfigurationError) else "database"
    with open(
        place.failure, "w", encoding="utf-8", errors="backslashreplace", opener=private
    ) as file:
        file.write(f"{kind}\n{fault}\n")


def read_failure(place: Place) -> MemoryFault:
    """What the last keeper left, or if it left nothing the end of its log."""
    try:
        kind, _, message = place.failure.read_text("utf-8", "replace").partition("\n")
    except OSError:
        kind, message = "", ""
    if kind == _CONFIGURATION:
        return ConfigurationError(message.strip())
    if message:
        return DatabaseUnavailable(message.strip())
    said = read_tail(place.keeper_log) or "nothing"
    return DatabaseUnavailable(
        f"The keeper of the embedded Postgres ended at once. It said last:\n{said}\n"
        f"Remove the cause and try again; its log is {place.keeper_log}."
    )


def clear_failure(place: Place) -> None:
    place.failure.unlink(missing_ok=True)
