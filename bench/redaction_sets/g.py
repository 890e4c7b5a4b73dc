"""Labelled redaction set G: what transcripts of coding agents hold, written blind to the engine.

Every value is made from a published format with random parts; none is anybody's key.
A template block is one shape.  In it ``<<name>>`` is public filler, ``<<!name>>`` a secret, and
a line ending in the sign ``¬`` is joined to the next one.  Blocks open with ``@@ class``.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable
from random import Random

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = "abcdefghijklmnopqrstuvwxyz"
DIGIT = "0123456789"
ALNUM = UPPER + LOWER + DIGIT
HEX = "0123456789abcdef"
B64 = ALNUM + "+/"
URL64 = ALNUM + "-_"
B32 = UPPER + "234567"

Gen = Callable[[Random], str]


def pick(rng: Random, alphabet: str, count: int) -> str:
    """Return ``count`` random characters of ``alphabet``."""
    return "".join(rng.choice(alphabet) for _ in range(count))


def mixed(rng: Random, alphabet: str, count: int) -> str:
    """Like ``pick``, but starting and ending with a letter or digit and holding a digit."""
    body = pick(rng, alphabet, count - 3)
    return rng.choice(UPPER + LOWER) + body + rng.choice(DIGIT) + rng.choice(ALNUM)


def fmt(pattern: str) -> Gen:
    """Compile ``text{alphabet letter}{count}`` parts, e.g. ``ghp_%a36``, into a generator."""
    kinds = {
        "a": ALNUM,
        "h": HEX,
        "d": DIGIT,
        "u": URL64,
        "b": B64,
        "U": UPPER + DIGIT,
        "l": LOWER + DIGIT,
        "z": UPPER + LOWER,
        "r": B32,
    }
    parts = re.split(r"%([ahdublzrU])(\d+)", pattern)

    def make(rng: Random) -> str:
        out = parts[0]
        for at in range(1, len(parts), 3):
            count = int(parts[at + 1])
            text = pick(rng, kinds[parts[at]], count)
            if parts[at] in "ub" and count > 8:
                text = mixed(rng, kinds[parts[at]], count)
            out += text + parts[at + 2]
        return out

    return make


def one(*options: str) -> Gen:
    """Return a generator that picks one of the options, each of which may be a format."""
    gens = [fmt(option) for option in options]
    return lambda rng: rng.choice(gens)(rng)


def b64(raw: bytes) -> str:
    """Standard base64 as text."""
    return base64.b64encode(raw).decode()


def url64(raw: bytes) -> str:
    """Unpadded URL-safe base64 as text."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


WORDS = (
    "Falcon Maple Harbor Winter Copper Tiger Garden Rocket Silver Orange Canyon Summer Panda "
    "Bridge Coffee Thunder Velvet Pixel Mango Island Dragon Castle Meteor Walnut Lagoon Saturn"
).split()


def human(rng: Random) -> str:
    """A password as people choose it: words, digits, a sign."""
    first, second = rng.sample(WORDS, 2)
    digits = pick(rng, DIGIT, rng.choice((2, 3, 4)))
    sign = rng.choice("!#*$?%")
    return rng.choice(
        (
            f"{first}{digits}{sign}",
            f"{first}-{second}-{digits}",
            f"{first.lower()}{second}{digits}{sign}",
            f"{first}_{digits}{sign}{second[:3]}",
            f"{first.lower()}{digits}{second.lower()}",
        )
    )


def strong(rng: Random) -> str:
    """A password from a generator, with signs that need no quoting."""
    body = pick(rng, ALNUM + "!%*+-_^?", rng.randint(11, 18))
    return rng.choice(UPPER) + body + rng.choice(DIGIT) + rng.choice(LOWER)


def plain(rng: Random) -> str:
    """A generated password of letters and digits only."""
    return rng.choice(LOWER) + pick(rng, ALNUM, rng.randint(10, 20)) + rng.choice(DIGIT)


def urlpw(rng: Random) -> str:
    """A password as it stands in a URL."""
    return rng.choice((plain, fmt("%a9%40%a4%d2"), fmt("%z6-%d4_%a5")))(rng)


def jwt(rng: Random) -> str:
    """A signed JSON web token with a random subject and signature."""
    algo = rng.choice(("HS256", "RS256"))
    head = url64(json.dumps({"alg": algo, "typ": "JWT"}, separators=(",", ":")).encode())
    body = {
        "sub": pick(rng, DIGIT, 8),
        "role": "service_role",
        "iat": 1700000000 + rng.randint(0, 60000000),
        "jti": pick(rng, HEX, 16),
    }
    claims = url64(json.dumps(body, separators=(",", ":")).encode())
    return f"{head}.{claims}.{mixed(rng, URL64, 43 if algo == 'HS256' else 342)}"


def basic(rng: Random) -> str:
    """The base64 of ``user:password`` of a Basic header."""
    return b64(f"{rng.choice(USERS)}:{plain(rng)}".encode())


def lines_of(rng: Random, head: str, rows: int, indent: str = "") -> str:
    """Base64 rows of a key block, the first starting with ``head``."""
    first = head + pick(rng, B64, 64 - len(head))
    body = [first] + [pick(rng, B64, 64) for _ in range(rows - 2)]
    return f"\n{indent}".join([*body, pick(rng, B64, 38) + "=="])


def pem_escaped(rng: Random) -> str:
    """A key body on one line, its line ends written as backslash-n."""
    return lines_of(rng, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 12).replace("\n", "\\n")


USERS = "anna deploy app svc_api jonas admin mika backup priya ci-bot etl carlos".split()
PROJECTS = (
    "orders billing-api webshop inventory frontend ledger notifier crm atlas gateway reports "
    "scheduler media-sync chatops payroll search-indexer mobile-bff"
).split()
FILES = (
    "src/auth.py config/settings.py lib/client.ts cmd/server/main.go app/models/user.rb "
    "internal/token/parse.go src/login.tsx tests/test_auth.py core/session.rs api/keys.java"
).split()
HOSTS = (
    "db.internal pg-main.prod.local 10.0.3.17 mysql-7.eu.corp.io db01.acme-corp.net "
    "redis.svc.cluster.local cache-2.intra.net 192.168.10.44 queue.stage.acme-corp.net"
).split()
LOGS = (
    "INFO  worker started, 4 threads",
    "DEBUG cache warm, 812 entries in 31 ms",
    "INFO  GET /healthz 200 2ms",
    "WARN  slow query (1.8 s) on table line_items",
    "INFO  migration 0042_add_index applied",
    "INFO  POST /v1/orders 201 48ms",
    "DEBUG retry 1/5 for job reindex",
    "INFO  consumer group rebalanced, 3 partitions",
    "ERROR upstream timed out after 30000 ms, giving up",
    "INFO  GC pause 12 ms, heap 311 MB",
    "DEBUG loaded 57 routes from src/routes",
    "INFO  listening on 0.0.0.0:8080",
)
PROSE = (
    "I went through the module and the flow is fine until the second retry.",
    "The test passes locally but the runner has an older image, so the import fails.",
    "We should split the handler, because it both parses and writes to the store.",
    "I would rather keep the migration small and backfill the column in a second step.",
    "The lock is taken twice when the queue is empty, which explains the hang.",
    "After the rename two callers still used the old path; both are fixed now.",
    "The cache was stale, so the page showed yesterday's totals until the restart.",
    "Next I will add a regression test and then look at the flaky one in the nightly run.",
    "The container is built from the slim image and starts in about four seconds.",
)
CODE = (
    "def load(path: Path) -> Config:\n    return Config(**yaml.safe_load(path.read_text()))",
    "class Worker:\n    def __init__(self, queue):\n        self.queue = queue",
    "for row in cursor.fetchall():\n    totals[row[0]] += row[1]",
    "async def main() -> None:\n    async with app.lifespan():\n        await serve(app)",
    "if __name__ == '__main__':\n    raise SystemExit(main())",
    "logger.info('batch %s done in %.1f s', batch_id, elapsed)",
    "def chunk(items, size):\n    for i in range(0, len(items), size):\n"
    "        yield items[i:i + size]",
)


def long_of(parts: tuple[str, ...], glue: str, size: int) -> Gen:
    """A long filler of shuffled parts."""

    def make(rng: Random) -> str:
        out: list[str] = []
        while sum(map(len, out)) < size:
            out.extend(rng.sample(parts, len(parts)))
        return glue.join(out)

    return make


def long_log(rng: Random) -> str:
    """Some 25 dated log lines."""
    day = rng.randint(10, 28)
    rows = [
        f"2026-03-{day} 0{at // 6}:{at % 6}{rng.randint(0, 9)}:{rng.randint(10, 59)} "
        + rng.choice(LOGS)
        for at in range(25)
    ]
    return "\n".join(rows)


FILLERS: dict[str, Gen] = {
    "user": lambda r: r.choice(USERS),
    "proj": lambda r: r.choice(PROJECTS) + r.choice(("", "", "-v2", "-eu", "-dev", "-2")),
    "file": lambda r: r.choice(FILES),
    "host": lambda r: r.choice(HOSTS),
    "n": lambda r: str(r.randint(12, 989)),
    "nn": lambda r: str(r.randint(10240, 98999)),
    "port": lambda r: str(r.randint(3001, 9890)),
    "ver": lambda r: f"{r.randint(0, 9)}.{r.randint(0, 30)}.{r.randint(0, 19)}",
    "date": lambda r: f"2026-0{r.randint(1, 9)}-{r.randint(10, 28)}",
    "time": lambda r: f"{r.randint(10, 23)}:{r.randint(10, 59)}:{r.randint(10, 59)}",
    "ip": lambda r: f"10.{r.randint(0, 250)}.{r.randint(0, 250)}.{r.randint(2, 250)}",
    "sha": fmt("%h40"),
    "sha7": fmt("%h7"),
    "sha256": fmt("%h64"),
    "md5": fmt("%h32"),
    "uuid": fmt("%h8-%h4-4%h3-a%h3-%h12"),
    "sri": lambda r: "sha512-" + b64(r.randbytes(64)),
    "sri256": lambda r: "sha256-" + b64(r.randbytes(32)),
    "acct": fmt("%d12"),
    "akia": fmt("AKIA%r16"),
    "sid": fmt("AC%h32"),
    "pod": fmt("%h9-%l5"),
    "cid": fmt("%h12"),
    "trace": fmt("%h32"),
    "sshpub": lambda r: "AAAAC3NzaC1lZDI1NTE5AAAAI" + pick(r, B64, 43),
    "certrows": lambda r: lines_of(r, "MIIDazCCAlOgAwIBAgIU", 5),
    "pubrows": lambda r: lines_of(r, "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A", 4),
    "png": lambda r: "iVBORw0KGgoAAAANSUhEUgAA" + pick(r, B64, 160) + "==",
    "vlq": lambda r: ",".join(pick(r, "ACDEGIKMOQSUWYacegikmoqsuwy", 4) for _ in range(30)),
    "b43": fmt("%b43"),
    "b28": fmt("%b27"),
    "hexu": lambda r: pick(r, DIGIT + "ABCDEF", 16),
    "a9l": fmt("%l9"),
    "a11": fmt("%a11"),
    "a14": fmt("%a14"),
    "a22": fmt("%a22"),
    "a23": fmt("%a23"),
    "a24": fmt("%a24"),
    "a29": fmt("%a29"),
    "a43": fmt("%a43"),
    "hex4": fmt("%h4"),
    "hex6": fmt("%h6"),
    "hex10": fmt("%h10"),
    "hex12": fmt("%h12"),
    "hex16": fmt("%h16"),
    "hex22": fmt("%h22"),
    "l32": lambda r: pick(r, "0123456789abcdfghijklmnpqrsvwxyz", 32),
    "fp": lambda r: ":".join(pick(r, HEX, 2).upper() for _ in range(20)),
    "longlog": long_log,
    "longprose": long_of(PROSE, " ", 1100),
    "longcode": long_of(CODE, "\n\n", 1000),
}

