"""The wrapping of Buzz's bridge: taken off where every part is beyond doubt (F84)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.buzz.wrapper import Quote, same_words, unwrap

ROOM = "11111111-1111-4111-8111-111111111111"
KEY, OTHER = "a" * 64, "b" * 64
BASE = "<base>\nThe manual.\n<context>\nan example\n\n</base>"
INSTRUCTIONS = "<agent-instructions>\nBe brief.\n</agent-instructions>"
MEMORY = "<core-memory>\nLikes tea.\n</core-memory>"
CONTEXT = f"<context>\nScope: thread\nChannel: Hall (#{ROOM})\nReply there.\n</context>"
HISTORY = (
    '<thread-context included="2" total="9">\n'
    f"[1] Mara ({KEY}) (2026-09-30T10:00:00.000Z): one\nand more\n"
    f"[2] {OTHER} (2026-09-30T12:00:05+02:00): two (x) ({KEY}) (2026-09-30T10:00:00Z): y\n"
    "</thread-context>"
)
TURN = '<buzz-event type="@mention">\nContent: <b>hello</b>\n</buzz-event>'
PARTS = (BASE, INSTRUCTIONS, MEMORY, CONTEXT, HISTORY, TURN)


def joined(*parts: str) -> str:
    return "\n\n".join(parts)


def test_manual_and_history_go_and_the_quotes_are_told() -> None:
    found = unwrap(joined(*PARTS))
    assert found is not None
    assert found.text == joined(CONTEXT, TURN)
    assert found.room == ROOM
    assert found.quotes == (
        Quote(KEY, datetime(2026, 9, 30, 10, tzinfo=UTC), "one\nand more"),
        Quote(
            OTHER,
            datetime(2026, 9, 30, 10, 0, 5, tzinfo=UTC),
            f"two (x) ({KEY}) (2026-09-30T10:00:00Z): y",
        ),
    )


@pytest.mark.parametrize(
    "parts",
    [
        (BASE, CONTEXT, TURN),
        (CONTEXT, HISTORY, TURN),
        (BASE, MEMORY, CONTEXT, HISTORY, TURN),
        (CONTEXT, HISTORY, "<buzz-events>\nx\n</buzz-events>"),
        (BASE, CONTEXT, "<what-you-were-working-on>\nx\n</what-you-were-working-on>\n\n" + TURN),
    ],
)
def test_each_optional_part_may_be_missing(parts: tuple[str, ...]) -> None:
    found = unwrap(joined(*parts))
    assert found is not None
    assert found.text == joined(CONTEXT, parts[-1])
    assert unwrap(found.text) is None


@pytest.mark.parametrize(
    "text",
    [
        joined(CONTEXT, TURN),
        joined(BASE, CONTEXT),
        joined(BASE, TURN),
        joined(BASE, CONTEXT, "What of it?"),
        joined(BASE, CONTEXT, "<unknown-part>\nx\n</unknown-part>", TURN),
        joined(BASE, CONTEXT.replace("Scope: thread", "Scope: moon"), TURN),
        joined(BASE, CONTEXT.replace(f" (#{ROOM})", ""), TURN),
        joined(BASE, CONTEXT.replace("Reply", f"Channel: {ROOM}\nReply"), TURN),
        joined(BASE.replace("</base>", ""), CONTEXT, TURN),
        joined(BASE, CONTEXT, HISTORY, TURN.replace("hello", "</thread-context>")),
        joined(BASE, CONTEXT, HISTORY.replace("and more", "</thread-context>"), TURN),
        joined(BASE, CONTEXT, HISTORY.replace("and more", "<buzz-event>"), TURN),
        joined(BASE, CONTEXT, HISTORY.replace('included="2"', 'included="3"'), TURN),
        joined(BASE, CONTEXT, HISTORY.replace("[1] Mara", "Mara"), TURN),
        joined(BASE, CONTEXT, HISTORY.replace("-09-30T10:00:00.", "-99-30T10:00:00."), TURN),
        joined(BASE, CONTEXT, TURN.replace("hello", "</base>")),
        joined(BASE, CONTEXT, TURN.replace("hello", "</context>")),
    ],
)  # fmt: skip
def test_in_doubt_it_stays(text: str) -> None:
    assert unwrap(text) is None


@given(st.permutations(PARTS))
def test_no_other_order_is_known(parts: list[str]) -> None:
    assert (unwrap(joined(*parts)) is not None) == (tuple(parts) == PARTS)


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=40)), max_size=8))
def test_what_is_taken_off_leaves_context_and_turn_as_they_were(parts: list[str]) -> None:
    text = joined(*parts)
    found = unwrap(text)
    if found is not None:
        context, _, turn = found.text.partition("\n\n<")
        assert context in text
        assert f"<{turn}" in text
        assert len(found.text) < len(text)
        assert unwrap(found.text) is None


@given(st.text())
def test_any_text_is_legal(text: str) -> None:
    assert unwrap(text) is None
    assert unwrap(f"<base>{text}") is None


@given(st.text(alphabet="[]()<>:0123456789abTZ-\n ", max_size=200))
def test_any_history_is_legal(words: str) -> None:
    unwrap(joined(CONTEXT, f"<thread-context>\n{words}\n</thread-context>", TURN))


def test_white_space_alone_makes_no_other_words() -> None:
    assert same_words(" a\n b", "a b ")
    assert not same_words("ab", "a b")
