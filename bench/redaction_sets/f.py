"""Blind labelled set F for secret redaction: realistic transcripts of coding agents.

Frames are plain texts. ``«kind»`` is a generated secret, ``‹kind›`` a generated public
value; ``#x`` after the kind repeats one value inside a text; a line that ends with ``⧺``
goes on with the next line. Every key is random material in a published format.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from random import Random

HEX = "0123456789abcdef"
UP = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOW = UP.lower()
DIG = "0123456789"
ALNUM = UP + LOW + DIG
URL64 = ALNUM + "-_"
B64 = ALNUM + "+/"
B32 = UP + "234567"

Gen = Callable[[Random], str]
Positive = tuple[str, str, tuple[str, ...]]
Negative = tuple[str, str]


def _s(rng: Random, alphabet: str, length: int) -> str:
    """A random string that, for mixed alphabets, always holds a letter and a digit."""
    while True:
        out = "".join(rng.choice(alphabet) for _ in range(length))
        mixed = "a" in alphabet.lower() and "7" in alphabet and length >= 8
        if not mixed or (re.search("[A-Za-z]", out) and re.search("[0-9]", out)):
            if out[0] not in "-_+/" and out[-1] not in "-_+/":
                return out


def _f(pattern: str) -> Gen:
    """A generator from a pattern: literal text with fields ``{alphabet:length}``."""
    names = {
        "h": HEX,
        "a": ALNUM,
        "u": URL64,
        "b": B64,
        "d": DIG,
        "U": UP + DIG,
        "l": LOW + DIG,
        "t": B32,
        "A": UP,
        "z": LOW,
    }

    def make(rng: Random) -> str:
        return re.sub(r"\{(\w):(\d+)\}", lambda m: _s(rng, names[m[1]], int(m[2])), pattern)

    return make


def _b64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _jwt(rng: Random) -> str:
    head = {"alg": rng.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}
    body = {
        "sub": _s(rng, DIG, 10),
        "iat": rng.randint(1_700_000_000, 1_760_000_000),
        "scope": rng.choice(["read", "admin", "orders:write"]),
        "jti": _s(rng, HEX, 16),
    }
    parts = [_b64url(json.dumps(part).encode()) for part in (head, body)]
    return ".".join([*parts, _s(rng, URL64, 43)])


def _supabase(rng: Random) -> str:
    body = {
        "iss": "supabase",
        "ref": _s(rng, LOW, 20),
        "role": "service_role",
        "iat": rng.randint(1_700_000_000, 1_760_000_000),
    }
    head = _b64url(b'{"alg":"HS256","typ":"JWT"}')
    return f"{head}.{_b64url(json.dumps(body).encode())}.{_s(rng, URL64, 43)}"


def _uuid(rng: Random) -> str:
    raw = _s(rng, HEX, 32)
    return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-{rng.choice('89ab')}{raw[17:20]}-{raw[20:]}"


WORDS = (
    "falcon maple harbor tulip granite saddle copper walnut meadow lantern pepper velvet "
    "thunder biscuit orchid cactus anchor puzzle rocket willow"
).split()


def _human(rng: Random) -> str:
    """A password of the kind people choose: words, digits and a mark."""
    one, two = rng.sample(WORDS, 2)
    return rng.choice(
        [
            f"{one.title()}{rng.randint(1970, 2026)}!",
            f"{one.title()}-{two}-{rng.randint(10, 99)}",
            f"{one}{two.title()}{rng.randint(100, 999)}",
            f"{one.title()}#{rng.randint(1000, 9999)}",
            f"{one[:3].upper()}{two}_{rng.randint(10, 99)}x",
            f"{one.title()}@{rng.randint(100, 999)}!",
            f"{one}{rng.randint(1000, 9999)}",
            _s(rng, ALNUM, rng.randint(10, 16)),
            f"{one.title().replace('a', '4').replace('e', '3')}!{two}{rng.randint(1, 99)}",
        ]
    )


def _human_url(rng: Random) -> str:
    one, two = rng.sample(WORDS, 2)
    return rng.choice(
        [
            f"{one.title()}{two.title()}{rng.randint(10, 999)}",
            f"{one}-{two.title()}-{rng.randint(10, 99)}",
            f"{one}_{_s(rng, ALNUM, 8)}",
            _s(rng, ALNUM, rng.randint(12, 24)),
        ]
    )


def _symbols(rng: Random) -> str:
    raw = _s(rng, ALNUM + "!@#%^&*+=?~", rng.randint(11, 18))
    return _s(rng, UP, 1) + raw + rng.choice("!#%*") + _s(rng, DIG, 1)


def _b64pw(rng: Random) -> str:
    return base64.b64encode(_s(rng, ALNUM, rng.choice([14, 16, 20, 22])).encode()).decode()


def _basic(rng: Random) -> str:
    user = rng.choice(["admin", "deploy", "svc-build", "jenkins"])
    return base64.b64encode(f"{user}:{_s(rng, ALNUM, 17)}".encode()).decode()


def _body(first: str, lines: int, sep: str = "\n") -> Gen:
    """The base64 body of a key: every line counts as one secret (see ``MULTI``)."""

    def make(rng: Random) -> str:
        rows = [_s(rng, B64, 64) for _ in range(lines)]
        rows[0] = first + rows[0][len(first) :]
        rows.append(_s(rng, B64, 40) + "==")
        return sep.join(rows)

    return make


def _ts(rng: Random) -> str:
    return (
        f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:"
        f"{rng.randint(0, 59):02}:{rng.randint(0, 59):02}.{rng.randint(0, 999):03}Z"
    )


def _log(rng: Random) -> str:
    rows = []
    for _ in range(rng.randint(16, 28)):
        message = rng.choice(
            [
                f"GET /api/v2/orders/{rng.randint(100, 99999)} 200 {rng.randint(2, 900)}ms",
                f"worker {rng.randint(1, 8)} picked job {_uuid(rng)}",
                f"cache miss for key product:{rng.randint(1, 9999)}:price",
                f"SELECT count(*) FROM invoices WHERE tenant_id = {rng.randint(1, 400)} took 12.4ms",
                f"trace_id={_s(rng, HEX, 32)} span_id={_s(rng, HEX, 16)} status=ok",
                f"pulled layer sha256:{_s(rng, HEX, 64)}",
                f"user {rng.randint(1, 9999)} logged out",
                "retrying upstream connect, attempt 2/5",
            ]
        )
        rows.append(f"{_ts(rng)} {rng.choice(['INFO', 'DEBUG', 'WARN'])} {message}")
    return "\n".join(rows)


def _prose(rng: Random) -> str:
    pool = [
        "The failing test only fails on CI because the clock there runs in UTC.",
        "I read src/billing/invoice.py and the rounding happens before the tax is added.",
        "We should split the migration in two so that the deploy can be rolled back.",
        "The login form keeps the password field in local state and clears it on unmount.",
        "Token refresh works, but the interceptor retries once too often after a 401.",
        "There are 3 callers of parse_config and none of them handles the error.",
        "The docs say that the API key is read from the environment at start-up.",
        "I ran the whole suite: 412 passed, 3 skipped, 1 xfailed in 38.20s.",
        "The container starts in 4 seconds now that the image no longer holds node_modules.",
        "Let me look at the helm chart before I touch the values file.",
        "The reviewer asked for smaller commits, so I will rebase the branch first.",
        "Redis evicts the session keys earlier than expected, maxmemory is 256mb.",
    ]
    paragraphs = []
    for _ in range(rng.randint(4, 6)):
        paragraphs.append(" ".join(rng.sample(pool, rng.randint(5, 7))))
    return "\n\n".join(paragraphs)


def _code(rng: Random) -> str:
    rows = []
    for index in range(rng.randint(9, 14)):
        name = rng.choice(WORDS) + f"_{index}"
        rows += [
            f"def load_{name}(path: str, limit: int = {rng.randint(1, 500)}) -> list[str]:",
            f'    """Return the {name} rows below the limit."""',
            '    with open(path, encoding="utf-8") as handle:',
            f"        return [row.strip() for row in handle][:{rng.randint(1, 9)}]",
            "",
        ]
    return "\n".join(rows)


def _bullets(rng: Random) -> str:
    return _s(rng, DIG, 4)


PRIVATE = (
    "Mara's gate code is {n}, tell nobody",
    "our Q{q} runway is only {n} days, board knows",
    "salary offer for the new hire: {n} EUR per month",
    "my blood test came back at {n}, call Dr. Ito",
    "the acquisition price under discussion is {n}k",
    "家の鍵の番号は{n}です",
    "我的身份证后四位是{n}",
    "Kontonummer endet auf {n}, bitte nicht speichern",
)


def _private(rng: Random) -> str:
    return rng.choice(PRIVATE).format(n=rng.randint(2000, 9999), q=rng.randint(1, 4))


SECRET: dict[str, Gen] = {
    "pw": _human,
    "pwu": _human_url,
    "pws": _symbols,
    "pwa": _f("{a:20}"),
    "pin16": _f("{a:16}"),
    "b64pw": _b64pw,
    "basic": _basic,
    "jwt": _jwt,
    "supa": _supabase,
    "uuid": _uuid,
    "private": _private,
    "hex32": _f("{h:32}"),
    "hex40": _f("{h:40}"),
    "hex64": _f("{h:64}"),
    "a32": _f("{a:32}"),
    "a40": _f("{a:40}"),
    "a48": _f("{a:48}"),
    "u43": _f("{u:43}"),
    "a24": _f("{a:24}"),
    "b44": _f("{b:43}="),
    "django": _f("{l:14}z#{l:12}^k{l:20}"),
    "aws": _f("{b:40}"),
    "awssess": _f("IQoJb3JpZ2luX2Vj{b:180}=="),
    "ghp": _f("ghp_{a:36}"),
    "gho": _f("gho_{a:36}"),
    "ghs": _f("ghs_{a:36}"),
    "ghpat": _f("github_pat_{a:22}_{a:59}"),
    "glpat": _f("glpat-{u:20}"),
    "glrt": _f("glrt-{u:20}"),
    "oai": _f("sk-proj-{u:74}T3BlbkFJ{u:74}"),
    "oaiold": _f("sk-{a:20}T3BlbkFJ{a:20}"),
    "ant": _f("sk-ant-api03-{u:93}AA"),
    "goog": _f("AIzaSy{u:33}"),
    "gocspx": _f("GOCSPX-{u:28}"),
    "ya29": _f("ya29.a0{u:160}"),
    "grefresh": _f("1//0{u:1}{u:98}"),
    "xoxb": _f("xoxb-{d:12}-{d:13}-{a:24}"),
    "xoxp": _f("xoxp-{d:12}-{d:12}-{d:13}-{h:32}"),
    "xapp": _f("xapp-1-A0{U:9}-{d:13}-{h:64}"),
    "slackpath": _f("{a:24}"),
    "sklive": _f("sk_live_51{a:97}"),
    "sktest": _f("sk_test_51{a:97}"),
    "rklive": _f("rk_live_{a:24}"),
    "whsec": _f("whsec_{a:32}"),
    "sg": _f("SG.{u:22}.{u:43}"),
    "mg": _f("key-{h:32}"),
    "mc": _f("{h:32}-us1{d:1}"),
    "dsc": _f("MT{a:24}.G{a:5}.{u:38}"),
    "dschook": _f("{u:68}"),
    "tg": _f("{d:10}:AA{u:33}"),
    "npm": _f("npm_{a:36}"),
    "pypi": _f("pypi-AgEIcHlwaS5vcmc{u:150}"),
    "hf": _f("hf_{a:34}"),
    "r8": _f("r8_{a:37}"),
    "dop": _f("dop_v1_{h:64}"),
    "hrku": _f("HRKU-AA{u:58}"),
    "nfp": _f("nfp_{a:36}"),
    "nrak": _f("NRAK-{U:27}"),
    "sntry": _f("sntryu_{h:64}"),
    "glsa": _f("glsa_{a:32}_{h:8}"),
    "shpat": _f("shpat_{h:32}"),
    "sq": _f("EAAA{u:60}"),
    "dapi": _f("dapi{h:32}"),
    "atpat": _f("pat{a:14}.{h:64}"),
    "ntn": _f("ntn_{d:11}{a:35}"),
    "lin": _f("lin_api_{a:40}"),
    "atatt": _f("ATATT3xFfGF0{u:171}={h:8}"),
    "figd": _f("figd_{u:40}"),
    "sbp": _f("sbp_{h:40}"),
    "pscale": _f("pscale_tkn_{u:43}"),
    "dp": _f("dp.pt.{a:43}"),
    "hvs": _f("hvs.CAESI{u:90}"),
    "atlas": _f("{a:14}.atlasv1.{u:67}"),
    "pul": _f("pul-{h:40}"),
    "dckr": _f("dckr_pat_{u:27}"),
    "ccipat": _f("CCIPAT_{a:22}_{h:40}"),
    "bkua": _f("bkua_{h:40}"),
    "mapbox": _f("sk.eyJ1Ijoi{a:60}.{u:22}"),
    "gsk": _f("gsk_{a:52}"),
    "pplx": _f("pplx-{a:48}"),
    "xai": _f("xai-{a:80}"),
    "openr": _f("sk-or-v1-{h:64}"),
    "tvly": _f("tvly-{a:32}"),
    "pcsk": _f("pcsk_{a:6}_{a:62}"),
    "azkey": _f("{b:86}=="),
    "azcs": _f("{a:3}8Q~{u:34}"),
    "sas": _f("{a:41}%2B%3D"),
    "pmak": _f("PMAK-{h:24}-{h:34}"),
    "sl": _f("sl.u.{u:130}"),
    "age": _f("AGE-SECRET-KEY-1{U:58}"),
    "okta": _f("00{u:40}"),
    "cfpat": _f("CFPAT-{u:43}"),
    "fly": _f("fm2_{b:120}"),
    "re": _f("re_{a:8}_{a:24}"),
    "ts": _f("tskey-auth-k{a:16}-{a:32}"),
    "ldsdk": lambda rng: "sdk-" + _uuid(rng),
    "hub": lambda rng: "pat-na1-" + _uuid(rng),
    "gems": _f("rubygems_{h:48}"),
    "cio": _f("cio{a:32}"),
    "vcel": _f("{a:24}"),
    "rnd": _f("rnd_{a:28}"),
    "cf": _f("{u:40}"),
    "sess": _f("s%3A{u:32}.{a:43}"),
    "asana": _f("2/{d:16}/{d:16}:{h:32}"),
    "op": _f("ops_eyJ{a:180}"),
    "jira24": _f("{a:24}"),
    "phx": _f("phx_{a:43}"),
    "symtmp": _f("{a:6}!{a:5}k7"),
    "a48hex": _f("{h:48}"),
    "rsa": _body("MIIEpAIBAAKCAQEA", 10),
    "ossh": _body("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE", 5),
    "pkcs8": _body("MIIEvgIBADANBgkqhkiG9w0BAQEFAASC", 9),
    "ec": _body("MHcCAQEEI", 2),
    "pgp": _body("lQdGBGW", 8),
    "saline": _body("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 6, "\\n"),
    "oneline": _body("MIIEowIBAAKCAQEA", 5, "\\n"),
    "wg": _f("{b:43}="),
}
MULTI = {"rsa", "ossh", "pkcs8", "ec", "pgp", "saline", "oneline"}

PUBLIC: dict[str, Gen] = {
    "uuid": _uuid,
    "sha": _f("{h:40}"),
    "sha7": _f("{h:7}"),
    "sha256": _f("{h:64}"),
    "md5": _f("{h:32}"),
    "hex16": _f("{h:16}"),
    "ts": _ts,
    "log": _log,
    "prose": _prose,
    "code": _code,
    "n": lambda rng: str(rng.randint(2, 999)),
    "n4": _bullets,
    "port": lambda rng: str(rng.randint(3000, 9999)),
    "l20": _f("{z:20}"),
    "l6": _f("{z:6}"),
    "ip": lambda rng: f"10.{rng.randint(0, 250)}.{rng.randint(0, 250)}.{rng.randint(2, 250)}",
    "akid": _f("AKIA{t:16}"),
    "asia": _f("ASIA{t:16}"),
    "w": lambda rng: rng.choice(WORDS),
    "user": lambda rng: rng.choice("alice bob dmitri yuki chen marta svc_app deploy".split()),
    "app": lambda rng: rng.choice(WORDS) + "-" + rng.choice(["api", "web", "worker", "gateway"]),
    "env": lambda rng: rng.choice(["staging", "prod", "dev", "preview", "qa"]),
    "ver": lambda rng: f"{rng.randint(0, 19)}.{rng.randint(0, 40)}.{rng.randint(0, 30)}",
    "sha512": lambda rng: "sha512-" + _s(rng, B64, 86) + "==",
    "gosum": lambda rng: "h1:" + _s(rng, B64, 43) + "=",
    "b64": _f("{b:64}"),
    "b64s": _f("{b:40}"),
    "edpub": _f("AAAAC3NzaC1lZDI1NTE5AAAAI{b:43}"),
    "fp": _f("SHA256:{b:43}"),
    "acc": _f("{d:12}"),
    "line": lambda rng: str(rng.randint(10, 900)),
    "T": _f("T0{U:8}"),
    "B": _f("B0{U:8}"),
    "AC": _f("AC{h:32}"),
    "d18": _f("{d:18}"),
    "path": lambda rng: rng.choice(
        [
            "src/auth/login",
            "lib/session",
            "app/config",
            "pkg/secrets",
            "internal/token",
            "web/forms/password",
        ]
    ),
    "U": lambda rng: rng.choice("STRIPE GITHUB OPENAI SLACK SENTRY REDIS MAIL QUEUE".split()),
    "z": lambda rng: rng.choice(
        [
            "DB_PASSWORD",
            "API_KEY",
            "JWT_SECRET",
            "AUTH_TOKEN",
            "SMTP_PASS",
            "REDIS_PASSWORD",
            "CLIENT_SECRET",
            "ENCRYPTION_KEY",
        ]
    ),
}

POSITIVE_FRAMES = r"""
=== env-file
NODE_ENV=production
PORT=‹port›
OPENAI_API_KEY=«oai»
LOG_LEVEL=info
=== env-file
# ‹app›/.env.local
ANTHROPIC_API_KEY="«ant»"
NEXT_PUBLIC_SITE_URL=https://‹app›.example.com
=== env-file
STRIPE_SECRET_KEY=«sklive»
STRIPE_WEBHOOK_SECRET=«whsec»
=== env-file
export GITHUB_TOKEN=«ghp»
export GITHUB_REPOSITORY=acme/‹app›
=== env-file
SLACK_BOT_TOKEN=«xoxb»
SLACK_APP_TOKEN=«xapp»
SLACK_CHANNEL=#ops
=== env-file
MAIL_HOST=smtp.mailgun.org
MAIL_USERNAME=postmaster@mg.acme.io
MAIL_PASSWORD=«hex32»
MAIL_ENCRYPTION=tls
=== env-file
APP_NAME=Laravel
APP_KEY=base64:«b44»
APP_DEBUG=false
DB_CONNECTION=mysql
DB_PASSWORD=«pw»
=== env-file
AWS_REGION=eu-central-1
AWS_SECRET_ACCESS_KEY=«aws»
S3_BUCKET=‹app›-uploads
=== env-file
SENDGRID_API_KEY='«sg»'
FROM_EMAIL=noreply@acme.io
=== env-file
NEXTAUTH_URL=http://localhost:3000
NEXTAUTH_SECRET=«b44»
GOOGLE_CLIENT_SECRET=«gocspx»
=== env-file
TELEGRAM_BOT_TOKEN=«tg»
ADMIN_CHAT_ID=‹acc›
=== env-file
DISCORD_TOKEN=«dsc»
DISCORD_GUILD_ID=‹d18›
=== env-file
SUPABASE_URL=https://‹l20›.supabase.co
SUPABASE_SERVICE_ROLE_KEY=«supa»
=== env-file
DATABASE_URL="postgresql://‹user›:«pwu»@db.acme.internal:5432/‹w›?schema=public"
SHADOW_DB=off
=== env-file
MONGODB_URI=mongodb+srv://‹user›:«pwu»@cluster0.‹l6›.mongodb.net/?retryWrites=true
=== env-file
REDIS_URL=rediss://default:«pwa»@‹app›.upstash.io:6379
CACHE_TTL=300
=== env-file
CLOUDFLARE_API_TOKEN=«cf»
CLOUDFLARE_ZONE_NAME=acme.io
=== env-file
DD_API_KEY=«hex32»
DD_SITE=datadoghq.eu
DD_SERVICE=‹app›
=== env-file
NEW_RELIC_LICENSE_KEY=«hex40»
NEW_RELIC_APP_NAME=‹app›
=== env-file
TWILIO_ACCOUNT_SID=‹AC›
TWILIO_AUTH_TOKEN=«hex32»
TWILIO_FROM=+15005550006
=== env-file
HF_TOKEN=«hf»
HF_HOME=/data/hf
GROQ_API_KEY=«gsk»
=== env-file
OPENROUTER_API_KEY=«openr»
XAI_API_KEY=«xai»
PERPLEXITY_API_KEY=«pplx»
=== env-file
ALGOLIA_APP_ID=LATENCY9
ALGOLIA_ADMIN_API_KEY=«hex32»
=== env-file
JWT_SECRET=«hex64»
JWT_EXPIRES_IN=7d
SESSION_SECRET=«a48»
=== env-file
DJANGO_SECRET_KEY='django-insecure-«django»'
DJANGO_DEBUG=0
=== env-file
RAILS_MASTER_KEY=«hex32»
RAILS_ENV=production
RAILS_LOG_TO_STDOUT=1
=== env-file
SHOPIFY_ADMIN_TOKEN=«shpat»
SHOPIFY_SHOP=‹app›.myshopify.com
=== env-file
PINECONE_API_KEY=«pcsk»
PINECONE_INDEX=docs-‹env›
TAVILY_API_KEY=«tvly»
=== env-file
export VAULT_ADDR=https://vault.acme.io:8200
export VAULT_TOKEN=«hvs»
=== env-file
RESEND_API_KEY=«re»
POSTMARK_SERVER_TOKEN=«uuid»
=== env-file
AIRTABLE_PAT=«atpat»
NOTION_TOKEN=«ntn»
LINEAR_API_KEY=«lin»
=== env-file
AZURE_CLIENT_ID=‹uuid›
AZURE_CLIENT_SECRET=«azcs»
=== env-file
SQUARE_ACCESS_TOKEN=«sq»
SQUARE_ENVIRONMENT=production
=== env-file
MAPBOX_SECRET_TOKEN=«mapbox»
MAP_STYLE=streets-v12
=== env-file
LAUNCHDARKLY_SDK_KEY=«ldsdk»
HUBSPOT_ACCESS_TOKEN=«hub»
=== env-file
RENDER_API_KEY=«rnd»
RENDER_SERVICE=‹app›
=== env-file
BITBUCKET_APP_PASSWORD=«pin16»
BITBUCKET_USER=‹user›
=== env-file
MAILCHIMP_API_KEY=«mc»
MAILCHIMP_LIST=‹n4›
=== env-file
CONTENTFUL_MANAGEMENT_TOKEN=«cfpat»
CONTENTFUL_ENV=master
=== env-file
SMTP_PASS=«pws»
SMTP_USER=relay@acme.io
=== env-file
set DB_PASS=«pw»
set DB_USER=‹user›
=== env-file
$env:OPENAI_API_KEY = "«oaiold»"
$env:PYTHONUTF8 = "1"
=== env-file
set -gx REPLICATE_API_TOKEN «r8»
=== config-compose
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_USER: ‹user›
      POSTGRES_PASSWORD: «pw»
      POSTGRES_DB: ‹w›
    ports: ["5432:5432"]
