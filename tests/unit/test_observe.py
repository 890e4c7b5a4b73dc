"""Logs: to stderr, one line an event, without content and without secrets."""

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import structlog

from agents_memory import observe
from agents_memory.domain.brief import Section
from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault
from agents_memory.observe import Action, get_logger, outline, scrub

CONTENT = "the user said that her cat is called Mimi"
log = get_logger()


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    root, levels = logging.root, {n: logging.getLogger(n).level for n in ("mcp", "httpx")}
    monkeypatch.setattr(logging, "raiseExceptions", logging.raiseExceptions)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    handlers, level, config = list(root.handlers), root.level, structlog.get_config()
    yield
    structlog.configure(**config)
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, number in levels.items():
        logging.getLogger(name).setLevel(number)


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Callable[[], list[dict[str, Any]]]:
    """What has been logged as JSON since the last call; stdout must stay empty."""
    observe.configure("info", "json")

    def taken() -> list[dict[str, Any]]:
        captured = capsys.readouterr()
        assert captured.out == ""
        return [json.loads(line) for line in captured.err.splitlines()]

    return taken


def test_an_event_is_one_json_line_with_time_level_and_action(lines: Any) -> None:
    log.info(Action.MIGRATION_APPLIED, migration="0001_pool", ms=12)
    (line,) = lines()
    assert datetime.fromisoformat(line.pop("timestamp")).tzinfo is not None
    assert line == {
        "level": "info",
        "action": "migration_applied",
        "migration": "0001_pool",
        "ms": 12,
    }


def test_content_is_left_out_whatever_its_field_is_called(lines: Any) -> None:
    named = ("text", "message_text", "content", "query", "password", "url", "title", "anything")
    log.info(Action.PASS_DONE, id=7, **dict.fromkeys(named, CONTENT))
    (line,) = lines()
    assert CONTENT not in json.dumps(line)
    assert line["id"] == 7
    assert line["left_out"] == ",".join(sorted(named))


@pytest.mark.parametrize(
    "value", [[CONTENT], {CONTENT: 1}, (1, CONTENT), CONTENT.encode(), object(), [[CONTENT]]]
)
def test_content_inside_other_values_is_left_out(lines: Any, value: object) -> None:
    log.info(Action.PASS_DONE, ids=value)
    (line,) = lines()
    assert line["left_out"] == "ids"
    assert "Mimi" not in json.dumps(line)


def test_a_value_of_ours_is_left_out_whole(lines: Any) -> None:
    """A named tuple may hold words, in whatever field."""
    log.info(Action.READY, note=Section(CONTENT, (CONTENT,)), version=Section("Pinned", ()))
    (line,) = lines()
    assert line["left_out"] == "note,version"


def test_content_in_place_of_the_action_is_left_out(lines: Any) -> None:
    log.info(CONTENT, id=7)  # type: ignore[arg-type]
    (line,) = lines()
    assert (line["action"], line["id"]) == ("unlisted", 7)
    assert CONTENT not in json.dumps(line)


def test_numbers_times_and_ids_pass_under_any_name(lines: Any) -> None:
    log.info(
        Action.PASS_DONE,
        ids=[1, 2],
        share=0.5,
        odd=float("nan"),
        at=datetime(2026, 1, 2, tzinfo=UTC),
        took=timedelta(seconds=1.5),
        intake=UUID(int=7),
        kind=Action.READY,
        nothing=None,
        done=True,
    )
    (line,) = lines()
    del line["timestamp"], line["level"]
    assert line == {
        "action": "pass_done",
        "ids": [1, 2],
        "share": 0.5,
        "odd": "nan",
        "at": "2026-01-02T00:00:00+00:00",
        "took": 1.5,
        "intake": "00000000-0000-0000-0000-000000000007",
        "kind": "ready",
        "done": True,
    }


