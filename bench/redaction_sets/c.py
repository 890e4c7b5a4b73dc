"""Blind labelled set C for the secret-redaction engine.

Written without sight of the engine.  Every key below is drawn at random from a published
format; none is anybody's.  A block ``=== class`` starts a frame (shape); in a frame

* ``«S:gen»`` is a secret drawn from generator ``gen`` (labelled: must not survive),
* ``«gen»`` is a harmless filling,
* ``«…:1»`` remembers the value under its number, so that a frame can repeat it.
"""

from __future__ import annotations

import base64
import json
import re
import string
from collections import Counter
from collections.abc import Callable
from random import Random

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
B64 = ALNUM + "+/"
B64U = ALNUM + "-_"
UP32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
BECH = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"

Gen = Callable[[Random], str]


def rs(r: Random, alphabet: str, n: int) -> str:
    """n random characters; a string of 12 and more always has a digit and a letter."""
    digits, letters = any(c.isdigit() for c in alphabet), any(c.isalpha() for c in alphabet)
    while True:
        s = "".join(r.choice(alphabet) for _ in range(n))
        if n < 12 or (
            any(c.isdigit() for c in s) >= digits and any(c.isalpha() for c in s) >= letters
        ):
            return s


def b64of(s: str) -> str:
    return base64.b64encode(s.encode()).decode()


def b64u(s: str) -> str:
    return base64.urlsafe_b64encode(s.encode()).decode().rstrip("=")


WORDS = (
    "Falcon Tulip Harbor Copper Maple Winter Rocket Velvet Quartz Badger Lantern Pepper Granite "
    "Comet Orchid Sailor Thunder Walnut Saffron Glacier Panther Willow Cobalt Juniper"
).split()
LOCALW = (
    "Sonnenblume Giraffe Chocolat Naranja Castelo Zucchero Fiets Zamek Matroschka Yildiz Sakura "
    "Kimchi Fjord Kolibri Papillon Montana Gatito Stroopwafel"
).split()


def leet(w: str, r: Random) -> str:
    t = w.replace("o", "0").replace("e", "3").replace("a", "4").replace("i", "1")
    return t if t != w else w + str(r.randint(2, 9))


def pw(r: Random) -> str:
    """A password as people choose or generate them (chat, quoted strings)."""
    k = r.randrange(4)
    if k == 0:
        return f"{r.choice(WORDS)}{r.choice('-_.')}{r.choice(LOCALW)}{r.randint(10, 9999)}{r.choice('!?*')}"
    if k == 1:
        return f"{leet(r.choice(LOCALW), r)}{r.choice('#@!%&')}{r.randint(100, 9999)}{r.choice('xkQZ')}"
    if k == 2:
        return (
            r.choice(string.ascii_letters)
            + rs(r, ALNUM + "!@#%^&*+=?_-", r.randint(9, 14))
            + str(r.randint(0, 9))
        )
    return rs(r, ALNUM, r.randint(12, 20))


def pwy(r: Random) -> str:
    """A password fit for an unquoted value in YAML, .env, properties."""
    k = r.randrange(3)
    if k == 0:
        return f"{r.choice(WORDS)}{r.choice('-_.')}{leet(r.choice(LOCALW), r)}{r.randint(10, 9999)}"
    if k == 1:
        return (
            r.choice(string.ascii_letters)
            + rs(r, ALNUM + "!@%^+_-", r.randint(11, 18))
            + rs(r, ALNUM, 2)
        )
    return rs(r, ALNUM, r.randint(16, 28))


def pwu(r: Random) -> str:
    """A password as it stands in a URL."""
    k = r.randrange(3)
    if k == 0:
        return rs(r, ALNUM, r.randint(12, 24))
    if k == 1:
        return rs(r, ALNUM, 7) + r.choice(("%40", "%21", "%23", "%2F")) + rs(r, ALNUM, 6)
    return f"{r.choice(WORDS)}{r.choice('-_.')}{leet(r.choice(LOCALW), r)}{r.randint(10, 9999)}"


def jwt(r: Random) -> str:
    h = b64u(
        json.dumps(
            {"alg": r.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}, separators=(",", ":")
        )
    )
    p = b64u(
        json.dumps(
            {
                "sub": str(r.randint(10**5, 10**9)),
                "iat": r.randint(17 * 10**8, 18 * 10**8),
                "exp": r.randint(18 * 10**8, 19 * 10**8),
                "scope": r.choice(["read", "admin", "api"]),
            },
            separators=(",", ":"),
        )
    )
    return f"{h}.{p}.{rs(r, B64U, 43)}"


def jwt_role(r: Random) -> str:
    h = b64u('{"alg":"HS256","typ":"JWT"}')
    p = b64u(
        json.dumps(
            {
                "iss": "supabase",
                "ref": rs(r, string.ascii_lowercase, 20),
                "role": "service_role",
                "iat": r.randint(17 * 10**8, 18 * 10**8),
                "exp": r.randint(20 * 10**8, 21 * 10**8),
            },
            separators=(",", ":"),
        )
    )
    return f"{h}.{p}.{rs(r, B64U, 43)}"


def body(r: Random, head: str, lines: int, last: int, width: int = 64) -> list[str]:
    out = [rs(r, B64, width) for _ in range(lines)]
    out[0] = head + out[0][len(head) :]
    return out + [rs(r, B64, last) + "=="]


