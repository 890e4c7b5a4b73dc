"""The probe: a real client that asks, and shows where its answers come from."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.mcp_process import WITHIN_S, HotProcess, settings_of
from tests.conftest import Pool


@pytest.fixture
def environment(pool: Pool, tmp_path: Path) -> dict[str, str]:
    """Of a pool that holds one turn."""
    environment = settings_of(pool, tmp_path)
    with HotProcess(environment, tmp_path) as server:
        server.shake_hands("codex-mcp-client")
        server.call("save_message", role="user", message="The outbox replaced Kafka. " * 20)
        server.hang_up()
    return environment


def probe(
    environment: dict[str, str], cwd: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "hot.probe", *arguments],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        cwd=cwd,
        timeout=2 * WITHIN_S,
        check=False,
    )


def test_answers_come_with_their_sources(environment: dict[str, str], tmp_path: Path) -> None:
    """F78: id, date, platform, role and the beginning of the text."""
    ended = probe(environment, tmp_path, "--ask", "what about kafka?", "--json")
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    assert report["ok"] is True
    assert len(report["tools"]) == 5
    [asked] = report["questions"]
    [result] = asked["results"]
    assert (result["platform"], result["role"]) == ("codex", "user")
    assert result["text"].startswith("The outbox replaced Kafka.")
    assert len(result["text"]) == 200
    shown = probe(environment, tmp_path, "--ask", "what about kafka?")
    assert f"[{result['id']}] {result['at']} · message · user · codex" in shown.stdout


def test_a_question_without_a_result_is_a_failure(
    environment: dict[str, str], tmp_path: Path
) -> None:
    ended = probe(environment, tmp_path, "--ask", "kafka", "--ask", "zeppelin", "--json")
    assert ended.returncode == 1
    report = json.loads(ended.stdout)
    assert (report["ok"], report["error"]) == (False, None)
    assert [len(asked["results"]) for asked in report["questions"]] == [1, 0]


def test_without_a_question_the_server_itself_is_the_question(
    environment: dict[str, str], tmp_path: Path
) -> None:
    ended = probe(environment, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "search_memory" in ended.stdout


def test_a_server_that_cannot_start_is_a_failure(
    environment: dict[str, str], tmp_path: Path
) -> None:
    wrong = environment | {"SHORT_TERM_DAYS": "many"}
    ended = probe(wrong, tmp_path, "--json")
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["error"]
    assert "SHORT_TERM_DAYS" in ended.stderr
