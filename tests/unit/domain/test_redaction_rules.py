"""What holds of redaction for any text: done twice, by fewer rules, made to be slow (F108, J6)."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_memory.domain import redaction
from agents_memory.domain.redaction import Redacted, assignments, redact, suspicion, tokens
from tests.unit.domain.redaction_samples import ALNUM, HARMLESS, SECRETS, TOKENS, made_up

PIECES = """
[redacted:password] [redacted: ] :// : @ password token = " ' \\ <private> </private> ` Bearer eyJ .
Authorization: PRIVATE KEY----- 密码 İ
"""
FRAGMENTS = st.sampled_from(
    [*TOKENS.values(), *SECRETS, *HARMLESS, *PIECES.split(), " is ", ": ", "\n", "-u a:", "Bearer "]
)


@settings(deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=8).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    """F108"""
    once = redact(text)
    twice = redact(once.text)
    assert twice.text == once.text
    assert twice.counts == {}


@settings(deadline=None)
@given(st.text(st.characters(codec=None, categories=None), max_size=80))
def test_any_text_has_a_result(text: str) -> None:
    redacted = redact(text)
    assert (redacted.text == text) == (not redacted.counts)


MIXED = st.text(ALNUM, min_size=8, max_size=48)


@settings(deadline=None)
@given(
    st.sampled_from(
        [
            *("token ", "secret: ", "my token and key: ", "credentials: ", "Authorization: "),
            *("密码 ", "card 4716 9038 5274 1604 ", "| password | ", f"{TOKENS['github_token']} "),
        ]
    ),
    st.lists(MIXED, min_size=1, max_size=30),
)
def test_what_follows_a_mark_is_not_beside_a_secret(before: str, words: list[str]) -> None:
    """F108"""
    once = redact(before + " ".join(words))
    assert redact(once.text) == Redacted(once.text, {})


def test_suspicions_are_asked_for_once_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = suspicion.suspicions_of

    def counted(text: str) -> int:
        asked.append(text)
        return ask(text)

    monkeypatch.setattr(redaction, "suspicions_of", counted)
    redact("token " + " ".join(made_up(40, seed=seed) for seed in range(50)))
    assert len(asked) == 2


def _redact_by_every_rule(text: str) -> Redacted:
    every = (1 << len(suspicion.RULES) + len(suspicion._VALUES)) - 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redaction, "suspicions_of", lambda _: every)
        return redact(text)


TYPED = st.text(string.ascii_letters + string.digits + "_-./+=:@", max_size=24)
BEGINNINGS = st.sampled_from(
    [
        *(f"{prefix}{made_up(9)}" for _, hints, _ in tokens._TOKENS for prefix in hints),
        *assignments.HINTS,
        *("PASSWORD", "Key_Base", "--token", "toKen:", "\u212aey=", "paſſ=", "private", "-U"),
        *("--USER", "BEARER", "<Private>", "<prıvate>"),
    ]
)


@settings(deadline=None, max_examples=300)
@given(st.lists(FRAGMENTS | BEGINNINGS | TYPED | st.text(max_size=4), max_size=8).map("".join))
def test_leaving_out_rules_that_cannot_apply_changes_nothing(text: str) -> None:
    """F108"""
    assert redact(text) == _redact_by_every_rule(text)


QUOTED_AND_ODD = (
    "DB_PASSWORD='rain\"2024'",
    '"password": "Sommer`2024"',
    "PGPASSWORD='winter`sun' psql",
    "secret: 'Falcon\"staple\"rain'",
    "token = '\"abcdefgh\"'",
    'mot de passe: "Winter-2025`staple.9!"',
    "you have 2 tries\n\nPassword:\nTrX٣٤zQw\n",
    "1. Open\n| password | Abc²Xyz³Q |\n",
    "define( 'AUTH_KEY', 'ember meadow cactus lantern 32' );",
)


@pytest.mark.parametrize("sample", QUOTED_AND_ODD)
def test_quotes_in_values_and_digits_of_any_script_tell_a_secret(sample: str) -> None:
    """F108"""
    assert redact(sample).counts
    assert redact(sample) == _redact_by_every_rule(sample)


@pytest.mark.parametrize("sample", [*TOKENS.values(), *SECRETS, *HARMLESS])
def test_each_sample_is_judged_as_by_every_rule(sample: str) -> None:
    for text in (sample, sample[1:], sample[:-1], sample.upper(), sample.lower(), f"é{sample}"):
        assert redact(text) == _redact_by_every_rule(text)


@pytest.mark.parametrize(
    "unit",
    [
        "://a:",
        "://a:b@",
        "eyJaaaaaaaaa-",
        "eyJaaaaaaaaa.",
        "sk-",
        "sk-ant-",
        "password=",
        "password is ",
        "token:token",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAA",
        "<private>",
        "</private>",
        "bearer ",
        "authorization: basic ",
        "-u a:",
        "SG.aaaaaaaaaaaaaaaaaaaaaa.",
        "12345678:AA",
        "aA1-",
        '"',
        "\\",
        "İ",
        "密码是",
        "a@b:c/",
        "-u a -p ",
        "| password | ",
        "$ cat key\n",
        "identified by ",
        "login('a', 'b', ",
        "password from a to ",
        "\\a:",
        "user:",
        "A\\a:",
        "password,a\n",
        "password: |\n",
        "key_pat",
        "machine a login b ",
        "echo a | ",
        "set token ",
        "recovery codes: ab12 ",
        "app password ",
        "as the password ",
        "value name key ",
        "(passw) values (",
        "passw','",
        "/v passw /d ",
    ],
)
def test_a_megabyte_made_to_be_slow_is_redacted(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert len(redact(text).text) <= 2 * len(text)


@pytest.mark.parametrize("before", range(-12, 3))
def test_a_name_is_seen_wherever_the_pieces_of_a_large_text_meet(before: int) -> None:
    text = "é" * (suspicion._PIECE_CHARS + before) + " password=hunter2x9"
    assert redact(text).counts == {"password": 1}
