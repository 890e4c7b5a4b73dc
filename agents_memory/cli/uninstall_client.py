"""`uninstall-client`: our entry and hook out of another program's configuration."""

import click

from agents_memory.cli.client_changes import dry_run_option, each, names_argument, scope_option
from agents_memory.cli.options import EPILOG, as_json
from agents_memory.clients.leaving import plan_removal
from agents_memory.clients.machine import Machine

EXAMPLE = "Example: mcp-agents-memory uninstall-client claude-code"


@click.command("uninstall-client", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@names_argument
@scope_option
@dry_run_option
@as_json
def command(*, names: tuple[str, ...], scope: str, dry_run: bool, as_json: bool) -> int:
    """Take the memory, and its hook, out of a client's configuration; what is stored stays.

    Whatever name it has there. A file that nobody changed since becomes what it was before.
    """
    machine = Machine.this()
    return each(
        names,
        scope,
        lambda client: plan_removal(client, scope, machine),
        None,
        dry_run=dry_run,
        as_json=as_json,
    )