=== config-compose
  mysql:
    image: mysql:8.4
    environment:
      - MYSQL_ROOT_PASSWORD=«pws»
      - MYSQL_DATABASE=shop
=== config-compose
  cache:
    image: redis:7-alpine
    command: redis-server --requirepass «pwa» --appendonly yes
=== config-compose
  web:
    environment:
      DATABASE_URL: postgres://‹user›:«pwu»@db:5432/‹w›
      WORKERS: 4
=== config-compose
  rabbit:
    image: rabbitmq:3-management
    environment:
      RABBITMQ_DEFAULT_USER: ‹user›
      RABBITMQ_DEFAULT_PASS: "«pwa»"
=== config-compose
  minio:
    environment:
      MINIO_ROOT_USER: minio
      MINIO_ROOT_PASSWORD: «pw»
=== config-spring
spring:
  datasource:
    url: jdbc:postgresql://‹ip›:5432/orders
    username: ‹user›
    password: «pw»
=== config-spring
spring.datasource.url=jdbc:mysql://db.acme.internal:3306/‹w›
spring.datasource.username=‹user›
spring.datasource.password=«pws»
spring.jpa.hibernate.ddl-auto=validate
=== config-spring
spring.mail.password=«pin16»
spring.mail.properties.mail.smtp.auth=true
=== config-spring
jwt:
  secret: «hex64»
  expiration-ms: 86400000
=== config-spring
server.ssl.key-store=classpath:keystore.p12
server.ssl.key-store-password=«pw»
=== config-spring
url=jdbc:oracle:thin:‹user›/«pwa»@//ora1.acme.internal:1521/ORCL
=== config-spring
String url = "jdbc:sqlserver://‹ip›:1433;databaseName=‹w›;user=sa;password=«pw»;⧺
encrypt=true";
=== config-settings-py
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "‹w›",
        "USER": "‹user›",
        "PASSWORD": "«pws»",
        "HOST": "‹ip›",
    }
}
=== config-settings-py
SECRET_KEY = 'django-insecure-«django»'
DEBUG = True
ALLOWED_HOSTS = ["*"]
=== config-settings-py
EMAIL_HOST = "smtp.office365.com"
EMAIL_HOST_USER = "noreply@acme.io"
EMAIL_HOST_PASSWORD = "«pw»"
=== config-settings-py
app.config["SECRET_KEY"] = "«hex64»"
app.config["SQLALCHEMY_DATABASE_URI"] = "mysql+pymysql://‹user›:«pwu»@localhost/‹w›"
=== config-settings-py
CELERY_BROKER_URL = "amqp://‹user›:«pwu»@rabbit.acme.internal:5672//"
=== config-appsettings
{
  "ConnectionStrings": {
    "Default": "Server=sql01,1433;Database=‹w›;User Id=sa;Password=«pw»;Encrypt=True;"
  },
  "Logging": { "LogLevel": { "Default": "Information" } }
}
=== config-appsettings
"Jwt": { "Issuer": "https://acme.io", "Key": "«a48»", "ExpiryMinutes": 60 },
=== config-appsettings
"AzureStorage": "DefaultEndpointsProtocol=https;AccountName=‹l20›;⧺
AccountKey=«azkey»;EndpointSuffix=core.windows.net"
=== config-appsettings
"ServiceBus": "Endpoint=sb://‹app›.servicebus.windows.net/;⧺
SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=«b44»"
=== config-appsettings
"Smtp": { "Host": "smtp.acme.io", "Port": 587, "User": "mailer", "Password": "«pws»" }
=== config-terraform
resource "aws_db_instance" "main" {
  engine   = "postgres"
  username = "‹user›"
  password = "«pw»"
  instance_class = "db.t4g.small"
}
=== config-terraform
provider "aws" {
  region     = "us-east-1"
  access_key = "‹akid›"
  secret_key = "«aws»"
}
=== config-terraform
# terraform.tfvars
do_token     = "«dop»"
droplet_size = "s-1vcpu-1gb"
=== config-terraform
variable "datadog_api_key" {
  type    = string
  default = "«hex32»"
}
=== config-terraform
credentials "app.terraform.io" {
  token = "«atlas»"
}
=== config-terraform
provider "cloudflare" {
  api_token = "«cf»"
}
=== config-k8s
apiVersion: v1
kind: Secret
metadata:
  name: ‹app›-db
