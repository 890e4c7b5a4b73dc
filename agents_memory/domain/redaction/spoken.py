"""Secrets said in a sentence: `the password for the router is …`, `密码改成…了`.

The words between the name and the value may be anything, so the value has to be a secret by its looks:
what could be a word, a number, a path, a hash or a name of code stays.
"""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import lower, put_marks
from agents_memory.domain.redaction.values import is_code_or_id, is_placeholder, is_strong_key, runs

_PASSWORDS = (
    "password|passphrase|passcode|passwd|passwort|kennwort|contraseña|clave|senha|mot de passe"
    "|wachtwoord|hasło|пароль|密码|密碼|口令|パスワード|暗証番号|비밀번호"
    "|(?<![a-z0-9_.-])(?:pwd?|pass|pin)(?![a-z0-9_-])"
)
_KEYS = (
    "api[-_ ]?(?:key|token|schlüssel|キー|密钥)|(?:access|secret|private|license)[-_ ]?key|secret|token"
    "|schlüssel|geheimnis|(?:clave|llave) de (?:api|acceso)|密钥|密鑰|秘钥|令牌|トークン|秘密鍵"
    "|シークレットキー|アクセスキー|토큰"
)
_PAIRS = "credentials?|zugangsdaten|login|logins|anmeldedaten|credenciales|identifiants|账号|帳號"
_HINTS = tuple(
    "passw passp passc contraseñ clave senha pass pwd pw pin secret token key schlüssel geheimnis llave "
    "hasło wachtwoord пароль 密 口令 パスワード 暗証番号 비밀번호 令牌 秘 トークン キー 토큰 "
    "credential zugangsdaten login anmeldedaten identifiants 账号 帳號".split()
)
_CALLS = ("(", "[", "{")
_CJK = "\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef"
_OPENING = "[*_`\"'„“”‚‘«»「『（(]{0,3}"
_IN_VALUE = r"[^\s\"'`<>\\|,;(){}\[\]„“”‘’«»\u2026\u3000-\uffef]"
_VALUE = rf"(?={_IN_VALUE}{{0,127}}[0-9!#$%&*+?^~@])({_IN_VALUE}{{6,128}}+)"
_NAME = re.compile(rf"(?:({_PASSWORDS})|{_KEYS})[*_`\"')\]]{{0,3}}")
_LINK = re.compile(
    r"(?:(?:[ \t]{1,2}[\w'’-]{1,20}+){0,5}?(?:[ \t]{0,2}[:=：＝]\s{0,8}"
    r"|[ \t]{1,2}(?:is|was|to|into|now|ist|war|lautet|auf|zu|heißt|es|era|por|a|é|est|это):?[ \t]{1,2})"
    rf"|(?:[ \t]?[{_CJK}]){{1,10}}[ \t:]{{0,3}}){_OPENING}{_VALUE}"
)
_BESIDE = re.compile(rf"[ \t]{{1,2}}{_OPENING}{_VALUE}")
_PAIR = re.compile(
    rf"(?:{_PAIRS})[ \t]{{0,2}}(?:[:=：]|is|are|sind|lauten|son)?[ \t]{{0,2}}[`\"']?"
    rf"[\w.@+-]{{2,64}}[ \t]{{0,2}}[/:|,][ \t]{{0,2}}{_OPENING}{_VALUE}"
)


def may_hold_spoken(_: str, lowered: str) -> bool:
    """Whether a word for a secret occurs."""
    return any(map(lowered.__contains__, _HINTS))


def replace_spoken(text: str, found: dict[str, int]) -> str:
    """Replaces what a sentence says to be a password or a key, if it can be nothing else."""
    return put_marks(text, _spans(text), found)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    lowered, done = lower(text), 0
    pairs = [(match.start(1), match.end(1), True, True) for match in _PAIR.finditer(lowered)]
    for start, end, password, beside in sorted([*_candidates(lowered), *pairs]):
        value = text[start:end].rstrip(".:*_`")
        if start < done or text[start + len(value) : start + len(value) + 1] in _CALLS:
            continue
        if password and is_strong_password(value, beside=beside):
            kind = "password"
        elif is_strong_key(value):
            kind = "secret"
        else:
            continue
        done = start + len(value)
        yield start, done, kind


def _candidates(lowered: str) -> Iterator[tuple[int, int, bool, bool]]:
    """Where values may stand; whether the name is that of a password, and nothing lies between."""
    for name in _NAME.finditer(lowered):
        for link, beside in ((_LINK, False), (_BESIDE, True)):
            if value := link.match(lowered, name.end()):
                yield *value.span(1), name[1] is not None, beside


_SIGNS = re.compile(r"[!#$%&*+?^~@]")
# Words and a number: what people make up, and what programs are called, too.
_WORDS_AND_NUMBER = re.compile(
    r"[^\W\d_]{3,}(?:[-_.+][^\W\d_]{2,}){0,5}[-_.+]?[0-9]{2,6}[!?.#$%&*+@_-]{0,2}"
)


def is_strong_password(value: str, *, beside: bool) -> bool:
    """Whether a word of a sentence can be nothing but a password.

    `beside`: no word or sign says that it is one, so words with a number behind are not enough.
    """
    if len(value) < 7 or is_placeholder(value) or is_code_or_id(value):
        return False
    digits, letters = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    signs = _SIGNS.search(value.rstrip("!?")) is not None
    if not letters or not (digits or signs):
        return False
    if _WORDS_AND_NUMBER.fullmatch(value):
        marked = signs or value[-1] in "!?" or (value[:1].isupper() and len(value) >= 8)
        return not beside or (digits and marked and bool(re.search("[0-9]{2}", value)))
    cases = value != value.lower() and value != value.upper()
    return runs(value) >= 3 and (cases or signs) and (digits or runs(value) >= 5)
