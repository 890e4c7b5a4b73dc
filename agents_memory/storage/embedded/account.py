"""The system account under which the server runs when we are root; Postgres refuses root."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

from agents_memory.domain.errors import ConfigurationError
from agents_memory.storage.embedded.processes import PLAIN_ENVIRONMENT

if sys.platform != "win32":
    import pwd

NAME = "agents-memory"
_COMMAND = f"useradd --system --no-create-home --shell /usr/sbin/nologin {NAME}"
_FIX = (
    f"Create it as root with `{_COMMAND}`, or run this program as an ordinary user, or set "
    "DATABASE_URL."
)


@dataclass(frozen=True, slots=True)
class Account:
    """An OS user by name, with its primary group."""

    name: str
    uid: int
    gid: int

    @property
    def is_us(self) -> bool:
        return self.uid == os.geteuid()


def current_account() -> Account:
    """The user this process runs as, by the name the server will know it by.

    Raises ConfigurationError when the user id has no name, which Postgres cannot serve.
    """
    try:
        entry = pwd.getpwuid(os.geteuid())
    except KeyError as error:
        raise ConfigurationError(
            f"The user id {os.geteuid()} has no name on this machine, and the embedded Postgres "
            "knows its clients by name. Add it to /etc/passwd, run as a user that has a name, or "
            "set DATABASE_URL."
        ) from error
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def find_server_account() -> Account | None:
    """The user the server runs as: ourselves, or under root an account of its own if it exists."""
    if os.geteuid() != 0:
        return current_account()
    try:
        entry = pwd.getpwnam(NAME)
    except KeyError:
        return None
    return Account(NAME, entry.pw_uid, entry.pw_gid)


def make_server_account() -> Account:
    """The user the server runs as, created when it is missing.

    Raises ConfigurationError when it cannot be created.
    """
    found = find_server_account()
    if found is None:
        reason = _create()
        # Somebody else may have been faster, which is as good.
        found = find_server_account()
        if found is None:
            raise ConfigurationError(
                f"Under root the embedded Postgres needs the account {NAME!r}, which could not be "
                f"created: {reason}. {_FIX}"
            )
    if found.uid == 0 and os.geteuid() == 0:
        raise ConfigurationError(f"The account {NAME!r} is root itself. {_FIX}")
    return found


def _create() -> str:
    program = shutil.which("useradd", path=PLAIN_ENVIRONMENT["PATH"])
    if program is None:
        return "this machine has no useradd"
    done = subprocess.run(
        [program, *_COMMAND.split()[1:]],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        env=PLAIN_ENVIRONMENT, check=False,
    )  # fmt: skip
    return done.stderr.strip()[-300:] or f"useradd ended with {done.returncode}"
