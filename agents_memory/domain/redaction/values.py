"""Whether a value is a secret, or stands for one."""

import math
import re
from collections import Counter

_PLACEHOLDER_WORDS = """
password passwd pass pwd passphrase secret token key apikey api_key api-key mypassword none null nil
undefined true false yes no on off empty optional required string str text bytes int integer number
bool boolean any object unknown hidden masked removed omitted changeme change_me change-me changeit
todo tbd foo bar baz foobar test testing dummy sample fake default value bearer basic sha1 sha256
sha512 md5 bcrypt argon2 argon2id scrypt pbkdf2 utf8 utf-8 base64 hs256 rs256 es256 oauth2 str|none
lambda
"""
_PLACEHOLDERS = frozenset(_PLACEHOLDER_WORDS.split())
_REFERENCE = re.compile(
    r"\$[({]|\$[A-Za-z_]+\Z|\$[A-Z_][A-Z0-9_]*\Z|%[({s]|%[A-Za-z_]+%|#\{|\{\{|\{[A-Za-z_.]+\}|<|\*|•"
    r"|process\.env|import\.meta|os\.environ|os\.getenv|getenv|environ|env[.\[(]|secrets?\."
    r"|vault:|op://|ssm:|arn:|vars?\.|config\.|settings\.|self\.|this\.|args\."
)
_STANDS_FOR = re.compile(
    r"\A(?:your|the|some|an?|insert|enter|put|replace|paste|change)[-_ ]|\[redacted"
    r"|\Amy[-_ ](?:secret|super|pass|token|key|api)"
    r"|example|placeholder|xxxx|\.\.\.|…|\*\*\*|redacted|[-_]here|your[-_]"
)


def is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret: a reference, a mask, a word like `changeme`."""
    lowered = value.lower()
    return (
        lowered.strip(" .!?:") in _PLACEHOLDERS
        or len(set(lowered)) <= 2
        or _REFERENCE.match(value) is not None
        or _STANDS_FOR.search(lowered) is not None
    )


def is_wordy(value: str) -> bool:
    """Whether the value consists of plain words and small numbers."""
    return all(
        not word
        or (word.isalpha() and (word.islower() or word.isupper() or word.istitle()))
        or (word.isdigit() and len(word) <= 4)
        for word in re.split(r"[-_./:,+'’!? ]", value)
    )


def looks_random(value: str) -> bool:
    """Long, varied and not made of words: at least 8 characters and 2.5 bits of entropy each."""
    if len(value) < 8 or is_placeholder(value) or is_wordy(value) or "://" in value:
        return False
    if not any(character.isalpha() for character in value) or re.search(r"\s", value):
        return False
    counts = Counter(value).values()
    entropy = math.log2(len(value)) - sum(n * math.log2(n) for n in counts) / len(value)
    return entropy >= 2.5
