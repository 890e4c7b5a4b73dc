"""F118: our entry in the clients' own files, put in and taken out without harm."""

import json
import os
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from agents_memory.clients import config_file
from agents_memory.clients.entry import Entry
from agents_memory.clients.installing import plan_install
from agents_memory.clients.known import CLIENTS
from agents_memory.clients.leaving import plan_removal
from agents_memory.clients.machine import Machine
from agents_memory.clients.ours import is_our_hook
from agents_memory.clients.plan import Plan, carry_out
from agents_memory.domain.errors import MemoryFault

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
ENTRY = Entry("/venv/bin/python", ("-I", "-m", "hot"), {"MEMORY_CONFIG_PATH": "/etc/memory.env"})
EVERY_PLACE = [(name, scope) for name, client in CLIENTS.items() for scope in client.scopes]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home, cwd = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    cwd.mkdir()
    return Machine(home, cwd, "linux", {})


def nothing_installed(_: Sequence[str]) -> bool:
    return False


def install(name: str, machine: Machine, scope: str = "user", *, with_brief: bool = False) -> Plan:
    plan = plan_install(CLIENTS[name], scope, ENTRY, machine, with_brief=with_brief)
    carry_out(plan, nothing_installed, NOW)
    return plan


def member(name: str, scope: str, machine: Machine) -> Any:
    place = CLIENTS[name].places[scope](machine)
    text = place.file.read_text()
    value = tomlkit.parse(text).unwrap() if place.file.suffix == ".toml" else json.loads(text)
    for key in place.keys:
        value = value.get(key, {})
    return value


@pytest.mark.parametrize(("name", "scope"), EVERY_PLACE)
def test_an_entry_starts_the_server_isolated_and_names_the_settings(
    name: str, scope: str, machine: Machine
) -> None:
    install(name, machine, scope)
    entry = member(name, scope, machine)
    words = entry["command"]
    words = words if isinstance(words, list) else [words, *entry["args"]]
    assert words == ["/venv/bin/python", "-I", "-m", "hot"]
    environment = entry.get("env") or entry.get("environment")
    assert environment == {"MEMORY_CONFIG_PATH": "/etc/memory.env"}


@pytest.mark.parametrize(("name", "scope"), EVERY_PLACE)
def test_doing_it_again_changes_nothing(name: str, scope: str, machine: Machine) -> None:
    install(name, machine, scope, with_brief=True)
    again = plan_install(CLIENTS[name], scope, ENTRY, machine, with_brief=True)
    assert again.nothing_to_do
    assert again.commands == []


@pytest.mark.parametrize(("name", "scope"), EVERY_PLACE)
def test_leaving_removes_the_entry_and_the_hook_and_nothing_else(
    name: str, scope: str, machine: Machine
) -> None:
    client = CLIENTS[name]
    place = client.places[scope](machine)
    place.file.parent.mkdir(parents=True, exist_ok=True)
    toml = place.file.suffix == ".toml"
    own = 'model = "x" # mine\n' if toml else '{\n  "model": "x"\n}\n'
    place.file.write_text(own)
    install(name, machine, scope, with_brief=True)
    carry_out(plan_removal(client, scope, machine), nothing_installed, NOW)
    assert member(name, scope, machine) == {}
    assert '"x"' in place.file.read_text()
    if client.hook is not None:
        hooks = client.hook.place(machine, scope).file
        assert not hooks.exists() or "agents_memory" not in hooks.read_text()
    assert plan_removal(client, scope, machine).nothing_to_do


def test_comments_stay_in_toml(machine: Machine) -> None:
    file = machine.home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text('# mine\nmodel = "x"\n\n[mcp_servers.other] # theirs\ncommand = "y"\n')
    install("codex", machine)
    text = file.read_text()
    assert text.startswith('# mine\nmodel = "x"\n\n[mcp_servers.other] # theirs\ncommand = "y"\n')
    assert member("codex", "user", machine)["required"] is True


