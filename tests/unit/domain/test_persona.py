"""The pages of the persona: bounds, whose word they are, what is shown of them (F63)."""

import pytest

from agents_memory.domain.errors import Code
from agents_memory.domain.messages import Trust
from agents_memory.domain.patches import MAX_CONTENT_CHARS, PROFILE_KINDS
from agents_memory.domain.persona import (
    KINDS,
    MAX_PERSONA_CHARS,
    MAX_PROFILE_CHARS,
    document_trust,
    merge,
    readable_lines,
    said,
    too_long,
)


def test_its_kinds_are_documents_that_patches_can_write() -> None:
    assert set(KINDS) < set(PROFILE_KINDS)


def test_a_page_has_a_bound_that_its_refusal_names() -> None:
    assert too_long("persona.user", MAX_PERSONA_CHARS) is None
    assert MAX_PROFILE_CHARS == MAX_CONTENT_CHARS
    assert too_long("core", MAX_CONTENT_CHARS) is None
    assert too_long("core", MAX_CONTENT_CHARS + 1) is not None
    refusal = too_long("persona.user", 10**6)
    assert refusal is not None
    assert refusal.code is Code.LIMIT_EXCEEDED
    assert refusal.details == {"limit": MAX_PERSONA_CHARS, "chars": 10**6}


@pytest.mark.parametrize(
    ("actor", "sources", "trust"),
    [
        ("owner", (Trust.TOOL,), Trust.OWNER),
        ("owner", (), Trust.OWNER),
        ("agent", (Trust.OWNER,), Trust.AGENT),
        ("agent", (Trust.OWNER, Trust.OTHER), Trust.OTHER),
        ("agent", (), Trust.AGENT),
        ("cold/librarian", (Trust.OWNER,), Trust.OWNER),
        ("cold/librarian", (), Trust.AGENT),
        (None, (), Trust.AGENT),
    ],
)
def test_an_agents_page_is_never_the_owners_word(
    actor: str | None, sources: tuple[Trust, ...], trust: Trust
) -> None:
    assert document_trust(actor, sources) is trust


def test_no_line_of_a_page_can_pass_for_a_heading_of_ours() -> None:
    text = "# Title\n\n## Pinned\nUnder a rule\n---\n===\n  - kept  \n\u200b\n#tag stays\n"
    assert readable_lines(text) == ["Title", "Pinned", "Under a rule", "  - kept", "#tag stays"]


def test_lines_are_the_same_with_and_without_a_bullet() -> None:
    assert said("- Lives in Graz.") == said("Lives in  graz") == said("2) Lives in Graz")
    assert said("## ") == said("---") == ""


def test_merging_drops_what_is_outdated_and_adds_what_is_new() -> None:
    text, taken = merge(
        "# Page\n\n- Lives in Graz.\n- Sings.", {said("Lives in Graz")}, ["Sings", "Skis."]
    )
    assert (text, taken) == ("# Page\n\n- Sings.\n- Skis.", ["Skis."])
    assert merge("", (), ["One.", "one"]) == ("- One.", ["One."])


def test_merging_keeps_to_the_bound() -> None:
    full = "x" * (MAX_PERSONA_CHARS - 8)
    text, taken = merge(full, (), ["Too long for it.", "Fits."])
    assert taken == ["Fits."]
    assert len(text) == MAX_PERSONA_CHARS
