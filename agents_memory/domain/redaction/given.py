"""Whether what is given to a name is a secret: by the name, the sign between them and the value."""

import re
from dataclasses import dataclass

from agents_memory.domain.redaction.names import MORE_PASSWORDS, PASSWORDS
from agents_memory.domain.redaction.values import (
    TYPE_OF_KEY,
    is_given,
    is_mixed,
    is_placeholder,
    is_strong_key,
    is_strong_password,
    is_wordy,
    looks_random,
)

PASSWORD_NOUNS = (
    f"{PASSWORDS}|{MORE_PASSWORDS}|passcode|pass|pwd|пароль|hasło"
    "|identified (?:with \\w{1,40} )?by"
)
QUOTES = ("'", '"', "`")
_GIVES = (":", "=", "：", "＝", "是", "为", "為", "は", "는", "은", "is", "ist", "es", "est", "é")
_OF_PATTERNS = ("[", "(", "^", "/^")
_SECRET_KEY_NAME = re.compile(
    r"(?:api|apiv?[0-9]|access|secret|private|priv|auth|account|logged_in|nonce|encryption|signing"
    r"|master|service|shared|license|tls|deploy|webhook|client|storage|subscription|fastly|admin|app)\Z"
)


_PUBLIC_KEY_NAME = re.compile(
    r"(?:public|pub|publishable|site|anon|cache|primary|foreign|partition|sort|row|object|record"
    r"|idempotency|dedup\w*|trace|query|react|map|item|node|hash|i18n|translation|measurement|s3"
    r"|event|message|routing|group|shard|lookup|index|etag|file|blob|data|user|session)\Z"
)


@dataclass(frozen=True, slots=True)
class Assigned:
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


def kind_of(assigned: Assigned) -> str | None:
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
    if noun.startswith("key") and not (
        _SECRET_KEY_NAME.search(prefix) or assigned.environment or _is_own_key(prefix, value)
    ):
        return None
    if noun == "pass" and not (
        assigned.name.endswith(("_pass", "_PASS", "Pass"))
        or assigned.environment
        or assigned.option
        or ">" in assigned.separator
    ):
        return None
    password = re.fullmatch(PASSWORD_NOUNS, noun) is not None
    if noun.startswith("identified"):
        certain = assigned.quoted and (assigned.name.isupper() or not is_wordy(value))
        given = is_given(value) if certain else is_strong_password(value, beside=False)
        return "password" if given else None
    if assigned.loose or assigned.option:
        if (noun != "authorization" and is_strong_key(value)) or (
            password and is_strong_password(value, beside=False)
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


def _is_own_key(prefix: str, value: str) -> bool:
    """The key of something by name, and without doubt a machine's."""
    return (
        bool(prefix)
        and _PUBLIC_KEY_NAME.search(prefix) is None
        and len(value) >= 24
        and value.isalnum()
        and is_mixed(value)
        and is_strong_key(value)
    )


def _is_password(assigned: Assigned) -> bool:
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
        # `パスワード：dmitriさん`
        goes_on = assigned.after > "\u3000" and assigned.after.isalpha()
        return value.isascii() and len(value) >= 6 and not goes_on
    return assigned.separator == "=" and assigned.after not in (",", ")")


def _is_phrase(value: str) -> bool:
    """Words picked by chance, not a sentence."""
    words = value.lower().split()
    return 4 <= len(words) <= 12 and _SENTENCE.isdisjoint(words) and all(map(str.isalnum, words))


def _is_code(assigned: Assigned) -> bool:
    """A path, a call, an index, an attribute or another name rather than a literal value."""
    if assigned.value.startswith(("./", "../")):
        return True
    if assigned.quoted:
        return _PATH.fullmatch(assigned.value) is not None
    return (
        assigned.after in ("(", "[", "{")
        or (assigned.value.endswith("=") and assigned.after in QUOTES)
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


_SENTENCE_WORDS = """
a an the your my our is are was for of to in on and or not no enter please must be with this
key passphrase password empty use used it that if das die der ist für und bitte
"""
_SENTENCE = frozenset(_SENTENCE_WORDS.split())
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
