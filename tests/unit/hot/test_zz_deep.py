"""Text and structure say the same, whatever is asked: half of the clients show only one of them."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.types import CallToolResult

from tests.unit.hot.conftest import Talk, text_of

any_text = st.text(st.characters(exclude_categories=()), max_size=200)
words = st.sampled_from(["kafka", "outbox", "port 8080", "größe", "日本語", "a\0b", "\ud800", ""])
texts = any_text | words
maybe = st.none() | texts
garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=4,
)
identity = {
    "agent_platform": maybe,
    "agent_model": maybe,
    "subagent": st.booleans(),
    "subagent_model": maybe,
    "subagent_role": maybe,
}
ids = st.integers(1, 60) | st.integers(1, 2**53 - 1)
CALLS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "memory_startup": st.fixed_dictionaries(
        {}, optional={"short_term_days": st.integers(1, 30), "agent_platform_filter": st.booleans()}
    ),
    "search_memory": st.fixed_dictionaries(
        {},
        optional={
            "query": maybe,
            "p_tag": maybe | st.just("harbor"),
            "date_range": st.none() | st.sampled_from(["today", "last_week", "..today"]) | texts,
            "role": st.sampled_from([None, "user", "assistant"]),
            "agent_platform": maybe | st.sampled_from(["*", "claude-code"]),
            "device_scope": st.sampled_from(["local", "global"]),
            "venue": maybe,
            "limit": st.integers(1, 50),
            "include_archived": st.booleans(),
            "max_tokens": st.integers(200, 20_000),
        },
    ),
    "manage_knowledge": st.fixed_dictionaries(
        {
            "action": st.sampled_from(["add", "update", "remove"]),
            "target": st.sampled_from(["memory", "sub_profile"]),
        },
        optional={
            "content": maybe,
            "memory_id": st.none() | ids,
            "kind": st.sampled_from([None, "fact", "promise"]),
            "subject": maybe,
            **identity,
        },
    ),
    "save_message": st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "message": texts}, optional=identity
    ),
    "cite": st.fixed_dictionaries({"ids": st.lists(ids, max_size=5)}),
}
calls = st.one_of(*(st.tuples(st.just(name), arguments) for name, arguments in CALLS.items()))
shapeless = st.tuples(
    st.sampled_from(list(CALLS)),
    st.dictionaries(
        st.sampled_from(["query", "limit", "action", "content", "message", "role", "ids"]) | texts,
        garbage,
        max_size=4,
    ),
)


def leaves(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            for inner in value.values():
                yield from leaves(inner)
        case list():
            for inner in value:
                yield from leaves(inner)
        case _:
            yield value


def squeezed(text: str) -> str:
    """Without what the text may lay out anew: white space at all."""
    return "".join(text.split())


def assert_same_facts(result: CallToolResult) -> None:
    text = squeezed(text_of(result))
    structure = dict(result.structured_content or {})
    # The fence of the text has words of its own to the same effect.
    structure.pop("notice", None)
    for fact in leaves(structure):
        if isinstance(fact, bool):
            # Written as a word of its own place: yes, done, excerpt.
            continue
        assert squeezed(str(fact)) in text, fact


# Examples share one pool, so a failing one cannot be made smaller by itself.
FUZZ = settings(
    max_examples=400,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FUZZ
@given(st.lists(calls, min_size=1, max_size=6))
async def test_well_formed_calls_are_answered_alike_in_text_and_structure(
    talk: Talk, made: list[tuple[str, dict[str, Any]]]
) -> None:
    """D10, F15: no string, number or combination is a bug."""
    schemas = {
        tool.name: Draft202012Validator(tool.output_schema or {})
        for tool in (await talk.client.list_tools()).tools
    }
    for name, arguments in made:
        import time; t=time.perf_counter()
        result = await talk.call(name, **arguments)
        d=time.perf_counter()-t
        open("/tmp/deep.log","a").write(f"{d:.3f} {name} {arguments!r}\n")
        assert not result.is_error, (name, arguments, text_of(result))
        schemas[name].validate(result.structured_content)
        assert_same_facts(result)
        json.dumps(result.structured_content).encode()
        text_of(result).encode()


@FUZZ
@given(shapeless)
async def test_no_arguments_crash_a_tool(talk: Talk, made: tuple[str, dict[str, Any]]) -> None:
    name, arguments = made
    result = await talk.client.call_tool(name, arguments)
    assert "failed inside" not in text_of(result)
    text_of(result).encode()
