"""Secrets by the command they stand behind, or are written into."""

import re

from agents_memory.domain.redaction.rules import Place, rules_of
from agents_memory.domain.redaction.sought import by_letter
from agents_memory.domain.redaction.values import (
    is_given,
    is_long_token,
    is_strong_key,
    is_strong_password,
)

BARE = r"[^\s\"'`<>|;$\\({\[-][^\s\"'`<>|;\\]{3,127}+"
WORD = rf"(?:\"([^\"\n\\]{{4,128}}+)\"|'([^'\n]{{4,128}}+)'|({BARE}))"
# The same command goes on.
ON = r"[^\n|;]{0,160}?"


def _behind(commands: str, option: str, *, blank: str = "[ =]") -> Place:
    """The value of an option of one of the commands, which are parted by blanks."""
    names = "|".join(commands.split())
    return Place(
        "only",
        tuple(name.lower() for name in commands.replace("\\w+", "").split()),
        re.compile(rf"(?<![\w-])(?:{names})\b{ON}[ \t](?:{option}){blank}{WORD}"),
    )


_OPTIONS = (
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
    Place(
        "only",
        ("login ",),
        re.compile(
            rf"\b(?:docker|podman|oc|az|helm|buildah|cf|argocd|crane|skopeo|nerdctl|cloudfoundry)"
            rf"[\w -]{{0,24}} login(?= ){ON} -[paP][ =]{WORD}"
        ),
    ),
    Place("only", ("openssl",), re.compile(rf"\bopenssl enc\b{ON} -k {WORD}")),
    # Options that may mean anything else, of no matter which command.
    Place(
        "likely",
        ("-p",),
        re.compile(
            r"(?m)^(?![^\n]{0,200}(?:mysql|mariadb))[^\n]{0,200}?[ \t]"
            rf"(?:-u|--user(?:name)?|-U)[ =]?\S{{1,64}}{ON} -p ?{WORD}"
        ),
    ),
    Place("only", ("--password-command",), re.compile(rf"--password-command[ =][\"']echo {WORD}")),
)
_INPUT = (
    Place(
        "only",
        ("echo ", "printf "),
        re.compile(
            rf"(?:{by_letter('echo|printf', not_behind=chr(92) + 'w')})"
            r"(?: -n| -e)?(?: [\"']%s(?:\\n)?[\"'])? [\"']?(?:[\w.-]{1,32}:)?"
            rf"{WORD}[\"']? ?\| ?[^\n|]{{0,60}}?"
            r"(?:sudo -S|--password-stdin|chpasswd|passwd|--with-token|cryptsetup|kinit|pass insert"
            r"|secrets? (?:put|set|create|versions)|smbpasswd)"
        ),
    ),
    Place(
        "only",
        ("<<<",),
        re.compile(
            r"\b(?:chpasswd|passwd|cryptsetup|--password-stdin|--with-token|sudo|kinit|su)\b"
            rf"[^\n|]{{0,60}}<<< ?[\"']?(?:[\w.-]{{1,32}}:)?{WORD}"
        ),
    ),
    # What a script of expect answers.
    Place(
        "only",
        ("assword:",),
        re.compile(r"assword:?[\"'] ?[;{]?\s{0,4}send (?:-- )?()()[\"']?([^\s\"'\\$]{4,64}+)"),
    ),
)
_ARGUMENTS = (
    Place(
        "only",
        ("passwd ",),
        re.compile(
            r"\b(?:htpasswd|mosquitto_passwd) (?=[^\n]{0,12}-[a-zA-Z]*b)"
            rf"(?:-\w+ ){{1,4}}\S+ \S+ {WORD}"
        ),
    ),
    Place(
        "only",
        ("wpa_passphrase",),
        re.compile(rf"\bwpa_passphrase (?:\"[^\"\n]{{1,40}}\"|'[^'\n]{{1,40}}'|\S{{1,40}}) {WORD}"),
    ),
    Place(
        "key",
        (" mc ",),
        re.compile(rf"\bmc (?:alias set|config host add) \S+ \S+ \S+ {WORD}"),
    ),
    Place("only", ("snyk",), re.compile(rf"\bsnyk auth {WORD}")),
    Place("only", ("+login",), re.compile(rf"\+login \S{{1,64}} {WORD}")),
    # Windows: the registry, tasks, shares and users.
    Place(
        "only",
        ("/v ",),
        re.compile(rf"(?i)/v \S{{0,32}}passw?\S{{0,32}} (?:/t \w{{1,16}} )?/d {WORD}"),
    ),
    Place("only", ("/rp",), re.compile(rf"(?i)/rp[ :]{WORD}")),
    Place(
        "only",
        ("/user:",),
        re.compile(
            rf"/user:\S{{1,64}} {WORD}|\bnet use [^\n]{{0,80}}?\\\\\S{{1,80}} {WORD} /user:",
            re.IGNORECASE,
        ),
    ),
    Place("only", ("net ",), re.compile(rf"\bnet user \S{{1,40}} {WORD} /add", re.IGNORECASE)),
    Place("only", ("asplaintext",), re.compile(rf"(?i)ConvertTo-SecureString (?:-String )?{WORD}")),
    Place(
        "only",
        ("sqlplus", "expdp", "impdp", "sqlldr", "thin:"),
        re.compile(
            r"(?:\b(?:sqlplus(?: -\w)*|expdp|impdp|sqlldr|rman target) |jdbc:oracle:thin:)"
            r"[\"']?[\w$#.]{1,32}/()()([^\s\"'@/]{4,64}+)(?=[@\s\"']|\Z)"
        ),
    ),
    Place(
        "key",
        ("login ", "auth ", "authtoken "),
        re.compile(rf"\b(?:login|auth(?:token)?|add-authtoken|auth init -t)(?: -t| -k)? {WORD}"),
    ),
    # `NAME VALUE`, where something is set. A search skips fast to a class at the beginning.
    Place(
        "key",
        ("secret", "token", "apikey", "api_key", "passw", "oauth"),
        re.compile(
            r"[SsCcPpAaEe](?<!\w.)"
            r"(?i:(?<=s)et(?:x|env)?|(?<=c)(?:onfig|reate)|(?<=p)ut|(?<=a)dd|(?<=e)xport)"
            r"(?: [\w:./-]{1,40}){0,2} [\w./:-]{0,48}"
            rf"(?i:secret|token|api_?key|pass(?:word|wd)?|oauth)[\w./:-]{{0,32}}[ =]{WORD}"
        ),
    ),
    Place(
        "key",
        ("secret set",),
        re.compile(rf"secret set \w{{1,64}}[^\n|;]{{0,40}}? (?:--body|-b)[ =]{WORD}"),
    ),
)


def kind_of(sort: str, value: str) -> str | None:
    """The kind of a secret, if the value is one.

    `sort`: `only` if nothing else stands there, `likely` if other things may, `key` if it has to
    look like one.
    """
    if sort == "only":
        return "password" if is_given(value) else None
    if sort == "likely":
        return "password" if is_strong_password(value, beside=False) else None
    if value[0] in "[({^":
        return None
    key = is_strong_key(value) or is_strong_password(value, beside=True) or is_long_token(value)
    return "secret" if key else None


RULES = rules_of((*_OPTIONS, *_INPUT, *_ARGUMENTS), kind_of)
