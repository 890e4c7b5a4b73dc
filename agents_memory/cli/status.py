"""`status`: how the pool is doing, for a person or a monitor."""

import asyncio
from dataclasses import replace
from typing import Any

import click

from agents_memory.cli.options import as_json
from agents_memory.cli.output import EXIT_DATABASE, EXIT_FAILURE, EXIT_OK, emit_json, emit_text
from agents_memory.cli.pool import load_settings, never_made, nothing_there, open_for
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import DatabaseUnavailable, SchemaMismatch
from agents_memory.embedding.opening import open_choice
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.alarms import lasting
from agents_memory.services.reachability import knock
from agents_memory.services.spool_state import spool_state
from agents_memory.services.status import report, unreachable
from agents_memory.settings import Settings

EXAMPLE = "Example: mcp-agents-memory status --json | jq .stages.embed.pending"

CODES = (
    "Exit codes: 0 all is well, 1 the daemon or its queue needs you, 2 wrong usage or settings, 3 "
    "the database is unavailable."
)


@click.command("status", epilog=f"{EXAMPLE}\n\n{CODES}")
@as_json
def command(*, as_json: bool) -> int:
    """Show where the memory is, who works on it, and what waits.

    A line that begins with ALARM needs you, says what to do, and makes the exit code 1. An embedded
    database that stands still is started for the moment; one that was never made is not made. Exits
    with 3, and still reports, when the database cannot be used.
    """
    settings = load_settings()
    values = asyncio.run(_report(settings))
    values["spool"] = spool_state(settings, SystemClock().now())
    if as_json:
        emit_json(values)
    else:
        emit_text(render(values))
    if not values["database"]["reachable"]:
        return EXIT_DATABASE
    return EXIT_FAILURE if values["alarms"] else EXIT_OK


def embedder_of(settings: Settings) -> Embedder:
    """The embedder the settings name; nothing is loaded yet. Raises ConfigurationError."""
    return open_choice(settings)


def render(values: dict[str, Any]) -> str:
    """The report as a short table."""
    database, leader, counts = values["database"], values["leader"], values["counts"]
    where = database["where"]
    if database["reachable"]:
        where += f" (PostgreSQL {database['server']}, schema {database['schema']})"
    lines = [("database", where)]
    if leader is not None:
        lines.append(("daemon", describe_leader(leader)))
    if counts:
        lines.append(("holds", f"{counts['messages']} messages, {counts['memories']} memories"))
        if counts["summaries"]:
            archived = f"{counts['archived']} messages in {counts['summaries']} summaries"
            lines.append(("archived", archived))
        lines.append(("used", f"{counts['used']} times, and {counts['inferred']} more by replies"))
    if database["reachable"]:
        lines.append(("embedding", values["embedder"]["active_model"] or "none"))
    for stage, numbers in values["stages"].items():
        if numbers["pending"] or numbers["parked"]:
            lines.append((stage, describe_stage(numbers)))
    if database["reachable"] and not any(
        numbers["pending"] or numbers["parked"] for numbers in values["stages"].values()
    ):
        lines.append(("queue", "empty"))
    lines += [("left alone", describe_hold(hold)) for hold in values["holds"]]
    if values["quarantine"] is not None and values["quarantine"]["held_back"]:
        lines.append(("quarantine", describe_quarantine(values["quarantine"])))
    if values["spool"]["queued"] or values["spool"]["aside"]:
        lines.append(("spool", describe_spool(values["spool"])))
    alarming = [f"{alarm['message']}; {alarm['fix']}" for alarm in values["alarms"]]
    lines += [("ALARM", reason) for reason in alarming]
    lines += [("degraded", reason) for reason in values["degraded"] if reason not in alarming]
    return "\n".join(f"{name:<11} {text}" for name, text in lines)


def describe_spool(spool: dict[str, Any]) -> str:
    """What waits on this machine's disk, in some words."""
    parts = []
    if spool["queued"]:
        age = (
            ""
            if spool["oldest_age_s"] is None
            else f", the oldest {lasting(spool['oldest_age_s'])}"
        )
        parts.append(f"{spool['queued']} turns wait on this disk{age}")
    if spool["aside"]:
        parts.append(f"{spool['aside']} files set aside: `mcp-agents-memory spool status`")
    return "; ".join(parts)


def describe_leader(leader: dict[str, Any]) -> str:
    """Who leads the pool, in some words."""
    if leader["holder"] is None:
        return "none"
    return f"{leader['holder']} (process {leader['pid']}, term {leader['epoch']})"


def describe_quarantine(numbers: dict[str, Any]) -> str:
    """How much is held back, in some words."""
    since = "" if numbers["since"] is None else f" since {numbers['since']:%Y-%m-%d %H:%M %Z}"
    undecided = numbers["undecided"]
    hint = "; `mcp-agents-memory quarantine list` shows them" if undecided else ""
    return f"{numbers['held_back']} messages held back{since}, {undecided} not looked at{hint}"


def describe_hold(hold: dict[str, Any]) -> str:
    """A provider that did not answer the last time, in some words."""
    until = f"until {hold['held_until'][:16].replace('T', ' ')} UTC"
    if hold["over"]:
        until = "no longer, and asked again with the next work"
    reason = hold["reason"] or "no answer so far; see that they run"
    return f"{hold['provider']} models {until}: {reason}; then `mcp-agents-memory retry --all`"


def describe_stage(numbers: dict[str, Any]) -> str:
    """One stage of the queue, in some words."""
    parts = [f"{numbers['pending']} waiting"]
    if numbers["held"]:
        parts.append(f"held: {numbers['reason']}")
    if numbers["failed"]:
        parts.append(f"{numbers['failed']} of them failed before")
    if numbers["parked"]:
        parts.append(f"{numbers['parked']} parked")
    if numbers["pending"]:
        parts.append(f"the oldest for {lasting(numbers['oldest_age_s'])}")
    return ", ".join(parts)


async def _report(settings: Settings) -> dict[str, Any]:
    embedder = embedder_of(settings)
    where = settings.describe_database()
    if never_made(settings):
        return unreachable(embedder, nothing_there(settings), described=where).values
    # What is started only to be looked at need not stay.
    brief = replace(settings, embedded_linger_sec=0)
    try:
        # Without the retries of a pool: who looks wants to know now.
        await knock(settings, "mcp-agents-memory status")
        async with open_for(brief, "status") as pool:
            found = await report(
                pool.database,
                embedder,
                described=where,
                overdue_s=settings.cold_path_alert_sec,
            )
            return found.values
    except (DatabaseUnavailable, SchemaMismatch) as fault:
        return unreachable(embedder, fault, described=where).values
