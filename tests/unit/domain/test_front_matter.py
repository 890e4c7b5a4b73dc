"""Front matter: understood where it is whole, named by file and line where it is not (F63)."""

import pytest

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.front_matter import Page, read_page


def test_a_text_without_front_matter_is_taken_as_it_is() -> None:
    assert read_page("a.md", "# Title\n\n---\nbelow a rule\n") == Page(
        "# Title\n\n---\nbelow a rule"
    )
    assert read_page("a.md", "") == Page("")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_keys_are_read_and_the_text_begins_after_them(end: str) -> None:
    text = "\ufeff---\nkind: persona.agent\ntitle: 'Iris: her page'\nempty:\n---\n\nSpeaks.\n"
    page = read_page("a.md", text.replace("\n", end))
    assert isinstance(page, Page)
    assert page.content == "Speaks."
    assert page.keys == {"kind": "persona.agent", "title": "Iris: her page", "empty": ""}
    assert page.lines["title"] == 3


def test_lists_comments_and_nested_values_of_other_keys_are_passed_over() -> None:
    page = read_page(
        "a.md", "---\n# of mine\ntags:\n- one\n  - two\nnested:\n  key: value\n\n---\nText"
    )
    assert isinstance(page, Page)
    assert (page.content, set(page.keys)) == ("Text", {"tags", "nested"})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\nkind: persona.agent\nSpeaks German.", 3),
        ("---\nkind: persona.agent\n", 1),
        ("---\nno colon here\n---\nText", 2),
        ("---\n- an item of nothing\n---\nText", 2),
        ("---\nkind: persona.agent\n\nkind: persona.user\n---\nText", 4),
        ("---\nkind:persona.agent\n---\nText", 2),
        ("---\n\0: x\n---\nText", 2),
        ("---", 1),
    ],
)
def test_broken_front_matter_names_file_and_line(text: str, line: int) -> None:
    refusal = read_page("agent.md", text)
    assert isinstance(refusal, Refusal)
    assert refusal.code is Code.INVALID_INPUT
    assert refusal.message.startswith(f"agent.md, line {line}: ")
    assert refusal.details == {"file": "agent.md", "line": line}