type: Opaque
data:
  password: «b64pw»
=== config-k8s
kind: Secret
metadata:
  name: ‹app›
stringData:
  STRIPE_KEY: «rklive»
  DB_PASSWORD: "«pw»"
=== config-k8s
        env:
        - name: DB_HOST
          value: ‹ip›
        - name: DB_PASSWORD
          value: "«pwa»"
=== config-k8s
users:
- name: ci-deployer
  user:
    token: «jwt»
=== config-helm
# values-‹env›.yaml
postgresql:
  auth:
    username: ‹user›
    password: «pw»
    database: ‹w›
=== config-helm
helm upgrade --install ‹app› ./chart -n ‹env› --set image.tag=‹ver› ⧺
--set db.password=«pwa»
=== config-helm
grafana:
  adminUser: admin
  adminPassword: «pws»
  persistence: { enabled: true }
=== config-helm
imageCredentials:
  registry: ghcr.io
  username: ‹user›
  password: «ghp»
=== config-ansible
[db]
‹ip› ansible_user=‹user› ansible_ssh_pass=«pwa» ansible_become=yes
=== config-ansible
- name: create app user
  community.postgresql.postgresql_user:
    name: ‹user›
    password: "«pw»"
    state: present
=== config-ansible
# group_vars/all.yml
ansible_become_password: «pws»
ntp_server: pool.ntp.org
=== config-other
//registry.npmjs.org/:_authToken=«npm»
save-exact=true
=== config-other
[pypi]
username = __token__
password = «pypi»
=== config-other
machine github.com
  login ‹user›
  password «ghp»
=== config-other
{"auths": {"https://index.docker.io/v1/": {"auth": "«basic»"}}}
=== config-other
[default]
aws_access_key_id = ‹akid›
aws_secret_access_key = «aws»
=== config-other
<server>
  <id>nexus</id>
  <username>‹user›</username>
  <password>«pw»</password>
</server>
=== config-other
<add key="SendGridKey" value="«sg»" />
=== config-other
[Interface]
PrivateKey = «wg»
Address = 10.8.0.2/24
=== config-other
# ~/.pgpass
db.acme.internal:5432:‹w›:‹user›:«pwa»
=== config-other
define('DB_USER', 'wp_‹l6›');
define('DB_PASSWORD', '«pws»');
define('DB_HOST', 'localhost');
=== config-other
[database]
host = "‹ip›"
user = "‹user›"
password = "«pw»"
pool_size = 10
=== config-other
{"mcpServers": {"github": {"command": "npx", "env": ⧺
{"GITHUB_PERSONAL_ACCESS_TOKEN": "«ghpat»"}}}}
=== config-other
"brave-search": {"command": "npx", "args": ["-y", "server"], "env": {"BRAVE_API_KEY": "BSA«a24»"}}
=== config-other
network={
    ssid="Office-‹n›"
    psk="«pw»"
}
=== curl
curl https://api.openai.com/v1/chat/completions -H "Authorization: Bearer «oai»" ⧺
-H 'Content-Type: application/json' -d '{"model":"gpt-4o-mini"}'
=== curl
curl -s https://api.anthropic.com/v1/messages -H "x-api-key: «ant»" ⧺
-H "anthropic-version: 2023-06-01"
=== curl
curl -u admin:«pwa» https://nexus.acme.io/service/rest/v1/repositories
=== curl
curl https://api.stripe.com/v1/charges -u «sktest»: -d amount=2000
=== curl
curl -H "Authorization: token «gho»" https://api.github.com/user/repos?per_page=100
=== curl
curl --header "PRIVATE-TOKEN: «glpat»" "https://gitlab.acme.io/api/v4/projects/‹n›"
=== curl
curl -X POST https://hooks.slack.com/services/‹T›/‹B›/«slackpath» -d '{"text":"deploy done"}'
=== curl
curl -X POST "https://discord.com/api/webhooks/‹d18›/«dschook»" -d content=hi
=== curl
curl "https://api.telegram.org/bot«tg»/getUpdates"
=== curl
curl "https://maps.googleapis.com/maps/api/geocode/json?address=Berlin&key=«goog»"
=== curl
curl "https://api.openweathermap.org/data/2.5/weather?q=Oslo&appid=«hex32»"
=== curl
curl -X POST https://auth.acme.io/oauth/token -d grant_type=client_credentials ⧺
-d client_id=‹app› -d client_secret=«a40»
=== curl
curl -s -X POST localhost:‹port›/login -d '{"email":"bob@acme.io","password":"«pw»"}'
=== curl
curl -H 'Authorization: Basic «basic»' https://jenkins.acme.io/job/‹app›/api/json
=== curl
curl -H "X-Vault-Token: «hvs»" https://vault.acme.io/v1/secret/data/‹app›
=== curl
curl -H "Authorization: Bearer «jwt»" http://localhost:‹port›/api/me
=== curl
curl -H "DD-API-KEY: «hex32»" https://api.datadoghq.com/api/v1/validate
=== curl
curl -H "Authorization: Bearer «vcel»" https://api.vercel.com/v9/projects
=== curl
curl -H "Api-Key: «nrak»" https://api.newrelic.com/v2/applications.json
=== curl
curl -H "X-Figma-Token: «figd»" https://api.figma.com/v1/me
=== command
mysql -h ‹ip› -u root -p«pwa» ‹w› < dump.sql
=== command
PGPASSWORD='«pws»' psql -h ‹ip› -U ‹user› -d ‹w› -c 'select 1'
=== command
docker login ghcr.io -u ‹user› -p «ghp»
=== command
echo «dckr» | docker login -u ‹user› --password-stdin
=== command
git clone https://oauth2:«glpat»@gitlab.acme.io/team/‹app›.git
=== command
git remote set-url origin https://x-access-token:«ghs»@github.com/acme/‹app›.git
=== command
sshpass -p '«pw»' ssh deploy@‹ip› 'systemctl restart nginx'
=== command
redis-cli -h ‹ip› -a «pwa» ping
=== command
mongosh "mongodb://‹user›:«pwu»@‹ip›:27017/admin" --eval 'db.stats()'
=== command
aws configure set aws_secret_access_key «aws» --profile ‹env›
=== command
gh secret set NPM_TOKEN --body «npm»
=== command
kubectl create secret generic ‹app›-db --from-literal=password='«pws»' -n ‹env›
=== command
az login --service-principal -u ‹uuid› -p «azcs» --tenant ‹uuid›
=== command
twine upload dist/* -u __token__ -p «pypi»
=== command
sudo tailscale up --authkey «ts» --hostname ‹app›
=== command
echo '‹user›:«pw»' | sudo chpasswd
=== command
openssl pkcs12 -in cert.p12 -nodes -passin pass:«pwa» -out cert.pem
=== command
flyctl deploy --access-token "FlyV1 «fly»"
=== command
netlify deploy --prod --auth «nfp» --dir=dist
=== command
pulumi login && PULUMI_ACCESS_TOKEN=«pul» pulumi up -y --stack ‹env›
=== command
smbclient //‹ip›/share -U '‹user›%«pwa»'
=== command
doppler run --token «dp» -- npm start
=== command
mysqldump --user=root --password=«pwa» --all-databases > all.sql
=== command
cargo login «cio»
gem push x.gem --key «gems»
=== command
wget --user=‹user› --password='«pw»' https://files.acme.io/release-‹ver›.tar.gz
=== command
sqlcmd -S tcp:sql01,1433 -U sa -P '«pw»' -Q "SELECT @@VERSION"
=== command
psql -c "ALTER USER ‹user› WITH PASSWORD '«pws»';"
=== command
CREATE USER '‹user›'@'%' IDENTIFIED BY '«pw»';
GRANT ALL ON ‹w›.* TO '‹user›'@'%';
=== code-python
import openai
client = openai.OpenAI(api_key="«oai»", timeout=30)
=== code-python
conn = psycopg2.connect(host="‹ip›", dbname="‹w›", user="‹user›", password="«pw»")
=== code-python
s3 = boto3.client("s3", aws_access_key_id="‹akid›", aws_secret_access_key="«aws»")
=== code-python
headers = {"Authorization": "Bearer «u43»", "Accept": "application/json"}
=== code-python
engine = create_async_engine("postgresql+asyncpg://‹user›:«pwu»@localhost:5432/‹w›")
=== code-python
login(token="«hf»")  # huggingface_hub
model = AutoModel.from_pretrained("acme/‹w›")
=== code-js
const stripe = require('stripe')('«sklive»');
=== code-js
mongoose.connect('mongodb://‹user›:«pwu»@‹ip›:27017/‹w›', { maxPoolSize: 10 });
=== code-js
const token = jwt.sign({ id: user.id }, '«a48»', { expiresIn: '1h' });
const secret = '«hex64»';
=== code-js
const youtube = google.youtube({ version: 'v3', auth: '«goog»' });
=== code-js
app.use(session({ secret: '«a32»', resave: false, saveUninitialized: true }));
=== code-ts
export const config = {
  apiKey: process.env.API_KEY ?? "«a40»",
  retries: 3,
};
=== code-ts
const resend = new Resend('«re»');
await resend.emails.send({ from: 'hi@acme.io', to, subject });
=== code-go
client := github.NewClient(nil).WithAuthToken("«ghp»")
=== code-go
dsn := "‹user›:«pwu»@tcp(‹ip›:3306)/‹w›?parseTime=true"
=== code-go
rdb := redis.NewClient(&redis.Options{Addr: "‹ip›:6379", Password: "«pwa»", DB: 0})
=== code-rust
let pool = PgPool::connect("postgres://‹user›:«pwu»@localhost/‹w›").await?;
=== code-rust
const API_TOKEN: &str = "«a40»";
let res = client.get(url).bearer_auth(API_TOKEN).send().await?;
=== code-java
private static final String DB_PASSWORD = "«pw»";
=== code-java
Twilio.init("‹AC›", "«hex32»");
String authToken = "«hex32»";
=== code-kotlin
val apiKey = "«goog»"
val client = HttpClient(CIO) { install(ContentNegotiation) }
=== code-csharp
var client = new SendGridClient("«sg»");
=== code-csharp
var cs = $"Host=‹ip›;Username=‹user›;Password=«pwa»;Database=‹w›";
=== code-php
$pdo = new PDO('mysql:host=localhost;dbname=‹w›', '‹user›', '«pws»');
$password = '«pw»';
=== code-php
\Stripe\Stripe::setApiKey("«sklive»");
=== code-ruby
Octokit::Client.new(access_token: "«ghp»")
=== code-ruby
production:
  adapter: postgresql
  username: ‹user›
  password: <%= ENV.fetch("PGPASS", "«pw»") %>
=== code-swift
let apiSecret = "«a40»"
request.setValue("Bearer \(apiSecret)", forHTTPHeaderField: "Authorization")
=== code-dart
final supabase = SupabaseClient('https://‹l20›.supabase.co', '«supa»');
=== code-elixir
config :‹w›, Repo, username: "‹user›", password: "«pw»", hostname: "localhost"
config :‹w›, Endpoint, secret_key_base: "«azkey»"
=== code-shell
#!/usr/bin/env bash
set -euo pipefail
API_TOKEN="«a40»"
curl -fsS -H "Authorization: Bearer $API_TOKEN" https://api.acme.io/v1/deploy
=== code-diff
@@ -12,3 +12,3 @@ func main() {
-	token := "«glpat»"
+	token := os.Getenv("GITLAB_TOKEN")
=== code-diff
-DB_PASSWORD=«pw»
+DB_PASSWORD=${DB_PASSWORD:?}
=== code-notebook
{"cell_type": "code", "source": ["os.environ[\"OPENAI_API_KEY\"] = \"«oai»\"\n", "import os"]}
=== chat-en
the db password is «pw», user is ‹user›, host ‹ip›
=== chat-en
here's my openai key: «oaiold» — can you test the call?
=== chat-en
Use this GitHub token «ghp» to open the PR, I'll revoke it after.
=== chat-en
ssh into ‹ip› with root / password: «pws»
=== chat-en
I changed the wifi password to «pw» yesterday, update the Pi config please.
=== chat-en
login for staging: user qa@acme.io pass «pw»
=== chat-en
My API key (`«a32»`) returns 401, what am I doing wrong?
=== chat-en
token=«a40» still gives me "invalid_grant"
=== chat-en
pw for the zip is "«pw»"
=== chat-de
Das Passwort für die Datenbank lautet «pw», bitte in die .env eintragen.
=== chat-de
Zugangsdaten: Benutzer ‹user›, Kennwort: «pws»
=== chat-fr
Le mot de passe de la base est «pw» et l'utilisateur ‹user›.
=== chat-fr
Mot de passe : «pws» (serveur ‹ip›)
=== chat-es
La contraseña del servidor es «pw», no la subas al repo.
=== chat-es
usuario: ‹user› / contraseña: «pws»
=== chat-pt
A senha do banco é «pw», o host é ‹ip›.
=== chat-it
La password di root è «pw», prova a collegarti a ‹ip›.
=== chat-nl
Het wachtwoord van de database is «pw», gebruiker ‹user›.
=== chat-pl
Hasło do bazy: «pw», użytkownik ‹user›
=== chat-cs
Heslo k databázi je «pw», server ‹ip›.
=== chat-sv
Lösenordet till servern är «pw», användaren heter ‹user›.
=== chat-ru
Пароль от базы: «pw», пользователь ‹user›.
=== chat-ru
вот токен гитхаба «ghp», залей ветку сам
=== chat-uk
Пароль до сервера ‹ip›: «pws»
=== chat-tr
Veritabanı şifresi: «pw», kullanıcı ‹user›
=== chat-vi
Mật khẩu của database là «pw», máy chủ ‹ip›.
=== chat-id
Kata sandi databasenya: «pw», user ‹user›
=== chat-ar
كلمة المرور: «pw» واسم المستخدم ‹user›
=== chat-hi
डेटाबेस का पासवर्ड: «pw» है, यूज़र ‹user›
=== chat-zh
数据库密码是«pw»，用户名是‹user›。
=== chat-zh
密码：«pws»，请帮我连一下‹ip›
=== chat-zh
我的密钥是«oaiold»请帮我测试接口
=== chat-zh
用这个令牌«ghp»推送代码
=== chat-ja
パスワードは«pw»です。ホストは‹ip›です。
=== chat-ja
パスワード：«pws»
ユーザー：‹user›
=== chat-ja
APIキーは「«ant»」なので設定してください
=== chat-ja
このトークン«xoxb»でSlackに投稿して
=== chat-ko
비밀번호는 «pw» 이고 호스트는 ‹ip› 입니다.
=== chat-ko
비밀번호: «pws»
아이디: ‹user›
=== chat-ko
깃허브 토큰은 «ghp»입니다
=== chat-multi-turn
Assistant: I need the database password to run the migration. What is it?
User: «pw»
Assistant: Thanks, running `alembic upgrade head` now.
=== chat-multi-turn
assistant: Please paste your Stripe secret key.
user: «sklive»
assistant: Got it. I'll store it in .env.
=== chat-multi-turn
AI: What's the password for ‹user›@‹ip›?
Human: it's «pws»
AI: Connected, uptime is ‹n› days.
=== chat-multi-turn
> Could you share the GitLab token so I can clone the repo?
sure «glpat»
> Cloned into '‹app›'.
=== chat-multi-turn
Assistant: Which API key should I use for SendGrid?
User: this one «sg»
and the from address is hi@acme.io
=== chat-multi-turn
助手：请提供数据库密码。
用户：«pw»
助手：已连接到‹ip›。
=== key-block
-----BEGIN RSA PRIVATE KEY-----
«rsa»
-----END RSA PRIVATE KEY-----
=== key-block
$ cat ~/.ssh/id_ed25519
-----BEGIN OPENSSH PRIVATE KEY-----
«ossh»
-----END OPENSSH PRIVATE KEY-----
=== key-block
tls.key: |
-----BEGIN PRIVATE KEY-----
«pkcs8»
-----END PRIVATE KEY-----
=== key-block
-----BEGIN EC PRIVATE KEY-----
«ec»
-----END EC PRIVATE KEY-----
that's the key nginx refuses, error says key values mismatch
=== key-block
-----BEGIN PGP PRIVATE KEY BLOCK-----

«pgp»
=A9fZ
-----END PGP PRIVATE KEY BLOCK-----
=== key-block
{"type": "service_account", "project_id": "‹app›", "private_key_id": "‹sha›",
 "private_key": "-----BEGIN PRIVATE KEY-----\n«saline»\n-----END PRIVATE KEY-----\n",
 "client_email": "bot@‹app›.iam.gserviceaccount.com"}
=== key-block
GITHUB_APP_PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----\n«oneline»\n-----END RSA PRIVATE KEY-----"
=== key-block
# created: 2026-02-‹n›
# public key: age1‹l20›‹l20›
«age»
=== tool-env-dump
$ env | sort | head
HOME=/root
HOSTNAME=‹app›-‹sha7›
LANG=C.UTF-8
OPENAI_API_KEY=«oai»
PATH=/usr/local/bin:/usr/bin:/bin
PWD=/app
=== tool-env-dump
$ printenv | grep -i -E 'key|pass|token'
GH_TOKEN=«gho»
PGPASSWORD=«pwa»
SENTRY_AUTH_TOKEN=«sntry»
=== tool-env-dump
$ cat .env
# generated by setup
DB_HOST=‹ip›
DB_PASS=«pw»
MAILGUN_API_KEY=«mg»
=== tool-kubectl
$ kubectl get secret ‹app› -o jsonpath='{.data.password}' | base64 -d; echo
«pwa»
=== tool-kubectl
$ kubectl get secret ‹app› -n ‹env› -o yaml
apiVersion: v1
data:
  DB_PASSWORD: «b64pw»
kind: Secret
=== tool-kubectl
$ kubectl exec deploy/‹app› -- env
KUBERNETES_PORT=tcp://10.96.0.1:443
STRIPE_SECRET_KEY=«rklive»
=== tool-aws
$ aws sts assume-role --role-arn arn:aws:iam::‹acc›:role/deploy --role-session-name s
{"Credentials": {"AccessKeyId": "‹asia›", "SecretAccessKey": "«aws»",
 "SessionToken": "«awssess»", "Expiration": "‹ts›"}}
=== tool-aws
$ aws iam create-access-key --user-name ‹user›
{"AccessKey": {"UserName": "‹user›", "Status": "Active", "SecretAccessKey": "«aws»"}}
=== tool-aws
$ aws secretsmanager get-secret-value --secret-id ‹env›/‹app› --query SecretString
"{\"username\":\"‹user›\",\"password\":\"«pwa»\"}"
=== tool-gcloud
$ gcloud auth print-access-token
«ya29»
=== tool-gcloud
$ cat application_default_credentials.json
{"client_id": "‹acc›.apps.googleusercontent.com", "client_secret": "«gocspx»",
 "refresh_token": "«grefresh»", "type": "authorized_user"}
=== tool-az
$ az ad sp create-for-rbac --name ‹app›
{"appId": "‹uuid›", "displayName": "‹app›", "password": "«azcs»", "tenant": "‹uuid›"}
=== tool-az
$ az storage account keys list -n ‹l20›
[{"keyName": "key1", "permissions": "FULL", "value": "«azkey»"}]
=== tool-docker
$ docker inspect ‹app› --format '{{json .Config.Env}}'
["PATH=/usr/bin:/bin","MYSQL_ROOT_PASSWORD=«pwa»","GOSU_VERSION=1.17"]
=== tool-docker
            "Env": [
                "NODE_VERSION=20.11.1",
                "JWT_SECRET=«a48»",
                "DATABASE_URL=postgres://‹user›:«pwu»@db/‹w›"
            ],
=== tool-git
$ git remote -v
origin	https://‹user›:«ghp»@github.com/acme/‹app›.git (fetch)
=== tool-git
fatal: unable to access 'https://gitlab-ci-token:«pwa»@gitlab.acme.io/t/‹app›.git/': ⧺
The requested URL returned error: 403
=== tool-log
‹ts› ERROR pool: could not connect to postgres://‹user›:«pwu»@‹ip›:5432/‹w›: timeout
=== tool-log
‹ts› DEBUG request headers: {'Authorization': 'Bearer «jwt»', 'Accept': '*/*'}
=== tool-log
[‹ts›] POST /login body={"username":"‹user›","password":"«pw»"} 401 12ms
=== tool-log
Jenkins initial setup is required. Please use the following password to proceed:

