"""F118: leaving a client gives its files back, byte for byte where nobody else wrote there."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents_memory.clients.entry import Entry
from agents_memory.clients.installing import NameTaken, plan_install
from agents_memory.clients.known import CLIENTS
from agents_memory.clients.leaving import plan_removal
from agents_memory.clients.machine import Machine
from agents_memory.clients.plan import Plan, carry_out

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
ENTRY = Entry("/venv/bin/python", ("-I", "-m", "hot"), {"MEMORY_CONFIG_PATH": "/etc/memory.env"})
FOREIGN = {
    "command": "npx",
    "args": ["-y", "@modelcontextprotocol/server-memory"],
    "env": {"MEMORY_FILE_PATH": "/x"},
}
EVERY_PLACE = [(name, scope) for name, client in CLIENTS.items() for scope in client.scopes]
JSON_FILES = [
    "",
    "{}",
    "{}\n",
    '{"mcpServers": {}}',
    '{"mcpServers":{"other":{"command":"x"}}}',
    '{ "theme": "dark", "mcpServers": { "other": { "command": "x" } } }\n',
    '\ufeff{\r\n\t"a": 1\r\n}\r\n',
    '{\n  // mine\n  "servers": {\n    "a": {"command": "b"}, // keep\n  },\n}\n',
    '{"hooks": {"SessionStart": []}}',
    '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo"}]}]}}',
]
TOML_FILES = [
    "",
    'model = "x" # mine\n',
    'model = "x"',
    '\ufeffmodel = "x"\r\n',
    '[mcp_servers.other] # theirs\ncommand = "y"\n\n[tui]\na = 1\n',
    "[mcp_servers]\n",
]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home, cwd = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    cwd.mkdir()
    return Machine(home, cwd, "linux", {})


def no_command(_: Sequence[str]) -> bool:
    return False


def install(
    name: str, machine: Machine, scope: str = "user", *, entry: Entry = ENTRY, brief: bool = True
) -> Plan:
    plan = plan_install(CLIENTS[name], scope, entry, machine, with_brief=brief)
    carry_out(plan, no_command, NOW)
    return plan


def leave(name: str, machine: Machine, scope: str = "user") -> Plan:
    plan = plan_removal(CLIENTS[name], scope, machine)
    carry_out(plan, no_command, NOW + timedelta(hours=1))
    return plan


def files_of(machine: Machine) -> dict[str, bytes]:
    folder = machine.home.parent
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def place_file(name: str, machine: Machine, text: str, scope: str = "user") -> Path:
    file = CLIENTS[name].places[scope](machine).file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


@pytest.mark.parametrize(("name", "scope"), EVERY_PLACE)
def test_what_was_there_before_is_there_again_byte_for_byte(
    name: str, scope: str, machine: Machine
) -> None:
    file = CLIENTS[name].places[scope](machine).file
    for text in TOML_FILES if file.suffix == ".toml" else JSON_FILES:
        place_file(name, machine, text, scope)
        before = files_of(machine)
        install(name, machine, scope)
        assert files_of(machine) != before
        leave(name, machine, scope)
        assert files_of(machine) == before


@pytest.mark.parametrize(("name", "scope"), EVERY_PLACE)
def test_files_that_we_made_are_gone(name: str, scope: str, machine: Machine) -> None:
    install(name, machine, scope)
    assert files_of(machine)
    plan = leave(name, machine, scope)
    assert files_of(machine) == {}
    assert all("(removed)" in edit.diff() for edit in plan.edits)


@pytest.mark.parametrize("name", ["gemini-cli", "cursor", "codex"])
def test_several_installations_leave_no_more_behind_than_one(name: str, machine: Machine) -> None:
    toml = CLIENTS[name].places["user"](machine).file.suffix == ".toml"
    place_file(name, machine, 'model = "x"' if toml else '{"theme": "dark"}')
    before = files_of(machine)
    install(name, machine, brief=False)
    install(name, machine, entry=Entry("/newer/python", ENTRY.args, ENTRY.env))
    leave(name, machine)
    assert files_of(machine) == before


def test_what_others_wrote_since_stays_and_empty_containers_of_ours_go(machine: Machine) -> None:
    file = place_file("gemini-cli", machine, '{\n  "theme": "dark"\n}\n')
    install("gemini-cli", machine)
    file.write_text(file.read_text().replace("dark", "light"))
    leave("gemini-cli", machine)
    assert file.read_text() == '{\n  "theme": "light"\n}\n'
    [copy] = file.parent.glob("*.bak")
    assert '"memory"' in copy.read_text()


@pytest.mark.parametrize(
    "text",
    [
        '{"theme": "dark"}\n',
        '{"theme":"dark","mcpServers":{"x":{"command":"y"}}}',
        '{"mcpServers": {"x": {"command": "y"}}, "theme": "dark"}\r\n',
        '{"hooks": {"SessionStart": [{"hooks": []}]}, "mcpServers": {}, "theme": "dark"}',
        '{ "theme": "dark", /* mine */ "hooks": { "Stop": [ ] } /* ours */ }',
    ],
)
def test_a_form_of_one_line_is_kept_when_others_wrote_elsewhere(
    text: str, machine: Machine
) -> None:
    file = place_file("gemini-cli", machine, text)
    install("gemini-cli", machine)
    changed = file.read_bytes().decode().replace("dark", "light").replace('"y"', '"z"')
    file.write_bytes(changed.encode())
    leave("gemini-cli", machine)
    expected = text.replace("dark", "light").replace('"y"', '"z"')
    assert file.read_bytes().decode() == expected
    assert len(list(file.parent.glob("*.bak"))) == 1


def test_an_empty_container_of_the_owner_stays(machine: Machine) -> None:
    file = place_file("cursor", machine, '{\n  "mcpServers": {},\n  "a": 1\n}\n')
    install("cursor", machine)
    file.write_text(file.read_text().replace('"a": 1', '"a": 2'))
    leave("cursor", machine)
    assert json.loads(file.read_text()) == {"mcpServers": {}, "a": 2}


def test_a_server_that_came_after_ours_stays(machine: Machine) -> None:
    file = place_file("cursor", machine, "{}")
    install("cursor", machine)
    found = json.loads(file.read_text())
    found["mcpServers"]["other"] = {"command": "x"}
    file.write_text(json.dumps(found))
    leave("cursor", machine)
    assert json.loads(file.read_text()) == {"mcpServers": {"other": {"command": "x"}}}


def test_a_link_gets_back_what_it_led_to(machine: Machine) -> None:
    kept = machine.home / "dotfiles.json"
    kept.write_text("{ }")
    link = machine.home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(kept)
    install("cursor", machine)
    leave("cursor", machine)
    assert link.is_symlink()
    assert files_of(machine) == {"home/dotfiles.json": b"{ }", "home/.cursor/mcp.json": b"{ }"}


def test_after_the_clients_own_command_what_another_put_in_stays(machine: Machine) -> None:
    """The client took our entry out and, at that moment, another one was put in."""
    file = machine.home / ".claude.json"
    install("claude-code", machine, brief=False)

    def claude(command: Sequence[str]) -> bool:
        assert command == ["claude", "mcp", "remove", "--scope", "user", "memory"]
        file.write_text('{"mcpServers": {"other": {"command": "x"}}}')
        return True

    carry_out(plan_removal(CLIENTS["claude-code"], "user", machine), claude, NOW)
    assert json.loads(file.read_text()) == {"mcpServers": {"other": {"command": "x"}}}


def test_after_the_clients_own_command_a_file_that_we_made_is_gone(machine: Machine) -> None:
    file = machine.home / ".claude.json"
    install("claude-code", machine, brief=False)

    def claude(_: Sequence[str]) -> bool:
        file.write_text('{"mcpServers": {}}')
        return True

    carry_out(plan_removal(CLIENTS["claude-code"], "user", machine), claude, NOW)
    assert not file.exists()


@pytest.mark.parametrize("name", list(CLIENTS))
def test_a_foreign_server_with_our_name_is_neither_replaced_nor_removed(
    name: str, machine: Machine
) -> None:
    """Neither the file nor the client's own command touches it; another name does no harm."""
    place = CLIENTS[name].places["user"](machine)
    if place.file.suffix == ".toml":
        text = '[mcp_servers.memory]\ncommand = "npx"\nenv = { MEMORY_FILE_PATH = "/x" }\n'
    else:
        text = json.dumps({place.keys[0]: {"memory": FOREIGN}})
    place_file(name, machine, text)
    before = files_of(machine)

    plan = leave(name, machine)
    assert (plan.nothing_to_do, plan.commands) == (True, [])
    assert "another server named 'memory'" in plan.remarks[0]
    with pytest.raises(NameTaken, match=rf"\(npx\).*install-client {name} .*--name agents-memory"):
        install(name, machine)
    assert files_of(machine) == before

    install(name, machine, entry=Entry(ENTRY.command, ENTRY.args, ENTRY.env, "agents-memory"))
    after = place.file.read_text()
    assert "npx" in after
    assert "agents-memory" in after
    leave(name, machine)
    assert files_of(machine) == before


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "python", "args": ["-m", "hot"]},
        {"command": "python", "args": ["-I", "-m", "hotel"]},
        {"command": "python", "args": ["-I", "-m", "hot", "--more"]},
        {"command": ["npx", "memory"], "type": "local"},
        {"url": "https://memory.example/mcp"},
        {"command": None, "args": 7},
        {},
        [],
        "memory",
        1,
    ],
)
def test_only_our_own_form_is_ours(entry: object, machine: Machine) -> None:
    file = place_file("cursor", machine, json.dumps({"mcpServers": {"memory": entry}}))
    before = file.read_bytes()
    assert leave("cursor", machine).nothing_to_do
    with pytest.raises(NameTaken):
        install("cursor", machine)
    assert file.read_bytes() == before


def test_a_secret_in_a_foreign_command_is_not_told(machine: Machine) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    foreign = {"command": f"/bin/x --token={token}", "args": []}
    place_file("cursor", machine, json.dumps({"mcpServers": {"memory": foreign}}))
    with pytest.raises(NameTaken) as raised:
        install("cursor", machine)
    assert token not in str(raised.value)
