"""Running the server's programs as the account of the server."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agents_memory.domain.errors import ConfigurationError, DatabaseUnavailable
from agents_memory.storage.embedded.account import Account
from agents_memory.storage.embedded.binaries import Binaries
from agents_memory.storage.embedded.processes import PLAIN_ENVIRONMENT


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of one installation, run as `server`.

    Each inherits the descriptor of the server's lock, so that the lock is held as long as any
    process of the cluster lives, forked backends included.
    """

    binaries: Binaries
    server: Account

    def run(self, lock: int, name: str, *arguments: str | Path, words: str = "") -> None:
        """Run `name` to its end with `words` as its input.

        Raises DatabaseUnavailable with the end of what it said.
        """
        with self.start(lock, name, *arguments) as process:
            said = process.communicate(words.encode())[0].decode("utf-8", "replace").strip()
        if process.returncode != 0:
            raise DatabaseUnavailable(
                f"{name} of the embedded Postgres ended with {process.returncode}: {said[-1500:]}\n"
                "Remove the cause (a full disk, missing permissions) and start again."
            )

    def start(
        self,
        lock: int,
        name: str,
        *arguments: str | Path,
        log: IO[bytes] | None = None,
        before: Callable[[], None] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start `name` in a session of its own; it talks to `log`, or to pipes without one.

        Raises ConfigurationError when it cannot be run at all.
        """
        other = not self.server.is_us
        try:
            return subprocess.Popen(
                [self.binaries.bin / name, *arguments],
                stdin=subprocess.PIPE if log is None else subprocess.DEVNULL,
                stdout=subprocess.PIPE if log is None else log,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=PLAIN_ENVIRONMENT,
                pass_fds=(lock,),
                start_new_session=True,
                preexec_fn=before,
                user=self.server.uid if other else None,
                group=self.server.gid if other else None,
                extra_groups=[] if other else None,
                umask=0o077,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise ConfigurationError(
                f"Cannot run {name} of the embedded Postgres as {self.server.name!r}: {error}. "
                "Install the package again, run as an ordinary user, or set DATABASE_URL."
            ) from error
