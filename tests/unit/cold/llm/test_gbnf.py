"""The grammars match every answer of their schema and nothing else."""

import json
import random
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cold.llm.gbnf import compile_schema, integer_range
from cold.llm.schemas import Schema, longest
from tests.fixtures.grammars import Grammar

# What a grammar lets into a string: no control characters but by \n and \t, no lone surrogates.
CHARACTERS = st.characters(exclude_categories=("Cs", "Cc"), include_characters='\n\t"\\/한🙂')
NAMES = st.text(CHARACTERS, min_size=1, max_size=6)


def strings() -> st.SearchStrategy[Schema]:
    return st.tuples(st.integers(0, 4), st.integers(0, 12)).map(
        lambda n: {"type": "string", "minLength": n[0], "maxLength": n[0] + n[1]}
    )


def integers() -> st.SearchStrategy[Schema]:
    bound = st.one_of(st.integers(-20, 20), st.integers(-(10**9), 10**9))
    return st.tuples(bound, bound).map(
        lambda n: {"type": "integer", "minimum": min(n), "maximum": max(n)}
    )


def numbers() -> st.SearchStrategy[Schema]:
    return st.tuples(st.integers(-15, 15), st.integers(-15, 15)).map(
        lambda n: {"type": "number", "minimum": min(n), "maximum": max(n)}
    )


def enums() -> st.SearchStrategy[Schema]:
    words = st.lists(NAMES, min_size=1, max_size=4, unique=True)
    return st.one_of(
        words.map(lambda values: {"type": "string", "enum": values}),
        words.map(lambda values: {"type": ["string", "null"], "enum": [*values, None]}),
    )


def arrays(items: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.tuples(items, st.integers(0, 2), st.integers(0, 3)).map(
        lambda n: {"type": "array", "items": n[0], "minItems": n[1], "maxItems": n[1] + n[2]}
    )


def objects(values: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.dictionaries(NAMES, values, min_size=1, max_size=4).map(
        lambda properties: {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    )


def or_null(schema: Schema) -> Schema:
    return schema if "enum" in schema else {**schema, "type": [schema["type"], "null"]}


def _nullable(schema: Schema) -> Schema:
    return {**schema, "type": ["object", "null"]}


PLAIN = st.one_of(strings(), integers(), numbers(), enums(), st.just({"type": "boolean"}))
SCHEMAS = st.recursive(
    st.one_of(PLAIN, PLAIN.map(or_null)),
    lambda inner: st.one_of(arrays(inner), objects(inner), objects(inner).map(_nullable)),
    max_leaves=6,
)


def instances(schema: Schema) -> st.SearchStrategy[Any]:
    """Valid answers, keys in the order of the schema."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema["type"]
    if isinstance(kinds, list):
        return st.one_of(st.none(), instances({**schema, "type": kinds[0]}))
    match kinds:
        case "string":
            return st.text(CHARACTERS, min_size=schema["minLength"], max_size=schema["maxLength"])
        case "integer":
            return st.integers(schema["minimum"], schema["maximum"])
        case "number":
            thousandths = st.integers(schema["minimum"] * 1000, schema["maximum"] * 1000)
            return thousandths.map(lambda n: n / 1000)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(
                instances(schema["items"]), min_size=schema["minItems"], max_size=schema["maxItems"]
            )
        case _:
            keys = list(schema["properties"])
            values = st.tuples(*(instances(schema["properties"][key]) for key in keys))
            return values.map(lambda each: dict(zip(keys, each, strict=True)))


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=150)
@given(data=st.data())
def test_every_valid_answer_matches(data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS)
    value = data.draw(instances(schema))
    jsonschema.validate(value, schema)
    text = compact(value)
    assert Grammar(compile_schema(schema)).matches(text)
    assert len(text) <= longest(schema) + text.count("\\")


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=150)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_a_changed_answer_matches_only_while_it_is_valid(data: st.DataObject, seed: int) -> None:
    schema = data.draw(SCHEMAS)
    text = compact(data.draw(instances(schema)))
    chance = random.Random(seed)
    at = chance.randrange(len(text) + 1)
    changed = (
        text[:at]
        + chance.choice(['"', "9", "-", ",", "{", "\n", "\0", "x", ""])
        + text[at + chance.choice([0, 1]) :]
    )
    matched = Grammar(compile_schema(schema)).matches(changed)
    if matched:
        jsonschema.validate(json.loads(changed), schema)


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=150)
@given(schema=SCHEMAS, seed=st.integers(0, 2**32))
def test_every_walk_through_a_grammar_is_a_valid_answer(schema: Schema, seed: int) -> None:
    """No NUL and no lone surrogate either: what comes out can be encoded and stored."""
    text = Grammar(compile_schema(schema)).walk(random.Random(seed))
    value = json.loads(text)
    jsonschema.validate(value, schema)
    assert "\0" not in json.dumps(value, ensure_ascii=False)
    text.encode()


@given(
    st.integers(-(10**12), 10**12),
    st.integers(0, 10**12),
    st.lists(st.integers(-(10**13), 10**13), max_size=8),
)
def test_a_range_holds_its_numbers_and_no_others(low: int, width: int, others: list[int]) -> None:
    high = low + width
    grammar = Grammar(f"root ::= {integer_range(low, high)}\n")
    for number in (low, high, (low + high) // 2, low - 1, high + 1, *others):
        assert grammar.matches(str(number)) == (low <= number <= high)
    assert not grammar.matches(f"0{abs(low)}")


@pytest.mark.parametrize(
    "words", [['a"b\n'], ["한국어", "다른"], ["👩‍👩‍👧", "\\", "\t\x7f\x01"], [""]]
)
def test_an_enum_matches_its_words_whatever_they_hold(words: list[str]) -> None:
    """The library's own compiler crashes the process on the first of these."""
    grammar = Grammar(compile_schema({"type": "string", "enum": words}))
    assert [grammar.matches(compact(word)) for word in words] == [True] * len(words)
    assert not grammar.matches(compact(words[0] + "x"))


@pytest.mark.parametrize(
    "text", ['"a\nb"', '"\0"', '"\\u0000"', '"\\ud800"', '"\x7f"', '"', '"abcd"', "abc", '"a" ']
)
def test_a_string_holds_no_control_characters_and_no_codes(text: str) -> None:
    grammar = Grammar(compile_schema({"type": "string", "minLength": 0, "maxLength": 3}))
    assert not grammar.matches(text)


def test_long_strings_and_lists_keep_a_short_grammar() -> None:
    schema: Schema = {
        "type": "array",
        "items": {"type": "string", "maxLength": 20_000},
        "maxItems": 50,
    }
    assert len(compile_schema(schema)) < 300
