"""Following the queue until it is empty, with a watch on whether anything moves."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents_memory.cli.output import progress
from agents_memory.cli.status import describe_leader, describe_stage
from agents_memory.clock import Clock
from agents_memory.domain.errors import MemoryFault
from agents_memory.services.status import Report

GLANCE_S = 0.25
# Longer than the daemon's take-over (10 s), the first load of a model and a retry together.
STALL_S = 120.0
# How many stages an item still has before it, this one included.
STEPS_LEFT = {"screen": 3, "embed": 2}

Look = Callable[[], Awaitable[Report]]


async def drained(look: Look, clock: Clock, *, stall_s: float = STALL_S) -> Report:
    """The report once nothing waits any more; parked rows wait for nobody.

    Raises MemoryFault when nothing has moved for `stall_s` seconds, saying where to look.
    """
    report = await look()
    left = steps_left(report.values["stages"])
    if left == 0 and complete(report):
        return report
    with progress("working", left) as advance:
        seen, moved_at = _signature(report), clock.monotonic()
        while report.waiting or not complete(report):
            await asyncio.sleep(GLANCE_S)
            report = await look()
            if (now := steps_left(report.values["stages"])) < left:
                advance(left - now)
                left = now
            if _signature(report) != seen:
                seen, moved_at = _signature(report), clock.monotonic()
            elif clock.monotonic() - moved_at >= stall_s:
                raise MemoryFault(_stalled(report, stall_s))
    return report


def complete(report: Report) -> bool:
    """Whether the database answered everything."""
    return bool(report.values["database"]["reachable"] and report.values["counts"])


def steps_left(stages: Mapping[str, Mapping[str, Any]]) -> int:
    """How many steps the waiting items still have before them, about."""
    return sum(
        int(numbers["pending"]) * STEPS_LEFT.get(stage, 1) for stage, numbers in stages.items()
    )


@dataclass(frozen=True, slots=True)
class Own:
    """A daemon that the caller runs: the name of its machine, and its process."""

    device: str
    pid: int

    def leads(self, leader: Mapping[str, Any]) -> bool:
        """Whether it is the one that works on the pool."""
        return (leader["holder"], leader["pid"]) == (self.device, self.pid)

    def stands_by(self, leader: Mapping[str, Any]) -> bool:
        """Whether another one works on the pool."""
        return leader["holder"] is not None and not self.leads(leader)


def status_line(report: Report, own: Own | None = None) -> str:
    """The state of the pool in one line; where `own` only stands by it says so."""
    values = report.values
    if not complete(report):
        return "the database is away; trying again"
    stages = values["stages"].values()
    parts = [
        f"{values['counts']['messages']} messages",
        f"{values['counts']['memories']} memories",
        f"{report.waiting} waiting",
    ]
    if parked := sum(stage["parked"] for stage in stages):
        parts.append(f"{parked} parked")
    parts.append(f"daemon: {describe_leader(values['leader'])}")
    if own is not None and own.stands_by(values["leader"]):
        parts.append(f"ours stands by (process {own.pid})")
    return " · ".join(parts)


def _signature(report: Report) -> tuple[Any, ...]:
    values = report.values
    stages = tuple(
        (name, numbers["pending"], numbers["failed"], numbers["parked"])
        for name, numbers in sorted(values["stages"].items())
    )
    return stages, values["counts"].get("messages"), complete(report)


def _stalled(report: Report, stall_s: float) -> str:
    values = report.values
    waiting = [
        f"{name}: {describe_stage(numbers)}"
        for name, numbers in values["stages"].items()
        if numbers["pending"]
    ]
    reasons = [*waiting, *values["degraded"]]
    return "\n".join(
        [f"nothing has moved for {stall_s:.0f} seconds; run `mcp-agents-memory doctor`", *reasons]
    )
