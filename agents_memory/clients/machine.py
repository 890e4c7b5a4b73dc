"""Where a client keeps its files on this machine."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agents_memory.settings.inherited import inherited_environment


@dataclass(frozen=True, slots=True)
class Machine:
    """The folders and names that decide where a client looks for its configuration."""

    home: Path
    cwd: Path
    platform: str
    environ: Mapping[str, str]

    @classmethod
    def this(cls) -> "Machine":
        """The machine, user and folder of this process."""
        return cls(Path.home(), Path.cwd(), sys.platform, inherited_environment())

    def configured(self, variable: str, usual: Path) -> Path:
        """The folder that `variable` of the environment names, else `usual`."""
        given = self.environ.get(variable, "").strip()
        return Path(os.path.expanduser(given)) if given else usual

    def application(self, name: str) -> Path:
        """The folder of the desktop program `name`."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support" / name
        if self.platform == "win32":
            return self.configured("APPDATA", self.home / "AppData" / "Roaming") / name
        return self.configured("XDG_CONFIG_HOME", self.home / ".config") / name