def test_what_its_owner_added_to_our_entry_stays(machine: Machine) -> None:
    file = machine.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    start = {"command": "/old/python", "args": ["-I", "-m", "hot"]}
    old = {**start, "timeout": 9, "env": {"LOG_LEVEL": "debug"}}
    file.write_text(json.dumps({"mcpServers": {"memory": old}}))
    install("cursor", machine)
    entry = member("cursor", "user", machine)
    assert entry["command"] == "/venv/bin/python"
    assert entry["timeout"] == 9
    assert entry["env"] == {"LOG_LEVEL": "debug", "MEMORY_CONFIG_PATH": "/etc/memory.env"}


def test_the_old_file_is_kept_and_the_mode_stays(machine: Machine) -> None:
    file = machine.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(0o640)
    plan = plan_install(CLIENTS["cursor"], "user", ENTRY, machine, with_brief=False)
    copies = carry_out(plan, nothing_installed, NOW)
    assert [copy.read_text() for copy in copies] == ["{}"]
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(machine: Machine) -> None:
    kept = machine.home / "dotfiles.json"
    kept.write_text("{}")
    link = machine.home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(kept)
    install("cursor", machine)
    assert link.is_symlink()
    assert "memory" in kept.read_text()


def test_a_file_changed_meanwhile_is_left_alone(machine: Machine) -> None:
    file = machine.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{}")
    plan = plan_install(CLIENTS["cursor"], "user", ENTRY, machine, with_brief=False)
    file.write_text('{"theirs": 1}')
    with pytest.raises(MemoryFault, match="changed meanwhile; run this again"):
        carry_out(plan, nothing_installed, NOW)
    assert file.read_text() == '{"theirs": 1}'
    assert not list(file.parent.glob(".mcp.json.*"))


@pytest.mark.parametrize(
    "text", ["{", '{"mcpServers": []}', '{"mcpServers": {"memory": 1}', "\x00"]
)
def test_a_file_that_is_broken_is_left_alone(text: str, machine: Machine) -> None:
    file = machine.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(MemoryFault, match=r"mcp\.json"):
        plan_install(CLIENTS["cursor"], "user", ENTRY, machine, with_brief=False)
    assert file.read_text() == text


def test_a_file_that_is_no_text_is_left_alone(machine: Machine) -> None:
    file = machine.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(MemoryFault, match="not UTF-8"):
        config_file.load(file)


def test_the_clients_own_command_is_preferred_and_the_file_completed(machine: Machine) -> None:
    file = machine.home / ".codex" / "config.toml"
    ran: list[Sequence[str]] = []

    def codex(command: Sequence[str]) -> bool:
        ran.append(command)
        file.parent.mkdir()
        file.write_text(
            'made_by = "codex"\n\n[mcp_servers.memory]\ncommand = "/venv/bin/python"\n'
            'args = ["-I", "-m", "hot"]\n\n[mcp_servers.memory.env]\n'
            'MEMORY_CONFIG_PATH = "/etc/memory.env"\n'
        )
        return True

    plan = plan_install(CLIENTS["codex"], "user", ENTRY, machine, with_brief=False)
    carry_out(plan, codex, NOW)
    assert [command[:4] for command in ran] == [["codex", "mcp", "add", "memory"]]
    assert 'made_by = "codex"' in file.read_text()
    assert member("codex", "user", machine)["required"] is True


def test_a_taken_name_is_freed_before_claude_code_adds_it(machine: Machine) -> None:
    file = machine.home / ".claude.json"
    file.write_text('{"mcpServers": {"memory": {"command": "/old", "args": ["-I", "-m", "hot"]}}}')
    plan = plan_install(CLIENTS["claude-code"], "user", ENTRY, machine, with_brief=False)
    assert [command[2] for command in plan.commands] == ["remove", "add"]


