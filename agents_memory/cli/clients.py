"""What to put into a client's configuration so that it starts our server."""

import shlex
import sys

from agents_memory.clients import document
from agents_memory.clients.entry import CONFIG_PATH, Entry, entry_for
from agents_memory.clients.known import CLIENTS, Client
from agents_memory.clients.machine import Machine
from agents_memory.settings import VARIABLES, Group, Settings
from agents_memory.settings.inherited import inherited_environment


def instructions(entry: Entry) -> dict[str, str]:
    """What to paste, by client; ready for a shell, a TOML file or a JSON file."""
    words = shlex.join([entry.command, *entry.args])
    given = [shlex.quote(f"{name}={value}") for name, value in entry.env.items()]
    claude = "".join(f" -e {pair}" for pair in given)
    return {
        "Claude Code (in a shell)": f"claude mcp add --scope user {entry.name}{claude} -- {words}",
        "Codex (~/.codex/config.toml)": _snippet("codex", entry),
        "Gemini CLI (~/.gemini/settings.json) and most others (JSON)": _snippet(
            "gemini-cli", entry
        ),
        "VS Code (mcp.json of your profile)": _snippet("vscode", entry),
        "OpenCode (~/.config/opencode/opencode.json)": _snippet("opencode", entry),
    }


def by_hand(client: Client, scope: str, entry: Entry, machine: Machine) -> str:
    """What to paste for one client, and into which file."""
    place = client.places[scope](machine).named(entry.name)
    snippet = document.with_member(place.file, "", place.keys, client.shape(entry))
    return f"in {place.file}:\n{snippet}"


def unsaved(settings: Settings) -> list[str]:
    """Names of settings that only this shell has; a client may start us without them."""
    environ = inherited_environment()
    return sorted(
        variable.name
        for variable in VARIABLES
        if variable.field is not None
        and variable.name != CONFIG_PATH
        and variable.group is not Group.LOGGING
        and environ.get(variable.name, "").strip()
    )


def render(settings: Settings) -> str:
    """All of it as text for a person."""
    parts = [
        f"── {client} ──\n{text}"
        for client, text in instructions(entry_for(settings, sys.executable)).items()
    ]
    if names := unsaved(settings):
        parts.append(
            f"Set in this shell only: {', '.join(names)}. Write them into a file of settings "
            "(see .env.example; MEMORY_CONFIG_PATH names it), since a client may not pass on "
            "what the shell has."
        )
    return "\n\n".join(parts)


def _snippet(client: str, entry: Entry) -> str:
    one = CLIENTS[client]
    place = one.places["user"](Machine.this()).named(entry.name)
    return document.with_member(place.file, "", place.keys, one.shape(entry)).rstrip("\n")
