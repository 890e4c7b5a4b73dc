"""Secrets in the columns of tables: Markdown, CSV, tab-separated, aligned by blanks."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.assignments import HINTS
from agents_memory.domain.redaction.marks import lower, put_marks
from agents_memory.domain.redaction.names import MORE_PASSWORDS, PASSWORDS
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.values import is_given, is_strong_key, is_strong_password

_PASSWORD = f"{PASSWORDS}|{MORE_PASSWORDS}|pass|pwd|pw|clave|hasło|пароль"
_KEY = "secret|token|api[ _-]?key|secret[ _-]?key|access[ _-]?key|key|密钥|令牌"
_NAME = re.compile(
    rf"[\s\"'`*]*(?:\w{{1,16}}[ _-])?(?:({_PASSWORD})|{_KEY})(?:[ _-]?\(?\w{{1,12}}\)?)?[\s\"'`*]*"
)
_CELL = re.compile(r"[\s\"'`*]*([^\s\"'`*]+(?:[^\"'`]*[^\s\"'`*])?)[\s\"'`*]*")
_TITLE = re.compile(r"[\s\"'`*]*[^\W\d][\w .()/-]{0,32}[\s\"'`*]*")
_RULE = re.compile(r"[\s|:+=-]*-[\s|:+=-]*")
_SEPARATORS = ("|", "\t", ";", ",")
_MOST_CELLS = 40


def _replace_tables(text: str, found: dict[str, int]) -> str:
    """Replaces what stands below a name that means a secret, if it looks like one."""
    return put_marks(text, _spans(text), found) if "\n" in text else text


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    lines, starts = lower(text).split("\n"), [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    done, separators = 0, tuple(filter(text.__contains__, _SEPARATORS))
    for at, header in enumerate(lines[:-1]):
        for separator in separators if at >= done else ():
            width = header.count(separator)
            if not 0 < width <= _MOST_CELLS or (at and lines[at - 1].count(separator) == width):
                continue  # None, or a row.
            rule = _RULE.fullmatch(lines[at + 1]) is not None
            if not rule and lines[at + 1].count(separator) != width:
                continue
            cells = header.split(separator)
            names = map(_NAME.fullmatch, cells)
            columns = {column: match for column, match in enumerate(names) if match}
            if not columns or not all(map(_TITLE.fullmatch, _inner(cells, separator))):
                continue
            done = at + 1 + rule
            while done < len(lines) and lines[done].count(separator) == width:
                line = text[starts[done] : starts[done + 1] - 1]
                yield from _secrets(line, starts[done], separator, columns)
                done += 1
            break


def _inner(cells: list[str], separator: str) -> list[str]:
    """Without the empty ones that pipes around a row make."""
    if separator != "|":
        return cells
    return cells[not cells[0].strip() : len(cells) - (not cells[-1].strip())]


def _secrets(
    line: str, at: int, separator: str, columns: dict[int, re.Match[str]]
) -> Iterator[tuple[int, int, str]]:
    """The secrets in a row that begins at `at`."""
    for column, cell in enumerate(line.split(separator)):
        value = _CELL.fullmatch(cell) if column in columns else None
        if value and _is_secret(value[1], columns[column][1] is not None):
            kind = "password" if columns[column][1] else "secret"
            yield at + value.start(1), at + value.end(1), kind
        at += len(cell) + len(separator)


def _is_secret(value: str, password: bool) -> bool:
    if password:
        return is_given(value) and is_strong_password(value, beside=False)
    return is_strong_key(value)


RULE = Rule(_replace_tables, HINTS)
