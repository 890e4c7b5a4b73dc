"""docs/operations.md explains every word that the operator's commands print of a pool's state."""

import ast
import inspect
import re
from enum import StrEnum
from pathlib import Path

import pytest

from agents_memory.cli import status as printed
from agents_memory.domain.memories import Status
from agents_memory.domain.messages import Screening
from agents_memory.services import alarms, receipts
from agents_memory.services.diagnosis.check import Outcome
from agents_memory.services.receipts import StageState
from agents_memory.storage.quarantine import Action
from agents_memory.storage.work import StageSummary, State
from cold import app
from cold.llm.port import Why

HEADING = "## Every word, and what to do\n"


@pytest.fixture(scope="module")
def section() -> str:
    page = (Path(__file__).parents[3] / "docs" / "operations.md").read_text("utf-8")
    return page.partition(HEADING)[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def rows(section: str) -> dict[str, list[str]]:
    """The cells of the row that explains a word."""
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            first, *others = line.strip("| ").split(" | ")
            found |= dict.fromkeys(re.findall(r"`([^`]+)`", first), others)
    return found


def literals(source: object, called: str) -> list[str]:
    """First sentences of constant text in calls of `called`, wherever in the source."""
    tree = ast.parse(inspect.getsource(source))  # type: ignore[arg-type]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [
        node for node in calls if called in {getattr(node.func, a, None) for a in ("id", "attr")}
    ]
    return [
        text.value
        for node in named
        for argument in node.args
        for text in ast.walk(argument)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    ]


@pytest.mark.parametrize("words", [StageState, State, Screening, Status, Action, Outcome, Why])
def test_every_state_has_a_meaning_and_an_action(
    words: type[StrEnum], rows: dict[str, list[str]]
) -> None:
    for word in words:
        assert word.value in rows, word
        assert all(len(cell) > 3 for cell in rows[word.value]), word


def test_every_alarm_has_a_meaning_and_an_action(rows: dict[str, list[str]]) -> None:
    names = {text for text in literals(alarms, "Alarm") if re.fullmatch("[a-z_]+", text)}
    assert len(names) == len(alarms.RULES)
    assert names <= set(rows)


def test_every_number_and_line_of_status_is_explained(rows: dict[str, list[str]]) -> None:
    counts = {name for name, kind in StageSummary.__annotations__.items() if kind is int}
    assert counts == {"pending", "held", "failed", "parked"}
    assert {*counts, "ALARM", "degraded", "left alone", "holds", "undecided"} <= set(rows)
    source = inspect.getsource(printed.render)
    assert all(f'"{word}"' in source for word in ("ALARM", "degraded", "left alone"))


def test_every_reason_of_what_waits_is_explained(section: str) -> None:
    reasons = {
        text.partition(";")[0]
        for text in literals(receipts, "receipt") + literals(receipts, "StageReceipt")
        if not text.startswith(("run ", "remove ", "`"))
    }
    assert {"no daemon leads the pool", "put off", "not yet its turn", " comes first"} <= reasons
    assert [reason for reason in reasons if reason not in section] == []


def test_everything_that_systemd_is_told_is_explained(section: str) -> None:
    told = [*literals(app, "ready"), *literals(app, "status")]
    assert len(told) == 3
    assert all(text.split(" the pool")[0].split(", term")[0] in section for text in told)