@pytest.mark.parametrize(
    "written",
    [
        "postgresql://ada:hunter2@db/memory",
        "postgresql://ada:hun@ter2@db/memory",
        "host=db password=hunter2 user=ada",
        "https://api.example/?api_key=hunter2&x=1",
    ],
)
def test_credentials_are_masked_in_the_strings_that_pass(lines: Any, written: str) -> None:
    log.info(Action.DATABASE_READY, database=written)
    (line,) = lines()
    assert "ter2" not in line["database"]
    assert "***" in line["database"]


def test_a_string_stays_on_its_line_and_short() -> None:
    assert scrub("a\nb\x1b[31m\ud800\x00") == "a\\nb\\x1b[31m\\ud800\\x00"
    assert len(scrub("x" * 10_000_000)) == observe.STRING_LIMIT
    assert "hunter2" not in scrub("postgresql://ada:" + "hunter2" * 1000 + "@db/memory")
    assert scrub("naïve 名前 🙂") == "naïve 名前 🙂"


def test_a_foreign_exception_shows_its_class_and_not_its_message(lines: Any) -> None:
    try:
        raise KeyError(CONTENT)
    except KeyError as error:
        log.error(Action.PASS_FAILED, error=error)
    (line,) = lines()
    assert line["error"] == "KeyError"
    assert CONTENT not in json.dumps(line)


def test_an_error_must_be_the_exception_itself(lines: Any) -> None:
    log.error(Action.PASS_FAILED, error=CONTENT)
    (line,) = lines()
    assert line["left_out"] == "error"
    assert CONTENT not in json.dumps(line)


class Refused(Exception):
    sqlstate = "23505"


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ValueError(CONTENT), "ValueError"),
        (ConnectionRefusedError(111, CONTENT), "ConnectionRefusedError(ECONNREFUSED)"),
        (OSError(CONTENT), "OSError"),
        (ModuleNotFoundError(CONTENT, name="llama_cpp"), "ModuleNotFoundError(llama_cpp)"),
        (Refused(CONTENT), "Refused(23505)"),
        (DatabaseUnavailable("start the server"), "DatabaseUnavailable: start the server"),
        (MemoryFault("see postgres://a:b@c/d"), "MemoryFault: see postgres://***@c/d"),
        (
            ExceptionGroup(CONTENT, [ValueError(CONTENT), Refused()]),
            "ExceptionGroup(ValueError, Refused(23505))",
        ),
    ],
)
def test_an_exception_in_one_line(error: BaseException, shown: str) -> None:
    assert outline(error) == shown


def test_the_causes_of_an_exception_are_named_and_a_circle_of_them_ends() -> None:
    fault, cause = DatabaseUnavailable("retry"), ValueError(CONTENT)
    fault.__cause__, cause.__context__ = cause, fault
    assert outline(fault) == "DatabaseUnavailable: retry from ValueError"


def raise_about(content: str) -> None:
    raise ValueError(content)


@pytest.mark.parametrize(("level", "shown"), [("info", False), ("debug", True)])
def test_tracebacks_appear_at_debug_only_and_without_values(
    lines: Any, level: str, shown: bool
) -> None:
    observe.configure(level, "json")
    try:
        raise_about(CONTENT)
    except ValueError as error:
        log.warning(Action.PASS_FAILED, error=error)
    (line,) = lines()
    assert ("exception" in line) is shown
    assert CONTENT not in json.dumps(line)
    assert not shown or "raise_about(CONTENT)" in line["exception"]


def test_a_library_is_quoted_only_where_its_text_is_a_literal(lines: Any) -> None:
    library = logging.getLogger("some.library")
    library.warning("slow call of %s", CONTENT)
    library.error(f"cannot parse {CONTENT}")
    first, second = lines()
    assert (first["action"], first["library"], first["level"]) == (
        "library",
        "some.library",
        "warning",
    )
    assert first["note"] == "slow call of %s"
    assert first["where"].startswith("test_observe.py:")
    assert "note" not in second
    assert "Mimi" not in json.dumps([first, second])


