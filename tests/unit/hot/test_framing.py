"""From a line to a message."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest

from agents_memory.domain.text import repair
from hot.framing import Malformed, batch_ids, mend, parse

any_text = st.text(st.characters(exclude_categories=()))


def line_with(text: str, number: int = 1) -> str:
    params = {"name": "save_message", "arguments": {"message": text}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def said(line: str) -> str:
    message = parse(line)
    assert isinstance(message, JSONRPCRequest)
    assert message.params is not None
    return str(message.params["arguments"]["message"])


@given(any_text)
def test_every_string_arrives_as_it_would_be_stored(text: str) -> None:
    """I1, H2: half an emoji in a request costs that half, not the request."""
    # Some JavaScript clients write non-ASCII as it is, others escape it; json.dumps escapes.
    assert repair(said(line_with(text))).text == repair(text).text


@pytest.mark.parametrize(
    ("escaped", "mended"),
    [
        (r"\ud800", r"\ufffd"),
        (r"\uDFFF", r"\ufffd"),
        (r"\ud83d\ude00", r"\ud83d\ude00"),
        (r"\ude00\ud83d", r"\ufffd\ufffd"),
        (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
        (r"\\ud800", r"\\ud800"),
        (r"\\\ud800", r"\\\ufffd"),
        (r"C:\\users\n", r"C:\\users\n"),
    ],
)
def test_only_lone_surrogates_are_replaced(escaped: str, mended: str) -> None:
    assert mend(escaped) == mended


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        ('{"jsonrpc":"2.0","id":77,"method":"x","params":{"a": tru', PARSE_ERROR, 77),
        ('{"jsonrpc":"2.0","method":"x","params":{},"id":"seven"', PARSE_ERROR, "seven"),
        (
            '{"jsonrpc":"2.0","id":3,"method":"x","params":{"n":1' + "0" * 5000 + "}}",
            PARSE_ERROR,
            3,
        ),
        ('{"id":78,"foo":1}', INVALID_REQUEST, 78),
        ('{"jsonrpc":"1.0","id":4,"method":"x"}', INVALID_REQUEST, 4),
    ],
)
def test_a_broken_request_keeps_its_id(line: str, code: int, number: int | str) -> None:
    """H2: whoever waits for an answer to this id gets one."""
    message = parse(line)
    assert isinstance(message, Malformed)
    assert (message.code, message.id) == (code, number)


@pytest.mark.parametrize(
    "line",
    [
        "garbage",
        '{"id":1,"x":{"id":2},',
        r'{"text":"\"id\":5"',
        '{"id":1.5,"method":"x"}',
        '{"id":null}',
        "[]",
    ],
)
def test_an_id_that_is_not_certain_is_not_guessed(line: str) -> None:
    message = parse(line)
    assert isinstance(message, Malformed)
    assert message.id is None


@given(any_text)
def test_no_line_raises(line: str) -> None:
    """D10."""
    parse(line)


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_a_notification_is_no_request(value: Any) -> None:
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/x", "params": {"v": value}})
    assert isinstance(parse(line), JSONRPCNotification)


def test_every_request_of_a_batch_is_known() -> None:
    """H2: no request stays unanswered, even in a form that is no longer spoken."""
    batch = '[{"id": 1, "method": "ping"}, {"id": "b", "method": "x"}, {"method": "note"}, 7]'
    assert batch_ids(batch) == [1, "b"]
    assert batch_ids('{"id": 1, "method": "ping"}') == []
    assert batch_ids("[[[") == []
