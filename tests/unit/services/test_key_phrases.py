import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.tags import MAX_TAG_CHARS, is_generic_tag, normalise_tag
from agents_memory.services.key_phrases import LOOKED_AT_CHARS, key_phrases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We decided to use a Postgres table as the job queue for order events instead of "
            "RabbitMQ. The worker claims rows with SKIP LOCKED.",
            {"postgres-table", "job-queue", "order-events", "rabbitmq"},
        ),
        (
            "Staging is dead since last night: sorry, too many clients already. "
            "`pg_stat_activity` shows 96 connections, 71 of them idle in transaction.",
            {"pg-stat-activity", "staging"},
        ),
        (
            "Der Verbindungspool lief gestern Abend voll, weil die Migration eine Tabellensperre "
            "hielt. Das hat Frau Albrecht geärgert.",
            {"verbindungspool", "migration", "tabellensperre"},
        ),
        (
            "Decidimos usar una tabla de Postgres como cola de eventos. La cola de eventos no debe "
            "perder pedidos, y el certificado TLS caduca el viernes.",
            {"tabla-de-postgres", "cola-de-eventos", "certificado-tls"},
        ),
        (
            "주문 이벤트 대기열은 포스트그레스 테이블로 만들기로 했어. 결제 웹훅이 두 번 처리돼서 "
            "재고가 마이너스로 떨어졌다.",
            {"이벤트-대기열", "포스트그레스-테이블", "결제-웹훅"},
        ),
        (
            "我们决定用数据库表来做订单事件队列，不再使用消息中间件。昨天晚上支付回调被处理了两次，"
            "请给支付回调加上幂等键。",
            {"支付回调", "数据库表", "订单事件队列", "消息中间件"},
        ),
        (
            "注文イベントのキューはデータベースのテーブルで実装することに決めました。",
            {"注文イベント", "キュー", "データベース"},
        ),
        (
            "Мы решили хранить очередь заказов в таблице. Сертификат TLS истёк вчера вечером.",
            {"очередь-заказов", "сертификат-tls"},
        ),
    ],
)
def test_a_text_is_tagged_with_what_it_is_about_in_its_own_language(
    text: str, expected: set[str]
) -> None:
    """F112, F113"""
    assert expected <= set(key_phrases(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok thanks",
        "Yes, do it.",
        "Perfect!",
        "👍👍",
        "thanks, that looks great, well done!",
        "Perfekt, danke dir!",
        "Super, danke. Bis morgen!",
        "Vale, gracias",
        "네 고마워",
        "좋아, 그렇게 하자",
        "好的，谢谢",
        "... !!! ???",
        "12 345 6.7",
    ],
)
def test_small_talk_has_no_key_phrases(text: str) -> None:
    assert key_phrases(text) == ()


def test_code_paths_addresses_and_redaction_marks_are_not_looked_at() -> None:
    text = (
        "The payment webhook fails for every refund, see https://ci.example.org/zebra/17 and "
        "/home/mara/work/giraffe/handler.py:12 or C:\\walrus\\hippo.txt, mail otter@example.org, "
        "commit 9f8e7d6c5b4a. It printed [redacted:github_token] after `rm -rf $BADGER`.\n"
        "```python\nimport flamingo\n```\n"
    )

    tags = " ".join(key_phrases(text))

    assert "payment-webhook" in tags
    strangers = "zebra giraffe walrus otter 9f8e redacted github badger flamingo handler"
    assert [word for word in strangers.split() if word in tags] == []


def test_code_that_never_ends_is_not_looked_at_either() -> None:
    tags = key_phrases("The payment webhook fails:\n```\n" + "flamingo zebra " * 20)

    assert tags == ("payment-webhook",)


def test_names_in_inline_code_are_kept() -> None:
    tags = key_phrases("Look into `order_events`, the mailer and the warehouse need that.")

    assert "order-events" in tags


def test_the_more_specific_phrase_is_kept_and_twins_are_not() -> None:
    text = "The queue is slow. The order queue blocks. Order queues need an index on the queue."

    tags = key_phrases(text)

    assert "order-queue" in tags or "order-queues" in tags
    assert "queue" not in tags
    assert not {"order-queue", "order-queues"} <= set(tags)


def test_latin_names_and_quoted_terms_are_found_inside_other_scripts() -> None:
    assert {"支付网关", "kubernetes"} <= set(key_phrases("请把「支付网关」迁移到Kubernetes上。"))
    assert "postgres" in key_phrases("เราตัดสินใจใช้ตาราง Postgres เป็นคิวสำหรับคำสั่งซื้อ")


def test_a_short_turn_has_fewer_tags_than_a_long_one() -> None:
    assert len(key_phrases("Fix the order queue please")) == 1


def test_the_limit_is_kept() -> None:
    text = "Postgres, RabbitMQ, Kafka, Redpanda, Valkey, Caddy, Terraform and Ansible are servers."

    assert len(key_phrases(text, limit=2)) == 2
    assert key_phrases(text, limit=0) == ()


def test_only_the_beginning_of_a_megabyte_is_looked_at() -> None:
    beginning = ("The payment webhook failed again. " * 400)[:LOOKED_AT_CHARS]

    assert key_phrases(beginning + " The zebra crossing is closed." * 40_000) == key_phrases(
        beginning
    )


def test_the_same_text_always_has_the_same_tags() -> None:
    text = "Terraform keeps its state in a bucket, and Ansible installs pgBackRest on the host."

    assert len({key_phrases(text) for _ in range(20)}) == 1


_PROSE = st.sampled_from(["the", "queue", "주문", "대기열을", "订单", "キュー", "очередь"])
_SIGNS = st.sampled_from(["```x", "`y`", "/a/b", "[redacted:x]", "€", "\0", "\ud800", "\n"])


@given(
    st.text(st.characters(codec=None), max_size=300)
    | st.lists(_PROSE | _SIGNS, max_size=60).map(" ".join),
    st.integers(-1, 5),
)
def test_any_string_gives_distinct_normalised_tags(text: str, limit: int) -> None:
    tags = key_phrases(text, limit)

    assert len(tags) <= max(0, limit)
    assert len(set(tags)) == len(tags)
    for tag in tags:
        assert normalise_tag(tag) == tag
        assert len(tag) <= MAX_TAG_CHARS
        assert not is_generic_tag(tag)
