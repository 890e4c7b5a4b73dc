"""What is a secret only beside a word that says so: cards, pins, codes, the phrases of wallets."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import lower, put_marks
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.sought import by_letter

_CARD_WORDS = (
    *("card", "karte", "tarjeta", "carte", "visa"),
    *("卡号", "卡號", "信用卡", "カード", "카드"),
)
_CARD = re.compile(
    r"[2-6](?<![0-9A-Za-z.-][2-6])[0-9]{3}([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?![0-9A-Za-z-])"
)
# A mark, or its end.
_CUT_MARK = re.compile(r"(?:\[?redacted:|\A)[a-z_:]{1,40}\]")
# Numbers that payment services publish for tests.
_TEST_CARDS = re.compile(
    r"4(?:242){2}|4242|4111|4000|5555555555554444|5200828282828210|[2-6]000000"
)
# The number that opens a phone, a card, a lock.
_PIN_NAMES = "pin(?:[ -]?(?:code|nummer|number|码))?|puk|暗証番号|验证码"
_NAMES_A_PIN = re.compile(f"(?<![a-z0-9_-])(?:{_PIN_NAMES})")
_PIN = re.compile(
    f"(?:{by_letter(_PIN_NAMES, not_behind='a-z0-9_-')})"
    r"(?: (?:for|of|für|to|zum|zur|de) (?:\w{1,16} ){0,3}?(?:\w{1,16}))?"
    r"(?:[ \t]?[:=：＝][ \t]?|[ \t](?:is|ist|lautet|es|est|code)[ \t]|[是はが])[\"'`*]?"
    r"([0-9]{4,8})(?![\w.:-])"
)
_CODE_WORDS = (
    *("recovery", "backup", "rescue", "scratch", "wiederherstellungs", "notfall"),
    *("恢复", "备用"),
)
_CODE = r"(?=[a-z0-9-]{0,40}[0-9])[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){0,3}"
_CODES = re.compile(
    f"(?:{by_letter('|'.join(_CODE_WORDS))})[- ]?(?:codes?|码)"
    rf"[^\n]{{0,60}}?[:：\n]\s{{0,8}}((?:[-*\d.)]{{0,3}} ?{_CODE}[\s,;]{{1,6}}){{1,19}}{_CODE})"
)
_APP_PASSWORD = re.compile(
    r"app(?:lication)?[- ]?passwor[dt][^\n]{0,40}?(?:[:=]| is| ist)[ \"'`]{0,2}"
    r"([a-z]{4}(?: ?[a-z]{4}){3})(?![a-z])"
)
_PHRASE_WORDS = (
    *("phrase", "words", "mnemonic", "助记词", "助記詞", "ニーモニック", "니모닉", "frase"),
    "wiederherstellungs",
)
_PHRASE_NAMES = (
    "(?:seed|recovery|secret|backup|wallet|mnemonic)[ _-](?:phrase|words)|mnemonic|助记词"
    r"|fromphrase\(|wiederherstellungs(?:phrase|wörter|satz)"
    "|助記詞|ニーモニック|니모닉|frase (?:semilla|de recuperación)"
)
# Any of the 2,048 words of BIP 39 has three to eight letters; a phrase has 12, 15, 18, 21 or 24.
_PHRASE = re.compile(
    f"(?:{_PHRASE_NAMES})"
    r"(?: \([^)\n]{1,30}\)| (?:of|for|to|von|für|de) [\w' -]{1,40}?)?"
    r"(?:[ \t]?(?:is|ist|lautet|es|是|は|[:=：＝])|[\"'`])"
    r"[\s:\"'`=是は：]{0,8}"
    r"((?:[a-z]{3,8}[ \t,\n]{1,2}){11,23}[a-z]{3,8})(?![a-z])"
)
# Words of sentences that are not in that list.
_PROSE = frozenset(
    ("the", "and", "for", "your", "are", "was", "has", "not", "from", "der", "die", "und", "los")
)


def _replace_phrases(text: str, found: dict[str, int]) -> str:
    spans = (
        (*match.span(1), "wallet_phrase")
        for match in _PHRASE.finditer(lower(text))
        if _PROSE.isdisjoint(match[1].split())
    )
    return put_marks(text, spans, found)


def _replace_codes(text: str, found: dict[str, int]) -> str:
    codes = _CODES.finditer(lower(text))
    return put_marks(text, ((*match.span(1), "recovery_codes") for match in codes), found)


def _replace_app_passwords(text: str, found: dict[str, int]) -> str:
    passwords = _APP_PASSWORD.finditer(lower(text))
    return put_marks(text, ((*match.span(1), "password") for match in passwords), found)


def _names_a_pin(_: str, lowered: str) -> bool:
    return _NAMES_A_PIN.search(lowered) is not None


def _replace_pins(text: str, found: dict[str, int]) -> str:
    pins = _PIN.finditer(lower(text))
    return put_marks(text, ((*match.span(1), "pin") for match in pins), found)


def _replace_cards(text: str, found: dict[str, int]) -> str:
    return put_marks(text, _cards(text), found)


def _cards(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _CARD.finditer(text):
        said = _CUT_MARK.sub("", text[max(0, match.start() - 40) : match.start()].lower())
        digits = re.sub("[ -]", "", match[0])
        if any(map(said.__contains__, _CARD_WORDS)) and _holds(digits):
            yield *match.span(), "card_number"


def _holds(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1)."""
    if _TEST_CARDS.match(digits):
        return False
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(map(int, digits[::-2]))) % 10 == 0


RULES = (
    Rule(_replace_phrases, _PHRASE_WORDS),
    Rule(_replace_codes, _CODE_WORDS),
    Rule(_replace_app_passwords, ("passw",)),
    Rule(_replace_pins, ("pin", "puk", "暗証番号", "验证码"), _names_a_pin),
    Rule(_replace_cards, _CARD_WORDS),
)
