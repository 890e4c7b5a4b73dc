"""Buzz's program as a child: bounded in time and size, and alone with its own variables (F83)."""

import json
import os
import sys
from pathlib import Path

import pytest

from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.settings import Settings
from agents_memory.storage.embedded.processes import exists
from ingest.buzz.cli import Buzz, child_environment


def program(folder: Path, body: str) -> str:
    path = folder / "buzz"
    path.write_text(f"#!{sys.executable} -IS\nimport json, os, sys, time\n{body}\n")
    path.chmod(0o755)
    return str(path)


def ended(pid: int) -> bool:
    """Whether it is gone, or dead and not yet collected."""
    try:
        return " Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


async def test_the_objects_of_an_array_are_the_answer(tmp_path: Path) -> None:
    path = program(tmp_path, "json.dump([{'words': sys.argv[1:]}], sys.stdout)")
    assert await Buzz(path, {}).ask("users", "get") == [{"words": ["users", "get"]}]


async def test_a_name_is_found_in_its_own_path(tmp_path: Path) -> None:
    program(tmp_path, "print('[]')")
    assert await Buzz("buzz", {"PATH": str(tmp_path)}).ask("users", "get") == []


@pytest.mark.parametrize("printed", ["", "{", "{}", "[1]", "null", "[" * 100_000, "\udcff", "NaN"])
async def test_anything_else_is_an_error_that_says_what_to_do(tmp_path: Path, printed: str) -> None:
    """F82."""
    (tmp_path / "answer").write_bytes(printed.encode("utf-8", "surrogateescape"))
    body = f"sys.stdout.buffer.write(open({str(tmp_path / 'answer')!r}, 'rb').read())"
    with pytest.raises(MemoryFault, match=r"not as expected.*Nothing was written.*run it again"):
        await Buzz(program(tmp_path, body), {}).ask("users", "get")


async def test_more_than_it_may_print_ends_it(tmp_path: Path) -> None:
    path = program(tmp_path, "while True: sys.stdout.write('x' * 65536)")
    with pytest.raises(MemoryFault, match=r"more than 3 MiB.*check BUZZ_RELAY_URL"):
        await Buzz(path, {}, most_bytes=3 * 2**20).ask("users", "get")


async def test_a_call_without_end_is_ended_with_all_it_started(tmp_path: Path) -> None:
    child = tmp_path / "pid"
    body = (
        "child = os.fork()\n"
        f"if child: open({str(child)!r}, 'w').write(str(child))\n"
        "time.sleep(3600)"
    )
    with pytest.raises(MemoryFault, match="took more than 1 s"):
        await Buzz(program(tmp_path, body), {}, call_s=1).ask("users", "get")
    pid = int(child.read_text())
    while exists(pid) and not ended(pid):
        os.sched_yield()


async def test_an_error_is_told_in_its_own_words_without_secrets(tmp_path: Path) -> None:
    error = {"error": "network_error", "message": "no route, password=hunter2hunter2"}
    path = program(tmp_path, f"sys.stderr.write({json.dumps(error)!r}); sys.exit(2)")
    with pytest.raises(MemoryFault, match="exit code 2, network_error: no route") as caught:
        await Buzz(path, {}).ask("users", "get")
    assert "hunter2" not in str(caught.value)
    assert "BUZZ_RELAY_URL" in str(caught.value)


async def test_an_error_without_words_is_told_by_its_code(tmp_path: Path) -> None:
    path = program(tmp_path, "sys.stderr.write('panic'); sys.exit(101)")
    with pytest.raises(MemoryFault, match="exit code 101; run it by hand"):
        await Buzz(path, {}).ask("users", "get")


async def test_a_program_that_is_not_there_is_a_matter_of_settings(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="BUZZ_CLI"):
        await Buzz(str(tmp_path / "none"), {}).ask("users", "get")
    with pytest.raises(ConfigurationError, match="relative path"):
        Buzz("bin/buzz", {})


def test_the_settings_win_over_what_was_inherited(tmp_path: Path) -> None:
    ours = {
        "PATH": "/bin",
        "LC_TIME": "C",
        "NO_PROXY": "x",
        "BUZZ_PRIVATE_KEY": "${BUZZ_PRIVATE_KEY}",
        "BUZZ_AUTH_TAG": "t",
        "DATABASE_URL": "postgresql://secret",
        "OPENAI_API_KEY": "sk-x",
        "MY_PATH": "x",
        "LD_PRELOAD": "x",
    }
    given = {"BUZZ_RELAY_URL": "wss://relay.example", "BUZZ_INGEST_OWNER": "A" * 64}
    settings = Settings.load({"HOME": str(tmp_path), **given})
    assert settings.buzz_ingest_owner == ("a" * 64,)
    assert child_environment(settings, ours) == {
        "PATH": "/bin",
        "LC_TIME": "C",
        "NO_PROXY": "x",
        "BUZZ_AUTH_TAG": "t",
        "BUZZ_RELAY_URL": "wss://relay.example",
    }


def test_an_owner_is_a_public_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="BUZZ_INGEST_OWNER"):
        Settings.load({"HOME": str(tmp_path), "BUZZ_INGEST_OWNER": "npub1x"})
