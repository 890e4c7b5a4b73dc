"""Values given to a name that means a secret."""

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from agents_memory.domain.redaction.marks import in_mark, lower, put_marks
from agents_memory.domain.redaction.values import (
    TYPE_OF_KEY,
    is_given,
    is_placeholder,
    is_strong_key,
    is_strong_password,
    is_wordy,
    looks_random,
)

_PASSWORD_NOUNS = (
    "password|passwd|passphrase|passcode|pass|pwd|密码|密碼|口令|パスワード|비밀번호|пароль"
    "|contraseña|passwort|kennwort|senha|mot de passe|wachtwoord|hasło|identified (?:with \\w{1,40} )?by"
)
_NOUNS = _PASSWORD_NOUNS + "|secret|token|key(?:_base)?|credentials?|authorization|密钥|密鑰|令牌"
# One of these is in a word of every noun: the nouns less their endings, the shortest only.
_STEMS = frozenset(re.sub(r"\(.*?\)\?|.\?", "", _NOUNS).split("|"))
_SHORTEST = (stem for stem in _STEMS if not any(other in stem for other in _STEMS - {stem}))
HINTS = tuple(stem.split()[0] for stem in _SHORTEST)
_ASCII_HINTS = tuple(filter(str.isascii, HINTS))
# The last separator, a mere space, counts only after a command line option.
_ASSIGNMENT = re.compile(
    rf"({_NOUNS})"
    r"([\"']\s?:\s?\{\s{0,8}[\"'](?:computed|value|raw|plaintext)[\"']\s?:\s?(?=[\"'])"
    r"|(?:[ \t]?:[ \t]?&?[\w.<>\[\]| ]{1,24}?|[ \t][a-z]\w{0,15})[ \t]?=[ \t]?(?=[\"'])"
    r"|[\"'`\])\\]{0,8}(?:[ \t]\[[\w *]{0,24}\])?[ \t]{0,24}(?:=>|:=|[!=]==?|[:=：＝]|%3d)[ \t\u200b-\u200f\ufeff]{0,8}"
    r"(?:[rubn]{1,2}(?=[\"']))?"
    r"|[ \t]?\([ \t]?(?=[\"'])"
    r"|[ \t]{0,2}(?:是|为|為|は|는|은)[ \t]{0,2}[:：]?[ \t]{0,2}"
    r"|[ \t]{1,2}(?:is|ist|es|est|é)[ \t:]{1,3}"
    # Terraform declares a variable, and what it is if nobody says.
    r"|\"[ \t]?\{\s{1,8}(?:[a-z]{2,12}[ \t]{0,8}=[^\n]{0,80}\n\s{0,8}){0,3}default"
    r"[ \t]{0,8}=[ \t](?=\")"
    r"|(?:[\w.-]{1,64})?[\"'](?:[ \t]{1,4}value=|[ \t]?,[ \t]{0,16}(?:default=)?)(?=\\{0,3}[\"'])|[ \t]?,[ \t]{0,16}default=(?=[\"'])"
    # Elements and cells of XML and HTML.
    r"|[\"']?>(?:\s{0,40}<plaintext>\w{1,8}</plaintext>)?\s{0,40}(?:<value>)?(?=[^<>\s]{4,128}</)"
    r"|</(?:td|th|dt|b|strong)>\s{0,16}(?:</?\w{1,6}>\s{0,16}){0,2}<(?:td|dd|code)>(?=[^<>\s]{4,128}</)"
    r"|[ \t]{1,2})"
)
_QUOTES = ("'", '"', "`")
_GIVES = (":", "=", "：", "＝", "是", "为", "為", "は", "는", "은", "is", "ist", "es", "est", "é")
_OF_PATTERNS = ("[", "(", "^", "/^")
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
_SECRET_KEY_NAME = re.compile(
    r"(?:api|apiv?[0-9]|access|secret|private|priv|auth|account|logged_in|nonce|encryption|signing"
    r"|master|service|shared|license|tls|deploy|webhook|client|storage|subscription|fastly|admin|app)\Z"
)


@dataclass(frozen=True, slots=True)
class _Assigned:
    """A value beside the name it is given to; `after` is the character that follows it."""

    name: str
    noun: str
    separator: str
    value: str
    after: str
    quoted: bool

    @property
    def environment(self) -> bool:
        """Written as in an environment file: `NAME=value`."""
        return self.name.isupper() and (self.separator == "=" or "," in self.separator)

    @property
    def option(self) -> bool:
        """An option of a command."""
        return self.name.startswith("-")

    @property
    def loose(self) -> bool:
        """Nothing says that it is a value, but that it stands beside the name."""
        return not any(map(self.separator.__contains__, _GIVES)) and not self.option


def may_hold_assignments(_: str, lowered: str) -> bool:
    """Whether the word can be of a name that means a secret."""
    return any(map(lowered.__contains__, _ASCII_HINTS if lowered.isascii() else HINTS))


def replace_assigned(text: str, found: dict[str, int]) -> str:
    """Replaces what is given to a name that means a secret, if it looks like one."""
    return put_marks(text, _assigned_spans(text), found)


