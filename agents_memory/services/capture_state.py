"""Whether somebody captures on this machine, for a person."""

from agents_memory.services.capturer import lock_path, read_capturer
from agents_memory.services.diagnosis.check import Check, passed, skipped
from agents_memory.settings import Settings
from agents_memory.storage.embedded.locks import owned


def check_capture(settings: Settings) -> Check:
    """The doctor's look: whether somebody captures, and hears at once of what is said."""
    clients = ", ".join(settings.capture_clients)
    if not clients:
        return skipped("capture", "CAPTURE_CLIENTS names no client")
    if not owned(lock_path(settings)):
        return skipped(
            "capture",
            f"nobody captures {clients} now; `mcp-agents-memory capture` does, and with the "
            "embedded database an editor's server starts it",
        )
    capturer = read_capturer(lock_path(settings))
    who = f"process {capturer.process or '?'} captures {clients}"
    if not capturer.polled:
        return passed("capture", f"{who}; the system tells it what changes")
    return passed(
        "capture",
        "\n".join(
            [f"{who}; it polls, so that an old session taken up again may wait some seconds, where"]
            + [f"{client}: {why}" for client, why in capturer.polled.items()]
        ),
    )
