"""The profile and the persona as their owner has them in a shell (F63, F64)."""

from pathlib import Path

import pytest

from agents_memory.domain.memories import Kind
from agents_memory.domain.patches import Add
from agents_memory.services.jobs import Jobs
from tests.acceptance.command_line import CommandLine, on_pool
from tests.conftest import Pool
from tests.factories import services
from tests.integration.patches import applied


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


def test_a_persona_is_seeded_written_shown_and_taken_back(
    line: CommandLine, tmp_path: Path
) -> None:
    seeded = line.run("profile", "seed", "--json")
    assert seeded.json["written"] == ["persona.agent", "persona.user", "persona.shared"]
    again = line.run("profile", "seed")
    assert (again.code, again.stdout.count("(it was there)")) == (0, 3)

    me = tmp_path / "me.md"
    me.write_text("---\nkind: persona.user\n---\n- Is called Mara.\n")
    done = line.run("profile", "write", "persona.user", "--file", str(me), "--json").json
    assert (done["version"], done["kind"]) == (2, "persona.user")
    piped = line.run(
        "profile", "write", "persona.user", "--file", "-", "--expect", "2", stdin=b"- Sings.\n"
    )
    assert (piped.code, "-- Is called Mara.\n+- Sings." in piped.stdout) == (0, True)
    stale = line.run(
        "profile", "write", "persona.user", "--file", "-", "--expect", "2", "--json", stdin=b"x"
    )
    assert (stale.code, stale.json["error"]["code"]) == (1, "VERSION_CONFLICT")

    assert line.run("profile", "show", "persona.user").stdout == "- Sings.\n"
    older = line.run("profile", "show", "persona.user", "--version", "2", "--json").json
    assert older["profile"]["content"] == "- Is called Mara."
    history = line.run("profile", "history", "persona.user", "--json").json["versions"]
    assert [one["version"] for one in history] == [1, 2, 3]
    assert line.run("profile", "history", "persona.user").stdout.count("by owner (cli)") == 3
    back = line.run("profile", "revert", "persona.user", "--to", "2")
    assert (back.code, "version 4" in back.stdout) == (0, True)
    listed = line.run("profile", "list")
    assert "core            (never written)" in listed.stdout
    assert "Is called Mara." in listed.stdout
    profiles = line.run("profile", "list", "--json").json["profiles"]
    assert [one["kind"] for one in profiles] == [
        "persona.agent", "persona.user", "persona.shared",
    ]  # fmt: skip
    assert "Is called Mara." in line.run("brief").stdout


async def test_a_proposal_is_shown_accepted_and_declined(
    line: CommandLine, pool: Pool, tmp_path: Path
) -> None:
    (tmp_path / "user.md").write_text("- Sings.")
    assert line.run("profile", "seed", "--from", str(tmp_path)).code == 0
    assert "no proposal is pending" in line.run("profile", "proposals").stderr
    hot = pool.database("memory_hot")
    use = await services(hot)
    for content in ("Lives in Graz.", "Skis."):
        said = await use.say(content)
        await applied(use, Add("user", content, Kind.FACT), evidence=(said.id,))
        await Jobs(hot, use.hints).ask(use.user_id, "persona", {"kind": "persona.user"})
        assert line.run("coldpath", "--once").code == 0
        [pending] = line.run("profile", "proposals", "--json").json["proposals"]
        shown = line.run("profile", "proposals").stdout
        assert f"[{pending['id']}] persona.user" in shown
        assert f", {said.id}\n" in shown
        assert f"+- {content}" in shown
        if content == "Skis.":
            declined = line.run("profile", "reject", str(pending["id"]), "--json").json
            assert declined["done"]["status"] == "rejected"
            continue
        accepted = line.run("profile", "accept", str(pending["id"]))
        assert "persona.user is at version 2" in accepted.stdout
    await use.close()
    await hot.close()
    assert line.run("profile", "show", "persona.user").stdout == "- Sings.\n- Lives in Graz.\n"
    decided = line.run("profile", "proposals", "--status", "accepted").stdout
    assert "accepted by mara" in decided
    for command in ("accept", "reject"):
        unknown = line.run("profile", command, "999", "--json")
        assert (unknown.code, unknown.json["error"]["code"]) == (1, "UNKNOWN_ITEM")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("show", "core"), 1, "core was never written"),
        (("show", "persona.cat"), 2, "persona.agent"),
        (("history", "core"), 1, "core was never written"),
        (("show", "core", "--version", "-1"), 1, "core has no version -1"),
        (("revert", "core", "--to", "1"), 1, "core has no version 1"),
        (("write", "core", "--file", "none.md"), 2, "there is no file none.md"),
        (("write", "core", "--file", "."), 1, "no regular file"),
        (("write", "persona.user", "--file", "-"), 1, "-, line 1: the text is empty"),
        (("seed", "--from", "none"), 1, "holds none of agent.md, user.md, shared.md"),
    ],
)
def test_what_cannot_be_done_says_what_can(
    line: CommandLine, arguments: tuple[str, ...], code: int, says: str
) -> None:
    ended = line.run("profile", *arguments)
    assert (ended.code, ended.stdout) == (code, "")
    assert says in " ".join(ended.stderr.split())


def test_a_broken_seed_is_named_by_file_and_line_and_writes_nothing(
    line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "agent.md").write_text("Iris.")
    (tmp_path / "user.md").write_text("---\nkind: persona.user\nMara.\n")
    ended = line.run("profile", "seed", "--from", str(tmp_path))
    assert ended.code == 1
    assert f"{tmp_path / 'user.md'}, line 3: " in ended.stderr
    assert line.run("profile", "list", "--json").json["profiles"] == []
