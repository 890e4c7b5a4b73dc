"""The clients we can be installed into: their files, their shapes, their own commands.

Facts of the released versions of each client (Claude Code 2.1, Codex 0.171, Gemini CLI 0.61,
OpenCode 1.18, Cursor, VS Code, Claude Desktop), where possible tried with the client itself.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_memory.clients.entry import SERVER_NAME, Entry
from agents_memory.clients.machine import Machine

Keys = tuple[str, ...]
USER, PROJECT, LOCAL = "user", "project", "local"


@dataclass(frozen=True, slots=True)
class Place:
    """A member of a configuration file: the file (JSON, or TOML by its suffix) and its keys."""

    file: Path
    keys: Keys

    def named(self, name: str) -> "Place":
        """The place beside it of an entry with another name."""
        return Place(self.file, (*self.keys[:-1], name))


@dataclass(frozen=True, slots=True)
class Hook:
    """How a client runs a command at the start of a session.

    `place` leads to its list of hook groups; `timeout` is in the client's own unit and `max_chars`
    what it puts into the context whole.
    """

    place: Callable[[Machine, str], Place]
    timeout: int
    max_chars: int
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """One client; `own` gives the command lines of its own that add the entry, `found` or not.

    `own_removal` gives the one that removes the entry of a name, in a scope.
    """

    name: str
    label: str
    places: Mapping[str, Callable[[Machine], Place]]
    shape: Callable[[Entry], dict[str, Any]]
    own: Callable[[Entry, str, bool], list[list[str]]] | None = None
    own_removal: Callable[[str, str], list[str]] | None = None
    hook: Hook | None = None
    remark: str = ""

    @property
    def scopes(self) -> tuple[str, ...]:
        """Where the entry can go; the first is the default."""
        return tuple(self.places)


def _stdio(entry: Entry) -> dict[str, Any]:
    return {"type": "stdio", **entry.as_json()}


def _plain(entry: Entry) -> dict[str, Any]:
    return entry.as_json()


def _codex_shape(entry: Entry) -> dict[str, Any]:
    # Without `required` the first turn goes out before the tools are there.
    return entry.as_json() | {"required": True}


def _opencode_shape(entry: Entry) -> dict[str, Any]:
    environment = {"environment": entry.env} if entry.env else {}
    return {"type": "local", "command": entry.words, "enabled": True, **environment}


def _claude_own(entry: Entry, scope: str, found: bool) -> list[list[str]]:
    # It refuses a name that is taken.
    removal = [["claude", "mcp", "remove", "--scope", scope, entry.name]] if found else []
    given = [word for name, value in entry.env.items() for word in ("-e", f"{name}={value}")]
    add = ["claude", "mcp", "add", "--scope", scope, entry.name, *given, "--", *entry.words]
    return [*removal, add]


def _codex_own(entry: Entry, scope: str, found: bool) -> list[list[str]]:
    if scope != USER:
        return []
    given = [word for name, value in entry.env.items() for word in ("--env", f"{name}={value}")]
    return [["codex", "mcp", "add", entry.name, *given, "--", *entry.words]]


def _gemini_own(entry: Entry, scope: str, found: bool) -> list[list[str]]:
    given = [word for name, value in entry.env.items() for word in ("-e", f"{name}={value}")]
    start = [entry.command, "--", *entry.args]
    return [["gemini", "mcp", "add", "-s", scope, entry.name, *given, *start]]


def _code_own(entry: Entry, scope: str, found: bool) -> list[list[str]]:
    if scope != USER:
        return []
    return [["code", "--add-mcp", json.dumps({"name": entry.name, **_stdio(entry)})]]


def _claude_folder(machine: Machine) -> Path:
    return machine.configured("CLAUDE_CONFIG_DIR", machine.home / ".claude")


def _claude_state(machine: Machine) -> Path:
    return machine.configured("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json"


def _claude_hooks(machine: Machine, scope: str) -> Place:
    file = {
        USER: _claude_folder(machine) / "settings.json",
        PROJECT: machine.cwd / ".claude" / "settings.json",
        LOCAL: machine.cwd / ".claude" / "settings.local.json",
    }[scope]
    return Place(file, ("hooks", "SessionStart"))


def _codex_folder(machine: Machine, scope: str) -> Path:
    if scope == PROJECT:
        return machine.cwd / ".codex"
    return machine.configured("CODEX_HOME", machine.home / ".codex")


def _gemini_file(machine: Machine, scope: str) -> Path:
    folder = machine.cwd if scope == PROJECT else machine.home
    return folder / ".gemini" / "settings.json"


def _opencode_file(folder: Path) -> Path:
    # It reads both; the one that is there is the one that its owner keeps.
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "Claude Code",
            {
                USER: lambda on: Place(_claude_state(on), ("mcpServers", SERVER_NAME)),
                PROJECT: lambda on: Place(on.cwd / ".mcp.json", ("mcpServers", SERVER_NAME)),
                LOCAL: lambda on: Place(
                    _claude_state(on), ("projects", str(on.cwd), "mcpServers", SERVER_NAME)
                ),
            },
            _stdio,
            _claude_own,
            lambda scope, name: ["claude", "mcp", "remove", "--scope", scope, name],
            Hook(_claude_hooks, timeout=15, max_chars=9_500),
        ),
        Client(
            "codex",
            "Codex",
            {
                USER: lambda on: Place(
                    _codex_folder(on, USER) / "config.toml", ("mcp_servers", SERVER_NAME)
                ),
                PROJECT: lambda on: Place(
                    _codex_folder(on, PROJECT) / "config.toml", ("mcp_servers", SERVER_NAME)
                ),
            },
            _codex_shape,
            _codex_own,
            lambda scope, name: ["codex", "mcp", "remove", name] if scope == USER else [],
            # It writes what is longer than 2,500 tokens to a file and shows the beginning.
            Hook(
                lambda on, scope: Place(
                    _codex_folder(on, scope) / "hooks.json", ("hooks", "SessionStart")
                ),
                timeout=15,
                max_chars=4_000,
                remark="Codex runs a new hook only once you trust it: start codex and type /hooks.",
            ),
        ),
        Client(
            "gemini-cli",
            "Gemini CLI",
            {
                USER: lambda on: Place(_gemini_file(on, USER), ("mcpServers", SERVER_NAME)),
                PROJECT: lambda on: Place(_gemini_file(on, PROJECT), ("mcpServers", SERVER_NAME)),
            },
            _plain,
            _gemini_own,
            lambda scope, name: ["gemini", "mcp", "remove", "-s", scope, name],
            Hook(
                lambda on, scope: Place(_gemini_file(on, scope), ("hooks", "SessionStart")),
                timeout=15_000,
                max_chars=9_500,
            ),
            remark="Gemini CLI starts no server in a folder that you have not trusted.",
        ),
        Client(
            "opencode",
            "OpenCode",
            {
                USER: lambda on: Place(
                    _opencode_file(
                        on.configured("XDG_CONFIG_HOME", on.home / ".config") / "opencode"
                    ),
                    ("mcp", SERVER_NAME),
                ),
                PROJECT: lambda on: Place(_opencode_file(on.cwd), ("mcp", SERVER_NAME)),
            },
            _opencode_shape,
        ),
        Client(
            "cursor",
            "Cursor",
            {
                USER: lambda on: Place(
                    on.home / ".cursor" / "mcp.json", ("mcpServers", SERVER_NAME)
                ),
                PROJECT: lambda on: Place(
                    on.cwd / ".cursor" / "mcp.json", ("mcpServers", SERVER_NAME)
                ),
            },
            _plain,
        ),
        Client(
            "vscode",
            "VS Code",
            {
                USER: lambda on: Place(
                    on.application("Code") / "User" / "mcp.json", ("servers", SERVER_NAME)
                ),
                PROJECT: lambda on: Place(
                    on.cwd / ".vscode" / "mcp.json", ("servers", SERVER_NAME)
                ),
            },
            _stdio,
            _code_own,
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            {
                USER: lambda on: Place(
                    on.application("Claude") / "claude_desktop_config.json",
                    ("mcpServers", SERVER_NAME),
                )
            },
            _plain,
            remark="Quit Claude Desktop and start it again: it reads the file at its start.",
        ),
    )
}
