"""Secrets by the command, the header or the question mark they stand behind."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import lower, put_marks
from agents_memory.domain.redaction.values import (
    is_code_or_id,
    is_placeholder,
    is_strong_key,
    is_strong_password,
    looks_random,
)

_WORD = r"[\"']?([^\s\"'`<>|;$\\({\[-][^\s\"'`<>|;\\]{3,127}+)"
# A line of ~/.pgpass.
_LEDGER = re.compile(
    r"(?m)^[\w.*-]{1,80}:(?:5432|6432|\*):[\w*.-]{1,64}:[\w*.-]{1,64}:([^\s:]{6,128})$"
)
# Kind, what has to occur for it, and where the secret stands.
_PLACES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "password",
        ("mysql", "mariadb", "7z", "sshpass"),
        re.compile(
            rf"\b(?:mysql\w{{0,9}}|mariadb\w{{0,9}}|7z[ar]?|sshpass)\b[^\n|;]{{0,120}}?\s-p{_WORD}"
        ),
    ),
    (
        "password",
        ("login ", "sshpass", "redis-cli", "mongo", "zip ", "ldap", "smbclient"),
        re.compile(
            r"\b(?:(?:docker|podman|oc|az|helm|buildah|cf|argocd)[\w -]{0,24} login|sshpass"
            rf"|redis-cli|mongo\w{{0,8}}|zip|unzip|ldap\w{{3,9}})\b[^\n|;]{{0,120}}?"
            rf"\s-[paPw] {_WORD}"
        ),
    ),
    ("password", ("sudo",), re.compile(rf"\becho (?:-n )?{_WORD}[\"']? ?\| ?sudo -S")),
    ("password", ("requirepass",), re.compile(rf"\brequirepass[ \t]{{1,8}}{_WORD}")),
    ("password", ("pass:",), re.compile(rf"\bpass:{_WORD}")),
    ("password", ("/user:",), re.compile(rf"/user:\S{{1,64}} {_WORD}")),
    ("password", ("asplaintext",), re.compile(rf"ConvertTo-SecureString (?:-String )?{_WORD}")),
    (
        "password",
        ("auth",),
        re.compile(rf"\bauth ?= ?\([\"'][\w.@+-]{{1,64}}[\"'], ?(?=[\"']){_WORD}"),
    ),
    ("password", ("psk",), re.compile(rf"\b(?:wpa_)?psk ?= ?{_WORD}")),
    (
        "secret",
        ("secret set",),
        re.compile(rf"\bsecret set \w{{1,64}}[^\n|;]{{0,40}}? (?:--body|-b)[ =]{_WORD}"),
    ),
    (
        "secret",
        ("sig=", "ature=", "key=", "token=", "auth=", "code=", "hmac=", "jwt=", "sid=", "sion="),
        re.compile(
            r"[?&](?:sig|signature|x-(?:amz|goog)-(?:signature|security-token)|key|apikey|token|auth"
            r"|code|hmac|jwt|sid|session)=([\w.~%+/=-]{16,}+)",
            re.IGNORECASE,
        ),
    ),
    (
        "secret",
        ('auth"', 'auth\\"'),
        re.compile(r'\b_?auth\\?" ?: ?\\?"([A-Za-z0-9+/]{16,}+={0,2})\\?"'),
    ),
    ("password", ("wifi:",), re.compile(r"\bWIFI:[^\n]{0,100}?\bP:([^;\s]{5,63});")),
    (
        "secret",
        ("kty",),
        re.compile(r'\\?"(?:d|p|q|dp|dq|qi|k)\\?" ?: ?\\?"([A-Za-z0-9_-]{24,2048}+)\\?"'),
    ),
    ("password", (":5432:", ":6432:", ":*:"), _LEDGER),
)
HINTS = ("cookie", *(hint.split()[0] for _, hints, _ in _PLACES for hint in hints))
_COOKIES = re.compile(r"(?i)(?<![\w-])(?:set-)?cookie[\"']?: ?[\"']?([^\n\"']{1,4096})")
_COOKIE = re.compile(r"(?i)([\w.%-]{1,64})=([\w.~%+/=:-]{16,}+)")


def may_hold_commands(_: str, lowered: str) -> bool:
    """Whether the word can be of a command, a header or a query that may carry a secret."""
    return any(map(lowered.__contains__, HINTS))


def replace_commands(text: str, found: dict[str, int]) -> str:
    """Replaces what commands, cookies and queries carry, if it looks like a secret."""
    lowered = lower(text)
    for kind, hints, pattern in _PLACES:
        if any(map(lowered.__contains__, hints)):
            before, text = text, put_marks(text, _spans(kind, pattern, text), found)
            lowered = lowered if text is before else lower(text)
    return put_marks(text, _cookies(text), found) if "cookie" in lowered else text


def _spans(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        value = match[1]
        if kind == "password":
            secret = not is_placeholder(value) and (
                is_strong_password(value, beside=False) or looks_random(value)
            )
        else:
            secret = (len(value) >= 24 and looks_random(value)) or is_strong_key(value)
        if secret and (kind == "secret" or not is_code_or_id(value)):
            yield match.start(1), match.end(1), kind


def _cookies(text: str) -> Iterator[tuple[int, int, str]]:
    for line in _COOKIES.finditer(text):
        for cookie in _COOKIE.finditer(text, *line.span(1)):
            if looks_random(cookie[2]):
                yield *cookie.span(2), "cookie"
