"""The daemon: whether one leads, how its work goes, and what it held back."""

import asyncio

from agents_memory.services.alarms import Facts, alarms
from agents_memory.services.diagnosis.check import Check, failed, passed, skipped
from agents_memory.services.diagnosis.subject import Subject, asked
from agents_memory.storage import health, leadership, work
from agents_memory.storage import quarantine as held
from agents_memory.storage.connections import Connection

# Work older than this is looked at twice: does anything move?
OLD_WORK_S = 900.0
WATCH_S = 10.0
GLANCE_S = 0.5
PARKED_SHOWN = 3


@asked
async def leader(connection: Connection, subject: Subject) -> Check:
    """A daemon leads, or comes by itself with the next client."""
    last = await leadership.find_leader(connection)
    if await leadership.is_locked(connection, subject.settings.db_schema):
        return passed("leader", f"{last.holder}, process {last.pid}, term {last.epoch}")
    if subject.settings.starts_local_services:
        return skipped("leader", "no daemon works now; one starts with the next client")
    return failed(
        "leader",
        "no daemon works, so new messages get no tags and no vectors",
        "start one: `mcp-agents-memory coldpath` (deploy/systemd holds a unit)",
    )


@asked
async def queue(connection: Connection, subject: Subject) -> Check:
    """The work goes on, and none of it is set aside."""
    stages = await work.summarise_work(connection)
    parked = await health.list_parked_work(connection, PARKED_SHOWN)
    if parked:
        named = "; ".join(f"{one.item_id} ({one.stage}): {one.reason}" for one in parked)
        number = sum(stage.parked for stage in stages)
        return failed(
            "queue",
            f"{number} rows of work are set aside after repeated failures: {named}",
            f"see `mcp-agents-memory message show {parked[0].item_id}`, remove the cause, then "
            "`mcp-agents-memory retry --all`",
        )
    pending = sum(stage.pending for stage in stages)
    oldest = max((stage.oldest_age_s for stage in stages), default=0.0)
    detail = f"{pending} rows wait, the oldest for {oldest:.0f} s" if pending else "empty"
    led = await leadership.is_locked(connection, subject.settings.db_schema)
    beat = await leadership.find_beat(connection)
    overdue_s = float(subject.settings.cold_path_alert_sec)
    for alarm in alarms(Facts(led, beat, stages, overdue_s)):
        return failed("queue", alarm.message, alarm.fix)
    if led and oldest > OLD_WORK_S and not await _moves(connection):
        return failed(
            "queue",
            f"{detail}, and nothing moved within {WATCH_S:.0f} s although a daemon leads",
            "look into the daemon's log, then restart it",
        )
    return passed("queue", detail)


async def _moves(connection: Connection) -> bool:
    """Whether the queue changes within some seconds."""
    before = await work.summarise_work(connection)
    for _ in range(round(WATCH_S / GLANCE_S)):
        await asyncio.sleep(GLANCE_S)
        now = await work.summarise_work(connection)
        if [(s.stage, s.pending, s.failed) for s in now] != [
            (s.stage, s.pending, s.failed) for s in before
        ]:
            return True
    return False


@asked
async def quarantine(connection: Connection, _: Subject) -> Check:
    """What is held back is told; that something is, is no fault."""
    found = await held.summarise(connection)
    if not found.held_back:
        return passed("quarantine", "nothing is held back")
    since = "" if found.since is None else f" since {found.since:%Y-%m-%d %H:%M %Z}"
    return passed(
        "quarantine",
        f"{found.held_back} messages held back{since}, {found.undecided} not looked at: "
        "`mcp-agents-memory quarantine list`",
    )
