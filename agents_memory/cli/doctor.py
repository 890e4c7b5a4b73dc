"""`doctor`: every part looked at in order, and the one fix for what fails."""

import asyncio
from collections.abc import Callable

import click

from agents_memory.cli.client_probes import check_clients
from agents_memory.cli.options import as_json
from agents_memory.cli.output import EXIT_FAILURE, EXIT_OK, emit_json, emit_text
from agents_memory.cli.pool import load_settings
from agents_memory.cli.probes import check_daemon, check_round_trip, check_stdout
from agents_memory.cli.status import embedder_of
from agents_memory.clients.machine import Machine
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import ConfigurationError
from agents_memory.services.capture_state import check_capture
from agents_memory.services.diagnosis import Diagnosis
from agents_memory.services.diagnosis.check import Check, Outcome, failed, passed, skipped
from agents_memory.services.spool_state import check_spool
from agents_memory.settings import Settings

EXAMPLE = (
    "Example: mcp-agents-memory doctor --json | jq '.checks[] | select(.outcome == \"failed\")'"
)
CODES = "Exit codes: 0 all is well, 1 a check failed."
MARKS = {Outcome.OK: "ok", Outcome.FAILED: "FAILED", Outcome.SKIPPED: "skipped"}

Tell = Callable[[Check], None]


@click.command("doctor", epilog=f"{EXAMPLE}\n\n{CODES}")
@click.option("--deep", is_flag=True, help="Recompute what is stored; takes minutes when large.")
@click.option("--clients", is_flag=True, help="Also start what your clients' settings start.")
@as_json
def command(*, deep: bool, clients: bool, as_json: bool) -> int:
    """Check everything, from the settings to an answer over MCP; name a fix for what fails.

    Changes nothing. Begin with the first failure: later ones may follow from it. With --deep also
    that every memory is what its versions and diffs make of it, and every vector of today's words.
    With --clients also every entry and hook that install-client makes, run as the client runs it.
    """
    checks = asyncio.run(_examine(_no_telling if as_json else _tell, deep=deep, clients=clients))
    broken = [check for check in checks if check.outcome is Outcome.FAILED]
    if as_json:
        emit_json({"ok": not broken, "checks": checks})
    else:
        emit_text(f"\n{len(broken)} of {len(checks)} checks failed" if broken else "\nall is well")
    return EXIT_FAILURE if broken else EXIT_OK


async def _examine(tell: Tell, *, deep: bool, clients: bool) -> list[Check]:
    try:
        settings = load_settings()
        embedder = embedder_of(settings)
    except ConfigurationError as fault:
        check = failed("settings", str(fault), "correct what is named, then run this again")
        tell(check)
        return [check]
    check = _settings(settings)
    tell(check)
    checks = [check, *await Diagnosis(settings, embedder, deep=deep).examine(tell)]
    for check in (check_spool(settings, SystemClock().now()), check_capture(settings)):
        checks.append(check)
        tell(check)
    usable = not any(
        check.outcome is Outcome.FAILED and check.name in ("data_directory", "server", "schema")
        for check in checks
    )
    for name, look in (
        ("daemon_program", check_daemon),
        ("mcp", check_round_trip),
        ("stdout", check_stdout),
    ):
        # Starting an editor's server would make the memory that is missing.
        if usable or name == "daemon_program":
            check = await look()
        else:
            check = skipped(name, "not looked at: the database comes first")
        checks.append(check)
        tell(check)
    for check in await check_clients(Machine.this()) if clients else []:
        checks.append(check)
        tell(check)
    await embedder.close()
    return checks


def _settings(settings: Settings) -> Check:
    source = "defaults and the environment"
    if settings.config_path is not None:
        source = f"{settings.config_path} and the environment"
    return passed("settings", "\n".join([f"read from {source}", *settings.notes]))


def _tell(check: Check) -> None:
    first, *others = check.detail.splitlines() or [""]
    lines = [f"{MARKS[check.outcome]:<8}{check.name:<15} {first}"]
    lines += [f"{'':<24}{line}" for line in others]
    if check.fix is not None:
        lines.append(f"{'':<8}{'fix:':<16}{check.fix}")
    emit_text("\n".join(lines))


def _no_telling(_: Check) -> None:
    return
