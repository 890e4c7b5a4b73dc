"""A file that appears whole or not at all."""

from pathlib import Path

import click
import pytest

from agents_memory.cli.private_file import private_file, require_free


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "export"
    target.write_text("older")

    def write() -> None:
        with private_file(target, force=True) as stream:
            stream.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["export"]
    assert target.read_text() == "older"


def test_a_file_that_came_meanwhile_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "export"

    def write() -> None:
        with private_file(target, force=False) as stream:
            stream.write("mine")
            target.write_text("theirs")

    with pytest.raises(click.UsageError, match="--force"):
        write()
    assert target.read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_a_device_is_never_replaced() -> None:
    with pytest.raises(click.UsageError, match="no plain file"):
        require_free(Path("/dev/null"), force=True)
