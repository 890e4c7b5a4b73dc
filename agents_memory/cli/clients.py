"""What to put into a client's configuration so that it starts our server."""

import json
import shlex
from dataclasses import dataclass
from typing import Any

from agents_memory.cli.running import module_command
from agents_memory.settings import VARIABLES, Group, Settings
from agents_memory.settings.inherited import inherited_environment

# Short, because clients join it with each tool's name and cut what gets long.
SERVER_NAME = "memory"
CONFIG_PATH = "MEMORY_CONFIG_PATH"


@dataclass(frozen=True, slots=True)
class Entry:
    """How a client starts the server; `env` names the file of settings and holds no secret."""

    command: str
    args: tuple[str, ...]
    env: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """The object that most clients take under `mcpServers`."""
        start = {"command": self.command, "args": list(self.args)}
        return start | ({"env": self.env} if self.env else {})


def entry_for(settings: Settings) -> Entry:
    """An absolute command, since clients start it in any folder with any PATH."""
    command, *args = module_command("hot")
    env = {} if settings.config_path is None else {CONFIG_PATH: str(settings.config_path)}
    return Entry(command, tuple(args), env)


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
        f"── {client} ──\n{text}" for client, text in instructions(entry_for(settings)).items()
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
