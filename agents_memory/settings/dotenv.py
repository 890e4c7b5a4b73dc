"""The file of settings: who may read it, and its syntax."""

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from agents_memory.domain.errors import ConfigurationError

LARGEST_FILE = 1 << 20


class Line(NamedTuple):
    """One assignment: its name, value and line number (from 1)."""

    name: str
    value: str
    number: int

    def __repr__(self) -> str:
        return f"Line({self.name}, line {self.number})"


def read_private(path: Path) -> str:
    """The text of a file that only its owner, who is this account or root, may read.

    Raises ConfigurationError, with the command that mends it.
    """
    try:
        # Without O_NONBLOCK a pipe of that name would hold up the start for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            _refuse_shared(path, os.fstat(descriptor))
            raw = os.read(descriptor, LARGEST_FILE + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigurationError(
            f"cannot read the settings in {path} ({error.strerror}); mend or remove the file"
        ) from None
    if len(raw) > LARGEST_FILE:
        raise ConfigurationError(f"{path} is larger than 1 MiB: it is not a file of settings")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not UTF-8; save it as UTF-8 text") from None


def parse(text: str, path: Path) -> list[Line]:
    """The assignments of `text`: KEY=VALUE, `export`, quotes, comments; nothing is interpolated.

    A name may be set once. Raises ConfigurationError naming the line, never its content.
    """
    lines: dict[str, Line] = {}
    for number, written in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        stripped = written.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = re.fullmatch(
            r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)", stripped, re.DOTALL
        )
        value = _value(match[2]) if match else None
        if match is None or value is None:
            raise ConfigurationError(
                f"line {number} of {path} is not KEY=VALUE with at most one quoted value"
            )
        name = match[1]
        if name in lines:
            raise ConfigurationError(
                f"{path} sets {name} twice (lines {lines[name].number} and {number}); remove one"
            )
        lines[name] = Line(name, value, number)
    return list(lines.values())


def _value(raw: str) -> str | None:
    """The value behind `=`, or None when its quotes do not close."""
    if raw[:1] not in ("'", '"'):
        # A # begins a comment only after a space: passwords may hold one.
        return re.split(r"(?:^|\s)#", raw, maxsplit=1)[0].rstrip()
    pattern = r"'([^']*)'" if raw[0] == "'" else r'"((?:[^"\\]|\\.)*)"'
    match = re.fullmatch(pattern + r"\s*(?:#.*)?", raw, re.DOTALL)
    if match is None:
        return None
    if raw[0] == "'":
        return match[1]
    return re.sub(r'\\([\\"$n])', lambda escape: "\n" if escape[1] == "n" else escape[1], match[1])


def _refuse_shared(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ConfigurationError(f"{path} is not a file; MEMORY_CONFIG_PATH names a text file")
    if os.name != "posix":
        return
    if status.st_uid not in (0, os.geteuid()):
        raise ConfigurationError(
            f"{path} belongs to another user, who could change where memories go; "
            f"run: chown $(id -un) '{path}' && chmod 600 '{path}'"
        )
    if status.st_mode & 0o077:
        raise ConfigurationError(
            f"{path} holds secrets and others can read it; run: chmod 600 '{path}'"
        )
