"""Answers of the passes become schemas that every server can enforce."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import jsonschema  # type: ignore[import-untyped]
import pytest
from pydantic import BaseModel, Field

from agents_memory.domain.errors import ConfigurationError
from cold.llm.schemas import (
    STRING_BOUNDS,
    canonical,
    longest,
    with_choices_for_null,
    without,
)

Word = Annotated[str, Field(min_length=1, max_length=40)]


class Kind(StrEnum):
    FACT = "fact"
    PROMISE = "promise"


class Fact(BaseModel):
    quote: Word
    kind: Kind
    importance: Annotated[int, Field(ge=1, le=10)] = 5
    valence: Annotated[float, Field(ge=-1, le=1)]


class Facts(BaseModel):
    facts: Annotated[list[Fact], Field(max_length=3)]
    subject: Word | None = None
    tone: Literal["calm", "loud"] | None
    last: Fact | None
    maxLength: bool


FACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "quote": {"type": "string", "minLength": 1, "maxLength": 40},
        "kind": {"type": "string", "enum": ["fact", "promise"]},
        "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        "valence": {"type": "number", "minimum": -1, "maximum": 1},
    },
    "required": ["quote", "kind", "importance", "valence"],
    "additionalProperties": False,
}


def test_a_model_becomes_the_portable_subset() -> None:
    schema = canonical(Facts)
    assert schema == {
        "type": "object",
        "properties": {
            "facts": {"type": "array", "items": FACT, "maxItems": 3},
            "subject": {"type": ["string", "null"], "minLength": 1, "maxLength": 40},
            "tone": {"type": ["string", "null"], "enum": ["calm", "loud", None]},
            "last": {**FACT, "type": ["object", "null"]},
            "maxLength": {"type": "boolean"},
        },
        "required": ["facts", "subject", "tone", "last", "maxLength"],
        "additionalProperties": False,
    }
    jsonschema.Draft202012Validator.check_schema(schema)


def test_a_keyword_is_taken_out_everywhere_and_a_key_of_that_name_stays() -> None:
    bare = without(canonical(Facts), *STRING_BOUNDS)
    assert "maxLength" in bare["properties"]
    assert "'minLength'" not in str(bare)
    assert bare["properties"]["facts"]["items"]["properties"]["quote"] == {"type": "string"}
    assert canonical(Facts)["properties"]["subject"]["maxLength"] == 40


def test_null_can_be_said_by_alternatives() -> None:
    schema = with_choices_for_null(canonical(Facts))
    assert schema["properties"]["tone"] == {
        "anyOf": [{"type": "string", "enum": ["calm", "loud"]}, {"type": "null"}]
    }
    assert schema["properties"]["last"]["anyOf"][0] == FACT


def test_the_longest_answer_is_known() -> None:
    fact = longest(canonical(Fact))
    assert 100 < fact < 200
    assert 3 * fact < longest(canonical(Facts)) < 6 * fact


class Unbounded(BaseModel):
    text: str


class Listless(BaseModel):
    words: list[Word]


class Patterned(BaseModel):
    word: Annotated[str, Field(max_length=9, pattern="^a")]


class Open(BaseModel):
    words: dict[str, int]


class Either(BaseModel):
    value: Word | bool


class Endless(BaseModel):
    next: "Endless | None"


class Fine(BaseModel):
    share: Annotated[float, Field(ge=0.5, le=1)]


@pytest.mark.parametrize("model", [Unbounded, Listless, Patterned, Open, Either, Endless, Fine])
def test_what_some_server_cannot_enforce_is_refused_with_its_place(model: type[BaseModel]) -> None:
    with pytest.raises(ConfigurationError, match=f"^{model.__name__}"):
        canonical(model)
