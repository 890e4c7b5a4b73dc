"""The command line as a user has it: a process of its own, a clean environment, a real pool."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import Pool

COMMAND = [sys.executable, "-I", "-m", "agents_memory"]
WITHIN_S = 100


@dataclass(frozen=True)
class CommandLine:
    """Runs commands in an empty home folder with exactly the settings given."""

    home: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "TZ": "Europe/Berlin",
            "NO_COLOR": "1",
            **self.settings,
        }

    def run(self, *arguments: str, stdin: bytes = b"") -> "Ended":
        """Run one command to its end."""
        ended = subprocess.run(
            [*COMMAND, *arguments],
            input=stdin,
            capture_output=True,
            env=self.environment,
            cwd=self.home,
            timeout=WITHIN_S,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command that stays; the caller ends it."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd=self.home,
        )


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.stdout)


def on_pool(pool: Pool, home: Path) -> CommandLine:
    """The command line of a user whose settings name a Postgres of their own."""
    return CommandLine(
        home,
        {
            "DATABASE_URL": pool.url("memory_hot"),
            "COLD_DATABASE_URL": pool.url("memory_cold"),
            "OWNER_DATABASE_URL": pool.url("memory_owner"),
            "EMBEDDING_MODEL": "hashing",
            "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
            "USER_NAME": "mara",
        },
    )
