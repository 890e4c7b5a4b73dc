"""Values given to a name that means a secret."""

import re
import string
from collections.abc import Iterator

from agents_memory.domain.redaction.given import PASSWORD_NOUNS, QUOTES, Assigned, kind_of
from agents_memory.domain.redaction.marks import in_mark, lower, put_marks
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.sought import Names
from agents_memory.domain.redaction.values import may_be_random

_KEY_NOUNS = "secret|token|key(?:_base)?|credentials?|authorization|密钥|密鑰|令牌"
_NOUNS = f"{PASSWORD_NOUNS}|{_KEY_NOUNS}"


def _hints(nouns: str) -> tuple[str, ...]:
    """One of these is in a word of every noun: the nouns less their endings, the shortest only."""
    stems = frozenset(re.sub(r"\(.*?\)\?|.\?", "", nouns).split("|"))
    shortest = (stem for stem in stems if not any(other in stem for other in stems - {stem}))
    return tuple(stem.split()[0] for stem in shortest)


HINTS = _hints(_NOUNS)
_PASSWORD_HINTS = _hints(PASSWORD_NOUNS)
# The last separator, a mere space, counts only after a command line option.
_ASSIGNMENTS = Names(
    _NOUNS,
    r"([\"']\s?:\s?\{[^{}\n]{0,80}?\s{0,24}[\"'](?:computed|value|raw|plaintext)[\"']\s?:\s?(?=[\"'])"
    r"|(?:[ \t]?:[ \t]?&?[\w.<>\[\]| ]{1,24}?|[ \t][a-z]\w{0,15})[ \t]?=[ \t]?(?=[\"'])"
    r"|[\"'`\])\\]{0,8}(?:[ \t]\[[\w *]{0,24}\])?[ \t]{0,24}(?:=>|:=|[!=]==?|[:=：＝]|%3d)"
    r"[ \t\u200b-\u200f\ufeff]{0,8}"
    r"(?:[rubn]{1,2}(?=[\"']))?"
    r"|[ \t]?\([ \t]?(?=[\"'])"
    r"|[ \t]{0,2}(?:是|为|為|は|는|은)[ \t]{0,2}[:：]?[ \t]{0,2}"
    r"|[ \t]{1,2}(?:is|ist|es|est|é)[ \t:]{1,3}"
    # What stands in for it.
    r"|[\"'\])]{0,3}[ \t]{1,2}(?:\?\?|\|\||or)[ \t]{1,2}(?=[\"'])"
    # Terraform declares a variable, and what it is if nobody says.
    r"|\"[ \t]?\{\s{1,8}(?:[a-z]{2,12}[ \t]{0,8}=[^\n]{0,80}\n\s{0,8}){0,3}default"
    r"[ \t]{0,8}=[ \t](?=\")"
    r"|(?:[\w.-]{1,64})?[\"'](?:[ \t]{1,4}value=|[ \t]?,[ \t]{0,16}(?:default=)?)(?=\\{0,3}[\"'])"
    r"|[ \t]?,[ \t]{0,16}default=(?=[\"'])"
    # Elements and cells of XML and HTML.
    r"|[\"']?>(?:\s{0,40}<plaintext>\w{1,8}</plaintext>)?\s{0,40}(?:<value>)?(?=[^<>\s]{4,128}</)"
    r"|</(?:td|th|dt|b|strong)>\s{0,16}(?:</?\w{1,6}>\s{0,16}){0,2}<(?:td|dd|code)>(?=[^<>\s]{4,128}</)"
    r"|[ \t]{1,2})",
)
_NAME_CHARACTERS = string.ascii_letters + string.digits + "_.-"
_VALUE = (
    r"\\{0,7}\"(?:\\{1,7}\")?([^\"\\\n]{1,MAX}+)|\\{0,7}'([^'\\\n]{1,MAX}+)|`([^`\n]{1,MAX}+)"
    # Letters of alphabets belong to a value; prose in Chinese or Korean goes on right after it.
    r"|((?:[^\s\"'`<>(){}\[\],;&\\\u0080-\U0010ffff]|[\u00c0-\u024f\u0370-\u052f]){1,MAX}+)"
)
# A password may hold these; what else they part is better hidden than half a password shown.
_REST = re.compile(r"[&;,](?=\S)[^\s\"'`<>]*")
# The head tells what a value is. Values may overlap, so only the head is read for each.
_VALUE_HEAD = re.compile(_VALUE.replace("MAX", "128"))
_VALUE_WHOLE = re.compile(_VALUE.replace("MAX", ""))
# The name of a secret at Amazon.
_RESOURCE = re.compile(r"arn:\S*\Z")
_SPOKEN = re.compile(r"(?i)\b(access|secret|api|private|signing|encryption|account)[ ]\Z")


def _replace_assigned(text: str, found: dict[str, int]) -> str:
    """Replaces what is given to a name that means a secret, if it looks like one."""
    return put_marks(text, _assigned_spans(text), found)


def _assigned_spans(text: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    options, marked = " -" in text, "[redacted:" in text
    for match in _ASSIGNMENTS.finditer(lower(text)):
        beside = match[2].isspace() and text[match.end() : match.end() + 1] not in QUOTES
        if beside and not (options or match[1].startswith("identified")):
            continue  # Only an option and its value stand beside each other, or a quotation.
        head = _VALUE_HEAD.match(text, match.end()) if match.start() >= done else None
        if not head:
            continue
        before = text[max(0, match.start() - 50) : match.start()]
        prefix = before[len(before.rstrip(_NAME_CHARACTERS)) :]
        quoted = head.lastindex != 4
        # In `ask("Password: ", x)` the quote after the name closes the one before it.
        closing = quoted and _closes(text, match, head[0])
        if closing or (marked and in_mark(text, match.start())):
            continue
        if _RESOURCE.search(before):
            continue
        if not prefix and (spoken := _SPOKEN.search(before)):
            prefix = spoken[1] + "_"
        name = prefix + text[slice(*match.span(1))]
        value, after = head[head.lastindex or 0], text[head.end() : head.end() + 1]
        kind = kind_of(Assigned(name, match[1], match[2], value, after, quoted))
        whole = _VALUE_WHOLE.match(text, match.end()) if kind else None
        if kind and whole:
            start, end = whole.span(whole.lastindex or 0)
            rest = _REST.match(text, end) if kind == "password" and not quoted else None
            end = rest.end() if rest else end
            done = end if quoted else start + len(text[start:end].rstrip("."))
            yield start, done, kind


def _closes(text: str, name: re.Match[str], value: str) -> bool:
    """Whether the quote before a value closes a string that began before the name."""
    quote, start = value.lstrip("\\")[0], text.rfind("\n", 0, name.start()) + 1
    if quote in name[2] or value[0] == "\\":
        return False
    before = text[max(start, name.start() - 200) : name.start()].rstrip(_NAME_CHARACTERS)
    return before[-1:] == quote or (quote != "'" and before.count(quote) % 2 == 1)


def _may_be_given(word: str, lowered: str) -> bool:
    """Whether the word may hold a key or begin a quoted one, or be a name of what may be any."""
    quotes = list(map(word.count, QUOTES))
    return (
        "SECRET" in word
        # One quote opens what goes on in the next word; one in others belongs to what they hold.
        or any(count % 2 for count in quotes)
        or quotes.count(0) < len(quotes) - 1
        or may_be_random(word)
        or any(map(lowered.__contains__, _PASSWORD_HINTS))
    )


RULE = Rule(_replace_assigned, HINTS, value=_may_be_given)
