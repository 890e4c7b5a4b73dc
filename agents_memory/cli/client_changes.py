"""Showing, doing and reporting what changes in the clients' configurations."""

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from shutil import which

import click

from agents_memory.cli.output import EXIT_FAILURE, EXIT_OK, emit_json, emit_text
from agents_memory.cli.pool import say
from agents_memory.clients.installing import NameTaken
from agents_memory.clients.known import CLIENTS, Client
from agents_memory.clients.plan import Plan, carry_out
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import MemoryFault
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage.embedded.processes import leash

# A client's own command may start that client once, which takes seconds on a slow machine.
OWN_COMMAND_WITHIN_S = 20.0

names_argument = click.argument("names", metavar="CLIENT…", nargs=-1, required=True)
scope_option = click.option(
    "--scope",
    type=click.Choice(["user", "project", "local"]),
    default="user",
    show_default=True,
    help="For you everywhere, for everybody in this folder, or (Claude Code) for you in it.",
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would change; change nothing."
)


def each(
    names: Sequence[str],
    scope: str,
    planned: Callable[[Client], Plan],
    by_hand: Callable[[Client], str] | None,
    *,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Plan and do for each client, telling a person or as JSON; the exit code.

    What could not be put somewhere is shown to be done `by_hand`, where that would help.
    """
    clients = [_client(name, scope) for name in dict.fromkeys(names)]
    report: list[dict[str, object]] = []
    for client in clients:
        try:
            report.append(_one(client, planned(client), dry_run=dry_run, quiet=as_json))
        except MemoryFault as fault:
            report.append({"client": client.name, "ok": False, "error": str(fault)})
            say(f"{client.label}: {fault}")
            if by_hand is not None and not isinstance(fault, NameTaken):
                say("Nothing was changed there. To do it by hand:")
                say(by_hand(client))
    if as_json:
        emit_json(report)
    return EXIT_OK if all(one["ok"] for one in report) else EXIT_FAILURE


def _client(name: str, scope: str) -> Client:
    client = CLIENTS.get(name)
    if client is None:
        raise click.BadParameter(f"{name!r} is none of {', '.join(CLIENTS)}", param_hint="CLIENT")
    if scope not in client.scopes:
        raise click.BadParameter(
            f"{client.label} has {' and '.join(client.scopes)} only", param_hint="--scope"
        )
    return client


def _one(client: Client, plan: Plan, *, dry_run: bool, quiet: bool) -> dict[str, object]:
    tell = say if quiet else emit_text
    copies: list[str] = []
    if plan.nothing_to_do:
        tell(f"{client.label}: nothing to change")
    elif dry_run:
        for command in plan.commands:
            tell(f"{client.label}: would run {' '.join(command)}, if it is installed")
        for edit in plan.edits:
            becomes = "become" if edit.after is not None else "be removed"
            tell(f"{client.label}: {edit.file} would {becomes}\n{edit.diff()}")
    else:
        for edit in plan.edits:
            tell(edit.diff())
        copies = [str(copy) for copy in carry_out(plan, run_own, SystemClock().now())]
        kept = f" (the file as it was: {', '.join(copies)})" if copies else ""
        tell(f"{client.label}: done{kept}")
    for remark in plan.remarks:
        tell(f"{client.label}: {remark}")
    return {
        "client": client.name,
        "ok": True,
        "changed": not plan.nothing_to_do and not dry_run,
        "files": [str(edit.file) for edit in plan.edits],
        "diffs": [edit.diff() for edit in plan.edits],
        "commands": plan.commands,
        "copies": copies,
        "remarks": plan.remarks,
    }


def run_own(command: Sequence[str]) -> bool:
    """Whether there is such a program and it succeeded in time; else it is ended."""
    program = which(command[0])
    if program is None:
        return False
    try:
        process = subprocess.Popen(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            # A pipe would be waited for as long as a child of its own holds it.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=inherited_environment(),
            start_new_session=True,
            preexec_fn=leash(signal.SIGTERM),
        )
    except OSError:
        return False
    try:
        return process.wait(OWN_COMMAND_WITHIN_S) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.returncode is None:
            # With all that it started: the file is ours to edit from here on.
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
