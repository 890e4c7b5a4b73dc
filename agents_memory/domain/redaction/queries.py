"""Secrets that URLs, cookies and the fields of key files carry under short names."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import lower, put_marks
from agents_memory.domain.redaction.values import (
    is_given,
    is_strong_key,
    looks_random,
)

# Kind, what has to occur for it, and where the secret stands.
_PLACES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (
        "secret",
        (
            "sig=",
            "ature=",
            "key=",
            "token=",
            "auth=",
            "code=",
            "hmac=",
            "jwt=",
            "sid=",
            "sion=",
            "appid=",
            "app_id=",
        ),
        re.compile(
            r"[?&](?:sig|signature|x-(?:amz|goog)-(?:signature|security-token)|key|apikey|token|auth"
            r"|code|hmac|jwt|sid|session|app_?id|app_?key|api_?key|client_secret)=([\w.~%+/=-]{16,}+)",
            re.IGNORECASE,
        ),
    ),
    (
        "secret",
        ('auth"', 'auth\\"', "_auth="),
        re.compile(r'(?:\b_?auth\\?" ?: ?\\?"|:_auth ?= ?"?)([A-Za-z0-9+/]{16,}+={0,2})'),
    ),
    (
        "secret",
        ('"username"',),
        re.compile(r'"username" ?: ?"[^"\n]{1,64}", ?"key" ?: ?"([A-Za-z0-9_-]{24,128}+)"'),
    ),
    (
        "secret",
        ("jwt",),
        re.compile(
            r'(?i)"jwt\w{0,16}"\s?:\s?\{[^{}]{0,200}?"(?:\w{0,12}key|\w{0,12}secret)"\s?:\s?"([^"\n]{16,256}+)"'
        ),
    ),
    # The path of a webhook is its key.
    (
        "webhook",
        ("office.com/webhook", "/bot/v2/hook/", "webhook/send?key=", "/webhooks/incoming"),
        re.compile(
            r"(?:office\.com/webhook(?:b2)?/|/bot/v2/hook/|webhook/send\?key="
            r"|/webhooks/incoming\w{0,12}/)([\w@/-]{30,250}+)"
        ),
    ),
    (
        "cookie",
        ("sess", "connect.sid", "csrf", "xsrf", "remember_"),
        re.compile(
            r"(?i)\b(?:\w{0,16}session_?id|phpsessid|\w{0,8}sess(?:ion)?|connect\.sid|csrftoken"
            r"|xsrf-token|remember_\w{1,24})=([\w.~%+/:-]{20,}+)"
        ),
    ),
    (
        "secret",
        ("secret=", "totp", "2fa", "mfa", "setup key", "authenticator"),
        re.compile(
            r"(?i)(?:otpauth://[^\s]{0,200}?secret=|(?<![a-z])(?:totp|2fa|mfa|otp|authenticator|setup key)[^\n]{0,40}?"
            r"(?:secret|seed|key|code)?[ :=(]{1,3}[\"'`]?)(?-i:([A-Z2-7]{16,64})(?![A-Za-z0-9]))"
        ),
    ),
    ("password", ("wifi:",), re.compile(r"\bWIFI:[^\n]{0,100}?\bP:([^;\s]{5,63});")),
    (
        "secret",
        ("kty",),
        re.compile(r'\\?"(?:d|p|q|dp|dq|qi|k)\\?" ?: ?\\?"([A-Za-z0-9_-]{24,2048}+)\\?"'),
    ),
)
HINTS = ("cookie", *(hint for _, hints, _ in _PLACES for hint in hints))
_COOKIES = re.compile(r"(?i)(?<![\w-])(?:set-)?cookie[\"']?: ?[\"']?([^\n\"']{1,4096})")
_COOKIE = re.compile(r"(?i)([\w.%-]{1,64})=([\w.~%+/=:-]{16,}+)")


def may_hold_queries(_: str, lowered: str) -> bool:
    """Whether the word can be of a cookie, a query or a key file that may carry a secret."""
    return any(map(lowered.__contains__, HINTS))


def replace_queries(text: str, found: dict[str, int]) -> str:
    """Replaces what cookies, queries and key files carry, if it looks like a secret."""
    lowered = lower(text)
    for kind, hints, pattern in _PLACES:
        if any(map(lowered.__contains__, hints)):
            text = put_marks(text, _spans(kind, pattern, text), found)
    return put_marks(text, _cookies(text), found) if "cookie" in lowered else text


def _spans(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        value = match[1]
        if kind in ("password", "webhook"):
            secret = is_given(value)
        elif kind == "cookie":
            secret = looks_random(value)
        elif value.isupper() and value.isalnum():
            secret = len(set(value)) > 8
        else:
            secret = (len(value) >= 24 and looks_random(value)) or is_strong_key(value)
        if secret:
            yield match.start(1), match.end(1), kind


def _cookies(text: str) -> Iterator[tuple[int, int, str]]:
    for line in _COOKIES.finditer(text):
        for cookie in _COOKIE.finditer(text, *line.span(1)):
            if looks_random(cookie[2]):
                yield *cookie.span(2), "cookie"
