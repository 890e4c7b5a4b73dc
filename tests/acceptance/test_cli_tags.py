"""The registry of projects as its owner has it in a shell, and an agent over stdio."""

from pathlib import Path

import pytest

from tests.acceptance.command_line import CommandLine, on_pool
from tests.acceptance.mcp_process import HotProcess, settings_of
from tests.acceptance.rpc import Hot
from tests.acceptance.test_cli_work import change
from tests.acceptance.test_mcp_start import TRACED, imported
from tests.conftest import Pool


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


def add(line: CommandLine, text: str) -> int:
    return int(line.run("message", "add", "--text", text, "--json").json["id"])


async def test_a_project_is_suggested_confirmed_aliased_and_retagged(
    line: CommandLine, pool: Pool
) -> None:
    """F66, F67, F69: from the daemon's suggestion to what a search finds, and back."""
    ids = [add(line, f"Kafka is slow again, for the {number}th time.") for number in range(3)]
    tuned = CommandLine(line.home, {**line.settings, "DTAG_PROMOTE_MIN_COUNT": "3"})
    assert tuned.run("coldpath", "--once").code == 0
    # As if they had been said where no project is.
    await change(pool, "UPDATE message_state SET p_tag = NULL")
    shown = line.run("tags", "suggestions")
    assert "new project kafka  (used 3 times in 30 days; rules)" in shown.stdout
    found = line.run("tags", "suggestions", "--json").json["suggestions"]
    numbers = {one["name"]: str(one["id"]) for one in found}
    confirmed = line.run("tags", "confirm", numbers["kafka"])
    assert (confirmed.code, "the daemon files" in confirmed.stdout) == (0, True)
    assert line.run("tags", "reject", numbers["slow"]).code == 0
    assert tuned.run("coldpath", "--once").code == 0
    assert line.run("tags", "suggestions", "--json").json["suggestions"] == []
    assert line.run("tags", "list").stdout.split()[:2] == ["kafka", "3"]

    assert line.run("tags", "add", "Log Bus", "--about", "what replaces it").code == 0
    assert line.run("tags", "alias", "kafka", "log-bus").code == 0
    cycle = line.run("tags", "alias", "log-bus", "kafka")
    assert (cycle.code, "unalias kafka first" in cycle.stderr) == (1, True)
    listed = line.run("tags", "list").stdout
    assert "stands for log-bus" in listed
    assert "also kafka; what replaces it" in listed
    hits = line.run("search", "slow", "--project", "log-bus", "--json").json
    assert len(hits["items"]) == 3
    assert line.run("tags", "unalias", "kafka").code == 0

    dry = line.run("tags", "retag", "--from", "kafka", "--to", "log-bus")
    assert (dry.code, "3 of 3 messages would be filed anew" in dry.stdout) == (0, True)
    assert "Kafka is slow again" in dry.stdout
    assert "add --run" in dry.stderr
    some = line.run("tags", "retag", "--from", "kafka", "--to", "log-bus", "--limit", "2", "--run",
                    "--json")  # fmt: skip
    run = some.json["run"]
    # Nothing is called left, since there is more to move.
    assert run == {"run_id": run["run_id"], "moved": 2, "since": 0, "finished": False}
    number = str(run["run_id"])
    assert line.run("tags", "retag", "--resume", number, "--json").json["run"]["finished"] is True
    assert "log-bus" in line.run("tags", "list").stdout.splitlines()[0]
    assert "3 would go back" in line.run("tags", "retag", "--rollback", number).stdout
    back = line.run("tags", "retag", "--rollback", number, "--run")
    assert (back.code, "3 messages filed anew" in back.stdout) == (0, True)
    assert "kafka" in line.run("tags", "list").stdout.splitlines()[0]
    assert len(ids) == 3
    await change(pool, "UPDATE message_state SET pinned = true")
    pinned = line.run("tags", "retag", "--from", "kafka", "--to", "log-bus", "--json").json
    assert (pinned["would_move"], pinned["left"]["pinned"]) == (0, 3)


@pytest.mark.parametrize(
    "arguments",
    [
        ("retag",),
        ("retag", "--to", "x"),
        ("retag", "--by-rules", "--to", "x", "--untagged"),
        ("retag", "--by-rules", "--from", "x", "--untagged"),
        ("retag", "--resume", "1", "--rollback", "2"),
        ("retag", "--rollback", "1", "--by-rules"),
        ("confirm", "0"),
        ("suggestions", "--status", "unlikely"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(arguments: tuple[str, ...], line: CommandLine) -> None:
    ended = line.run("tags", *arguments)
    assert (ended.code, ended.stdout) == (2, "")


def test_what_is_not_there_is_said(line: CommandLine) -> None:
    for arguments in (
        ("describe", "nowhere", "x"),
        ("confirm", "999999"),
        ("retag", "--untagged", "--to", "nowhere"),
        ("retag", "--resume", "999999"),
        ("add", "…"),
    ):
        ended = line.run("tags", *arguments, "--json")
        assert (ended.code, ended.json["ok"]) == (1, False)


async def test_an_agent_keeps_the_registry_over_stdio(line: CommandLine) -> None:
    """F66, F67"""
    agent = Hot({**line.environment, "AGENTS_MEMORY_TOOLSETS": "core,tags"}, line.home)
    await agent.start()
    await agent.call("manage_project_tags", action="add", tag="harbor")
    await agent.call("manage_project_tags", action="add", tag="harbour")
    await agent.call("manage_project_tags", action="alias", tag="harbour", target_tag="harbor")
    listed = await agent.call("manage_project_tags", action="list")
    assert [tag.get("alias_of") for tag in listed["tags"]] == [None, "harbor"]
    assert await agent.stop() == 0
    assert "stands for harbor" in line.run("tags", "list").stdout


def test_the_toolset_costs_a_start_only_where_it_is_on(pool: Pool, tmp_path: Path) -> None:
    settings = settings_of(pool, tmp_path)
    for toolsets, brought in (("core", False), ("core,tags", True)):
        home = tmp_path / toolsets
        home.mkdir()
        environment = {**settings, "AGENTS_MEMORY_TOOLSETS": toolsets}
        with HotProcess(environment, home, TRACED) as server:
            server.shake_hands()
            found = imported(server)
        assert ("hot.toolsets.tags.manage" in found) is brought
        assert not {"agents_memory.services.project_tags", "numpy"} & found
