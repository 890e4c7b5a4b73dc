"""Tokens that can be told by their form."""

import re
from collections.abc import Iterator

from agents_memory.domain.redaction.marks import put_marks
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.sought import by_letter
from agents_memory.domain.redaction.values import is_mixed, is_placeholder, is_spelt, is_strong_key

_A, _B = "[A-Za-z0-9]", "[A-Za-z0-9_-]"
_UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_PREFIXED: tuple[tuple[str, str, str], ...] = (
    ("aws_key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", _A + "{30,}"),
    ("github_token", "github_pat_", "[A-Za-z0-9_]{22,}"),
    (
        "gitlab_token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glagent-",
        r"[\w.-]{18,}[\w-]",
    ),
    ("slack_token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", _B + "{10,}"),
    ("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", _A + "{10,}"),
    ("stripe_key", "whsec_", "[A-Za-z0-9+/]{10,}={0,2}"),
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
    ("vault_token", "hvs. hvb. hvr.", _B + "{24,}"),
    (
        "api_key",
        "glsa_ dop_v1_ doo_v1_ shpat_ shpca_ shppa_ shpss_ lin_api_ ntn_ figd_ sbp_ sb_secret_ "
        "r8_ pplx- nvapi- tvly- pcsk_ lsv2_pt_ lsv2_sk_ dckr_pat_ dckr_oat_ rubygems_ "
        "tskey- PMAK- sntryu_ NRAK- NRII- NRJS- ATATT3 "
        "pscale_tkn_ pscale_oauth_ pscale_pw_ bkua_ sqp_ sqa_ squ_ nfp_ fo1_ rdme_ "
        "xkeysib- xsmtpsib- shippo_live_ tgp_v1_ EZAK EZTK NRRA- HRKU- ATCTT3 ATBB glc_ "
        "duffel_live_ p8e- ops_eyJ sq0atp- sq0csp- CLOJARS_ dnkey- FLWSECK- FLWSECK_TEST- fio-u- "
        "tk-us- sm_pat_ sm_sat_ CCIPAT_ pdl_live_apikey_ pdl_sdbx_apikey_ polar_oat_ hcaik_ "
        "wandb_v1_ ctx7sk- sk-kimi- sk-cp- AQVN api_org_ apify_api_ AstraCS:",
        rf"(?=[A-Za-z_-]{{0,48}}[0-9]){_B}{{20,}}",
    ),
    ("password", "npg_", rf"(?=[A-Za-z]{{0,16}}[0-9]){_A}{{10,20}}(?!{_B})"),
    (
        "api_key",
        "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.",
        rf"(?:[a-z0-9_-]{{2,24}}\.)?{_A}{{30,}}",
    ),
    ("mapbox_token", "sk.eyJ", rf"{_B}{{20,}}\.{_B}{{20,}}"),
    ("api_key", "sntrys_", "[A-Za-z0-9+/=_-]{40,}"),
    (
        "api_key",
        "fm1_ fm2_ fm1r_ fm1a_",
        r"[A-Za-z0-9+/_=-]{20,}(?:,fm[12]\w?_[A-Za-z0-9+/_=-]{20,})*",
    ),
    ("api_key", "dt0c01. dt0s01. dt0s02.", r"[A-Z0-9]{8,24}(?:\.[A-Z0-9]{32,64})?"),
    ("api_key", "sdk- api- mob-", _UUID + r"(?![\w-])"),
    ("api_key", "oauth:", r"[a-z0-9]{30}(?![\w-])"),
    ("google_key", "1//", rf"0{_B}{{38,}}"),
    ("openshift_token", "sha256~", rf"{_B}{{43}}(?!{_B})"),
    (
        "api_key",
        "pat-na1- pat-eu1- access-sandbox- access-production- access-development- sk-lf-",
        _UUID,
    ),
    ("api_key", "API-", r"(?=[A-Z]{0,26}[0-9])[A-Z0-9]{25,36}(?![A-Za-z0-9_-])"),
    ("api_key", "re_", rf"(?=[A-Za-z]{{0,16}}[0-9]){_A}{{8,12}}_{_A}{{16,30}}(?!{_B})"),
    ("api_key", "sk_", r"[0-9a-f]{40,64}(?![A-Za-z0-9_-])"),
    ("api_key", "sl.", rf"(?=[A-Za-z_-]{{0,24}}[0-9]){_B}{{100,}}"),
    ("api_key", "AAAAAAAAAAAAAAAAAAAA", r"(?=[A-Za-z0-9]{0,80}%)[A-Za-z0-9%]{60,110}(?![\w%+/])"),
    # Prefixes that words begin with, too: what follows is of one piece.
    (
        "api_key",
        "gsk_ csk- lip_ jina_ fc- key- pul- rpa_ phx_ phs_ ico- tfp_ mlsn. napi_ xau_ dbtc_ dbtu_ "
        "e2b_ crsr_ vck_ vcp_ pnu_ aio_ rnd_ fw_ lf_sk_ tr_prod_ tr_dev_ sk_prod_ sk_dev_",
        rf"(?=[A-Za-z]{{0,24}}[0-9]){_A}{{20,}}(?![A-Za-z0-9_-])",
    ),
    ("api_key", "dapi", r"[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9_-])"),
    ("api_key", "sgp_", r"(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}(?![A-Za-z0-9_-])"),
    ("api_key", "LTAI AKID", rf"(?=[A-Za-z]{{0,40}}[0-9]){_A}{{12,40}}(?![A-Za-z0-9_-])"),
    ("api_key", "ABSK", r"[A-Za-z0-9+/]{90,}={0,2}"),
    (
        "vault_token",
        "s.",
        rf"(?=[A-Za-z]{{0,40}}[0-9])(?=[a-z0-9]{{0,23}}[A-Z]){_A}{{24}}(?![\w.])",
    ),
)
_SHAPED: tuple[tuple[str, str, str], ...] = (
    ("api_key", "oy2", rf"(?<!{_A})oy2[a-z0-9]{{43}}(?!{_A})"),
    ("api_key", "cio", rf"(?<!{_A})cio{_A}{{32}}(?!{_A})"),
    ("api_key", "AKCp", rf"(?<!{_A})AKCp{_A}{{69}}(?!{_A})"),
    ("api_key", "secret_", rf"(?<!{_A})secret_{_A}{{43}}(?!{_A})"),
    ("wallet_key", "prv", rf"(?<!{_A})[xyzt]prv{_A}{{100,112}}(?!{_A})"),
    ("azure_secret", "Q~", r"(?<![\w.~-])[\w.~-]{3}[0-9]Q~[\w.~-]{31,34}"),
    ("api_key", ".atlasv1.", rf"(?<!{_A}){_A}{{14}}\.atlasv1\.{_B}{{60,}}"),
    ("api_key", "pat", rf"(?<!{_A})pat{_A}{{14}}\.[0-9a-f]{{64}}"),
    ("api_key", "-us", rf"(?<!{_A})[0-9a-f]{{32}}-us[0-9]{{1,2}}(?![0-9])"),
    ("api_key", "EAAA", rf"(?<!{_A})EAAA{_B}{{50,80}}"),
    ("telegram_token", ":AA", r"(?:(?<![0-9A-Za-z])|(?<=bot))[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}"),
    ("discord_token", ".", rf"(?<!{_A})[MNO]{_B}{{23,27}}\.{_B}{{6}}\.{_B}{{27,40}}"),
    (
        "github_token",
        "gh",
        rf"(?<!{_A})gh[opsu]_(?={_A}{{10,32}}[ \t]?\\?\r?\n)"
        rf"(?:{_A}(?:[ \t]?\\?\r?\n[ \t>]{{0,8}})?){{36}}(?!{_A})",
    ),
    ("api_key", ":APA91", rf"(?<!{_A})AAAA[A-Za-z0-9_-]{{7}}:APA91{_B}{{100,}}"),
    ("api_key", "_mmk", rf"(?<!{_A}){_A}{{6}}_{_A}{{29}}_mmk"),
    ("api_key", ".", rf"(?<!{_A})[0-9a-f]{{32}}\.(?=[a-z0-9]{{0,15}}[A-Z]){_A}{{16}}(?!{_B})"),
    ("azure_secret", "JQQJ99", rf"(?<!{_A}){_A}{{40,60}}JQQJ99{_A}{{20,30}}(?!{_A})"),
    ("api_key", "/", r"(?<![\w/])[12]/[0-9]{10,20}(?:/[0-9]{10,20})?:[0-9a-f]{32}(?![\w])"),
    *(
        ("wallet_key", start, rf"(?<!{_A}){start}[1-9A-HJ-NP-Za-km-z]{{{length}}}(?!{_A})")
        for start, length in (("5", 50), ("K", 51), ("L", 51))
    ),
    *(
        (
            "api_key",
            start,
            rf"(?<![A-Za-z0-9+/=_-]){start}(?=[A-Za-z]{{0,24}}[0-9]){_A}{{{least},}}(?![\w+/-])",
        )
        for start, least in (("EAA", 80), ("IGQ", 80), ("BSA", 25), ("ATTA", 60))
    ),
    # A private key in the armour of PEM, as base64 once more.
    (
        "private_key",
        "LS0tLS1CRUdJTi",
        r"(?<![A-Za-z0-9+/])LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,40}?(?:UFJJVkFURSBL|BSSVZBVEUgS|QUklWQVRFIEtF)"
        r"[A-Za-z0-9+/=]*",
    ),
    ("webhook", "hooks.slack.com/", r"(?<=hooks\.slack\.com/)[a-z]{1,12}/[A-Za-z0-9/]{20,}"),
    ("webhook", "/api/webhooks/", rf"(?<=/api/webhooks/)[0-9]{{10,25}}/{_B}{{20,}}"),
)


