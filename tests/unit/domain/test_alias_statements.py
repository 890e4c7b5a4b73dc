"""What the owner says about names of projects (F68)."""

import pytest

from agents_memory.domain.alias_statements import Statement, statements_about

NAMES = frozenset({"harbor", "harbour", "memory-hub", "hub", "node.js", "나루"})
SAME = frozenset({Statement("harbor", "harbour", denied=False)})


@pytest.mark.parametrize(
    "text",
    [
        "We renamed harbor to harbour.",
        "we renamed the project harbor to harbour",
        "we renamed the repo `harbor` to `harbour`, finally",
        "We have renamed harbor to harbour.",
        "I renamed harbor to harbour yesterday, and the builds are green.",
        "We just renamed harbor to harbour.",
        "Last week we renamed harbor into harbour.",
        "In May we renamed harbor to harbour.",
        "Last month our project harbor was renamed to harbour.",
        "Both harbor and harbour are the same.",
        "We renamed harbor to harbour in 2026.",
        "Bob renamed harbor to harbour on Monday.",
        "We renamed harbor to harbour because of the name clash.",
        'We renamed "harbor" to "harbour".',
        "Renamed harbor to harbour.",
        "I'm renaming harbor to harbour.",
        "We are now renaming the repo harbor to harbour.",
        "We decided to rename harbor to harbour.",
        "I have decided to rename the project harbor to harbour!",
        "By the way: Harbor is now called Harbour!",
        "By the way:\nharbor is now called harbour.",
        "harbor is now called harbour, and kitchen is still kitchen.",
        "FYI harbor is called harbour now.",
        "Our project harbor has been renamed to harbour.",
        "harbor was renamed to harbour last week, fine",
        "harbor got renamed to harbour.",
        "harbor is renamed harbour as of today.",
        "harbor is an alias for harbour",
        "harbor is an alias of harbour.",
        "harbor is another name for harbour",
        "harbor is now another name for the project harbour.",
        "harbor is the same as harbour.",
        "harbor is the same thing as harbour, so file both together.",
        "harbor is the same project as 'harbour'.",
        "I work on harbour (formerly harbor).",
        "harbour, formerly harbor, has a new dock.",
        "harbor and harbour are the same",
        "harbor and harbour are the same thing",
        "harbor and harbour are the same project now.",
        "kitchen is done. harbor and harbour are the same repo!",
        "Is that clear? harbor is the same as harbour.",
        "harbor heißt jetzt harbour.",
        "Das Projekt harbor heißt nun harbour, seit gestern.",
        "harbor heißt ab jetzt das Projekt harbour!",
        "harbor wurde in harbour umbenannt",
        "harbor ist in harbour umbenannt.",
        "harbor haben wir in harbour umbenannt, weil es kürzer ist.",
        "harbor ist dasselbe Projekt wie harbour",
        "harbor ist dasselbe wie harbour.",
        "harbor und harbour sind dasselbe.",
        "harbor und harbour sind dasselbe Projekt.",
        "Ich arbeite an harbour (früher harbor).",
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
        # Denied.
        "We never renamed harbor to harbour.",
        "We haven't renamed harbor to harbour.",
        "We havent renamed harbor to harbour.",
        "Nobody renamed harbor to harbour.",
        "It is not true that harbor is the same as harbour.",
        "It is false that harbor is another name for harbour.",
        "I never said harbor and harbour are the same project.",
        "harbor is no longer the same as harbour.",
        "harbor is now called harbour only in the old docs, that is wrong.",
        "Contrary to the wiki, which is mistaken, harbor is called harbour.",
        "harbor was renamed to harbour by mistake.",
        "harbor is the same as harbour. That is wrong.",
        "harbor is the same as harbour. Just kidding!",
        "harbor ist in harbour umbenannt, aber das ist falsch.",
        "Niemand weiß, dass harbor und harbour dasselbe sind.",
        "Es stimmt nicht: harbor heißt jetzt harbour.",
        # On a condition, or in a thought.
        "If harbor is the same as harbour, links break.",
        "If we renamed harbor to harbour, links would break.",
        "Had we renamed harbor to harbour, nobody would find it.",
        "Once harbor is renamed to harbour, update the docs.",
        "When harbor is called harbour, links break.",
        "Unless harbor is the same as harbour, keep both.",
        "Suppose harbor is another name for harbour.",
        "Links break as soon as, e.g. harbor is now called harbour.",
        "Wenn harbor dasselbe ist, und harbor ist dasselbe wie harbour, brechen die Links.",
        "Falls harbor in harbour umbenannt ist: harbor heißt jetzt harbour.",
        # Asked.
        "Is harbor the same as harbour",
        "harbor is the same as harbour, right?",
        "harbor is the same as harbour?!",
        "So, are harbor and harbour are the same",
        "Tell me whether harbor is the same as harbour.",
        "I wonder: harbor is the same as harbour",
        "Ist harbor dasselbe wie harbour?",
        "Ich frage mich, ob harbor jetzt harbour heißt; harbor heißt jetzt harbour",
        # Meant, wished or thought; ordered of a file, perhaps.
        "Bob wants to rename harbor to harbour but I refused.",
        "Bob decided to rename harbor to harbour.",
        "They are renaming harbor to harbour.",
        "Bob wants harbor renamed, and harbor is called harbour",
        "We may have renamed harbor to harbour.",
        "We might have renamed harbor to harbour.",
        "We almost renamed harbor to harbour.",
        "Rename harbor to harbour in the config.",
        "We should rename harbor to harbour.",
        "Renaming harbor to harbour is a bad idea.",
        "I think harbor is the same as harbour.",
        "Maybe harbor is an alias for harbour.",
        "Vielleicht ist es so: harbor ist dasselbe wie harbour.",
        "Er möchte es so: harbor heißt ab jetzt harbour.",
        # Said by somebody else.
        "Bob said harbor is the same as harbour.",
        "Bob told me that harbor was renamed to harbour.",
        "According to the wiki harbor is another name for harbour.",
        'The README: "we did it, harbor is now called harbour."',
        "> harbor is the same as harbour.",
        "Bob wrote:\nharbor is the same as harbour.",
        "```\ncommit 1f2: renamed harbor to harbour\n```",
        "Angeblich harbor heißt jetzt harbour.",
        "Laut Bob: harbor ist dasselbe wie harbour.",
        # Undone.
        "Please undo the commit that renamed harbor to harbour.",
        "We renamed harbor to harbour and reverted it.",
        "We renamed harbor to harbour. Then we rolled it back.",
        "harbor was renamed to harbour for a while.",
        "We decided to rename harbor to harbour but kept the old name.",
        "harbor wurde in harbour umbenannt und das dann rückgängig gemacht.",
        # About something of theirs.
        "harbor and harbour are the same size.",
        "harbor and harbour are the same team",
        "harbor is the same size as harbour.",
        "The team of harbor is the same as harbour.",
        "harbor is the same as harbour's staging copy.",
        "harbor is now called harbour master.",
        "harbor is called harbour in the old scripts.",
        "harbor is called from harbour.",
        "harbor and harbour are the same in that both are slow.",
        "harbor is the same as harbour in size.",
        "The function harbor was renamed to harbour.",
        "In my novel harbor is called harbour.",
        "Bob's harbor is called harbour.",
        "The docs call it so: harbor is another name for harbour.",
        "'harbor is the same as harbour' is what Bob thought.",
        "I liked harbour, formerly harbor was my favourite.",
        "harbor und harbour sind dasselbe Team.",
    ],
)
def test_what_asserts_nothing_says_nothing(text: str) -> None:
    """F68: only the owner's plain word that two names are one project counts as one."""
    assert statements_about(text, NAMES) == frozenset()


