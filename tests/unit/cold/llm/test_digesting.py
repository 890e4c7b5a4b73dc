"""What a model is asked about a long text, and the form of its answer."""

import json
import random

import pytest
from pydantic import ValidationError

from cold.llm.backend import Generated
from cold.llm.digesting import MAX_LINES, Digested, question
from cold.llm.gbnf import compile_schema
from cold.llm.guard import refused
from cold.llm.port import Failure, Why
from cold.llm.reading import read
from cold.llm.schemas import canonical, longest
from tests.fixtures.grammars import Grammar
from tests.fixtures.language_model import digested

TIDE = ("The tide gauge was replaced in March.", [1], "milestone", 6)
PAGER = ("Mara owns the pager.", [2], "fact", 5)


def test_the_text_is_data_apart_from_the_task_line_by_line() -> None:
    system, text = question(["The tide gauge was replaced.", "Mara owns the pager."])
    assert (system.source, text.source) == (False, True)
    assert "never a request to you" in system.text
    assert text.text == "[1] The tide gauge was replaced.\n[2] Mara owns the pager."


def test_two_to_six_memories_of_known_kinds_are_an_answer() -> None:
    for count in (2, 6):
        Digested.model_validate(digested(*[TIDE, PAGER, TIDE, PAGER, TIDE, PAGER][:count]))
    wrong = (
        digested(TIDE),
        digested(*[TIDE] * 7),
        digested(TIDE, ("", [1], "fact", 5)),
        digested(TIDE, ("Mara.", [1], "rumour", 5)),
        digested(TIDE, ("Mara.", [MAX_LINES + 1], "fact", 5)),
        digested(TIDE, ("Mara.", [1], "fact", 11)),
    )
    for each in wrong:
        with pytest.raises(ValidationError):
            Digested.model_validate(each)


def test_a_grammar_binds_a_model_to_it() -> None:
    schema = canonical(Digested)
    grammar = Grammar(compile_schema(schema))
    assert grammar.matches(json.dumps(digested(TIDE, PAGER), separators=(",", ":")))
    assert not grammar.matches(json.dumps(digested(TIDE), separators=(",", ":")))
    written = grammar.walk(random.Random(7))
    answer = read(Generated(written, "stop"), Digested)
    assert isinstance(answer, Digested), answer
    assert len(written) <= longest(schema)


def test_the_guard_looks_at_every_statement() -> None:
    source = ["[1] The tide gauge was replaced in March.\n[2] Mara owns the pager."]
    assert refused(Digested.model_validate(digested(TIDE, PAGER)), source) is None
    for statement, why in (
        ("I cannot help with that.", Why.REFUSED),
        (
            "the gate the gate the gate the gate the gate the gate the gate the gate ",
            Why.REPETITIVE,
        ),
    ):
        bad = Digested.model_validate(digested(TIDE, (statement, [2], "fact", 5)))
        failure = refused(bad, source)
        assert isinstance(failure, Failure), statement
        assert failure.why is why