«hex32»

This may also be found at: /var/lib/jenkins/secrets/initialAdminPassword
=== tool-log
root@localhost: A temporary password is generated for root@localhost: «symtmp»
=== tool-traceback
Traceback (most recent call last):
  File "/app/db.py", line ‹line›, in connect
    conn = pymysql.connect(host="‹ip›", user="‹user›", password="«pw»")
pymysql.err.OperationalError: (2003, "Can't connect to MySQL server")
=== tool-traceback
openai.AuthenticationError: Error code: 401 - {'error': {'message': ⧺
'Incorrect API key provided: «oaiold».', 'type': 'invalid_request_error'}}
=== tool-traceback
requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.acme.io', port=443): ⧺
Max retries exceeded with url: /v1/items?api_key=«a32»&page=2
=== tool-http
> GET /api/v1/projects HTTP/2
> Host: app.acme.io
> Authorization: Bearer «u43»
< HTTP/2 200
< content-type: application/json
=== tool-http
HTTP/1.1 200 OK
Set-Cookie: session=«sess»; Path=/; HttpOnly; SameSite=Lax
Content-Length: ‹n›
=== tool-http
POST /hook HTTP/1.1
Host: ci.acme.io
X-Gitlab-Token: «a32»
X-Gitlab-Event: Push Hook
=== tool-oauth
{"access_token":"«jwt»","token_type":"Bearer","expires_in":3600,"scope":"openid email"}
=== tool-oauth
{
  "access_token": "«ya29»",
  "expires_in": 3599,
  "refresh_token": "«grefresh»",
  "token_type": "Bearer"
}
=== tool-oauth
{"ok":true,"access_token":"«xoxp»","team":{"id":"‹T›","name":"acme"}}
=== tool-oauth
access_token=«gho»&scope=repo%2Cgist&token_type=bearer
=== tool-oauth
{"token_type":"bearer","access_token":"«sl»","expires_in":14400,"uid":"‹acc›"}
=== tool-url
https://‹l20›.blob.core.windows.net/backups/a.tar?sv=2022-11-02&sp=r&sig=«sas»
=== tool-url
Open https://app.acme.io/reset?user=‹user›&token=«u43» in the browser to set it.
=== tool-url
http://localhost:8888/lab?token=«a48hex»
=== ci-log
env:
  CI: true
  SONAR_TOKEN: «hex40»
Run sonar-scanner -Dsonar.projectKey=‹app›
=== ci-log
+ docker build --build-arg NPM_TOKEN=«npm» -t ‹app›:‹sha7› .
=== ci-log
2026-03-04T08:11:02Z ##[debug]CIRCLE_TOKEN=«ccipat»
2026-03-04T08:11:02Z ##[debug]CI=true
=== ci-log
$ echo "BUILDKITE_API_TOKEN=«bkua»" >> $GITHUB_ENV
=== ci-log
gitlab-runner register --url https://gitlab.acme.io --token «glrt» --executor docker
=== provider-chat
grafana service account token: «glsa»
=== provider-chat
databricks pat «dapi» works with host https://adb-‹acc›.azuredatabricks.net
=== provider-chat
Jira: email bob@acme.io, API token «atatt»
=== provider-chat
planetscale service token «pscale», org acme
=== provider-chat
heroku key «hrku» - scale web=2 please
=== provider-chat
supabase access token is «sbp», project ref ‹l20›
=== provider-chat
Okta API token: «okta» (org acme.okta.com)
=== provider-chat
Asana PAT → «asana»
=== provider-chat
postman key «pmak» for the newman run
=== provider-chat
1Password service account: export OP_SERVICE_ACCOUNT_TOKEN=«op»
=== provider-chat
posthog personal key «phx», project ‹n4›
=== private-block
Please refactor the parser. <private>«private»</private> Then run the tests.
=== private-block
<private>
«private»
</private>
The bug is in src/‹w›.rs line ‹line›.
=== private-block
メモ<private>«private»</private>ありがとう、次はビルドを直して
=== long-turn
Here is the whole log of the failed deploy:
‹log›
‹ts› ERROR auth failed for STRIPE_SECRET_KEY=«rklive»
‹log#b›
Why does it stop?
=== long-turn
‹prose›

By the way, the database password is «pw» on ‹env›.

‹prose#b›
=== long-turn
```python
‹code›
API_KEY = "«a40»"

‹code#b›
```
=== long-turn
‹log›
‹ts› WARN reconnect to redis://:«pwa»@‹ip›:6379/0
‹log#b›
=== long-turn
‹prose›

-----BEGIN RSA PRIVATE KEY-----
«rsa»
-----END RSA PRIVATE KEY-----

‹prose#b›
=== long-turn
‹code›
conn = connect("mysql://‹user›:«pwu»@‹ip›/‹w›")
‹code#b›
=== long-turn
我把日志贴在下面：
‹log›
数据库密码是«pw»，麻烦看一下
‹log#b›
=== long-turn
‹prose›

curl -H "Authorization: Bearer «ghpat»" https://api.github.com/repos/acme/‹app›/actions/runs

‹log›
"""
POSITIVE_FRAMES += r"""
=== chat-multi-turn
Assistant: The server asks for a login. Which user and password should I use?
User: ‹user› / «pws»
Assistant: Logged in.
=== chat-multi-turn
Assistant: ¿Cuál es la contraseña de la base de datos?
Usuario: «pw»
Assistant: Gracias, ya funciona.
=== chat-multi-turn
Assistent: Wie lautet das Passwort für ‹ip›?
Nutzer: «pw»
Assistent: Danke, die Verbindung steht.
=== chat-multi-turn
アシスタント：データベースのパスワードを教えてください。
ユーザー：«pw»
アシスタント：接続できました。
=== chat-multi-turn
Ассистент: Какой пароль у пользователя ‹user›?
Пользователь: «pw»
Ассистент: Спасибо, подключился.
=== chat-multi-turn
User: deploy to fly please
Assistant: I need a Fly API token. Run `fly tokens create deploy` and paste the output.
User: FlyV1 «fly»
=== chat-multi-turn
[user] 401 again
[assistant] Show me the exact header you send (you can mask the token).
[user] Authorization: Bearer «a48»
[assistant] You forgot to mask it; rotate that token.
=== chat-multi-turn
User: what's wrong with my .env?
DB_HOST=‹ip›
DB_PASSWORD=«pws»
Assistant: DB_PORT is missing.
=== chat-multi-turn
Human: run it against ‹env›
Assistant: I need DATABASE_URL.
Human: postgresql://‹user›:«pwu»@‹ip›:5432/‹w›
=== chat-en
The new admin password: «pw» (the old one no longer works)
=== chat-en
try again with the passphrase «pws» for the deploy key
=== chat-en
creds for the test box: ‹user› / «pw» on ‹ip›
=== chat-en
client secret is «azcs», tenant ‹uuid›
=== chat-en
I set JWT_SECRET to «hex64» on ‹env›, does it need a restart?
=== chat-en
so the connection string is mysql://‹user›:«pwu»@‹ip›/‹w› and it times out
=== chat-da
Adgangskoden til databasen er «pw», brugeren hedder ‹user›.
=== chat-fi
Tietokannan salasana on «pw», käyttäjä ‹user›.
=== chat-hu
Az adatbázis jelszava: «pw», felhasználó: ‹user›
=== chat-el
Ο κωδικός πρόσβασης είναι «pw», χρήστης ‹user›.
=== chat-th
รหัสผ่านฐานข้อมูลคือ «pw» ผู้ใช้ ‹user›
=== chat-he
הסיסמה: «pw», משתמש ‹user›
=== chat-zh
把STRIPE_SECRET_KEY设成«rklive»，然后重启‹app›。
=== chat-zh
账号‹user›，密码«pw»，登录后看一下日志
=== chat-zh
連線字串是postgres://‹user›:«pwu»@‹ip›:5432/‹w›，逾時了
=== chat-ja
GitHubのトークンは«ghpat»です。リポジトリは‹app›。
=== chat-ja
rootのパスワードを「«pws»」に変更しました
=== chat-ko
슬랙 봇 토큰«xoxb»으로 메시지를 보내줘
=== chat-ko
DB 접속 정보: postgres://‹user›:«pwu»@‹ip›:5432/‹w›
=== tool-webhook
Deploy notifier: SLACK_WEBHOOK_URL=https://hooks.slack.com/services/‹T›/‹B›/«slackpath»
=== tool-webhook
  receivers:
  - name: ops
    slack_configs:
    - api_url: https://hooks.slack.com/services/‹T›/‹B›/«slackpath»
      channel: '#alerts'
