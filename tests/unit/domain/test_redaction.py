"""Secrets are replaced before the first write (F108, J6); every secret here is made up."""

import pytest

from agents_memory.domain.redaction import redact
from tests.unit.domain.redaction_samples import (
    ALNUM,
    HARMLESS,
    HEX,
    PEM_BODY,
    SECRETS,
    TOKENS,
    made_up,
)


@pytest.mark.parametrize(("kind", "token"), TOKENS.items())
@pytest.mark.parametrize(
    "around", ["{}", "use {}.", "钥匙是{}，请保存", "키{}를", "«{}»", "x={}&y=1", "「{}」"]
)
def test_a_token_of_a_known_form_is_replaced_wherever_it_stands(
    kind: str, token: str, around: str
) -> None:
    """F108, J6"""
    redacted = redact(around.format(token))
    assert redacted.text == around.format(f"[redacted:{kind.strip()}]")
    assert redacted.counts == {kind.strip(): 1}


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_replaced(text: str) -> None:
    """F108"""
    redacted = redact(text)
    assert sum(redacted.counts.values()) == 1
    for secret in (
        "hunter2",
        "w0rd",
        "Tr0ub",
        "sunshine",
        "horse",
        "supersecret",
        "odW50",
        "cret9",
        "4716",
        "zebra",
        "kX9mQ2",
        "EXAMPLE-NOT",
        "sk-lf-",
    ):
        assert secret not in redacted.text
    for line in PEM_BODY.split("\n"):
        assert line not in redacted.text
    for seed_text in (made_up(24), made_up(64, HEX), made_up(40, ALNUM + "/+")):
        assert seed_text[:20] not in redacted.text


@pytest.mark.parametrize("text", HARMLESS)
def test_words_references_placeholders_and_code_stay(text: str) -> None:
    """F108"""
    assert redact(text).text == text
    assert redact(text).counts == {}


def test_only_the_secret_goes() -> None:
    assert redact("postgres://app:hunter2@db:5432/x?a=1").text == (
        "postgres://app:[redacted:url_password]@db:5432/x?a=1"
    )
    assert redact("set DB_PASSWORD=hunter2 then run").text == (
        "set DB_PASSWORD=[redacted:password] then run"
    )
    assert redact('{"password": "hunter2", "user": "joe"}').text == (
        '{"password": "[redacted:password]", "user": "joe"}'
    )
    assert redact(f"a -----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\nAnd then it broke.").text == (
        "a [redacted:private_key]\nAnd then it broke."
    )


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a [redacted:private] c"),
        ("a <PRIVATE>b</Private> c", "a [redacted:private] c"),
        ("a <private>b\nc", "a [redacted:private]"),
        ("a <private>b<private>c</private>d</private> e", "a [redacted:private] e"),
        ("<private>a</private><private>b</private>", "[redacted:private][redacted:private]"),
        ("秘密<private>码</private>。", "秘密[redacted:private]。"),
        ("a </private> b", "a </private> b"),
        (
            "the tag `<private>` hides <private>x</private>",
            "the tag `<private>` hides [redacted:private]",
        ),
    ],
)
def test_a_private_block_becomes_one_mark(text: str, kept: str) -> None:
    """F108"""
    assert redact(text).text == kept


def test_a_long_secret_goes_to_its_end() -> None:
    long = made_up(5_000)
    assert redact(f"token={long} x").text == "token=[redacted:secret] x"
    assert redact(f'{{"token": "{long}"}}').text == '{"token": "[redacted:secret]"}'
    assert redact(f"Authorization: Bearer {long}").text == (
        "Authorization: Bearer [redacted:authorization]"
    )


@pytest.mark.parametrize("join", ["\n", "\\\n", '"\n    "', "\n> "])
def test_a_key_that_was_broken_into_two_lines_goes_whole(join: str) -> None:
    key = TOKENS["anthropic_key"]
    redacted = redact(f"{key[:50]}{join}{key[50:]}\nthen")
    assert redacted.text == "[redacted:anthropic_key]\nthen"


def test_counts_name_kinds_and_numbers_only() -> None:
    redacted = redact(f"password=hunter2 password=hunter3 {TOKENS['jwt']} <private>x</private>")
    assert redacted.counts == {"private": 1, "jwt": 1, "password": 2}


@pytest.mark.parametrize("before", ["token ", "my token and key: ", "secret: ", "credentials: "])
def test_a_keyword_takes_the_first_value_only(before: str) -> None:
    words = [made_up(40, seed=seed) for seed in range(20)]
    redacted = redact(before + " ".join(words))
    assert redacted.text == f"{before}[redacted:secret] {' '.join(words[1:])}"


def test_a_card_behind_a_mark_needs_a_word_of_its_own() -> None:
    number = "4716 9038 5274 1604"
    assert redact(f"[redacted:card_number] {number}").counts == {}


@pytest.mark.parametrize("between", [",", " ", " / ", "\n"])
def test_both_halves_of_a_pair_of_aws_go(between: str) -> None:
    pair = TOKENS["aws_key"] + between + made_up(40, ALNUM + "+/")
    assert redact(pair).text == f"[redacted:aws_key]{between}[redacted:secret]"


def test_only_the_line_that_hides_a_secret_is_written_in_plain_letters() -> None:
    assert redact("ＡＢＣ\nｐａｓｓｗｏｒｄ＝kX9mQ2vL7pTT\nＤＥＦ").text == (
        "ＡＢＣ\npassword=[redacted:password]\nＤＥＦ"
    )
