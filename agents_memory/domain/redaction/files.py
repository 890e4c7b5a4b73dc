"""Secrets in the files of programs that give a value without a sign, or by its place in a line."""

import re

from agents_memory.domain.redaction.commands import ON, WORD, kind_of
from agents_memory.domain.redaction.rules import Place, rules_of

_PAT = re.compile(r"_pat(?![a-z0-9_])")
_ACCOUNT = re.compile(r"(?<![\w:/.\\-])[A-Z][\w-]{1,24}[/\\][\w.$-]{1,32}:()()([^\s'\":@]{6,64}+)")


def _names_a_personal_token(_: str, lowered: str) -> bool:
    return _PAT.search(lowered) is not None


def _may_be_an_account(word: str, _: str) -> bool:
    return _ACCOUNT.search(word) is not None


_LINES = (
    # `DOMAIN\user:…@host`
    Place(
        "likely",
        ("\\", "/"),
        re.compile(_ACCOUNT.pattern + r"(?=@| \()"),
        _may_be_an_account,
    ),
    # libcurl: `CURLOPT_USERPWD, "user:…"`
    Place(
        "only",
        ("userpwd",),
        re.compile(r"USERPWD[\"' ]{0,3}[,=>]{1,2} ?[\"'][^:\"'\n]{1,64}:()()([^\"'\n]{4,128}+)"),
    ),
    # What a file holds that is named after it.
    Place(
        "only",
        ("cat ",),
        re.compile(
            r"(?m)^[^\n]{0,40}[$#%❯] cat [\w./~-]{0,80}(?:key|secret|token|passw)[\w.-]{0,24}\n"
            r"()()([^\s:]{8,128}+)$"
        ),
    ),
    Place(
        "only",
        ("openssl",),
        re.compile(r"[$#%❯] openssl rand [^\n]{0,80}\n()()([A-Za-z0-9+/=]{16,256})(?![^\n])"),
    ),
    # Keys of a storage at Azure, as columns.
    Place("key", ("key1", "key2"), re.compile(rf"key[12]\t\w{{2,8}}\t{WORD}")),
    # ESPHome, and remotes of rclone.
    Place("key", ("encryption:",), re.compile(rf"encryption:\s{{1,16}}key: {WORD}")),
    Place("key", ("account",), re.compile(rf"(?m)^account ?= ?\S{{1,64}}\nkey ?= ?{WORD}")),
    Place(
        "only",
        ("wifi", "wi-fi", "wlan", "netzwerkschl"),
        re.compile(
            r"(?i)(?:wi-?fi|wlan|netzwerk)[^\n:=]{0,40}(?:passw\w{1,8}|schlüssel|key)[:= ]{1,3}"
            r"[\"']?()()([0-9]{8,63})(?![\w.:-])"
        ),
    ),
    # Postfix: `[smtp.host]:587 user:…`
    Place(
        "only",
        ("]:25", "]:465", "]:587"),
        re.compile(r"\]:(?:25|465|587)[ \t]+\S{1,80}?:()()(\S{4,128}+)"),
    ),
    # OpenVPN: a line with the user, a line with the password.
    Place(
        "only",
        ("auth-user-pass>",),
        re.compile(rf"<auth-user-pass>\s{{1,4}}\S{{1,64}}\s{{1,4}}{WORD}"),
    ),
    # ~/.netrc
    Place(
        "only",
        ("machine",),
        re.compile(rf"machine \S{{1,80}}\s{{1,8}}login \S{{1,80}}\s{{1,8}}password {WORD}"),
    ),
    # cloud-init
    Place(
        "only",
        ("chpasswd:",),
        re.compile(
            r"\bchpasswd:\s{1,8}(?:expire: \w{1,8}\s{1,8})?(?:list|users):[ |]{0,3}\s{1,8}(?:- )?"
            rf"[\"']?[\w.-]{{1,32}}:{WORD}"
        ),
    ),
    # ~/.pgpass
    Place(
        "only",
        (":5432:", ":6432:", ":*:"),
        re.compile(
            r"(?m)^[\w.*-]{1,80}:(?:5432|6432|\*):[\w*.-]{1,64}:[\w*.-]{1,64}:()()([^\s:]{6,128})$"
        ),
    ),
)
_SETTINGS = (
    Place("only", ("pass:",), re.compile(rf"(?<![a-z])pass:{WORD}")),
    # A personal access token by the end of its name.
    Place(
        "key",
        ("_pat",),
        re.compile(rf"(?i)(?<![a-z0-9])[a-z][a-z0-9_]{{0,40}}_PAT[\"']? ?[=:] ?{WORD}"),
        _names_a_personal_token,
    ),
    # Redis and LDAP.
    Place(
        "only",
        ("requirepass", "masterauth", "bindpw", "bind_pw", "rootpw"),
        re.compile(
            r"\b(?:requirepass|masterauth|bind_?pw|(?:olc)?rootpw)[ \t:=]{1,16}(?:--plaintext )?"
            + WORD,
            re.IGNORECASE,
        ),
    ),
    # Wireless networks and IPsec.
    Place(
        "only",
        ("psk", " eap ", " xauth "),
        re.compile(
            r"(?i)(?:\b(?:wpa_|wpa-)?psk(?:[ \t]?[=:][ \t]?|[ \t](?=[\"']))"
            rf"|: (?:eap|xauth) (?=\")){WORD}"
        ),
    ),
    # Routers and switches.
    Place(
        "only",
        ("username", "enable", "community"),
        re.compile(
            rf"(?m)^[ \t]*(?:username \S{{1,40}}{ON}|enable )(?:password|secret)(?: \d)? {WORD}"
            rf"|\bcommunity[ \t]?[:=]?[ \t]{WORD} (?:RO|RW)\b"
        ),
    ),
)
RULES = rules_of((*_LINES, *_SETTINGS), kind_of)
