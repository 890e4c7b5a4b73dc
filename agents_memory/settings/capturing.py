"""Whose transcripts are read, and where they lie."""

# ruff: noqa: RUF009 (setting() is dataclasses.field)

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_memory.settings.surroundings import Surroundings
from agents_memory.settings.tags import TagSettings
from agents_memory.settings.values import PATH, words_of
from agents_memory.settings.variables import Group, setting

CAPTURE_CLIENTS = (
    "claude-code",
    "codex",
    "gemini-cli",
    "opencode",
    "copilot-cli",
    "cursor",
    "cline",
    "grok",
    "hermes",
    "antigravity",
)


def _folder(name: str, about: str, *below_home: str, variable: str = "", below: str = "") -> Any:
    """A folder: what `variable` of the client's own names, else one below the home folder."""

    def find(here: Surroundings) -> Path:
        return here.own_folder(variable, *below_home) / below

    usual = "~/" + "/".join((*below_home, *([below] if below else [])))
    unset = f"what {variable} names, else {usual}" if variable else usual
    if variable and below:
        unset = f"{below} in {variable}, else {usual}"
    return setting(name, Group.CAPTURE, about, PATH, computed=find, unset=unset)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class CaptureSettings(TagSettings):
    """The part of Settings about transcripts of other clients."""

    capture_clients: tuple[str, ...] = setting(
        "CAPTURE_CLIENTS",
        Group.CAPTURE,
        "Whose transcripts are read",
        words_of(*CAPTURE_CLIENTS),
        computed=lambda _: (),
        unset="none",
    )
    capture_claude_code_dir: Path = setting(
        "CAPTURE_CLAUDE_CODE_DIR",
        Group.CAPTURE,
        "The folder of Claude Code's transcripts",
        PATH,
        computed=Surroundings.claude_code_transcripts,
        unset="projects in CLAUDE_CONFIG_DIR, else ~/.claude/projects",
    )
    capture_codex_dir: Path = _folder(
        "CAPTURE_CODEX_DIR", "The folder of Codex", ".codex", variable="CODEX_HOME"
    )
    capture_gemini_cli_dir: Path = _folder(
        "CAPTURE_GEMINI_CLI_DIR", "The folder of Gemini CLI", ".gemini"
    )
    capture_opencode_dir: Path = _folder(
        "CAPTURE_OPENCODE_DIR",
        "The folder of OpenCode's data",
        ".local",
        "share",
        variable="XDG_DATA_HOME",
        below="opencode",
    )
    capture_copilot_cli_dir: Path = _folder(
        "CAPTURE_COPILOT_CLI_DIR",
        "The folder of GitHub Copilot CLI",
        ".copilot",
        variable="COPILOT_HOME",
    )
    capture_cursor_dir: Path = setting(
        "CAPTURE_CURSOR_DIR",
        Group.CAPTURE,
        "The folder of state.vscdb of Cursor the editor",
        PATH,
        computed=lambda here: here.editor_storage("Cursor"),
        unset="User/globalStorage in the editor's own folder",
    )
    capture_cursor_cli_dir: Path = _folder(
        "CAPTURE_CURSOR_CLI_DIR", "The folder of Cursor's command line", ".cursor"
    )
    capture_cline_dir: Path = setting(
        "CAPTURE_CLINE_DIR",
        Group.CAPTURE,
        "The folder of Cline in VS Code",
        PATH,
        computed=lambda here: here.editor_storage("Code") / "saoudrizwan.claude-dev",
        unset="saoudrizwan.claude-dev in User/globalStorage of VS Code",
    )
    capture_cline_cli_dir: Path = _folder(
        "CAPTURE_CLINE_CLI_DIR",
        "The folder of Cline's command line",
        ".cline",
        variable="CLINE_DIR",
    )
    capture_grok_dir: Path = _folder(
        "CAPTURE_GROK_DIR", "The folder of Grok", ".grok", variable="GROK_HOME"
    )
    capture_hermes_dir: Path = _folder(
        "CAPTURE_HERMES_DIR", "The folder of Hermes", ".hermes", variable="HERMES_HOME"
    )
    capture_antigravity_dir: Path = _folder(
        "CAPTURE_ANTIGRAVITY_DIR", "The folder that holds Antigravity's", ".gemini"
    )

    def capture_folders(self, client: str) -> tuple[Path, ...]:
        """Where a client's transcripts lie, the folder whose words are fuller first."""
        return {
            "claude-code": (self.capture_claude_code_dir,),
            "codex": (self.capture_codex_dir,),
            "gemini-cli": (self.capture_gemini_cli_dir,),
            "opencode": (self.capture_opencode_dir,),
            "copilot-cli": (self.capture_copilot_cli_dir,),
            "cursor": (self.capture_cursor_dir, self.capture_cursor_cli_dir),
            "cline": (self.capture_cline_dir, self.capture_cline_cli_dir),
            "grok": (self.capture_grok_dir,),
            "hermes": (self.capture_hermes_dir,),
            "antigravity": (self.capture_antigravity_dir,),
        }[client]
