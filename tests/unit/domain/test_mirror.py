"""Pages of the mirror: the same facts make the same page, and no words get out of their place."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.domain.mirror import Mirrored, Owner, front_matter, is_ours, plain
from agents_memory.domain.mirror_months import Month, Said, Told, month_page
from agents_memory.domain.mirror_tags import Project, tag_pages

NOON = datetime(2026, 10, 20, 12, tzinfo=UTC)
MARA = Owner("memory", "mara")
BERLIN = ZoneInfo("Europe/Berlin")


def memory(number: int, content: str, **changes: object) -> Mirrored:
    base = Mirrored(
        id=number,
        kind=Kind.DECISION,
        subject="harbor",
        content=content,
        trust=Trust.OWNER,
        status="active",
        pinned=False,
        tags=(),
        project="harbor",
        said_at=NOON + timedelta(minutes=number),
        resolved_at=None,
        superseded_by=None,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["", "2026", "2026-13", "2026-00", "26-10", "2026-10-01", "x", "٢٠٢٦-١٠", "1969-12", "9999-01"],
)
def test_what_is_no_month_is_none(text: str) -> None:
    assert Month.read(text) is None


def test_a_month_begins_and_ends_where_its_zone_says() -> None:
    since, until = Month(2026, 12).bounds(BERLIN)
    assert since == datetime(2026, 11, 30, 23, tzinfo=UTC)
    assert until == datetime(2026, 12, 31, 23, tzinfo=UTC)
    assert str(Month.before(datetime(2026, 12, 31, 23, 30, tzinfo=UTC), BERLIN)) == "2026-12"
    assert str(Month.before(datetime(2026, 1, 5, tzinfo=UTC), UTC)) == "2025-12"


def test_a_page_is_known_by_its_owner_only() -> None:
    """F65: only files that it wrote itself are replaced."""
    head = front_matter(MARA, "tag", {"tag": "x"})
    assert is_ours(head, MARA)
    assert is_ours("\ufeff" + head.replace("\n", "\r\n"), MARA)
    for other in (Owner("memory", "jo"), Owner("other", "mara")):
        assert not is_ours(head, other)
    for text in ("", "---\n", "# notes\n" + head, head.replace("made_by", "made by"), "---"):
        assert not is_ours(text, MARA)


@given(st.text(max_size=200))
def test_front_matter_holds_any_value_on_one_line(value: str) -> None:
    head = front_matter(Owner("memory", value), "tag", {"tag": value})
    assert len(head.splitlines()) == 7
    assert json.loads(head.splitlines()[5].removeprefix("tag: ")) == value
    assert is_ours(head, Owner("memory", value))


@given(st.text(max_size=200))
def test_any_text_becomes_one_line_that_does_nothing(text: str) -> None:
    line = plain(text)
    assert len(line.splitlines()) <= 1
    assert "\x00" not in line
    line.encode()


def test_what_would_hide_or_turn_words_is_left_out_and_new_signs_stay() -> None:
    assert plain("a\x07b\u202egnp.exe \U0001fae8 👩\u200d💻") == "abgnp.exe \U0001fae8 👩\u200d💻"


@pytest.mark.parametrize(
    "text",
    ["![x](http://evil.example/beacon)", "<script>", "[[page]]", "a\n---\nb: c", "# Title", "#tag"],
)
def test_markup_is_shown_and_not_followed(text: str) -> None:
    line = plain(text)
    for sign in "![]<#":
        assert line.count(sign) == line.count(f"\\{sign}")


def test_a_bare_address_is_no_link() -> None:
    assert plain("see http://e.x/i, WWW.e.x and 10:30") == r"see http\://e.x/i, WWW\.e.x and 10:30"


def test_a_month_names_what_was_decided_promised_and_learned_by_project() -> None:
    """F65: deterministic, whatever the order of the facts, and without the time of the run."""
    kept = memory(4, "Send the log.", kind=Kind.PROMISE, resolved_at=NOON)
    told = Told(
        said=[Said("harbor", 40, 3), Said(None, 2, 1)],
        memories=[
            memory(1, "Use opaque tokens."),
            memory(2, "Paint the yard.", kind=Kind.PROMISE),
            memory(3, "Cranes stop at nine.", kind=Kind.FACT, project=None),
            memory(5, "Use short tokens.", status="superseded", superseded_by=1),
        ],
        settled=[kept],
        used=[(memory(1, "Use opaque tokens."), 2), (memory(9, "Old."), 7)],
    )
    there = {"projects/harbor.md"}
    page = month_page(MARA, Month(2026, 10), told, UTC, there)
    assert page.path == "months/2026-10.md"
    text = page.text
    order = ["## harbor", "### Decided", "Use opaque", "Use short", "### Promised", "Paint"]
    order += ["## No project", "### Learned", "Cranes", "## Promises settled", "## Most used"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "[1](<../projects/harbor.md>)" in text
    assert "superseded by 1) harbor: Use short" in text
    assert text.index("Old") < text.rindex("Use opaque")
    assert "42 messages, 4 memories made, 1 promise settled, memories used 9 times." in text
    turned = Told(told.said[::-1], told.memories[::-1], told.settled, told.used[::-1])
    assert month_page(MARA, Month(2026, 10), turned, UTC, there) == page
    assert "2 messages in 1 session." in text
    assert "projects/" not in month_page(MARA, Month(2026, 10), told, UTC).text


def test_each_tag_has_a_page_and_the_index_names_all() -> None:
    """F65."""
    projects = [
        Project("harbor", "The yard.", ("harbour",), 12),
        Project("empty", "", (), 0),
        Project("talked", "", (), 1),
    ]
    memories = [
        memory(1, "Use opaque tokens.", tags=("a/b", "tokens", "tokens")),
        memory(2, "Cranes stop.", project=None, tags=("tokens",), kind=Kind.FACT),
    ]
    pages, entries = tag_pages(MARA, projects, memories, UTC)
    assert pages[0].path == "index.md"
    by_tag = {(entry.folder, entry.tag): entry for entry in entries}
    assert set(by_tag) == {
        ("projects", "harbor"), ("projects", "talked"), ("tags", "a/b"), ("tags", "tokens")
    }  # fmt: skip
    assert {page.path for page in pages[1:]} == {entry.path for entry in entries}
    index = pages[0].text
    assert all(f"(<{entry.path}>)" in index for entry in entries)
    tokens = next(page for page in pages if page.path == "tags/tokens.md").text
    assert tokens.count("Use opaque tokens") == 1
    assert tokens.index("## Fact") < tokens.index("Cranes") < tokens.index("## Decision")
    turned = tag_pages(MARA, projects[::-1], memories[::-1], UTC)
    assert turned == (pages, entries)
