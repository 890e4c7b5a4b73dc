"""Which of what was shown a reply draws on (F106)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.fencing import fence
from agents_memory.domain.use import LIST_OF, NEEDED, Frequencies, Observation, Shown

NONE = Frequencies(0, {})
ASKED = "Which port does staging use?"
FACT = "Staging runs on db-stage-2, port 6543, behind the bastion."


def _used(reply: str, *items: str, before: tuple[str, ...] = (ASKED,)) -> list[int]:
    shown = [Shown(number, text) for number, text in enumerate(items)]
    return Observation(reply, before, shown).used(NONE)


@pytest.mark.parametrize(
    ("item", "reply"),
    [
        (FACT, "It is 6543 on db-stage-2."),
        ("Mara's new number at the harbour office is 0471 5526.", "Call her at 0471 5526."),
        ("Auf Eiche-3 sind noch 40 GB frei.", "Klaus says Eiche-3 has 40 GB left."),
        ("迁移之前要在影子库 shadow_07 上演练。", "先在 shadow_07 跑一遍。"),
        ("订单模块交给沈嘉宁，吴迪离职。", "现在由沈嘉宁负责，她从吴迪手里接过来的。"),
        ("予約番号は KY88213。", "番号は KY88213 です。"),
        (
            "아침에 암로디핀, 밤에 아토르바스타틴.",
            "암로디핀은 아침에, 아토르바스타틴은 밤에 드세요.",
        ),
        ("Лейла ведёт ветку feature/osprey-index.", "Ветка feature/osprey-index, у Лейлы."),
        ("El dominio arcilla.io vence el 9 de abril.", "Renueva arcilla.io antes del 9."),
        ("الخادم الرئيسي اسمه db-amman-1.", "استخدم الخادم db-amman-1."),
    ],
)
def test_names_numbers_and_codes_that_return_show_a_use_in_any_script(
    item: str, reply: str
) -> None:
    assert _used(reply, item) == [0]


@pytest.mark.parametrize(
    ("item", "reply"),
    [
        (FACT, "I don't know; look into the settings of the project."),
        ("Backups of staging are off since March.", "Staging uses port 6543."),
        ("Done. All the tests pass, and I moved the file.", "Done. All the tests pass."),
        ("We should look at the first and the last one again.", "Look at the first one again."),
        ("我们先看一下这个问题。", "这个问题我们再看一下。"),
        ("そのあとで確認してください。", "もう一度確認してください。"),
        ("", "It is 6543."),
        (FACT, ""),
    ],
)
def test_common_words_and_another_answer_show_none(item: str, reply: str) -> None:
    assert _used(reply, item) == []


def test_what_the_question_or_earlier_turns_said_proves_nothing() -> None:
    reply = "It is 6543 on db-stage-2."
    assert _used(reply, FACT) == [0]
    assert _used(reply, FACT, before=("Is db-stage-2 at 6543?",)) == []
    assert _used(reply, FACT, before=(ASKED, "db-stage-2, 6543")) == []
    assert _used("由沈嘉宁负责。", "订单交给沈嘉宁和邓工。", before=("沈嘉宁是谁？",)) == []


def test_a_copy_of_a_recalled_block_is_no_use() -> None:
    assert _used(fence(f"- #17 {FACT}", "search"), FACT) == []
    assert _used(f"{fence(FACT, 'search')}\nIt is 6543 on db-stage-2.", FACT) == [0]
    # Nor does a block in the question make known what the reply draws on.
    asked = f"{ASKED}\n{fence(FACT, 'search')}"
    assert _used("It is 6543 on db-stage-2.", FACT, before=(asked,)) == [0]


def test_a_reply_that_lists_what_was_found_uses_none_of_it() -> None:
    items = [f"Host node-{n}{n}{n} answers on 6{n}4{n}." for n in range(LIST_OF)]
    listing = "I found:\n" + "\n".join(f"- {item}" for item in items)
    assert _used(listing, *items) == []
    assert _used("\n".join(items[:-1]), *items[:-1]) == list(range(LIST_OF - 1))
    # Of many that were shown it may draw on some.
    rest = ["The neighbours are away.", "Lunch is at noon.", "It rains.", "The lift is broken."]
    assert _used(listing, *items, *rest) == list(range(LIST_OF))


def test_what_every_item_says_tells_of_none_alone() -> None:
    reply = "It belongs to Harborline."
    assert _used(reply, "Harborline 12 wants it.") == []
    several = [Shown(n, f"Harborline {word}") for n, word in enumerate(("pays", "waits", "asks"))]
    alone = Observation(reply, (), several[:1]).score(0, NONE)
    assert Observation(reply, (), several).score(0, NONE) < alone


def test_a_word_that_the_pool_has_often_tells_less() -> None:
    observation = Observation("Use 6543.", (ASKED,), [Shown(0, "Port 6543.")])
    assert "6543" in observation.lexemes
    scores = [
        observation.score(0, Frequencies(10_000, {"6543": count})) for count in (1, 10, 1_000)
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] >= NEEDED > scores[-1]


def test_the_longer_a_reply_the_more_of_it_is_chance() -> None:
    items = [Shown(0, "Ask for 6543. " + " ".join(f"zyx{n}qv" for n in range(300)))]
    often = Frequencies(1_000, {f"zyx{n}qv": 20 for n in range(300)})
    short = Observation("It is 6543.", (), items)
    long = Observation("It is 6543. " + "So it was said again. " * 300, (), items)
    assert short.score(0, often) > long.score(0, often)


def test_where_nouns_have_capitals_a_capital_tells_less() -> None:
    english = "Then we asked Vukovic about the noise and so on, as it was late in the day."
    german = "Dann fragte Vukovic nach der Tischsäge, dem Zähler, der Sicherung und dem Kabelbaum."
    score = [Observation(text, (), [Shown(0, text)]).score(0, NONE) for text in (english, german)]
    assert score[0] >= 0.8
    only_name = Observation(german, (), [Shown(0, "Gestern kam Vukovic, Montag, Müllabfuhr.")])
    assert 0 < only_name.score(0, NONE) < 0.5


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_legal(reply: str, before: str, item: str) -> None:
    observation = Observation(reply, [before], [Shown(1, item), Shown(2, reply)])
    assert set(observation.used(NONE)) <= {1, 2}
    assert all(isinstance(lexeme, str) for lexeme in observation.lexemes)


@pytest.mark.parametrize("text", ["\x00", "\ud800 lone 6543", "6543 " * 200_000, "影" * 100_000])
def test_broken_and_huge_texts_get_a_result(text: str) -> None:
    assert Observation(text, [text], [Shown(1, text)]).used(NONE) == []
