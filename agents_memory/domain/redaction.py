"""Secrets are replaced by rules before anything is written: database, spool, embedder.

What is replaced, each by `[redacted:<kind>]`:

* `<private>…</private>`, whatever stands in it; without an end tag, everything to the end
* private key blocks, also cut off ones
* tokens that can be told by their form (AWS, GitHub, OpenAI, JWT, nostr…)
* passwords inside URLs and connection strings; the user and the host stay
* credentials in `Authorization` headers and after `Bearer`
* values given to a name that means a secret (`password=…`, `"api_key": "…"`, `密码：…`), if the
  value looks like one

What stays: the words themselves, references to where a secret is kept (`$PASSWORD`,
`os.environ["X"]`, `process.env.X`), code, type names, placeholders and documentation keys.

Boundaries are ASCII on purpose: `\\b` sees none between a token and a Chinese character. Every
pattern either succeeds or gives up after a bounded number of characters, so time is linear.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_ROUNDS = 8
"""Replacing one secret may lay bare another; more rounds than two are never seen in practice."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """Text without the secrets that were found, and how many of each kind there were."""

    text: str
    counts: dict[str, int]


def redact(text: str) -> Redacted:
    """Replace every secret the rules know. Any string is legal; doing it twice changes nothing."""
    counts: Counter[str] = Counter()
    for _ in range(_ROUNDS):
        found: Counter[str] = Counter()
        for rule in _RULES:
            text = rule(text, found)
        if not found:
            break
        counts += found
    return Redacted(text, dict(counts))


def _mark(kind: str) -> str:
    return f"[redacted:{kind}]"


def _lowered(text: str) -> str:
    """Lower case with every character at its place (İ alone would become two)."""
    return text.replace("İ", "I").lower()


def _replace(text: str, spans: Iterator[tuple[int, int, str]], found: Counter[str]) -> str:
    """Put marks over (start, end, kind) spans, which come in order and do not overlap."""
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        parts += (text[done:start], _mark(kind))
        done = end
        found[kind] += 1
    return "".join((*parts, text[done:])) if parts else text


# Private blocks

_QUOTES = ("`", '"', "'")
_PRIVATE_TAG = re.compile(r"<\s{0,4}(/?)\s{0,4}private\s{0,4}>", re.IGNORECASE)


def _private_blocks(text: str, found: Counter[str]) -> str:
    return _replace(text, _private_spans(text), found)


def _private_spans(text: str) -> Iterator[tuple[int, int, str]]:
    depth = start = 0
    for tag in _PRIVATE_TAG.finditer(text):
        before, after = text[tag.start() - 1 : tag.start()], text[tag.end() : tag.end() + 1]
        if before == after and before in _QUOTES:
            continue  # The tag is spoken of, not used.
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, tag.end(), "private"
    if depth:
        yield start, len(text), "private"


# Private keys

_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINES = re.compile(
    r"(?:\s|\\[nrt])*+"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[^\n\\]{0,200}+(?:\s|\\[nrt])*+)*+"
    r"(?:[A-Za-z0-9+/=]{16,}+(?:(?:\s|\\[nrt])++(?=[A-Za-z0-9+/=]{16}))?+)++"
    r"(?:(?:\s|\\[nrt])++[A-Za-z0-9+/]{1,80}+(?:={1,2}|\Z))?"
)


def _key_blocks(text: str, found: Counter[str]) -> str:
    return _replace(text, _key_spans(text), found) if "PRIVATE KEY" in text else text


def _key_spans(text: str) -> Iterator[tuple[int, int, str]]:
    done, end = 0, _KEY_END.search(text)
    begins = list(_KEY_BEGIN.finditer(text))
    limits = [begin.start() for begin in begins[1:]] + [len(text)]
    for begin, limit in zip(begins, limits, strict=False):
        if begin.start() < done:
            continue
        while end and end.start() < begin.end():
            end = _KEY_END.search(text, end.end())
        lines = _KEY_LINES.match(text, begin.end(), limit)
        if not lines:
            continue
        done = end.end() if end and end.start() < limit else lines.end()
        yield begin.start(), done, "private_key"


# Tokens of a known form

_A, _B = "[A-Za-z0-9]", "[A-Za-z0-9_-]"
_PREFIXED: tuple[tuple[str, str, str], ...] = (
    ("aws_key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", _A + "{30,}"),
    ("github_token", "github_pat_", "[A-Za-z0-9_]{22,}"),
    ("gitlab_token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glagent-", r"[\w.-]{19,}\w"),
    ("slack_token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", _B + "{10,}"),
    ("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", _A + "{10,}"),
    ("anthropic_key", "sk-ant-", _B + "{20,}"),
    ("openai_key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1-", _B + "{20,}"),
    ("openai_key", "sk-", _A + "{20,}"),
    ("google_key", "AIza", _B + "{30,}"),
    ("google_key", "ya29. GOCSPX-", _B + "{20,}"),
    ("xai_key", "xai-", _A + "{20,}"),
    ("huggingface_token", "hf_", _A + "{20,}"),
    ("npm_token", "npm_", _A + "{30,}"),
    ("pypi_token", "pypi-AgE", _B + "{20,}"),
    ("sendgrid_key", "SG.", rf"{_B}{{16,32}}\.{_B}{{30,64}}"),
    ("twilio_key", "SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("jwt", "eyJ", rf"{_B}{{8,512}}+\.{_B}{{8,}}+(?:\.{_B}+)?"),
    ("age_key", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}"),
    ("nostr_key", "nsec1 ncryptsec1", "[02-9ac-hj-np-z]{50,}"),
    (
        "api_key",
        "glsa_ dop_v1_ doo_v1_ shpat_ shpca_ shppa_ shpss_ lin_api_ ntn_ figd_ sbp_ sb_secret_ "
        "gsk_ r8_ pplx- nvapi- tvly- pcsk_ csk- lsv2_pt_ lsv2_sk_ dckr_pat_ dckr_oat_ rubygems_ "
        "dapi hvs. hvb. tskey- dp.pt. dp.st. PMAK- sntrys_ sntryu_ NRAK- ATATT3 pscale_tkn_ "
        "pscale_oauth_ lip_ jina_ bkua_ fc- key-",
        rf"(?=[A-Za-z_-]{{0,24}}[0-9]){_B}{{20,}}",
    ),
)
_SHAPED: tuple[tuple[str, str, str], ...] = (
    ("telegram_token", ":AA", r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}"),
    ("discord_token", ".", rf"(?<!{_A})[MNO]{_B}{{23,27}}\.{_B}{{6}}\.{_B}{{27,40}}"),
    ("webhook", "hooks.slack.com/", r"(?<=hooks\.slack\.com/)[a-z]{1,12}/[A-Za-z0-9/]{20,}"),
    ("webhook", "/api/webhooks/", rf"(?<=/api/webhooks/)[0-9]{{10,25}}/{_B}{{20,}}"),
)


def _compiled() -> Iterator[tuple[str, tuple[str, ...], re.Pattern[str]]]:
    for kind, prefixes, body in _PREFIXED:
        hints = tuple(prefixes.split())
        starts = "|".join(map(re.escape, hints))
        yield kind, hints, re.compile(rf"(?<![A-Za-z0-9])(?:{starts}){body}", re.ASCII)
    for kind, hint, pattern in _SHAPED:
        yield kind, (hint,), re.compile(pattern)


_TOKENS = tuple(_compiled())


def _tokens(text: str, found: Counter[str]) -> str:
    for kind, hints, pattern in _TOKENS:
        if any(hint in text for hint in hints):
            spans = (
                (token.start(), token.end(), kind)
                for token in pattern.finditer(text)
                if not _is_placeholder(token[0])
            )
            text = _replace(text, spans, found)
    return text


# Credentials by where they stand

_URL_PASSWORD = re.compile(
    r"://[^\s:/@\"'<>`]{0,128}+:"
    r"([^\s\"'<>`@/]{1,256}+(?:@[^\s\"'<>`@/]{1,256}+(?=@))*"
    r"|(?![0-9]{1,5}[/?#])[^\s\"'<>`@]{1,256}+)(?=@[^\s@])"
)
_AUTHORIZATION = re.compile(
    r"authorization[\"'\\]{0,3}\s{0,4}[:=]\s{0,4}[\"'\\]{0,3}"
    r"(?:bearer|basic|token|apikey|digest)\s{1,4}([^\s\"'\\,;<>]{8,}+)"
)
_BEARER = re.compile(r"(?<![a-z])bearer\s{1,4}([a-z0-9._~+/=-]{16,}+)")
_USER_OPTION = re.compile(r"(?<![a-z0-9-])(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}+:([^\s\"']{4,}+)")


def _url_passwords(text: str, found: Counter[str]) -> str:
    spans = (
        (*match.span(1), "url_password")
        for match in _URL_PASSWORD.finditer(text)
        if not _is_placeholder(match[1])
    )
    return _replace(text, spans, found) if "://" in text else text


def _headers(text: str, found: Counter[str]) -> str:
    lowered = _lowered(text)
    for pattern, hint, kind in (
        (_AUTHORIZATION, "authorization", "authorization"),
        (_BEARER, "bearer", "authorization"),
        (_USER_OPTION, "-u", "password"),
    ):
        if hint in lowered:
            spans = (
                (*match.span(1), kind)
                for match in pattern.finditer(lowered)
                if _looks_random(text[slice(*match.span(1))])
            )
            text = _replace(text, spans, found)
            lowered = _lowered(text)
    return text


# Values given to a telling name

_PASSWORD_NOUNS = (
    "password|passwd|passphrase|passcode|pass|pwd|密码|密碼|口令|パスワード|비밀번호|пароль"
    "|contraseña|passwort|kennwort|senha|mot de passe|wachtwoord|hasło"
)
_NOUNS = _PASSWORD_NOUNS + "|secret|token|key(?:_base)?|credentials?|authorization|密钥|密鑰|令牌"
_NOUN_AT_END = re.compile(rf"(?:{_NOUNS})\Z")
# The last separator, a mere space, counts only after a command line option.
_ASSIGNMENT = re.compile(
    rf"({_NOUNS})"
    r"([\"'`\])\\]{0,4}[ \t]{0,4}(?:=>|:=|[:=：＝])[ \t\u200b-\u200f\ufeff]{0,4}"
    r"|[ \t]{0,2}(?:是|为|為|は|는|은)[ \t]{0,2}[:：]?[ \t]{0,2}"
    r"|[ \t]{1,2}(?:is|ist|es|est|é)[ \t:]{1,3}|[ \t]{1,2})"
)
_NAME_CHARACTERS = string.ascii_letters + string.digits + "_.-"
_VALUE = (
    r"\\?\"([^\"\\\n]{1,MAX}+)|\\?'([^'\\\n]{1,MAX}+)|`([^`\n]{1,MAX}+)"
    # Letters of alphabets belong to a value; prose in Chinese or Korean goes on right after it.
    r"|((?:[^\s\"'`<>(){}\[\],;&\\\u0080-\U0010ffff]|[\u00c0-\u024f\u0370-\u052f]){1,MAX}+)"
)
# A password may hold these; what else they part is better hidden than half a password shown.
_REST = re.compile(r"[&;,](?=\S)[^\s\"'`<>]*")
# The head tells what a value is. Values may overlap, so only the head is read for each.
_VALUE_HEAD = re.compile(_VALUE.replace("MAX", "128"))
_VALUE_WHOLE = re.compile(_VALUE.replace("MAX", ""))
_SECRET_KEY_NAME = re.compile(
    r"(?:api|access|secret|private|auth|account|encryption|signing|master|service|shared|license"
    r"|deploy|webhook|client|storage)\Z"
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
        return self.separator == "=" and self.name.isupper()


def _assignments(text: str, found: Counter[str]) -> str:
    return _replace(text, _assigned_spans(text), found)


def _assigned_spans(text: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    for match in _ASSIGNMENT.finditer(_lowered(text)):
        head = _VALUE_HEAD.match(text, match.end()) if match.start() >= done else None
        if not head:
            continue
        before = text[max(0, match.start() - 50) : match.start()]
        prefix = before[len(before.rstrip(_NAME_CHARACTERS)) :]
        before = before.removesuffix(prefix)
        quoted = head.lastindex != 4
        # In `ask("Password: ", x)` the quote after the name closes the one before it.
        closing = quoted and before[-1:] == head[0].lstrip("\\")[0] and before[-1:] not in match[2]
        if closing or before.endswith("[redacted:"):
            continue
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


def _secret_kind(assigned: _Assigned) -> str | None:
    """`password` or `secret` if the value is one, None if it is not."""
    noun, value = assigned.noun, assigned.value
    prefix = assigned.name[: -len(noun)].lower().rstrip("_-")
    if (
        (assigned.separator.isspace() and not assigned.name.startswith("--"))
        or prefix.endswith(("public", "publickey"))
        or _is_placeholder(value)
        or _is_code(assigned)
    ):
        return None
    if noun.startswith("key") and not (_SECRET_KEY_NAME.search(prefix) or assigned.environment):
        return None
    if noun == "pass" and not (assigned.name.lower().endswith("_pass") or assigned.environment):
        return None
    if re.fullmatch(_PASSWORD_NOUNS, noun):
        return "password" if _is_password(assigned) else None
    chosen = assigned.environment and "secret" in (noun, prefix[-6:])
    return "secret" if _looks_random(value) or (chosen and _is_password(assigned)) else None


def _is_password(assigned: _Assigned) -> bool:
    value = assigned.value
    if len(value) < 4 or value[0] in "/~":
        return _looks_random(value)
    if assigned.quoted:
        # One word in lower case may be a password; a sentence or a capitalised word is a label.
        return not _is_wordy(value) or (value.isalpha() and value.islower())
    if not _is_wordy(value):
        return True
    if any(sign in assigned.separator for sign in ":=：＝") and _PASSPHRASE.fullmatch(value):
        return True
    if assigned.noun > "\u3000":
        return value.isascii() and len(value) >= 6
    return assigned.separator == "=" and assigned.after not in (",", ")")


def _is_code(assigned: _Assigned) -> bool:
    """A path, a call, an index, an attribute or another name rather than a literal value."""
    if assigned.quoted:
        return _PATH.fullmatch(assigned.value) is not None
    return (
        assigned.after in ("(", "[", "{")
        or _PATH.fullmatch(assigned.value) is not None
        or _ATTRIBUTE.fullmatch(assigned.value) is not None
        or (not assigned.environment and _is_name(assigned.value))
    )


# Prose joins two words, seldom three.
_PASSPHRASE = re.compile(r"\w{2,24}(?:[-_+.]\w{2,24}){2,}[.!]?")
_PATH = re.compile(r"(?:[~.]{0,2}|[A-Za-z]:)(?:/[\w.@-]{1,24}+){2,}+/?")
_ATTRIBUTE = re.compile(r"[A-Za-z_]+[0-9]?(?:(?:\.|\?\.|->|::)[A-Za-z_]+[0-9]?)+[!?;]?")
_NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _is_name(value: str) -> bool:
    """Two words or more joined as programmers do; in random letters case changes more often."""
    if not (value.isascii() and value.replace("_", "").isalpha()):
        return False
    return 1 < len(_NAME_PARTS.findall(value)) <= len(value) / 3


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


def _is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret: a reference, a mask, a word like `changeme`."""
    lowered = value.lower()
    return (
        lowered.strip(" .!?:") in _PLACEHOLDERS
        or len(set(lowered)) <= 2
        or _REFERENCE.match(value) is not None
        or _STANDS_FOR.search(lowered) is not None
    )


def _is_wordy(value: str) -> bool:
    """Whether the value consists of plain words and small numbers."""
    return all(
        not word
        or (word.isalpha() and (word.islower() or word.isupper() or word.istitle()))
        or (word.isdigit() and len(word) <= 4)
        for word in re.split(r"[-_./:,+'’!? ]", value)
    )


def _looks_random(value: str) -> bool:
    """Long, varied and not made of words: at least 8 characters and 2.5 bits of entropy each."""
    if len(value) < 8 or _is_placeholder(value) or _is_wordy(value) or "://" in value:
        return False
    if not any(character.isalpha() for character in value) or re.search(r"\s", value):
        return False
    counts = Counter(value).values()
    entropy = math.log2(len(value)) - sum(n * math.log2(n) for n in counts) / len(value)
    return entropy >= 2.5


_RULES: tuple[Callable[[str, Counter[str]], str], ...] = (
    _private_blocks,
    _key_blocks,
    _tokens,
    _url_passwords,
    _headers,
    _assignments,
)
