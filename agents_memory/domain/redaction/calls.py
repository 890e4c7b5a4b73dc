"""Secrets among the arguments of calls, and in rows of SQL: by where they stand, without a name."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import lower, put_marks
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.sought import by_letter
from agents_memory.domain.redaction.values import is_code_or_id, is_strong_key, is_strong_password

# Who signs in takes a password, who signs or enciphers takes a key.
_SIGN_IN = (
    "login|authenticate|basic_?auth|httpbasicauth|digestauth|setbasicauth|setcredentials"
    "|usernamepassword\\w{0,24}|networkcredential|passwordauthentication|passwordcredentials?"
    "|dbi->connect|pdo->__construct|mysqli(?:_connect|_real_connect)?|pdo|pg_connect|getconnection|wifi\\.begin"
    "|wifimulti\\.addap|mqtt\\w{0,12}\\.connect|client\\.connect|connect|username_pw_set|ftp\\w{0,8}"
    "|new-object pscredential|pscredential|auth ?="
    "|redis?[:.]auth|red[:.]auth|client[:.]auth|conn[:.]auth"
)
_CIPHER = (
    "hmac(?:\\.new)?|createhmac|fernet|sign|from_key|privatekeytoaccount|wallet|jwt\\.(?:sign|encode|decode|verify)|jwtverify"
    "|aes\\w{0,8}(?:\\.new)?|createcipheriv|secretkeyspec|hmac256|hmac512|signwith|setsigningkey"
    "|algoliasearch|twilio['\"]\\)|twilio(?:\\.init)?|telebot|bot|openai|anthropic|client\\w{0,8}|stripe|setapikey|set_api_key"
)
_CALLS = by_letter(f"{_SIGN_IN}|{_CIPHER}", not_behind="a-z0-9")
_CALL = re.compile(rf"(?:{_CALLS})[ \t]?\(")
_IS_SIGN_IN = re.compile(rf"(?:{_SIGN_IN})[ \t]?\(")
# What there is of it in one word.
_CALL_IN_WORD = re.compile(rf"(?:{_CALLS}|auth(?=\Z))(?:[ \t]?\(|\Z)|\.tochararray\(")
_ARGUMENT = re.compile(r"(?:\"([^\"\n\\]{6,256}+)\"|'([^'\n\\]{6,256}+)'|`([^`\n\\]{6,256}+)`)")
_HEX = re.compile(r"(?:0x)?[0-9a-f]{40,128}|[0-9a-f]{32}")
# An application's password at Google.
_APP = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")
# `ks.load(in, "…".toCharArray())`
_CHARACTERS = re.compile(r"[\"']([^\"'\n\\]{6,128}+)[\"']\.tochararray\(\)")
# A field of a form that is filled in.
_TYPED = re.compile(
    r"passw[^\n()]{0,40}[\"']\)?(?:\)\.(?:send_?keys|fill|type|setvalue|set)\(|, ?)"
    r"[\"']([^\"'\n\\]{6,64}+)"
)
_MOST_CHARS = 240
_BRACKET = re.compile(r"[()\[\]{}]")
# `INSERT INTO users (name, password) VALUES ('mara', '…')`
_ROWS = re.compile(r"\(([^()]{0,200}?passw[^()]{0,200})\)\s{0,8}values\s{0,8}(?=\()")
_HINTS = (
    *("login", "auth", "credential", "mysqli", "sign(", "from_key", "privatekeyto", "wallet"),
    *("pdo", "pg_connect", "getconnection", "wifi"),
    *("connect", "username_pw_set", "usernamepassword", "ftp", "hmac", "fernet", "jwt", "aes"),
    *("createcipher", "secretkeyspec", "signwith", "signingkey", "bot", "openai", "anthropic"),
    *("client", "stripe", "twilio", "algolia", "tochararray", "apikey", "api_key", "passw"),
)


def _may_be_called(_: str, lowered: str) -> bool:
    row = "passw" in lowered and ("(" in lowered or ")" in lowered)
    return row or _CALL_IN_WORD.search(lowered) is not None


def _replace_calls(text: str, found: dict[str, int]) -> str:
    if "(" not in text:
        return text
    lowered = lower(text)
    typed = (
        (*match.span(1), "password")
        for hint, pattern in (("passw", _TYPED), (".tochararray()", _CHARACTERS))
        if hint in lowered
        for match in pattern.finditer(lowered)
        if is_strong_password(text[slice(*match.span(1))], beside=True)
    )
    return put_marks(text := put_marks(text, typed, found), _spans(text), found)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    lowered, done = lower(text), 0
    starts = [
        (call.end(), _IS_SIGN_IN.match(lowered, call.start()) is not None)
        for call in _CALL.finditer(lowered)
    ]
    if "values" in lowered:
        starts += [(row.end() + 1, True) for row in _ROWS.finditer(lowered)]
    judged = {True: 0, False: 0}
    for start, password in sorted(starts):
        end = _closing(text, start)
        # What stands in a call within a call was judged with the outer one.
        begin, judged[password] = max(start, done, judged[password]), max(end, judged[password])
        for argument in _ARGUMENT.finditer(text, begin, end):
            at = argument.lastindex or 0
            value = argument[at]
            key = not password or lowered.endswith("key=", begin, argument.start())
            if (key and _HEX.fullmatch(value)) or _APP.fullmatch(value):
                done = argument.end()
                yield *argument.span(at), "secret"
            elif (is_strong_key(value) or is_strong_password(value, beside=not password)) and not (
                is_code_or_id(value) or " " in value
            ):
                done = argument.end()
                yield *argument.span(at), "password" if password else "secret"


def _closing(text: str, start: int) -> int:
    """Where the call that is open at `start` closes, or its line ends after a while."""
    depth, end = 1, min(len(text), start + _MOST_CHARS)
    for bracket in _BRACKET.finditer(text, start, end):
        depth += 1 if bracket[0] in "([{" else -1
        if not depth:
            return bracket.start()
    return end


RULE = Rule(_replace_calls, _HINTS, _may_be_called)
