"""Whatever a model writes around, instead of or inside of its answer has a defined result."""

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from cold.llm.backend import Generated
from cold.llm.port import Failure, Why
from cold.llm.reading import read


class Fact(BaseModel):
    text: Annotated[str, Field(max_length=100)]
    importance: Annotated[int, Field(ge=1, le=10)]


GOOD = '{"text":"The heron stood there.","importance":3}'
FACT = Fact(text="The heron stood there.", importance=3)


def outcome(text: str, finish: str = "stop") -> Fact | Why:
    answer = read(Generated(text, finish), Fact)  # type: ignore[arg-type]
    return answer.why if isinstance(answer, Failure) else answer


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"<think>\n{{not yet}}\n</think>\n\n{GOOD}",
        f"Here is the {{object}} you asked for: {GOOD} I hope {{it}} helps.",
        f"{GOOD}\n{GOOD}",
        json.dumps(json.loads(GOOD), indent=2),
    ],
)
def test_the_answer_is_found_in_what_was_written_around_it(text: str) -> None:
    """A2: prose with braces around valid JSON."""
    assert outcome(text) == FACT


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", Why.EMPTY),
        (" \n", Why.EMPTY),
        ("<think>hm</think>", Why.EMPTY),
        ("I see no facts.", Why.MALFORMED),
        ("I'm sorry, but I can't assist with that.", Why.REFUSED),
        ("Es tut mir leid, aber dabei kann ich nicht helfen.", Why.REFUSED),
        ("Dabei kann ich leider nicht helfen.", Why.REFUSED),
        ('I cannot help with this request. {"error": "policy"}', Why.REFUSED),
        (GOOD[:-5], Why.MALFORMED),
        ("[1, 2]", Why.MALFORMED),
        ('"text"', Why.MALFORMED),
        ("{" * 100_000, Why.MALFORMED),
        ('{"text":' * 50_000, Why.MALFORMED),
        ("x" * 1_000_001, Why.OVERLONG),
        ('{"text":"a","importance":NaN}', Why.MALFORMED),
        ('{"text":"a"}', Why.INVALID),
        ('{"text":"a","importance":11}', Why.INVALID),
        ('{"text":"a","importance":"3"}', Why.INVALID),
        ('{"text":"a","importance":true}', Why.INVALID),
        ('{"text":7,"importance":3}', Why.INVALID),
        (json.dumps({"text": "a" * 101, "importance": 3}), Why.INVALID),
        (f"{GOOD} or rather {GOOD.replace('3', '4')}", Why.INVALID),
    ],
)
def test_what_is_no_answer_has_a_name(text: str, why: Why) -> None:
    assert outcome(text) == why


def test_an_answer_that_was_cut_is_none_even_where_it_fits() -> None:
    """C6: a model that used up its tokens thinking."""
    assert outcome(GOOD, "length") == Why.CUT
    assert outcome("", "length") == Why.CUT


def test_nul_and_lone_surrogates_are_replaced() -> None:
    """I1: one broken character does not lose the batch, and cannot reach the database."""
    assert outcome('{"text":"a\\u0000b\\ud83d","importance":3}') == Fact(
        text="a\ufffdb\ufffd", importance=3
    )


def test_a_reason_holds_nothing_of_the_answer() -> None:
    class Strict(BaseModel, extra="forbid"):
        text: Annotated[str, Field(max_length=3)]

    for text in ('{"text":"secret words"}', '{"text":"a","secret":1}', "secret words"):
        failure = read(Generated(text, "stop"), Strict)
        assert isinstance(failure, Failure)
        assert "secret" not in failure.reason


@given(st.text(), st.sampled_from(["stop", "length"]))
def test_any_text_has_a_result(text: str, finish: str) -> None:
    assert isinstance(outcome(text, finish), Fact | Why)