def test_the_hook_is_one_more_beside_those_of_others(machine: Machine) -> None:
    file = machine.home / ".claude" / "settings.json"
    file.parent.mkdir()
    other = {"hooks": [{"type": "command", "command": "echo hi"}]}
    file.write_text(json.dumps({"hooks": {"SessionStart": [other]}}))
    install("claude-code", machine, with_brief=True)
    groups = json.loads(file.read_text())["hooks"]["SessionStart"]
    assert groups[0] == other
    assert len(groups) == 2
    command = groups[1]["hooks"][0]["command"]
    assert is_our_hook(command)
    assert shlex.split(command)[:5] == [
        "env",
        "MEMORY_CONFIG_PATH=/etc/memory.env",
        "/venv/bin/python",
        "-I",
        "-m",
    ]


def test_a_hook_of_an_older_installation_is_replaced(machine: Machine) -> None:
    install("gemini-cli", machine, with_brief=True)
    newer = Entry("/newer/python", ENTRY.args, ENTRY.env)
    plan = plan_install(CLIENTS["gemini-cli"], "user", newer, machine, with_brief=True)
    carry_out(plan, nothing_installed, NOW)
    file = machine.home / ".gemini" / "settings.json"
    groups = json.loads(file.read_text())["hooks"]["SessionStart"]
    assert len(groups) == 1
    assert "/newer/python" in groups[0]["hooks"][0]["command"]


def test_without_being_asked_there_is_no_hook(machine: Machine) -> None:
    install("claude-code", machine)
    assert not (machine.home / ".claude").exists()


def test_a_client_without_such_a_hook_says_so(machine: Machine) -> None:
    plan = plan_install(CLIENTS["opencode"], "user", ENTRY, machine, with_brief=True)
    assert "memory_startup" in " ".join(plan.remarks)


def test_a_diff_shows_no_secret_that_stands_nearby(machine: Machine) -> None:
    file = machine.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    file.write_text(f'{{\n  "token": "{token}"\n}}\n')
    plan = plan_install(CLIENTS["cursor"], "user", ENTRY, machine, with_brief=False)
    assert token not in plan.edits[0].diff()
    assert '"memory"' in plan.edits[0].diff()


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Claude/claude_desktop_config.json"),
        ("darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_a_desktop_program_keeps_its_file_where_the_system_does(
    platform: str, environ: dict[str, str], expected: str, machine: Machine
) -> None:
    there = Machine(machine.home, machine.cwd, platform, environ)
    place = CLIENTS["claude-desktop"].places["user"](there)
    assert str(place.file).endswith(expected)


@pytest.mark.parametrize("text", ["[[mcp_servers]]\nx = 1\n", 'mcp_servers = "no"\n'])
def test_servers_that_are_no_table_are_refused_with_what_to_do(text: str, machine: Machine) -> None:
    file = CLIENTS["codex"].places["user"](machine).file
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(MemoryFault, match="mcp_servers is no table; make it one"):
        install("codex", machine)
    plan = plan_removal(CLIENTS["codex"], "user", machine)
    assert plan.nothing_to_do
    assert file.read_text() == text


def test_a_byte_order_mark_stays_where_it_is(machine: Machine) -> None:
    file = CLIENTS["codex"].places["user"](machine).file
    file.parent.mkdir()
    file.write_bytes(b'\xef\xbb\xbfmodel = "x"\r\n')
    install("codex", machine)
    text = file.read_bytes().decode()
    assert text.startswith('\ufeffmodel = "x"\r\n')
    assert set(tomlkit.parse(text[1:]).unwrap()["mcp_servers"]) == {"memory"}


def test_what_is_no_ordinary_file_is_refused_and_not_waited_for(machine: Machine) -> None:
    file = CLIENTS["cursor"].places["user"](machine).file
    file.parent.mkdir()
    os.mkfifo(file)
    with pytest.raises(MemoryFault, match="is no ordinary file"):
        install("cursor", machine)
    with pytest.raises(MemoryFault, match="is no ordinary file"):
        plan_removal(CLIENTS["cursor"], "user", machine)
    file.unlink()
    file.symlink_to(os.devnull)
    with pytest.raises(MemoryFault, match="is no ordinary file"):
        install("cursor", machine)
