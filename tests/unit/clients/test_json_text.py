"""Settings with comments keep them, whatever of ours is put in or taken out."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.clients import json_text, json_tree
from agents_memory.clients.json_tree import NotJson

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
COMMENTED = """\
{
  // what I like
  "theme": "dark", /* really */
  "mcpServers": {
    // the other one
    "other": {"command": "x"}, // keep
  },
}
"""


def commented(document: Any, indent: int | None, comma: bool) -> str:
    """The document as somebody might keep it: comments on every line, a comma too many."""
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    if indent is None:
        return f"/* first */ {text} // last"
    lines = [f'{line} // a "comment", {{' for line in text.split("\n")]
    text = "\n".join(lines)
    return re.sub(r"([\w\"\]}]) (//[^\n]*\n *[\]}])", r"\1, \2", text) if comma else text


@given(DOCUMENTS, st.sampled_from([None, 1, 2, 4]), st.booleans())
def test_comments_are_read_over(document: Any, indent: int | None, comma: bool) -> None:
    assert json_text.read(commented(document, indent, comma)) == document


@given(DOCUMENTS, st.lists(KEYS, min_size=1, max_size=3), VALUES, st.sampled_from([None, 2, 4]))
def test_a_value_is_set_and_all_else_stays(
    document: Any, path: list[str], value: Any, indent: int | None
) -> None:
    expected: Any = json.loads(json.dumps(document))
    holder = expected
    for key in path[:-1]:
        holder = holder.setdefault(key, {})
        if not isinstance(holder, dict):
            return
    holder[path[-1]] = value
    text = commented(document, indent, comma=False)
    changed = json_text.with_value(text, path, value)
    assert json_text.read(changed) == expected
    assert json_text.with_value(changed, path, value) == changed


@given(DOCUMENTS, st.sampled_from([None, 2, 4]), st.data())
def test_a_member_is_taken_out_and_all_else_stays(
    document: dict[str, Any], indent: int | None, data: st.DataObject
) -> None:
    if not document:
        return
    key = data.draw(st.sampled_from(sorted(document)))
    text = commented(document, indent, comma=False)
    expected = {name: value for name, value in document.items() if name != key}
    assert json_text.read(json_text.without(text, [key])) == expected


@given(st.lists(VALUES, min_size=1, max_size=4), st.sampled_from([None, 2]), st.data())
def test_an_item_is_taken_out_of_an_array(
    items: list[Any], indent: int | None, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(items) - 1))
    text = commented({"hooks": items}, indent, comma=False)
    left = json_text.read(json_text.without(text, ["hooks", at]))["hooks"]
    assert left == items[:at] + items[at + 1 :]


@given(DOCUMENTS, st.lists(KEYS, min_size=1, max_size=3), VALUES, st.sampled_from([None, 2]))
def test_strict_text_is_changed_as_commented_text_is(
    document: Any, path: list[str], value: Any, indent: int | None
) -> None:
    """Byte for byte, whether the standard library reads what is beside the way or we do."""

    def outcome() -> list[str]:
        text = json.dumps(document, indent=indent)
        try:
            changed = json_text.with_value(text, path, value)
            return [changed, json_text.without(changed, path), json_text.without(text, path)]
        except NotJson as refusal:
            return [str(refusal)]

    quickly = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_tree, "_strict", lambda text, at: None)
        assert outcome() == quickly


def test_of_strict_text_only_the_way_to_the_member_is_walked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client keeps megabytes beside its servers."""
    walked: list[int] = []
    walk = json_tree._object

    def counted(text: str, at: int, *others: Any) -> Any:
        walked.append(at)
        return walk(text, at, *others)

    monkeypatch.setattr(json_tree, "_object", counted)
    projects = {f"/p{n}": {"history": [{"display": 'a "b" {'}] * 9} for n in range(99)}
    text = json.dumps({"projects": projects, "mcpServers": {"other": {"a": {"b": 1}}}}, indent=2)
    changed = json_text.with_value(text, ["mcpServers", "memory"], {"command": "y"})
    assert json_text.read(changed)["mcpServers"]["memory"] == {"command": "y"}
    assert json_text.without(changed, ["mcpServers", "memory"]) == text
    assert len(walked) == 4


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        outcome = json.dumps(json_text.read(text))
    except NotJson as refusal:
        outcome = str(refusal)
    assert outcome


def test_the_text_around_a_new_member_is_untouched() -> None:
    changed = json_text.with_value(COMMENTED, ["mcpServers", "memory"], {"command": "y"})
    assert changed == COMMENTED.replace(
        "// keep\n", '// keep\n    "memory": {\n      "command": "y"\n    }\n'
    )
    removed = json_text.without(changed, ["mcpServers", "memory"])
    assert removed == COMMENTED.replace("}, // keep", "} // keep")


def test_an_array_is_appended_to() -> None:
    text = '{\n  "SessionStart": [\n    {"a": 1}\n  ]\n}\n'
    changed = json_text.with_value(text, ["SessionStart", "-"], {"b": 2})
    assert json_text.read(changed) == {"SessionStart": [{"a": 1}, {"b": 2}]}


def test_blank_text_becomes_a_document() -> None:
    assert json_text.read(json_text.with_value("", ["a", "b"], 1)) == {"a": {"b": 1}}


def test_windows_line_ends_stay() -> None:
    changed = json_text.with_value('{\r\n\t"a": 1\r\n}\r\n', ["b"], [1])
    assert changed == '{\r\n\t"a": 1,\r\n\t"b": [\r\n\t\t1\r\n\t]\r\n}\r\n'


def test_a_byte_order_mark_stays() -> None:
    changed = json_text.with_value('\ufeff{"a": 1}', ["a"], 2)
    assert changed == '\ufeff{"a": 2}'


@pytest.mark.parametrize(
    "text",
    [
        *("{", '{"a" 1}', "[1,,2]", '{"a": nope}', "{} {}", "'a'", '{"a": 01}', '{"a": "\t"}'),
        *('{"a": 1, "a": 2}', '{"x": {"a": 1, "a": 2}}', "[" * 500, "[" * 5000 + "]" * 5000),
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(NotJson, match="line 1"):
        json_text.read(text)


def test_a_value_that_is_in_the_way_is_refused() -> None:
    with pytest.raises(NotJson, match="mcpServers is not what belongs there"):
        json_text.with_value('{"mcpServers": 3}', ["mcpServers", "memory"], {})
