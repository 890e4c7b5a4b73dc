"""Links between the pages lead somewhere: to a file that is there and a heading that it has."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "deploy", "examples", "bench", "agents_memory")
LINK = re.compile(r"\]\(<?([^()\s<>]+(?:\([^()\s]*\)[^()\s<>]*)?)>?(?: +\"[^\"]*\")?\)")
FENCED = re.compile(r"^ *(```|~~~).*?^ *\1[^\n]*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
HEADING = re.compile(r"^#{1,6} +(.+?) *#* *$", re.M)
ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")


def pages() -> list[Path]:
    nested = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))
    return sorted([*ROOT.glob("*.md"), *nested])


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    text = FENCED.sub("", page.read_text("utf-8"))
    found: list[str] = ANCHOR.findall(text)
    counts: dict[str, int] = {}
    for heading in HEADING.findall(text):
        name = slug(heading)
        found.append(f"{name}-{counts[name]}" if name in counts else name)
        counts[name] = counts.get(name, 0) + 1
    return frozenset(found)


def dead(page: Path, text: str) -> Iterator[str]:
    """The links of a page that lead nowhere; those to other sites are not followed."""
    for target in LINK.findall(CODE.sub("", FENCED.sub("", text))):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        there = (page.parent / path).resolve() if path else page
        missing = not there.exists()
        if missing or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            yield f"{page.relative_to(ROOT)}: {target}"


def test_no_link_between_the_pages_is_dead() -> None:
    assert [link for page in pages() for link in dead(page, page.read_text("utf-8"))] == []


def test_a_dead_link_is_found() -> None:
    page = ROOT / "docs" / "operations.md"
    fine = "[a](#the-spool) [b](../README.md) [c](https://x.org/#y) `[d](gone.md)` [e](decisions/)"
    assert list(dead(page, fine)) == []
    gone = "[a](#no-such-heading) [b](gone.md)\n[c](capture.md#gone)"
    assert len(list(dead(page, gone))) == 3