PEM_KINDS: dict[str, tuple[str, str, int, int]] = {
    "rsa": ("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA", 24, 62),
    "pkcs8": ("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 25, 22),
    "ec": ("EC PRIVATE KEY", "MHcCAQEEI", 2, 34),
    "openssh": ("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAA", 5, 38),
    "enc": ("ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQww", 26, 42),
    "pgp": ("PGP PRIVATE KEY BLOCK", "lQdGBGX", 16, 30),
}


def pem(r: Random, kind: str, joiner: str, indent: str = "") -> tuple[str, tuple[str, ...]]:
    label, head, lines, last = PEM_KINDS[kind]
    b = body(r, head, lines, last, 70 if kind == "openssh" else 64)
    mid = ["", *b] if kind == "pgp" else b
    allv = [f"-----BEGIN {label}-----", *mid, f"-----END {label}-----"]
    return joiner.join(indent + x if i else x for i, x in enumerate(allv)), tuple(b)


PRIVATE = (
    "my salary went to {n} 400 EUR and nobody in the team knows",
    "Dr. Lindqvist says the biopsy from room {n} came back, don't write this anywhere",
    "Projekt Nachtigall wird im Q{q} verkauft, Preis {n} Mio",
    "离婚的事先不要记录,律师电话 {n}",
    "the client is Orbweaver Ltd, contract {n}, we are about to drop them",
    "私の住所は横浜市中区{n}番地です",
    "door code of the office is {n}7#",
    "je quitte la boîte le {q} mars, dossier {n}",
)


def private(r: Random) -> str:
    return r.choice(PRIVATE).format(n=r.randint(100, 99999), q=r.randint(1, 4))


SECRET: dict[str, Gen] = {
    "pw": pw,
    "pwy": pwy,
    "pwu": pwu,
    "jwt": jwt,
    "jwt_role": jwt_role,
    "private": private,
    "rnd20": lambda r: rs(r, ALNUM, 20),
    "rnd24": lambda r: rs(r, ALNUM, 24),
    "rnd32": lambda r: rs(r, ALNUM, 32),
    "rnd40": lambda r: rs(r, ALNUM, 40),
    "rnd48": lambda r: rs(r, ALNUM, 48),
    "u40": lambda r: rs(r, B64U, 39) + rs(r, ALNUM, 1),
    "u64": lambda r: rs(r, B64U, 63) + rs(r, ALNUM, 1),
    "hex32": lambda r: rs(r, HEX, 32),
    "hex40": lambda r: rs(r, HEX, 40),
    "hex64": lambda r: rs(r, HEX, 64),
    "b64k": lambda r: rs(r, B64, 43) + "=",
    "django": lambda r: "django-insecure-" + rs(r, LOWER + "!@%^&*(-_=+)", 49) + "k",
    "djkey": lambda r: "m" + rs(r, LOWER + "!@%^&*-_=+", 48) + "7",
    "aws": lambda r: rs(r, B64, 39) + rs(r, ALNUM, 1),
    "awssess": lambda r: "IQoJb3JpZ2luX2VjE" + rs(r, B64, 240) + "==",
    "ghp": lambda r: "ghp_" + rs(r, ALNUM, 36),
    "gho": lambda r: "gho_" + rs(r, ALNUM, 36),
    "ghs": lambda r: "ghs_" + rs(r, ALNUM, 36),
    "ghfine": lambda r: f"github_pat_11{rs(r, UP32, 9)}0{rs(r, ALNUM, 10)}_{rs(r, ALNUM, 59)}",
    "glpat": lambda r: "glpat-" + rs(r, B64U, 19) + rs(r, ALNUM, 1),
    "gldt": lambda r: "gldt-" + rs(r, ALNUM, 20),
    "glrt": lambda r: "glrt-" + rs(r, ALNUM, 20),
    "openai": lambda r: f"sk-proj-{rs(r, B64U, 74)}T3BlbkFJ{rs(r, ALNUM, 74)}",
    "openai_old": lambda r: f"sk-{rs(r, ALNUM, 20)}T3BlbkFJ{rs(r, ALNUM, 20)}",
    "anthropic": lambda r: f"sk-ant-api03-{rs(r, B64U, 93)}AA",
    "openrouter": lambda r: "sk-or-v1-" + rs(r, HEX, 64),
    "deepseek": lambda r: "sk-" + rs(r, HEX, 32),
    "groq": lambda r: "gsk_" + rs(r, ALNUM, 52),
    "replicate": lambda r: "r8_" + rs(r, ALNUM, 37),
    "pplx": lambda r: "pplx-" + rs(r, ALNUM, 48),
    "xai": lambda r: "xai-" + rs(r, ALNUM, 80),
    "hf": lambda r: "hf_" + rs(r, string.ascii_letters, 12) + "7" + rs(r, ALNUM, 21),
    "eleven": lambda r: "sk_" + rs(r, HEX, 48),
    "tavily": lambda r: "tvly-" + rs(r, ALNUM, 32),
    "pinecone": lambda r: f"pcsk_{rs(r, ALNUM, 6)}_{rs(r, ALNUM, 63)}",
    "langsmith": lambda r: f"lsv2_pt_{rs(r, HEX, 32)}_{rs(r, HEX, 10)}",
    "wandb": lambda r: rs(r, HEX, 40),
    "stripe": lambda r: "sk_live_51" + rs(r, ALNUM, 97),
    "stripe_short": lambda r: "sk_live_" + rs(r, ALNUM, 24),
    "stripe_rk": lambda r: "rk_live_51" + rs(r, ALNUM, 97),
    "stripe_test": lambda r: "sk_test_51" + rs(r, ALNUM, 97),
    "whsec": lambda r: "whsec_" + rs(r, ALNUM, 32),
    "xoxb": lambda r: (
        f"xoxb-{r.randint(10**11, 10**12 - 1)}-{r.randint(10**12, 10**13 - 1)}-{rs(r, ALNUM, 24)}"
    ),
    "xoxp": lambda r: (
        f"xoxp-{r.randint(10**11, 10**12 - 1)}-{r.randint(10**11, 10**12 - 1)}-{r.randint(10**12, 10**13 - 1)}-{rs(r, HEX, 32)}"
    ),
    "xapp": lambda r: f"xapp-1-A0{rs(r, UP32, 9)}-{r.randint(10**12, 10**13 - 1)}-{rs(r, HEX, 64)}",
    "slackhook": lambda r: f"T0{rs(r, UP32, 8)}/B0{rs(r, UP32, 8)}/{rs(r, ALNUM, 24)}",
    "aiza": lambda r: "AIzaSy" + rs(r, B64U, 32) + rs(r, ALNUM, 1),
    "gocspx": lambda r: "GOCSPX-" + rs(r, B64U, 27) + rs(r, ALNUM, 1),
    "ya29": lambda r: "ya29.a0A" + rs(r, B64U, 150) + rs(r, ALNUM, 1),
    "grefresh": lambda r: "1//0" + rs(r, B64U, 98) + rs(r, ALNUM, 1),
    "sendgrid": lambda r: f"SG.{rs(r, B64U, 21)}a.{rs(r, B64U, 42)}{rs(r, ALNUM, 1)}",
    "mailgun": lambda r: "key-" + rs(r, HEX, 32),
    "mailchimp": lambda r: f"{rs(r, HEX, 32)}-us{r.randint(1, 21)}",
    "resend": lambda r: f"re_{rs(r, ALNUM, 8)}_{rs(r, ALNUM, 24)}",
    "brevo": lambda r: f"xkeysib-{rs(r, HEX, 64)}-{rs(r, ALNUM, 16)}",
    "npm": lambda r: "npm_" + rs(r, ALNUM, 36),
    "pypi": lambda r: "pypi-AgEIcHlwaS5vcmcC" + rs(r, B64U, 149) + rs(r, ALNUM, 1),
    "dop": lambda r: "dop_v1_" + rs(r, HEX, 64),
    "heroku": lambda r: "HRKU-AA" + rs(r, B64U, 57) + rs(r, ALNUM, 1),
    "uuid_s": lambda r: uuid(r),
    "newrelic": lambda r: "NRAK-" + rs(r, string.ascii_uppercase + string.digits, 27),
    "sentry": lambda r: (
        f"sntrys_{b64of(json.dumps({'iat': r.randint(17 * 10**8, 18 * 10**8), 'url': 'https://sentry.io'}))}_{rs(r, B64, 42)}x"
    ),
    "sntryu": lambda r: "sntryu_" + rs(r, HEX, 64),
    "telegram": lambda r: f"{r.randint(10**9, 8 * 10**9)}:AA{rs(r, B64U, 32)}{rs(r, ALNUM, 1)}",
    "discord": lambda r: (
        f"MT{b64of(str(r.randint(10**17, 10**18)))[2:24]}.G{rs(r, ALNUM, 5)}.{rs(r, B64U, 37)}{rs(r, ALNUM, 1)}"
    ),
    "discordhook": lambda r: rs(r, B64U, 67) + rs(r, ALNUM, 1),
    "shpat": lambda r: "shpat_" + rs(r, HEX, 32),
    "shpss": lambda r: "shpss_" + rs(r, HEX, 32),
    "square": lambda r: "EAAAl" + rs(r, B64U, 58) + rs(r, ALNUM, 1),
    "netlify": lambda r: "nfp_" + rs(r, ALNUM, 36),
    "flyio": lambda r: "fm2_lJPE" + rs(r, B64, 180) + "==",
    "sbp": lambda r: "sbp_" + rs(r, HEX, 40),
    "sbsecret": lambda r: f"sb_secret_{rs(r, B64U, 21)}a_{rs(r, ALNUM, 8)}",
    "pscale": lambda r: "pscale_pw_" + rs(r, ALNUM, 43),
    "neon": lambda r: "npg_" + rs(r, ALNUM, 12),
    "linear": lambda r: "lin_api_" + rs(r, ALNUM, 40),
    "notion": lambda r: f"ntn_{r.randint(10**10, 10**11 - 1)}{rs(r, ALNUM, 35)}",
    "airtable": lambda r: f"pat{rs(r, ALNUM, 14)}.{rs(r, HEX, 64)}",
    "atlassian": lambda r: f"ATATT3xFfGF0{rs(r, B64U, 171)}={rs(r, '0123456789ABCDEF', 8)}",
    "bitbucket": lambda r: "ATBB" + rs(r, ALNUM, 32),
    "figma": lambda r: "figd_" + rs(r, B64U, 39) + rs(r, ALNUM, 1),
    "docker": lambda r: "dckr_pat_" + rs(r, B64U, 26) + rs(r, ALNUM, 1),
    "tfc": lambda r: f"{rs(r, ALNUM, 14)}.atlasv1.{rs(r, ALNUM, 67)}",
    "vault": lambda r: "hvs.CAESI" + rs(r, B64U, 85) + rs(r, ALNUM, 1),
    "glsa": lambda r: f"glsa_{rs(r, ALNUM, 32)}_{rs(r, HEX, 8)}",
    "postman": lambda r: f"PMAK-{rs(r, HEX, 24)}-{rs(r, HEX, 34)}",
    "azstore": lambda r: rs(r, B64, 86) + "==",
    "azclient": lambda r: f"{rs(r, ALNUM, 3)}8Q~{rs(r, ALNUM, 34)}",
    "azsig": lambda r: rs(r, ALNUM, 20) + "%2B" + rs(r, ALNUM, 22) + "%3D",
    "dapi": lambda r: "dapi" + rs(r, HEX, 32),
    "doppler": lambda r: "dp.pt." + rs(r, ALNUM, 43),
    "age": lambda r: "AGE-SECRET-KEY-1" + rs(r, BECH, 58),
    "tailscale": lambda r: f"tskey-auth-k{rs(r, ALNUM, 10)}CNTRL-{rs(r, ALNUM, 32)}",
    "posthog": lambda r: "phx_" + rs(r, ALNUM, 43),
    "clerk": lambda r: "sk_live_" + rs(r, ALNUM, 42),
    "azdo": lambda r: rs(r, LOWER, 52),
    "circle": lambda r: f"CCIPAT_{rs(r, ALNUM, 22)}_{rs(r, HEX, 40)}",
    "hubspot": lambda r: "pat-na1-" + uuid(r),
    "fb": lambda r: "EAA" + rs(r, ALNUM, 150),
    "gemname": lambda r: "rubygems_" + rs(r, HEX, 48),
    "sonar": lambda r: "squ_" + rs(r, HEX, 40),
    "cargo": lambda r: "cio" + rs(r, ALNUM, 32),
    "dynatrace": lambda r: f"dt0c01.{rs(r, UP32, 24)}.{rs(r, UP32, 64)}",
    "planet_t": lambda r: "pscale_tkn_" + rs(r, ALNUM, 43),
    "lark": lambda r: rs(r, ALNUM, 32),
    "wifi": lambda r: f"{r.choice(LOCALW)}{r.randint(1000, 99999)}{r.choice('xyzQ')}",
    "basic": lambda r: b64of(f"{r.choice(('deploy', 'admin', 'ci-bot'))}:{pw(r)}"),
    "dockauth": lambda r: b64of(f"{r.choice(('acme', 'deploy'))}:dckr_pat_{rs(r, ALNUM, 27)}"),
    "pwb64": lambda r: b64of(pw(r)),
    "totp": lambda r: rs(r, UP32, 32),
    "apitok64": lambda r: rs(r, ALNUM, 64),
    "pgpass": lambda r: rs(r, ALNUM, 18),
}

MULTI: dict[str, Callable[[Random], tuple[str, tuple[str, ...]]]] = {}
for _k in PEM_KINDS:
    MULTI[f"pem_{_k}"] = lambda r, k=_k: pem(r, k, "\n")  # type: ignore[misc]
    MULTI[f"pemj_{_k}"] = lambda r, k=_k: pem(r, k, "\\n")  # type: ignore[misc]
    MULTI[f"pem4_{_k}"] = lambda r, k=_k: pem(r, k, "\n", "    ")  # type: ignore[misc]


# ---------------------------------------------------------------- harmless fillings
def uuid(r: Random) -> str:
    return f"{rs(r, HEX, 8)}-{rs(r, HEX, 4)}-4{rs(r, HEX, 3)}-{r.choice('89ab')}{rs(r, HEX, 3)}-{rs(r, HEX, 12)}"


SVC = "billing checkout ingest gateway search notifier catalog inventory scheduler reporting ledger mailer profile media".split()
NAMES = "anna marek priya tom lucia kenji sofia omar jonas mei pavel ines".split()
ENVN = (
    "STRIPE_SECRET_KEY OPENAI_API_KEY DB_PASSWORD GITHUB_TOKEN AWS_SECRET_ACCESS_KEY JWT_SECRET SENDGRID_API_KEY "
    "SLACK_BOT_TOKEN REDIS_PASSWORD NPM_TOKEN ANTHROPIC_API_KEY TWILIO_AUTH_TOKEN"
).split()
PROV = "Stripe OpenAI GitHub Slack Twilio Cloudflare Datadog Sentry Auth0 Okta Anthropic Vercel Supabase".split()
PROSE = (
    "I went through the {s} module and the retry loop is where the time goes, about {n} ms per call.",
    "The migration on {s} adds two columns and an index, nothing else depends on it.",
    "CI is green again after I pinned the base image, the flaky test was {s}_test_{n}.",
    "We could split the {s} worker in two processes, but then the queue needs a second consumer group.",
    "Memory of the {s} pod grows by {n} MB an hour, which smells like the template cache.",
    "The response of {s} comes back in {n} ms on staging and twice that in production.",
    "Let me first reproduce it locally, then write a regression test for {s}, then fix it.",
    "There are {n} call sites of the old helper; I'd rather change the helper than all of them.",
    "The linter complains about line length in {s}.py, I reformatted it with ruff.",
    "Next step: update the changelog, bump the version and tag the release of {s}.",
    "Die Pipeline von {s} läuft jetzt in {n} Sekunden durch, vorher waren es fast doppelt so viele.",
    "日志显示{s}服务在高峰期会排队,大约{n}个请求。",
    "El servicio {s} tarda {n} ms en arrancar porque carga todas las plantillas.",
)


def prose(r: Random, k: int = 9) -> str:
    return " ".join(r.choice(PROSE).format(s=r.choice(SVC), n=r.randint(20, 990)) for _ in range(k))


def logs(r: Random, k: int = 16) -> str:
    out = []
    for _ in range(k):
        lvl = r.choice(["INFO", "INFO", "DEBUG", "WARN"])
        m = r.choice(
            [
                "GET /v1/{s}/{n} 200",
                "started worker {n} of {s}",
                "cache miss for {s}:{n}",
                "flushed {n} rows to {s}",
                "slow query in {s}: {n}ms",
                "consumer group {s}-{n} rebalanced",
                "healthcheck ok ({n}ms)",
            ]
        )
        out.append(
            f"{iso(r)} {lvl:5} [{r.choice(SVC)}] " + m.format(s=r.choice(SVC), n=r.randint(10, 999))
        )
    return "\n".join(out)


def iso(r: Random) -> str:
    return f"2026-{r.randint(1, 12):02}-{r.randint(1, 28):02}T{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}.{r.randint(0, 999):03}Z"


def codeblk(r: Random) -> str:
    a, b, n = r.choice(SVC), r.choice(SVC), r.randint(2, 90)
    return (
        f"def load_{a}(rows: list[dict[str, int]]) -> dict[str, int]:\n    out: dict[str, int] = {{}}\n    for row in rows:\n"
        f"        if row['size'] > {n}:\n            out[row['name']] = out.get(row['name'], 0) + row['size']\n    return out\n\n\n"
        f"def merge_{b}(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:\n    return {{k: a.get(k, 0) + b.get(k, {n}) for k in a.keys() | b.keys()}}\n"
    )


def pub64(r: Random, lines: int, head: str) -> str:
    return "\n".join(body(r, head, lines, 50))


FILL: dict[str, Gen] = {
    "svc": lambda r: r.choice(SVC),
    "name": lambda r: r.choice(NAMES),
    "env": lambda r: r.choice(ENVN),
    "prov": lambda r: r.choice(PROV),
    "uuid": uuid,
    "sha40": lambda r: rs(r, HEX, 40),
    "sha7": lambda r: "a" + rs(r, HEX, 5) + "3",
    "sha256": lambda r: rs(r, HEX, 64),
    "md5": lambda r: rs(r, HEX, 32),
    "hex16": lambda r: rs(r, HEX, 16),
    "hex12": lambda r: rs(r, HEX, 12),
    "hex8": lambda r: rs(r, HEX, 8),
    "sri": lambda r: "sha512-" + rs(r, B64, 86) + "==",
    "sri384": lambda r: "sha384-" + rs(r, B64, 64),
    "iso": iso,
    "int": lambda r: str(r.randint(2, 999)),
    "big": lambda r: str(r.randint(1000, 99999)),
    "port": lambda r: str(r.randint(3000, 9999)),
    "ms": lambda r: f"{r.randint(1, 900)}ms",
    "acct": lambda r: str(r.randint(10**11, 10**12 - 1)),
    "ver": lambda r: f"{r.randint(0, 9)}.{r.randint(0, 30)}.{r.randint(0, 20)}",
    "ip": lambda r: f"10.{r.randint(0, 250)}.{r.randint(0, 250)}.{r.randint(2, 250)}",
    "mac": lambda r: ":".join(rs(r, HEX, 2) for _ in range(6)),
    "eth": lambda r: "0x" + rs(r, HEX, 40),
    "tx": lambda r: "0x" + rs(r, HEX, 64),
    "host": lambda r: f"{r.choice(SVC)}-{r.randint(1, 9)}.internal.acme.io",
    "b44": lambda r: rs(r, B64, 43) + "=",
    "rsan": lambda r: rs(r, B64U, 342),
    "h4": lambda r: rs(r, HEX, 4),
    "asia": lambda r: "ASIA" + rs(r, UP32, 16),
    "akid": lambda r: "AKIA" + rs(r, UP32, 16),
    "line": lambda r: str(r.randint(5, 480)),
    "unix": lambda r: str(r.randint(17 * 10**8, 18 * 10**8)),
    "slug": lambda r: f"{r.choice(SVC)}-{rs(r, LOWER, 6)}",
    "prose": prose,
    "prose2": lambda r: prose(r, 2),
    "prose12": lambda r: prose(r, 20),
    "logs": logs,
    "logs5": lambda r: logs(r, 5),
    "logs25": lambda r: logs(r, 22),
    "code": codeblk,
    "cert": lambda r: (
        f"-----BEGIN CERTIFICATE-----\n{pub64(r, 10, 'MIIDazCCAlOgAwIBAgIU')}\n-----END CERTIFICATE-----"
    ),
    "pubpem": lambda r: (
        f"-----BEGIN PUBLIC KEY-----\n{pub64(r, 5, 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA')}\n-----END PUBLIC KEY-----"
    ),
    "sshpub": lambda r: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + rs(r, B64, 43),
    "sshrsa": lambda r: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ" + rs(r, B64, 330),
    "fpr": lambda r: "SHA256:" + rs(r, B64, 43),
    "pgpfpr": lambda r: " ".join(rs(r, "0123456789ABCDEF", 4) for _ in range(10)),
    "png": lambda r: "iVBORw0KGgoAAAANSUhEUgAAA" + rs(r, B64, 160) + "==",
    "gid": lambda r: rs(r, B64U, 43) + "x",
    "yt": lambda r: rs(r, ALNUM, 11),
    "b64map": lambda r: "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbInNyYy9" + rs(r, B64, 150),
    "chunk": lambda r: rs(r, ALNUM, 8),
    "pod": lambda r: f"{r.choice(SVC)}-{rs(r, HEX, 10)}-{rs(r, LOWER, 5)}",
    "stars": lambda r: "*" * r.randint(6, 20),
    "xs": lambda r: "x" * r.randint(8, 32),
    "proj": lambda r: f"acme-{r.choice(SVC)}-{r.randint(1000, 9999)}",
    "req": lambda r: "req_" + rs(r, ALNUM, 14),
    "ulid": lambda r: "01J" + rs(r, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23),
    "oid": lambda r: "6" + rs(r, HEX, 23),
    "pk": lambda r: "pk_live_51" + rs(r, ALNUM, 97),
}

POSITIVE_FRAMES = r"""
=== provider-env
OPENAI_API_KEY=«S:openai»
OPENAI_ORG=acme-«svc»
LOG_LEVEL=debug
=== provider-env
# .env.local
NEXT_PUBLIC_APP_URL=http://localhost:«port»
ANTHROPIC_API_KEY="«S:anthropic»"
=== provider-env
STRIPE_SECRET_KEY=«S:stripe»
STRIPE_WEBHOOK_SECRET=«S:whsec»
CURRENCY=eur
=== provider-env
export GITHUB_TOKEN=«S:ghp»
export GH_OWNER=acme
=== provider-env
AWS_ACCESS_KEY_ID=«akid»
AWS_SECRET_ACCESS_KEY=«S:aws»
AWS_DEFAULT_REGION=eu-central-1
=== provider-env
SLACK_BOT_TOKEN=«S:xoxb»
SLACK_APP_TOKEN=«S:xapp»
SLACK_CHANNEL=#deploys
=== provider-env
SENDGRID_API_KEY='«S:sendgrid»'
MAIL_FROM=noreply@acme.io
=== provider-env
TWILIO_ACCOUNT_SID=AC«md5»
TWILIO_AUTH_TOKEN=«S:hex32»
=== provider-env
NEXT_PUBLIC_SUPABASE_URL=https://abcd«svc».supabase.co
SUPABASE_SERVICE_ROLE_KEY=«S:jwt_role»
=== provider-env
CLOUDFLARE_API_TOKEN=«S:u40»
CLOUDFLARE_ZONE=acme.io
=== provider-env
DD_API_KEY=«S:hex32»
DD_APP_KEY=«S:hex40»
DD_SITE=datadoghq.eu
=== provider-env
HF_TOKEN=«S:hf»
HF_HOME=/data/hf
=== provider-env
GEMINI_API_KEY=«S:aiza»
=== provider-env
GOOGLE_CLIENT_SECRET=«S:gocspx»
GOOGLE_REDIRECT_URI=https://app.acme.io/oauth/«svc»
=== provider-env
TELEGRAM_BOT_TOKEN=«S:telegram»
=== provider-env
DISCORD_TOKEN=«S:discord»
DISCORD_GUILD=acme
=== provider-env
MAILGUN_API_KEY=«S:mailgun»
MAILGUN_DOMAIN=mg.acme.io
MAILCHIMP_API_KEY=«S:mailchimp»
=== provider-env
GROQ_API_KEY=«S:groq»
REPLICATE_API_TOKEN=«S:replicate»
PERPLEXITY_API_KEY=«S:pplx»
XAI_API_KEY=«S:xai»
=== provider-env
OPENROUTER_API_KEY=«S:openrouter»
DEEPSEEK_API_KEY=«S:deepseek»
=== provider-env
MISTRAL_API_KEY=«S:rnd32»
COHERE_API_KEY=«S:rnd40»
TOGETHER_API_KEY=«S:hex64»
=== provider-env
ELEVENLABS_API_KEY=«S:eleven»
TAVILY_API_KEY=«S:tavily»
PINECONE_API_KEY=«S:pinecone»
=== provider-env
LANGCHAIN_TRACING_V2=true
LANGCHAIN_API_KEY=«S:langsmith»
WANDB_API_KEY=«S:wandb»
=== provider-env
RESEND_API_KEY=«S:resend»
BREVO_API_KEY=«S:brevo»
=== provider-env
VERCEL_TOKEN=«S:rnd24»
NETLIFY_AUTH_TOKEN=«S:netlify»
=== provider-env
NOTION_TOKEN=«S:notion»
LINEAR_API_KEY=«S:linear»
AIRTABLE_API_KEY=«S:airtable»
=== provider-env
JIRA_API_TOKEN=«S:atlassian»
JIRA_BASE_URL=https://acme.atlassian.net
=== provider-env
ALGOLIA_APP_ID=QX7
ALGOLIA_ADMIN_KEY=«S:hex32»
=== provider-env
NEW_RELIC_LICENSE_KEY=«S:hex40»
NEW_RELIC_API_KEY=«S:newrelic»
=== provider-env
AZURE_TENANT_ID=«uuid»
AZURE_CLIENT_ID=«uuid»
AZURE_CLIENT_SECRET=«S:azclient»
=== provider-env
CLERK_SECRET_KEY=«S:clerk»
POSTHOG_PERSONAL_API_KEY=«S:posthog»
=== provider-env
SHOPIFY_API_SECRET=«S:shpss»
SHOPIFY_ACCESS_TOKEN=«S:shpat»
SQUARE_ACCESS_TOKEN=«S:square»
=== provider-env
AUTH0_DOMAIN=acme.eu.auth0.com
AUTH0_CLIENT_SECRET=«S:u64»
=== provider-env
CLOUDINARY_URL=cloudinary://«acct»:«S:rnd27x»@acme
=== provider-env
SENTRY_AUTH_TOKEN=«S:sentry»
SENTRY_ORG=acme
=== provider-env
HEROKU_API_KEY=«S:heroku»
HUBSPOT_ACCESS_TOKEN=«S:hubspot»
=== provider-env
CIRCLECI_TOKEN=«S:circle»
SONAR_TOKEN=«S:sonar»
=== provider-env
AZURE_DEVOPS_EXT_PAT=«S:azdo»
DT_API_TOKEN=«S:dynatrace»
=== provider-env
SUPABASE_ACCESS_TOKEN=«S:sbp»
SUPABASE_SECRET_KEY=«S:sbsecret»
=== db-url
DATABASE_URL='mysql://«hex12»:«S:pscale»@aws.connect.psdb.cloud/«svc»?sslaccept=strict'
=== chat-en
page access token for the «svc» page is «S:fb» , valid for 60 days
=== ci-log
gitlab-runner register --url https://gitlab.acme.io --token «S:glrt» --executor docker --name «svc»
=== ci-log
GEM_HOST_API_KEY=«S:gemname» gem push «svc»-«ver».gem
=== shell
cargo login «S:cargo»   # then cargo publish -p «svc»
=== shell
sentry-cli --auth-token «S:sntryu» releases new «svc»@«ver»
=== app-secret-env
JWT_SECRET=«S:pwy»
JWT_EXPIRES_IN=3600
SESSION_SECRET=«S:rnd32»
=== app-secret-env
NEXTAUTH_URL=http://localhost:3000
NEXTAUTH_SECRET=«S:b64k»
=== app-secret-env
APP_KEY=base64:«S:b64k»
APP_DEBUG=false
=== app-secret-env
SECRET_KEY_BASE=«S:hex128»
RAILS_MASTER_KEY=«S:hex32»
=== app-secret-env
SMTP_HOST=smtp.acme.io
SMTP_USER=noreply
SMTP_PASS=«S:pwy»
SMTP_PORT=587
=== app-secret-env
ENCRYPTION_KEY=«S:hex64»
COOKIE_SECRET="«S:pw»"
=== app-secret-env
$env:DB_PASSWORD = "«S:pw»"
$env:APP_ENV = "staging"
=== app-secret-env
set MYSQL_PWD=«S:pwy»
set PATH=%PATH%;C:\mysql\bin
=== db-url
DATABASE_URL=postgresql://app:«S:pwu»@db.acme.io:5432/«svc»
=== db-url
DATABASE_URL="postgres://«svc»_user:«S:neon»@ep-cool-«int».eu-central-1.aws.neon.tech/main?sslmode=require"
=== db-url
MONGODB_URI=mongodb+srv://admin:«S:pwu»@cluster0.ab1cd.mongodb.net/«svc»?retryWrites=true&w=majority
=== db-url
REDIS_URL=redis://:«S:pwu»@cache-«int».acme.io:6379/0
=== db-url
I can connect with psql "postgresql://reporting:«S:pwu»@«ip»:5432/warehouse" but the query hangs after «int» seconds
=== db-url
SQLALCHEMY_DATABASE_URI = 'mysql+pymysql://shop:«S:pwu»@«ip»/shop?charset=utf8mb4'
=== db-url
CELERY_BROKER_URL=amqps://worker:«S:pwu»@rabbit.acme.io:5671/prod
=== db-url
datasource db {
  provider = "postgresql"
  url      = "postgresql://prisma:«S:pwu»@aws-0-eu-west-1.pooler.supabase.com:6543/postgres?pgbouncer=true"
}
=== db-url
spring.datasource.url=jdbc:postgresql://«ip»:5432/«svc»?user=svc&password=«S:rnd20»
=== db-url
Server=tcp:acme-sql.database.windows.net,1433;Initial Catalog=«svc»;User ID=sqladmin;Password=«S:pwy»;Encrypt=True;Connection Timeout=30;
=== db-url
engine = create_engine(f"postgresql+asyncpg://etl:«S:pwu»@{HOST}:5432/«svc»", pool_size=«int»)
=== compose
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_USER: «svc»
      POSTGRES_PASSWORD: «S:pwy»
    ports: ["5432:5432"]
=== compose
services:
  mysql:
    image: mysql:8.4
    environment:
      - MYSQL_ROOT_PASSWORD=«S:pwy»
      - MYSQL_DATABASE=«svc»
      - MYSQL_PASSWORD=«S:pwy»
=== compose
  minio:
    image: minio/minio
    command: server /data
    environment:
      MINIO_ROOT_USER: acme
      MINIO_ROOT_PASSWORD: "«S:pwy»"
=== compose
  redis:
    image: redis:7
    command: redis-server --requirepass «S:pwy» --appendonly yes
    volumes: [ "«svc»:/data" ]
=== compose
  «svc»:
    build: .
    environment:
      - DATABASE_URL=postgres://root:«S:pwu»@db/app
      - OPENAI_API_KEY=«S:openai»
=== config
spring:
  datasource:
    url: jdbc:postgresql://db:5432/«svc»
    username: «svc»
    password: «S:pwy»
  jpa:
    open-in-view: false
=== config
spring.mail.host=smtp.acme.io
spring.mail.username=noreply
spring.mail.password=«S:pwy»
server.port=«port»
=== config
# settings.py
DEBUG = False
SECRET_KEY = '«S:django»'
ALLOWED_HOSTS = ['«host»']
=== config
DATABASES = {
    'default': {
        'ENGINE': 'django.db.backends.postgresql',
        'NAME': '«svc»',
        'USER': 'django',
        'PASSWORD': '«S:pw»',
        'HOST': '«ip»',
    }
}
=== config
{
  "ConnectionStrings": {
    "Default": "Server=sql01;Database=«svc»;User Id=app;Password=«S:pwy»;TrustServerCertificate=True"
  },
  "Jwt": { "Issuer": "acme", "Key": "«S:rnd48»" }
}
=== config
{
  "Smtp": { "Host": "smtp.acme.io", "Port": 587, "UserName": "robot", "Password": "«S:pw»" },
  "AllowedHosts": "*"
}
=== config
production:
  adapter: postgresql
  database: «svc»_production
  username: deploy
  password: «S:pwy»
  pool: 5
=== config
[client]
user=backup
password="«S:pw»"
host=«ip»
=== config
# ~/.pgpass
«ip»:5432:warehouse:etl:«S:pgpass»
=== config
machine api.heroku.com
  login dev@acme.io
  password «S:uuid_s»
=== config
//registry.npmjs.org/:_authToken=«S:npm»
always-auth=true
save-exact=true
=== config
[pypi]
username = __token__
password = «S:pypi»
=== config
{
  "auths": {
    "https://index.docker.io/v1/": { "auth": "«S:dockauth»" }
  }
}
=== config
<server>
  <id>nexus</id>
  <username>ci</username>
  <password>«S:pwy»</password>
</server>
=== config
<add name="Main" connectionString="Data Source=«ip»;Initial Catalog=ERP;User ID=erp;Password=«S:pwy»" providerName="System.Data.SqlClient" />
=== config
define( 'DB_NAME', 'wp_«svc»' );
define( 'DB_USER', 'wp' );
define( 'DB_PASSWORD', '«S:pw»' );
=== config
[default]
aws_access_key_id = «akid»
aws_secret_access_key = «S:aws»
region = us-east-1
=== config
network={
    ssid="Office-«int»"
    psk="«S:wifi»"
}
=== config
[Interface]
PrivateKey = «S:wg»
Address = «ip»/32
DNS = 1.1.1.1
=== config
[mail]
enabled = true
smtp_user = alerts
smtp_password = «S:pwy»

[security]
admin_user = admin
admin_password = «S:pwy»
=== terraform
resource "aws_db_instance" "«svc»" {
  engine   = "postgres"
  username = "master"
  password = "«S:pw»"
  instance_class = "db.t4g.small"
}
=== terraform
# terraform.tfvars
region      = "fra1"
do_token    = "«S:dop»"
db_password = "«S:pw»"
=== terraform
provider "cloudflare" {
  api_token = "«S:u40»"
}
provider "datadog" {
  api_key = "«S:hex32»"
  app_key = "«S:hex40»"
}
=== terraform
credentials "app.terraform.io" {
  token = "«S:tfc»"
}
=== terraform
variable "vault_token" {
  type    = string
  default = "«S:vault»"
}
=== terraform
            "attributes": {
              "id": "«svc»-db",
              "identifier": "«svc»-db",
              "password": "«S:pw»",
              "port": 5432,
=== kubernetes
apiVersion: v1
kind: Secret
metadata:
  name: «svc»-db
type: Opaque
data:
  password: «S:pwb64»
=== kubernetes
apiVersion: v1
kind: Secret
metadata: { name: «svc» }
stringData:
  STRIPE_SECRET_KEY: «S:stripe»
  SESSION_SECRET: "«S:rnd32»"
=== kubernetes
        env:
        - name: PORT
          value: "«port»"
        - name: DB_PASSWORD
          value: "«S:pwy»"
=== kubernetes
$ kubectl get secret «svc» -o jsonpath='{.data.password}' | base64 -d
password: «S:pw»
=== kubernetes
$ kubectl exec -it «pod» -- env | grep -i -E 'key|pass'
ANTHROPIC_API_KEY=«S:anthropic»
PGPASSWORD=«S:pwy»
=== kubernetes
users:
- name: admin
  user:
    token: «S:jwt»
contexts:
- context: { cluster: prod, user: admin }
=== helm
postgresql:
  auth:
    username: «svc»
    password: «S:pwy»
    postgresPassword: «S:pwy»
persistence:
  size: 10Gi
=== helm
helm upgrade --install «svc» ./chart --set image.tag=«sha7» --set redis.auth.password=«S:rnd20» --namespace prod
=== helm
helm install grafana grafana/grafana --set adminPassword='«S:pw»' --set replicas=«int»
=== ansible
all:
  hosts:
    «host»:
      ansible_user: deploy
      ansible_ssh_pass: «S:pwy»
      ansible_become_password: «S:pwy»
=== ansible
- name: create db user
  community.postgresql.postgresql_user:
    name: «svc»
    password: "«S:pw»"
    state: present
=== ansible
[web]
«ip» ansible_user=root ansible_password=«S:pwy»
=== ci-log
2026-03-04T10:22:11.101Z ##[group]Run ./deploy.sh
2026-03-04T10:22:11.102Z env:
2026-03-04T10:22:11.102Z   GITHUB_TOKEN: «S:ghs»
2026-03-04T10:22:11.103Z   STAGE: «svc»
=== ci-log
+ docker login -u acme -p «S:docker» docker.io
WARNING! Using --password via the CLI is insecure. Use --password-stdin.
Login Succeeded (runner «int»)
=== ci-log
$ npm publish
npm notice Publishing @acme/«svc»@«ver»
npm error authToken=«S:npm» was rejected
=== ci-log
fatal: unable to access 'https://oauth2:«S:glpat»@gitlab.com/acme/«svc».git/': The requested URL returned error: 403
=== ci-log
      - name: Publish
        run: twine upload dist/*
        env:
          TWINE_USERNAME: __token__
          TWINE_PASSWORD: «S:pypi»
=== ci-log
sonar-scanner -Dsonar.projectKey=«svc» -Dsonar.token=«S:sonar» -Dsonar.host.url=https://sonar.acme.io
=== ci-log
[Pipeline] sh
+ curl -s -u admin:«S:pwu» -T target/«svc»-«ver».jar https://nexus.acme.io/repository/releases/
=== curl
curl https://api.openai.com/v1/chat/completions -H "Authorization: Bearer «S:openai»" -H "Content-Type: application/json" -d '{"model":"gpt-4o","messages":[{"role":"user","content":"«svc»"}]}'
=== curl
curl https://api.anthropic.com/v1/messages \
  --header "x-api-key: «S:anthropic»" \
  --header "anthropic-version: 2023-06-01" \
  --data '{"max_tokens": «int»}'
=== curl
curl https://api.stripe.com/v1/charges -u «S:stripe_short»: -d amount=«big» -d currency=usd
=== curl
curl -H "Authorization: token «S:ghfine»" https://api.github.com/repos/acme/«svc»/issues
=== curl
curl --header "PRIVATE-TOKEN: «S:glpat»" "https://gitlab.acme.io/api/v4/projects/«int»/pipelines"
=== curl
curl -X POST -H 'Content-type: application/json' --data '{"text":"deploy of «svc» done"}' https://hooks.slack.com/services/«S:slackhook»
=== curl
curl -X POST "https://api.telegram.org/bot«S:telegram»/sendMessage" -d chat_id=«big» -d text=hi
=== curl
curl "https://maps.googleapis.com/maps/api/geocode/json?address=Berlin+«int»&key=«S:aiza»"
=== curl
curl -u elastic:'«S:pw»' -k "https://«ip»:9200/_cat/indices?v"
=== curl
curl -X POST https://acme.eu.auth0.com/oauth/token -d grant_type=client_credentials -d client_id=«gid» -d client_secret=«S:u64» -d audience=https://api.acme.io
=== curl
http POST :«port»/api/login username=admin password='«S:pw»'
=== curl
curl -H "X-Api-Key: «S:rnd40»" https://api.acme.io/v2/«svc»
=== curl
curl -H "Authorization: Basic «S:basic»" https://«host»/api/health
=== curl
wget --user=backup --password=«S:pwy» ftp://«ip»/dump.sql.gz
=== curl
curl -s -XPOST https://discord.com/api/webhooks/«acct»«big»/«S:discordhook» -d '{"content":"build «int» ok"}'
=== curl
curl -H "X-Vault-Token: «S:vault»" https://vault.acme.io/v1/secret/data/«svc»
=== curl
curl -X PATCH https://api.airtable.com/v0/app/«svc» -H "Authorization: Bearer «S:airtable»"
=== curl
curl 'https://api.acme.io/v1/reports?access_token=«S:rnd48»&page=«int»'
=== shell
mysql -h «ip» -u root -p'«S:pw»' «svc» < dump.sql
=== shell
PGPASSWORD='«S:pw»' psql -h «ip» -U app -d «svc» -c 'select 1'
=== shell
sshpass -p '«S:pw»' ssh root@«ip» uptime
=== shell
echo '«S:pw»' | sudo -S systemctl restart «svc»
=== shell
redis-cli -h «ip» -a «S:pwy» info memory
=== shell
mongosh "mongodb://root:«S:pwu»@«ip»:27017/admin" --eval 'db.stats()'
=== shell
az login --service-principal -u «uuid» -p «S:azclient» --tenant «uuid»
=== shell
git clone https://«S:ghp»@github.com/acme/«svc».git
=== shell
flyctl auth token
FlyV1 «S:flyio»
=== shell
tailscale up --authkey=«S:tailscale» --hostname=«svc»
=== shell
aws configure set aws_secret_access_key «S:aws» --profile «svc»
=== shell
keytool -importkeystore -srckeystore «svc».p12 -srcstorepass «S:pwy» -destkeystore app.jks -deststorepass «S:pwy»
=== shell
openssl pkcs12 -in «svc».pfx -nodes -passin pass:«S:pwy» -out out.pem
=== shell
gh secret set OPENAI_API_KEY --body "«S:openai_old»" --repo acme/«svc»
=== shell
ALTER USER «svc» WITH PASSWORD '«S:pw»';
=== shell
CREATE USER 'app'@'%' IDENTIFIED BY '«S:pw»';
GRANT SELECT ON «svc».* TO 'app'@'%';
=== shell
htpasswd -b /etc/nginx/.htpasswd «name» «S:pwy»
=== shell
vault kv put secret/«svc» api_key=«S:rnd40» password=«S:pwy»
=== shell
docker run -d --name «svc» -e POSTGRES_PASSWORD=«S:pwy» -e POSTGRES_DB=app -p «port»:5432 postgres:15
=== shell
cat > .env <<'XX'
PORT=«port»
FIGMA_TOKEN=«S:figma»
DATABRICKS_TOKEN=«S:dapi»
XX
=== chat-en
ok the root password on «host» is «S:pw» , try again
=== chat-en
my openai key is «S:openai» can you put it in the config for me?
=== chat-en
Use this token: «S:ghp»
=== chat-en
login is «name»@acme.io / password: «S:pw»
=== chat-en
here's the stripe key «S:stripe_test» it's the test one so should be fine
=== chat-en
I changed the DB password to «S:pw» yesterday. Does «svc» pick that up without a restart?
=== chat-en
just hardcode it for now: api key = «S:rnd32»
=== chat-en
The wifi password in the office is «S:wifi», the printer is at «ip»
=== chat-en
User: it says 401 from «svc»
Assistant: Which token are you using?
User: «S:glpat»
Assistant: That token has no api scope.
=== chat-en
Assistant: To continue I need the database password for «svc». Could you set it in .env?
User: password is «S:pw»
Assistant: Thanks, connecting now.
=== chat-en
user: what's the sudo password again
agent: You told me earlier: the sudo password is "«S:pw»".
user: right, run apt upgrade on «host»
=== chat-en
Human: sign in as qa+«int»@acme.io with passphrase `«S:pw»` and check the cart
=== chat-en
pls rotate this one, I leaked it in the PR: «S:xoxb»
=== chat-en
btw the 2FA seed for the shared «svc» account: secret key «S:totp»
=== chat-en
pwd: «S:pw»
user: «name»
host: «host»
=== chat-en
| env | user | password |
|---|---|---|
| staging | «svc» | «S:pw» |
=== chat-de
Das Passwort für den «svc»-Server lautet «S:pw», bitte nicht weitergeben.
=== chat-de
Ich hab das Kennwort auf «S:pw» geändert, klappt der Login auf «host» jetzt?
=== chat-de
Zugangsdaten: Benutzer «name», Passwort: «S:pw»
=== chat-de
nimm den API-Schlüssel «S:aiza» und probier «svc» nochmal
=== chat-fr
Le mot de passe de la base «svc» est «S:pw», tu peux relancer ?
=== chat-fr
mdp : «S:pw»
identifiant : «name»
=== chat-fr
Voici la clé API : «S:anthropic». Ajoute-la dans le fichier de «svc».
=== chat-es
La contraseña del usuario «name» es «S:pw», entra y revisa los logs.
=== chat-es
contraseña: «S:pw»
servidor: «host»
=== chat-es
usa este token de GitHub «S:ghp» para clonar «svc»
=== chat-pt
A senha do banco de «svc» é «S:pw», pode testar?
=== chat-pt
senha: «S:pw»
usuário: «name»
=== chat-it
La password di «svc» è «S:pw», prova ad accedere.
=== chat-nl
Het wachtwoord van «host» is «S:pw», probeer het nog eens.
=== chat-pl
Hasło do bazy «svc» to «S:pw», spróbuj jeszcze raz.
=== chat-pl
hasło: «S:pw»
login: «name»
=== chat-ru
Пароль от сервера «host»: «S:pw»
=== chat-ru
пароль для «svc» — «S:pw», зайди и проверь логи
=== chat-uk
Пароль до бази «svc»: «S:pw», перевір підключення
=== chat-tr
«svc» sunucusunun şifresi: «S:pw» tekrar dener misin?
=== chat-cs
Heslo k databázi «svc» je «S:pw», zkus to znovu.
=== chat-sv
Lösenordet till «host» är «S:pw», testa igen.
=== chat-id
kata sandi server «svc»: «S:pw» tolong dicek ya
=== chat-vi
Mật khẩu của «svc» là: «S:pw» bạn thử lại nhé
=== chat-ar
كلمة المرور الخاصة بـ «svc» هي: «S:pw»
=== chat-hi
«svc» सर्वर का पासवर्ड है: «S:pw»
=== chat-el
Ο κωδικός πρόσβασης για «svc» είναι: «S:pw»
=== chat-he
הסיסמה של «svc» היא: «S:pw»
=== chat-zh
数据库密码是«S:pw»,你再试一下«svc»
=== chat-zh
密码：«S:pw»
用户名：«name»
=== chat-zh
我把root密码改成«S:pw»了，重启«svc»看看
=== chat-zh
这个令牌«S:ghp»已经过期了，帮我换«svc»的
=== chat-zh
用我的key：«S:deepseek»。先跑«svc»的测试
=== chat-zh
資料庫的密碼是「«S:pw»」，請幫我設定到 «svc» 的設定檔
=== chat-ja
«svc»のパスワードは«S:pw»です。もう一度試してください。
=== chat-ja
パスワード：«S:pw»
ユーザー：«name»
=== chat-ja
APIキーは«S:openai»なので、«svc»の.envに入れておいて
=== chat-ja
トークン「«S:glpat»」で«svc»をcloneして
=== chat-ko
«svc» 비밀번호는 «S:pw» 입니다. 다시 시도해 주세요.
=== chat-ko
비밀번호: «S:pw»
아이디: «name»
=== chat-ko
토큰«S:xoxb»을 써서 «svc» 채널에 알림 보내줘
=== code
from openai import OpenAI

client = OpenAI(api_key="«S:openai»", timeout=«int»)
=== code
import boto3
s3 = boto3.client("s3", aws_access_key_id="«akid»", aws_secret_access_key="«S:aws»", region_name="eu-west-1")
=== code
conn = psycopg2.connect(host="«ip»", dbname="«svc»", user="app", password="«S:pw»")
=== code
const stripe = require('stripe')('«S:stripe»');
app.listen(«port»);
=== code
const client = new Client({
  host: '«ip»',
  user: 'app',
  password: '«S:pw»',
  port: 5432,
});
=== code
const token = "«S:ghp»";
const octokit = new Octokit({ auth: token, userAgent: "«svc»" });
=== code
fetch(`https://api.acme.io/«svc»`, {
  headers: { Authorization: `Bearer ${'«S:jwt»'}` },
});
=== code
jwt.sign({ id: user.id }, '«S:rnd32»', { expiresIn: '«int»h' }); // const JWT_SECRET = '«S:rnd40»'
=== code
export const config: AppConfig = {
  apiBase: "https://«host»",
  apiKey: "«S:rnd32»",
  clientSecret: "«S:u40»",
};
=== code
package main

const apiToken = "«S:dop»"

var dsn = "host=«ip» user=app password=«S:pwy» dbname=«svc» sslmode=disable"
=== code
let client = SlackClient::new("«S:xoxb»");
let db_password: &str = "«S:pw»";
let workers = «int»;
=== code
private static final String API_KEY = "«S:sendgrid»";
private static final int TIMEOUT = «big»;
=== code
DriverManager.getConnection("jdbc:mysql://«ip»:3306/«svc»", "root", "«S:pw»"); // String dbPassword = "«S:pw»";
=== code
var client = new SmtpClient("smtp.acme.io", «port») {
    Credentials = new NetworkCredential("robot", "«S:pw»")
};
=== code
$mail->Host = 'smtp.acme.io';
$mail->Username = '«name»';
$mail->Password = '«S:pw»';
=== code
Twilio::REST::Client.new("AC«md5»", auth_token = "«S:hex32»")
=== code
val apiKey = "«S:aiza»"
val retrofit = Retrofit.Builder().baseUrl("https://«host»/").build()
=== code
let apiSecret = "«S:rnd40»"
URLSession.shared.configuration.timeoutIntervalForRequest = «int»
=== code
static const char *WIFI_SSID = "lab«int»";
static const char *WIFI_PASSWORD = "«S:wifi»";
=== code
options(openai_key = "«S:openai_old»")
con <- DBI::dbConnect(RPostgres::Postgres(), host = "«ip»", user = "r", password = "«S:pw»")
=== code
config :«svc», Acme.Repo,
  username: "app",
  password: "«S:pw»",
  secret_key_base: "«S:rnd48»"
=== code
bot = telebot.TeleBot('«S:telegram»')
bot.infinity_polling(timeout=«int»)
=== code
-    password = os.environ["DB_PASSWORD"]
+    password = "«S:pw»"
     pool_size = «int»
=== code
diff --git a/.env b/.env
index «sha7»..«hex8» 100644
-JWT_SECRET=«S:rnd32»
+JWT_SECRET=«S:rnd40»
=== code
wb = Workbook(); ws.cell(«int», 1)
genai.configure(api_key='«S:aiza»')
=== code
storage = BlobServiceClient.from_connection_string("DefaultEndpointsProtocol=https;AccountName=«svc»;AccountKey=«S:azstore»;EndpointSuffix=core.windows.net")
=== key
-----BEGIN RSA PRIVATE KEY-----
«S:rsa_body»
-----END RSA PRIVATE KEY-----
=== key
cat ~/.ssh/id_ed25519
«S:pem_openssh»
«name»@«host»:~$
=== key
«S:pem_pkcs8»
=== key
tls.key:
«S:pem_ec»
and the port is «port»
=== key
«S:pem_enc»
=== key
gpg --export-secret-keys --armor «name»@acme.io
«S:pem_pgp»
=== key
{
  "type": "service_account",
  "project_id": "«proj»",
  "private_key_id": "«sha40»",
  "private_key": "«S:pemj_pkcs8»\n",
  "client_email": "robot@«proj».iam.gserviceaccount.com"
}
=== key
GITHUB_APP_PRIVATE_KEY="«S:pemj_rsa»"
APP_ID=«big»
=== key
data:
  ssh_key: |
    «S:pem4_openssh»
  host: «host»
=== key
User: deploy key for «svc» doesn't work
Assistant: Please paste the error (not the key).
User: «S:pem_openssh»
this is what I have in ~/.ssh
=== key
# created: «iso»
# public key: age1qq
«S:age»
=== tool-output
$ cat .env
NODE_ENV=production
PORT=«port»
DATABASE_URL=postgres://app:«S:pwu»@«ip»/«svc»
STRIPE_SECRET_KEY=«S:stripe»
SENTRY_ENVIRONMENT=prod
=== tool-output
$ env | sort
HOME=/home/«name»
LANG=C.UTF-8
NPM_TOKEN=«S:npm»
PATH=/usr/local/bin:/usr/bin
PWD=/srv/«svc»
VAULT_TOKEN=«S:vault»
=== tool-output
$ git remote -v
origin	https://«name»:«S:ghp»@github.com/acme/«svc».git (fetch)
=== tool-output
$ git remote -v
origin  https://x-token-auth:«S:bitbucket»@bitbucket.org/acme/«svc».git (push)
=== tool-output
$ aws sts assume-role --role-arn arn:aws:iam::«acct»:role/«svc»
{
  "Credentials": {
    "AccessKeyId": "«asia»",
    "SecretAccessKey": "«S:aws»",
    "SessionToken": "«S:awssess»",
    "Expiration": "«iso»"
  }
}
=== tool-output
$ aws iam create-access-key --user-name «svc»
{ "AccessKey": { "UserName": "«svc»", "Status": "Active", "SecretAccessKey": "«S:aws»", "CreateDate": "«iso»" } }
=== tool-output
$ aws secretsmanager get-secret-value --secret-id «svc»/db
{
    "Name": "«svc»/db",
    "SecretString": "{\"username\":\"app\",\"password\":\"«S:rnd24»\"}",
    "CreatedDate": "«iso»"
}
=== tool-output
$ aws ecr get-login-password
docker login --username AWS --password «S:jwt» «acct».dkr.ecr.eu-west-1.amazonaws.com
=== tool-output
$ gcloud auth print-access-token
«S:ya29»
=== tool-output
$ cat ~/.config/gcloud/application_default_credentials.json
{
  "client_id": "«acct»-abc.apps.googleusercontent.com",
  "client_secret": "«S:gocspx»",
  "refresh_token": "«S:grefresh»",
  "type": "authorized_user"
}
=== tool-output
$ az ad sp create-for-rbac -n «svc»
{
  "appId": "«uuid»",
  "displayName": "«svc»",
  "password": "«S:azclient»",
  "tenant": "«uuid»"
}
=== tool-output
$ az storage account keys list -n «svc»store
[
  {
    "keyName": "key1",
    "permissions": "FULL",
    "value": "«S:azstore»"
  }
]
=== tool-output
$ docker inspect «svc»
            "Env": [
                "PATH=/usr/local/sbin:/usr/local/bin",
                "REDIS_PASSWORD=«S:pwy»",
                "SLACK_BOT_TOKEN=«S:xoxb»",
                "TZ=Europe/Berlin"
            ],
=== tool-output
$ heroku config -a «svc»
=== «svc» Config Vars
DATABASE_URL:      postgres://u1a:«S:pwu»@ec2-«int».compute-1.amazonaws.com:5432/d1
SENDGRID_API_KEY:  «S:sendgrid»
=== tool-output
$ doppler secrets --json
{"API_KEY":{"computed":"«S:rnd40»"},"DOPPLER_TOKEN":{"computed":"«S:doppler»"},"PORT":{"computed":"«port»"}}
=== tool-output
{"access_token":"«S:jwt»","token_type":"Bearer","expires_in":3600,"refresh_token":"«S:u64»","scope":"«svc».read"}
=== tool-output
HTTP/1.1 200 OK
Content-Type: application/json
X-Request-Id: «uuid»

{"access_token": "«S:gho»", "scope": "repo,gist", "token_type": "bearer"}
=== tool-output
POST /oauth/token HTTP/1.1
Host: «host»
Content-Type: application/x-www-form-urlencoded

grant_type=password&username=«name»&password=«S:rnd20»&client_id=web
=== tool-output
> GET /v1/«svc» HTTP/2
> Host: api.acme.io
> authorization: Bearer «S:jwt»
> user-agent: curl/8.5.0
< HTTP/2 401
=== tool-output
< HTTP/1.1 200 OK
< Set-Cookie: session_token=«S:u64»; Path=/; HttpOnly; Secure
< X-Runtime: 0.«int»
=== tool-output
{"id": «big», "name": "«svc»", "plan": "pro", "api_key": "«S:rnd32»", "created_at": "«iso»"}
=== tool-output
{
  "id": "we_«chunk»",
  "object": "webhook_endpoint",
  "livemode": true,
  "secret": "«S:whsec»",
  "url": "https://«host»/hooks"
}
=== tool-output
Traceback (most recent call last):
  File "/srv/«svc»/db.py", line «line», in connect
    raise OperationalError(msg)
sqlalchemy.exc.OperationalError: could not connect: postgresql://app:«S:pwu»@«ip»:5432/app
=== tool-output
«iso» DEBUG [«svc»] outgoing headers={'Authorization': 'Bearer «S:rnd48»', 'Accept': '*/*'}
=== tool-output
«iso» ERROR «svc»: login failed payload={"email":"«name»@acme.io","password":"«S:pw»"}
=== tool-output
openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: «S:openai_old». You can find your API key at https://platform.openai.com/account/api-keys.', 'code': 'invalid_api_key'}}
=== tool-output
  id |  email          | api_token
-----+-----------------+------------------------------------------
 «int» | «name»@acme.io  | «S:rnd40»
(1 row)
=== tool-output
app=> select value from settings where key = 'smtp_password';
 smtp_password = «S:pw»
(1 row, «ms»)
=== tool-output
Your new API token for «svc» (it will not be shown again):

    «S:apitok64»
=== tool-output
https://acme«int».blob.core.windows.net/backups/db.bak?sv=2024-11-04&ss=b&srt=sco&sp=r&se=2027-01-01T00:00:00Z&sig=«S:azsig»
=== tool-output
[terraform output]
db_endpoint = "«host»:5432"
db_password = "«S:pw»"
grafana_token = "«S:glsa»"
=== tool-output
Initial admin password for «svc»: «S:rnd20»
=== tool-output
Key                Value
---                -----
token              «S:vault»
token_accessor     «gid»
token_duration     768h
=== tool-output
npm config ls -l | grep auth
//npm.pkg.github.com/:_authToken = "«S:ghp»"
; node version = v«ver»
=== tool-output
Writing /home/«name»/.git-credentials
https://«name»:«S:glpat»@gitlab.acme.io
=== tool-output
[«iso»] webhook.received url=https://«host»/hook?token=«S:rnd32» status=200
=== mcp-json
{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "«S:ghfine»", "PORT": "«port»" }
    }
  }
}
=== mcp-json
[mcp_servers.notion]
command = "npx"
env = { NOTION_API_KEY = "«S:notion»", LOG = "«svc».log" }
=== mcp-json
{"role":"tool","tool_call_id":"call_«chunk»","content":"LINEAR_API_KEY=«S:linear»\nTEAM=ENG\n"}
=== mcp-json
{"type":"tool_use","name":"bash","input":{"command":"export HF_TOKEN=«S:hf» && python train_«svc».py"}}
=== mcp-json
{"type":"tool_result","content":"{\"status\":\"ok\",\"client_secret\":\"«S:rnd40»\",\"id\":«int»}"}
=== mcp-json
{"id":"«uuid»","name":"n8n «svc»","type":"postmanApi","data":{"apiKey":"«S:postman»"}}
=== private
<private>«S:private»</private>
=== private
Please fix the «svc» test. <private>«S:private»</private> Then push.
=== private
notes for today:
- review «svc»
<private>
«S:private»
</private>
- answer «name»
=== private
今天先修«svc»<private>«S:private»</private>然后再部署
=== long
«prose»

Anyway, I put the key in there: OPENAI_API_KEY=«S:openai» so you can try it.

«prose12»
=== long
«logs25»
«iso» DEBUG [config] loaded DB_PASSWORD=«S:pwy» from /srv/app/.env
«logs25»
=== long
«prose»

```python
«code»
API_TOKEN = "«S:rnd40»"
«code»
```

«prose»
=== long
«prose12»
Das Passwort für die Datenbank ist «S:pw» und der Port ist «port».
«prose12»
=== long
«logs»
«iso» ERROR [http] request failed: GET https://api.acme.io/v1/x?api_key=«S:rnd32»&limit=10 -> 500
«logs»
Can you see why? «prose»
=== long
User: here is the whole file
```yaml
«logs5»
  smtp:
    host: smtp.acme.io
    username: robot
    password: "«S:pw»"
```
Assistant: «prose»
User: «prose2»
=== long
«prose»

ssh -i key root@«ip», key below

«S:pem_openssh»

«prose12»
=== long
«code»
«code»
# TODO remove before commit
client = Anthropic(api_key="«S:anthropic»")
«code»
«prose»
=== long
«prose12» 数据库的密码是«S:pw»，改完告诉我。 «prose12»
=== long
Tool output:
«logs25»
+ git push https://x-access-token:«S:ghs»@github.com/acme/«svc».git HEAD:main
«logs»
=== long
Human: «prose»
Assistant: «prose2» What is the token for the registry?
Human: «S:npm»
Assistant: «prose»
Human: «prose2»
"""

NEGATIVE_FRAMES = r"""
=== prose-password
I forgot my password for «svc», where can I reset it?
=== prose-password
The password must be at least «int» characters long and contain a digit.
=== prose-password
We should hash the password with argon2 before writing it to the «svc» table.
=== prose-password
The user changes the password, then the session of «svc» is invalidated.
=== prose-password
password is required when you sign in to «svc»
=== prose-password
Is the password stored in «svc» or in Vault?
=== prose-password
Don't paste the password here, put it in the secret store of «svc» instead.
=== prose-password
I won't tell you the password, ask «name».
=== prose-password
The password field in the «svc» form is not focused on load.
=== prose-password
Why does «svc» ask for a password twice?
=== prose-password
«name» says the password expired «int» days ago and has to be rotated.
=== prose-password
Passwordless login for «svc» is planned for Q3; passkeys first.
=== prose-password
The password: how long should it be, and who sets it for «svc»?
=== prose-password
add a "show password" toggle to the login dialog of «svc»
=== prose-password
Password reset mails of «svc» land in spam since Tuesday.
=== prose-password
My password manager doesn't recognise the «svc» page because the inputs have no autocomplete attribute.
=== prose-password
password: see 1Password, vault "«svc»"
=== prose-password
The admin password is set by the installer of «svc», we never see it.
=== prose-password
password=required, username=required, the rest of the «svc» form is optional
=== prose-token
The context window is «big» tokens, the prompt uses «int» of them.
=== prose-token
Your token has expired, log in to «svc» again.
=== prose-token
The token bucket of «svc» refills at «int» tokens per second.
=== prose-token
The tokenizer splits «svc» into two tokens.
=== prose-token
Where do I get an API key for «prov»?
=== prose-token
You need a «prov» token with the repo scope; set it as an environment variable.
=== prose-token
The access token lives «int» minutes, the refresh token 30 days.
=== prose-token
The API key for «prov» is missing in staging, that's why we get 401.
=== prose-token
The secret to fast builds is a warm cache; «svc» takes «int» seconds now.
=== prose-token
Never commit secrets. Use the «prov» secret manager and reference it from CI.
=== prose-token
token: the smallest unit the lexer of «svc» returns
=== prose-token
The key insight is that «svc» never blocks while the writer holds the lock.
=== prose-token
The «svc» token validation lives in auth/middleware.py line «line».
=== prose-token
I rotated the «prov» credentials this morning, «name» has the new ones.
=== prose-token
The private key stays on the HSM, only the public key of «svc» is exported.
=== prose-token
Bearer tokens are sent in the Authorization header; «svc» checks the signature.
=== prose-token
Use Basic auth for «svc» in the local setup only.
=== prose-token
Bearer authentication is not supported by «svc» v«ver».
=== prose-lang
Das Passwort muss mindestens «int» Zeichen lang sein.
=== prose-lang
Ich habe mein Passwort für «svc» vergessen, wie setze ich es zurück?
=== prose-lang
Das Passwort ist abgelaufen, bitte in «svc» neu setzen.
=== prose-lang
Der Schlüssel von «svc» liegt im Tresor, nicht im Repository.
=== prose-lang
Le mot de passe est obligatoire pour «svc».
=== prose-lang
J'ai oublié mon mot de passe, le lien de «svc» ne marche plus.
=== prose-lang
La contraseña debe tener al menos «int» caracteres.
=== prose-lang
La contraseña es incorrecta según «svc», ¿qué hago?
=== prose-lang
A senha expirou, peça uma nova em «svc».
=== prose-lang
La password è obbligatoria in «svc».
=== prose-lang
Het wachtwoord is verlopen, vraag «name» om een nieuw.
=== prose-lang
Hasło musi mieć co najmniej «int» znaków.
=== prose-lang
Пароль должен содержать не менее «int» символов.
=== prose-lang
Я забыл пароль от «svc», как его сбросить?
=== prose-lang
Пароль не может быть пустым, проверь форму «svc».
=== prose-lang
Şifre en az «int» karakter olmalı.
=== prose-lang
密码长度不能少于«int»位。
=== prose-lang
密码错误，请重新登录«svc»。
=== prose-lang
忘记密码怎么办？«svc»没有重置按钮。
=== prose-lang
请不要把密码写进«svc»的代码里，用环境变量。
=== prose-lang
«svc»的密钥放在哪里？
=== prose-lang
パスワードは«int»文字以上にしてください。
=== prose-lang
パスワードを忘れた場合は«svc»の管理者に連絡してください。
=== prose-lang
トークンの有効期限は«int»分です。
=== prose-lang
パスワードは環境変数から読み込みます（«svc»）。
=== prose-lang
비밀번호는 «int»자 이상이어야 합니다.
=== prose-lang
비밀번호를 잊어버렸어요. «svc»에서 어떻게 재설정하나요?
=== prose-lang
Mật khẩu phải có ít nhất «int» ký tự.
=== prose-lang
كلمة المرور مطلوبة لتسجيل الدخول إلى «svc»
=== prose-lang
«svc» के लिए पासवर्ड ज़रूरी है
=== prose-lang
Lösenordet måste vara minst «int» tecken.
=== prose-lang
Heslo musí mít alespoň «int» znaků.
=== env-ref
«env»=${«env»}
=== env-ref
os.environ["«env»"]
=== env-ref
key = os.getenv("«env»")
if not key:
    raise SystemExit("«env» is not set")
=== env-ref
const apiKey = process.env.«env»;
=== env-ref
apiKey: process.env.«env» ?? '',
=== env-ref
password: process.env["«env»"]!,
=== env-ref
api_key=os.environ.get("«env»", "")
=== env-ref
let token = std::env::var("«env»").expect("«env» not set");
=== env-ref
token := os.Getenv("«env»")
=== env-ref
String password = System.getenv("«env»");
=== env-ref
var secret = Environment.GetEnvironmentVariable("«env»");
=== env-ref
$password = getenv('«env»');
=== env-ref
'password' => env('DB_PASSWORD', ''), // «svc»
=== env-ref
password: ENV.fetch("«env»")
=== env-ref
password: <%= ENV["«env»"] %>
=== env-ref
      POSTGRES_PASSWORD: ${«env»:?required}
=== env-ref
      - «env»=${«env»:-}
=== env-ref
environment:
  - «env»
  - TZ=Europe/Berlin
=== env-ref
spring.datasource.password=${DB_PASSWORD}
server.port=«port»
=== env-ref
password: ${«env»:#{null}}
=== env-ref
curl -H "Authorization: Bearer $«env»" https://api.acme.io/«svc»
=== env-ref
curl -H "x-api-key: ${«env»}" https://«host»/v1
=== env-ref
curl -u "$USER:$PASSWORD" https://«host»/health
=== env-ref
PGPASSWORD=$PGPASSWORD psql -h «ip» -U app
=== env-ref
docker login -u acme --password-stdin < ~/.docker/«svc».txt
=== env-ref
docker run -e «env» -p «port»:80 acme/«svc»
=== env-ref
export «env»=$(op read "op://infra/«svc»/credential")
=== env-ref
export «env»="$(aws secretsmanager get-secret-value --secret-id «svc» --query SecretString --output text)"
=== env-ref
«env»=$(vault kv get -field=value secret/«svc»)
=== env-ref
TOKEN=$(gcloud auth print-access-token); echo "${#TOKEN} chars for «svc»"
=== env-ref
        env:
          «env»: ${{ secrets.«env» }}
=== env-ref
        with:
          token: ${{ secrets.GITHUB_TOKEN }}
          repository: acme/«svc»
=== env-ref
          password: ${{ steps.login-«svc».outputs.docker_password }}
=== env-ref
password = var.«svc»_db_password
=== env-ref
  password = random_password.«svc».result
=== env-ref
  api_token = data.vault_generic_secret.«svc».data["token"]
=== env-ref
variable "«svc»_password" {
  type      = string
  sensitive = true
}
=== env-ref
password: "{{ vault_«svc»_password }}"
=== env-ref
ansible_become_password: "{{ lookup('env', '«env»') }}"
=== env-ref
password: {{ .Values.«svc».password | b64enc | quote }}
=== env-ref
        - name: «env»
          valueFrom:
            secretKeyRef:
              name: «svc»
              key: password
=== env-ref
        envFrom:
        - secretRef:
            name: «svc»-secrets
=== env-ref
DATABASE_URL=postgresql://${DB_USER}:${DB_PASSWORD}@«host»:5432/app
=== env-ref
dsn = f"postgresql://{user}:{password}@{host}:«port»/«svc»"
=== env-ref
url: `mongodb+srv://${user}:${encodeURIComponent(pass)}@«host»/app`
=== env-ref
git remote set-url origin https://x-access-token:${GITHUB_TOKEN}@github.com/acme/«svc».git
=== env-ref
set DB_PASSWORD=%DB_PASSWORD%
set APP=«svc»
=== env-ref
$env:«env» = $secret
=== env-ref
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
# «svc»
=== env-ref
password: !Ref «svc»Password
=== env-ref
MasterUserPassword: '{{resolve:secretsmanager:«svc»/db:SecretString:password}}'
=== env-ref
"password": "@Microsoft.KeyVault(SecretUri=https://acme.vault.azure.net/secrets/«svc»)"
=== env-ref
api_key = st.secrets["«env»"]
=== env-ref
token = keyring.get_password("«svc»", "«name»")
=== env-ref
password = getpass.getpass("Password for «svc»: ")
=== env-ref
read -s -p "Password for «svc»: " PASSWORD
=== env-ref
secret: file:/run/secrets/«svc»_password
=== env-ref
POSTGRES_PASSWORD_FILE=/run/secrets/«svc»_password
=== env-ref
GOOGLE_APPLICATION_CREDENTIALS=/etc/«svc»/sa.json
=== env-ref
secrets:
  db_password:
    file: ./secrets/«svc».txt
=== placeholder
OPENAI_API_KEY=your-api-key-here
APP=«svc»
=== placeholder
«env»=
PORT=«port»
=== placeholder
«env»=<your-key>
=== placeholder
«env»=changeme
=== placeholder
export «env»="..."
=== placeholder
«env»=xxxxxxxxxxxxxxxx
=== placeholder
«env»=«stars»
=== placeholder
STRIPE_SECRET_KEY=sk_test_xxxxxxxxxxxxxxxxxxxxxxxx
# «svc»
=== placeholder
OPENAI_API_KEY=sk-...
MODEL_SERVICE=«svc»
=== placeholder
Set OPENAI_API_KEY=sk-xxxxxxxx in the .env of «svc».
=== placeholder
ANTHROPIC_API_KEY=sk-ant-your-key-here
# used by «svc»
=== placeholder
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
# «svc»
=== placeholder
SLACK_BOT_TOKEN=xoxb-your-token-here
SLACK_CHANNEL=#«svc»
=== placeholder
curl -H "Authorization: Bearer YOUR_API_KEY" https://api.acme.io/«svc»
=== placeholder
curl -H "Authorization: Bearer <token>" https://«host»/v1
=== placeholder
curl -H 'X-API-Key: <API_KEY>' https://«host»/v1
=== placeholder
-H "Authorization: Token {token}" https://«host»/
=== placeholder
postgresql://USER:PASSWORD@HOST:«port»/DATABASE
=== placeholder
mongodb+srv://<username>:<password>@cluster0.mongodb.net/«svc»
=== placeholder
redis://:<password>@«host»:6379/0
=== placeholder
password: <redacted>
user: «name»
=== placeholder
password: [REDACTED]
host: «host»
=== placeholder
DB_PASSWORD=<hidden> DB_HOST=«host»
=== placeholder
"password": "********", "user": "«name»"
=== placeholder
"api_key": "YOUR_API_KEY", "service": "«svc»"
=== placeholder
client_secret: "<YOUR_CLIENT_SECRET>"
client_id: "<YOUR_CLIENT_ID>" # «svc»
=== placeholder
apiKey: 'INSERT_API_KEY_HERE', // «svc»
=== placeholder
api_key = "REPLACE_ME"  # «svc»
=== placeholder
password = "TODO"  # «svc», ask «name»
=== placeholder
token: "<paste your token here>"  # «svc»
=== placeholder
token: null
service: «svc»
=== placeholder
password: ""
username: «name»
=== placeholder
password=None, user="«name»"
=== placeholder
password: undefined, host: "«host»"
=== placeholder
secret: false  # «svc»
=== placeholder
-e MYSQL_ROOT_PASSWORD=my-secret-pw -p «port»:3306
=== placeholder
mysql -u root -p «svc» < dump.sql
=== placeholder
Login with username `<user>` and password `<password>` on «host».
=== placeholder
-----BEGIN PRIVATE KEY-----
...
-----END PRIVATE KEY-----
(paste the key of «svc» here)
=== placeholder
PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----\n<your key>\n-----END RSA PRIVATE KEY-----" # «svc»
=== placeholder
请把 API_KEY=你的密钥 写到«svc»的.env里
=== placeholder
password: dein-passwort-hier
server: «host»
=== placeholder
OPENAI_API_KEY=<あなたのAPIキー>
APP=«svc»
=== doc-key
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
region = eu-west-«int»
=== doc-key
The docs use AKIAIOSFODNN7EXAMPLE as the sample id, «svc» copies that in test «int».
=== doc-key
AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
APP=«svc»
=== doc-key
eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c is the sample of jwt.io («svc» docs)
=== doc-key
curl https://api.stripe.com/v1/charges -u sk_test_4eC39HqLyjWDarjtT1zdp7dc: -d amount=«big»
=== hash
commit «sha40»
Author: «name» <«name»@acme.io>
Date:   Mon Mar 2 10:11:12 2026 +0100

    fix(«svc»): rotate token on logout
=== hash
index «sha7»..«hex8» 100644
--- a/«svc»/auth.py
+++ b/«svc»/auth.py
=== hash
«sha7» («name») add password reset to «svc»
=== hash
HEAD is now at «sha7» refactor token parser of «svc»
=== hash
   «sha7»..«hex8»  main -> main (acme/«svc»)
=== hash
sha256:«sha256»
=== hash
Digest: sha256:«sha256»
Status: Downloaded newer image for acme/«svc»:latest
=== hash
FROM python:3.11-slim@sha256:«sha256»
=== hash
«sha256»  «svc»-«ver».tar.gz
=== hash
MD5 («svc».iso) = «md5»
=== hash
      "integrity": "«sri»",
      "engines": { "node": ">=18" }
=== hash
  resolved "https://registry.yarnpkg.com/jsonwebtoken/-/jsonwebtoken-«ver».tgz#«sha40»"
  integrity «sri»
=== hash
passwd-strength@^«ver»:
  version "«ver»"
  integrity «sri»
=== hash
<script src="https://cdn.acme.io/«svc».min.js" integrity="«sri384»" crossorigin="anonymous"></script>
=== hash
checksum = "«sha256»"
=== hash
    --hash=sha256:«sha256» \
    --hash=sha256:«sha256»
=== hash
golang.org/x/crypto v«ver» h1:«b44»
=== hash
etag: "«md5»"
last-modified: Mon, 02 Mar 2026 10:11:12 GMT
=== hash
cache-key: «svc»-«sha256»
=== hash
Cache restored from key: Linux-node-«sha256»
=== hash
down_revision = "«hex12»"
revision = "«hex12»"
=== hash
"contentHash": "«md5»", "file": "«svc».css"
=== hash
dist/assets/index-«chunk».js   «int».12 kB │ gzip: 48.«int» kB
=== hash
content_sha1=«sha40» size=«big»
=== hash
"private_key_id": "«sha40»", "project": "«proj»"
=== hash
nix-prefetch: hash = "sha256-«b44»";
=== hash
blob «sha40» size «int»
=== hash
merge-base: «sha40»
fork point: «sha40»
=== id
request_id=«uuid» path=/v1/«svc» status=401
=== id
"id": "«uuid»", "type": "token.created", "actor": "«name»"
=== id
X-Request-Id: «uuid»
X-Runtime: 0.«int»
=== id
traceparent: 00-«md5»-«hex16»-01
=== id
trace_id=«md5» span_id=«hex16» service=«svc»
=== id
"_id": { "$oid": "«oid»" }, "role": "«svc»"
=== id
INSERT INTO key_owners (id, owner) VALUES ('«uuid»', '«name»');
=== id
AZURE_TENANT_ID=«uuid»
AZURE_SUBSCRIPTION_ID=«uuid»
=== id
arn:aws:secretsmanager:eu-central-1:«acct»:secret:«svc»/db-aB3dEf
=== id
arn:aws:iam::«acct»:role/«svc»-token-rotator
=== id
arn:aws:kms:eu-west-1:«acct»:key/«uuid»
=== id
pod/«pod»   1/1   Running   0   «int»m
=== id
container_id: «sha256»
=== id
CONTAINER ID   IMAGE        COMMAND   STATUS
«hex12»   acme/«svc»   "run"     Up «int» minutes
=== id
vpc-0«hex16» subnet-0«hex16» sg-0«hex16»
=== id
i-0«hex16» is running in eu-central-1a («svc»)
=== id
https://docs.google.com/document/d/1«gid»/edit#heading=h.«svc»
=== id
https://www.youtube.com/watch?v=«yt»
=== id
https://www.figma.com/file/«yt»«yt»/«svc»?node-id=«int»
=== id
event «ulid» processed by «svc» in «ms»
=== id
toolu_01«chunk»«chunk»«chunk» finished in «ms»
=== id
"tool_call_id": "call_«chunk»«chunk»«chunk»", "name": "read_file"
=== id
"id": "chatcmpl-«chunk»«chunk»«chunk»", "object": "chat.completion", "created": «unix»
=== id
{"id":"msg_01«chunk»«chunk»","type":"message","usage":{"input_tokens":«big»,"output_tokens":«int»}}
=== id
"request-id": "«req»", "livemode": false
=== id
run resumed: «uuid» (project «proj»)
=== id
contract deployed at «eth» in tx «tx»
=== id
link/ether «mac» brd ff:ff:ff:ff:ff:ff
=== id
inet6 fe80::«h4»:«h4»:«h4»:«h4»/64 scope link «svc»«int»
=== id
Correlation ID: «uuid»
Timestamp: «iso»
=== id
jira: SEC-«int» "Rotate secrets of «svc»" assigned to «name»
=== id
customer cus_«chunk»«chunk» subscription sub_«chunk»«chunk»
=== id
price_1«chunk»«chunk»«chunk» belongs to prod_«chunk»«chunk»
=== id
TWILIO_ACCOUNT_SID=AC«md5»
=== public-key
«sshpub» «name»@«host»
=== public-key
«sshrsa» «name»@acme.io
=== public-key
~/.ssh/authorized_keys:
«sshpub» deploy-«svc»
=== public-key
«cert»
=== public-key
jwks public key of «svc»:
«pubpem»
=== public-key
ssl_certificate: |
«cert»
=== public-key
The key fingerprint is:
«fpr» «name»@«host»
=== public-key
ED25519 key fingerprint is «fpr».
Are you sure you want to continue connecting (yes/no)?
=== public-key
pub   ed25519 2026-01-02 [SC]
      «pgpfpr»
uid   «name» <«name»@acme.io>
=== public-key
«host» «sshpub»
=== public-key
PublicKey = «b44»
Endpoint = «ip»:51820
=== public-key
{"kty":"RSA","use":"sig","kid":"«md5»","e":"AQAB","n":"«rsan»"}
=== public-key
ssl_certificate_key /etc/nginx/ssl/«svc».key;
=== public-key
Generating public/private ed25519 key pair.
Your identification has been saved in /home/«name»/.ssh/id_ed25519
=== public-key
ssh -i ~/.ssh/«svc».pem ubuntu@«ip»
=== public-key
openssl genrsa -out «svc».key 4096
=== public-key
ssh-keygen -t ed25519 -C "«name»@acme.io" -f ~/.ssh/«svc»
=== public-key
if "-----BEGIN PRIVATE KEY-----" not in text:
    raise ValueError("«svc»: no key")
=== code-auth
def check_password(self, password: str) -> bool:
    return bcrypt.checkpw(password.encode(), self.«svc»_hash)
=== code-auth
password = request.form["password"]
user = User.query.filter_by(name=request.form["«svc»"]).first()
=== code-auth
const { username, password } = req.body; // «svc»
=== code-auth
const token = await getToken({ audience: '«svc»' });
=== code-auth
const token = req.headers.authorization?.split(' ')[1]; // «svc»
=== code-auth
interface «svc»Config { apiKey: string; secret?: string; password: string | null }
=== code-auth
type Credentials = { username: string; password: string; service: "«svc»" };
=== code-auth
password: z.string().min(«int»),
=== code-auth
class «svc»Settings(BaseSettings):
    api_key: SecretStr
    db_password: SecretStr = Field(..., alias="DB_PASSWORD")
=== code-auth
@dataclass
class Auth:
    token: str | None = None
    secret: str = field(repr=False, default="")
    retries: int = «int»
=== code-auth
token = create_access_token(identity=user.id, expires_delta=timedelta(minutes=«int»))
=== code-auth
access_token = response.json()["access_token"]  # «svc»
=== code-auth
headers = {"Authorization": f"Bearer {self.token}", "X-Service": "«svc»"}
=== code-auth
headers: { Authorization: `Bearer ${token}`, 'X-App': '«svc»' }
=== code-auth
req.Header.Set("Authorization", "Bearer "+token) // «svc»
=== code-auth
secret = secrets.token_urlsafe(«int»)
=== code-auth
const secret = crypto.randomBytes(«int»).toString('hex');
=== code-auth
api_key = load_config()["«svc»"]["api_key"]
=== code-auth
api_key = settings.«svc»_api_key
=== code-auth
apiKey: config.get('«svc».apiKey'),
=== code-auth
password: faker.internet.password({ length: «int» }),
=== code-auth
if (!password) return res.status(400).json({ error: 'password required', svc: '«svc»' });
=== code-auth
if password != password_confirmation: errors.append("«svc»: passwords do not match")
=== code-auth
user.password = await hash(password, «int»);
=== code-auth
password_hash = generate_password_hash(password, method="pbkdf2:sha256:«big»")
=== code-auth
hashed_password = Column(String(«int»), nullable=False)
=== code-auth
t.string "encrypted_password", limit: «int», null: false
=== code-auth
CREATE TABLE «svc» (id bigserial primary key, email text, password_hash text not null, token uuid);
=== code-auth
ALTER TABLE «svc» ADD COLUMN reset_token varchar(«int»);
=== code-auth
SELECT id, token, expires_at FROM «svc»_sessions WHERE token = $1 LIMIT «int»;
=== code-auth
UPDATE users SET password = :password WHERE id = «int»;
=== code-auth
parser.add_argument("--password", help="password of «svc»", default=None)
=== code-auth
@click.option("--api-key", envvar="«env»", required=True)
=== code-auth
<input type="password" name="password" id="«svc»-password" autocomplete="current-password">
=== code-auth
<label for="password-«svc»">Password</label>
=== code-auth
<input type="hidden" name="csrf_token" value="{{ csrf_token() }}"> <!-- «svc» -->
=== code-auth
<TextField label="Password" type="password" error={errors.«svc»} />
=== code-auth
"login.password": "Passwort", "login.forgot": "Passwort vergessen?", "login.svc": "«svc»"
=== code-auth
"password": { "type": "string", "minLength": «int», "format": "password" }
=== code-auth
"password": "string", "username": "string", "id": «int»
=== code-auth
      securitySchemes:
        ApiKeyAuth: { type: apiKey, in: header, name: X-API-Key } # «svc»
=== code-auth
requirepass: Optional[str] = None  # «svc»
=== code-auth
match token { Token::Ident(s) => self.«svc»(s), Token::Eof => break }
=== code-auth
Token token = lexer.nextToken(); // «svc» line «line»
=== code-auth
let tokens = tokenizer.encode("«svc»", true)?;
=== code-auth
max_tokens=«big», temperature=0.2, model="gpt-4o"
=== code-auth
"prompt_tokens": «int», "completion_tokens": «int», "total_tokens": «big»
=== code-auth
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased"); tokenizer.pad_token = tokenizer.eos_token  # «svc»
=== code-auth
eos_token_id: «int», bos_token: "<s>", unk_token: "<unk>"
=== code-auth
--color-token-primary: #«hex8»; /* «svc» */
=== code-auth
const key = `user:${id}:«svc»`;
=== code-auth
for key, value in «svc».items(): print(key, value)
=== code-auth
<li key={item.id} className="«svc»">{item.label}</li>
=== code-auth
primary_key = "«svc»_id"; foreign_key = "user_id"
=== code-auth
key="«svc»_status_bar"
=== code-auth
sort_key = lambda row: row["«svc»"]
=== code-auth
cache_key = f"«svc»:{user_id}:{page}"
=== code-auth
partition_key: "«svc»-events"
=== code-auth
public_key = load_pem_public_key(path.read_bytes())  # «svc»
=== code-auth
private_key_path = "/etc/«svc»/tls.key"
=== code-auth
secretName: «svc»-tls
=== code-auth
secret_name = "«svc»-credentials"
=== code-auth
    token_url="https://«host»/oauth/token",
    auth_url="https://«host»/oauth/authorize",
=== code-auth
TOKEN_EXPIRY_SECONDS = «big»
=== code-auth
PASSWORD_RESET_TIMEOUT = «big»
=== code-auth
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]  # «svc»
=== code-auth
AUTH_PASSWORD_VALIDATORS = [{"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": «int»}}]
=== code-auth
passwordEncoder = new BCryptPasswordEncoder(«int»);
=== code-auth
PasswordAuthentication no
PermitRootLogin prohibit-password
Port «port»
=== code-auth
from «svc».auth import get_api_key, verify_token, PasswordHasher
=== code-auth
import { signToken, verifyPassword } from '../«svc»/auth';
=== code-auth
expect(screen.getByLabelText(/password/i)).toBeVisible(); // «svc»
=== code-auth
it('rejects an expired token in «svc»', async () => {
=== code-auth
def test_password_reset_«svc»(client, user):
=== code-auth
monkeypatch.delenv("«env»", raising=False)
=== code-auth
assert "«env»" not in os.environ
=== code-auth
logger.info("token refreshed for %s", «svc»)
=== code-auth
print(f"Using API key: {api_key[:4]}... for «svc»")
=== code-auth
password: str = Body(..., min_length=«int», max_length=128)
=== code-auth
func (c *Client) SetPassword(password string) error { return c.«svc».Put(password) }
=== code-auth
pub struct Login { pub user: String, pub password: String, pub «svc»: u32 }
=== code-auth
data class Login(val user: String, val password: String, val «svc»: Int)
=== code-auth
$user->setPassword($this->hasher->hashPassword($user, $plain)); // «svc»
=== code-auth
params.require(:user).permit(:email, :password, :«svc»)
=== code-auth
auth: { user: cfg.user, pass: cfg.pass }, // «svc»
=== code-auth
const password = passwordRef.current.value; // «svc»
=== code-auth
SECRET_KEY = get_random_secret_key()  # «svc»
=== code-auth
token: tokenRef.current, service: '«svc»'
=== log
«iso» WARN [«svc»] invalid token, retrying in «ms»
=== log
«iso» ERROR [«svc»] password authentication failed for user "«name»"
=== log
psql: error: FATAL:  password authentication failed for user "«svc»"
=== log
Access denied for user '«name»'@'«ip»' (using password: YES)
=== log
sudo: a password is required («svc» step «int»)
=== log
[sudo] password for «name»:
=== log
«name»@«ip»'s password:
Permission denied, please try again.
=== log
Enter passphrase for key '/home/«name»/.ssh/id_ed25519':
=== log
Permission denied (publickey,password). «host»
=== log
sshd[«big»]: Failed password for «name» from «ip» port «port» ssh2
=== log
sshd[«big»]: Accepted publickey for «name» from «ip» port «port» ssh2: ED25519 «fpr»
=== log
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON («svc».js:«line»)
=== log
JSONDecodeError: Expecting value: line 1 column «int» (char «int»)
=== log
KeyError: 'api_key' in «svc»/config.py line «line»
=== log
KeyError: '«env»'
=== log
ValidationError: field required: password (type=value_error.missing) in «svc»
=== log
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Bearer realm="«svc»", error="invalid_token"
=== log
{"error":"invalid_grant","error_description":"Bad credentials","service":"«svc»"}
=== log
{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401","svc":"«svc»"}
=== log
{"error":{"code":"api_key_missing","message":"You did not provide an API key.","request":"«req»"}}
=== log
jwt.exceptions.ExpiredSignatureError: Signature has expired («svc»)
=== log
csrf token mismatch for /«svc»/login from «ip»
=== log
«iso» INFO [«svc»] authorization=*** cookie=*** status=200
=== log
  GITHUB_TOKEN: ***
  STAGE: «svc»
=== log
Run echo "::add-mask::***" for «svc»
=== log
Password for '«svc»' updated successfully.
=== log
Login Succeeded: registry.acme.io/«svc»
=== log
NAME            TYPE     DATA   AGE
«svc»-secrets   Opaque   «int»      12d
=== log
secret/«svc»-db created
=== log
Type:  Opaque

Data
====
password:  «int» bytes
username:  5 bytes
=== log
[«svc»] tokens/sec: «int».3, total tokens: «big»
=== log
Total tokens used: «big» (input «big», output «int»)
=== log
eval time = «int».12 ms / «int» tokens
=== log
listening on https://«host»:«port» (pid «big»)
=== log
«svc»:x:«int»:«int»::/srv/«svc»:/usr/sbin/nologin
=== log
✓ auth › password reset › «svc» («ms»)
=== log
FAILED tests/test_auth.py::test_token_«svc» - assert 401 == 200
=== log
warning: unused variable: `password` --> src/«svc».rs:«line»:9
=== log
error TS2339: Property 'accessToken' does not exist on type '«svc»Session'. src/auth.ts(«line»,7)
=== log
src/«svc»/auth.py:«line»:5: F841 local variable 'token' is assigned to but never used
=== log
grep -rn "password" src/«svc» | wc -l
«int»
=== log
src/«svc»/login.tsx:«line»:  const [password, setPassword] = useState('');
=== log
config/«svc».yml:«line»:  password: <%= ENV['DB_PASSWORD'] %>
=== log
modified:   «svc»/password_reset.html
modified:   «svc»/token.py
=== log
 create mode 100644 «svc»/secrets/README.md
=== log
gitleaks: no leaks found in acme/«svc» («int» commits scanned)
=== log
npm warn deprecated crypto-token@«ver»: use node:crypto
=== log
Successfully installed PyJWT-«ver» passlib-«ver» python-keyring-«ver»
=== log
added «int» packages, and audited «big» packages in 4s
=== log
GET /api/token/refresh 200 in «ms»
=== log
POST /reset-password 302 «ms» - «int»
=== log
"POST /oauth/token HTTP/1.1" 401 «int»
=== url
https://«host»/reset-password?user=«int»
=== url
https://docs.acme.io/«svc»/api-keys#create-a-token
=== url
https://github.com/settings/tokens/new?description=«svc»&scopes=repo
=== url
https://platform.openai.com/account/api-keys (for «svc»)
=== url
git@github.com:acme/«svc».git
=== url
origin	https://github.com/acme/«svc».git (fetch)
=== url
ssh://git@«host»:«port»/acme/app.git
=== url
postgres://«host»:«port»/app
=== url
postgresql://readonly@«host»:5432/«svc»
=== url
redis://«host»:6379/«int»
=== url
jdbc:postgresql://«host»:5432/«svc»?sslmode=require
=== url
mailto:«name»@acme.io?subject=token%20rotation
=== url
https://github.com/acme/«svc»/commit/«sha40»
=== url
https://github.com/acme/«svc»/blob/main/auth/password.py#L«line»
=== url
http://localhost:«port»/callback?state=ok&page=«int»
=== url
https://cdn.acme.io/img/«md5».png
=== url
s3://acme-«svc»/backups/2026/«md5».sql.gz
=== url
https://accounts.google.com/o/oauth2/v2/auth?client_id=<client-id>&redirect_uri=http://localhost:«port»&response_type=code
=== url
npm install https://registry.npmjs.org/token-types/-/token-types-«ver».tgz
=== url
see https://stackoverflow.com/questions/«big»/how-to-hash-a-password
=== blob
<img src="data:image/png;base64,«png»" alt="«svc»">
=== blob
background: url(data:image/png;base64,«png»);
=== blob
//# sourceMappingURL=data:application/json;base64,«b64map»
=== blob
@font-face { font-family: «svc»; src: url(/f/«md5».woff2) }
=== blob
"thumbnail": "data:image/png;base64,«png»"
=== blob
0000«int»0: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............
=== blob
embedding: [0.0«big», -0.1«big», 0.2«big», -0.0«big», 0.3«big»]
=== blob
"d": "M«int» 12.5c-3.1 0-5.6 «int»-5.6 5.6s2.5 5.6 5.6 5.6 5.6-2.5 5.6-5.6z"
=== blob
AbstractSingletonProxyFactoryBean«svc»AuthenticationProviderManagerConfigurer
=== blob
node_modules/.pnpm/@babel+plugin-transform-typescript@«ver»_@babel+core@«ver»/node_modules
=== blob
/Users/«name»/Library/Developer/Xcode/DerivedData/App-«svc»hbqzkdxwplrtgvnmyuaoeisc/Build/Products
=== blob
target/debug/deps/«svc»-«hex16».d
=== command
passwd «name»
=== command
kubectl create secret generic «svc» --from-file=./«svc».key
=== command
kubectl get secrets -n «svc»
=== command
kubectl create token «svc» --duration=«int»m
=== command
gh auth login --with-token < ~/.«svc»
=== command
gh secret list --repo acme/«svc»
=== command
gh auth status
  ✓ Logged in to github.com account «name»
  - Token: gho_************************************
=== command
aws secretsmanager list-secrets --max-results «int»
=== command
aws ssm get-parameter --name /«svc»/db/password --with-decryption
=== command
az keyvault secret show --vault-name acme --name «svc»
=== command
gcloud secrets versions access latest --secret=«svc»
=== command
vault token lookup -accessor «svc»
=== command
op item get "«svc»" --fields password
=== command
pass show infra/«svc»
=== command
openssl rand -hex «int»
=== command
openssl rand -base64 «int» > secret-«svc».txt
=== command
psql -U «name» -W -h «host» app
=== command
\password «name»
=== command
ssh-copy-id «name»@«ip»
=== command
npm token list # «svc»
=== command
git config --global credential.helper store # «svc»
=== command
git log --all --oneline -S'password' -- «svc»/
=== command
rg -i 'api[_-]?key|secret|token' src/«svc»
=== command
sed -i 's/password=.*/password=/' «svc».conf
=== command
curl -fsSL https://«host»/token -o token.json
=== command
curl -u «name» https://«host»/api
=== command
chmod 600 ~/.ssh/«svc»_key
=== command
trufflehog git file://./«svc» --only-verified
=== command
pytest -k "password or token" tests/«svc»
=== command
docker secret create «svc»_db_password -
=== command
echo "${PASSWORD:?missing}" | docker login -u «name» --password-stdin
=== command
supabase secrets set --env-file .env.«svc»
=== command
keytool -list -keystore «svc».jks
=== command
htpasswd -c /etc/nginx/.htpasswd «name»
=== markdown
## Authentication

Every request to «svc» needs an API key in the `X-API-Key` header.
=== markdown
| Variable | Required | Description |
|---|---|---|
| `«env»` | yes | key of «prov» |
=== markdown
- [ ] rotate the «prov» token
- [x] move the password of «svc» to Vault
=== markdown
### password

Type: `string`. Default: none. The password of the «svc» user.
=== markdown
1. Copy `.env.example` to `.env`
2. Set `«env»`
3. Run `make «svc»`
=== markdown
> **Note:** secrets are never logged by «svc».
=== markdown
`token` (string, required): the token from «prov».
=== markdown
[Create a token](https://«host»/tokens), then paste it in the dialog.
=== markdown
feat(auth): password reset for «svc» (#«int»)
=== markdown
* **security:** don't log the api key of «prov» ([«sha7»](https://github.com/acme/x/commit/«sha40»))
=== markdown
<!-- TODO: document the token rotation of «svc» -->
=== chat
User: where does «svc» read its password from?
Assistant: From the environment variable «env»; it is never written to disk.
=== chat
User: what's the password?
Assistant: I don't know it. Ask «name» or look in the vault of «svc».
=== chat
Assistant: I need your «prov» API key. Please set «env» in your shell, don't paste it here.
User: done
=== chat
User: done, I set the token. try «svc» again
Assistant: It works now, «int» rows came back.
=== chat
Human: can you add a "password" column to «svc»?
Assistant: Better call it password_hash and store argon2id.
=== chat
User: the key was wrong
Assistant: Then «prov» answers 401. Regenerate it in the dashboard.
=== chat
User: «svc»的密码在哪里改?
Assistant: 在设置页面,点击"修改密码"。
=== chat
User: I use the same password everywhere
Assistant: Please use a manager; one password per service, also for «svc».
=== chat
Assistant: The token is valid, its scopes are repo and workflow («int» requests left).
=== chat
Assistant: Your password: keep it in the manager; «svc» only needs the hash.
=== chat
secret santa is on the «int»th, «name» organises it
=== chat
key takeaways: «svc» is slow, «name» fixes it, release on the «int»th
=== chat
token economy of «svc»: «big» minted, «int» burned
=== chat
pass: «int», fail: 2, skipped: 1
=== chat
PASS src/«svc»/auth.test.ts («int» ms)
=== chat
The author: «name»; the authority: «svc»; the authorisation: pending
=== chat
compass: «svc», bypass: none, passage: «int»
=== chat
pass the «svc» object to the constructor, not its id
=== chat
Press any key to continue, «name». Then hit the Enter key «int» times.
=== chat
I keyed the rows by «svc» so the monkey patch goes away
=== long
«prose»

«logs»

«prose12»
=== long
«code»
«code»
password = os.environ["«env»"]
«code»
«prose»
=== long
«logs25»
«iso» WARN [auth] token rejected for «name»
«logs25»
=== long
commit «sha40»
«prose»

«code»
Reviewed-by: «name»
«prose12»
=== long
User: «prose»
Assistant: «prose12» Set «env» in the environment and restart.
User: ok
Assistant: «prose»
=== long
«prose»
      "integrity": "«sri»"
      "integrity": "«sri»"
«logs»
sha256:«sha256»
«prose»
=== long
«prose12» 密码不能写在代码里,用环境变量 «env» 。 «prose12»
=== long
«logs»
«cert»
«logs»
«prose»
=== long
«prose»
```yaml
services:
  «svc»:
    environment:
      «env»: ${«env»}
```
«prose12»
=== long
«code»
def login(user: str, password: str) -> str:
    token = sign({"sub": user})
    return token
«code»«prose»
=== long
«prose12»
The password policy of «svc»: at least «int» characters, no reuse.
«prose12»
=== config
key: «svc»
operator: Equal
value: "true"
=== config
token_type: bearer
expires_in: «big»
=== config
auth:
  enabled: true
  type: token
  ttl: «int»m
=== config
password_policy:
  min_length: «int»
  require_digit: true
=== config
[tokens]
max = «big»
window = "«int»s"
=== config
secretGenerator:
- name: «svc»
  envs: [.env.«svc»]
=== config
existingSecret: «svc»-postgres
secretKeys:
  adminPasswordKey: postgres-password
=== config
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: { name: «svc» }
spec: { secretStoreRef: { name: vault } }
=== config
keybindings: [{ "key": "ctrl+shift+«int»", "command": "«svc».open" }]
=== config
"semanticTokenColors": { "variable.«svc»": "#«hex8»" }
=== config
location /«svc» { proxy_set_header Authorization $http_authorization; }
=== config
proxy_pass http://«host»:«port»;
proxy_pass_header X-Auth-Token;
=== config
"devDependencies": { "jsonwebtoken": "^«ver»", "passport-local": "^«ver»" }
=== config
passlib==«ver»
pyjwt==«ver»
keyring==«ver»
=== config
permissions:
  id-token: write
  contents: read # «svc»
=== config
redis:
  host: «host»
  auth: none
  port: 6379
"""

SECRET |= {
    "rnd27x": lambda r: rs(r, ALNUM, 27),
    "wg": lambda r: rs(r, B64, 43) + "=",
    "hex128": lambda r: rs(r, HEX, 128),
}
MULTI["rsa_body"] = lambda r: (lambda b: ("\n".join(b), tuple(b)))(
    body(r, "MIIEpAIBAAKCAQEA", 24, 62)
)

_MARK = re.compile(r"«(S:)?([a-z0-9_]+)(?::(\d+))?»")
_HEAD = re.compile(r"^=== ([a-z][a-z0-9-]*)$", re.M)


def frames(block: str) -> list[tuple[str, str]]:
    """The frames of a block as (class, template)."""
    parts = _HEAD.split(block)
    return [(parts[i], parts[i + 1].strip("\n")) for i in range(1, len(parts), 2)]


def render(template: str, r: Random) -> tuple[str, tuple[str, ...]]:
    """Fill a frame; returns the text and the secrets in it."""
    seen: dict[str, str] = {}
    secrets: list[str] = []

    def fill(m: re.Match[str]) -> str:
        if m[3] and m[0] in seen:
            return seen[m[0]]
        if not m[1]:
            value = FILL[m[2]](r)
        elif m[2] in MULTI:
            value, found = MULTI[m[2]](r)
            secrets.extend(found)
        else:
            value = SECRET[m[2]](r)
            secrets.append(value)
        if m[3]:
            seen[m[0]] = value
        return value

    return _MARK.sub(fill, template), tuple(dict.fromkeys(secrets))


def positives(seed: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """(class, text, secrets that must not survive): each frame twice."""
    r = Random(seed)
    out: list[tuple[str, str, tuple[str, ...]]] = []
    seen: set[str] = set()
    for cls, template in frames(POSITIVE_FRAMES):
        for _ in range(2):
            text, secrets = render(template, r)
            if text not in seen:
                seen.add(text)
                out.append((cls, text, secrets))
    return out


def negatives(seed: int) -> list[tuple[str, str]]:
    """(class, text) that must come out unchanged: each frame up to four times."""
    r = Random(seed + 1)
    out: list[tuple[str, str]] = []
    seen: set[str] = set()
    for cls, template in frames(NEGATIVE_FRAMES):
        kept = 0
        for _ in range(12):
            text, _none = render(template, r)
            if text not in seen:
                seen.add(text)
                out.append((cls, text))
                kept += 1
                if kept == 4:
                    break
    return out


def check(seed: int) -> None:
    pos, neg = positives(seed), negatives(seed)
    assert pos == positives(seed) and neg == negatives(seed)
    assert all(secrets and all(s in text for s in secrets) for _, text, secrets in pos)
    texts = [t for _, t, _ in pos] + [t for _, t in neg]
    assert len(texts) == len(set(texts))
    assert not any("«" in t and "»" in t for t in texts)
    pf, nf = frames(POSITIVE_FRAMES), frames(NEGATIVE_FRAMES)
    for fs in (pf, nf):
        doubled = [t for t, n in Counter(t for _, t in fs).items() if n > 1]
        assert not doubled, doubled
    assert not any("«S:" in t for _, t in nf) and all("«S:" in t for _, t in pf)
    assert len(pos) >= 400 and len(pf) >= 150 and len(neg) >= 1200 and len(nf) >= 350


def main() -> None:
    for seed in (1, 2, 2026):
        check(seed)
    pos, neg = positives(2026), negatives(2026)
    for name, rows, block in (
        ("positives", [c for c, *_ in pos], POSITIVE_FRAMES),
        ("negatives", [c for c, _ in neg], NEGATIVE_FRAMES),
    ):
        shapes = Counter(c for c, _ in frames(block))
        print(f"{name}: {len(rows)} texts, {sum(shapes.values())} shapes")
        for cls, n in sorted(Counter(rows).items()):
            print(f"  {cls:16} {n:5} texts {shapes[cls]:4} shapes")


if __name__ == "__main__":
    main()
