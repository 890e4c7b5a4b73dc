"""What may be captured is what the owner switched on."""

from pathlib import Path

import pytest

from agents_memory.domain.errors import ConfigurationError
from agents_memory.services.capturer import state_path
from agents_memory.settings import Settings
from agents_memory.settings.capturing import CAPTURE_CLIENTS
from ingest.app import places_of
from ingest.transcripts import CLIENTS

HOME = Path("/nowhere/home")


def load(home: Path = HOME, **environ: str) -> Settings:
    return Settings.load(environ, home=home)


def test_nothing_is_captured_unless_it_is_switched_on() -> None:
    """F74."""
    assert load().capture_clients == ()
    assert load(CAPTURE_CLIENTS=" ").capture_clients == ()
    assert load(CAPTURE_CLIENTS=" Claude-Code,claude-code ").capture_clients == ("claude-code",)


def test_an_unknown_client_is_an_error_that_names_the_known() -> None:
    with pytest.raises(ConfigurationError, match="claude-code"):
        load(CAPTURE_CLIENTS="clippy")


def test_every_client_of_the_settings_can_be_captured() -> None:
    assert set(CAPTURE_CLIENTS) == set(CLIENTS)
    assert all(name == client.name for name, client in CLIENTS.items())
    places = [place for name in CLIENTS for place in places_of(load(), name)]
    assert all(root.is_absolute() for _, root in places)
    assert len(dict(places)) == len(places)


@pytest.mark.parametrize(
    ("client", "environ", "roots"),
    [
        ("codex", {}, [HOME / ".codex"]),
        ("codex", {"CODEX_HOME": "/srv/codex"}, [Path("/srv/codex")]),
        ("codex", {"CODEX_HOME": "/srv/codex", "CAPTURE_CODEX_DIR": "~/x"}, [HOME / "x"]),
        ("gemini-cli", {}, [HOME / ".gemini"]),
        ("opencode", {}, [HOME / ".local/share/opencode"]),
        ("opencode", {"XDG_DATA_HOME": "/data"}, [Path("/data/opencode")]),
        ("copilot-cli", {"COPILOT_HOME": "relative"}, [HOME / ".copilot"]),
        ("grok", {"GROK_HOME": "~/g"}, [HOME / "g"]),
        ("hermes", {}, [HOME / ".hermes"]),
        ("antigravity", {}, [HOME / ".gemini"]),
    ],
)
def test_a_client_is_looked_for_where_it_writes(
    client: str, environ: dict[str, str], roots: list[Path]
) -> None:
    """F74."""
    assert list(load(HOME, **environ).capture_folders(client)) == roots


def test_a_client_with_an_editor_and_a_command_line_has_two_folders() -> None:
    for client in ("cursor", "cline"):
        editor, line = load().capture_folders(client)
        assert "globalStorage" in editor.parts
        assert line == HOME / f".{client}"


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({}, HOME / ".claude/projects"),
        ({"CLAUDE_CONFIG_DIR": "/srv/claude"}, Path("/srv/claude/projects")),
        ({"CLAUDE_CONFIG_DIR": "~/work"}, HOME / "work/projects"),
        ({"CLAUDE_CONFIG_DIR": " /a , /b"}, Path("/a/projects")),
        ({"CLAUDE_CONFIG_DIR": "relative"}, HOME / ".claude/projects"),
        ({"CLAUDE_CONFIG_DIR": ""}, HOME / ".claude/projects"),
        (
            {"CLAUDE_CONFIG_DIR": "/srv/claude", "CAPTURE_CLAUDE_CODE_DIR": "~/copy"},
            HOME / "copy",
        ),
    ],
)
def test_the_folder_is_the_clients_own_unless_named(environ: dict[str, str], root: Path) -> None:
    assert load(HOME, **environ).capture_claude_code_dir == root


def test_the_folder_under_xdg_is_used_where_it_is_the_only_one(tmp_path: Path) -> None:
    xdg = tmp_path / ".config/claude/projects"
    xdg.mkdir(parents=True)
    assert load(tmp_path).capture_claude_code_dir == xdg
    (tmp_path / ".claude/projects").mkdir(parents=True)
    assert load(tmp_path).capture_claude_code_dir == tmp_path / ".claude/projects"


def test_each_pool_and_user_has_positions_of_its_own() -> None:
    urls = ["postgresql://a@db/one", "postgresql://a@db/two"]
    made = [
        load(DATABASE_URL=url, DB_SCHEMA=schema, USER_NAME=user)
        for url in urls
        for schema in ("agents_memory", "other")
        for user in ("mara", "ben")
    ]
    assert len({state_path(settings) for settings in made}) == len(made)
    assert state_path(made[0]) == state_path(
        load(DATABASE_URL=urls[0], USER_NAME="mara", DB_SCHEMA="agents_memory")
    )
