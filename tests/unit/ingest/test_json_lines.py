"""Lines that should be one JSON object, and what is saved of those that are not."""

import json

import pytest

from ingest.transcripts.json_lines import Object, objects

FIRST = {"uuid": "1", "text": "first {not a record}"}
SECOND = {"uuid": "2", "nested": {"uuid": "inner"}, "last": 1}
# Where a crash may cut it; only right behind an inner object would that one look like a record.
INSIDE = [
    cut for cut in range(1, len(json.dumps(SECOND))) if not json.dumps(SECOND)[:cut].endswith("}")
]


def is_record(line: Object) -> bool:
    return "uuid" in line


def line(*parts: object) -> bytes:
    return b"".join(p if isinstance(p, bytes) else json.dumps(p).encode() for p in parts) + b"\n"


@pytest.mark.parametrize(
    "damaged",
    [
        line(FIRST),
        b"\xef\xbb\xbf" + line(FIRST),
        b"\0" * 900 + line(FIRST),
        line(FIRST, b"\0\0\0"),
        line(FIRST, b"\r"),
        line(b"  ", FIRST, b"\t"),
    ],
)
def test_a_mark_or_padding_around_an_object_is_nothing(damaged: bytes) -> None:
    assert objects(damaged, is_record) == ([FIRST], False)


@pytest.mark.parametrize("nothing", [b"", b"\n", b"\r\n", b"\0\0\0\n", b"\xef\xbb\xbf\n"])
def test_an_empty_line_is_no_loss(nothing: bytes) -> None:
    assert objects(nothing, is_record) == ([], False)


def test_two_whole_objects_on_one_line_are_two() -> None:
    assert objects(line(FIRST, SECOND), is_record) == ([FIRST, SECOND], False)
    assert objects(line(FIRST, b"\0\0", SECOND), is_record) == ([FIRST, SECOND], False)


@pytest.mark.parametrize("cut", range(1, len(json.dumps(FIRST))))
def test_the_record_glued_to_a_cut_one_is_saved(cut: int) -> None:
    """A28: wherever the first one was cut, the second is whole."""
    half = json.dumps(FIRST).encode()[:cut]
    assert objects(line(half, SECOND), is_record) == ([SECOND], True)


@pytest.mark.parametrize("cut", INSIDE)
def test_the_whole_record_before_a_cut_one_is_saved(cut: int) -> None:
    """A28: and the first, wherever the second was cut."""
    half = json.dumps(SECOND).encode()[:cut]
    assert objects(line(FIRST, half), is_record) == ([FIRST], True)


@pytest.mark.parametrize("cut", INSIDE)
def test_a_part_of_a_cut_record_is_not_taken_for_a_record(cut: int) -> None:
    found, lost = objects(line(json.dumps(SECOND).encode()[:cut]), is_record)
    assert (found, lost) == ([], True)
    found, lost = objects(line(json.dumps(SECOND).encode()[cut:]), is_record)
    assert (found, lost) == ([], True)


@pytest.mark.parametrize(
    "garbage",
    [
        b"null\n",
        b"17\n",
        b'"a string"\n',
        b"[1, 2]\n",
        b"NaN\n",
        b"{\n",
        b'{"a": ' * 100_000 + b"\n",
        b'{"a":{"b":1}' * 5_000 + b"\n",
        b"\xff\xfe\x00garbage\n",
        b'{"n": ' + b"9" * 10_000 + b"}\n",
        b"[" * 200_000 + b"\n",
    ],
)
def test_garbage_is_counted_and_never_raises(garbage: bytes) -> None:
    assert objects(garbage, is_record) == ([], True)


def test_separators_inside_of_strings_stay() -> None:
    said = {"uuid": "1", "text": "a\u2028b\u2029c\x85d\x0ce"}
    assert objects(json.dumps(said, ensure_ascii=False).encode(), is_record) == ([said], False)


def test_bytes_that_are_no_utf8_cost_only_themselves() -> None:
    [found], lost = objects(b'{"uuid":"1","text":"caf\xe9"}\n', is_record)
    assert (found["text"], lost) == ("caf\ufffd", False)
