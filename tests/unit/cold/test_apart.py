"""Where work on texts is done: here while they are short."""

import threading

import pytest

from cold.apart import SHORT_CHARS, apart


@pytest.mark.parametrize(("chars", "here"), [(0, True), (SHORT_CHARS, True), (10**6, False)])
async def test_only_long_texts_are_taken_to_a_thread(chars: int, here: bool) -> None:
    thread = await apart(threading.get_ident, chars)
    assert (thread == threading.get_ident()) is here
