"""Secrets said in a sentence: `the password for the router is …`, `密码改成…了`.

The words between the name and the value may be anything, so the value has to be a secret by its
looks: what could be a word, a number, a path, a hash or a name of code stays.
"""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import lower, put_marks
from agents_memory.domain.redaction.values import is_strong_key, is_strong_password

_PASSWORDS = (
    "password|passphrase|passcode|passwd|passwort|kennwort|contraseña|clave|senha|mot de passe"
    "|wachtwoord|hasło|пароль|密码|密碼|口令|パスワード|暗証番号|비밀번호"
    "|p(?<![a-z0-9_.-]p)(?:wd?|ass)(?![a-z0-9_-])"
)
_KEYS = (
    "api[-_ ]?(?:key|token|schlüssel|キー|密钥)|access[-_ ]?key|secret[-_ ]?key|private[-_ ]?key"
    "|license[-_ ]?key|secret|token|schlüssel|geheimnis|llave de (?:api|acceso)"
    "|密钥|密鑰|秘钥|令牌|トークン|秘密鍵|シークレットキー|アクセスキー|토큰"
)
_PAIRS = "credentials?|zugangsdaten|login|logins|anmeldedaten|credenciales|identifiants|账号|帳號"
# One of these is in a word of each of those.
HINTS = (
    *("pass", "pw", "kennwort", "contraseñ", "clave", "llave", "senha", "hasło"),
    *("wachtwoord", "пароль", "密", "口令", "パスワード", "暗証", "비밀번호", "secret", "token"),
    *("key", "schlüssel", "geheimnis", "秘", "令牌", "トークン", "キー", "토큰", "credential"),
    *("credencial", "zugangs", "login", "anmelde", "identifiants", "账号", "帳號"),
)
_CALLS = ("(", "[", "{")
_CJK = "\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef"
_OPENING = "[*_`\"'„“”‚‘«»「『（(]{0,3}"
_IN_VALUE = r"[^\s\"'`<>\\|,;(){}\[\]„“”‘’«»\u2026\u3000-\uffef]"
_VALUE = rf"(?={_IN_VALUE}{{0,127}}[0-9!#$%&*+?^~@])({_IN_VALUE}{{6,128}}+)"
# Each begins with a letter of its own, by which they are found fast.
_NAME = re.compile(rf"({_PASSWORDS}|{_KEYS})[*_`\"')\]]{{0,3}}")
_PASSWORD = re.compile(_PASSWORDS)
_LINK = re.compile(
    r"(?:(?:[ \t]{1,2}[\w'’-]{1,20}+){0,5}?(?:[ \t]{0,2}[:=：＝]\s{0,8}"
    r"|[ \t]{1,2}(?:is|was|to|into|now|ist|war|lautet|auf|zu|heißt|es|era|por|a|é|est|это)"
    r":?[ \t]{1,2})"
    rf"|(?:[ \t]?[{_CJK}]){{1,10}}[ \t:]{{0,3}}){_OPENING}{_VALUE}"
)
_BESIDE = re.compile(rf"[ \t]{{1,2}}{_OPENING}{_VALUE}")
# `with password …`, `…, password …`: what follows is one.
_TOLD = re.compile(r"(?:[,/，]|(?<!\w)(?:with|and|mit|und|con|y|avec|et))[ \t](?:la[ \t])?\Z")
_PAIR = re.compile(
    rf"(?:{_PAIRS})[ \t]{{0,2}}(?:[:=：]|is|are|sind|lauten|son)?[ \t]{{0,2}}[`\"']?"
    rf"[\w.@+-]{{2,64}}[ \t]{{0,2}}[/:|,][ \t]{{0,2}}{_OPENING}{_VALUE}"
)


def may_hold_spoken(_: str, lowered: str) -> bool:
    """Whether the word can be one for a secret."""
    return any(map(lowered.__contains__, HINTS))


def replace_spoken(text: str, found: dict[str, int]) -> str:
    """Replaces what a sentence says to be a password or a key, if it can be nothing else."""
    return put_marks(text, _spans(text), found)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    lowered, done = lower(text), 0
    for start, end, password, beside in sorted((*_candidates(lowered), *_pairs(lowered))):
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
        password = _PASSWORD.match(name.string, name.start()) is not None
        for link, beside in ((_LINK, False), (_BESIDE, True)):
            if value := link.match(lowered, name.end()):
                told = beside and _TOLD.search(lowered, max(0, name.start() - 8), name.start())
                yield *value.span(1), password, beside and not told


def _pairs(lowered: str) -> Iterator[tuple[int, int, bool, bool]]:
    """Where the second of a user and a password may stand."""
    for pair in _PAIR.finditer(lowered):
        yield *pair.span(1), True, True
