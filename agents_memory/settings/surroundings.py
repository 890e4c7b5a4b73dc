"""What the machine says where no setting does: home, folders, names, time zone."""

import getpass
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, tzinfo
from pathlib import Path
from typing import NamedTuple

from agents_memory.domain.errors import ConfigurationError
from agents_memory.settings.values import Wrong, zone

APPLICATION = "mcp-agents-memory"


class Surroundings(NamedTuple):
    """The environment and the home folder that settings are read in."""

    environ: Mapping[str, str]
    home: Path

    def expand(self, path: Path) -> Path:
        """`~/…` in this home; other paths as they are."""
        return self.home / path.relative_to("~") if path.parts[:1] == ("~",) else path

    def config_file(self) -> Path:
        """Where the file of settings lies when no setting says so."""
        return self._xdg("XDG_CONFIG_HOME", self.home / ".config") / APPLICATION / ".env"

    def data_dir(self) -> Path:
        """The folder of the embedded database, the spool and the locks."""
        macos = sys.platform == "darwin"
        usual = ("Library", "Application Support") if macos else (".local", "share")
        return self._xdg("XDG_DATA_HOME", self.home.joinpath(*usual)) / APPLICATION

    def claude_code_transcripts(self) -> Path:
        """Where Claude Code writes its transcripts; the first of the folders it is told to use."""
        for named in self.environ.get("CLAUDE_CONFIG_DIR", "").split(","):
            folder = self.expand(Path(named.strip()))
            if folder.is_absolute():
                return folder / "projects"
        usual = self.home / ".claude" / "projects"
        xdg = self._xdg("XDG_CONFIG_HOME", self.home / ".config") / "claude" / "projects"
        return xdg if xdg.is_dir() and not usual.is_dir() else usual

    def own_folder(self, variable: str, *below_home: str) -> Path:
        """The folder that a client's own variable names, else one below the home folder."""
        named = self.expand(Path(self.environ.get(variable, "").strip())) if variable else Path()
        return named if named.is_absolute() else self.home.joinpath(*below_home)

    def editor_storage(self, editor: str) -> Path:
        """Where an editor of VS Code's kind keeps the global state of its extensions."""
        macos = sys.platform == "darwin"
        config = (
            self.home / "Library" / "Application Support"
            if macos
            else self._xdg("XDG_CONFIG_HOME", self.home / ".config")
        )
        return config / editor / "User" / "globalStorage"

    def user_name(self) -> str:
        """The login name; `owner` where the account has none."""
        named = (self.environ.get(name) for name in ("LOGNAME", "USER", "USERNAME"))
        try:
            return next(filter(None, named), None) or getpass.getuser()
        except (KeyError, OSError, ImportError):
            # A container's account may have no entry in the user database.
            return "owner"

    def device_name(self) -> str:
        """The first label of the host name: the rest changes with the network."""
        return platform.node().partition(".")[0] or "device"

    def time_zone(self) -> tzinfo:
        """The system's zone by name (TZ, /etc/timezone, /etc/localtime), else UTC."""
        for name in (
            self.environ.get("TZ", "").removeprefix(":"),
            _first_line(Path("/etc/timezone")),
            _linked_zone(Path("/etc/localtime")),
        ):
            try:
                if name:
                    return zone(name)
            except Wrong:
                continue
        return UTC

    def _xdg(self, name: str, usual: Path) -> Path:
        # The XDG rules: a relative path counts as unset.
        given = Path(self.environ.get(name, ""))
        return given if given.is_absolute() else usual


def surroundings(environ: Mapping[str, str], home: Path | None) -> Surroundings:
    """Raises ConfigurationError where there is no home folder."""
    given = Path(environ.get("HOME", ""))
    try:
        return Surroundings(environ, home or (given if given.is_absolute() else Path.home()))
    except RuntimeError:
        raise ConfigurationError(
            "this account has no home folder; set HOME to a folder it may write to"
        ) from None


def _first_line(path: Path) -> str:
    try:
        return path.read_text("utf-8").partition("\n")[0].strip()
    except (OSError, ValueError):
        return ""


def _linked_zone(path: Path) -> str:
    try:
        return str(path.resolve()).partition("/zoneinfo/")[2]
    except (OSError, RuntimeError):
        return ""
