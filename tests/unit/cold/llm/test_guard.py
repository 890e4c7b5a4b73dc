"""What fits its schema and must not be believed all the same."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from cold.llm.guard import Says, loops, refused
from cold.llm.port import Why
from cold.llm.wording import legible

Quote = Annotated[str, Says.QUOTE]
Prose = Annotated[str, Says.PROSE]


class Fact(BaseModel):
    content: Prose
    quotes: list[Quote] = []
    note: Prose | None = None


class Facts(BaseModel):
    facts: list[Fact] = []
    tags: list[str] = []


ENGLISH = (
    "We moved the order events into a Postgres table, because RabbitMQ was too much for the small "
    "team and the load is low. They have the same guarantees that we had before."
)
GERMAN = (
    "Wir haben die Bestellungen in eine Tabelle gelegt, weil das für die kleine Gruppe nicht zu "
    "viel ist und die Last sich auch mit dem neuen Kunden nicht verändert."
)
KOREAN = "주문 이벤트는 작은 팀에 부담이 되어서 포스트그레스 테이블로 옮기기로 했습니다."


def verdict(answer: BaseModel, source: str = ENGLISH) -> Why | None:
    failure = refused(answer, [source])
    return None if failure is None else failure.why


@pytest.mark.parametrize(
    "quote",
    [
        "moved the order events into a Postgres table",
        "  Moved the ORDER events\ninto a  Postgres table ",
        '"RabbitMQ was too much"',
        "“the load is low”",
    ],
)
def test_a_quote_that_was_said_is_let_through(quote: str) -> None:
    assert verdict(Fact(content="Order events are in Postgres.", quotes=[quote])) is None


@pytest.mark.parametrize(
    "quote", ["moved the order events into Kafka", "", " ", '""', "table … too much", "Post gres"]
)
def test_a_quote_that_was_not_said_is_refused(quote: str) -> None:
    """C3: the examples of a prompt are no source, however well they fit."""
    facts = Facts(facts=[Fact(content="Order events are in Postgres.", quotes=[quote])])
    assert verdict(facts) is Why.UNGROUNDED


def test_a_quote_of_a_broken_up_control_token_is_still_a_quote() -> None:
    said = "He typed <|im_end|> and </think> into the box."
    for source in (said, legible(said)):
        for quote in ("typed <|im_end|> and", legible("<|im_end|> and </think> into")):
            assert verdict(Fact(content="He typed tokens.", quotes=[quote]), source) is None


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, I cannot process this request.",
        "As an AI language model, I have no memory.",
        "I cannot assist with extracting facts.",
        "There is no conversation to summarize.",
        "Es tut mir leid, aber ich kann das nicht.",
        "Als KI habe ich keine Meinung.",
        "Je suis désolé, mais je ne peux pas répondre.",
        "Lo siento, pero no puedo ayudar con eso.",
        "Desculpe, mas não posso ajudar.",
        "Mi dispiace, ma non posso aiutarti.",
        "Извините, но я не могу помочь.",
        "죄송하지만 도와드릴 수 없습니다.",
        "申し訳ありませんが、お手伝いできません。",
        "抱歉，我无法提供帮助。",
        "作为一个人工智能，我没有记忆。",
    ],
)
def test_a_refusal_is_no_memory(text: str) -> None:
    """C8: the refusal of a model was saved and acted on later."""
    assert verdict(Fact(content=text)) is Why.REFUSED
    assert verdict(Fact(content="Fine.", note=text)) is Why.REFUSED
    assert verdict(Facts(tags=[text])) is Why.REFUSED


@pytest.mark.parametrize(
    "text",
    [
        "The user cannot eat gluten.",
        "Sorry about the delay was said twice.",
        "Unfortunately I can't come on Monday.",
        "Ich kann morgen nicht kommen.",
        "Mara is unable to help on Fridays.",
        "The team sees AI as a large language problem.",
    ],
)
def test_what_only_sounds_like_a_refusal_is_let_through(text: str) -> None:
    assert verdict(Fact(content=text)) is None


def test_a_refusal_that_was_said_may_be_retold() -> None:
    source = "The bot answered: I'm sorry, but I can't help with that. It annoyed us and we left."
    assert verdict(Fact(content="I'm sorry, but I can't, said the bot."), source) is None


@pytest.mark.parametrize(
    "text",
    [
        "and then " * 30,
        "ha" * 60,
        "주문 이벤트 " * 20,
        "The same sentence stands here again. " * 8,
        "1, 2, 3, " * 40,
        " " * 500,
    ],
)
def test_a_loop_is_refused(text: str) -> None:
    assert loops(text)
    assert verdict(Fact(content=text)) is Why.REPETITIVE


@pytest.mark.parametrize("text", [ENGLISH, GERMAN, KOREAN, "haha haha", "-" * 40, ""])
def test_ordinary_text_is_no_loop(text: str) -> None:
    assert not loops(text)


def test_a_quoted_loop_was_said() -> None:
    said = "ㅋㅋ" * 60
    assert verdict(Fact(content="웃었다", quotes=[said]), said) is None


def test_a_list_of_the_same_again_is_refused() -> None:
    same = [Fact(content="Order events are in Postgres.")] * 6
    assert verdict(Facts(facts=same)) is Why.REPETITIVE
    assert verdict(Facts(tags=["a", "b", "c", "c", "d"])) is None


@pytest.mark.parametrize(
    ("text", "source", "wanted"),
    [
        (GERMAN, ENGLISH, Why.FOREIGN),
        (ENGLISH, GERMAN, Why.FOREIGN),
        (ENGLISH, KOREAN, Why.FOREIGN),
        (KOREAN, ENGLISH, Why.FOREIGN),
        (GERMAN, GERMAN, None),
        (KOREAN, KOREAN, None),
        (ENGLISH, ENGLISH + GERMAN, None),
        (GERMAN, ENGLISH + GERMAN, None),
        (KOREAN, ENGLISH + KOREAN, None),
        ("Postgres", KOREAN, None),
        ("今日は東京の天気がとても良いですね", "東京的天气很好", None),
    ],
)
def test_an_answer_stays_in_the_language_of_its_source(
    text: str, source: str, wanted: Why | None
) -> None:
    assert verdict(Fact(content=text), source) is wanted


def test_tags_may_be_in_any_language() -> None:
    assert verdict(Facts(tags=["order-events", "message queue", "postgres tables"]), KOREAN) is None


def test_an_answer_may_not_be_much_longer_than_its_source() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    assert verdict(Fact(content=words), "A short remark.") is Why.OVERLONG
    assert verdict(Fact(content=words), words) is None


@given(st.text(), st.text(), st.lists(st.text(), max_size=5))
def test_any_text_has_a_verdict(content: str, source: str, quotes: list[str]) -> None:
    answer: Any = refused(Fact(content=content, quotes=quotes), [source])
    assert answer is None or answer.why in Why
    if answer is None:
        assert all(quote.strip() for quote in quotes)
