"""The answers of an editor's server, shown with their sources."""

import json
import sys
from typing import Any

import pytest

from agents_memory.cli import asking
from agents_memory.cli.asking import ask, render_answers, unanswered
from agents_memory.domain.errors import MemoryFault

ITEM = {
    "id": 16,
    "at": "2026-09-16T10:20:45+02:00",
    "kind": "message",
    "role": "user",
    "platform": "claude-code",
    "project": "harbor-api",
    "trust": "owner",
    "text": "order events go through\na table",
}
REPORT: dict[str, Any] = {
    "ok": False,
    "error": None,
    "tools": ["search_memory"],
    "questions": [
        {"ask": "the queue?", "used": "hybrid", "degraded": None, "results": [ITEM]},
        {"ask": "the moon?", "used": "none", "degraded": "no model", "results": []},
    ],
}


def replaced_by(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(asking, "module_command", lambda *_: [sys.executable, "-c", program])


def test_each_answer_names_its_source_and_whose_word_it_is() -> None:
    text = render_answers(REPORT)
    assert "[16] 2026-09-16 10:20 · user · harbor-api · claude-code · trust owner" in text
    assert "order events go through a table" in text
    assert "degraded: no model" in text
    assert unanswered(REPORT) == ["the moon?"]


async def test_the_report_of_the_client_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced_by(monkeypatch, f"import sys; print({json.dumps(REPORT)!r}); sys.exit(1)")
    assert await ask(["the queue?"]) == REPORT


@pytest.mark.parametrize(
    "program",
    [
        "import sys; sys.exit('no such server')",
        """print('{"error": "no such server", "questions": []}')""",
    ],
)
async def test_a_server_that_does_not_answer_is_an_error(
    monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    """D11: down is not empty."""
    replaced_by(monkeypatch, program)
    with pytest.raises(MemoryFault, match="no such server"):
        await ask([])


async def test_a_server_that_hangs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "ANSWERS_WITHIN_S", 0.2)
    replaced_by(monkeypatch, "import signal; signal.pause()")
    with pytest.raises(MemoryFault, match="doctor"):
        await ask([])
