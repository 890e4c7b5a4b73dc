"""Secrets by the command they stand behind."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import lower, put_marks
from agents_memory.domain.redaction.values import (
    is_given,
    is_strong_key,
    is_strong_password,
    looks_random,
)

_BARE = r"[^\s\"'`<>|;$\\({\[-][^\s\"'`<>|;\\]{3,127}+"
_WORD = rf"(?:\"([^\"\n\\]{{4,128}}+)\"|'([^'\n]{{4,128}}+)'|({_BARE}))"
_ON = r"[^\n|;]{0,160}?"

_Place = tuple[str, tuple[str, ...], re.Pattern[str]]


def _behind(commands: str, option: str, *, blank: str = "[ =]") -> _Place:
    """The value of an option of one of the commands, which are parted by blanks."""
    names = "|".join(commands.split())
    return (
        "password",
        tuple(name.lower() for name in commands.replace("\\w+", "").split()),
        re.compile(rf"(?<![\w-])(?:{names})\b{_ON}[ \t](?:{option}){blank}{_WORD}"),
    )


# Kind (`password`: nothing else stands there; `key`: if it looks like one), what has to occur for
# it, and where the secret stands.
_PLACES: tuple[_Place, ...] = (
    _behind("mysql\\w+ mysql mariadb\\w+ mariadb 7z 7za 7zr sshpass unrar", "-h?p", blank=""),
    _behind("sshpass usermod useradd supabase mongodump mongorestore mongoexport mongosh", "-p"),
    _behind("sqlcmd bcp osql mosquitto_pub mosquitto_sub zip unzip ipmitool zipcloak", "-P"),
    _behind("influx doctl", "-t|--token"),
    _behind("redis-cli valkey-cli keydb-cli", "-a"),
    _behind("\\w+ldap\\w+ ldap\\w+", "-w"),
    _behind("snmpwalk snmpget snmpset snmpbulkwalk snmptrap", "-[AX]"),
    _behind("plink pscp psftp putty dsadd dsmod", "-pwd?"),
    _behind("xfreerdp mstsc cmdkey wfreerdp rdesktop schtasks", "/(?:p|pass|rp):", blank=""),
    _behind(
        "smbclient rpcclient smbmap smbget wmic winexe",
        r"(?:-U|--user)[ =]?[\"']?[\w.\\/@-]+%",
        blank="",
    ),
    (
        "password",
        ("login ",),
        re.compile(
            rf"\b(?:docker|podman|oc|az|helm|buildah|cf|argocd|crane|skopeo|nerdctl|cloudfoundry)"
            rf"[\w -]{{0,24}} login\b{_ON} -[paP][ =]{_WORD}"
        ),
    ),
    ("password", ("openssl",), re.compile(rf"\bopenssl enc\b{_ON} -k {_WORD}")),
    (
        "password",
        ("passwd ",),
        re.compile(
            rf"\b(?:htpasswd|mosquitto_passwd) (?=[^\n]{{0,12}}-[a-zA-Z]*b)(?:-\w+ ){{1,4}}\S+ \S+ {_WORD}"
        ),
    ),
    (
        "password",
        ("wpa_passphrase",),
        re.compile(
            rf"\bwpa_passphrase (?:\"[^\"\n]{{1,40}}\"|'[^'\n]{{1,40}}'|\S{{1,40}}) {_WORD}"
        ),
    ),
    # What is written into the command's input.
    (
        "password",
        ("sudo", "-stdin", "passwd", "with-token", "cryptsetup", "kinit", "secret", "pass "),
        re.compile(
            rf"\b(?:echo|printf)(?: -n| -e)?(?: [\"']%s(?:\\n)?[\"'])? [\"']?(?:[\w.-]{{1,32}}:)?"
            rf"{_WORD}[\"']? ?\| ?[^\n|]{{0,60}}?"
            r"(?:sudo -S|--password-stdin|chpasswd|passwd|--with-token|cryptsetup|kinit|pass insert"
            r"|secrets? (?:put|set|create|versions)|smbpasswd)"
        ),
    ),
    (
        "password",
        ("<<<",),
        re.compile(
            r"\b(?:chpasswd|passwd|cryptsetup|--password-stdin|--with-token|sudo|kinit|su)\b"
            rf"[^\n|]{{0,60}}<<< ?[\"']?(?:[\w.-]{{1,32}}:)?{_WORD}"
        ),
    ),
    # An account of any command.
    (
        "likely",
        ("-p",),
        re.compile(
            rf"(?m)^(?![^\n]{{0,200}}(?:mysql|mariadb))[^\n]{{0,200}}?[ \t](?:-u|--user(?:name)?|-U)[ =]?\S{{1,64}}{_ON} -p ?{_WORD}"
        ),
    ),
    ("password", ("--password-command",), re.compile(rf"--password-command[ =][\"']echo {_WORD}")),
    (
        "key",
        ("alias set", "config host"),
        re.compile(rf"\bmc (?:alias set|config host add) \S+ \S+ \S+ {_WORD}"),
    ),
    (
        "password",
        ("/v ",),
        re.compile(rf"(?i)/v \S{{0,32}}passw?\S{{0,32}} (?:/t \w{{1,16}} )?/d {_WORD}"),
    ),
    ("password", ("/rp",), re.compile(rf"(?i)/rp[ :]{_WORD}")),
    (
        "password",
        ("]:25", "]:465", "]:587"),
        re.compile(r"\]:(?:25|465|587)[ \t]+\S{1,80}?:()()(\S{4,128}+)"),
    ),
    ("password", ("+login",), re.compile(rf"\+login \S{{1,64}} {_WORD}")),
    (
        "password",
        ("auth-user-pass>",),
        re.compile(rf"<auth-user-pass>\s{{1,4}}\S{{1,64}}\s{{1,4}}{_WORD}"),
    ),
    (
        "likely",
        ("\\", "/"),
        re.compile(
            r"(?<![\w:/.\\-])[A-Z][\w-]{1,24}[/\\][\w.$-]{1,32}:()()([^\s'\":@]{6,64}+)(?=@| \()"
        ),
    ),
    ("password", ("snyk",), re.compile(rf"\bsnyk auth {_WORD}")),
    (
        "password",
        ("machine",),
        re.compile(rf"\bmachine \S{{1,80}}\s{{1,8}}login \S{{1,80}}\s{{1,8}}password {_WORD}"),
    ),
    (
        "password",
        ("chpasswd:",),
        re.compile(
            rf"\bchpasswd:\s{{1,8}}(?:expire: \w{{1,8}}\s{{1,8}})?(?:list|users):[ |]{{0,3}}\s{{1,8}}(?:- )?"
            rf"[\"']?[\w.-]{{1,32}}:{_WORD}"
        ),
    ),
    ("password", ("pass:",), re.compile(rf"(?<![a-z])pass:{_WORD}")),
    (
        "password",
        ("/user:",),
        re.compile(
            rf"/user:\S{{1,64}} {_WORD}|\bnet use [^\n]{{0,80}}?\\\\\S{{1,80}} {_WORD} /user:",
            re.IGNORECASE,
        ),
    ),
    ("password", ("net user",), re.compile(rf"\bnet user \S{{1,40}} {_WORD} /add", re.IGNORECASE)),
    ("password", ("asplaintext",), re.compile(rf"(?i)ConvertTo-SecureString (?:-String )?{_WORD}")),
    (
        "password",
        ("sqlplus", "expdp", "impdp", "sqlldr", "thin:"),
        re.compile(
            r"(?:\b(?:sqlplus(?: -\w)*|expdp|impdp|sqlldr|rman target) |jdbc:oracle:thin:)"
            r"[\"']?[\w$#.]{1,32}/()()([^\s\"'@/]{4,64}+)(?=[@\s\"']|\Z)"
        ),
    ),
    (
        "key",
        ("login ", "auth ", "authtoken "),
        re.compile(rf"\b(?:login|auth(?:token)?|add-authtoken|auth init -t)(?: -t| -k|:)? {_WORD}"),
    ),
    # `NAME VALUE`, where something is set.
    (
        "key",
        ("secret", "token", "apikey", "api_key", "passw", "oauth"),
        re.compile(
            r"\b(?:set(?:x|env)?|config|put|add|export|create)(?: [\w:./-]{1,40}){0,2} "
            r"[\w./:-]{0,48}(?:secret|token|api_?key|pass(?:word|wd)?|oauth)[\w./:-]{0,32}[ =]"
            + _WORD,
            re.IGNORECASE,
        ),
    ),
    (
        "key",
        ("secret set",),
        re.compile(rf"\bsecret set \w{{1,64}}[^\n|;]{{0,40}}? (?:--body|-b)[ =]{_WORD}"),
    ),
    (
        "key",
        ("_pat",),
        re.compile(rf"(?i)(?<![a-z0-9])[a-z][a-z0-9_]{{0,40}}_PAT[\"']? ?[=:] ?{_WORD}"),
    ),
    # Settings of programs that give a value without a sign between.
    (
        "password",
        ("requirepass", "masterauth", "bindpw", "bind_pw", "rootpw", "rootdn"),
        re.compile(
            rf"\b(?:requirepass|masterauth|bind_?pw|(?:olc)?rootpw)[ \t:=]{{1,16}}(?:--plaintext )?{_WORD}",
            re.IGNORECASE,
        ),
    ),
    (
        "password",
        ("psk", ": eap", ": xauth"),
        re.compile(
            rf"(?i)(?:\b(?:wpa_|wpa-)?psk(?:[ \t]?[=:][ \t]?|[ \t](?=[\"']))|: (?:eap|xauth) (?=\")){_WORD}"
        ),
    ),
    (
        "password",
        ("password ", "secret ", "snmp"),
        re.compile(
            rf"(?m)^[ \t]*(?:username \S{{1,40}}{_ON}|enable )(?:password|secret)(?: \d)? {_WORD}"
            rf"|\bcommunity[ \t]?[:=]?[ \t]{_WORD} (?:RO|RW)\b"
        ),
    ),
    (
        "password",
        ("assword:",),
        re.compile(r"assword:?[\"'] ?[;{]?\s{0,4}send (?:-- )?()()[\"']?([^\s\"'\\$]{4,64}+)"),
    ),
    # A line of ~/.pgpass.
    (
        "password",
        (":5432:", ":6432:", ":*:"),
        re.compile(
            r"(?m)^[\w.*-]{1,80}:(?:5432|6432|\*):[\w*.-]{1,64}:[\w*.-]{1,64}:()()([^\s:]{6,128})$"
        ),
    ),
)
_HINTS = frozenset(hint for _, hints, _ in _PLACES for hint in hints)
# Of several words the longest, which fewest texts have.
HINTS = tuple({max(hint.split(), key=len) for hint in _HINTS})
_SLASHES = ("/", "\\")
_NAMES = tuple(hint for hint in HINTS if hint not in _SLASHES)


def may_hold_commands(_: str, lowered: str) -> bool:
    """Whether the word can be of a command that may carry a secret."""
    # An account of a domain has its password in the same word; a path has none.
    account = ":" in lowered and any(map(lowered.__contains__, _SLASHES))
    return account or any(map(lowered.__contains__, _NAMES))


def replace_commands(text: str, found: dict[str, int]) -> str:
    """Replaces what commands carry, if it looks like a secret."""
    met = _met(text)
    for kind, hints, pattern in _PLACES if met else ():
        if not met.isdisjoint(hints):
            before, text = text, put_marks(text, _spans(kind, pattern, text), found)
            met = met if text is before else _met(text)
    return text


def _met(text: str) -> set[str]:
    """What of the hints occurs; one pass, as most texts have one of few places at the most."""
    lowered = lower(text)
    return {hint for hint in _HINTS if hint in lowered}


def _spans(kind: str, pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        at = match.lastindex or 0
        value = match[at]
        if (kind == "password" and is_given(value)) or (
            kind == "likely" and is_strong_password(value, beside=False)
        ):
            yield *match.span(at), "password"
        elif (
            kind == "key"
            and value[0] not in "[({^"
            and (is_strong_key(value) or is_strong_password(value, beside=True) or _is_id(value))
        ):
            yield *match.span(at), "secret"


def _is_id(value: str) -> bool:
    """Of one piece and long, like the tokens of services without a form of their own."""
    return len(value) >= 24 and looks_random(value) and value.isalnum() and not value.isalpha()