def test_what_a_project_is_called_casts_no_doubt() -> None:
    names = frozenset({"never-back", "if", "hub"})
    assert statements_about("We renamed never-back to hub.", names) == {
        Statement("never-back", "hub", denied=False)
    }
    assert statements_about("if is an alias for hub.", names) == {
        Statement("if", "hub", denied=False)
    }


@pytest.mark.parametrize(
    "text",
    [
        "harbor is not the same as harbour.",
        "harbor isn't the same project as harbour",
        "harbor and harbour are not the same",
        "Please don't rename harbor to harbour!",
        "I think harbor is not the same as harbour. No, really.",
        "We decided not to rename harbor to harbour.",
        "We won't rename harbor to harbour.",
        "Don’t ever rename harbor to harbour.",
        "I would never ever rename harbor to harbour",
        "harbor and harbour aren't the same project.",
        "harbor und harbour sind nicht dasselbe",
        "harbor ist nicht dasselbe wie harbour",
    ],
)
def test_a_denial_is_no_statement(text: str) -> None:
    [said] = statements_about(text, NAMES)
    assert (frozenset((said.tag, said.target)), said.denied) == (
        frozenset(("harbor", "harbour")),
        True,
    )


@pytest.mark.parametrize(
    "text",
    ["If harbor is not the same as harbour, split them.", "Isn't harbor the same as harbour?"],
)
def test_a_condition_denies_nothing(text: str) -> None:
    assert statements_about(text, NAMES) == frozenset()


def test_names_of_several_words_and_other_scripts_are_known_by_their_tags() -> None:
    assert statements_about('hub is an alias of "Memory Hub".', NAMES) == {
        Statement("hub", "memory-hub", denied=False)
    }
    assert statements_about("we renamed node.js to 나루.", NAMES) == {
        Statement("node.js", "나루", denied=False)
    }


@pytest.mark.parametrize(
    "text",
    [
        "a is " * 2000,
        "x" * 8000,
        "'" * 4000,
        "\0\ud800 is now called",
        "renamed " * 1000,
        "harbor is the same as " * 400,
        ":\n" * 4000,
        "`" * 4000,
        "> " * 4000,
    ],
)
def test_any_text_is_legal(text: str) -> None:
    assert statements_about(text, NAMES) == frozenset()