def _compiled() -> Iterator[tuple[str, tuple[str, ...], re.Pattern[str]]]:
    for kind, prefixes, body in _PREFIXED:
        hints = tuple(prefixes.split())
        starts = "|".join(map(re.escape, hints))
        yield kind, hints, re.compile(rf"(?<![A-Za-z0-9])(?:{starts}){body}", re.ASCII)
    for kind, hint, pattern in _SHAPED:
        yield kind, (hint,), re.compile(pattern, re.ASCII)


_TOKENS = tuple(_compiled())
# The secret half of a pair: 30 to 40 characters beside the id.
_PAIRED = ("LTAI", "AKID")
_PAIR_SECRET = re.compile(
    r"[\"']?\s{0,2}[,/|:;\s]\s{0,2}[\"']?([A-Za-z0-9+/]{30,40})(?![A-Za-z0-9+/=])"
)
# A key that a terminal, a shell or a mail broke goes on at the beginning of the next line.
_CONTINUED = re.compile(
    r"(?:[ \t]?\\?\r?\n[ \t>]{0,8}|[\"'][ \t]?[+\\.]?\s{1,12}[\"'])([A-Za-z0-9_.+/=-]{16,}+)"
    r"(?=[\s\"'`)\]},;]|\Z)"
)
# Every token lies in one run of these, and none is shorter.
SHORTEST = 15
LONG_RUN = re.compile(rf"[A-Za-z0-9_.:/~-]{{{SHORTEST},}}+")
_RUN = re.compile(_A + "++")
_PREFIXES = [prefix for _, prefixes, _ in _PREFIXED for prefix in prefixes.split()]
_PREFIX = re.compile(by_letter("|".join(map(re.escape, _PREFIXES))))
_SHAPED_HINTS = tuple(hint for _, hint, _ in _SHAPED)
_SHAPE = re.compile("|".join(pattern for _, _, pattern in _SHAPED), re.ASCII)


