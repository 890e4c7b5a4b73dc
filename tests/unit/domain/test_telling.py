"""How much a word tells when it is met again."""

import pytest

from agents_memory.domain.lexical.common import common_words
from agents_memory.domain.telling import (
    COMMON_NAME,
    EXACT,
    NAME,
    RARE,
    SCRAP,
    SHORT_NUMBER,
    read,
    stretches,
)


@pytest.mark.parametrize(
    ("token", "weight"),
    [
        ("6543", EXACT),
        ("4.2.0", EXACT),
        ("22:30", EXACT),
        ("db-stage-2", EXACT),
        ("shadow_07", EXACT),
        ("api-uat.qinglan.cn", EXACT),
        ("feature/osprey-index", EXACT),
        ("sessionStore", EXACT),
        ("X-Tenant", EXACT),
        ("48", SHORT_NUMBER),
        ("2026", SHORT_NUMBER),
        ("3000", SHORT_NUMBER),
        ("7", SCRAP),
        ("meniscus", RARE),
        ("and/or", 0.0),
        ("house", 0.0),
        ("trotzdem", 0.0),
        ("porque", 0.0),
        ("сначала", 0.0),
    ],
)
def test_a_number_or_code_tells_much_and_a_common_word_nothing(token: str, weight: float) -> None:
    assert max((word.weight for word in read(token).words), default=0.0) == weight


def test_stop_words_are_no_words() -> None:
    assert read("the of and der von の 的").words == ()


def test_a_capital_counts_inside_of_a_sentence_only() -> None:
    reading = read(
        'Okafor called. Then Okafor wrote.\n- Brandl\n1. Vukovic\n"Kisaragi" and Kisaragi'
    )
    assert "okafor" in reading.names
    assert "brandl" not in reading.names
    assert "kisaragi" in reading.names
    assert "then" not in reading.names
    [word] = [word for word in reading.words if word.lexeme == "okafor"]
    assert (word.weight, word.as_name) == (RARE, NAME)
    [common] = read("house").words
    assert common.as_name == COMMON_NAME


@pytest.mark.parametrize(
    ("run", "there", "known", "left"),
    [
        ("订单交给沈嘉宁", "由沈嘉宁负责", "", ["沈嘉宁"]),
        ("订单交给沈嘉宁", "由沈嘉宁负责", "沈嘉宁是谁", []),
        # Two common words side by side are no word of their own.
        ("先更新文档", "先更新数据", "", []),
        ("アトルバスタチン", "アトルバスタチンです", "", ["アトルバスタチン"]),
        ("확인", "확인", "", []),
    ],
)
def test_of_a_run_counts_what_is_neither_known_nor_common(
    run: str, there: str, known: str, left: list[str]
) -> None:
    assert list(stretches(run, read(there), read(known))) == left


def test_the_common_words_are_many_in_many_scripts() -> None:
    words = common_words()
    assert 50_000 < len(words) < 100_000
    assert {"hous", "cada", "всего", "مرة", "我们", "ところ", "사람"} & words >= {"hous", "cada"}
    assert not {"", " "} & words
