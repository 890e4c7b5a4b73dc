"""`make run` as a stranger runs it: a fresh folder, an empty home, other programs' variables."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

QUESTIONS = 3


@pytest.fixture
def checkout(repository: Path) -> Iterator[Path]:
    """What `make run` needs of a checkout, in a path that holds a space."""
    # Passable, unlike pytest's own folders: under root the server has an account of its own.
    parent = Path(tempfile.mkdtemp(prefix="agents-memory-make-"))
    parent.chmod(0o711)
    folder = parent / "a checkout"
    folder.mkdir(mode=0o755)
    shutil.copy(repository / "Makefile", folder)
    shutil.copytree(repository / "examples", folder / "examples")
    yield folder
    shutil.rmtree(parent, ignore_errors=True)


def run(checkout: Path, home: Path) -> "subprocess.CompletedProcess[str]":
    """The demonstration, in this environment instead of one that takes half a minute to make."""
    installed = Path(sys.executable).parent
    return subprocess.run(
        ["make", "run", "ONCE=1", f"BIN={installed}", "--assume-old=.venv/.installed"],
        cwd=checkout,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "DATABASE_URL": "postgresql://somebody:s3cret-word@db.invalid/else",
            "DB_HOST": "db.invalid",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.timeout(400)
def test_the_demonstration_answers_its_questions_and_can_be_repeated(
    checkout: Path, tmp_path: Path
) -> None:
    """F101, F30: no set-up, no network, no model server; German and English questions answered."""
    first = run(checkout, tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    answers = first.stdout.split("\n? ")[1:]
    assert len(answers) == QUESTIONS
    queue, bedroom, sessions = answers
    assert "Decision: order events go through a Postgres table" in queue
    assert "17 Grad" in bedroom
    assert "opaque session ids" in sessions
    assert all("searched: hybrid" in answer for answer in answers)
    assert "s3cret-word" not in first.stdout + first.stderr

    settings = checkout / ".demo" / "memory.env"
    assert settings.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.rglob("*memory*")), "the home folder is left alone"

    again = run(checkout, tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert " 0 messages stored, 248 were there already" in again.stdout
