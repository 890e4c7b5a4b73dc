"""Logs: structlog to stderr, one line an event, never content and never a secret.

An event is one word of `Action` and fields. What may be a field is an allow-list: numbers, truth
values, times, ids and enum members under any name, short strings only under a name in
`STRING_FIELDS`. Everything else is left out, and the line names what was. An exception shows its
class; only our own faults, whose texts we write, show their message. Records of libraries come
through here too, with their text only where it is a literal in the library's own code.

    from agents_memory.observe import Action, get_logger

    log = get_logger()
    log.info(Action.MIGRATION_APPLIED, migration=name, ms=12)
    log.warning(Action.DATABASE_LOST, error=fault)
"""

import errno
import logging
import math
import re
import sys
import threading
import traceback
from collections.abc import Iterator, MutableMapping
from datetime import date, timedelta
from enum import Enum, StrEnum
from pathlib import PurePath
from types import FrameType, TracebackType
from typing import Any, Protocol, cast
from uuid import UUID

import structlog

from agents_memory.domain.errors import MemoryFault


class Action(StrEnum):
    """Everything worth a line in a log; a fixed list, so that it can be searched for."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    STOPPED = "stopped"
    CRASHED = "crashed"
    SETTING_NOTED = "setting_noted"
    LIBRARY = "library"
    UNLISTED = "unlisted"

    DATABASE_READY = "database_ready"
    DATABASE_LOST = "database_lost"
    DATABASE_BACK = "database_back"
    MIGRATION_APPLIED = "migration_applied"

    PATCH_REFUSED = "patch_refused"
    RECALL_UNLOGGED = "recall_unlogged"
    BRIEF_LATE = "brief_late"
    TOOL_ANSWERED = "tool_answered"
    TOOL_FAILED = "tool_failed"

    EMBEDDER_FAILED = "embedder_failed"

    MODEL_ASKED = "model_asked"
    MODEL_REPLACED = "model_replaced"
    STATEMENTS_REFUTED = "statements_refuted"

    LEADER_WAITING = "leader_waiting"
    LEADER_ELECTED = "leader_elected"
    LEADER_LOST = "leader_lost"
    PASS_DONE = "pass_done"
    PASS_FAILED = "pass_failed"
    ITEM_SETTLED = "item_settled"
    ITEM_RETRIED = "item_retried"
    ITEM_PARKED = "item_parked"

    CAPTURE_BEGUN = "capture_begun"
    CAPTURE_STORED = "capture_stored"
    CAPTURE_FAILED = "capture_failed"
    CAPTURE_POLLING = "capture_polling"
    CAPTURE_SKIPPED = "capture_skipped"

    SPOOL_BEGUN = "spool_begun"
    SPOOL_WAITS = "spool_waits"
    SPOOL_DRAINED = "spool_drained"
    SPOOL_DAMAGED = "spool_damaged"


# Names whose strings come from our code, our settings or a client's handshake, never from what
# was said or remembered.
STRING_FIELDS = frozenset(
    """
    backend client code command config database device embedder extension index kind library
    migration mode model note outcome path platform pool process reason role schema setting signal
    stage state table thread tool transport unit used version where work
    """.split()  # noqa: SIM905 (a list would be forty lines)
)
STRING_LIMIT = 200
LIST_LIMIT = 20

_NOISY = ("asyncio", "httpcore", "httpx", "httpx2", "mcp", "uvicorn")
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
# Greedy up to the last @, since a password may hold one. The bound keeps the search linear.
_CREDENTIALS = r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)\S*@"
_SECRET_PAIR = r"(?i)((?:password|passwd|token|secret|api_?key)=)[^&\s]+"


class Log(Protocol):
    """A logger of ours: an action, then fields; `error` takes the exception itself."""

    def debug(self, action: Action, /, **fields: object) -> None: ...
    def info(self, action: Action, /, **fields: object) -> None: ...
    def warning(self, action: Action, /, **fields: object) -> None: ...
    def error(self, action: Action, /, **fields: object) -> None: ...
    def critical(self, action: Action, /, **fields: object) -> None: ...
    def bind(self, **fields: object) -> "Log": ...


def get_logger() -> Log:
    """A logger; may be made at import, and follows `configure` whenever that is called."""
    return cast(Log, structlog.get_logger())


def configure(level: str = "info", fmt: str = "auto", *, color: bool = True) -> None:
    """Send every log line of this process, ours and the libraries', to stderr.

    `level`: debug, info, warning or error. `fmt`: `console` (words), `json` (one object
    a line) or `auto` (console on a terminal, else json). `color` is obeyed on a terminal only.
    Call it before a library sets up logging of its own: `logging.basicConfig` then does nothing.
    """
    terminal = sys.stderr is not None and sys.stderr.isatty()
    number = _LEVELS[level]
    _route(number, json=fmt == "json" or (fmt == "auto" and not terminal), color=color and terminal)
    # A handler that fails would otherwise print the record, arguments and all.
    logging.raiseExceptions = False
    logging.root.handlers[:] = [_LibraryHandler()]
    logging.root.setLevel(number)
    for name in _NOISY:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))
    sys.excepthook = _crash
    threading.excepthook = _thread_crash


def outline(error: BaseException) -> str:
    """An exception in one line without content: class, code if it carries one, and its causes."""
    parts = []
    for link in _chain(error):
        name = type(link).__name__
        state = getattr(link, "sqlstate", None)
        if isinstance(link, MemoryFault):
            name += f": {scrub(str(link), limit=1000)}"
        elif isinstance(link, BaseExceptionGroup):
            name += f"({', '.join(outline(inner) for inner in link.exceptions[:LIST_LIMIT])})"
        elif isinstance(link, ImportError) and link.name:
            name += f"({scrub(link.name)})"
        elif isinstance(link, OSError) and link.errno is not None:
            name += f"({errno.errorcode.get(link.errno, link.errno)})"
        elif isinstance(state, str) and re.fullmatch(r"[0-9A-Z]{5}", state):
            name += f"({state})"
        parts.append(name)
    return " from ".join(parts)


def frames(error: BaseException) -> str:
    """The traceback of an exception and its causes: places and source lines, no values."""
    return "\n".join(
        "".join([f"{type(link).__name__}\n", *traceback.format_tb(link.__traceback__)]).rstrip()
        for link in _chain(error)
    )


def scrub(text: str, *, limit: int = STRING_LIMIT) -> str:
    """`text` on one line, at most `limit` characters, without credentials in URLs and pairs."""
    # The longer cut first, so that megabytes cost nothing; credentials cut in half still count.
    text = text if len(text) <= 4 * limit else text[: 4 * limit] + "@"
    # Few lines hold what either begins with, and a start should not compile them for none.
    if "://" in text:
        text = re.sub(_CREDENTIALS, r"\1***@", text)
    if "=" in text:
        text = re.sub(_SECRET_PAIR, r"\1***", text)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen and len(seen) < LIST_LIMIT:
        yield link
        seen.add(id(link))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _keep_allowed(_logger: object, _method: str, entry: MutableMapping[str, Any]) -> dict[str, Any]:
    """The processor behind the allow-list; see the module's first lines."""
    action = entry.pop("event", None)
    try:
        word = Action(action)
    except ValueError:
        word = Action.UNLISTED
    kept = {key: entry.pop(key) for key in ("timestamp", "level")} | {"action": word.value}
    error = entry.pop("error", None) or _raised(entry.pop("exc_info", None))
    if error is not None and not isinstance(error, BaseException):
        entry["error"] = error
    left_out = []
    for key, value in entry.items():
        plain = _plain(value, strings=key in STRING_FIELDS)
        if plain is _LEFT_OUT:
            left_out.append(key)
        elif plain is not None:
            kept[key] = plain
    if left_out:
        kept["left_out"] = scrub(",".join(sorted(left_out)))
    if isinstance(error, BaseException):
        kept["error"] = outline(error)
        if logging.root.isEnabledFor(logging.DEBUG):
            kept["exception"] = frames(error)
    return kept


