"""The material of the benchmarks."""

from agents_memory.domain.lexical import query_terms
from bench.turns import ask_about, example_drafts, example_questions


def test_the_questions_of_the_examples_are_read_from_their_page() -> None:
    questions = example_questions()
    assert len(questions) == 12
    assert "Why were customers charged twice?" in questions


def test_the_turns_of_the_examples_are_all_there() -> None:
    drafts = example_drafts()
    assert len(drafts) == len({(draft.session, draft.native_id) for draft in drafts}) == 248


def test_questions_ask_for_words_that_can_be_looked_for() -> None:
    texts = [draft.text for draft in example_drafts()]
    questions = ask_about(texts, 20)
    assert questions == ask_about(texts, 20)
    assert len(questions) == 20
    assert all(len(query_terms(question)) >= 2 for question in questions)


def test_nothing_is_asked_about_texts_of_few_words() -> None:
    assert ask_about(["too short"], 5) == []