SECRETS: dict[str, Gen] = {
    "human": human,
    "strong": strong,
    "plain": plain,
    "urlpw": urlpw,
    "jwt": jwt,
    "basic": basic,
    "hex32": fmt("%h32"),
    "hex40": fmt("%h40"),
    "hex64": fmt("%h64"),
    "al32": fmt("%a30%d2"),
    "al40": fmt("%a38%d2"),
    "u43": fmt("%u43"),
    "uuid": fmt("%h8-%h4-4%h3-a%h3-%h12"),
    "pin": fmt("%d6"),
    "django": lambda r: "django-insecure-" + pick(r, LOWER + DIGIT + "*-_+^!", 48) + "k7",
    "b64pw": lambda r: b64(strong(r).encode()),
    "b6432": lambda r: b64(r.randbytes(32)),
    "awssec": fmt("%b40"),
    "awstok": lambda r: "IQoJb3JpZ2luX2VjE" + pick(r, B64, 300) + "==",
    "azkey": fmt("%b86=="),
    "azsec": fmt("%a3%d1Q~%a30%d4"),
    "sassig": fmt("%a20%2B%a21%3D"),
    "pem": lambda r: lines_of(r, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 7),
    "rsa": lambda r: lines_of(r, "MIIEpAIBAAKCAQEA", 8),
    "ec": lambda r: lines_of(r, "MHcCAQEEI", 3),
    "ossh": lambda r: lines_of(r, "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ", 6),
    "pgp": lambda r: lines_of(r, "lQOYBG", 7),
    "pem4": lambda r: lines_of(r, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 6, "    "),
    "pemesc": pem_escaped,
    "gtok": fmt("ya29.a0%u160"),
    "grefresh": fmt("1//0%u90"),
    "slackhook": fmt("T0%U9/B0%U9/%a24"),
    "dischook": fmt("%u68"),
    "openai": fmt("sk-proj-%u64T3BlbkFJ%u64"),
    "anthropic": fmt("sk-ant-api03-%u93AA"),
    "ghp": fmt("ghp_%a36"),
    "ghs": fmt("ghs_%a36"),
    "gho": fmt("gho_%a36"),
    "ghpat": fmt("github_pat_11%U20_%a59"),
    "glpat": fmt("glpat-%u20"),
    "npm": fmt("npm_%a36"),
    "pypi": fmt("pypi-AgEIcHlwaS5vcmc%u140"),
    "xoxb": fmt("xoxb-%d12-%d13-%a24"),
    "stripe": fmt("sk_live_51%a97"),
    "whsec": fmt("whsec_%a32"),
    "sendgrid": fmt("SG.%u22.%u43"),
    "hf": fmt("hf_%z34"),
    "google": fmt("AIzaSy%u33"),
    "telegram": fmt("%d10:AA%u33"),
    "discord": lambda r: url64(("1" + pick(r, DIGIT, 18)).encode()) + fmt(".G%a5.%u38")(r),
    "do": fmt("dop_v1_%h64"),
    "hvs": fmt("hvs.CAES%u90"),
    "gocspx": fmt("GOCSPX-%u28"),
    "dckr": fmt("dckr_pat_%u27"),
    "age": fmt("AGE-SECRET-KEY-1%U58"),
    "wgkey": lambda r: b64(r.randbytes(32)),
    "totp": fmt("%r32"),
    "tskey": fmt("tskey-auth-k%a11CNTRL-%a32"),
    "kubeadm": fmt("%l6.%l16"),
    "note": lambda r: f"{r.choice(WORDS).lower()} deal, room {pick(r, DIGIT, 4)} at noon",
}

# (service, variable, generator): self-describing formats first, then those known by their name.
PREFIXED: list[tuple[str, str, Gen]] = [
    ("OpenAI", "OPENAI_API_KEY", SECRETS["openai"]),
    ("Anthropic", "ANTHROPIC_API_KEY", SECRETS["anthropic"]),
    ("GitHub", "GITHUB_TOKEN", SECRETS["ghp"]),
    ("Stripe", "STRIPE_SECRET_KEY", SECRETS["stripe"]),
    ("Slack", "SLACK_BOT_TOKEN", SECRETS["xoxb"]),
    ("Google Maps", "GOOGLE_API_KEY", SECRETS["google"]),
    ("GitLab", "GITLAB_TOKEN", SECRETS["glpat"]),
    ("Hugging Face", "HF_TOKEN", SECRETS["hf"]),
    ("SendGrid", "SENDGRID_API_KEY", SECRETS["sendgrid"]),
    ("npm", "NPM_TOKEN", SECRETS["npm"]),
    ("Telegram", "TELEGRAM_BOT_TOKEN", SECRETS["telegram"]),
    ("Groq", "GROQ_API_KEY", fmt("gsk_%a52")),
    ("OpenRouter", "OPENROUTER_API_KEY", fmt("sk-or-v1-%h64")),
    ("DigitalOcean", "DIGITALOCEAN_TOKEN", SECRETS["do"]),
    ("Discord", "DISCORD_TOKEN", SECRETS["discord"]),
    ("GitHub", "GH_PAT", SECRETS["ghpat"]),
    ("DeepSeek", "DEEPSEEK_API_KEY", fmt("sk-%h32")),
    ("Replicate", "REPLICATE_API_TOKEN", fmt("r8_%a37")),
    ("xAI", "XAI_API_KEY", fmt("xai-%a80")),
    ("Perplexity", "PERPLEXITY_API_KEY", fmt("pplx-%a48")),
    ("LangSmith", "LANGSMITH_API_KEY", fmt("lsv2_pt_%h32_%h10")),
    ("Pinecone", "PINECONE_API_KEY", fmt("pcsk_%a6_%a63")),
    ("Supabase", "SUPABASE_SECRET_KEY", fmt("sb_secret_%u31")),
    ("Supabase", "SUPABASE_ACCESS_TOKEN", fmt("sbp_%h40")),
    ("Netlify", "NETLIFY_AUTH_TOKEN", fmt("nfp_%a36")),
    ("Databricks", "DATABRICKS_TOKEN", fmt("dapi%h32")),
    ("New Relic", "NEW_RELIC_API_KEY", fmt("NRAK-%U27")),
    ("Grafana", "GRAFANA_TOKEN", fmt("glsa_%a32_%h8")),
    ("Linear", "LINEAR_API_KEY", fmt("lin_api_%a40")),
    ("Notion", "NOTION_TOKEN", fmt("ntn_%a46")),
    ("Airtable", "AIRTABLE_TOKEN", fmt("pat%a14.%h64")),
    ("Jira", "JIRA_API_TOKEN", fmt("ATATT3xFfGF0%u170=%U8")),
    ("Figma", "FIGMA_TOKEN", fmt("figd_%u40")),
    ("Shopify", "SHOPIFY_ACCESS_TOKEN", fmt("shpat_%h32")),
    ("Postman", "POSTMAN_API_KEY", fmt("PMAK-%h24-%h34")),
    ("Pulumi", "PULUMI_ACCESS_TOKEN", fmt("pul-%h40")),
    ("SonarQube", "SONAR_TOKEN", fmt("sqp_%h40")),
    ("Resend", "RESEND_API_KEY", fmt("re_%a8_%a24")),
    ("Brevo", "BREVO_API_KEY", fmt("xkeysib-%h64-%a16")),
    ("HubSpot", "HUBSPOT_TOKEN", fmt("pat-na1-%h8-%h4-%h4-%h4-%h12")),
    ("PyPI", "PYPI_TOKEN", SECRETS["pypi"]),
    ("Docker Hub", "DOCKERHUB_TOKEN", SECRETS["dckr"]),
    ("Doppler", "DOPPLER_TOKEN", fmt("dp.st.prd.%a43")),
    ("Vault", "VAULT_TOKEN", SECRETS["hvs"]),
    ("PlanetScale", "PLANETSCALE_TOKEN", fmt("pscale_tkn_%u43")),
    ("Terraform Cloud", "TF_TOKEN", fmt("%a14.atlasv1.%u67")),
    ("Tailscale", "TS_AUTHKEY", SECRETS["tskey"]),
    ("PostHog", "POSTHOG_PERSONAL_KEY", fmt("phx_%a43")),
    ("Mailgun", "MAILGUN_API_KEY", fmt("key-%h32")),
    ("RubyGems", "GEM_HOST_API_KEY", fmt("rubygems_%h48")),
    ("Sentry", "SENTRY_AUTH_TOKEN", fmt("sntrys_eyJpYXQiOjE3%a90_%u43")),
    ("CircleCI", "CIRCLE_TOKEN", fmt("CCIPAT_%a22_%h40")),
]
NAMED: list[tuple[str, str, Gen]] = [
    ("Twilio", "TWILIO_AUTH_TOKEN", SECRETS["hex32"]),
    ("Cloudflare", "CLOUDFLARE_API_TOKEN", fmt("%u40")),
    ("Datadog", "DD_API_KEY", SECRETS["hex32"]),
    ("Mistral", "MISTRAL_API_KEY", SECRETS["al32"]),
    ("Cohere", "COHERE_API_KEY", SECRETS["al40"]),
    ("Weights & Biases", "WANDB_API_KEY", SECRETS["hex40"]),
    ("Heroku", "HEROKU_API_KEY", SECRETS["uuid"]),
    ("Vercel", "VERCEL_TOKEN", fmt("%a22%d2")),
    ("Together", "TOGETHER_API_KEY", SECRETS["hex64"]),
    ("Algolia", "ALGOLIA_ADMIN_API_KEY", SECRETS["hex32"]),
    ("Mailchimp", "MAILCHIMP_API_KEY", fmt("%h32-us12")),
    ("Azure", "AZURE_CLIENT_SECRET", SECRETS["azsec"]),
    ("Postmark", "POSTMARK_SERVER_TOKEN", SECRETS["uuid"]),
    ("Okta", "OKTA_API_TOKEN", fmt("00%u40")),
    ("Snyk", "SNYK_TOKEN", SECRETS["uuid"]),
    ("PayPal", "PAYPAL_CLIENT_SECRET", fmt("E%u79")),
    ("Deepgram", "DEEPGRAM_API_KEY", SECRETS["hex40"]),
    ("Auth0", "AUTH0_CLIENT_SECRET", fmt("%u64")),
    ("PagerDuty", "PAGERDUTY_API_KEY", fmt("u+%u18")),
    ("Codecov", "CODECOV_TOKEN", SECRETS["uuid"]),
]