_LEFT_OUT = object()


def _plain(value: object, *, strings: bool) -> object:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Enum():
            return scrub(str(value.value))
        case date() | UUID():
            return value.isoformat() if isinstance(value, date) else str(value)
        case timedelta():
            return value.total_seconds()
        case str() | PurePath() if strings:
            return scrub(str(value))
        case tuple() if hasattr(value, "_fields"):
            # A value of ours, which may hold words.
            return _LEFT_OUT
        case list() | tuple() | set() | frozenset():
            items = [_plain(item, strings=strings) for item in list(value)[:LIST_LIMIT]]
            return _LEFT_OUT if _LEFT_OUT in items else items
        case _:
            return _LEFT_OUT


def _raised(exc_info: object) -> BaseException | None:
    match exc_info:
        case BaseException():
            return exc_info
        case (_, BaseException() as error, _):
            return error
        case True:
            return sys.exception()
        case _:
            return None


class _Stderr:
    """Where lines end: today's `sys.stderr`; a lost one never stops the work."""

    def msg(self, line: str) -> None:
        try:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            # Broken pipe, closed file, or no stderr at all.
            return

    debug = info = warning = error = critical = msg


class _LibraryHandler(logging.Handler):
    """Hands the records of libraries to our own processors."""

    def emit(self, record: logging.LogRecord) -> None:
        write = log.error
        for number, method in (
            (logging.ERROR, log.warning),
            (logging.WARNING, log.info),
            (logging.INFO, log.debug),
        ):
            if record.levelno < number:
                write = method
        write(
            Action.LIBRARY,
            library=record.name,
            where=f"{record.filename}:{record.lineno}",
            note=_literal(record),
            error=record.exc_info[1] if record.exc_info else None,
        )


def _literal(record: logging.LogRecord) -> str | None:
    """The record's text before its arguments, if it is a constant of the code that logged it.

    An f-string is not, and may hold anything.
    """
    frame: FrameType | None = sys._getframe()
    while frame and (frame.f_code.co_filename, frame.f_lineno) != (record.pathname, record.lineno):
        frame = frame.f_back
    constants = frame.f_code.co_consts if frame else ()
    return next((c for c in constants if isinstance(c, str) and c == record.msg), None)


def _crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        log.critical(Action.CRASHED, error=error)


def _thread_crash(args: threading.ExceptHookArgs) -> None:
    if not issubclass(args.exc_type, SystemExit):
        log.critical(
            Action.CRASHED, thread=args.thread.name if args.thread else None, error=args.exc_value
        )


def _route(number: int, *, json: bool, color: bool) -> None:
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if json
        else structlog.dev.ConsoleRenderer(
            colors=color, event_key="action", pad_event_to=0, sort_keys=False
        )
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _keep_allowed,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: _Stderr(),
        cache_logger_on_first_use=False,
    )


# structlog's own default is stdout, which belongs to MCP; until `configure`, stderr and warnings.
_route(logging.WARNING, json=False, color=False)
log = get_logger()
