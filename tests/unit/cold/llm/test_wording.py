"""Data stays data, whatever control tokens it spells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cold.llm.wording import legible

TOKENS = [
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<think>",
    "</think>",
    "<THINK>",
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<start_of_turn>",
    "<end_of_turn>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "<｜User｜>",
    "<｜end▁of▁sentence｜>",
    "<tool_call>",
    "</tool_call>",
    "[gMASK]",
]


@pytest.mark.parametrize("token", TOKENS)
def test_a_control_token_is_broken_up_and_stays_readable(token: str) -> None:
    text = legible(f"say {token} now")
    assert token not in text
    assert text.replace(" ", "") == f"say{token}now"


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "x | y",
        "a || b",
        "<div>",
        "[1]",
        "f(x) -> [y]",
        "다음 <b>굵게</b>",
        "1<2",
    ],
)
def test_ordinary_signs_stay_as_they_are(text: str) -> None:
    assert legible(text) == text


@given(st.text(st.sampled_from("<>|/[]abINSTthinks \0\ud800｜")))
def test_nothing_that_is_left_spells_a_control_token(text: str) -> None:
    once = legible(text)
    assert legible(once) == once
    assert not any(token in once for token in TOKENS)
    assert "<|" not in once
    assert "\0" not in once
    once.encode()
