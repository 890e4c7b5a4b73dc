"""`status`: how the pool is doing, for a person or a monitor."""

import asyncio
from dataclasses import replace
from typing import Any

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_DATABASE, EXIT_OK, emit_json, emit_text
from agents_memory.cli.pool import load_settings, never_made, nothing_there, open_for
from agents_memory.domain.errors import DatabaseUnavailable, SchemaMismatch
from agents_memory.embedding.opening import open_choice
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.reachability import knock
from agents_memory.services.status import report, unreachable
from agents_memory.settings import Settings

EXAMPLE = "Example: mcp-agents-memory status --json | jq .stages.embed.pending"


@click.command("status", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@as_json
def command(*, as_json: bool) -> int:
    """Show where the memory is, who works on it, and what waits.

    An embedded database that stands still is started for the moment; one that was never made is
    not made. Exits with 3, and still reports, when the database cannot be used.
    """
    settings = load_settings()
    values = asyncio.run(_report(settings))
    if as_json:
        emit_json(values)
    else:
        emit_text(render(values))
    return EXIT_OK if values["database"]["reachable"] else EXIT_DATABASE


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
        lines.append(("used", f"{counts['used']} times"))
    if database["reachable"]:
        lines.append(("embedding", values["embedder"]["active_model"] or "none"))
    for stage, numbers in values["stages"].items():
        if numbers["pending"] or numbers["parked"]:
            lines.append((stage, describe_stage(numbers)))
    if database["reachable"] and not any(
        numbers["pending"] or numbers["parked"] for numbers in values["stages"].values()
    ):
        lines.append(("queue", "empty"))
    lines += [("degraded", reason) for reason in values["degraded"]]
    return "\n".join(f"{name:<12}{text}" for name, text in lines)


def describe_leader(leader: dict[str, Any]) -> str:
    """Who leads the pool, in some words."""
    if leader["holder"] is None:
        return "none"
    return f"{leader['holder']} (process {leader['pid']}, term {leader['epoch']})"


def describe_stage(numbers: dict[str, Any]) -> str:
    """One stage of the queue, in some words."""
    parts = [f"{numbers['pending']} waiting"]
    if numbers["failed"]:
        parts.append(f"{numbers['failed']} of them failed before")
    if numbers["parked"]:
        parts.append(f"{numbers['parked']} parked")
    if numbers["pending"]:
        parts.append(f"the oldest for {numbers['oldest_age_s']:.0f} s")
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
            return (await report(pool.database, embedder, described=where)).values
    except (DatabaseUnavailable, SchemaMismatch) as fault:
        return unreachable(embedder, fault, described=where).values
