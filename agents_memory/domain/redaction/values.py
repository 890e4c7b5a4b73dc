"""Whether a value is a secret, or stands for one."""

import math
import re

from agents_memory.domain.redaction.sought import by_letter

_PLACEHOLDER_WORDS = """
password passwd pass pwd passphrase secret token key apikey api_key api-key mypassword none null nil
undefined true false yes no on off empty optional required string str text bytes int integer number
bool boolean any object unknown hidden masked removed omitted changeme change_me change-me changeit
todo tbd foo bar baz foobar test testing dummy sample fake default value bearer basic sha1 sha256
sha512 md5 bcrypt argon2 argon2id scrypt pbkdf2 utf8 utf-8 base64 hs256 rs256 es256 oauth2 str|none
lambda 1password lastpass bitwarden keepass keepassxc vault keychain
"""
_PLACEHOLDERS = frozenset(_PLACEHOLDER_WORDS.split())
_REFERENCE = re.compile(
    r"\$[({]|\$\w+:|\$[A-Za-z_]+\Z|\$[A-Z_][A-Z0-9_]*\Z|%[({s]|%{1,2}[A-Za-z_]+%|#\{|\{\{|\{[\w.!:()]+\}|<|\*|•"
    r"|@Microsoft\.KeyVault|\.[*+]|\\[SwW.]|\[\^|\(\?|\(\.|process\.env|import\.meta|os\.environ|os\.getenv|getenv|environ|env[.\[(]|secrets?\."
    r"|\[[A-Za-z_ ]{3,24}\]\Z|vault:|op://|ssm:|arn:|vars?\.|config\.|settings\.|self\.|this\.|args\."
)
_STANDS_FOR = re.compile(
    r"(?:your|deine?|ihr|votre|twoje|the|some|insert|enter|replace|paste|change)[-_ ]|\[redacted"
    # Only words follow the short ones.
    r"|(?:an?|put|ton|tu|su|seu|sua)[-_ ](?:[a-z]{2,12}(?:[-_ ]|\Z)){1,7}\Z"
    r"|my[-_ ](?:secret|super|pass|token|key|api)"
)
_SAYS_SO = re.compile(
    by_letter(
        r"example|placeholder|xxxx|\.\.\.|…|\*\*\*|redacted|-here|_here|dummy|for_test|for-test|your-|your_"
    )
)


# Names that begin with what they are, which is public.
_PUBLIC = ("npub1", "note1", "nprofile1", "nevent1", "naddr1", "ssh-", "pk_")