=== tool-webhook
DISCORD_WEBHOOK=https://discord.com/api/webhooks/‹d18›/«dschook»
=== tool-http
* Server auth using Basic with user '‹user›'
> GET /artifactory/api/storage/‹w› HTTP/1.1
> Authorization: Basic «basic»
> User-Agent: curl/8.5.0
=== tool-http
{"method": "POST", "url": "https://api.acme.io/v1/jobs", "headers": {"x-api-key": "«a40»"}}
=== tool-http
X-Auth-Token: «a32»
X-Request-Id: ‹uuid›
=== tool-log
‹ts› INFO config loaded: {"db":{"host":"‹ip›","user":"‹user›","password":"«pw»"},"port":80}
=== tool-log
‹ts› DEBUG Settings(host='‹ip›', api_key='«a32»', retries=3)
=== tool-log
2026/03/0‹n› 10:11:12 [DEBUG] provider.aws: secret_key=«aws» region=us-east-1
=== tool-log
{"level":"error","msg":"dial failed","dsn":"redis://:«pwa»@‹ip›:6379/2","ts":"‹ts›"}
=== tool-psql
‹w›=> select id, email, api_token from users limit 1;
 id  | email            | api_token
-----+------------------+-----------
 ‹n› | ‹user›@acme.io   | «a40»
=== tool-psql
‹w›=# ALTER ROLE ‹user› PASSWORD '«pw»';
ALTER ROLE
=== tool-terraform
$ terraform output -json db
{"host": "‹ip›", "password": "«pwa»", "port": 5432}
=== tool-terraform
$ terraform output -raw db_password
«pws»
=== tool-vault
$ vault kv get secret/‹env›/‹app›
====== Data ======
Key         Value
---         -----
password    «pwa»
=== tool-vault
Key                  Value
---                  -----
token                «hvs»
token_accessor       ‹l20›
token_duration       768h
=== tool-npm
$ cat ~/.npmrc
//npm.pkg.github.com/:_authToken=«ghp»
@acme:registry=https://npm.pkg.github.com
=== tool-docker
$ cat ~/.docker/config.json
{"auths": {"ghcr.io": {"auth": "«basic»"}}}
=== tool-heroku
$ heroku config -a ‹app›
Config Vars of ‹app›
DATABASE_URL: postgres://‹l6›:«pwu»@ec2-3-5-7-9.compute.amazonaws.com:5432/d‹l6›
=== tool-json
{"id": ‹n›, "name": "‹app›", "client_id": "‹uuid›", "client_secret": "«a40»"}
=== tool-json
{"email": "‹user›@acme.io", "password": "«pws»", "remember": true}
=== tool-json
"env": [{"name": "LOG", "value": "info"}, {"name": "DB_PASSWORD", "value": "«pwa»"}]
=== code-lua
local red = redis:new(); red:auth("«pwa»") -- ‹ip›
=== code-r
con <- dbConnect(RPostgres::Postgres(), host = "‹ip›", user = "‹user›", password = "«pw»")
=== code-perl
my $dbh = DBI->connect("dbi:mysql:‹w›;host=‹ip›", "‹user›", "«pws»");
my $password = "«pw»";
=== code-cpp
mysql_real_connect(conn, "‹ip›", "‹user›", "«pw»", "‹w›", 3306, nullptr, 0);
=== code-cpp
constexpr const char* kApiKey = "«a40»";
=== code-scala
val password = "«pw»"
val db = Database.forURL(url, user = "‹user›", password = password)
=== code-powershell
$cred = ConvertTo-SecureString "«pw»" -AsPlainText -Force
=== code-test
def test_live():
    client = Client(base_url="http://‹ip›", api_key="«a32»")
    assert client.ping()
=== ci-log
deploy:
  script:
    - export AWS_SECRET_ACCESS_KEY=«aws»
    - make deploy ENV=‹env›
=== ci-log
  - name: push
    run: git push https://‹user›:«ghp»@github.com/acme/‹app›.git main
"""

NEGATIVE_FRAMES = r"""
=== env-reference
‹z#a›=${‹z#a›}
APP=‹app›
=== env-reference
const apiKey = process.env.‹U›_API_KEY;
=== env-reference
password = os.environ["‹U›_PASSWORD"]  # line ‹line›
=== env-reference
‹U›_TOKEN = os.getenv("‹U›_TOKEN", "")
=== env-reference
token := os.Getenv("‹U›_TOKEN")
=== env-reference
let key = std::env::var("‹U›_API_KEY").expect("not set, ‹app›");
=== env-reference
password: ${‹z›}
host: ‹ip›
=== env-reference
          token: ${{ secrets.‹U›_TOKEN }}
=== env-reference
      NPM_TOKEN: ${{ secrets.NPM_TOKEN }}
      ref: ‹sha›
=== env-reference
ENV['‹z#a›'] or raise "‹z#a› missing in ‹app›"
=== env-reference
$password = getenv('‹z›'); // ‹app›
=== env-reference
String secret = System.getenv("‹z›");
=== env-reference
var pw = Environment.GetEnvironmentVariable("‹z›");
=== env-reference
curl -H "Authorization: Bearer $‹U›_TOKEN" https://api.acme.io/v1/jobs/‹n›
=== env-reference
curl -H "Authorization: Bearer ${API_TOKEN}" http://localhost:‹port›/health
=== env-reference
psql "postgres://$DB_USER:$DB_PASSWORD@‹ip›:5432/‹w›"
=== env-reference
DATABASE_URL=postgres://${DB_USER}:${DB_PASS}@‹ip›:5432/‹w›
=== env-reference
mysql -u root -p"$MYSQL_ROOT_PASSWORD" -h ‹ip› ‹w›
=== env-reference
$env:‹U›_KEY | Out-Null; Write-Host ‹app›
=== env-reference
password = "{{ vault_‹w›_password }}"
=== env-reference
ansible_become_password: "{{ lookup('env', '‹z›') }}"
=== env-reference
  password = var.‹w›_password
=== env-reference
  password = random_password.‹w›.result
=== env-reference
  token = data.vault_generic_secret.‹w›.data["token"]
