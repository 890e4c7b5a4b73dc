"""How the spool of this machine is doing, for a person or a monitor."""

from datetime import datetime
from typing import Any

from agents_memory.services.alarms import lasting
from agents_memory.services.diagnosis.check import Check, failed, passed
from agents_memory.settings import Settings
from agents_memory.storage.spool.store import spool_of


def spool_state(settings: Settings, now: datetime) -> dict[str, Any]:
    """The stable keys of `spool` in `status --json`; see docs/operations.md."""
    spool = spool_of(settings)
    census = spool.census()
    age = None if census.oldest is None else max(0.0, (now - census.oldest).total_seconds())
    return {
        "where": str(spool.folder),
        "queued": census.queued,
        "oldest_age_s": None if age is None else round(age, 1),
        "bytes": census.size,
        "limit_bytes": spool.limit_bytes,
        "aside": len(census.aside),
        "other_pools": spool.strangers(),
    }


def check_spool(settings: Settings, now: datetime) -> Check:
    """The doctor's look: nothing set aside, nothing left behind for another database."""
    state = spool_state(settings, now)
    if state["aside"]:
        return failed(
            "spool",
            f"{state['aside']} files of turns that were damaged, or that the database will never "
            f"take, are set aside in {state['where']} (*.aside)",
            "look into them, save by hand what matters, and remove them",
        )
    if state["other_pools"]:
        return failed(
            "spool",
            f"turns wait on this machine for another database: {'; '.join(state['other_pools'])}",
            "run `mcp-agents-memory spool drain` with the settings of that database; where it is "
            f"gone for good, remove its folder beside {state['where']}",
        )
    if state["queued"]:
        return passed(
            "spool",
            f"{state['queued']} turns wait on this disk, the oldest "
            f"{lasting(state['oldest_age_s'] or 0.0)}; they are stored when a client or the "
            "capturer runs, or by `mcp-agents-memory spool drain`",
        )
    return passed("spool", "nothing waits")
