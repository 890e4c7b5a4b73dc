"""Secrets in full-width letters, or with characters of no width inside."""

import re
from collections.abc import Callable

_NO_WIDTH = "\u00ad\u200b-\u200d\u2060\ufeff"
_WIDE = {0xFF01 + at: 0x21 + at for at in range(94)}
_PLAIN = _WIDE | dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_WIDE_LETTERS = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
_HINT = re.compile(f"[{_WIDE_LETTERS}{_NO_WIDTH}]")
_VEILED = re.compile(f"[{_WIDE_LETTERS}]|(?<=[!-~])[{_NO_WIDTH}]+(?=[!-~])")


def may_be_veiled(text: str) -> bool:
    """Whether there is anything that `unveil` might change."""
    return _HINT.search(text) is not None


def unveil(text: str, secrets_in: Callable[[str], int]) -> str:
    """The text, with each line in plain letters that has more secrets so, by `secrets_in`."""
    if not may_be_veiled(text):
        return text
    return "".join(_plain(line, secrets_in) for line in text.splitlines(keepends=True))


def _plain(line: str, secrets_in: Callable[[str], int]) -> str:
    if not _VEILED.search(line):
        return line
    plain = line.translate(_PLAIN)
    return plain if secrets_in(plain) > secrets_in(line) else line
