"""docs/operations.md names what there is."""

import re
from pathlib import Path

import pytest

from agents_memory.cli import COMMANDS
from agents_memory.cli.output import (
    EXIT_DATABASE,
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_PIPE,
    EXIT_UNEXPECTED,
    EXIT_USAGE,
)
from agents_memory.services.recall import RecallAnswer
from agents_memory.services.recalled import RecalledItem
from agents_memory.services.status import STAGES
from agents_memory.settings import VARIABLES


@pytest.fixture(scope="module")
def words() -> set[str]:
    page = Path(__file__).parents[3] / "docs" / "operations.md"
    return set(re.findall(r"[\w.-]+", page.read_text()))


def test_every_command_is_named(words: set[str]) -> None:
    assert set(COMMANDS) <= words


def test_every_setting_that_has_an_effect_is_named(words: set[str]) -> None:
    assert {variable.name for variable in VARIABLES if variable.field} <= words


def test_every_exit_code_is_named(words: set[str]) -> None:
    codes = (
        EXIT_OK, EXIT_FAILURE, EXIT_USAGE, EXIT_DATABASE, EXIT_UNEXPECTED, EXIT_INTERRUPTED,
        EXIT_PIPE,
    )  # fmt: skip
    assert {str(code) for code in codes} <= words


def test_every_stage_and_every_key_of_a_search_is_named(words: set[str]) -> None:
    keys = {*RecallAnswer.__dataclass_fields__, *RecalledItem.__dataclass_fields__}
    assert keys | set(STAGES) <= words
