"""`install-client`: our entry in another program's configuration."""

import re
import sys

import click

from agents_memory.cli.client_changes import dry_run_option, each, names_argument, scope_option
from agents_memory.cli.clients import by_hand, unsaved
from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.pool import load_settings, say
from agents_memory.clients.entry import SERVER_NAME, entry_for
from agents_memory.clients.installing import plan_install
from agents_memory.clients.machine import Machine

EXAMPLE = "Example: mcp-agents-memory install-client claude-code codex --with-brief"


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


def _named(_: click.Context, __: click.Parameter, name: str) -> str:
    # What every client takes as part of a tool's name.
    if NAME.fullmatch(name) is None:
        raise click.BadParameter("take up to 32 of the characters A-Z a-z 0-9 _ -")
    return name


@click.command("install-client", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@names_argument
@scope_option
@click.option(
    "--name",
    default=SERVER_NAME,
    show_default=True,
    callback=_named,
    help="What the client calls it; another where that name is taken.",
)
@click.option("--with-brief", is_flag=True, help="Also a hook: the brief at each session's start.")
@dry_run_option
@as_json
def command(
    *,
    names: tuple[str, ...],
    scope: str,
    name: str,
    with_brief: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Put the memory into a client's configuration.

    CLIENT is claude-code, codex, gemini-cli, opencode, cursor, vscode or claude-desktop. The
    client's own command does it where there is one, else its file is edited: comments stay, and a
    copy of the file is kept beside it. Doing it again changes nothing. A server of another's with
    the same name is never touched.
    """
    settings = load_settings()
    entry = entry_for(settings, sys.executable, name)
    machine = Machine.this()
    for setting in unsaved(settings):
        say(f"note: {setting} is set in this shell only; write it into a file of settings")
    return each(
        names,
        scope,
        lambda client: plan_install(client, scope, entry, machine, with_brief=with_brief),
        lambda client: by_hand(client, scope, entry, machine),
        dry_run=dry_run,
        as_json=as_json,
    )