def is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret: a reference, a mask, a word like `changeme`."""
    lowered = value.lower()
    return (
        value.startswith(_PUBLIC)
        or lowered.strip(" .!?:") in _PLACEHOLDERS
        or len(set(lowered)) <= 2
        or _REFERENCE.match(value) is not None
        or _STANDS_FOR.match(lowered) is not None
        or _SAYS_SO.search(lowered) is not None
    )


# Masks and what manuals write.
_MANUAL = re.compile(r"(?i)your|example|placeholder|x{3}|\A(?:p+a+s+s+(?:wor[dt])?|secret)\Z")
_OPTION_OR_PATH = re.compile(r"[-$<{\[(%#|&;>/~.]|[A-Za-z]:[\\/]|\w+://|[A-Z]\w*\[")


def is_given(value: str) -> bool:
    """Whether it can be the secret where nothing but a secret stands: no reference, no path."""
    return (
        4 <= len(value) <= _MAX_WORD
        and not is_placeholder(value)
        and _MANUAL.search(value) is None
        and _OPTION_OR_PATH.match(value) is None
        and any(map(str.isalnum, value))
    )


def is_wordy(value: str) -> bool:
    """Whether the value consists of plain words and small numbers."""
    return all(
        not word
        or (
            word.isalpha()
            and (word.islower() or word.isupper() or word.istitle() or word.lower() == word.upper())
        )
        or (word.isdigit() and len(word) <= 4)
        for word in re.split(r"[-_./:,+'’!?()| ]", value)
    )


def is_spelt(value: str) -> bool:
    """Whether it is at least two words and small numbers, joined: `my-db-secret-2024`."""
    parts = [part for part in re.split("[-_.]", value) if part]
    words = [part for part in parts if len(part) > 1 and part.isalpha() and is_wordy(part)]
    short = sum(map(len, parts)) - sum(map(len, words))
    return (
        len(words) > 1
        and all(len(part) <= 4 or part in words for part in parts)
        and short <= len(value) / 2
    )


def is_mixed(value: str) -> bool:
    """Whether there are capitals, small letters and digits in it."""
    return all(re.search(kind, value) for kind in ("[A-Z]", "[a-z]", "[0-9]"))


_MAX_WORD = 256
_N_LOG_N = [0.0, *(n * math.log2(n) for n in range(1, _MAX_WORD + 1))].__getitem__


def looks_random(value: str) -> bool:
    """Long, varied and not made of words: at least 8 characters and 2.5 bits of entropy each.

    Of a longer one the first 256 characters tell.
    """
    if len(value) < 8 or is_placeholder(value) or is_wordy(value) or "://" in value:
        return False
    if not any(character.isalpha() for character in value) or re.search(r"\s", value):
        return False
    if len(value) > _MAX_WORD:
        value = value[:_MAX_WORD]
    counts = map(value.count, set(value))
    return math.log2(len(value)) - sum(map(_N_LOG_N, counts)) / len(value) >= 2.5


_CODE_OR_ID = re.compile(
    r"[0-9a-fA-F]{7,}\Z|0x[0-9a-fA-F]+\Z"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|[vV]?[0-9]+(?:[.:][0-9]+)+|[\w./-]+:[vV]?[0-9]+[0-9.]*\Z|[0-9]{2,4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]+[a-zA-Z%]{1,3}\Z"
    r"|(?-i:(?:password|passwd|pass|token|secret|key|user|auth)(?:[A-Z][a-z]+)+[0-9]?)\Z"
    r"|(?-i:[0-9]{1,3}[+-]{0,2}[a-z]+)\Z"
    r"|(?:sha|md|aes|rsa|hmac|utf|iso|rfc|http|oauth|argon|pbkdf|base|ed|x|hs|rs|es|tls)-?[0-9]"
    r"|[\w.]+[(\[]|[0-9]{4,8}/[a-z0-9-]+/|[\w.+-]+@[\w-]+\.[a-z]{2,}|.*(?:://|::|\.\.|->|==)|[\w.-]+[=:][^=]|[/~.@#%$&*+-]"
    r"|.*\.[a-z]{1,5}[0-9]?\Z|.*\.[A-Za-z_]{3,}\b|(?:[^/]*[^/0-9][^/]*/)+[\w.-]*\Z",
    re.IGNORECASE,
)
# `private_key: Ed25519PrivateKey`
TYPE_OF_KEY = re.compile(
    r"[A-Za-z0-9](?:Private|Public|Secret|Access|Api)Key(?![0-9a-z])|KeyTypes?\b"
)
# Capitals and small letters beyond those of hexadecimal numbers and dates, and nothing that joins.
# Letters and digits with two signs or more that code does not join them by.
_MADE_UP = re.compile(
    r"(?=[^0-9]*[0-9])(?=[^a-zA-Z]*[a-zA-Z])(?:[^!^~#%&\s/]*[!^~#%&]){1}[^\s/]*[!^~#%&=@]"
)
_BASE64 = re.compile(r"(?=[^+/]*[+/])[A-Za-z0-9+/]{40,}={0,2}")
_CASES = re.compile(r"(?=[^G-SU-Y]*[G-SU-Y])(?=[^g-z]*[g-z])[^/()]+\Z")
_MIXED = re.compile(r"(?=[^G-SU-Y]*[G-SU-Y])(?=[^g-z]*[g-z])[^=/:()]+")


def is_code_or_id(value: str) -> bool:
    """Whether a word can be a hash, a number, a date, an address, a path or a piece of code."""
    if TYPE_OF_KEY.search(value):
        return True
    mixture = runs(value) / len(value) if len(value) >= 10 else 0
    if mixture >= 0.4 and _BASE64.fullmatch(value):
        return False
    if (mixture >= 0.4 and _MIXED.fullmatch(value)) or (mixture >= 0.6 and _CASES.match(value)):
        return False
    if _MADE_UP.match(value):
        return False
    return _CODE_OR_ID.match(value) is not None or value.count("_") > 2


def runs(value: str) -> int:
    """How many runs of capitals, small letters, digits and signs it has; `Falcon6822#` has four."""
    return len(re.findall(r"[A-Z]+|[0-9]+|[^\W0-9A-Z_]+|[\W_]+", value))


_IN_CODE = frozenset("(){}[],;<>|")


def is_strong_key(value: str) -> bool:
    """Whether a word of a sentence can be nothing but a machine's key: 16 mixed characters."""
    return (
        16 <= len(value) <= _MAX_WORD
        and not is_placeholder(value)
        and not is_code_or_id(value)
        and not is_spelt(value)
        and _IN_CODE.isdisjoint(value)
        and any(map(str.isdigit, value))
        and runs(value) >= 6
    )