def _assigned_spans(text: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    options, marked = " -" in text, "[redacted:" in text
    for match in _ASSIGNMENT.finditer(lower(text)):
        beside = match[2].isspace() and text[match.end() : match.end() + 1] not in _QUOTES
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
        kind = _secret_kind(_Assigned(name, match[1], match[2], value, after, quoted))
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


def _secret_kind(assigned: _Assigned) -> str | None:
    """`password` or `secret` if the value is one, None if it is not."""
    noun, value = assigned.noun, assigned.value
    prefix = assigned.name[: -len(noun)].lower().rstrip("_-.")
    if (
        (
            assigned.separator.isspace()
            and not (assigned.option or assigned.quoted or noun.startswith("identified"))
        )
        or prefix.endswith(("public", "publickey"))
        or is_placeholder(value)
        or _is_code(assigned)
    ):
        return None
    if noun.startswith("key") and not (_SECRET_KEY_NAME.search(prefix) or assigned.environment):
        return None
    if noun == "pass" and not (
        assigned.name.endswith(("_pass", "_PASS", "Pass"))
        or assigned.environment
        or assigned.option
        or ">" in assigned.separator
    ):
        return None
    password = re.fullmatch(_PASSWORD_NOUNS, noun) is not None
    if noun.startswith("identified"):
        certain = assigned.quoted and (assigned.name.isupper() or not is_wordy(value))
        given = is_given(value) if certain else is_strong_password(value, beside=False)
        return "password" if given else None
    if assigned.loose or assigned.option:
        if (
            (noun != "authorization" and is_strong_key(value))
            or (password and is_strong_password(value, beside=False))
        ):
            return "password" if password else "secret"
        if assigned.loose:
            return None
    if "==" in assigned.separator:
        known = is_strong_key(value) or (password and is_strong_password(value, beside=False))
        return "secret" if assigned.quoted and known else None
    if noun == "passphrase" and assigned.quoted and _is_phrase(value):
        return "password"
    if password:
        return "password" if _is_password(assigned) else None
    chosen = assigned.environment and "secret" in (noun, prefix[-6:])
    if value.startswith(_OF_PATTERNS):
        return None
    return "secret" if looks_random(value) or (chosen and _is_password(assigned)) else None


def _is_password(assigned: _Assigned) -> bool:
    value = assigned.value
    if _DATE.fullmatch(value):
        return False
    if len(value) < 4 or value[0] in "/~":
        return looks_random(value)
    if assigned.quoted:
        # One word in lower case may be a password; a sentence or a capitalised word is a label.
        return (
            not is_wordy(value)
            or (value.isalpha() and value.islower())
            or _WORDS_AND_NUMBER.fullmatch(value) is not None
        )
    if not is_wordy(value):
        return True
    if any(sign in assigned.separator for sign in ":=：＝") and _PASSPHRASE.fullmatch(value):
        return True
    if assigned.noun > "\u3000":
        return value.isascii() and len(value) >= 6
    return assigned.separator == "=" and assigned.after not in (",", ")")


def _is_phrase(value: str) -> bool:
    """Words picked by chance, not a sentence."""
    words = value.lower().split()
    return 4 <= len(words) <= 12 and _SENTENCE.isdisjoint(words) and all(map(str.isalnum, words))


def _is_code(assigned: _Assigned) -> bool:
    """A path, a call, an index, an attribute or another name rather than a literal value."""
    if assigned.quoted:
        return _PATH.fullmatch(assigned.value) is not None
    return (
        assigned.after in ("(", "[", "{")
        or (assigned.value.endswith("=") and assigned.after in _QUOTES)
        or _PATH.fullmatch(assigned.value) is not None
        or _ATTRIBUTE.fullmatch(assigned.value) is not None
        or _CMDLET.fullmatch(assigned.value) is not None
        or (
            not assigned.environment
            and (
                _is_name(assigned.value)
                or TYPE_OF_KEY.search(assigned.value) is not None
                or (
                    assigned.after in (";", ",", ")")
                    and _VARIABLE.fullmatch(assigned.value) is not None
                )
            )
        )
    )


_SENTENCE = frozenset(
    "a an the your my our is are was for of to in on and or not no enter please must be with this"
    " key passphrase password empty use used it that if das die der ist für und bitte".split()
)
# Prose joins two words, seldom three.
_PASSPHRASE = re.compile(r"\w{2,24}(?:[-_+.]\w{2,24}){2,}[.!]?")
_WORDS_AND_NUMBER = re.compile(r"[A-Za-z]{3,}(?:[-_+][A-Za-z]{3,})+[-_+][0-9]{2,4}")
_PATH = re.compile(r"(?:[~.]{0,2}|[A-Za-z]:)(?:/[\w.@-]{1,24}+){2,}+/?")
_DATE = re.compile(r"[0-9]{4}[-/.年][0-9]{1,2}[-/.月][0-9]{1,2}日?")
# `ConvertTo-SecureString`
_CMDLET = re.compile(r"[A-Z][A-Za-z]{2,12}-[A-Z][A-Za-z]{2,24}")
_ATTRIBUTE = re.compile(r"[A-Za-z_]+[0-9]?(?:(?:\.|\?\.|->|::)[A-Za-z_]+[0-9]?)+[!?;]?")
_VARIABLE = re.compile(r"(?i:\w*(?:password|passwd|passphrase|pwd|secret|token|key))[0-9]?")
_NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _is_name(value: str) -> bool:
    """Two words or more joined as programmers do; in random letters case changes more often."""
    if not (value.isascii() and value.replace("_", "").isalpha()):
        return False
    return 1 < len(_NAME_PARTS.findall(value)) <= len(value) / 3
