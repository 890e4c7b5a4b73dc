"""Secrets apart from their names: in the next field, cell or line, or before the name."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.assignments import HINTS
from agents_memory.domain.redaction.marks import in_mark, lower, put_marks
from agents_memory.domain.redaction.names import MORE_PASSWORDS, PASSWORDS
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.sought import Names, by_letter
from agents_memory.domain.redaction.values import (
    STRONG,
    is_code_or_id,
    is_strong_key,
    is_strong_password,
    looks_random,
    may_be_random,
    may_be_strong,
)

_NAMES = f"{PASSWORDS}|{MORE_PASSWORDS}|пароль|passcode|pwd|token|secret|credential|key"
_NAME = f"(?P<name>{_NAMES})"
_NAMED = Names(_NAMES)
_VALUE = r"(?P<value>[^\s\"'`<>|;,(){}\[\]\u3000-\uffef]{6,256}+)"
_QUOTE = r"\\?[\"']?"
_FIELDS = by_letter("keyname|keykey|name|key", not_behind="a-z")
# What has to occur, and then where name and value stand.
_FORMS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (
        ("value",),
        re.compile(
            rf"(?:{_FIELDS}){_QUOTE}\s?[:=]\s?{_QUOTE}[\w.-]{{0,48}}?{_NAME}[\w.-]{{0,32}}{_QUOTE}"
            r"[ \t]?,?\s{0,16}(?:\"\w{1,16}\": ?\"[^\"\n]{0,40}\",\s{0,16}){0,3}"
            rf"{_QUOTE}value{_QUOTE}[ \t]?[:=][ \t]?{_QUOTE}{_VALUE}"
        ),
    ),
    # A block of YAML with one line.
    (
        (": |", ": >"),
        re.compile(
            rf"{_NAME}[\"']?: [|>][-+]?[ \t]*\n[ \t]{{1,16}}{_VALUE}[ \t]*(?:\n|\Z)",
        ),
    ),
    # Columns that blanks align.
    (
        ("  ",),
        re.compile(
            rf"(?m)^[ \t]{{0,8}}(?:[\w.-]{{1,24}}[_.-])?{_NAME}[ \t]{{2,24}}{_VALUE}[ \t]*$"
        ),
    ),
    # A row of settings whose value comes first, and a user with a key.
    (
        ("value",),
        re.compile(
            rf"value ?= ?['\"]{_VALUE}['\"][^\n]{{0,40}}?"
            rf"(?:name|key) ?= ?['\"][\w.-]{{0,48}}?{_NAME}"
        ),
    ),
    # Cells of a table.
    (
        ("|",),
        re.compile(
            rf"\|[^|\n]{{0,24}}?{_NAME}[^|\n]{{0,24}}\|[ \t]{{0,40}}[`*]{{0,2}}{_VALUE}"
            r"[`*]{0,2}[ \t]{0,40}(?=\|)"
        ),
    ),
    (
        ("use ", "with ", "enter ", "paste ", "take "),
        re.compile(
            rf"(?:{by_letter('use|with|enter|paste|take')}) (?:the|this|my|our) "
            r"(?:\w{2,12} )?"
            rf"{_NAME}[ \t][\"'`]?"
            r"(?P<value>[a-z0-9]{2,12}(?:-[a-z0-9]{1,12}){3,11})(?![\w-])"
        ),
    ),
)
# A line with the name, a line with the value.
_NEXT_LINE = re.compile(rf"[*_ \t]{{0,4}}\r?\n[ \t]{{0,4}}{_VALUE}[ \t]*(?:\r?\n|\Z)")
_LINE_BEGINS = re.compile(r"(?:\A|\n)[#*_ \t-]{0,6}(?:\w{1,16}[ \t]){0,2}\Z")
# What a command prints that was asked for it, and what a message or somebody answers.
_PROMPT = re.compile(r"[$#❯%>][ \t]")
_PRINTED = re.compile(
    r"(?m)^[ \t]{0,8}(?:[\w@:~/-]{0,40}[$#❯%>])[ \t][^\n]{0,160}?"
    rf"{_NAME}[^\n]{{0,80}}\n[\"']?{_VALUE}[\"']?[ \t]*(?:\n|\Z)"
)
# Commands that print what they keep.
_REVEALS = re.compile(r"output|get-|read|show|echo|decode|access|base64|reveal|printenv")
_ANSWERS = (
    re.compile(rf"[^\n]{{0,80}}:[ \t]*\r?\n\s{{0,8}}{_VALUE}[ \t]*(?:\r?\n|\Z)"),
    re.compile(
        r"[^\n]{0,60}\n(?:user|human|me|[\w ]{1,12})(?:: |： ?)(?:\S{2,64} (?:and|/|und) )?"
        r"(?:(?:that'?s|it'?s|it is|that is|das ist|es ist|sure|yes|ok|here(?: it is)?)[,:]? )?"
        rf"[`\"']?{_VALUE}[`\"']?(?=[\s,.]|\Z)"
    ),
)
# `I set it to …`, said after a password.
_SET = re.compile(rf"(?:set|changed?|reset|updated) (?:it|that|this) to [`\"']?{_VALUE}")
# `… as the password`
_AS = re.compile(
    r" (?:as|for|als|como) "
    r"(?:(?:the|your|my|a|an|its|our|new|root|admin|api|db|das|la) ){1,3}"
    rf"{_NAME}(?!s?[ \t](?:manager|generator|vault|store|hash|policy|field))"
)
_BEFORE = re.compile(rf"(?<![^\s\"'`(*]){_VALUE}[\"'`*)]{{0,3}}\Z")
# Groups of capitals and digits, like the key of a licence; not a mask.
_GROUPS = re.compile(r"(?=[A-Z-]{0,60}[0-9])(?!.*(?:X{3}|YOUR|HERE))[A-Z0-9]{2,12}(?:-[A-Z0-9]+)+")

_HEX = re.compile("[0-9a-f]{32}")
_GIVEN = frozenset(":='\"")
_KEYS = ("token", "secret", "credential", "key")


def _replace_apart(text: str, found: dict[str, int]) -> str:
    """Replaces what a field, a cell, the next line or `as the password` says to be a secret."""
    return put_marks(text, _spans(text), found)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    for start, end, name, revealed in (
        sorted(_candidates(lower(text))) if STRONG.search(text) else ()
    ):
        value = text[start:end].rstrip(".:*_`")
        if start >= done and (kind := _secret_kind(value, name, revealed)):
            done = start + len(value)
            yield start, done, kind


def _secret_kind(value: str, name: str, revealed: bool) -> str | None:
    if revealed and is_strong_password(value, beside=False):
        return "password"
    if name not in _KEYS:
        if is_strong_password(value, beside=True) or _HEX.fullmatch(value):
            return "password"
        return "secret" if is_strong_key(value) else None
    if _GROUPS.fullmatch(value) or is_strong_key(value):
        return "secret"
    long = len(value) >= 24 and looks_random(value) and not is_code_or_id(value)
    return "secret" if long else None


def _candidates(lowered: str) -> Iterator[tuple[int, int, str, bool]]:
    """Where values may stand, the name that they belong to, and whether that was asked for."""
    for hints, pattern in _FORMS:
        if any(map(lowered.__contains__, hints)):
            for match in pattern.finditer(lowered):
                if not in_mark(lowered, match.start("name")):
                    yield *match.span("value"), match["name"], False
    if "\n" in lowered:
        yield from _below(lowered)
    if " to " in lowered and "passw" in lowered:
        for change in _SET.finditer(lowered):
            yield *change.span("value"), "password", False
    if not any(map(lowered.__contains__, (" as ", " for ", " als ", " como "))):
        return
    for said in _AS.finditer(lowered):
        if value := _BEFORE.search(lowered, max(0, said.start() - 130), said.start()):
            yield *value.span("value"), said["name"], False


def _below(lowered: str) -> Iterator[tuple[int, int, str, bool]]:
    """The same of values in the line below a name."""
    for printed in _PRINTED.finditer(lowered) if _PROMPT.search(lowered) else ():
        asked = _asked(printed[0], printed["name"])
        revealed = asked == "password" and _REVEALS.search(printed[0]) is not None
        yield *printed.span("value"), asked, revealed
    for name in _NAMED.finditer(lowered):
        if in_mark(lowered, name.start()):
            continue
        line = _NEXT_LINE.match(lowered, name.end())
        if line and _LINE_BEGINS.search(lowered[max(0, name.start() - 48) : name.start()]):
            yield *line.span("value"), name[1], False
        for answer in _ANSWERS:
            if match := answer.match(lowered, name.end()):
                asked = _asked(name[0] + match[0], name[1])
                # The whole of what somebody answers who was asked, not the field after a field.
                whole = lowered[match.end("value") : match.end("value") + 1] in ("", "\n")
                question = _GIVEN.isdisjoint(match[0].split("\n", 1)[0])
                replied = asked not in _KEYS and whole and question
                yield *match.span("value"), asked, replied


def _asked(said: str, name: str) -> str:
    return "password" if "passw" in said or "credential" in said else name


def _may_be_apart(word: str, lowered: str) -> bool:
    return may_be_strong(word, lowered) or (len(word) >= 24 and may_be_random(word))


RULE = Rule(_replace_apart, HINTS, value=_may_be_apart)