POSITIVE = r"""
@@ provider_env
<<ENV>>=<<!KEY>>
@@ provider_env
# .env
NODE_ENV=production
PORT=<<port>>
<<ENV>>=<<!KEY>>
<<ENV2>>="<<!KEY2>>"
LOG_LEVEL=info
@@ provider_env
export <<ENV>>=<<!KEY>>
@@ provider_env
export <<ENV>>='<<!KEY>>' && npm run dev
@@ provider_env
<<ENV>>="<<!KEY>>" # rotate in <<date>>
@@ provider_env
$env:<<ENV>> = "<<!KEY>>"
@@ provider_env
set <<ENV>>=<<!KEY>>
@@ provider_env
set -gx <<ENV>> "<<!KEY>>"
@@ provider_env
setx <<ENV>> "<<!KEY>>" /M
@@ provider_env
ENV <<ENV>>=<<!KEY>>
RUN npm ci && npm run build:<<proj>>
@@ provider_env
VITE_<<ENV>>=<<!KEY>>
VITE_API_URL=https://<<proj>>.example.com
@@ provider_env
    environment:
      - <<ENV>>=<<!KEY>>
      - PORT=<<port>>
@@ provider_env
    environment:
      <<ENV>>: "<<!KEY>>"
      TZ: Europe/Berlin
@@ provider_env
env:
  - name: <<ENV>>
    value: "<<!KEY>>"
  - name: LOG_LEVEL
    value: debug
@@ provider_env
fly secrets set <<ENV>>=<<!KEY>> -a <<proj>>
@@ provider_env
heroku config:set <<ENV>>=<<!KEY>> --app <<proj>>
@@ provider_env
echo "<<!KEY>>" | gh secret set <<ENV>> --repo acme/<<proj>>
@@ provider_env
docker run --rm -e <<ENV>>=<<!KEY>> -p <<port>>:80 acme/<<proj>>:<<ver>>
@@ provider_env
<<ENV>>=<<!KEY>> python -m <<proj>>.main --limit <<n>>
@@ provider_env
[Service]
Environment="<<ENV>>=<<!KEY>>"
ExecStart=/usr/bin/<<proj>>
@@ provider_tool_output
$ cat .env
DATABASE_POOL=<<n>>
<<ENV>>=<<!KEY>>
<<ENV2>>=<<!KEY2>>
<<ENV3>>=<<!KEY3>>
@@ provider_tool_output
$ printenv | sort | head
HOME=/home/<<user>>
LANG=C.UTF-8
<<ENV>>=<<!KEY>>
PWD=/srv/<<proj>>
SHLVL=1
@@ provider_tool_output
            "Env": [
                "PATH=/usr/local/bin:/usr/bin",
                "<<ENV>>=<<!KEY>>",
                "NODE_VERSION=<<ver>>"
            ],
@@ provider_tool_output
$ heroku config -a <<proj>>
=== <<proj>> Config Vars
<<ENV>>:      <<!KEY>>
RACK_ENV:     production
@@ provider_tool_output
diff --git a/.env b/.env
--- a/.env
+++ b/.env
@@ -1,3 +1,3 @@
 PORT=<<port>>
-<<ENV>>=<<!KEY>>
+<<ENV>>=
@@ provider_tool_output
.env.production:<<n>>:<<ENV>>=<<!KEY>>
src/env.ts:4:  PORT: z.coerce.number().default(<<port>>),
@@ provider_tool_output
{"level":"debug","msg":"config loaded","config":{"port":<<port>>,"<<ENV>>":"<<!KEY>>"}}
@@ provider_code
client = Client(api_key="<<!KEY>>", timeout=<<n>>)
@@ provider_code
import os
os.environ["<<ENV>>"] = "<<!KEY>>"
@@ provider_code
const apiKey = process.env.<<ENV>> || '<<!KEY>>';
@@ provider_code
const client = new Client({
  baseUrl: 'https://api.<<proj>>.dev',
  apiKey: '<<!KEY>>',
});
@@ provider_code
const apiKey = "<<!KEY>>" // TODO <<user>>: move to config
@@ provider_code
    private static final String API_KEY = "<<!KEY>>";
@@ provider_code
let token = String::from("<<!KEY>>"); // <<proj>>
@@ provider_code
$apiKey = '<<!KEY>>';
$client = new ApiClient($apiKey);
@@ provider_code
  config.api_key = '<<!KEY>>' # <<user>>
@@ provider_code
val apiToken: String = "<<!KEY>>"
@@ provider_code
let apiKey = "<<!KEY>>" // <<proj>>
@@ provider_code
public const string ApiKey = "<<!KEY>>";
@@ provider_code
#define API_TOKEN "<<!KEY>>"
@@ provider_code
  final String _apiKey = '<<!KEY>>';
@@ provider_code
local api_key = "<<!KEY>>"
@@ provider_code
config :<<user>>_app, :client, api_key: "<<!KEY>>"
@@ provider_code
token := "<<!KEY>>"
req.Header.Set("Authorization", "Bearer "+token)
@@ provider_code
assert mask("<<!PKEY>>") == "***"
@@ provider_code
headers = {"Authorization": f"Bearer <<!PKEY>>", "X-Request": "<<proj>>"}
@@ provider_json
{"<<PSVC>>": {"apiKey": "<<!PKEY>>", "region": "eu"}}
@@ provider_json
  "mcpServers": {
    "<<proj>>": {
      "command": "npx",
      "args": ["-y", "@acme/mcp-<<proj>>"],
      "env": { "<<ENV>>": "<<!KEY>>" }
    }
  }
@@ provider_json
{"id": "<<uuid>>", "name": "ci", "api_key": "<<!KEY>>", "created_at": "<<date>>T10:00:00Z"}
@@ provider_json
"{\"apiKey\":\"<<!KEY>>\",\"project\":\"<<proj>>\"}"
@@ provider_curl
curl https://api.openai.com/v1/chat/completions -H "Authorization: Bearer <<!openai>>" ¬
-d '{"model":"gpt-4o"}'
@@ provider_curl
curl -s https://api.anthropic.com/v1/messages \
  -H "x-api-key: <<!anthropic>>" \
  -H "anthropic-version: 2023-06-01" -d @body.json
@@ provider_curl
curl -H "Authorization: token <<!ghp>>" https://api.github.com/repos/acme/<<proj>>/pulls
@@ provider_curl
curl --header "PRIVATE-TOKEN: <<!glpat>>" "https://gitlab.example.com/api/v4/projects/<<n>>"
@@ provider_curl
curl https://api.stripe.com/v1/charges -u <<!stripe>>: -d amount=<<n>>
@@ provider_curl
curl -X POST "https://api.telegram.org/bot<<!telegram>>/sendMessage" -d chat_id=<<nn>>
@@ provider_curl
curl "https://maps.googleapis.com/maps/api/geocode/json?address=Bonn&key=<<!google>>"
@@ provider_curl
curl -X POST -H 'Content-type: application/json' --data '{"text":"deploy <<ver>>"}' ¬
https://hooks.slack.com/services/<<!slackhook>>
@@ provider_curl
curl -X POST https://discord.com/api/webhooks/1<<acct>>00<<n>>/<<!dischook>> -d content=hi
@@ provider_curl
curl -X POST https://api.twilio.com/2010-04-01/Accounts/<<sid>>/Messages.json \
  -u "<<sid>>:<<!hex32>>" -d Body=hi
@@ provider_curl
http GET api.<<proj>>.dev/v1/items X-API-Key:<<!al32>>
@@ provider_curl
wget --header="X-Api-Key: <<!hex40>>" https://artifacts.<<proj>>.io/build.tgz
@@ provider_curl
curl "https://api.weather.example.org/v3?q=Oslo&appid=<<n>>&api_key=<<!hex32>>"
@@ provider_curl
curl -H "DD-API-KEY: <<!hex32>>" https://api.datadoghq.eu/api/v1/validate # <<user>>
@@ provider_curl
curl -H "X-Vault-Token: <<!hvs>>" https://vault.acme-corp.net:8200/v1/kv/data/<<proj>>
@@ provider_chat
here is my <<PSVC>> key: <<!PKEY>>
@@ provider_chat
user: I get 401 from <<PSVC>>, can you check?
assistant: Sure, which key do you use?
user: <<!PKEY>>
@@ provider_chat
use <<!PKEY>> for the <<proj>> tests please, I'll revoke it later
@@ provider_chat
The old key (<<!PKEY>>) still works, so the rotation on <<date>> did not go through.
@@ provider_chat
Assistant: I put `<<!PKEY>>` into `.env.local` and restarted <<proj>>.
@@ provider_chat
Hier ist der Schlüssel für <<PSVC>>: <<!PKEY>>, bitte nicht committen.
@@ provider_chat
voici la clé <<PSVC>> : <<!PKEY>>
@@ provider_chat
これは<<PSVC>>のキーです：<<!PKEY>>。よろしくお願いします
@@ provider_chat
我的<<PSVC>>密钥是<<!PKEY>>，帮我测试一下
@@ provider_chat
<<PSVC>> 키는 <<!PKEY>>입니다
@@ provider_chat
вот ключ от <<PSVC>>: <<!PKEY>>
@@ provider_chat
la clave de <<PSVC>> es <<!PKEY>> y el proyecto es <<proj>>
@@ provider_chat
| service | key |
|---|---|
| <<PSVC>> | `<<!PKEY>>` |
| billing | see vault (<<proj>>) |
@@ provider_chat
Error: 401 Incorrect API key provided: <<!openai>>. Request <<uuid>>
@@ provider_chat
- [x] create <<PSVC>> key → <<!PKEY>>
- [ ] add it to <<proj>>
@@ aws
[default]
aws_access_key_id = <<akia>>
aws_secret_access_key = <<!awssec>>
region = eu-central-1
@@ aws
export AWS_ACCESS_KEY_ID=<<akia>>
export AWS_SECRET_ACCESS_KEY=<<!awssec>>
export AWS_SESSION_TOKEN=<<!awstok>>
@@ aws
$ aws sts assume-role --role-arn arn:aws:iam::<<acct>>:role/<<proj>> --role-session-name x
{
    "Credentials": {
        "AccessKeyId": "<<akia>>",
        "SecretAccessKey": "<<!awssec>>",
        "SessionToken": "<<!awstok>>",
        "Expiration": "<<date>>T12:00:00+00:00"
    }
}
@@ aws
{
    "AccessKey": {
        "UserName": "<<user>>",
        "AccessKeyId": "<<akia>>",
        "Status": "Active",
        "SecretAccessKey": "<<!awssec>>",
        "CreateDate": "<<date>>T08:00:00+00:00"
    }
}
@@ aws
s3 = boto3.client("s3", aws_access_key_id="<<akia>>",
                  aws_secret_access_key="<<!awssec>>")
@@ aws
provider "aws" {
  region     = "eu-west-1"
  access_key = "<<akia>>"
  secret_key = "<<!awssec>>"
}
@@ aws
$ aws secretsmanager get-secret-value --secret-id <<proj>>/db
{
    "Name": "<<proj>>/db",
    "SecretString": "{\"username\":\"<<user>>\",\"password\":\"<<!plain>>\"}",
    "VersionStages": ["AWSCURRENT"]
}
@@ aws
$ aws configure set aws_secret_access_key <<!awssec>> --profile <<proj>>
@@ aws
MINIO_ROOT_USER=<<user>>
MINIO_ROOT_PASSWORD=<<!strong>>
@@ azure_gcp
AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=<<user>>store;¬
AccountKey=<<!azkey>>;EndpointSuffix=core.windows.net
@@ azure_gcp
$ az ad sp create-for-rbac --name <<proj>>
{
  "appId": "<<uuid>>",
  "displayName": "<<proj>>",
  "password": "<<!azsec>>",
  "tenant": "<<uuid>>"
}
@@ azure_gcp
https://acmestore.blob.core.windows.net/<<proj>>/dump.sql?sv=2023-11-03&se=<<date>>¬
&sr=b&sp=r&sig=<<!sassig>>
@@ azure_gcp
Endpoint=sb://<<proj>>.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;¬
SharedAccessKey=<<!b6432>>
@@ azure_gcp
{
  "type": "service_account",
  "project_id": "<<proj>>",
  "private_key_id": "<<sha>>",
  "private_key": "-----BEGIN PRIVATE KEY-----\n<<!pemesc>>\n-----END PRIVATE KEY-----\n",
  "client_email": "ci@<<proj>>.iam.gserviceaccount.com"
}
@@ azure_gcp
$ gcloud auth print-access-token
<<!gtok>>
@@ azure_gcp
{"access_token": "<<!gtok>>", "expires_in": 3599, "refresh_token": "<<!grefresh>>", ¬
"scope": "openid", "token_type": "Bearer"}
@@ azure_gcp
{"installed":{"client_id":"<<acct>>-<<user>>.apps.googleusercontent.com",¬
"client_secret":"<<!gocspx>>","redirect_uris":["http://localhost"]}}
@@ azure_gcp
$ az storage account keys list -n <<user>>store -o tsv
2026-01-02T03:04:05+00:00	key1	FULL	<<!azkey>>
@@ azure_gcp
AccountEndpoint=https://<<proj>>.documents.azure.com:443/;AccountKey=<<!azkey>>;
@@ db_url
DATABASE_URL=postgres://<<user>>:<<!urlpw>>@<<host>>:5432/<<proj>>
@@ db_url
DATABASE_URL="postgresql+asyncpg://<<user>>:<<!urlpw>>@<<host>>/<<proj>>?ssl=require"
@@ db_url
MONGODB_URI=mongodb+srv://<<user>>:<<!urlpw>>@cluster0.ab<<n>>.mongodb.net/<<proj>>
@@ db_url
REDIS_URL=redis://:<<!urlpw>>@<<host>>:6379/0
@@ db_url
engine = create_engine("mysql+pymysql://<<user>>:<<!urlpw>>@<<host>>/<<proj>>")
@@ db_url
CELERY_BROKER_URL: amqp://<<user>>:<<!urlpw>>@<<host>>:5672//<<proj>>
@@ db_url
$ psql "postgresql://<<user>>:<<!urlpw>>@<<host>>:5432/<<proj>>" -c 'select count(*) from orders'
@@ db_url
sqlalchemy.exc.OperationalError: could not connect: ¬
postgresql://<<user>>:<<!urlpw>>@<<host>>:5432/<<proj>>
@@ db_url
spring.datasource.url=jdbc:postgresql://<<host>>:5432/<<proj>>?user=<<user>>&password=<<!plain>>
@@ db_url
Server=tcp:<<host>>,1433;Database=<<proj>>;User ID=<<user>>;Password=<<!strong>>;Encrypt=True;
@@ db_url
"DefaultConnection": "Host=<<host>>;Port=5432;Database=<<proj>>;Username=<<user>>;¬
Password=<<!plain>>"
@@ db_url
dsn := "<<user>>:<<!plain>>@tcp(<<host>>:3306)/<<proj>>?parseTime=true"
@@ db_url
conn = psycopg2.connect("host=<<host>> dbname=<<proj>> user=<<user>> password=<<!plain>>")
@@ db_url
conn = pymysql.connect(host="<<host>>", user="<<user>>", password="<<!strong>>", db="x")
@@ db_url
const pool = new Pool({ host: '<<host>>', user: '<<user>>', password: '<<!strong>>' });
@@ db_url
mysql -h <<host>> -u <<user>> -p<<!plain>> <<proj>> < dump.sql
@@ db_url
mysqldump --user=<<user>> --password=<<!plain>> <<proj>> > /backup/<<date>>.sql
@@ db_url
PGPASSWORD=<<!plain>> pg_dump -h <<host>> -U <<user>> <<proj>> | gzip > <<date>>.gz
@@ db_url
redis-cli -h <<host>> -a <<!plain>> INFO memory
@@ db_url
mongosh "mongodb://<<host>>:27017/<<proj>>" -u <<user>> -p '<<!strong>>'
@@ db_url
CREATE USER <<user>> WITH PASSWORD '<<!strong>>';
GRANT CONNECT ON DATABASE shop TO <<user>>;
@@ db_url
ALTER USER '<<user>>'@'%' IDENTIFIED BY '<<!strong>>';
@@ db_url
# ~/.pgpass
<<host>>:5432:<<proj>>:<<user>>:<<!plain>>
@@ db_url
sqlcmd -S <<host>> -U <<user>> -P '<<!strong>>' -Q "select @@version"
@@ config_password
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_USER: <<user>>
      POSTGRES_PASSWORD: <<!human>>
      POSTGRES_DB: <<proj>>
@@ config_password
      - MYSQL_ROOT_PASSWORD=<<!strong>>
      - MYSQL_DATABASE=<<proj>>
@@ config_password
spring:
  datasource:
    url: jdbc:postgresql://<<host>>/<<proj>>
    username: <<user>>
    password: <<!human>>
@@ config_password
spring.datasource.username=<<user>>
spring.datasource.password=<<!strong>>
spring.jpa.show-sql=false
@@ config_password
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "<<proj>>",
        "USER": "<<user>>",
        "PASSWORD": "<<!strong>>",
        "HOST": "<<host>>",
    }
}
@@ config_password
SECRET_KEY = "<<!django>>"
DEBUG = False
ALLOWED_HOSTS = ["<<proj>>.example.com"]
@@ config_password
  "Smtp": {
    "Host": "smtp.<<proj>>.com",
    "User": "<<user>>",
    "Password": "<<!strong>>"
  }
@@ config_password
resource "aws_db_instance" "main" {
  identifier = "<<proj>>"
  username   = "<<user>>"
  password   = "<<!strong>>"
}
@@ config_password
db_password = "<<!strong>>"
db_name     = "<<proj>>"
@@ config_password
apiVersion: v1
kind: Secret
metadata:
  name: <<proj>>
type: Opaque
data:
  password: <<!b64pw>>
@@ config_password
apiVersion: v1
kind: Secret
metadata: { name: <<proj>> }
stringData:
  db-password: "<<!strong>>"
@@ config_password
helm upgrade --install <<proj>> ./chart --set postgresql.auth.password=<<!plain>> -n prod
@@ config_password
postgresql:
  auth:
    username: <<user>>
    postgresPassword: "<<!strong>>"
    database: <<proj>>
@@ config_password
[web]
<<host>> ansible_user=<<user>> ansible_become_pass=<<!plain>>
@@ config_password
- hosts: db
  vars:
    mysql_root_password: "<<!strong>>"
    app: <<proj>>
@@ config_password
RAILS_MASTER_KEY=<<!hex32>>
RAILS_ENV=production # <<proj>>
@@ config_password
APP_NAME=<<proj>>
APP_KEY=base64:<<!b6432>>
DB_PASSWORD=<<!strong>>
@@ config_password
JWT_SECRET=<<!hex64>>
JWT_EXPIRES_IN=<<n>>m
@@ config_password
NEXTAUTH_SECRET="<<!b6432>>"
NEXTAUTH_URL=https://<<proj>>.example.com
@@ config_password
SESSION_SECRET=<<!u43>>
@@ config_password
app.secret_key = "<<!hex64>>"  # <<proj>>
@@ config_password
machine api.<<proj>>.com
login <<user>>
password <<!plain>>
@@ config_password
//registry.npmjs.org/:_authToken=<<!npm>>
registry=https://registry.npmjs.org/
@@ config_password
{ "auths": { "ghcr.io/<<proj>>": { "auth": "<<!basic>>" } } }
@@ config_password
    <server>
      <id><<proj>></id>
      <username><<user>></username>
      <password><<!plain>></password>
    </server>
@@ config_password
[mail]
smtp_user = <<user>>@<<proj>>.com
smtp_password = <<!strong>>
@@ config_password
define('DB_USER', '<<user>>');
define('DB_PASSWORD', '<<!strong>>');
@@ config_password
production:
  adapter: mysql2
  username: <<user>>
  password: "<<!strong>>"
  host: <<host>>
@@ config_password
[database]
user = "<<user>>"
password = "<<!strong>>"
pool = <<n>>
@@ config_password
GF_SECURITY_ADMIN_PASSWORD=<<!human>>
GF_SERVER_ROOT_URL=https://grafana.<<proj>>.net
@@ config_password
requirepass <<!plain>>
maxmemory <<n>>mb
@@ config_password
network={
    ssid="<<proj>>-wifi"
    psk="<<!human>>"
}
@@ config_password
[Interface]
PrivateKey = <<!wgkey>>
Address = <<ip>>/24
@@ config_password
storePassword=<<!plain>>
keyPassword=<<!plain>>
keyAlias=<<user>>
@@ config_password
keytool -genkey -alias <<proj>> -keystore k.jks -storepass <<!plain>> -keypass <<!plain>>
@@ config_password
sshpass -p '<<!strong>>' ssh <<user>>@<<ip>> uptime
@@ config_password
echo '<<!strong>>' | docker login ghcr.io -u <<user>> --password-stdin
@@ config_password
docker login registry.<<proj>>.io -u <<user>> -p <<!plain>>
@@ config_password
curl -u <<user>>:<<!plain>> https://nexus.<<proj>>.io/repository/raw/list
@@ config_password
echo "<<user>>:<<!plain>>" | sudo chpasswd
@@ config_password
kubectl create secret generic <<proj>> --from-literal=password='<<!strong>>' -n stage
@@ config_password
openssl pkcs12 -in <<proj>>.p12 -passin pass:<<!plain>> -nodes -out out.crt
@@ config_password
vault kv put secret/<<proj>> db_password=<<!plain>> user=<<user>>
@@ config_password
net use Z: \\<<host>>\share /user:<<user>> <<!strong>>
cmdkey /add:<<host>> /user:<<user>> /pass:<<!plain>>
@@ code_password
password = "<<!strong>>"
login("<<user>>", password)
@@ code_password
DB_PASS = '<<!strong>>'  # <<proj>>
@@ code_password
const password: string = "<<!strong>>";
@@ code_password
String password = "<<!strong>>"; // user <<user>>
@@ code_password
var dbPassword = "<<!strong>>" // <<host>>
@@ code_password
$password = "<<!plain>>";
$pdo = new PDO($dsn, '<<user>>', $password);
@@ code_password
$cred = ConvertTo-SecureString "<<!plain>>" -AsPlainText -Force
@@ code_password
await page.fill('#password', '<<!strong>>');
await page.click('text=<<proj>>');
@@ code_password
client.connect("<<host>>", username="<<user>>", password="<<!strong>>", timeout=<<n>>)
@@ code_password
  static const char *wifi_password = "<<!human>>";
@@ code_password
    private val clientSecret = "<<!u43>>" // <<proj>>
@@ code_password
signing_key = b"<<!hex64>>"  # <<proj>>
@@ code_password
jwt.sign({ sub: '<<user>>' }, '<<!al40>>', { expiresIn: '1h' });
const secret = "<<!al32>>";
@@ code_password
let encryptionKey = "<<!b6432>>"; // v<<n>>
@@ code_password
Net::SSH.start("<<host>>", "<<user>>", password: "<<!strong>>") { |s| s.exec!("df") }
@@ chat_password
the password is <<!human>>
@@ chat_password
user: login is <<user>>, password <<!human>>
@@ chat_password
You can log in to <<host>> with user <<user>> and pw: <<!strong>>
@@ chat_password
user / pass: <<user>> / <<!human>>
@@ chat_password
my sudo password is "<<!human>>", go ahead and restart <<proj>>
@@ chat_password
assistant: I need the database password for <<host>> to continue.
user: <<!human>>
@@ chat_password
Passwort: <<!human>>
@@ chat_password
Das Passwort für <<proj>> lautet <<!human>> und der Benutzer ist <<user>>.
@@ chat_password
mein Kennwort ist <<!human>>
@@ chat_password
le mot de passe est <<!human>>
@@ chat_password
Mot de passe de <<proj>> : <<!strong>>
@@ chat_password
la contraseña es <<!human>>
@@ chat_password
Usuario: <<user>>
Contraseña: <<!human>>
@@ chat_password
a senha é <<!human>>
@@ chat_password
Senha do banco (<<proj>>): <<!strong>>
@@ chat_password
la password è <<!human>>, utente <<user>>
@@ chat_password
het wachtwoord is <<!human>>
@@ chat_password
hasło to <<!human>> (użytkownik <<user>>)
@@ chat_password
пароль: <<!human>>
@@ chat_password
логин <<user>>, пароль <<!strong>>
@@ chat_password
пароль від бази <<proj>>: <<!human>>
@@ chat_password
şifre: <<!human>>
@@ chat_password
lösenordet är <<!human>>
@@ chat_password
heslo je <<!human>>
@@ chat_password
密码是<<!plain>>，请登录<<proj>>
@@ chat_password
用户名：<<user>>
密码：<<!strong>>
@@ chat_password
数据库密码:<<!plain>>。然后重启服务
@@ chat_password
パスワードは<<!plain>>です
@@ chat_password
パスワード：<<!human>>
@@ chat_password
비밀번호는 <<!plain>>입니다
@@ chat_password
비밀번호: <<!human>>
@@ chat_password
كلمة المرور: <<!human>>
@@ chat_password
पासवर्ड: <<!human>>
@@ chat_password
mật khẩu là <<!human>>
@@ chat_password
kata sandi: <<!human>>
@@ chat_password
changed the admin password from <<!human>> to <<!strong>> on <<date>>
@@ key_block
-----BEGIN PRIVATE KEY-----
<<!pem>>
-----END PRIVATE KEY-----
@@ key_block
$ cat ~/.ssh/id_rsa
-----BEGIN RSA PRIVATE KEY-----
<<!rsa>>
-----END RSA PRIVATE KEY-----
@@ key_block
-----BEGIN OPENSSH PRIVATE KEY-----
<<!ossh>>
-----END OPENSSH PRIVATE KEY-----
ssh-ed25519 <<sshpub>> <<user>>@laptop
@@ key_block
-----BEGIN EC PRIVATE KEY-----
<<!ec>>
-----END EC PRIVATE KEY-----
@@ key_block
-----BEGIN PGP PRIVATE KEY BLOCK-----

<<!pgp>>
=aB<<n>>
-----END PGP PRIVATE KEY BLOCK-----
@@ key_block
  tls.key: |
    -----BEGIN PRIVATE KEY-----
    <<!pem4>>
    -----END PRIVATE KEY-----
@@ key_block
DEPLOY_KEY="-----BEGIN PRIVATE KEY-----\n<<!pemesc>>\n-----END PRIVATE KEY-----"
@@ key_block
-----BEGIN CERTIFICATE-----
<<certrows>>
-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----
<<!pem>>
-----END PRIVATE KEY-----
@@ key_block
-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,<<md5>>

<<!rsa>>
-----END RSA PRIVATE KEY-----
@@ key_block
# created: <<date>>T08:00:00Z
<<!age>>
@@ key_block
const key = `-----BEGIN PRIVATE KEY-----
<<!pem>>
-----END PRIVATE KEY-----`;
@@ http_token
> GET /v1/orders/<<n>> HTTP/1.1
> Host: api.<<proj>>.com
> Authorization: Bearer <<!jwt>>
> Accept: */*
< HTTP/1.1 200 OK
@@ http_token
Authorization: Basic <<!basic>>
@@ http_token
curl -H 'Authorization: Bearer <<!jwt>>' http://localhost:<<port>>/me
@@ http_token
{"access_token":"<<!jwt>>","token_type":"bearer","expires_in":<<n>>}
@@ http_token
{
  "access_token": "<<!u43>>",
  "refresh_token": "<<!al40>>",
  "expires_in": 3600,
  "scope": "read:<<proj>>"
}
@@ http_token
Set-Cookie: session=<<!u43>>; Path=/; HttpOnly; Secure
Content-Length: <<n>>
@@ http_token
Cookie: theme=dark; auth_token=<<!hex64>>; lang=de
@@ http_token
grant_type=client_credentials&client_id=<<proj>>&client_secret=<<!al40>>
@@ http_token
POST /login HTTP/1.1
Content-Type: application/json

{"username":"<<user>>","password":"<<!strong>>"}
@@ http_token
SUPABASE_SERVICE_ROLE_KEY=<<!jwt>>
@@ http_token
https://app.<<proj>>.com/reset-password?token=<<!u43>>&user=<<n>>
@@ http_token
wss://stream.<<proj>>.io/ws?access_token=<<!al40>>
@@ http_token
localStorage.setItem('token', '<<!jwt>>'); // <<user>>
@@ http_token
headers: { "X-Auth-Token": "<<!hex40>>", "X-Tenant": "<<proj>>" }
@@ http_token
stripe listen --forward-to localhost:<<port>>/hook
> Ready! Your webhook signing secret is <<!whsec>> (^C to quit)
@@ tool_output
$ git remote -v
origin	https://<<user>>:<<!ghp>>@github.com/acme/<<proj>>.git (fetch)
@@ tool_output
$ git remote -v
origin	https://oauth2:<<!glpat>>@gitlab.com/acme/<<proj>>.git (push)
@@ tool_output
git clone https://x-access-token:<<!ghs>>@github.com/acme/<<proj>>
@@ tool_output
$ gh auth token
<<!gho>>
@@ tool_output
$ kubectl get secret <<proj>> -o jsonpath='{.data.password}' | base64 -d
<<!strong>>
@@ tool_output
$ kubectl get secret <<proj>> -o yaml
apiVersion: v1
data:
  DB_PASSWORD: <<!b64pw>>
  API_TOKEN: <<!b64pw>>
kind: Secret
@@ tool_output
$ openssl rand -hex 32   # new JWT secret
<<!hex64>>
@@ tool_output
$ vault token create -policy=<<proj>>
Key                  Value
---                  -----
token                <<!hvs>>
token_accessor       n/a
@@ tool_output
Unseal Key 1: <<!b6432>>
Unseal Key 2: <<!b6432>>

Initial Root Token: <<!hvs>>
@@ tool_output
$ kubeadm token create --print-join-command
kubeadm join <<ip>>:6443 --token <<!kubeadm>> --discovery-token-ca-cert-hash sha256:<<sha256>>
@@ tool_output
$ kubectl config view --raw | tail -3
- name: <<user>>@<<proj>>
  user:
    token: <<!jwt>>
@@ tool_output
$ terraform output -json
{"db_password": {"sensitive": true, "type": "string", "value": "<<!strong>>"}}
@@ tool_output
[<<time>>] DEBUG auth: login attempt user=<<user>> password=<<!strong>> ip=<<ip>>
@@ tool_output
Traceback (most recent call last):
  File "/app/<<file>>", line <<n>>, in connect
    conn = connect(user="<<user>>", password="<<!strong>>")
TimeoutError: timed out
@@ tool_output
##[debug]Evaluating: env.DEPLOY_TOKEN
##[debug]Result: '<<!ghpat>>'
@@ tool_output
+ curl -fsS -H 'Authorization: Bearer <<!al40>>' https://deploy.<<proj>>.io/run
deploy started, id <<nn>>
@@ tool_output
$ npm config ls -l | grep auth
//registry.npmjs.org/:_authToken = "<<!npm>>"
@@ tool_output
$ tailscale up --authkey <<!tskey>> --hostname <<proj>>
@@ tool_output
otpauth://totp/<<proj>>:<<user>>?secret=<<!totp>>&issuer=<<proj>>
@@ tool_output
$ history | tail -2
  <<n>>  cd /srv/<<proj>>
  <<n>>  twine upload dist/* -u __token__ -p <<!pypi>>
@@ tool_output
twine: password = <<!pypi>>
@@ tool_output
$ docker compose config | grep -i pass
      POSTGRES_PASSWORD: <<!strong>>
      SMTP_PASSWORD: <<!strong>>
@@ private_block
Please fix <<file>>. <private><<!note>></private> Thanks!
@@ private_block
<private>
<<!note>>
</private>
Run the tests of <<proj>> now.
@@ private_block
请看 <private><<!note>></private> 然后继续 <<proj>>
@@ private_block
user: the address is <private><<!note>></private>, do not keep it
assistant: Understood, going on with <<proj>>.
@@ long_turn
<<longlog>>
2026-03-04 08:15:22 DEBUG connecting to postgres://<<user>>:<<!urlpw>>@<<host>>:5432/<<proj>>
<<longlog>>
@@ long_turn
<<longprose>> For <<PSVC>> I used <<!PKEY>> and it worked at once. <<longprose>>
@@ long_turn
<<longcode>>

<<ENV>> = "<<!KEY>>"

<<longcode>>
@@ long_turn
<<longprose>>

The admin password is <<!human>>

<<longprose>>
@@ long_turn
<<longlog>>
-----BEGIN RSA PRIVATE KEY-----
<<!rsa>>
-----END RSA PRIVATE KEY-----
<<longlog>>
@@ long_turn
```python
<<longcode>>
client = connect("<<host>>", password="<<!strong>>")
<<longcode>>
```
<<longprose>>
@@ long_turn
<<longlog>>
> Authorization: Bearer <<!jwt>>
<<longlog>>
@@ long_turn
user: <<longprose>>
assistant: What is the value of <<ENV>>?
user: <<ENV>>=<<!KEY>>
assistant: <<longprose>>
"""

