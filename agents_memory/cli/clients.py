"""What to put into a client's configuration so that it starts our server."""

import json
import shlex
import sys

from agents_memory.clients.entry import CONFIG_PATH, SERVER_NAME, Entry, entry_for
from agents_memory.settings import VARIABLES, Group, Settings
from agents_memory.settings.inherited import inherited_environment


def instructions(entry: Entry) -> dict[str, str]:
    """What to paste, by client; ready for a shell, a TOML file or a JSON file."""
    words = shlex.join([entry.command, *entry.args])
    given = [shlex.quote(f"{name}={value}") for name, value in entry.env.items()]
    claude = "".join(f" -e {pair}" for pair in given)
    return {
        "Claude Code (in a shell)": f"claude mcp add --scope user {SERVER_NAME}{claude} -- {words}",
        "Codex (~/.codex/config.toml)": _codex(entry),
        "Gemini CLI (~/.gemini/settings.json) and most others (JSON)": _document(entry),
    }


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


def _document(entry: Entry) -> str:
    # One line for the entry is easier to paste into a file that has others.
    return (
        f'{{\n  "mcpServers": {{\n    {_quoted(SERVER_NAME)}: {_quoted(entry.as_json())}\n  }}\n}}'
    )


def _codex(entry: Entry) -> str:
    lines = [
        f"[mcp_servers.{SERVER_NAME}]",
        f"command = {_quoted(entry.command)}",
        f"args = {_quoted(list(entry.args))}",
        # Without this the first turn goes out before the tools are there.
        "required = true",
    ]
    if entry.env:
        pairs = ", ".join(f"{name} = {_quoted(value)}" for name, value in entry.env.items())
        lines.append(f"env = {{ {pairs} }}")
    return "\n".join(lines)


def _quoted(value: object) -> str:
    # A JSON string, and a list of them, is TOML too.
    return json.dumps(value, ensure_ascii=False)