=== env-reference
spring.datasource.password=${‹z›}
spring.datasource.url=jdbc:postgresql://‹ip›/‹w›
=== env-reference
secret_key_base: <%= ENV["‹z›"] %>
=== env-reference
api_key = config["‹w›"]["api_key"]
=== env-reference
apiKey: import.meta.env.VITE_‹U›_KEY,
=== env-reference
Deno.env.get("‹U›_TOKEN") ?? ""
=== env-reference
val token = BuildConfig.‹U›_TOKEN
=== env-reference
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
registry=https://npm.acme.io/‹w›/
=== env-reference
docker login ghcr.io -u ‹user› -p ${{ secrets.GITHUB_TOKEN }}
=== env-reference
echo "$DOCKER_PASSWORD" | docker login -u ‹user› --password-stdin
=== env-reference
helm upgrade ‹app› ./chart --set db.password=$DB_PASSWORD
=== env-reference
export VAULT_TOKEN=$(vault login -token-only -method=oidc role=‹w›)
=== env-reference
export GITHUB_TOKEN=$(gh auth token)  # for ‹app›
=== env-reference
PGPASSWORD=$(aws rds generate-db-auth-token --hostname ‹app›.rds.amazonaws.com --port 5432)
=== env-reference
TOKEN=$(curl -s localhost:‹port›/token | jq -r .access_token)
=== env-reference
password="$(op read 'op://‹env›/‹app›/password')"
=== env-reference
DB_PASSWORD=op://‹env›/‹app›/password
=== env-reference
DB_PASSWORD_FILE=/run/secrets/‹w›_db_password
=== env-reference
MYSQL_PASSWORD_FILE: /run/secrets/‹w›-pw
=== env-reference
password: !vault-ref secret/data/‹env›/‹app›#password
=== env-reference
{{resolve:secretsmanager:‹env›/‹app›:SecretString:password}}
=== env-reference
password: @Microsoft.KeyVault(SecretUri=https://‹app›.vault.azure.net/secrets/db/)
=== env-reference
if [ -z "${‹z#a›:-}" ]; then echo "‹z#a› is empty"; exit ‹n›; fi
=== env-reference
: "${‹z›:?must be set for ‹env›}"
=== env-reference
set ‹z#a›=%‹z#a›%
rem ‹app›
=== env-reference
{"mcpServers":{"‹w›":{"env":{"GITHUB_TOKEN":"${GITHUB_TOKEN}"}}}}
=== env-reference
config :‹w›, secret_key_base: System.fetch_env!("SECRET_KEY_BASE")
=== env-reference
settings.‹z›.get_secret_value()
=== env-reference
builder.Configuration["‹w›:ApiKey"]
=== env-reference
@Value("${‹w›.api.secret}") private String secret;
=== env-reference
headers: { Authorization: `Bearer ${token}`, "x-request-id": "‹uuid›" }
=== env-reference
headers = {"Authorization": f"Bearer {self.token}"}  # ‹path›.py
=== env-reference
req.Header.Set("Authorization", "Bearer "+token) // ‹path›.go:‹line›
=== env-reference
auth=(user, password), timeout=‹n›
=== env-reference
`https://api.telegram.org/bot${token}/sendMessage?chat_id=‹acc›`
=== env-reference
f"postgresql://{user}:{password}@{host}:‹port›/{name}"
=== placeholder
‹U›_API_KEY=your_api_key_here
PORT=‹port›
=== placeholder
‹U›_API_KEY=<your-api-key>
URL=https://‹app›.example.com
=== placeholder
OPENAI_API_KEY=sk-...
MODEL=gpt-4o
SEED=‹n›
=== placeholder
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
PORT=‹port›
=== placeholder
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
REPO=acme/‹app›
=== placeholder
STRIPE_SECRET_KEY=sk_test_...
PORT=‹port›
=== placeholder
DB_PASSWORD=<password>
DB_HOST=‹ip›
=== placeholder
password: "YOUR_PASSWORD_HERE"
host: ‹ip›
=== placeholder
DATABASE_URL=postgres://USER:PASSWORD@HOST:5432/‹w›
=== placeholder
postgresql://<user>:<password>@‹ip›:5432/<dbname>
=== placeholder
mongodb+srv://<username>:<password>@‹w›.mongodb.net/test
=== placeholder
curl -H "Authorization: Bearer <token>" https://api.acme.io/v1/‹w›/‹n›
=== placeholder
curl -H "Authorization: Bearer YOUR_TOKEN" http://localhost:‹port›/me
=== placeholder
curl -u username:password is the usual form, see section ‹n›.
=== placeholder
api_key = "REPLACE_ME"  # TODO ‹app›
=== placeholder
JWT_SECRET=
SESSION_SECRET=
PORT=‹port›
=== placeholder
password: ""
user: ‹user›
=== placeholder
password = None  # type: str | None, see line ‹line›
=== placeholder
"password": null, "id": ‹n›
=== placeholder
token: [REDACTED]
job: ‹uuid›
=== placeholder
‹ts› login user=‹user› password=********
=== placeholder
‹ts› Authorization: Bearer ***
=== placeholder
password: [FILTERED], email: ‹user›@example.com
=== placeholder
DB_PASSWORD=***
DB_HOST=‹ip›
=== placeholder
AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
region=eu-west-‹n›
=== placeholder
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
# profile ‹env›-‹n›
=== placeholder
The doc for ‹app› uses AKIAIOSFODNN7EXAMPLE and AKIAI44QH8DHBEXAMPLE in its samples.
=== placeholder
password: <redacted>
request: ‹uuid›
=== placeholder
SECRET_KEY = "<generate with openssl rand -hex 32>"  # ‹app›
=== placeholder
API_KEY="{{API_KEY}}"
APP={{APP}}-‹n›
=== placeholder
client_secret: <CLIENT_SECRET>
tenant: ‹uuid›
=== placeholder
SLACK_TOKEN=xoxb-your-token-here
CHANNEL=C0‹n4›
=== placeholder
ANTHROPIC_API_KEY=sk-ant-... # in ‹app›/.env.example
=== placeholder
# .env.example for ‹app›
SECRET_KEY=insert-secret-key-here
=== placeholder
Set HF_TOKEN=hf_*** before you run step ‹n›.
=== placeholder
https://<token>@github.com/acme/‹app›.git
=== placeholder
https://hooks.slack.com/services/XXX/YYY/ZZZ is a placeholder, issue #‹n›
=== placeholder
password=(hidden) user=‹user›
=== placeholder
{"api_key": "string", "name": "‹w›", "limit": ‹n›}
=== placeholder
パスワード: <パスワード>
ホスト: ‹ip›
=== placeholder
密码：（请自行填写）
主机：‹ip›
=== placeholder
Mot de passe : <votre mot de passe>, hôte ‹ip›
=== placeholder
Passwort: <dein Passwort>
Host: ‹ip›
=== bare-word
I forgot my password for ‹app›, where is the reset page?
=== bare-word
The password field in ‹path›.tsx has no autocomplete attribute.
=== bare-word
Password must be at least ‹n› characters long.
=== bare-word
Error: invalid password for user ‹user›
=== bare-word
Please add a "forgot password?" link below the form, line ‹line›.
=== bare-word
Token expired ‹n› seconds ago, the client should refresh.
=== bare-word
We store only a hash of the password in ‹path›.py.
=== bare-word
Secrets are mounted from the vault in ‹env›, nothing is in the repo.
=== bare-word
password authentication failed for user "‹user›"
=== bare-word
fatal: Authentication failed for 'https://github.com/acme/‹app›.git/'
=== bare-word
The API key is missing in ‹env›; ask ops for one.
=== bare-word
remote: Support for password authentication was removed; see issue ‹n›.
=== bare-word
sudo: a password is required
exit ‹n›
=== bare-word
Enter password for ‹user›:
=== bare-word
[sudo] password for ‹user›:
=== bare-word
‹user›@‹ip›'s password:
=== bare-word
Permission denied (publickey,password). port ‹port›
=== bare-word
Access denied for user '‹user›'@'‹ip›' (using password: YES)
=== bare-word
The password is wrong, try again (attempt ‹n›).
=== bare-word
Is the token still valid? The job ‹n› got a 401.
=== bare-word
password is required when auth is set, see ‹path›.md
=== bare-word
The secret is not found in namespace ‹env›.
=== bare-word
Your password will expire in ‹n› days.
=== bare-word
token: unexpected end of input at line ‹line›
=== bare-word
SyntaxError: Unexpected token '<' at position ‹n›
=== bare-word
The access token has the scopes read:org and repo for ‹app›.
=== bare-word
Two-factor passwords were rotated on Monday by ‹user›.
=== bare-word
Do not paste passwords here, put them in the vault under ‹app›.
=== bare-word
password reset email was sent to ‹user›@example.com
=== bare-word
Das Passwort muss mindestens ‹n› Zeichen haben.
=== bare-word
Ich habe mein Passwort für ‹app› vergessen.
=== bare-word
Das Passwort ist abgelaufen, Benutzer ‹user› kommt nicht rein.
=== bare-word
Le mot de passe est incorrect (tentative ‹n›).
=== bare-word
J'ai oublié le mot de passe de ‹app›.
=== bare-word
La contraseña es obligatoria en ‹path›.
=== bare-word
Olvidé la contraseña de ‹app›, ¿cómo la cambio?
=== bare-word
A senha precisa ter ‹n› caracteres.
=== bare-word
La password è scaduta da ‹n› giorni.
=== bare-word
Het wachtwoord is verlopen, gebruiker ‹user›.
=== bare-word
Hasło jest wymagane (pole ‹n›).
=== bare-word
Heslo je povinné, viz řádek ‹line›.
=== bare-word
Lösenordet är för kort, minst ‹n› tecken.
=== bare-word
Пароль обязателен, см. строку ‹line›.
=== bare-word
Забыл пароль от ‹app›, как сбросить?
=== bare-word
Пароль должен быть длиннее ‹n› символов.
=== bare-word
Şifre en az ‹n› karakter olmalı.
=== bare-word
Mật khẩu phải có ít nhất ‹n› ký tự.
=== bare-word
Kata sandi harus diisi, lihat baris ‹line›.
=== bare-word
كلمة المرور مطلوبة في السطر ‹line›
=== bare-word
पासवर्ड आवश्यक है, पंक्ति ‹line›
=== bare-word
密码不能为空，请检查第‹line›行。
=== bare-word
密码错误，剩余‹n›次机会。
=== bare-word
请把密码放到环境变量里，不要写进‹path›。
=== bare-word
令牌已过期，需要重新登录‹app›。
=== bare-word
パスワードを忘れました。‹app›の再設定方法は？
=== bare-word
パスワードは‹n›文字以上にしてください。
=== bare-word
トークンの有効期限が切れています（‹n›秒前）。
=== bare-word
APIキーが設定されていません: ‹path›
=== bare-word
비밀번호는 ‹n›자 이상이어야 합니다.
=== bare-word
비밀번호를 잊어버렸어요. ‹app› 초기화 방법은?
=== bare-word
토큰이 만료되었습니다 (‹n›초).
=== code-typed
def login(username: str, password: str) -> Token:  # ‹path›.py
=== code-typed
async function login(email: string, password: string): Promise<Token> { // ‹line›
=== code-typed
interface Credentials { username: string; password: string; id‹n›: number }
=== code-typed
type Config struct {
	Password string `json:"password" env:"‹z›"`
}
=== code-typed
pub struct ‹l6› { pub token: String, pub secret: Option<String> }
=== code-typed
class LoginForm(BaseModel):
    password: SecretStr
    max_age: int = ‹n›
=== code-typed
private String password; // ‹line›
=== code-typed
data class User(val name: String, val password: String, val age: Int = ‹n›)
=== code-typed
public string Password { get; set; } = string.Empty; // ‹path›
=== code-typed
password = getpass.getpass("Password for ‹user›: ")
=== code-typed
password = input("Password: ")  # ‹line›
=== code-typed
read -s -p "Password for ‹user›: " password
=== code-typed
const password = await bcrypt.hash(req.body.password, ‹n›);
=== code-typed
if (password !== confirmPassword) { setError("‹w›"); }
=== code-typed
const token = localStorage.getItem("‹w›_token");
=== code-typed
const { token } = useAuth(); // ‹path›.ts:‹line›
=== code-typed
token = request.headers.get("Authorization").split(" ")[1]  # ‹line›
=== code-typed
csrf_token = generate_csrf_token(length=‹n›)
=== code-typed
<input type="password" name="password" id="pw‹n›" placeholder="Password" required>
=== code-typed
<TextField label="Password" type="password" value={password} tabIndex={‹n›} />
=== code-typed
<label for="password‹n›">Password</label>
=== code-typed
password_hash VARCHAR(‹n›) NOT NULL,
=== code-typed
ALTER TABLE ‹w› ADD COLUMN password_reset_token TEXT NULL;
=== code-typed
SELECT id, password_hash FROM users WHERE id = ‹n›;
=== code-typed
t.string "encrypted_password", default: "", null: false, limit: ‹n›
=== code-typed
validates :password, length: { minimum: ‹n› }
=== code-typed
password = Column(String(‹n›), nullable=False)
=== code-typed
secret = secrets.token_urlsafe(‹n›)
=== code-typed
const secret = crypto.randomBytes(‹n›).toString('hex');
=== code-typed
openssl rand -base64 ‹n› > ‹w›.key
=== code-typed
api_key: str = Field(..., min_length=‹n›)
=== code-typed
max_tokens=‹n4›, temperature=0.2
=== code-typed
tokenizer = AutoTokenizer.from_pretrained("acme/‹app›")
=== code-typed
tokens = line.split(","); token_count += ‹n›
=== code-typed
{"usage": {"prompt_tokens": ‹n4›, "completion_tokens": ‹n›, "total_tokens": ‹n4›}}
=== code-typed
"cache_creation_input_tokens": ‹n4›, "output_tokens": ‹n›
=== code-typed
pad_token_id = ‹n4›; eos_token = "</s>"
=== code-typed
expect(screen.getByLabelText('Password')).toHaveLength(‹n›);
=== code-typed
def test_password_too_short_‹n›(client): ...
=== code-typed
raise ValueError("password must not be empty")  # line ‹line›
=== code-typed
throw new UnauthorizedException("Invalid token in ‹path›");
=== code-typed
fn parse_token(input: &str) -> Result<Token, Error> { /* ‹line› */ }
=== code-typed
impl fmt::Debug for Secret { /* prints *** */ const N: usize = ‹n›; }
=== code-typed
@app.post("/reset-password/{token}")  # ‹path›.py:‹line›
=== code-typed
router.get("/api-keys/:keyId", requireAuth, listKeys); // ‹line›
=== code-typed
export const selectToken = (state: RootState) => state.auth.token; // ‹line›
=== code-typed
passwordEncoder.encode(dto.getPassword()); // ‹path›
=== code-typed
$user->password = Hash::make($request->password); // ‹line›
=== code-typed
logger.info("token refreshed for %s", user_id)  # ‹line›
=== code-typed
key = f"session:{user_id}:‹w›"
=== code-typed
primary_key=True, foreign_key="‹w›.id"
=== code-typed
for key, value in sorted(options.items())[:‹n›]:
=== code-typed
sort_key = lambda row: (row.token, row.line + ‹n›)
=== code-typed
const cacheKey = `user-profile-${id}-v‹n›`;
=== code-typed
React key={item.id} on line ‹line› of ‹path›.tsx
=== code-typed
-    password: string;
+    passwordHash: string; // ‹line›
=== code-typed
@@ -‹line›,7 +‹line›,9 @@ def verify_token(token: str, secret: str) -> bool:
=== code-typed
var passwordRegex = /^(?=.*[A-Z])(?=.*\d).{‹n›,}$/;
=== code-typed
TOKEN_RE = re.compile(r"ghp_[A-Za-z0-9]{36}")  # ‹path›.py:‹line›
=== code-typed
- id: aws-key
  regex: 'AKIA[0-9A-Z]{16}'
  line: ‹line›
=== code-typed
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "‹w›.settings")
=== code-typed
--token-limit ‹n4› --api-key-env ‹U›_API_KEY
=== code-typed
let isPasswordVisible = false; // ‹path›.vue:‹line›
=== code-typed
val passwordVisible by remember { mutableStateOf(false) } // ‹line›
=== code-typed
@State private var password = "" // ‹path›.swift
=== code-typed
final passwordController = TextEditingController(); // ‹line›
=== code-typed
def change_password(user, old_password, new_password), do: {:ok, ‹n›}
=== code-typed
assert response.json()["detail"] == "Incorrect username or password"  # ‹line›
=== code-typed
"password.min": "The password needs ‹n› characters",
=== code-typed
i18n: { password: "Passwort", login: "Anmelden", retry: ‹n› }
=== code-typed
"login.password": "パスワード", "retries": ‹n›
=== code-typed
"password": { "type": "string", "minLength": ‹n› }
=== code-typed
      securitySchemes:
        ApiKeyAuth: { type: apiKey, in: header, name: X-API-Key } # ‹line›
=== code-typed
    auth_type = Literal["password", "token", "none"]  # ‹line›
=== code-typed
grant_type=password requires a username and is off since v‹ver›.
=== code-typed
PasswordAuthentication no
Port ‹port›
=== code-typed
PermitRootLogin prohibit-password
Port ‹port›
=== code-typed
ssl_certificate_key /etc/nginx/ssl/‹w›.key;
=== code-typed
IdentityFile ~/.ssh/id_ed25519_‹w›
=== code-typed
ssh -i ~/.ssh/‹w›.pem ubuntu@‹ip›
=== code-typed
chmod 600 ~/.ssh/id_rsa && ssh-add ~/.ssh/id_rsa # ‹user›
=== code-typed
PUBLIC_KEY_PATH=/etc/keys/‹app›.pub.pem
=== code-typed
JWT_ALGORITHM=RS256
JWT_TTL=‹n›
=== code-typed
TOKEN_EXPIRY=‹n4›
PASSWORD_MIN_LENGTH=‹n›
=== code-typed
ENABLE_PASSWORD_LOGIN=true
SESSION_TIMEOUT=‹n›
=== code-typed
SECRET_NAME=‹app›-credentials
REGION=eu-west-1
=== code-typed
API_KEY_HEADER=X-API-Key
API_TIMEOUT=‹n›
=== code-typed
TOKEN_URL=https://auth.acme.io/oauth/token?v=‹n›
=== code-typed
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]  # ‹line›
"""
NEGATIVE_FRAMES += r"""
=== hash-or-id
commit ‹sha›
Author: ‹user› <‹user›@acme.io>
=== hash-or-id
‹sha7› fix(auth): refresh token before it expires
=== hash-or-id
 * [new branch]      ‹app› -> origin/‹app›
   ‹sha7›..‹sha7#b›  main -> origin/main
=== hash-or-id
index ‹sha7›..‹sha7#b› 100644
--- a/‹path›.ts
+++ b/‹path›.ts
=== hash-or-id
HEAD is now at ‹sha7› remove password from the fixture
=== hash-or-id
Digest: sha256:‹sha256›
Status: Downloaded newer image for postgres:16
=== hash-or-id
FROM node:20@sha256:‹sha256› AS build
=== hash-or-id
image: ghcr.io/acme/‹app›@sha256:‹sha256›
=== hash-or-id
‹sha256›  ‹app›-‹ver›.tar.gz
=== hash-or-id
‹md5›  dist/‹w›.js
=== hash-or-id
      "integrity": "‹sha512›",
      "dev": true
=== hash-or-id
  integrity ‹sha512›