NEGATIVE = r"""
@@ env_reference
DATABASE_URL=${DATABASE_URL:?missing} # <<proj>>
@@ env_reference
password: ${DB_PASSWORD} # <<host>>
@@ env_reference
POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:-}
POSTGRES_DB: <<proj>>
@@ env_reference
const apiKey = process.env.OPENAI_API_KEY; // <<proj>>
@@ env_reference
const token = process.env.GITHUB_TOKEN ?? ''; // line <<n>>
@@ env_reference
api_key = os.environ["ANTHROPIC_API_KEY"]  # <<file>>
@@ env_reference
api_key=os.getenv("STRIPE_SECRET_KEY"), timeout=<<n>>
@@ env_reference
SECRET_KEY = env("SECRET_KEY")  # <<proj>>
@@ env_reference
password = config.get("db", "password")  # <<host>>
@@ env_reference
token := os.Getenv("SLACK_BOT_TOKEN") // <<proj>>
@@ env_reference
let token = std::env::var("API_TOKEN").expect("API_TOKEN not set"); // <<n>>
@@ env_reference
String secret = System.getenv("CLIENT_SECRET"); // <<proj>>
@@ env_reference
password: ENV['DATABASE_PASSWORD'] # <<proj>>
@@ env_reference
password: <%= ENV.fetch("DB_PASSWORD") %> # <<host>>
@@ env_reference
$password = getenv('DB_PASSWORD'); // <<proj>>
@@ env_reference
'password' => env('DB_PASSWORD', ''), // <<proj>>
@@ env_reference
var key = Environment.GetEnvironmentVariable("API_KEY"); // <<proj>>
@@ env_reference
var pw = builder.Configuration["Db:Password"]; // <<proj>>
@@ env_reference
curl -H "Authorization: Bearer $TOKEN" https://api.<<proj>>.com/v1/me
@@ env_reference
curl -H "Authorization: Bearer ${API_TOKEN}" localhost:<<port>>/status
@@ env_reference
curl -u "$USER:$PASS" https://nexus.<<proj>>.io/
@@ env_reference
      token: ${{ secrets.GITHUB_TOKEN }}
      ref: <<sha>>
@@ env_reference
env:
  NPM_TOKEN: ${{ secrets.NPM_TOKEN }}
  APP: <<proj>>
@@ env_reference
password: {{ .Values.db.password | quote }} # <<proj>>
@@ env_reference
mysql_password: "{{ vault_mysql_password }}" # <<host>>
@@ env_reference
password = var.db_password # <<proj>>
@@ env_reference
secret_key = data.aws_secretsmanager_secret_version.<<user>>.secret_string
@@ env_reference
password = random_password.db.result # <<proj>>
@@ env_reference
          valueFrom:
            secretKeyRef:
              name: <<proj>>
              key: password
@@ env_reference
      - secretRef:
          name: <<proj>>-secrets
@@ env_reference
secretName: <<proj>>-tls
@@ env_reference
DB_PASSWORD_FILE=/run/secrets/<<proj>>_db_password
@@ env_reference
export GITHUB_TOKEN=$(gh auth token) # <<user>>
@@ env_reference
export PGPASSWORD="$(pass show db/<<proj>>)"
@@ env_reference
API_KEY=op://dev/<<proj>>/api-key
@@ env_reference
TOKEN=$(vault kv get -field=token secret/<<proj>>)
@@ env_reference
postgres://${DB_USER}:${DB_PASSWORD}@${DB_HOST}:5432/<<proj>>
@@ env_reference
f"postgresql://{user}:{password}@{host}:<<port>>/{name}"
@@ env_reference
`mongodb://${user}:${pass}@${host}:<<port>>/${db}`
@@ env_reference
$env:API_KEY = $env:OLD_API_KEY  # <<proj>>
@@ env_reference
docker run -e OPENAI_API_KEY -e PORT=<<port>> <<proj>>
@@ env_reference
docker run -e OPENAI_API_KEY=$OPENAI_API_KEY <<proj>>:<<ver>>
@@ env_reference
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
@<<proj>>:registry=https://registry.npmjs.org/
@@ env_reference
echo "$CI_REGISTRY_PASSWORD" | docker login -u "$CI_REGISTRY_USER" --password-stdin r.<<proj>>.io
@@ env_reference
sops -d secrets/<<proj>>.enc.yaml | kubectl apply -f -
@@ env_reference
spring.datasource.password=${SPRING_DATASOURCE_PASSWORD}
server.port=<<port>>
@@ env_reference
const secret = import.meta.env.VITE_SECRET; // <<file>>
@@ env_reference
API_KEY = Deno.env.get("API_KEY"); // <<n>>
@@ env_reference
set PASSWORD=%DB_PASSWORD% && run.bat <<proj>>
@@ env_reference
password=@Microsoft.KeyVault(SecretUri=https://<<proj>>.vault.azure.net/secrets/db/)
@@ env_reference
password: !vault |
  (see group_vars/<<proj>>.yml)
@@ env_reference
PASSWORD=$1; HOST=<<host>>
@@ env_reference
token: !Sub "{{resolve:secretsmanager:<<proj>>:SecretString:token}}"
@@ env_reference
password: !Ref DbPassword # <<proj>>
@@ placeholder
OPENAI_API_KEY=your-api-key-here
PORT=<<port>>
@@ placeholder
OPENAI_API_KEY=sk-...
APP=<<proj>>
@@ placeholder
ANTHROPIC_API_KEY=sk-ant-...
MAX=<<n>>
@@ placeholder
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
REPO=<<proj>>
@@ placeholder
API_KEY=<your api key>
APP=<<proj>>
@@ placeholder
DB_PASSWORD=changeme
DB_NAME=<<proj>>
@@ placeholder
DB_PASSWORD=
DB_HOST=<<host>>
@@ placeholder
SECRET_KEY=CHANGE_ME
HOST=<<host>>
@@ placeholder
POSTGRES_PASSWORD=<password>
POSTGRES_DB=<<proj>>
@@ placeholder
password: "********"
user: <<user>>
@@ placeholder
password=*** host=<<host>>
@@ placeholder
password: [REDACTED], host: <<host>>
@@ placeholder
"password": "[FILTERED]", "id": <<nn>>
@@ placeholder
{"apiKey": "YOUR_API_KEY", "project": "<<proj>>"}
@@ placeholder
{"token": "<token>", "repo": "<<proj>>"}
@@ placeholder
{"password": null, "user": "<<user>>"}
@@ placeholder
{"password": "", "host": "<<host>>"}
@@ placeholder
{"password": true, "id": <<n>>}
@@ placeholder
client_secret: REPLACE_ME # <<proj>>
@@ placeholder
client_secret=<client-secret>&client_id=<<proj>>
@@ placeholder
postgres://user:password@localhost:5432/<<proj>>
@@ placeholder
postgres://USER:PASSWORD@HOST:5432/<<proj>>
@@ placeholder
mysql://<user>:<password>@<host>/<<proj>>
@@ placeholder
mongodb+srv://<username>:<password>@cluster0.example.mongodb.net/<<proj>>
@@ placeholder
redis://:***@<<host>>:6379/0
@@ placeholder
postgresql://<<user>>:***@<<host>>:5432/<<proj>>
@@ placeholder
https://user:pass@example.com/<<proj>>
@@ placeholder
https://<token>@github.com/acme/<<proj>>.git
@@ placeholder
curl -H "Authorization: Bearer <token>" https://api.<<proj>>.com
@@ placeholder
curl -H "Authorization: Bearer YOUR_TOKEN" https://api.<<proj>>.com
@@ placeholder
curl -H "x-api-key: YOUR_API_KEY" https://api.<<proj>>.com/v<<n>>
@@ placeholder
Authorization: Bearer *** (<<uuid>>)
@@ placeholder
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
region = eu-west-1
# <<proj>>
@@ placeholder
The docs use AKIAIOSFODNN7EXAMPLE in <<file>>, that is fine.
@@ placeholder
文档里的AKIAIOSFODNN7EXAMPLE是示例，见<<file>>
@@ placeholder
sk_test_4eC39HqLyjWDarjtT1zdp7dc is the key of Stripe's docs, see <<file>>
@@ placeholder
hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX for <<proj>>
@@ placeholder
SLACK_BOT_TOKEN=xoxb-your-token
CHANNEL=<<proj>>
@@ placeholder
STRIPE_SECRET_KEY=sk_test_...
STRIPE_PRICE=<<n>>
@@ placeholder
const apiKey = "YOUR_API_KEY"; // <<proj>>
@@ placeholder
api_key = "<API_KEY>"  # <<proj>>
@@ placeholder
password = "xxxxxxxx"  # <<host>>
@@ placeholder
JWT_SECRET=replace-with-a-long-random-string
JWT_TTL=<<n>>
@@ placeholder
NEXTAUTH_SECRET= # openssl rand -base64 32
NEXTAUTH_URL=http://localhost:<<port>>
@@ placeholder
APP_KEY=
APP_NAME=<<proj>>
@@ placeholder
TOKEN=TODO
APP=<<proj>>
@@ placeholder
password: "{{password}}" # template <<proj>>
@@ placeholder
-----BEGIN PRIVATE KEY-----
...
-----END PRIVATE KEY-----
(put yours in certs/<<proj>>.pem)
@@ placeholder
machine api.<<proj>>.com login <user> password <password>
@@ placeholder
PASSWORD=dummy_password_for_tests pytest -k <<proj>>
@@ placeholder
HF_TOKEN=hf_xxxxxxxxxxxxxxxxxxxx python train.py --epochs <<n>>
@@ placeholder
パスワード: ********（<<proj>>）
@@ placeholder
密码：<你的密码>，端口：<<port>>
@@ placeholder
GITHUB_TOKEN=*** (set by the runner, job <<nn>>)
@@ placeholder
AccountName=<<user>>store;AccountKey=<account-key>;EndpointSuffix=core.windows.net
@@ placeholder
export AWS_SECRET_ACCESS_KEY=<secret> AWS_REGION=eu-west-1 # <<proj>>
@@ placeholder
$ heroku config:set SECRET_KEY=... -a <<proj>>
@@ placeholder
docker login -u <user> -p <password> r.<<proj>>.io
@@ placeholder
Password for '<<user>>':
@@ placeholder
[sudo] password for <<user>>:
@@ placeholder
Enter passphrase for key '/home/<<user>>/.ssh/id_ed25519':
@@ placeholder
<<user>>@<<ip>>'s password:
@@ prose_en
I forgot my password, can you reset the account of <<user>>?
@@ prose_en
The password field in <<file>> needs a label.
@@ prose_en
password must be at least <<n>> characters
@@ prose_en
Password reset mails of <<proj>> are not sent.
@@ prose_en
The token expired after <<n>> minutes.
@@ prose_en
We used <<nn>> tokens in this session.
@@ prose_en
max_tokens is <<n>>, raise it
@@ prose_en
The secret to fast tests is fewer containers; <<proj>> has <<n>>.
@@ prose_en
Key takeaways: <<proj>> is slow and the cache is cold.
@@ prose_en
API keys are stored in the vault, see <<file>> for the loader.
@@ prose_en
Never commit secrets to <<proj>>; use the password manager.
@@ prose_en
assistant: I can't see the password, please set DB_PASSWORD in the shell of <<proj>>.
@@ prose_en
The password is hashed with bcrypt in <<file>>.
@@ prose_en
The password is wrong, says the log of <<proj>>.
@@ prose_en
The token is invalid, so <<proj>> answers 401.
@@ prose_en
password: required, string, min <<n>>
@@ prose_en
Is the password stored in plain text in <<file>>?
@@ prose_en
The secret is mounted at /run/secrets/<<proj>>.
@@ prose_en
The api key is read from the environment in <<file>>.
@@ prose_en
auth: bearer token required for <<proj>>
@@ prose_en
Use a passphrase instead of a password for <<proj>>.
@@ prose_en
password authentication failed for user "<<user>>"
@@ prose_en
fe_sendauth: no password supplied (<<host>>)
@@ prose_en
Access denied for user '<<user>>'@'<<ip>>' (using password: YES)
@@ prose_en
NOAUTH Authentication required. (<<host>>)
@@ prose_en
remote: Invalid username or password. fatal: Authentication failed for <<proj>>
@@ prose_en
Permission denied (publickey,password). <<ip>>
@@ prose_en
Your password has been changed, <<user>>.
@@ prose_en
SyntaxError: Unexpected token < in JSON at position <<n>>
@@ prose_en
SyntaxError: Unexpected token 'export' (<<file>>:<<n>>)
@@ prose_en
KeyError: 'password' in <<file>> line <<n>>
@@ prose_en
KeyError: 'OPENAI_API_KEY' (<<file>>:<<n>>)
@@ prose_en
openai.AuthenticationError: 401 the api_key client option must be set, <<file>>:<<n>>
@@ prose_en
Missing required environment variable: STRIPE_SECRET_KEY (<<proj>>)
@@ prose_en
password=False is the default in <<file>>
@@ prose_en
Passwordless login works since <<ver>>.
@@ prose_en
I pressed the key Escape <<n>> times.
@@ prose_en
primary key: id, foreign key: order_id (<<proj>>)
@@ prose_en
The session token rotation job ran at <<time>>.
@@ prose_en
passwd: password updated successfully (<<user>>)
@@ prose_en
cat /etc/passwd | grep <<user>>
@@ prose_en
<<user>>:x:10<<n>>:1000::/home/<<user>>:/bin/bash
@@ prose_en
Secret scanning found 0 leaks in <<sha7>>.
@@ prose_en
gitleaks: no leaks found, <<n>> commits scanned
@@ prose_en
The user asked where the credentials of <<proj>> are; they are in 1Password.
@@ prose_en
Private key file permissions 0644 are too open (/home/<<user>>/.ssh/id_rsa)
@@ prose_en
Load key "/home/<<user>>/.ssh/id_rsa": bad permissions
@@ prose_en
The word password occurs <<n>> times in <<file>>.
@@ prose_en
Token: a word or part of a word; <<n>> of them fit here.
@@ prose_en
context window: <<nn>> tokens used, cache read tokens: <<nn>>
@@ prose_en
- [ ] add "forgot password" link to <<proj>>
@@ prose_en
refactor(auth): rename passwd to password in <<proj>>
@@ prose_en
feat(<<proj>>): add api-key rotation
@@ prose_en
pin: numpy to <<ver>>
@@ prose_en
pass: <<n>>, fail: 0, skip: 2
@@ prose_en
pwd: /home/<<user>>/src/<<proj>>
@@ prose_en
key: value pairs are parsed in <<file>>
@@ prose_en
Auth: OK, DB: OK, Cache: OK (<<n>> ms)
@@ prose_lang
Das Passwort wird in <<file>> gehasht.
@@ prose_lang
Ich habe mein Passwort vergessen, <<user>> kann nicht rein.
@@ prose_lang
Passwort zurücksetzen geht in <<proj>> nicht.
@@ prose_lang
Der Schlüssel zum Erfolg sind kleine Schritte in <<proj>>.
@@ prose_lang
Das Kennwort ist zu kurz (mindestens <<n>> Zeichen).
@@ prose_lang
J'ai oublié le mot de passe de <<proj>>.
@@ prose_lang
Le mot de passe est trop court (<<n>> caractères minimum).
@@ prose_lang
Mot de passe : obligatoire, <<n>> caractères
@@ prose_lang
Olvidé la contraseña de <<proj>>.
@@ prose_lang
La contraseña es obligatoria en <<file>>.
@@ prose_lang
A senha é obrigatória em <<file>>.
@@ prose_lang
Esqueci a senha de <<user>>.
@@ prose_lang
La password è obbligatoria, vedi <<file>>.
@@ prose_lang
Het wachtwoord is verlopen in <<proj>>.
@@ prose_lang
Hasło jest za krótkie, minimum <<n>> znaków.
@@ prose_lang
Пароль хранится в хеше, см. <<file>>.
@@ prose_lang
Я забыл пароль от <<proj>>.
@@ prose_lang
Пароль неверный, пользователь <<user>>.
@@ prose_lang
Şifre en az <<n>> karakter olmalı.
@@ prose_lang
Lösenordet är för kort, minst <<n>> tecken.
@@ prose_lang
Heslo je povinné v <<file>>.
@@ prose_lang
密码至少需要<<n>>个字符
@@ prose_lang
我忘记了<<proj>>的密码
@@ prose_lang
密码是必填项，见<<file>>
@@ prose_lang
密码错误，用户<<user>>
@@ prose_lang
密钥存放在保险库中，见<<file>>
@@ prose_lang
パスワードは<<n>>文字以上です
@@ prose_lang
<<proj>>のパスワードを忘れました
@@ prose_lang
パスワード：必須（<<file>>）
@@ prose_lang
トークンの数は<<nn>>です
@@ prose_lang
비밀번호는 <<n>>자 이상이어야 합니다
@@ prose_lang
<<proj>> 비밀번호를 잊어버렸어요
@@ prose_lang
نسيت كلمة المرور في <<proj>>
@@ prose_lang
<<proj>> का पासवर्ड भूल गया
@@ prose_lang
Quên mật khẩu của <<proj>>
@@ prose_lang
Lupa kata sandi <<proj>>.
@@ hash_id
commit <<sha>>
Author: <<user>> <<<user>>@example.com>
Date:   <<date>>
@@ hash_id
<<sha7>> fix: token refresh in <<proj>>
@@ hash_id
HEAD is now at <<sha7>> remove password column
@@ hash_id
index <<sha7>>..<<sha7>> 100644
@@ hash_id
git cherry-pick <<sha>>
@@ hash_id
uses: actions/checkout@<<sha>> # v4
@@ hash_id
FROM node@sha256:<<sha256>>
@@ hash_id
Digest: sha256:<<sha256>>
Status: Downloaded newer image for <<proj>>:latest
@@ hash_id
 => => writing image sha256:<<sha256>> 0.0s
@@ hash_id
"integrity": "<<sri>>",
@@ hash_id
  resolved "https://registry.yarnpkg.com/jsonwebtoken/-/jsonwebtoken-<<ver>>.tgz#<<sha>>"
@@ hash_id
password-hash@^<<ver>>:
  integrity <<sri>>
@@ hash_id
requests==<<ver>> --hash=sha256:<<sha256>>
@@ hash_id
github.com/golang-jwt/jwt/v5 v<<ver>> h1:<<b43>>=
@@ hash_id
checksum = "<<sha256>>"
@@ hash_id
name = "secrecy"
version = "<<ver>>"
checksum = "<<sha256>>"
@@ hash_id
<<sha256>>  <<proj>>-<<ver>>.tar.gz
@@ hash_id
<<md5>>  dump.sql
@@ hash_id
ETag: "<<md5>>"
@@ hash_id
x-request-id: <<uuid>>
@@ hash_id
traceparent: 00-<<trace>>-<<sha7>>000000000-01
@@ hash_id
trace_id=<<trace>> span=<<n>>
@@ hash_id
{"id": "<<uuid>>", "type": "order"}
@@ hash_id
user_id: <<uuid>>
tenant_id: <<uuid>>
@@ hash_id
key: <<uuid>>.json size: <<n>>
@@ hash_id
pod/<<proj>>-<<pod>>   1/1   Running   0   <<n>>m
@@ hash_id
<<cid>>   <<proj>>:<<ver>>   "npm start"   Up 3 hours
@@ hash_id
arn:aws:secretsmanager:eu-west-1:<<acct>>:secret:<<proj>>
@@ hash_id
arn:aws:iam::<<acct>>:role/<<proj>>-secrets-reader
@@ hash_id
arn:aws:kms:eu-west-1:<<acct>>:key/<<uuid>>
@@ hash_id
projects/<<proj>>/secrets/db-password/versions/<<n>>
@@ hash_id
"client_id": "<<uuid>>", "tenant_id": "<<uuid>>"
@@ hash_id
/subscriptions/<<uuid>>/resourceGroups/<<proj>>/providers/Microsoft.KeyVault/vaults/kv
@@ hash_id
ssh-ed25519 <<sshpub>> <<user>>@laptop
@@ hash_id
256 SHA256:<<b43>> <<user>>@laptop (ED25519)
@@ hash_id
The authenticity of host '<<ip>>' can't be established. Fingerprint SHA256:<<b43>>.
@@ hash_id
|1|<<b28>>=|<<b28>>= ssh-ed25519 <<sshpub>>
@@ hash_id
-----BEGIN CERTIFICATE-----
<<certrows>>
-----END CERTIFICATE-----
@@ hash_id
-----BEGIN PUBLIC KEY-----
<<pubrows>>
-----END PUBLIC KEY-----
@@ hash_id
PublicKey = <<b43>>=
Endpoint = <<ip>>:51820
@@ hash_id
gpg: key <<hexu>>: public key "<<user>>" imported
@@ hash_id
      <<hexu>><<hexu>>
uid   [ultimate] <<user>> <<<user>>@example.com>
@@ hash_id
<img src="data:image/png;base64,<<png>>">
@@ hash_id
//# sourceMappingURL=<<proj>>.<<sha7>>.js.map
@@ hash_id
"mappings": "<<vlq>>"
@@ hash_id
main.<<sha7>>.chunk.js  <<n>> kB
@@ hash_id
<script src="https://cdn.example.com/x.js" integrity="<<sri>>"></script>
@@ hash_id
Content-Security-Policy: script-src 'self' '<<sri256>>'
@@ hash_id
0x<<sha>> sent 0.3 ETH in block <<nn>>
@@ hash_id
tx 0x<<sha256>> confirmed
@@ hash_id
--discovery-token-ca-cert-hash sha256:<<sha256>>
@@ hash_id
nix: sha256 = "<<sri256>>";
@@ hash_id
cache key: node-modules-linux-<<sha256>>
@@ hash_id
key: ${{ runner.os }}-pip-${{ hashFiles('requirements.txt') }}-<<n>>
@@ hash_id
Cache restored from key: Linux-node-<<sha256>>
@@ hash_id
toolu_01<<a22>> finished in <<n>> ms
@@ hash_id
"id": "msg_01<<a22>>", "role": "assistant"
@@ hash_id
"id": "chatcmpl-<<a29>>", "object": "chat.completion"
@@ hash_id
{"tool_call_id": "call_<<a24>>", "name": "bash"}
@@ hash_id
session id <<uuid>> resumed
@@ hash_id
"sessionId":"<<uuid>>","cwd":"/srv/<<proj>>"
@@ hash_id
pi_3<<a23>> succeeded, amount <<n>>
@@ hash_id
customer cus_<<a14>> has price price_1<<a23>>
@@ hash_id
https://www.youtube.com/watch?v=<<a11>>
@@ hash_id
https://docs.google.com/document/d/1<<a43>>/edit
@@ hash_id
https://www.figma.com/file/<<a22>>/<<proj>>
@@ hash_id
s3://<<proj>>-artifacts/<<sha>>/build.zip
@@ hash_id
gs://<<proj>>/tokens/<<date>>.jsonl
@@ hash_id
objectid 64<<hex22>> not found in collection tokens
@@ hash_id
{"_id": {"$oid": "65<<hex22>>"}, "name": "<<user>>"}
@@ hash_id
Build cache <<sha>> hit for //<<proj>>:lib
@@ hash_id
/nix/store/<<l32>>-openssl-<<ver>>/bin
@@ hash_id
ECDSA nistp256, serial <<hexu>>, expires <<date>>
@@ hash_id
serial=<<hexu>><<hexu>>
notAfter=<<date>>
@@ hash_id
ami-0<<hex16>> in subnet-0<<hex16>>
@@ hash_id
sg-0<<hex16>> allows port <<port>>
@@ hash_id
AWS_ACCOUNT_ID=<<acct>>
AWS_REGION=eu-central-1
@@ hash_id
fingerprint: <<fp>>
@@ hash_id
memory at 0x7f<<hex10>>, <<proj>>.Token object
@@ hash_id
<Token object at 0x7f<<hex10>>>
@@ hash_id
==<<nn>>== Invalid read of size 8 at 0x<<hex10>>: parse_token
@@ hash_id
00000000: <<hex4>> <<hex4>> <<hex4>> <<hex4>>  ................
@@ hash_id
blake3: <<sha256>>
@@ hash_id
git+https://github.com/acme/<<proj>>.git@<<sha>>
@@ hash_id
https://github.com/acme/<<proj>>/blob/<<sha>>/src/token.ts#L<<n>>
@@ hash_id
Deployment <<uuid>> is live at https://<<proj>>-<<a9l>>.vercel.app
@@ hash_id
migration 2026<<n>>_<<hex12>>_add_password_hash.py
@@ hash_id
Revision ID: <<hex12>>
Revises: <<hex12>>
@@ code
def check_password(user, password):
    return bcrypt.checkpw(password.encode(), user.hash)  # <<n>>
@@ code
if password != confirm_password: raise ValueError("line <<n>>")
@@ code
password = request.form["password"]  # <<file>>
@@ code
password = input("Password: ")  # <<proj>>
@@ code
password = getpass.getpass()  # <<proj>>
@@ code
password: str = Field(min_length=<<n>>)
@@ code
password: string; // <<file>>
@@ code
  password?: string | null; // v<<ver>>
@@ code
interface Login { user: string; password: string; ttl: <<n>> }
@@ code
public string Password { get; set; } // <<proj>>
@@ code
private String password; // <<proj>>
@@ code
@Column(name = "password", length = <<n>>)
@@ code
type Config struct {
	Password string `json:"password" env:"DB_PASSWORD"` // <<n>>
}
@@ code
    pub api_key: Option<SecretString>, // <<file>>
@@ code
let token = self.lexer.next_token()?; // <<n>>
@@ code
token = tokens[<<n>>]
@@ code
token = await getAccessToken({ scope: '<<proj>>' });
@@ code
const token = req.headers.authorization?.split(' ')[1]; // <<file>>
@@ code
const { data: token } = useQuery(['token', <<n>>], fetchToken);
@@ code
const [password, setPassword] = useState(''); // <<file>>
@@ code
<input type="password" name="password" id="pw-<<n>>" />
@@ code
<label for="password">Password</label> <!-- <<file>> -->
@@ code
await page.fill('#password', password); // <<n>>
@@ code
secret = secrets.token_urlsafe(<<n>>)
@@ code
api_key = generate_api_key(length=<<n>>)
@@ code
key = f"user:{user_id}:token:<<n>>"
@@ code
cache.set("token:" + user.id, token, ttl=<<n>>)
@@ code
for key, value in secrets.items():  # <<file>>
@@ code
PASSWORD_MIN_LENGTH = <<n>>
@@ code
TOKEN_EXPIRY_SECONDS = <<nn>>
@@ code
ACCESS_TOKEN_EXPIRE_MINUTES=<<n>>
@@ code
PASSWORD_RESET_TIMEOUT = <<nn>>
@@ code
AUTH_PASSWORD_VALIDATORS = []  # <<proj>>
@@ code
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]  # <<ver>>
@@ code
'NAME': 'django.contrib.auth.password_validation.MinimumLengthValidator', # <<n>>
@@ code
token_type = "bearer"  # <<file>>
@@ code
tokenizer = AutoTokenizer.from_pretrained("acme/<<proj>>")
@@ code
max_tokens: <<n>>, temperature: 0.2
@@ code
{"input_tokens": <<n>>, "output_tokens": <<n>>, "cache_read_input_tokens": <<nn>>}
@@ code
pad_token_id=<<n>>, eos_token_id=<<nn>>
@@ code
csrf_token = forms.HiddenInput()  # <<file>>
@@ code
{% csrf_token %} <!-- <<file>> -->
@@ code
raise AuthError("invalid api key")  # <<file>>:<<n>>
@@ code
logger.warning("password reset requested for %s", user_id)  # <<n>>
@@ code
sk_sp = sk_items[<<n>>]
@@ code
CREATE TABLE users (id int, password varchar(<<n>>) not null);
@@ code
ALTER TABLE <<user>>_users ADD COLUMN password_hash text;
@@ code
SELECT id, password_hash FROM users WHERE id = <<n>>;
@@ code
PRIMARY KEY (id), KEY idx_token (token(<<n>>))
@@ code
INSERT INTO users (name, password) VALUES ($1, $2) -- <<file>>
@@ code
variable "db_password" {
  type      = string
  sensitive = true
  # <<proj>>
}
@@ code
output "password" { value = random_password.<<user>>.result }
@@ code
resource "random_password" "db" { length = <<n>> }
@@ code
resource "aws_secretsmanager_secret" "<<user>>" { name = "<<proj>>/db" }
@@ code
func (s *Server) Password(ctx context.Context) string { return s.cfg.Password } // <<n>>
@@ code
if err := bcrypt.CompareHashAndPassword(hash, []byte(password)); err != nil { // <<n>>
@@ code
password=password, host="<<host>>"
@@ code
connect(host="<<host>>", user=user, password=cfg.password)
@@ code
new Client({ apiKey, region: 'eu-<<n>>' })
@@ code
apiKey: config.apiKey, // <<file>>
@@ code
apiKey={apiKey} key={item.id} // <<n>>
@@ code
this.secretKey = secretKey; // <<file>>
@@ code
self.api_token = api_token  # <<file>>
@@ code
@password = params[:password] # <<file>>
@@ code
validates :password, length: { minimum: <<n>> }
@@ code
has_secure_password # <<file>>
@@ code
$request->validate(['password' => 'required|min:<<n>>']);
@@ code
passwordEncoder.encode(dto.getPassword()); // <<n>>
@@ code
val token = prefs.getString("token", null) // <<file>>
@@ code
guard let token = keychain["token"] else { return } // <<n>>
@@ code
re.compile(r"(?i)(password|secret|token)\s*[:=]\s*\S+")  # <<file>>
@@ code
SECRET_RE = re.compile(r"sk-[A-Za-z0-9]{<<n>>}")
@@ code
re.search(r"ghp_[A-Za-z0-9]{36}", text)  # <<file>>:<<n>>
@@ code
PATTERN = /AKIA[0-9A-Z]{16}/; // <<file>>
@@ code
if key.startswith("sk-ant-"):  # <<file>>:<<n>>
@@ code
"-----BEGIN PRIVATE KEY-----" in text  # <<file>>:<<n>>
@@ code
grep -rn "BEGIN RSA PRIVATE KEY" src/<<proj>>
@@ code
grep -rniE "password|secret|api[_-]?key" <<file>>
@@ code
rg 'sk-[a-z]+' -g '*.py' /srv/<<proj>>
@@ code
z.object({ password: z.string().min(<<n>>) })
@@ code
password: Joi.string().min(<<n>>).required()
@@ code
"password": {"type": "string", "minLength": <<n>>}
@@ code
  securitySchemes:
    ApiKeyAuth: { type: apiKey, in: header, name: X-API-Key } # <<ver>>
@@ code
jwt.sign(payload, process.env.JWT_SECRET, { expiresIn: '<<n>>m' });
@@ code
jwt.decode(token, settings.SECRET_KEY, algorithms=["HS256"])  # <<n>>
@@ code
import { getToken } from '@/lib/token'; // <<proj>>
@@ code
from <<user>>_app.security import hash_password, verify_password
@@ code
private readonly tokens: Map<string, Token>; // <<file>>
@@ code
private key: string; // <<file>>
@@ code
enum TokenKind { Ident, Number, LParen } // <<n>>
@@ code
expect(screen.getByLabelText('Password')).toBeVisible(); // <<file>>
@@ code
it('rejects an empty password (#<<n>>)', async () => {})
@@ code
describe("token refresh", () => { jest.setTimeout(<<nn>>) })
@@ code
mock_getenv.return_value = None  # no OPENAI_API_KEY, <<file>>
@@ code
data-testid="password-input-<<n>>"
@@ code
.password-field { width: <<n>>px; }
@@ code
--token-color: #<<hex6>>;
@@ code
color: #<<hex6>>; border-color: #<<hex6>>;
@@ code
std::string password = read_line(); // <<n>>
@@ code
char password[<<n>>];
@@ code
key = event.key if event.key != "Enter" else "<<n>>"
@@ code
keys = sorted(d.keys())  # <<file>>
@@ code
lambda x: x["token"] == "<<n>>"
@@ command
ssh-keygen -t ed25519 -C "<<user>>@<<proj>>" -f ~/.ssh/id_<<user>>
@@ command
ssh -i ~/.ssh/id_rsa <<user>>@<<ip>>
@@ command
scp -P <<port>> <<user>>@<<ip>>:/etc/app.conf .
@@ command
chmod 600 ~/.ssh/<<user>>_key
@@ command
psql -h <<host>> -U <<user>> -W <<proj>>
@@ command
mysql -u <<user>> -p -h <<host>>
@@ command
openssl rand -base64 <<n>>
@@ command
openssl genrsa -out <<proj>>.key 4096
@@ command
openssl x509 -in <<proj>>.crt -noout -dates
@@ command
kubectl get secret -n <<proj>>
@@ command
kubectl create secret generic <<proj>> --from-file=tls.key
@@ command
kubectl create secret generic <<proj>> --from-env-file=.env
@@ command
gh secret list --repo acme/<<proj>>
@@ command
gh secret set NPM_TOKEN --repo acme/<<proj>>
@@ command
gh auth login --with-token < /home/<<user>>/token.txt
@@ command
docker secret create db_password ./<<proj>>.txt
@@ command
docker login -u <<user>> --password-stdin
@@ command
aws secretsmanager get-secret-value --secret-id <<proj>>/db
@@ command
aws ssm get-parameter --name /<<proj>>/db/password --with-decryption
@@ command
aws configure --profile <<proj>>
@@ command
gcloud secrets versions access latest --secret=<<proj>>
@@ command
az keyvault secret show --vault-name <<proj>> --name db-password
@@ command
vault kv get secret/<<proj>>
@@ command
fly secrets list -a <<proj>>
@@ command
pass show <<proj>>/db
@@ command
npm token list --registry https://npm.<<proj>>.io
@@ command
git config credential.helper store # <<proj>>
@@ command
git remote -v
origin	git@github.com:acme/<<proj>>.git (fetch)
@@ command
git clone https://github.com/acme/<<proj>>.git
@@ command
passwd <<user>>
@@ command
sudo chage -l <<user>>
@@ command
python manage.py changepassword <<user>>
@@ command
htpasswd -c .htpasswd <<user>>
@@ command
ansible-vault encrypt group_vars/<<proj>>.yml
@@ command
ansible-playbook -i <<host>>, site.yml --ask-become-pass
@@ command
terraform apply -var-file=<<proj>>.tfvars
@@ command
curl -s http://localhost:<<port>>/token | jq -r .access_token
@@ command
pytest tests/test_password_reset.py -k "token" --maxfail=<<n>>
@@ command
sed -i 's/password/passphrase/g' <<file>>
@@ command
git rm --cached .env && echo .env >> .gitignore # <<proj>>
@@ tool_output
NAME            TYPE     DATA   AGE
<<proj>>   Opaque   3      <<n>>d
@@ tool_output
Data
====
password:  <<n>> bytes
username:  5 bytes
@@ tool_output
NPM_TOKEN   Updated <<date>>
@@ tool_output
  ✓ resets the password (<<n>> ms)
  ✓ refuses an expired token (<<n>> ms)
@@ tool_output
FAILED tests/test_auth.py::test_wrong_password - AssertionError: <<n>> != 401
@@ tool_output
src/auth.ts:<<n>>:    const token = await sign(user);
@@ tool_output
<<file>>:<<n>>: error: "Token" has no attribute "secret"
@@ tool_output
-rw------- 1 <<user>> <<user>> <<n>> Mar  3 10:11 id_rsa
@@ tool_output
drwxr-xr-x 3 <<user>> staff <<n>> password-service
@@ tool_output
 M src/<<user>>/password.py
?? tests/test_secret_<<n>>.py
@@ tool_output
INFO <<time>> token refreshed, expires in <<n>> s
@@ tool_output
[<<time>>] WARN auth: bad password for <<user>> from <<ip>>
@@ tool_output
<<ip>> - - [<<date>>] "POST /api/token HTTP/1.1" 200 <<n>>
@@ tool_output
POST /reset-password 302 in <<n>>ms
@@ tool_output
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Bearer realm="<<proj>>", error="invalid_token"
@@ tool_output
{"error":"invalid_token","error_description":"The access token expired","id":<<n>>}
@@ tool_output
{"token_type":"Bearer","expires_in":<<n>>,"scope":"read"}
@@ tool_output
{"message":"Bad credentials","status":"401","repo":"<<proj>>"}
@@ tool_output
sshd[<<nn>>]: Failed password for <<user>> from <<ip>> port <<port>> ssh2
@@ tool_output
sshd[<<nn>>]: Accepted publickey for <<user>> from <<ip>>: ED25519 SHA256:<<b43>>
@@ tool_output
Logged in to github.com account <<user>> (keyring); Token scopes: 'repo', 'read:org'
@@ tool_output
db_password = (sensitive value)
name        = "<<proj>>"
@@ tool_output
  + password = (known after apply)
  + name     = "<<proj>>"
@@ tool_output
Added key 'password' to <<file>> at line <<n>>
@@ tool_output
added <<n>> packages, and audited <<nn>> packages in 3s
@@ tool_output
npm ERR! code ENEEDAUTH: you need to authorize this machine, see <<proj>>
@@ tool_output
Successfully installed PyJWT-<<ver>> passlib-<<ver>> python-dotenv-<<ver>>
@@ tool_output
 Column   | Type | Nullable
 password | text | not null
(<<n>> rows)
@@ tool_output
password_encryption | scram-sha-256
port | <<port>>
@@ tool_output
host all all <<ip>>/32 scram-sha-256
@@ tool_output
PasswordAuthentication no
Port <<port>>
@@ tool_output
PermitRootLogin prohibit-password
ListenAddress <<ip>>
@@ tool_output
ssl_certificate_key /etc/nginx/ssl/<<proj>>.key;
@@ tool_output
proxy_set_header Authorization $http_authorization; # <<port>>
@@ tool_output
Warning: Using a password on the command line interface can be insecure. (<<n>>)
@@ tool_output
Step <<n>>/20 : ARG NPM_TOKEN
@@ tool_output
##[debug]Evaluating: secrets.DEPLOY_KEY, run <<nn>>
@@ tool_output
Run docker/login-action@v3
  with:
    username: <<user>>
    password: ***
@@ tool_output
lsof: node <<nn>> <<user>> TCP <<ip>>:<<port>> (LISTEN)
@@ tool_output
  File "/usr/lib/python3.11/getpass.py", line <<n>>, in unix_getpass
@@ tool_output
  File "/app/<<file>>", line <<n>>, in verify_password
    raise InvalidToken
@@ config
POSTGRES_USER=<<user>>
POSTGRES_DB=<<proj>>
POSTGRES_PORT=<<port>>
@@ config
AUTH_URL=https://auth.<<proj>>.com/oauth/token
@@ config
TOKEN_URL: https://login.<<proj>>.com/connect/token
@@ config
PASSWORD_POLICY=strict
PASSWORD_MAX_AGE=<<n>>
@@ config
SSH_KEY_PATH=/home/<<user>>/.ssh/id_ed25519
@@ config
GOOGLE_APPLICATION_CREDENTIALS=/etc/<<proj>>/sa.json
@@ config
SSL_KEY_FILE=/etc/ssl/private/<<proj>>.pem
@@ config
KEYCLOAK_REALM=<<proj>>
KEYCLOAK_CLIENT_ID=web
@@ config
redis://<<host>>:6379/0
@@ config
postgres://<<host>>:5432/<<proj>>
@@ config
postgresql://<<user>>@<<host>>/<<proj>>
@@ config
jdbc:postgresql://<<host>>:5432/<<proj>>
@@ config
secrets:
  db_password:
    file: ./secrets/<<proj>>.txt
@@ config
secrets:
  - source: db_password
    target: /run/secrets/<<proj>>
@@ config
  existingSecret: <<proj>>-postgres
  secretKeys:
    adminPasswordKey: postgres-password
@@ config
permissions:
  id-token: write
  contents: read # <<proj>>
@@ config
imagePullSecrets:
  - name: <<proj>>-registry
@@ config
serviceAccountName: <<proj>>
automountServiceAccountToken: false
@@ config
"passport-jwt": "^<<ver>>",
"jsonwebtoken": "^<<ver>>"
@@ config
"@types/passport": "<<ver>>", "keytar": "<<ver>>"
@@ config
.env
*.pem
secrets/
<<proj>>/token.json
@@ config
  id: detect-secrets
  rev: v<<ver>>
@@ config
auth:
  type: password
  max_attempts: <<n>>
@@ config
tokenizer: standard
token_limit: <<n>>
@@ config
jwt:
  issuer: https://<<proj>>.com
  ttl: <<n>>m
@@ config
password_file: /etc/<<proj>>/password
@@ config
[keyring]
default-keyring = keyring.backends.SecretService
timeout = <<n>>
@@ long_turn
<<longlog>>
@@ long_turn
<<longprose>>
The password handling is next. <<longprose>>
@@ long_turn
<<longcode>>
password = os.environ["DB_PASSWORD"]
<<longcode>>
@@ long_turn
user: <<longprose>>
assistant: Which token do you mean?
user: the one in the vault, I never paste it. <<longprose>>
@@ long_turn
<<longlog>>
2026-03-04 09:00:00 ERROR password authentication failed for user "<<user>>"
commit <<sha>>
<<longlog>>
@@ chat_multi
user: what is DB_PASSWORD used for?
assistant: For the pool in <<file>>.
@@ chat_multi
user: where do I put the key?
assistant: In `.env`, as OPENAI_API_KEY, then restart <<proj>>.
@@ chat_multi
assistant: Please do not paste the password here; set it with `fly secrets set` for <<proj>>.
user: done
@@ chat_multi
user: the token?
assistant: It expires on <<date>>.
@@ chat_multi
assistant: Did you set the password?
user: yes, on <<date>>
@@ chat_multi
assistant: What is the password policy?
user: at least <<n>> characters and one digit
"""

