"""monthly_summary, tag_index and propose_canonical_tag over MCP (F65, F66)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents_memory.domain.fencing import fence
from agents_memory.storage.connections import Database
from tests.unit.hot.conftest import House, Talk, held, know_project, text_of

CALM = {"valence": 0.0, "intensity": 0.0}


@pytest.fixture
async def talk(house: House) -> AsyncIterator[Talk]:
    async with held(house, toolsets=("core", "mind", "tags")) as talk:
        yield talk


@pytest.fixture
async def mirrored(house: House) -> AsyncIterator[Talk]:
    async with held(house, toolsets=("mind",), mirror_dir=house.tmp_path / "mirror") as talk:
        yield talk


async def remember(talk: Talk, content: str, **changes: object) -> int:
    done = await talk.ask("remember", **({"content": content} | CALM | changes))
    return int(done["memory_id"])


async def test_a_month_is_told_and_says_how_to_get_a_file(
    talk: Talk, hot_database: Database, cold_database: Database
) -> None:
    await know_project(cold_database, "harbor")
    decided = await remember(talk, "We use opaque tokens.", kind="decision", p_tag="harbor")
    async with hot_database.acquire() as connection:
        await connection.execute("UPDATE memories SET occurred_at = '2026-10-20'")
    result = await talk.call("monthly_summary", month="2026-10")
    answer = result.structured_content
    assert answer is not None
    assert answer["month"] == "2026-10"
    assert f"- {decided} (2026-10-20" in answer["text"]
    assert "### Decided" in answer["text"]
    assert "MIRROR_DIR" in answer["note"]
    assert "files" not in answer
    text = text_of(result)
    opening, *_, closing = fence("", "month").splitlines()
    assert text.index(opening) < text.index("opaque tokens") < text.index(closing)


async def test_last_month_is_the_default_and_may_be_empty(talk: Talk) -> None:
    answer = await talk.ask("monthly_summary")
    assert answer["month"] == "2026-10"
    assert (answer["text"], answer["note"]) == (
        "",
        "nothing is known of 2026-10, so there is no page for it",
    )


@pytest.mark.parametrize("month", ["", "October", "2026-13", "../2026-10", "2026-10\x00"])
async def test_what_is_no_month_is_refused_in_words(talk: Talk, month: str) -> None:
    error = await talk.refused("monthly_summary", month=month)
    assert error["code"] == "INVALID_INPUT"
    assert "2026-10" in error["message"]


async def test_with_a_folder_the_pages_are_files(
    mirrored: Talk, house: House, cold_database: Database
) -> None:
    await know_project(cold_database, "harbor")
    await remember(mirrored, "We use opaque tokens.", p_tag="harbor", tags=["a/b", "tokens"])
    answer = await mirrored.ask("tag_index")
    root = house.tmp_path / "mirror"
    assert answer["files"] == {"folder": str(root), "written": 4, "unchanged": 0, "removed": 0}
    assert {(one["tag"], one["kind"]) for one in answer["tags"]} == {
        ("harbor", "project"),
        ("a/b", "tag"),
        ("tokens", "tag"),
    }
    assert all((root / one["page"]).is_file() for one in answer["tags"])
    assert (root / "index.md").is_file()
    again = await mirrored.ask("tag_index", limit=1)
    assert (again["files"]["unchanged"], again["count"], again["left_out"]) == (4, 1, 2)


async def test_a_foreign_file_is_left_alone_and_named(mirrored: Talk, house: House) -> None:
    page = house.tmp_path / "mirror" / "index.md"
    page.parent.mkdir()
    page.write_text("# mine\n")
    answer = await mirrored.ask("tag_index")
    assert answer["files"]["foreign"] == ["index.md"]
    assert page.read_text() == "# mine\n"


async def test_a_folder_in_the_way_is_a_refusal(house: House) -> None:
    async with held(house, toolsets=("mind",), mirror_dir=Path(__file__)) as talk:
        error = await talk.refused("tag_index")
        assert "MIRROR_DIR" in error["message"]


async def test_a_proposal_shows_up_among_the_suggestions_only(talk: Talk) -> None:
    await talk.ask("manage_project_tags", action="add", tag="harbour", description="The yard")
    done = await talk.ask("propose_canonical_tag", tag="Harbor", description="Tokens of the yard")
    assert (done["tag"], done["outcome"]) == ("harbor", "proposed")
    assert [near["tag"] for near in done["nearest"]] == ["harbour"]
    listed = await talk.ask("manage_project_tags", action="list")
    assert [tag["name"] for tag in listed["tags"]] == ["harbour"]
    [open_one] = (await talk.ask("manage_project_tags", action="suggestions"))["suggestions"]
    assert open_one["suggestion_id"] == done["suggestion_id"]
    assert (open_one["description"], open_one["judged_by"]) == ("Tokens of the yard", "agent")
    again = await talk.ask("propose_canonical_tag", tag="harbor", description="Again")
    assert again["outcome"] == "pending"
    known = await talk.ask("propose_canonical_tag", tag="harbour", description="Again")
    assert known["outcome"] == "known"


async def test_a_name_that_is_too_long_is_refused_and_not_cut(talk: Talk) -> None:
    for tag in ("x" * 51, "x" * 1_000):
        error = await talk.refused("propose_canonical_tag", tag=tag, description="The yard")
        assert (error["code"], error["details"]) == ("LIMIT_EXCEEDED", {"limit": 50})
    done = await talk.ask("propose_canonical_tag", tag="x" * 50, description="The yard")
    assert done["tag"] == "x" * 50


async def test_a_proposal_that_says_nothing_is_refused(talk: Talk) -> None:
    for tag, description in (("todo", "x"), ("…", "x"), ("harbor", "")):
        error = await talk.refused("propose_canonical_tag", tag=tag, description=description)
        assert error["code"] == "INVALID_INPUT"
    assert "kind" in await talk.malformed(
        "propose_canonical_tag", tag="harbor", description="x", kind="x"
    )