def test_a_librarys_exception_shows_its_class_only(lines: Any) -> None:
    try:
        raise ValueError(CONTENT)
    except ValueError:
        logging.getLogger("some.library").exception("failed")
    (line,) = lines()
    assert (line["error"], line["level"]) == ("ValueError", "error")
    assert CONTENT not in json.dumps(line)


@pytest.mark.parametrize("name", ["mcp.server", "httpx", "httpx2", "httpcore", "asyncio"])
def test_noisy_libraries_speak_from_warning_on(lines: Any, name: str) -> None:
    observe.configure("debug", "json")
    logging.getLogger(name).info("chatter")
    logging.getLogger(name).warning("trouble")
    assert [line["note"] for line in lines()] == ["trouble"]


def test_a_library_that_sets_up_logging_changes_nothing(
    lines: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.basicConfig(level="DEBUG", stream=sys.stdout, format=CONTENT)
    logging.getLogger("some.library").debug("chatter")
    logging.getLogger("some.library").warning("trouble")
    assert [line["note"] for line in lines()] == ["trouble"]


def test_levels_below_the_configured_one_are_silent(lines: Any) -> None:
    observe.configure("warning", "json")
    log.info(Action.READY)
    log.warning(Action.STOPPING)
    assert [line["action"] for line in lines()] == ["stopping"]


def test_a_thread_that_crashes_is_logged_without_its_message(lines: Any) -> None:
    thread = threading.Thread(target=raise_about, args=(CONTENT,), name="worker")
    thread.start()
    thread.join()
    (line,) = lines()
    assert (line["action"], line["thread"], line["error"]) == ("crashed", "worker", "ValueError")
    assert CONTENT not in json.dumps(line)


def test_a_crash_of_the_process_is_logged_without_its_message(lines: Any) -> None:
    error = ValueError(CONTENT)
    sys.excepthook(ValueError, error, None)
    (line,) = lines()
    assert (line["action"], line["level"]) == ("crashed", "critical")
    assert CONTENT not in json.dumps(line)


class Terminal:
    """A stderr that is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    ("fmt", "color", "colored", "as_json"),
    [
        ("auto", True, True, False),
        ("auto", False, False, False),
        ("console", True, True, False),
        ("json", True, False, True),
    ],
)
def test_a_terminal_gets_words_and_colours_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, fmt: str, color: bool, colored: bool, as_json: bool
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    observe.configure("info", fmt, color=color)
    log.info(Action.READY, path="/x y")
    assert ("\x1b[" in terminal.text) is colored
    assert terminal.text.startswith("{") is as_json
    assert terminal.text.count("\n") == 1


def test_no_terminal_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    observe.configure("info", "console")
    log.bind(pool="a").info(Action.READY, path="/x y")
    line = capsys.readouterr().err
    assert line.endswith("[info     ] ready pool=a path='/x y'\n")
    assert "\x1b" not in line


class Broken(Terminal):
    def write(self, text: str) -> None:
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [None, Broken()])
def test_a_lost_stderr_never_stops_the_work(
    monkeypatch: pytest.MonkeyPatch, stream: object
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    observe.configure("info", "json")
    log.info(Action.READY)
    logging.getLogger("some.library").warning("trouble")


def test_before_it_is_configured_warnings_go_to_stderr_and_nothing_to_stdout(
    tmp_path: Path,
) -> None:
    """H1: stdout belongs to MCP from the first line on."""
    program = (
        "from agents_memory.observe import Action, get_logger\n"
        "get_logger().info(Action.READY)\n"
        "get_logger().warning(Action.STOPPING)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    assert "stopping" in done.stderr
    assert "ready" not in done.stderr


def test_every_action_is_one_lower_case_word() -> None:
    assert all(a.value == a.name.lower() for a in Action)