Shape = tuple[str, str]


def shapes_of(block: str) -> list[Shape]:
    """Split a block into (class name, template) pairs."""
    out: list[Shape] = []
    for part in re.split(r"^@@ (?=[a-z_]+$)", block, flags=re.M)[1:]:
        name, _, body = part.partition("\n")
        out.append((name, body.rstrip("\n").replace("¬\n", "")))
    return out


def provider_values(rng: Random, turn: int) -> dict[str, str]:
    """The provider names and keys of one text; ``turn`` walks through all providers."""
    everyone = [*PREFIXED, *NAMED]
    out: dict[str, str] = {}
    for at, suffix in enumerate(("", "2", "3")):
        service, variable, make = everyone[(turn * 29 + at * 17) % len(everyone)]
        out |= {f"ENV{suffix}": variable, f"KEY{suffix}": make(rng), f"SVC{suffix}": service}
    service, variable, make = PREFIXED[turn * 23 % len(PREFIXED)]
    return out | {"PENV": variable, "PKEY": make(rng), "PSVC": service}


def render(rng: Random, template: str, turn: int) -> tuple[str, tuple[str, ...]]:
    """Fill a template; return the text and its secrets (a key block gives one per row)."""
    given = provider_values(rng, turn)
    secrets: list[str] = []
    kept: dict[str, str] = {}

    def fill(match: re.Match[str]) -> str:
        name = match[2]
        if not match[1]:
            if name in ("user", "proj", "sid", "host"):
                return kept.setdefault(name, FILLERS[name](rng))
            return given[name] if name in given else FILLERS[name](rng)
        value = given[name] if name in given else SECRETS[name](rng)
        secrets.extend(row.strip() for row in value.split("\n"))
        return value

    return re.sub(r"<<(!?)(\w+)>>", fill, template), tuple(secrets)


