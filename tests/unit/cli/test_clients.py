"""What is printed for clients starts exactly the server that is meant (F118: the shapes)."""

import json
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from agents_memory.cli.clients import instructions, render, unsaved
from agents_memory.clients.entry import SERVER_NAME, entry_for
from agents_memory.settings import Settings

SERVER = ["-I", "-m", "hot"]


def with_config(tmp_path: Path) -> Settings:
    file = tmp_path / 'a "quoted" folder' / "memory.env"
    file.parent.mkdir()
    file.write_text("USER_NAME=mara\n")
    file.chmod(0o600)
    return Settings.load({"MEMORY_CONFIG_PATH": str(file)}, home=tmp_path)


def test_the_entry_is_absolute_and_names_the_file_of_settings_only(tmp_path: Path) -> None:
    settings = with_config(tmp_path)
    entry = entry_for(settings, sys.executable)
    assert Path(entry.command).is_absolute()
    assert list(entry.args) == SERVER
    assert entry.env == {"MEMORY_CONFIG_PATH": str(settings.config_path)}


def test_without_a_file_of_settings_nothing_is_put_into_the_environment(tmp_path: Path) -> None:
    assert entry_for(Settings.load({}, home=tmp_path), sys.executable).env == {}


def test_every_snippet_says_the_same_in_the_clients_own_syntax(tmp_path: Path) -> None:
    settings = with_config(tmp_path)
    snippets = {
        name.split()[0]: text
        for name, text in instructions(entry_for(settings, sys.executable)).items()
    }
    path = str(settings.config_path)

    words = shlex.split(snippets["Claude"])
    assert words[:6] == ["claude", "mcp", "add", "--scope", "user", SERVER_NAME]
    assert words[6:] == ["-e", f"MEMORY_CONFIG_PATH={path}", "--", sys.executable, *SERVER]

    codex = tomllib.loads(snippets["Codex"])["mcp_servers"][SERVER_NAME]
    assert (codex["command"], codex["args"]) == (sys.executable, SERVER)
    assert codex["env"] == {"MEMORY_CONFIG_PATH": path}
    assert codex["required"] is True

    document = json.loads(snippets["Gemini"])["mcpServers"][SERVER_NAME]
    assert document == {"command": sys.executable, "args": SERVER, "env": codex["env"]}


def test_settings_that_only_the_shell_has_are_named_without_their_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:s3cret-word@db.example/memory")
    monkeypatch.setenv("LOG_LEVEL", "debug")
    settings = Settings.load(home=tmp_path)
    assert unsaved(settings) == ["DATABASE_URL"]
    text = render(settings)
    assert "DATABASE_URL" in text
    assert "s3cret-word" not in text
