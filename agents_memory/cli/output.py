"""What a command prints: results to stdout, progress to stderr, any text made harmless."""

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, timedelta
from enum import Enum

import click

from agents_memory.domain.errors import Refusal

EXIT_OK = 0
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_DATABASE = 3
EXIT_UNEXPECTED = 70
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141


def use_utf8() -> None:
    """Make stdout and stderr take any string, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def emit_json(value: object) -> None:
    """Print `value` as one JSON document: keys sorted, Unicode kept, always valid.

    Dataclasses, models, enums, times and ids become what JSON has; a number it lacks becomes null;
    a lone surrogate becomes its escape, so that reading the document gives it back.
    """
    document = json.dumps(_jsonable(value), ensure_ascii=False, sort_keys=True, indent=2)
    click.echo(document.encode("utf-8", "backslashreplace").decode("utf-8"))


def emit_text(text: str) -> None:
    """Print `text` and a newline, with control characters made visible.

    What was remembered may hold terminal commands; shown raw, they would be obeyed.
    """
    click.echo(visible(text))


def visible(text: str) -> str:
    """`text` with control characters and lone surrogates as escapes; newline and tab stay."""
    return "".join(
        c if c in "\n\t" or not _is_control(c) else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def refused(refusal: Refusal, *, as_json: bool) -> int:
    """Print why something was not done, as JSON to stdout or in words to stderr; the exit code."""
    if as_json:
        error = {
            "code": refusal.code,
            "message": refusal.message,
            "details": refusal.details,
        }
        emit_json({"ok": False, "error": error})
    else:
        click.echo(visible(f"error: {refusal.message}"), err=True)
    return EXIT_FAILURE


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on stderr how much of `total` is done; the block calls what it is given with steps.

    A bar on a terminal, else a line at the start, at each tenth and at the end.
    """
    if sys.stderr.isatty():
        with click.progressbar(length=total, label=label, file=sys.stderr) as bar:
            yield bar.update
        return
    done = 0

    def advance(steps: int) -> None:
        nonlocal done
        before, done = done, done + steps
        if total and done * 10 // total > before * 10 // total:
            click.echo(f"{label}: {done}/{total}", err=True)

    click.echo(f"{label}: 0/{total}", err=True)
    yield advance


def _is_control(char: str) -> bool:
    return char < " " or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff"


def _jsonable(value: object) -> object:
    match value:
        case Enum():
            return _jsonable(value.value)
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {str(_jsonable(key)): _jsonable(item) for key, item in value.items()}
        case set() | frozenset():
            return sorted((_jsonable(item) for item in value), key=str)
        case tuple() if hasattr(value, "_asdict"):
            return _jsonable(value._asdict())
        case list() | tuple():
            return [_jsonable(item) for item in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {f.name: _jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
        case _ if hasattr(value, "model_dump"):
            return _jsonable(value.model_dump())
        case _:
            return str(value)
