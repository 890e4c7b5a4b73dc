"""The instructions for agents are written once."""

from pathlib import Path

from hot.toolsets.patch.protocol import TEXT

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_shows_the_very_text_of_the_prompt() -> None:
    """Whoever changes hot/toolsets/patch/protocol.md copies it below the line of the page."""
    page = (ROOT / "docs" / "agent-instructions.md").read_text("utf-8")
    assert page.split("\n---\n\n", 1)[1] == TEXT.read_text("utf-8")
