"""The root command: help, the default command, errors, exit codes, and what is printed."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import NamedTuple
from uuid import UUID

import click
import pytest
from click.shell_completion import BashComplete
from pydantic import BaseModel

from agents_memory import __version__, cli
from agents_memory.cli import COMMANDS, main, root
from agents_memory.cli.output import emit_json, emit_text, progress, use_utf8
from agents_memory.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    Deposed,
    EmbedderUnavailable,
    SchemaMismatch,
)

CONTENT = "the user said that her cat is called Mimi"
Install = Callable[[Callable[..., object]], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a function in the place of the default command."""

    def put(function: Callable[..., object]) -> None:
        module = ModuleType("stand_in")
        command = function if isinstance(function, click.Command) else click.command()(function)
        module.command = command  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "stand_in", module)
        monkeypatch.setitem(COMMANDS, "serve", ("stand_in:command", "Stand in."))

    return put


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-m", "agents_memory", *arguments]
    return subprocess.run(command, check=False, timeout=60, **options)  # type: ignore[call-overload,no-any-return]


def failing(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_command(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0
    shown = capsys.readouterr().out
    for name, (_, about) in COMMANDS.items():
        assert name in shown
        assert about in shown


def test_help_imports_no_command_and_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from agents_memory.cli import main\n"
        "main(['--help'])\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, check=True
    )
    loaded = set(done.stderr.decode().split())
    heavy = {"asyncpg", "mcp", "numpy", "openai", "pydantic", "structlog", "asyncio"}
    assert loaded & heavy == set()
    assert not [name for name in loaded if name.startswith(("agents_memory.cli.s", "hot", "cold"))]


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mcp-agents-memory {__version__}\n"


def test_without_a_command_it_serves(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(lambda: click.echo("serving"))
    assert main([]) == 0
    assert main(["serve"]) == 0
    assert capsys.readouterr().out == "serving\nserving\n"


def test_options_without_a_command_are_those_of_serve(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(click.command()(click.option("--port", type=int)(lambda port: click.echo(port))))
    assert main(["--port", "7"]) == 0
    assert capsys.readouterr().out == "7\n"


def test_an_unknown_command_is_answered_with_a_close_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["statsu"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith("error: No such command 'statsu'.")
    assert "'status'" in captured.err


def test_a_shell_completes_names_and_options_without_importing_a_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in COMMANDS:
        monkeypatch.setitem(COMMANDS, name, ("no.such.module:command", f"About {name}."))
    shell = BashComplete(root, {}, "mcp-agents-memory", "_MCP_AGENTS_MEMORY_COMPLETE")
    expected = [name for name in COMMANDS if name.startswith("s")]
    assert [item.value for item in shell.get_completions([], "s")] == expected
    assert "--version" in [item.value for item in shell.get_completions([], "--v")]


def test_an_unknown_option_is_an_error_of_usage(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(lambda: None)
    assert main(["serve", "--bogus"]) == 2
    assert "Usage: mcp-agents-memory serve" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigurationError("set X"), 2),
        (DatabaseUnavailable("set X"), 3),
        (SchemaMismatch("set X"), 3),
        (Deposed("set X"), 1),
        (EmbedderUnavailable("set X"), 1),
        (click.ClickException("set X"), 1),
        (ExceptionGroup("", [ExceptionGroup("", [DatabaseUnavailable("set X")])]), 3),
    ],
)
def test_a_known_error_is_one_line_and_a_documented_code(
    install: Install, capsys: pytest.CaptureFixture[str], error: BaseException, code: int
) -> None:
    install(failing(error))
    assert main([]) == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "error: set X\n")


def test_an_error_of_several_lines_stays_together(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(failing(ConfigurationError("set X\nset Y\x1b[2J")))
    main([])
    assert capsys.readouterr().err == "error: set X\n       set Y\\x1b[2J\n"


@pytest.mark.parametrize(("level", "traced"), [("info", False), ("debug", True)])
def test_a_bug_shows_its_class_and_at_debug_its_places_but_never_its_message(
    install: Install,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    level: str,
    traced: bool,
) -> None:
    monkeypatch.setenv("LOG_LEVEL", level)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    install(failing(ValueError(CONTENT)))
    assert main([]) == 70
    error = capsys.readouterr().err
    first = "error: unexpected ValueError; run with LOG_LEVEL=debug for the traceback"
    assert error.splitlines()[0] == first
    assert ("raise error" in error) is traced
    assert CONTENT not in error


def test_a_bug_is_reported_even_where_the_settings_are_wrong(
    install: Install, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHORT_TERM_DAYS", "many")
    install(failing(ValueError(CONTENT)))
    assert main([]) == 70
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_is_130(install: Install, error: BaseException) -> None:
    install(failing(error))
    assert main([]) == 130


@pytest.mark.parametrize(("answer", "code"), [(None, 0), (0, 0), (1, 1), ("text", 0)])
def test_a_command_may_return_its_exit_code(install: Install, answer: object, code: int) -> None:
    install(lambda: answer)
    assert main([]) == code


def test_a_command_may_exit(install: Install) -> None:
    @click.command()
    @click.pass_context
    def leave(context: click.Context) -> None:
        context.exit(3)

    install(leave)
    assert main([]) == 3


def test_a_reader_that_goes_away_ends_the_command_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run("--help", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_error_that_nobody_can_read_keeps_its_exit_code() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run("nonsense", stdout=writing, stderr=writing)
    os.close(writing)
    assert done.returncode == 2


def test_a_broken_pipe_elsewhere_is_no_lost_reader(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(failing(BrokenPipeError(32, CONTENT)))
    assert main([]) == 70
    assert "BrokenPipeError(EPIPE)" in capsys.readouterr().err


def test_unicode_is_printed_whatever_the_locale_says() -> None:
    """H2: no byte of a result depends on a code page."""
    environ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    argument = ascii("名前\udcff")
    program = f"import sys; from agents_memory.cli import main; sys.exit(main([{argument}]))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, env=environ, check=False)
    assert done.returncode == 2
    assert "名前\\udcff" in done.stderr.decode("utf-8")


class Colour(StrEnum):
    RED = "red"


@dataclass
class Thing:
    name: str
    when: datetime


class Pair(NamedTuple):
    one: str
    other: Colour


class Model(BaseModel):
    size: int


def emitted(capsys: pytest.CaptureFixture[str], value: object) -> object:
    emit_json(value)
    return json.loads(capsys.readouterr().out)


def test_json_keeps_what_json_has_and_turns_the_rest_into_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    when = datetime(2026, 1, 2, tzinfo=UTC)
    value = {
        "thing": Thing("名前 🙂", when),
        "pair": Pair("a", Colour.RED),
        "model": Model(size=3),
        "ids": (1, UUID(int=1)),
        "set": {"b", "a"},
        "path": Path("/x"),
        "took": timedelta(seconds=2),
        Colour.RED: Colour.RED,
        3: float("inf"),
        "none": None,
        "true": True,
    }
    assert emitted(capsys, value) == {
        "thing": {"name": "名前 🙂", "when": "2026-01-02T00:00:00+00:00"},
        "pair": {"one": "a", "other": "red"},
        "model": {"size": 3},
        "ids": [1, "00000000-0000-0000-0000-000000000001"],
        "set": ["a", "b"],
        "path": "/x",
        "took": 2.0,
        "red": "red",
        "3": None,
        "none": None,
        "true": True,
    }


def test_json_has_one_order_and_keeps_unicode(capsys: pytest.CaptureFixture[str]) -> None:
    emit_json({"b": "é", "a": 1})
    assert capsys.readouterr().out == '{\n  "a": 1,\n  "b": "é"\n}\n'


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "\x1b[2J", "\u2028", "\\ud800", '"'])
def test_any_string_survives_json(capsys: pytest.CaptureFixture[str], text: str) -> None:
    """I1: a lone surrogate is legal, in and out."""
    assert emitted(capsys, [text]) == [text]


def test_text_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    emit_text("a\tb\n\x1b]0;owned\x07 \x9b2J \ud800 é 🙂\r\x00")
    shown = capsys.readouterr().out
    assert shown == "a\tb\n\\x1b]0;owned\\x07 \\x9b2J \\ud800 é 🙂\\r\\x00\n"


def test_progress_without_a_terminal_is_a_line_a_tenth_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress("embedding", 25) as advance:
        for _ in range(25):
            advance(1)
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("embedding: 0/25", "embedding: 25/25", 11)


def test_progress_of_nothing_ends_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("embedding", 0):
        pass
    assert capsys.readouterr().err == "embedding: 0/0\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("embedding", 4) as advance:
        advance(4)
    assert "embedding" in terminal.getvalue()
    assert "100%" in terminal.getvalue()


def test_streams_that_cannot_be_changed_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", None)
    use_utf8()


def test_every_command_of_the_table_is_a_module_of_its_own() -> None:
    for name, (target, about) in COMMANDS.items():
        assert target == f"{cli.__name__}.{name.replace('-', '_')}:command"
        assert about.endswith(".")


def test_a_group_without_a_command_shows_its_help_and_a_short_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["spool"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Usage: mcp-agents-memory spool")
    assert shown.err.splitlines()[-1] == (
        "error: mcp-agents-memory spool needs one of the commands above"
    )
    assert shown.err.count("error:") == 1