=== hash-or-id
github.com/acme/‹w› v‹ver› ‹gosum›
=== hash-or-id
checksum = "‹sha256›"
name = "‹w›"
=== hash-or-id
requests==2.32.3 --hash=sha256:‹sha256›
=== hash-or-id
"requestId": "‹uuid›", "tenantId": "‹uuid#b›"
=== hash-or-id
x-request-id: ‹uuid›
x-amz-id-2: ‹b64s›
=== hash-or-id
traceparent: 00-‹md5›-‹hex16›-01
=== hash-or-id
‹ts› INFO trace_id=‹md5› span_id=‹hex16› ok
=== hash-or-id
etag: W/"‹md5›"
content-length: ‹n4›
=== hash-or-id
build ‹uuid› finished in ‹n›s
=== hash-or-id
container ‹sha256› exited with code 137
=== hash-or-id
CONTAINER ID   IMAGE      STATUS
‹hex16›   ‹app›   Up 3 hours
=== hash-or-id
subscription: ‹uuid›
resourceGroup: rg-‹app›
=== hash-or-id
arn:aws:secretsmanager:eu-west-1:‹acc›:secret:‹env›/‹app›-‹l6›
=== hash-or-id
arn:aws:iam::‹acc›:role/‹app›-token-reader
=== hash-or-id
arn:aws:kms:us-east-1:‹acc›:key/‹uuid›
=== hash-or-id
i-0‹hex16› sg-0‹hex16#b› subnet-0‹hex16#c›
=== hash-or-id
pod/‹app›-7d9c6b5f4-‹l6› 1/1 Running 0 ‹n›m
=== hash-or-id
user_id: 64f‹hex16›, name: ‹user›
=== hash-or-id
ObjectId("65a1b2c3‹hex16›") in collection ‹w›
=== hash-or-id
{"id": "chatcmpl-‹l20›", "object": "chat.completion", "created": 17‹n4›0000}
=== hash-or-id
{"id": "msg_01‹l20›", "type": "message", "role": "assistant"}
=== hash-or-id
{"type": "tool_use", "id": "toolu_01‹l20›", "name": "bash"}
=== hash-or-id
"tool_call_id": "call_‹l20›", "name": "read_file"
=== hash-or-id
charge ch_3‹l20› for customer cus_‹l6›Ab12 succeeded
=== hash-or-id
pi_3‹l20› requires_action, see evt_1‹l20#b›
=== hash-or-id
price_1‹l20› is the yearly plan, prod_‹l6›Xy9 the product
=== hash-or-id
Sentry event ‹md5› in project ‹app›
=== hash-or-id
run https://github.com/acme/‹app›/actions/runs/‹acc›/job/‹acc#b›
=== hash-or-id
https://github.com/acme/‹app›/commit/‹sha›
=== hash-or-id
https://github.com/acme/‹app›/blob/‹sha›/‹path›.py#L‹line›
=== hash-or-id
uses: actions/checkout@‹sha› # v4
=== hash-or-id
pip install git+https://github.com/acme/‹app›.git@‹sha›
=== hash-or-id
cache key: node-modules-linux-‹sha256›
=== hash-or-id
Cache restored from key: pip-‹sha›
=== hash-or-id
assets/index-‹hex16›.js  142.‹n› kB │ gzip: 45.1 kB
=== hash-or-id
.css-‹l6›-MuiButton { padding: ‹n›px; }
=== hash-or-id
data-testid="password-input-‹n›" class="sc-‹l6› form"
=== hash-or-id
block ‹sha256› height ‹n4›
=== hash-or-id
merkle root: ‹sha256›
=== hash-or-id
terraform: random_password.‹w›: Refreshing state... [id=none]
=== hash-or-id
aws_secretsmanager_secret.‹w›: Creation complete after 1s
=== hash-or-id
lineage "‹uuid›" serial ‹n›
=== hash-or-id
revision = '‹hex16›'
down_revision = '‹hex16#b›'
=== hash-or-id
INFO  [alembic] Running upgrade ‹hex16› -> ‹hex16#b›, add password reset
=== hash-or-id
run_id=‹uuid› agent=‹w› status=done
=== hash-or-id
Cloudflare Ray ID: ‹hex16›-FRA
=== hash-or-id
"machine-id": "‹md5›"
=== hash-or-id
UUID=‹uuid› /boot ext4 defaults 0 2
=== hash-or-id
nix: /nix/store/‹l20›abcd12345678-‹w›-‹ver›
=== hash-or-id
sha1:‹sha› mismatch for ‹w›-‹ver›.whl
=== hash-or-id
Subresource: <script src="/a.js" integrity="‹sha512›"></script>
=== hash-or-id
MD5 (‹w›.bin) = ‹md5›
=== hash-or-id
telegram chat_id=-100‹acc›
=== hash-or-id
discord channel ‹d18› guild ‹d18#b›
=== hash-or-id
Message-ID: <‹hex16›.‹n4›@mail.acme.io>
=== hash-or-id
DKIM-Signature: v=1; a=rsa-sha256; d=acme.io; bh=‹b64s›=;
=== hash-or-id
phone +49 30 ‹n4›‹n4#b›, order ‹acc›
=== hash-or-id
test vectors: sha256("‹w›") = ‹sha256›
=== public-key
ssh-ed25519 ‹edpub› ‹user›@laptop
=== public-key
The key fingerprint is:
‹fp› ‹user›@laptop
=== public-key
256 ‹fp› ‹user›@acme.io (ED25519)
=== public-key
github.com ssh-ed25519 ‹edpub›
=== public-key
ED25519 key fingerprint is ‹fp›.
This key is not known by any other names.
=== public-key
-----BEGIN CERTIFICATE-----
MIID‹b64›
‹b64#b›
-----END CERTIFICATE-----
=== public-key
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A‹b64s›
‹b64›
-----END PUBLIC KEY-----
=== public-key
-----BEGIN PGP PUBLIC KEY BLOCK-----

mQINB‹b64›
-----END PGP PUBLIC KEY BLOCK-----
=== public-key
-----BEGIN PGP SIGNATURE-----

