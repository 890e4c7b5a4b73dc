"""Secrets said in a sentence: `the password for the router is …`, `密码改成…了`.

The words between the name and the value may be anything, so the value has to be a secret by its
looks: what could be a word, a number, a path, a hash or a name of code stays.
"""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import in_mark, lower, put_marks
from agents_memory.domain.redaction.names import MORE_PASSWORDS, PASSWORDS
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.sought import Names
from agents_memory.domain.redaction.values import (
    STRONG,
    is_strong_key,
    is_strong_password,
    may_be_strong,
)

# Names of languages in which a word of their own, if any, stands between name and value.
_OTHERS = (
    "şifre|parola|lösenord(?:et)?|adgangskode(?:n)?|kodeord(?:et)?|passord(?:et)?|salasana|heslo"
    "|jelsz(?:ó|ava?m?)|kata sandi|mật khẩu|รหัสผ่าน|κωδικός(?: πρόσβασης)?|كلمة المرور|كلمة السر"
    "|סיסמ[הא]"
    "|رمز عبور|گذرواژه|पासवर्ड|lozink[aeu]|slaptažodis|parole|парола|sandi(?:nya)?|비번|geslo"
    "|slaptažodį|parool"
)
_PASSWORDS = (
    f"{PASSWORDS}|{MORE_PASSWORDS}|passcode|clave|hasł[oa]|парол[ья]|mdp(?![a-z0-9_])|暗証番号"
    f"|{_OTHERS}"
    "|pasword|passwrd|passowrd|netzwerkschlüssel|暗号化キー|セキュリティキー"
    "|pw(?<![a-z0-9_.-]pw)d?(?![a-z0-9_-])|pass(?<![a-z0-9_.-]pass)(?![a-z0-9_-])"
)
_OF_API = "(?: de| da)? (?:api|secr[eè]t[ae]?)"
_KEYS = (
    "api[-_ ]?(?:key|token|schlüssel|キー|密钥)|access[-_ ]?key|secret[-_ ]?key|private[-_ ]?key"
    "|license[-_ ]?key|secret|token|schlüssel|geheimnis|llave de (?:api|acceso)"
    f"|clé{_OF_API}|chave{_OF_API}|clave{_OF_API}|chiave{_OF_API}|klucz{_OF_API}|ключ(?: api)?"
    "|activation[-_ ]key|product[-_ ]key|registration[-_ ]key|recovery[-_ ]key|wep[-_ ]key"
    "|unseal[-_ ]key(?: [0-9]{1,2})?|encryption[-_ ]key|signing[-_ ]key|токен|api 키"
    "|密钥|密鑰|秘钥|令牌|トークン|秘密鍵|シークレットキー|アクセスキー|토큰"
)
_PAIRS = (
    "user(?:name)? ?/ ?pass(?:word)?|login/pass(?:word)?|credentials?|creds|zugang|accesso|acceso"
    "|accès|доступ|zugangsdaten|logins?|anmeldedaten|credenciales|identifiants|账号|帳號"
    "|log(?:ged)? ?in (?:with|as|using)"
)
_OF_PASSWORDS = ("cred", "user", "login/", "zugangsdaten", "anmelde", "identifiants")
_PAIR_HINTS = (
    *("/pass", "/ pass", "creds", "zugang", "acces", "accès", "доступ"),
    *("credential", "credencial", "zugangs", "login", "anmelde", "identifiants", "账号", "帳號"),
)
# One of these is in a word of each of those.
_HINTS = (
    *("pass", "pasw", "pw", "kennwort", "contraseñ", "clave", "llave", "senha", "hasło"),
    *("wachtwoord", "пароль", "密", "口令", "パスワード", "暗証", "비밀번호", "secret", "token"),
    *("key", "schlüssel", "geheimnis", "秘", "令牌", "トークン", "キー", "토큰", *_PAIR_HINTS),
    *("şifre", "parola", "lösenord", "adgangskode", "kodeord", "salasana", "heslo", "jelsz"),
    *("sandi", "khẩu", "รหัสผ่าน", "κωδικ", "كلمة", "סיסמ", "رمز", "گذرواژه", "पासवर्ड", "lozink"),
    *("slaptaž", "parole", "парола", "비번", "geslo", "parool", "mdp", "clé", "chave", "chiave"),
    *("klucz", "ключ", "токен", "키"),
)
_CLOSING = {")": "(", "]": "[", "}": "{"}
# Where a list or a second clause goes on without a blank.
_STOPS = re.compile(r"[,;|](?=[\w\[])(?![^,;|]*[!#$%&*+?^~@])")
_CALLS = ("(", "[", "{")
_SAYS = tuple("是为為はを:：成")
_CJK = "\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef"
_OPENING = "[*_`\"'„“”‚‘«»「『（(]{0,3}(?:(?<=«)[ \u00a0])?"
_IN_VALUE = r"[^\s\"'`<>\\„“”‘’«»\u2026\u3000-\uffef]"
_VALUE = rf"(?={_IN_VALUE}{{0,127}}[0-9!#$%&*+?^~@])({_IN_VALUE}{{6,128}}+)"
_NAMES = Names(f"{_PASSWORDS}|{_KEYS}", r"[*_`\"')\]]{0,3}")
_PASSWORD = re.compile(_PASSWORDS)
_LINK = re.compile(
    # A thing that has to do with passwords has a name, too.
    r"(?![ \t]{1,2}(?:managers?|generator|vault|store|storage|safe|app|tool|library|hash(?:er|ing)?"
    r"|policy|field|column|provider|plugin|backend|database|service|server|limit|bucket)\b)"
    r"(?:[ \t]{0,2}\([\w .,/-]{1,24}\))?"
    r"(?:(?:[ \t]{1,2}[\w'’@.-]{1,40}+){0,8}?"
    r"(?:(?:[ \t]\([\w .,/-]{1,24}\))?[ \t]{0,2}[:=：＝][*_]{0,2}\s{0,8}"
    r"|[ \t]{1,2}(?:is|was|be|to|into|now|ist|war|lautet|auf|zu|heißt|es|era|por|a|é|è|est|это)"
    r":?[ \t]{1,2})"
    rf"|(?:[ \t]?[{_CJK}]){{1,10}}[ \t:]{{0,3}}){_OPENING}{_VALUE}"
)
# `for the server`
_OF = r"(?:[ \t](?:от|для|к|for|für|to|de|del|do|da|di|per|voor|od|pour)(?:[ \t]\w{1,16}){1,2}?)?"
_BESIDE = re.compile(
    rf"{_OF}(?:[ \t]{{1,2}}|(?<=[{_CJK}\u0e00-\u0e7f])(?:คือ)?[ \t]?"
    rf"|[ \t]{{0,2}}(?:->|→|⇒|👉|➡️?|–|—|[ \t]-[ \t])[ \t]{{0,2}})"
    rf"{_OPENING}{_VALUE}"
)
_LINK_OTHERS = re.compile(
    r"(?:[^\s:=]{0,5}(?:[ \t][\w'@.-]{1,40}+){0,4}?(?:[ \t]{0,2}[:=–—-]|[ \t]{1,2}"
    r"(?:to|jest|yra|ir|е|คือ|это|è|är|er|on|je|este|adalah|là|είναι|هي|هو|היא|הוא|است|है):?)"
    r"[ \t]{1,2}|[\u0e00-\u0e7f]{0,40}?คือ[ \t]{0,2})"
    rf"{_OPENING}{_VALUE}"
)
_BESIDE_OTHERS = re.compile(rf"[\w']{{0,4}}[ \t]{{1,2}}{_OPENING}{_VALUE}")
# As long as a digest, but said to be a token.
_HEX = re.compile("[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
# The end of a value is nearer to its name.
_FAR = 400
_OTHER = re.compile(_OTHERS + "|hasł|парол")
_PUBLIC = re.compile(
    r"(?:public|öffentlich\w{0,2}|公開|公钥|pública?|publique|publishable|anon)[ _-]?\Z"
)
# A question about passwords names other things.
_ASKS = re.compile("[怎如忘何什？?]")
# `with password …`, `…, password …`: what follows is one.
_TOLD = re.compile(
    r"(?:，[ \t]?|(?:[,/]|(?<!\w)(?:with|and|mit|und|con|y|avec|et))[ \t])(?:la[ \t])?\Z"
)
# What a password was changed to stands behind what it was.
_CHANGED = re.compile(
    rf"[^\n]{{0,40}}? (?:from|von|de|с|\[old\]) {_OPENING}{_VALUE}"
    rf"[\"'`*]{{0,3}} (?:to|auf|zu|a|à|para|на|=> \[new\]|->) {_OPENING}{_VALUE}"
)
_PAIR = re.compile(
    rf"(?:{_PAIRS})[ \t]{{0,2}}"
    r"(?:(?:for|to|für|zum|de) (?:[\w-]{1,24} ){0,2}?[\w-]{1,24}[ \t]?)?"
    rf"(?:[:=：]|is|are|sind|lauten|son|->|→)?[ \t]{{0,2}}[`\"']?"
    rf"[\w.@+-]{{2,64}}[ \t]{{0,2}}(?:[/:|,]|and|und)[ \t]{{0,2}}{_OPENING}{_VALUE}"
)


def _replace_spoken(text: str, found: dict[str, int]) -> str:
    """Replaces what a sentence says to be a password or a key, if it can be nothing else."""
    return put_marks(text, _spans(text), found)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    lowered, done = lower(text), 0
    for start, end, password, beside in sorted((*_candidates(lowered), *_pairs(lowered))):
        value = _whole(text[start:end])
        if start < done or text[start + len(value) : start + len(value) + 1] in _CALLS:
            continue
        if password and is_strong_password(value, beside=beside):
            kind = "password"
        elif is_strong_key(value) or (not password and _HEX.fullmatch(value)):
            kind = "secret"
        else:
            continue
        done = start + len(value)
        yield start, done, kind


def _whole(value: str) -> str:
    """Without what follows a value in a sentence."""
    parts = _STOPS.split(value, maxsplit=1)
    value = parts[0] if len(parts[0]) >= 6 else value
    while value and (
        value[-1] in ".:,;*_`|" or (value[-1] in _CLOSING and _CLOSING[value[-1]] not in value)
    ):
        value = value[:-1]
    return value


def _candidates(lowered: str) -> Iterator[tuple[int, int, bool, bool]]:
    """Where values may stand; whether the name is that of a password, and nothing lies between."""
    marked, strong = "[redacted:" in lowered, STRONG.search(lowered)
    for name in _NAMES.finditer(lowered):
        if marked and in_mark(lowered, name.start()):
            continue
        while strong and strong.start() < name.end():
            strong = STRONG.search(lowered, name.end())
        if not strong:
            break
        if strong.start() > name.end() + _FAR:
            continue
        if _PUBLIC.search(lowered, max(0, name.start() - 20), name.start()):
            continue
        password = _PASSWORD.match(name.string, name.start()) is not None
        if password and (change := _CHANGED.match(lowered, name.end())):
            yield *change.span(1), True, False
            yield *change.span(2), True, False
        links = ((_LINK, False), (_BESIDE, True), (_LINK_OTHERS, False), (_BESIDE_OTHERS, True))
        for link, beside in links if _OTHER.match(lowered, name.start()) else links[:2]:
            if value := link.match(lowered, name.end()):
                between = lowered[name.end() : value.start(1)]
                if _ASKS.search(between):
                    continue
                beside = beside or (
                    between > "\u3000" and not any(map(between.__contains__, _SAYS))
                )
                told = beside and _TOLD.search(lowered, max(0, name.start() - 8), name.start())
                yield *value.span(1), password, beside and not told


def _pairs(lowered: str) -> Iterator[tuple[int, int, bool, bool]]:
    """Where the second of a user and a password may stand."""
    if any(map(lowered.__contains__, _PAIR_HINTS)):
        for pair in _PAIR.finditer(lowered):
            yield *pair.span(1), True, not pair[0].startswith(_OF_PASSWORDS)


RULE = Rule(_replace_spoken, _HINTS, value=may_be_strong)