def may_hold_tokens(word: str) -> bool:
    """Whether the word can hold a token: something long that begins like one."""
    return any(map(_begins_like_one, LONG_RUN.findall(word)))


def _begins_like_one(long_run: str) -> bool:
    # A prefix stands where letters and digits begin, which is seldom.
    return any(_PREFIX.match(long_run, run.start()) for run in _RUN.finditer(long_run)) or (
        any(map(long_run.__contains__, _SHAPED_HINTS)) and _SHAPE.search(long_run) is not None
    )


def _replace_tokens(text: str, found: dict[str, int]) -> str:
    long_runs = "\n".join(filter(_begins_like_one, LONG_RUN.findall(text)))
    for kind, hints, pattern in _TOKENS:
        if any(map(long_runs.__contains__, hints)):
            text = put_marks(text, _spans(pattern, kind, text), found)
    return text


def _spans(pattern: re.Pattern[str], kind: str, text: str) -> Iterator[tuple[int, int, str]]:
    for token in pattern.finditer(text):
        if is_placeholder(token[0]) or is_spelt(token[0]):
            continue
        rest = _CONTINUED.match(text, token.end()) if kind != "aws_key" else None
        end = rest.end() if rest and is_strong_key(rest[1]) else token.end()
        yield token.start(), end, kind
        pair = kind == "aws_key" or token[0].startswith(_PAIRED)
        secret = _PAIR_SECRET.match(text, end) if pair else None
        if secret and is_mixed(secret[1]):
            yield *secret.span(1), "secret"


RULE = Rule(_replace_tokens, ())
