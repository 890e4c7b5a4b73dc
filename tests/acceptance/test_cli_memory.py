"""What is believed and how it came to be, by the owner's own hand in a shell."""

from pathlib import Path

import pytest

from agents_memory.domain.patches import Add, Update
from tests.acceptance.command_line import CommandLine, on_pool
from tests.conftest import Pool
from tests.factories import services
from tests.integration.patches import applied


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


@pytest.fixture
async def made(pool: Pool) -> tuple[int, int, int]:
    """Ids of a memory, of the patch that changed it last, and of the message it rests on."""
    database = pool.database("memory_hot")
    use = await services(database)
    said = await use.say("Green tea, please.")
    added = await applied(use, Add("tea", "Green tea.", evidence=(said.id,)))
    memory_id = added.changes[0].item_id
    changed = await applied(use, Update(memory_id, "Black tea.", 1, (said.id,)))
    await use.close()
    await database.close()
    return memory_id, changed.patch_id, said.id


def test_a_memory_is_shown_with_its_history(line: CommandLine, made: tuple[int, int, int]) -> None:
    """F10: get, history, search; in words and as JSON with stable keys."""
    memory_id, patch_id, message_id = made
    got = line.run("memory", "get", str(memory_id), "--history", "--json").json
    assert got["ok"] is True
    assert (got["memory"]["content"], got["memory"]["version"]) == ("Black tea.", 2)
    assert [v["ended_by"] for v in got["versions"]] == ["update", None]
    assert got["versions"][1]["patch_id"] == patch_id
    assert got["versions"][1]["evidence"] == [message_id]
    history = line.run("memory", "history", str(memory_id))
    assert history.code == 0, history.stderr
    assert "Green tea." in history.stdout
    assert "then reworded" in history.stdout
    assert f"cites {message_id}" in history.stdout
    found = line.run("memory", "search", "black", "tea", "--json").json
    assert [view["id"] for view in found["memories"]] == [memory_id]
    assert "versions" not in line.run("memory", "get", str(memory_id), "--json").json


def test_what_is_private_is_found_by_its_owner_alone(
    line: CommandLine, made: tuple[int, int, int]
) -> None:
    """A message with the memory that rests on it, then that memory; and both again."""
    memory_id, patch_id, message_id = made
    hidden = line.run("message", "private", str(message_id))
    assert hidden.stdout == (
        f"{message_id} private\n{memory_id} hidden: resting on private messages alone\n"
    )
    assert "private" in line.run("message", "show", str(message_id)).stdout
    for words in (("search", "tea"), ("memory", "search", "tea")):
        found = line.run(*words, "--json").json
        assert not found.get("items", found.get("memories"))
        own = line.run(*words, "--private", "--json").json
        assert memory_id in {one["id"] for one in own.get("items", own.get("memories"))}
    assert line.run("memory", "get", str(memory_id)).code == 0
    assert line.run("patch", "get", str(patch_id)).code == 0
    public = line.run("message", "private", str(message_id), "--undo", "--json").json
    assert (public["private"], public["changed"]) == (False, [message_id])
    assert "nothing changed" in line.run("message", "private", str(message_id), "--undo").stdout
    assert line.run("memory", "private", str(memory_id)).stdout == f"{memory_id} private\n"
    assert line.run("memory", "private", str(memory_id), "--undo").code == 0
    refused = line.run("memory", "private", str(message_id), "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "UNKNOWN_ITEM")


def test_a_patch_is_shown_listed_and_taken_back(
    line: CommandLine, made: tuple[int, int, int]
) -> None:
    """F11: the owner's command; once."""
    memory_id, patch_id, _ = made
    shown = line.run("patch", "get", str(patch_id))
    assert "-Green tea.\n+Black tea." in shown.stdout
    listed = line.run("patch", "list", "--memory", str(memory_id), "--json").json["patches"]
    assert [patch["operations"] for patch in listed] == [
        [f"update {memory_id}"],
        [f"add {memory_id}"],
    ]
    assert line.run("patch", "rollback", str(patch_id)).code == 2
    back = line.run("patch", "rollback", str(patch_id), "--reason", "wrong", "--json").json
    assert (back["ok"], back["rollback_of"]) == (True, patch_id)
    again = line.run("patch", "rollback", str(patch_id), "--reason", "wrong", "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "ALREADY_ROLLED_BACK")
    assert f"taken back by patch {back['patch_id']}" in line.run("patch", "list").stdout
    gone = line.run("patch", "rollback", str(listed[1]["id"]), "--reason", "never said")
    assert gone.code == 0, gone.stderr
    assert "+++ /dev/null" in gone.stdout
    assert line.run("memory", "search", "tea").stdout == ""
    removed = line.run("memory", "search", "tea", "--removed")
    assert "removed" in removed.stdout


def test_what_is_not_there_is_refused(line: CommandLine, made: tuple[int, int, int]) -> None:
    _, patch_id, message_id = made
    for arguments, code in (
        (("memory", "get", str(message_id)), "UNKNOWN_MEMORY"),
        (("memory", "history", str(patch_id)), "UNKNOWN_MEMORY"),
        (("patch", "get", str(message_id)), "UNKNOWN_PATCH"),
        (("memory", "search", " "), "INVALID_QUERY"),
    ):
        told = line.run(*arguments, "--json")
        assert (told.code, told.json["ok"], told.json["error"]["code"]) == (1, False, code)
    assert "error: " in line.run("memory", "get", str(message_id)).stderr
