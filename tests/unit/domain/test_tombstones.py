"""Which places of a text are a phrase that was erased, and how a turn is known again."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.errors import Code, Refused
from agents_memory.domain.patches import Add, Operation, PatchRequest, Remove, Retag, Update
from agents_memory.domain.phrases import MAX_PHRASE_WORDS, phrase_of
from agents_memory.domain.tombstones import (
    MIN_TURN_WORDS,
    REPLACEMENT,
    Tombstones,
    phrase_digest,
    statement_digest,
    strike,
    strike_draft,
    strike_name,
    strike_request,
    turn_digest,
)
from tests.factories import draft

KEY = b"k" * 32


def _tombstones(*phrases: str, turns: tuple[str, ...] = ()) -> Tombstones:
    known = list[tuple[int, bytes]]()
    for text in phrases:
        phrase = phrase_of(text)
        assert phrase is not None
        known.append((len(phrase.words), phrase_digest(KEY, phrase.words)))
    digests = [turn_digest(KEY, turn) for turn in turns]
    return Tombstones(
        KEY, tuple(known), frozenset(digest for digest in digests if digest is not None)
    )


@pytest.mark.parametrize(
    ("phrase", "text", "left"),
    [
        ("periwinkle", "The word is Periwinkle.", "The word is [redacted]."),
        ("purple walrus", "a PURPLE\n  walrus: purple-walrus", "a [redacted]: [redacted]"),
        ("ann", "Ann, Anna and Joann: ann's", "[redacted], Anna and Joann: [redacted]'s"),
        ("heron", "heron_server and herons", "[redacted]_server and herons"),
        ("Zoë Straße", "ZOE STRASSE", "[redacted]"),
        ("zoe", "Zoe\u0308 zo\u00ade ｚｏｅ", "[redacted] [redacted] [redacted]"),
        ("秘密の言葉", "これは秘密の言葉です。", "これは[redacted]です。"),
        ("密码", "我的密码是苹果", "我的[redacted]是苹果"),
        ("ガギ", "ｶﾞｷﾞと", "[redacted]と"),
        ("김민준", "김민준은 왔다", "[redacted]은 왔다"),
        ("김민준", "김민준은", "[redacted]은"),
        ("ความลับ", "นี่คือความลับของฉัน", "นี่คือ[redacted]ของฉัน"),
        ("سر", "هذا سر كبير وليس سرير", "هذا [redacted] كبير وليس سرير"),
        ("محمد علي", "قال مُحَمَّد \u200fعلي نعم", "قال [redacted] نعم"),
        ("שלום עולם", "אמר שָׁלוֹם עולם!", "אמר [redacted]!"),
        ("राम", "राम और रामायण", "[redacted] और रामायण"),
        ("Иван", "ИВАН и Иванов", "[redacted] и Иванов"),
        ("дом й", "дом и", "дом и"),
        ("🦄", "a 🦄 here", "a [redacted] here"),
        ("p4$$w0rd!", "it is p4$$w0rd!", "it is [redacted]!"),
        ("anna berg", r'{"n": "Anna\nBerg"}', r'{"n": "[redacted]"}'),
        ("Zoë", r'{"n": "Zo\u00eb", "m": "x\\u005a"}', r'{"n": "[redacted]", "m": "x\\u005a"}'),
        ("🦄 zoe", r'"\ud83e\udd84 zoe"', '"[redacted]"'),
        ("nora", r"C:\nora\new", r"C:\[redacted]\new"),
        ("anna berg", "?q=Anna%20Berg&x=%C3%A9", "?q=[redacted]&x=%C3%A9"),
        ("zoë", "?q=zo%C3%AB", "?q=[redacted]"),
        ("b a b", "a b a b a b", "a [redacted]"),
        ("zanzifax", "the Zan-\nzifax, zan-\r\n  zifax", "the [redacted], [redacted]"),
        ("zan zifax", "the Zan-\nzifax", "the [redacted]"),
        ("zanzifax", "zan -\nzifax", "zan -\nzifax"),
        ("12", "1-\n2", "1-\n2"),
    ],
)  # fmt: skip
def test_a_phrase_is_found_as_a_reader_would_find_it(phrase: str, text: str, left: str) -> None:
    """F109: case, line breaks, marks and escapes hide nothing, and no other word is damaged."""
    known = phrase_of(phrase)
    assert known is not None
    assert strike(text, known) == left
    assert strike(text, _tombstones(phrase)) == left


@given(st.text(max_size=60), st.text(min_size=1, max_size=12), st.text(max_size=60))
def test_what_is_struck_is_not_there_any_more(before: str, words: str, after: str) -> None:
    phrase = phrase_of(words)
    if phrase is None or set(phrase.words) & {"redacted"}:
        return
    text = f"{before} {words} {after}"
    assert phrase.spans(text)
    left = strike(text, phrase)
    assert REPLACEMENT in left
    assert strike(text, _tombstones(words)) == left


@given(st.text(max_size=80))
def test_any_string_has_a_turn_digest_or_is_too_short(text: str) -> None:
    digest = turn_digest(KEY, text)
    assert digest is None or (len(digest) == 32 and digest == turn_digest(KEY, f" {text}\n"))


def test_a_text_without_words_is_no_phrase_nor_is_a_long_one() -> None:
    assert phrase_of(" !?… ") is None
    assert phrase_of("x " * (MAX_PHRASE_WORDS + 1)) is None
    assert phrase_of("x " * MAX_PHRASE_WORDS) is not None


def test_an_erased_turn_is_known_by_its_words_and_a_short_one_is_not() -> None:
    known = _tombstones(turns=("The vault code is periwinkle.",))
    assert strike("the vault  code is\nperiwinkle", known) == REPLACEMENT
    assert strike("The vault code is periwinkle, I said.", known) != REPLACEMENT
    assert turn_digest(KEY, "yes " * (MIN_TURN_WORDS - 1)) is None


def test_a_turn_is_known_that_was_erased_after_its_words_were() -> None:
    known = _tombstones("periwinkle", turns=("The vault code is [redacted].",))
    assert strike_draft(draft("The vault code is periwinkle."), known).text == REPLACEMENT


def test_names_stay_different_and_are_known_again() -> None:
    known = _tombstones("anna")
    one, other = known.strike_name("anna-1"), known.strike_name("Anna-1")
    assert one != other
    assert one == strike_name("anna-1", known, KEY)
    assert "nna" not in one
    assert known.strike_name("other") == "other"


def test_a_name_is_known_whose_words_were_erased_one_after_the_other() -> None:
    first, second = _tombstones("walrus"), _tombstones("anna")
    left = strike_name(strike_name("anna-walrus", first, KEY), second, KEY)
    assert _tombstones("walrus", "anna").strike_name("anna-walrus") == left


def test_values_of_ours_stay_and_what_others_write_there_does_not() -> None:
    known = _tombstones("claude code", "manage knowledge", "agent", "default", "user")
    ours = draft("x", platform="claude-code", source="manage_knowledge", store_id="agent")
    assert strike_draft(ours, known) is ours
    theirs = strike_draft(draft("x", platform="claude code", source="agent", store_id="t"), known)
    assert (theirs.platform, str(theirs.source)[:11]) == ("[redacted]", "[redacted]#")
    request = replace(_request(Add("user", "tea")), platform="claude-code")
    assert strike_request(request, known) == request
    other = strike_request(
        replace(_request(Add("user", "x", scope="agent")), platform="agent"), known
    )
    assert other.platform == "[redacted]"
    assert "agent" not in repr(other.operations)


def test_a_turn_is_struck_in_text_labels_and_names_and_else_is_the_very_same() -> None:
    known = _tombstones("anna berg")
    clean = draft("nothing", session="s1", cwd="/home/x")
    assert strike_draft(clean, known) is clean
    struck = strike_draft(
        draft("Ask Anna Berg.", cwd="/home/anna berg/x", session="anna-berg"), known
    )
    assert struck.text == "Ask [redacted]."
    assert struck.cwd == "/home/[redacted]/x"
    assert struck.session is not None
    assert struck.session.startswith("[redacted]#")


def _request(*operations: Operation) -> PatchRequest:
    return PatchRequest(1, "agent", "test", "as the walrus said", operations)


def test_a_patch_is_struck_in_every_text() -> None:
    known = _tombstones("walrus")
    struck = strike_request(
        _request(
            Add("the walrus", "A walrus sleeps.", tags=("walrus", "sleep"), attribute="walrus"),
            Retag(7, ("walrus", "walrus!")),
            Remove(8),
        ),
        known,
    )
    assert "walrus" not in repr(struck)
    assert struck.operations[1:] == (Retag(7, ("[redacted]", "[redacted]!")), Remove(8))
    assert strike_request(_request(Remove(8)), known).operations == (Remove(8),)


def test_a_statement_of_which_nothing_is_left_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        strike_request(_request(Update(7, "walrus")), _tombstones("walrus"))
    assert refused.value.refusal.code is Code.INVALID_INPUT


def test_an_erased_statement_is_refused_word_for_word_however_short() -> None:
    known = Tombstones(KEY, (), frozenset((statement_digest(KEY, "Vault", "At noon."),)))
    with pytest.raises(Refused):
        strike_request(_request(Add("vault", "at NOON")), known)
    assert strike_request(_request(Add("lunch", "at noon")), known).operations


def test_a_key_and_a_platform_are_struck_too() -> None:
    request = replace(_request(Remove(8)), idempotency_key="walrus-1", platform="walrus-app")
    struck = strike_request(request, _tombstones("walrus"))
    assert "walrus" not in repr(struck)
    assert struck.idempotency_key == _tombstones("walrus").strike_name("walrus-1")


def test_no_tombstones_are_false() -> None:
    assert not _tombstones()
    assert _tombstones("x")
