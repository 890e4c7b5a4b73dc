"""What the owner says about names of projects (F68)."""

import pytest

from agents_memory.domain.alias_statements import Statement, statements_about

NAMES = frozenset({"harbor", "harbour", "memory-hub", "hub", "node.js", "나루"})
SAME = frozenset({Statement("harbor", "harbour", denied=False)})


@pytest.mark.parametrize(
    "text",
    [
        "We renamed harbor to harbour.",
        "By the way: Harbor is now called Harbour!",
        "harbor was renamed to harbour last week, fine",
        "harbor is an alias for harbour",
        "harbor is the same project as 'harbour'.",
        "I work on harbour (formerly harbor).",
        "we renamed the repo `harbor` to `harbour`, finally",
        "harbor and harbour are the same thing",
        "harbor heißt jetzt harbour.",
        "harbor wurde in harbour umbenannt",
        "harbor ist dasselbe Projekt wie harbour",
    ],
)
def test_a_statement_is_understood_in_its_direction(text: str) -> None:
    assert statements_about(text, NAMES) == SAME


@pytest.mark.parametrize(
    "text",
    [
        "Is harbor the same as harbour?",
        "Do you think harbor is the same as harbour?",
        "We renamed harbor to lighthouse.",
        "harbor is older than harbour",
        "the same harbour as harbor",
        "",
        "harbor is the same as harbor",
    ],
)
def test_questions_and_other_names_say_nothing(text: str) -> None:
    assert statements_about(text, NAMES) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "harbor is not the same as harbour.",
        "harbor isn't the same project as harbour",
        "harbor and harbour are not the same",
        "Please don't rename harbor to harbour!",
        "harbor ist nicht dasselbe wie harbour",
    ],
)
def test_a_denial_is_no_statement(text: str) -> None:
    [said] = statements_about(text, NAMES)
    assert (frozenset((said.tag, said.target)), said.denied) == (
        frozenset(("harbor", "harbour")),
        True,
    )


def test_names_of_several_words_and_other_scripts_are_known_by_their_tags() -> None:
    assert statements_about('hub is an alias of "Memory Hub".', NAMES) == {
        Statement("hub", "memory-hub", denied=False)
    }
    assert statements_about("we renamed node.js to 나루.", NAMES) == {
        Statement("node.js", "나루", denied=False)
    }


@pytest.mark.parametrize("text", ["a is " * 2000, "x" * 8000, "'" * 4000, "\0\ud800 is now called"])
def test_any_text_is_legal(text: str) -> None:
    assert statements_about(text, NAMES) == frozenset()