def sound(text: str, secrets: tuple[str, ...]) -> bool:
    """Each secret occurs once, and no 12 characters of it stand elsewhere in the text."""
    for secret in secrets:
        if text.count(secret) != 1:
            return False
        rest = text.replace(secret, "\0")
        if any(secret[at : at + 12] in rest for at in range(len(secret) - 11)):
            return False
    return True


def positives(seed: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """Texts with secrets: (class name, text, secrets), two per shape."""
    rng = Random(seed)
    out: list[tuple[str, str, tuple[str, ...]]] = []
    seen: set[str] = set()
    turn = 0
    for name, template in shapes_of(POSITIVE):
        made = 0
        for _ in range(20):
            turn += 1
            text, secrets = render(rng, template, turn)
            if made < 2 and secrets and text not in seen and sound(text, secrets):
                seen.add(text)
                out.append((name, text, secrets))
                made += 1
            if made == 2:
                break
    return out


def negatives(seed: int) -> list[tuple[str, str]]:
    """Texts that must come out unchanged: (class name, text), at most three per shape."""
    rng = Random(seed + 1)
    out: list[tuple[str, str]] = []
    seen: set[str] = set()
    for name, template in shapes_of(NEGATIVE):
        made = 0
        for turn in range(20):
            text, secrets = render(rng, template, turn)
            if made < 3 and not secrets and text not in seen:
                seen.add(text)
                out.append((name, text))
                made += 1
    return out


def main() -> None:
    """Check the set and print the counts per class."""
    for seed in range(1, 6):
        good, bad = positives(seed), negatives(seed)
        assert (good, bad) == (positives(seed), negatives(seed)), "not repeatable"
        texts = [text for _, text, _ in good] + [text for _, text in bad]
        assert len(texts) == len(set(texts)), "duplicate"
        assert all(sound(text, secrets) for _, text, secrets in good), "unsound"
        assert not any("<<" in text and ">>" in text for text in texts), "unfilled"
        assert len(good) >= 400 and len(bad) >= 1200, (len(good), len(bad))
    good, bad = positives(1), negatives(1)
    for label, names, block in (
        ("positives", [row[0] for row in good], POSITIVE),
        ("negatives", [row[0] for row in bad], NEGATIVE),
    ):
        shapes = shapes_of(block)
        assert len(shapes) == len({body for _, body in shapes}), "the same shape twice"
        print(f"{label}: {len(names)} texts, {len(shapes)} shapes")
        for name, count in sorted(Counter(names).items()):
            print(f"  {name:22} {count}")


if __name__ == "__main__":
    main()