def is_long_token(value: str) -> bool:
    """Whether it is of one piece and long, like the tokens of services that have no form."""
    return len(value) >= 24 and value.isalnum() and not value.isalpha() and looks_random(value)


_ANY_SIGN = re.compile("[0-9!#$%&*+?^~@]")
# Not in any place of a word, which would be tried at each.
_ANY_RUN = re.compile("[^\\s\"'`<>\u3000-\uffef]{6,}+")
_AROUND = "\"'`-_./:,+’!?()|"


def may_be_strong(_: str, lowered: str) -> bool:
    """Whether a strong password or key of a sentence can be in the word of that lower case."""
    return _has_sign(lowered) and any(map(_has_sign, _ANY_RUN.findall(lowered)))


def _has_sign(run: str) -> bool:
    return _ANY_SIGN.search(run) is not None or (
        # A digit of whatever script.
        not run.isascii() and any(map(str.isdigit, run))
    )


def may_be_random(word: str) -> bool:
    """Whether what `looks_random`, or a strong key, can be in the word, but for one with a quote of
    the same sort inside."""
    return (
        len(word) > _MAX_WORD
        or (len(word) >= 8 and not is_wordy(word.strip(_AROUND)))
        or (len(word) >= 16 and any(map(str.isdigit, word)))
    )


# None is without one of these.
STRONG = re.compile(r"[0-9#$%&*+^~@]|[!?][^\s!?]")
_SIGNS = re.compile(r"[!#$%&*+?^~@]")
# Words and a number: what people make up, and what programs are called, too.
_WORDS_AND_NUMBER = re.compile(
    r"[^\W\d_]{3,}(?:[-_.+][^\W\d_]{2,}){0,5}[-_.+]?[0-9]{2,6}[!?.#$%&*+@_-]{0,2}"
)


_WORDS_AROUND_NUMBER = re.compile(r"[a-z]{3,}[0-9]{2,6}[a-z]{3,}")


def is_strong_password(value: str, *, beside: bool) -> bool:
    """Whether a word of a sentence can be nothing but a password.

    `beside`: no word or sign says that it is one, so words with a number behind are not enough.
    """
    if not 7 <= len(value) <= _MAX_WORD or is_placeholder(value) or is_code_or_id(value):
        return False
    digits, letters = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    signs = _SIGNS.search(value.rstrip("!?")) is not None
    if not letters or not (digits or signs):
        return False
    if _WORDS_AND_NUMBER.fullmatch(value):
        marked = signs or value[-1] in "!?" or (value != value.lower() and len(value) >= 8)
        return not beside or (digits and marked and bool(re.search("[0-9]{2}", value)))
    cases = value != value.lower() and value != value.upper()
    if cases or signs:
        return runs(value) >= (3 if digits else 5)
    if not beside and _WORDS_AROUND_NUMBER.fullmatch(value):
        return True
    return not beside and len(re.findall("[0-9]+", value)) > 1 and runs(value) >= 5
