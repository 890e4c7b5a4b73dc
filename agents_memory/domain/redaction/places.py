"""Credentials by where they stand: in a URL, in a header, after an option."""

import re

from agents_memory.domain.redaction.marks import MARK, lower, put_marks
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.values import (
    is_placeholder,
    is_strong_key,
    is_strong_password,
    looks_random,
)

_CREDENTIAL_HINTS = ("authorization", "headervalue", "bearer", "-u", "-a", "@tcp(")
_URL_PASSWORD = re.compile(
    rf"://(?:{MARK}|[^\s:/@\"'<>`\[]){{0,128}}+:"
    r"([^\s\"'<>`@/]{1,256}+(?:@[^\s\"'<>`@/]{1,256}+(?=@))*"
    r"|(?![0-9]{1,5}[/?#])[^\s\"'<>`@]{1,256}+)(?=@[^\s@])"
)
_AUTHORIZATION = re.compile(
    r"(?:authorization[\"'\\]{0,3}"
    r"(?:(?:\s{0,4}[:=]\s{0,4}|[ \t]{1,4}(?=[\"'])|,[ \t])[\"'\\]{0,3}"
    r"(?:bearer|basic|token|apikey|digest)"
    r"|\s{0,4}[:=]\s{0,4}[\"'\\]{0,3}(?!new)[a-z][a-z0-9-]{2,15})[ \t]{1,4}"
    r"|headervalue\([\"'][a-z]{2,12}[\"'],[ \t]?[\"'])"
    r"([^\s\"'\\,;<>(]{8,}+)(?!\()"
)
_BEARER = re.compile(r"(?<![a-z])bearer[ \t]{1,4}([a-z0-9._~+/=-]{16,}+)")
_USER_OPTION = re.compile(
    r"(?<![a-z0-9-])(?:-u|-a|--user|--auth)[ =][\"']?"
    r"[^\s:\"',]{1,64}+[:,](?!//)[\"']?([^\s\"']{4,}+)"
)


# The data source name of a driver in Go.
_SOURCE = re.compile(r"[\w.-]{1,64}:([^\s\"'`@]{4,128}+)@tcp\(")
# What takes `-u` for something else, and a colon after it.
_USER_OF_FILES = re.compile(r"\b(?:rsync|cp|docker|podman|tar|chown|scp|sort|git|pip)\b")
# A token alone stands for the user.
_HEX = re.compile("[0-9a-f]{32,64}")
_URL_TOKEN = re.compile(r"(?i)://([a-z0-9_-]{20,255}+)@(?!\w{1,20}\.ingest|sentry)(?=[^\s@])")


def _may_have_a_user(word: str, _: str) -> bool:
    return "@" in word


def _replace_url_passwords(text: str, found: dict[str, int]) -> str:
    """Replaces passwords in URLs and connection strings; the user and the host stay."""
    spans = (
        (*match.span(1), "url_password")
        for match in _URL_PASSWORD.finditer(text)
        if not is_placeholder(match[1])
    )
    text = put_marks(text, spans, found)
    users = (
        (*match.span(1), "url_password")
        for match in _URL_TOKEN.finditer(text)
        if _HEX.fullmatch(match[1]) or is_strong_key(match[1])
    )
    return put_marks(text, users, found)


def _replace_credentials(text: str, found: dict[str, int]) -> str:
    """Replaces credentials in `Authorization` headers, after `Bearer`, and of curl's option."""
    lowered = lower(text)
    for pattern, hint, kind in (
        (_AUTHORIZATION, "authorization", "authorization"),
        (_AUTHORIZATION, "headervalue", "authorization"),
        (_SOURCE, "@tcp(", "password"),
        (_BEARER, "bearer", "authorization"),
        (_USER_OPTION, "-u", "password"),
        (_USER_OPTION, "-a", "password"),
    ):
        if hint in lowered:
            spans = (
                (*match.span(1), kind)
                for match in pattern.finditer(lowered)
                if _is_credential(text[slice(*match.span(1))])
                and not (hint[0] == "-" and _USER_OF_FILES.search(lowered, *_line(lowered, match)))
            )
            text = put_marks(text, spans, found)
            lowered = lower(text)
    return text


def _line(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Where the line of a match begins, at most 200 characters before it, and where it begins."""
    near = max(0, match.start() - 200)
    return max(near, text.rfind("\n", near, match.start()) + 1), match.start()


def _is_credential(value: str) -> bool:
    return looks_random(value) or is_strong_password(value, beside=False)


URL_PASSWORDS = Rule(_replace_url_passwords, ("://",), _may_have_a_user)
RULES = (URL_PASSWORDS, Rule(_replace_credentials, _CREDENTIAL_HINTS))