iQIzB‹b64›
-----END PGP SIGNATURE-----
=== public-key
gpg: Good signature from "‹user›", key 0x‹hex16›
=== public-key
-----BEGIN CERTIFICATE REQUEST-----
MIIC‹b64›
-----END CERTIFICATE REQUEST-----
=== public-key
age1‹l20›‹l20#b›‹l20#c› is ‹user›'s recipient
=== public-key
[Peer]
PublicKey = ‹b64s›abc=
AllowedIPs = 10.8.0.‹n›/32
=== public-key
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ‹b64›‹b64#b› ‹user›@ci
=== public-key
"kty": "RSA", "e": "AQAB", "kid": "‹hex16›", "n": "‹b64s›"
=== public-key
public_key = "‹b64s›abc="  # minisign, ‹app›
=== public-key
jwt.io sample ‹n›: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.⧺
eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.⧺
SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c
=== binary-data
<img src="data:image/png;base64,iVBORw0KGgo‹b64›‹b64#b›==">
=== binary-data
url(data:font/woff2;base64,d09GMgABAAAA‹b64›)
=== binary-data
"image": "/9j/4AAQSkZJRgABAQ‹b64›‹b64#b›"
=== binary-data
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpb‹b64›
=== binary-data
mappings: "AAAA,SAAS,‹w›,CAAC,GAAG;AACA,IAAI,‹n›"
=== binary-data
0000000 ‹hex16› ‹hex16#b›  |....‹w›....|
=== binary-data
0x‹hex16› <main+‹n›>: mov rax, rbx
=== binary-data
path d="M12 2‹n›.5L22 8.5V15.5L12 22L2 15.5V8.5L12 2Z"
=== binary-data
[0.‹n4›, -0.‹n4#b›, 0.‹n4#c›] embedding of "password"
=== binary-data
"signature": "‹b64›‹b64#b›", "type": "thinking"
=== tool-output
$ kubectl get secrets -n ‹env›
NAME            TYPE     DATA   AGE
‹app›-db        Opaque   2      ‹n›d
=== tool-output
secret/‹app›-tls created
=== tool-output
Error from server (NotFound): secrets "‹app›-db" not found
=== tool-output
  - name: DB_PASSWORD
    valueFrom:
      secretKeyRef:
        name: ‹app›-db
        key: password
=== tool-output
imagePullSecrets:
  - name: ‹app›-registry
=== tool-output
  envFrom:
    - secretRef:
        name: ‹app›-env
=== tool-output
      DB_PASSWORD:  <set to the key 'password' in secret '‹app›-db'>  Optional: false
=== tool-output
Data
====
password:  ‹n› bytes
=== tool-output
secretName: ‹app›-tls
hosts: [‹w›.acme.io]
=== tool-output
serviceAccountToken:
  path: token
  expirationSeconds: ‹n4›
=== tool-output
kind: SealedSecret
metadata:
  name: ‹app›
=== tool-output
kind: ExternalSecret
spec:
  secretStoreRef: { name: vault-‹env›, kind: ClusterSecretStore }
=== tool-output
    remoteRef:
      key: ‹env›/‹app›
      property: password
=== tool-output
$ aws sts get-caller-identity
{"Account": "‹acc›", "Arn": "arn:aws:iam::‹acc#b›:user/‹user›"}
=== tool-output
$ vault kv list secret/‹env›
Keys
----
‹app›
=== tool-output
$ gh secret list
STRIPE_KEY  Updated 2026-02-‹n›
NPM_TOKEN   Updated 2026-01-11
=== tool-output
✓ Logged in to github.com account ‹user› (keyring)
  - Token: gho_************************************
=== tool-output
$ gh auth status
  - Token scopes: 'gist', 'read:org', 'repo' (‹user›)
=== tool-output
$ git remote -v
origin	git@github.com:acme/‹app›.git (fetch)
=== tool-output
origin  https://github.com/acme/‹app›.git (push)
=== tool-output
$ npm whoami
‹user›
npm notice Log in on https://registry.npmjs.org/-/auth/login?n=‹n›
=== tool-output
$ ls -la ~/.ssh
-rw------- 1 ‹user› ‹user#b› 411 Mar  3 id_ed25519
-rw-r--r-- 1 root root  ‹n› known_hosts
=== tool-output
$ grep -rn "password" src | wc -l
‹n›
=== tool-output
‹path›.py:‹line›:    def set_password(self, raw):
=== tool-output
‹path›.ts:‹line›:12 - error TS2345: Argument of type 'string | undefined' (token)
=== tool-output
‹path›.go:‹line›:5: undefined: tokenSource
=== tool-output
error[E0425]: cannot find value `token` in this scope --> ‹path›.rs:‹line›
=== tool-output
FAILED tests/test_auth.py::test_password_reset_‹w› - AssertionError: assert 401 == 200
=== tool-output
PASS ‹path›.test.ts › rejects a wrong password (‹n› ms)
=== tool-output
KeyError: '‹z›'
  File "/app/‹w›.py", line ‹line›
=== tool-output
TypeError: Cannot read properties of undefined (reading 'token') at ‹path›.js:‹line›
=== tool-output
jwt.exceptions.ExpiredSignatureError: Signature has expired (‹n› s)
=== tool-output
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Bearer realm="‹app›", error="invalid_token"
=== tool-output
{"error":"invalid_client","error_description":"client ‹w› not found"}
=== tool-output
{"token_type":"Bearer","expires_in":‹n4›,"scope":"read write"}
=== tool-output
{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest?v=‹n›"}
=== tool-output
The security token included in the request is expired (request ‹uuid›)
=== tool-output
openai.RateLimitError: 429 - limit ‹n4› tokens per min, org acme
=== tool-output
gitleaks: ‹n› commits scanned, no leaks found
=== tool-output
detect-secrets........................................Passed (‹n›)
=== tool-output
#12 [stage-1 4/‹n›] RUN --mount=type=secret,id=npmrc npm ci
=== tool-output
Warning: SecretsUsedInArgOrEnv: Do not use ARG or ENV for "‹z›" (line ‹line›)
=== tool-output
WARNING! Using --password via the CLI is insecure. Use --password-stdin. (‹n›)
=== tool-output
mysql: [Warning] Using a password on the command line interface can be insecure. ‹n›
=== tool-output
Login Succeeded for ‹user› on ghcr.io
=== tool-output
debug1: Offering public key: /home/‹user›/.ssh/id_rsa RSA ‹fp›
=== tool-output
‹ts› sshd[‹n4›]: Failed password for root from ‹ip› port ‹port› ssh2
=== tool-output
‹ts› sshd[‹n4›]: Accepted publickey for ‹user› from ‹ip› port 22 ssh2
=== tool-output
nginx: [emerg] cannot load certificate key "/etc/ssl/‹w›.key": no such file
=== tool-output
+ random_password.‹w› will be created
    result = (sensitive value)
=== tool-output
      ~ password = (sensitive value)
        id       = "‹w›-‹n4›"
=== tool-output
db_password = <sensitive>
db_host = "‹ip›"
=== tool-output
variable "‹w›_password" {
  type      = string
  sensitive = true
}
=== tool-output
output "‹w›_token" { value = module.auth.token, sensitive = true }
=== tool-output
vars: secret_id = aws_secretsmanager_secret.‹w›.id
=== tool-output
TASK [set the ‹w› password] ****************************
changed: [‹ip›]
=== tool-output
"censored": "the output has been hidden due to 'no_log: true'", "task": ‹n›
=== tool-output
ansible-playbook site.yml --ask-vault-pass --limit ‹env›-‹n›
=== tool-output
psql: error: FATAL: no pg_hba.conf entry for host "‹ip›", user "‹user›"
=== tool-output
 usename  | passwd   | usesysid
 ‹user›   | ******** | ‹n›
=== tool-output
Column: password_digest | character varying(‹n›) | not null
=== tool-output
Rows: users(id, email, password_hash), tokens(id, user_id) = ‹n4›
=== tool-output
DevTools listening on ws://127.0.0.1:‹port›/devtools/browser/‹uuid›
=== tool-output
docker compose config --quiet && echo ok-‹n›
=== tool-output
Enter passphrase for key '/home/‹user›/.ssh/id_ed25519':
=== tool-output
Generating public/private ed25519 key pair for ‹user›.
=== tool-output
Adding password for user ‹user›
=== tool-output
passwd: password updated successfully (uid ‹n›)
=== tool-output
user:x:‹n4›:1000::/home/‹user›:/bin/bash
=== url
https://docs.acme.io/‹w›/authentication#api-keys
=== url
https://platform.openai.com/api-keys?project=‹w›
=== url
https://console.cloud.google.com/apis/credentials?project=‹app›
=== url
https://app.acme.io/settings/tokens/‹n›
=== url
https://acme.io/reset-password?lang=de&step=‹n›
=== url
GET /api/v1/tokens?page=‹n›&per_page=50 200 14ms
=== url
POST /oauth/token 400 ‹n›ms
=== url
http://localhost:‹port›/auth/callback?state=ok
=== url
postgres://‹ip›:5432/‹w›
=== url
postgres://‹user›@localhost/‹w›
=== url
redis://‹ip›:6379/‹n›
=== url
jdbc:postgresql://‹ip›:5432/‹w›?ssl=true
=== url
mongodb://‹ip›:27017,‹ip#b›:27017/‹w›?replicaSet=rs0
=== url
ssh://git@gitlab.acme.io:2222/team/‹app›.git
=== url
amqp://rabbit.acme.internal:5672/‹w›
=== url
s3://‹app›-backups/2026/‹sha7›.tar.gz
=== url
Server=tcp:‹ip›,1433;Database=‹w›;Integrated Security=true;
=== url
Authority=https://login.microsoftonline.com/‹uuid›/v2.0
=== url
https://‹l20›.supabase.co/rest/v1/‹w›?select=*
=== url
https://sentry.io/organizations/acme/issues/‹acc›/
=== url
https://www.figma.com/file/‹l20›/Login-Password-Flow?node-id=‹n›
=== url
https://youtu.be/watch?v=‹l6›Qw1x&t=‹n›
=== prose-en
Rotate the token every ‹n› days and keep it in the secret manager.
=== prose-en
I added a `password` prop to the Login component in ‹path›.tsx.
=== prose-en
Let's use argon2 with a cost of ‹n› for the password hashes.
=== prose-en
Bearer tokens are sent in the Authorization header; see RFC 6750 section ‹n›.
=== prose-en
The secret to a fast build is caching, it took ‹n› s.
=== prose-en
The key point is that ‹app› has no retries.
=== prose-en
Key takeaways: ‹n› flaky tests, one slow query.
=== prose-en
Pass: ‹n›, Fail: 0, Skip: 2
=== prose-en
pass rate: ‹n›%, token budget: ‹n4›
=== prose-en
First pass: rename the module; second pass: fix ‹n› imports.
=== prose-en
secret santa list is in room ‹n›
=== prose-en
Tokens: ‹n4› in, ‹n› out
=== prose-en
Design tokens: --color-primary, --space-‹n›, --radius-md
=== prose-en
Access key: open Settings > Developer > API keys, step ‹n›.
=== prose-en
API key: see the vault entry "‹app› ‹env›".
=== prose-en
password: ask ‹user› on Slack
=== prose-en
Password: same as before, I did not change it on ‹env›.
=== prose-en
The token is stored in the keychain, entry ‹app›.
=== prose-en
The password is hashed with bcrypt, cost ‹n›.
=== prose-en
The secret is mounted at /run/secrets/‹w›.
=== prose-en
The API key comes from the environment, see ‹path›.md line ‹line›.
=== prose-en
Use `--password-stdin` instead of `-p` in job ‹n›.
=== prose-en
Should I rename `api_key` to `apiKey` in all ‹n› files?
=== prose-en
| password | string | yes | min ‹n› chars |
=== prose-en
- [ ] hash passwords
- [x] rotate tokens (#‹n›)
=== prose-en
## Authentication
1. Create an API key
2. Export it as `‹z›`
=== prose-en
feat(auth): password strength meter (#‹n›)
=== prose-en
Merge pull request #‹n› from acme/password-reset
=== prose-en
branch feature/‹w›-token-refresh is ‹n› commits ahead
=== prose-en
CVE-2026-‹n4›: password hashes leaked through the debug endpoint
=== prose-en
Passwordless login with WebAuthn landed in v‹ver›.
=== prose-en
The credentials helper is `osxkeychain`; git ‹ver› supports it.
=== prose-en
Assistant: What is the password for the ‹env› database?
User: I'll set it myself, go on.
=== prose-en
Assistant: Please provide your API key.
User: it's already in the .env of ‹app›
=== prose-en
user: can you see my token?
assistant: No, I only see that ‹z› is set.
=== prose-en
I won't print the password; I only checked that it has ‹n› characters.
=== prose-cjk
请在设置页面生成API密钥，然后重启‹app›。
=== prose-cjk
密码字段需要加密存储，见‹path›第‹line›行。
=== prose-cjk
token数量是‹n4›，超过上限了。
=== prose-cjk
密码：见1Password里的‹app›条目
=== prose-cjk
数据库密码从环境变量‹z›读取。
=== prose-cjk
提交‹sha›修复了登录问题
=== prose-cjk
镜像摘要是sha256:‹sha256›，请确认。
=== prose-cjk
パスワードはハッシュ化して保存します（コスト‹n›）。
=== prose-cjk
コミット‹sha›でトークン更新を直しました。
=== prose-cjk
APIキーは環境変数‹z›から読み込みます。
=== prose-cjk
リクエストID：‹uuid›で失敗しています
=== prose-cjk
パスワード：‹user›さんに聞いてください
=== prose-cjk
비밀번호는 환경변수 ‹z›에서 읽습니다.
=== prose-cjk
커밋 ‹sha› 에서 로그인 버그를 고쳤습니다.
=== prose-cjk
요청 ID는 ‹uuid› 입니다.
=== prose-other
Der Token steht im Tresor unter ‹app›, nicht im Repo.
=== prose-other
Das Kennwort wird mit ‹n› Runden gehasht.
=== prose-other
Le jeton est lu depuis la variable ‹z›.
=== prose-other
La clave está en el gestor de secretos de ‹env›, entrada ‹n›.
=== prose-other
A chave da API vem da variável ‹z›.
=== prose-other
Токен читается из переменной ‹z›.
=== prose-other
Пароль хранится в хранилище, запись ‹app›.
=== prose-other
Token, ‹z› değişkeninden okunuyor.
=== prose-other
Hasło jest w menedżerze haseł, wpis ‹app›.
=== prose-other
Het token komt uit de kluis van ‹env›, regel ‹n›.
=== long-clean
‹log›
=== long-clean
‹prose›
=== long-clean
```python
‹code›
```
=== long-clean
Here is the log:
‹log›

‹prose›
=== long-clean
‹code›

‹log›
=== long-clean
我把日志贴在这里：
‹log›
为什么会失败？
=== long-clean
$ git log --oneline
‹sha7› fix token
‹sha7#b› add password page
‹prose›
"""
NEGATIVE_FRAMES += r"""
=== long-clean
‹prose›

```yaml
env:
  - name: DB_PASSWORD
    valueFrom:
      secretKeyRef: { name: ‹app›-db, key: password }
```

‹prose#b›
=== long-clean
$ kubectl logs deploy/‹app›
‹log›
‹ts› ERROR password authentication failed for user "‹user›"
‹log#b›
=== long-clean
‹code›

def connect(host: str, password: str | None = None) -> Connection:
    password = password or os.environ["‹z›"]
    return Connection(host, password=password)

‹code#b›
=== long-clean
diff --git a/‹path›.py b/‹path›.py
index ‹sha7›..‹sha7#b› 100644
‹code›
+    token = request.headers["Authorization"].removeprefix("Bearer ")
‹code#b›
=== long-clean
‹log›
The deploy stops after the image pull, digest sha256:‹sha256›. Is the token missing in ‹env›?
=== long-clean
"node_modules/‹w›": {
  "version": "‹ver›",
  "resolved": "https://registry.npmjs.org/‹w›/-/‹w#a›-‹ver›.tgz",
  "integrity": "‹sha512›"
},
"node_modules/‹l6›": {
  "version": "‹ver›",
  "integrity": "‹sha512›"
},
"node_modules/‹l6›": {
  "version": "‹ver›",
  "integrity": "‹sha512›"
}
=== long-clean
‹prose›

1. Create the secret with `kubectl create secret generic ‹app› --from-file=password=./pw.txt`
2. Set `DATABASE_URL=postgres://$DB_USER:$DB_PASSWORD@‹ip›/‹w›`
3. Run the migration

‹prose#b›
=== long-clean
パスワード再設定のテストが落ちます。ログです：
‹log›
トークンの期限が原因でしょうか？
=== long-clean
로그를 붙입니다:
‹log›
비밀번호 오류인지 토큰 만료인지 확인해 주세요.
=== long-clean
Hier ist das Log, das Passwort stimmt laut Betrieb:
‹log›

‹prose›
=== long-clean
Вот лог, пароль точно верный:
‹log›
Почему токен не обновляется?
=== long-clean
-----BEGIN CERTIFICATE-----
MIIF‹b64›
‹b64›
‹b64›
‹b64›
‹b64›
‹b64s›==
-----END CERTIFICATE-----
subject=CN = ‹app›.acme.io
issuer=C = US, O = Let's Encrypt, CN = R11
SHA1 Fingerprint=‹sha›
=== long-clean
requests==2.32.3 \
    --hash=sha256:‹sha256› \
    --hash=sha256:‹sha256›
‹w›==‹ver› \
    --hash=sha256:‹sha256› \
    --hash=sha256:‹sha256›
=== long-clean
github.com/acme/‹w› v‹ver› ‹gosum›
github.com/acme/‹w›/v2 v2.‹n›.0/go.mod ‹gosum›
golang.org/x/oauth2 v0.‹n›.0 ‹gosum›
golang.org/x/crypto v0.‹n›.0/go.mod ‹gosum›
=== tool-output
$ env | cut -d= -f1 | grep -i token
GITHUB_TOKEN
‹U›_TOKEN
exit 0 (‹n› ms)
=== tool-output
$ sed 's/=.*/=<hidden>/' .env
DB_HOST=<hidden>
‹z›=<hidden>
PORT_‹n›=<hidden>
=== tool-output
$ docker inspect ‹app› --format '{{.Id}}'
‹sha256›
=== tool-output
$ git rev-parse HEAD
‹sha›
=== tool-output
$ sha256sum .env
‹sha256›  .env
=== tool-output
$ uuidgen
‹uuid›
=== tool-output
        "Mounts": [{"Type": "volume", "Name": "‹sha256›", "Destination": "/data"}],
=== tool-output
        "NetworkID": "‹sha256›", "EndpointID": "‹sha256›", "Gateway": "172.17.0.1"
=== tool-output
$ ssh-keygen -lf ~/.ssh/id_rsa.pub
3072 ‹fp› ‹user›@acme (RSA)
=== tool-output
$ cat ~/.ssh/authorized_keys
ssh-ed25519 ‹edpub› ‹user›@ci
ssh-ed25519 ‹edpub› backup
"""


def _frames(block: str) -> list[tuple[str, str]]:
    """The (class, frame) pairs of a block."""
    out = []
    for part in re.split(r"^=== ", block, flags=re.M)[1:]:
        name, _, body = part.partition("\n")
        out.append((name.strip(), body.replace("⧺\n", "").rstrip("\n")))
    return out


def _fill(rng: Random, frame: str) -> tuple[str, tuple[str, ...]]:
    """The text of a frame and its secrets in order."""
    secrets: list[str] = []
    known: dict[str, str] = {}

    def secret(match: re.Match[str]) -> str:
        kind = match[1]
        value = SECRET[kind](rng)
        rows = re.split(r"\\n|\n", value) if kind in MULTI else [value]
        secrets.extend(row for row in rows if row not in secrets)
        return value

    def public(match: re.Match[str]) -> str:
        name = match[0]
        if "#" not in name:
            return PUBLIC[match[1]](rng)
        if name not in known:
            known[name] = PUBLIC[match[1]](rng)
        return known[name]

    text = re.sub(r"‹(\w+)(?:#\w+)?›", public, frame)
    return re.sub(r"«(\w+)»", secret, text), tuple(secrets)


def _clean(text: str, secrets: tuple[str, ...]) -> bool:
    """Each secret stands once in the text and no 12 characters of it stand elsewhere."""
    rest = text
    for value in sorted(secrets, key=len, reverse=True):
        if rest.count(value) != 1:
            return False
        rest = rest.replace(value, "\x00")
    pieces = {value[i : i + 12] for value in secrets for i in range(max(1, len(value) - 11))}
    return not any(piece in rest for piece in pieces)


def positives(seed: int) -> list[Positive]:
    """(class, text, secrets) of every positive: two texts per frame."""
    rng = Random(seed)
    out: list[Positive] = []
    seen: set[str] = set()
    for name, frame in _frames(POSITIVE_FRAMES):
        made = 0
        for _ in range(200):
            text, secrets = _fill(rng, frame)
            if secrets and text not in seen and _clean(text, secrets):
                seen.add(text)
                out.append((name, text, secrets))
                made += 1
                if made == 2:
                    break
    return out


def negatives(seed: int) -> list[Negative]:
    """(class, text) of every negative: at most three texts per frame."""
    rng = Random(seed + 1)
    out: list[Negative] = []
    seen: set[str] = set()
    for name, frame in _frames(NEGATIVE_FRAMES):
        made = 0
        for _ in range(60):
            text, _secrets = _fill(rng, frame)
            if text not in seen:
                seen.add(text)
                out.append((name, text))
                made += 1
                if made == 3:
                    break
    return out


def check(seed: int) -> None:
    """Fail when the set breaks one of its own rules."""
    pos, neg = positives(seed), negatives(seed)
    assert pos == positives(seed) and neg == negatives(seed)
    frames = [*_frames(POSITIVE_FRAMES), *_frames(NEGATIVE_FRAMES)]
    bodies = [frame for _, frame in frames]
    assert len(set(bodies)) == len(bodies), [b for b, n in Counter(bodies).items() if n > 1]
    texts = [text for _, text, _ in pos] + [text for _, text in neg]
    assert len(set(texts)) == len(texts)
    assert not any(re.search(r"[«‹]\w|⧺", text) for text in texts)
    for _, text, secrets in pos:
        assert secrets and all(len(value) >= 8 for value in secrets), text
        assert _clean(text, secrets), text
    assert not any("«" in frame for _, frame in _frames(NEGATIVE_FRAMES))


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    check(seed)
    pos, neg = positives(seed), negatives(seed)
    for title, names, shapes in (
        ("positives", Counter(item[0] for item in pos), len(_frames(POSITIVE_FRAMES))),
        ("negatives", Counter(item[0] for item in neg), len(_frames(NEGATIVE_FRAMES))),
    ):
        print(f"{title}: {sum(names.values())} texts of {shapes} shapes")
        for name, number in sorted(names.items()):
            print(f"  {name:22}{number:5}")


if __name__ == "__main__":
    main()
