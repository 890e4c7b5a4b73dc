"""Secrets that URLs, cookies and the fields of key files carry under short names."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import put_marks
from agents_memory.domain.redaction.rules import Place, Rule, rules_of
from agents_memory.domain.redaction.values import is_given, is_strong_key, looks_random

_PLACES = (
    Place(
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
    Place(
        "secret",
        ('auth"', 'auth\\"', "_auth="),
        re.compile(r'(?:\b_?auth\\?" ?: ?\\?"|:_auth ?= ?"?)([A-Za-z0-9+/]{16,}+={0,2})'),
    ),
    Place(
        "secret",
        ('"username"',),
        re.compile(r'"username" ?: ?"[^"\n]{1,64}", ?"key" ?: ?"([A-Za-z0-9_-]{24,128}+)"'),
    ),
    Place(
        "secret",
        ("jwt",),
        re.compile(
            r'(?i)"jwt\w{0,16}"\s?:\s?\{[^{}]{0,200}?"(?:\w{0,12}key|\w{0,12}secret)"\s?:\s?"([^"\n]{16,256}+)"'
        ),
    ),
    # AppRole of Vault.
    Place(
        "only",
        ("secret_id",),
        re.compile(r"secret_id[\"']?\s?[=:]\s?[\"']?([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"),
    ),
    # The path of a webhook is its key.
    Place(
        "webhook",
        ("office.com/webhook", "/bot/v2/hook/", "webhook/send?key=", "/webhooks/incoming"),
        re.compile(
            r"(?:office\.com/webhook(?:b2)?/|/bot/v2/hook/|webhook/send\?key="
            r"|/webhooks/incoming\w{0,12}/)([\w@/-]{30,250}+)"
        ),
    ),
    Place(
        "cookie",
        ("sess", "connect.sid", "csrf", "xsrf", "remember_"),
        re.compile(
            r"(?i)\b(?:\w{0,16}session_?id|phpsessid|\w{0,8}sess(?:ion)?|connect\.sid|csrftoken"
            r"|xsrf-token|remember_\w{1,24})=([\w.~%+/:-]{20,}+)"
        ),
        # Name and value are one word; most that have a hint speak of sessions.
        narrow=lambda word, _: "=" in word,
    ),
    Place(
        "secret",
        ("secret=", "totp", "2fa", "mfa", "setup key", "authenticator"),
        re.compile(
            r"(?i)(?:otpauth://[^\s]{0,200}?secret=|(?<![a-z])"
            r"(?:totp|2fa|mfa|otp|authenticator|setup key)[^\n]{0,40}?"
            r"(?:secret|seed|key|code)?[ :=(]{1,3}[\"'`]?)(?-i:([A-Z2-7]{16,64})(?![A-Za-z0-9]))"
        ),
    ),
    Place("password", ("wifi:",), re.compile(r"\bWIFI:[^\n]{0,100}?\bP:([^;\s]{5,63});")),
    Place(
        "secret",
        ("kty",),
        re.compile(r'\\?"(?:d|p|q|dp|dq|qi|k)\\?" ?: ?\\?"([A-Za-z0-9_-]{24,2048}+)\\?"'),
    ),
)
_COOKIES = re.compile(r"(?i)(?<![\w-])(?:set-)?cookie[\"']?: ?[\"']?([^\n\"']{1,4096})")
_COOKIE = re.compile(r"(?i)([\w.%-]{1,64})=([\w.~%+/=:-]{16,}+)")


def _kind_of(sort: str, value: str) -> str | None:
    if sort in ("password", "webhook"):
        secret = is_given(value)
    elif sort == "cookie":
        secret = looks_random(value)
    elif value.isupper() and value.isalnum():
        secret = len(set(value)) > 8
    else:
        secret = (len(value) >= 24 and looks_random(value)) or is_strong_key(value)
    return sort if secret else None


def _replace_cookies(text: str, found: dict[str, int]) -> str:
    return put_marks(text, _cookies(text), found)


def _cookies(text: str) -> Iterator[tuple[int, int, str]]:
    for line in _COOKIES.finditer(text):
        for cookie in _COOKIE.finditer(text, *line.span(1)):
            if looks_random(cookie[2]):
                yield *cookie.span(2), "cookie"


RULES = (*rules_of(_PLACES, _kind_of), Rule(_replace_cookies, ("cookie",)))
