"""Labelled test set E for secret redaction: realistic agent transcripts, made from shapes.

A *shape* is one frame of text.  In a shape, ``⟦kind⟧`` is a secret's value (labelled) and
``‹kind›`` is harmless filling; ``⟦kind:x⟧`` gives the same value wherever the tag ``x`` recurs.
Shapes are separated by a line ``---``; a line ``=== name`` opens a class; a line that ends in
``↩`` is joined to the next one.  A value of several lines (a key's body) takes the indentation
of the line it stands on and is labelled by its first, its middle and its last line.

Every value is random, built from a published format.  The only fixed ones are documentation
keys everybody knows, and they stand among the negatives.
"""

from __future__ import annotations

import base64
import json
import re
import string
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final

Make = Callable[[Random], str]
Positive = tuple[str, str, tuple[str, ...]]
Negative = tuple[str, str]

HEX: Final = "0123456789abcdef"
UPPER_HEX: Final = "0123456789ABCDEF"
ALNUM: Final = string.ascii_letters + string.digits
LOWER: Final = string.ascii_lowercase + string.digits
UPPER: Final = string.ascii_uppercase + string.digits
URLSAFE: Final = ALNUM + "-_"
BASE64: Final = ALNUM + "+/"
BASE32: Final = string.ascii_uppercase + "234567"

TEXTS_PER_POSITIVE_SHAPE: Final = 2
TEXTS_PER_NEGATIVE_SHAPE: Final = 3


def pick(rng: Random, letters: str, count: int) -> str:
    """A random string of that many letters."""
    return "".join(rng.choice(letters) for _ in range(count))


def of(letters: str, count: int, before: str = "", after: str = "") -> Make:
    """A maker of a fixed prefix, random letters and a fixed ending."""
    return lambda rng: before + pick(rng, letters, count) + after


def b64(data: bytes) -> str:
    """Standard base64."""
    return base64.b64encode(data).decode("ascii")


def b64url(value: object) -> str:
    """A JSON value in base64url without padding, as a JWT holds it."""
    raw = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def uuid(rng: Random) -> str:
    """A random UUID of version 4."""
    return "-".join(
        [
            pick(rng, HEX, 8),
            pick(rng, HEX, 4),
            "4" + pick(rng, HEX, 3),
            rng.choice("89ab") + pick(rng, HEX, 3),
            pick(rng, HEX, 12),
        ]
    )


def mixed(rng: Random, letters: str, count: int) -> str:
    """Random letters that hold at least one lower, one upper and one digit."""
    while True:
        value = pick(rng, letters, count)
        if (
            any(c.islower() for c in value)
            and any(c.isupper() for c in value)
            and any(c.isdigit() for c in value)
            and value[0].isalnum()
            and value[-1].isalnum()
        ):
            return value


def strong(rng: Random) -> str:
    """A generated password with marks inside it."""
    while True:
        value = mixed(rng, ALNUM + "!@#%^*_+=?-", rng.randint(12, 20))
        if any(not c.isalnum() for c in value):
            return value


def plain(rng: Random) -> str:
    """A generated password of letters and digits."""
    return mixed(rng, ALNUM, rng.randint(12, 24))


def url_password(rng: Random) -> str:
    """A password as it stands in a URL; some have an escaped mark."""
    value = mixed(rng, ALNUM, rng.randint(10, 20))
    escaped = "%40" + pick(rng, ALNUM, 3)
    return value + rng.choice(["", "", "%21", escaped, "-" + pick(rng, LOWER, 4)])


PASS_WORDS: Final = (
    "Sommer Winter Dragon Falcon Coffee Purple Monkey Tiger Orange Rocket Schalke Berlin Lisboa "
    "Madrid Matrix Kraken Turtle Pepper Saturn Phoenix Banana Wombat Garten Soleil Papaya Nacht"
).split()


def human(rng: Random) -> str:
    """A password as people invent them: a word, figures, a mark."""
    word = rng.choice(PASS_WORDS)
    swapped = word.replace("a", "@", 1) if rng.random() < 0.3 else word
    other = rng.choice(PASS_WORDS)
    return rng.choice(
        [
            f"{swapped}{rng.randint(1960, 2026)}!",
            f"{swapped}#{rng.randint(10, 9999)}",
            f"{word}-{other}-{rng.randint(10, 99)}",
            f"{swapped}{rng.randint(100, 999)}!{rng.choice('xyzQ')}",
            f"{word.lower()}{other}{rng.randint(10, 999)}",
            f"{word}_{rng.randint(1000, 9999)}_{rng.choice(['dev', 'prod', 'db'])}",
        ]
    )


def human_inline(rng: Random) -> str:
    """Like ``human``, ending in a letter or figure, so that prose may go on after it."""
    while True:
        value = human(rng)
        if value[-1].isalnum():
            return value


def jwt(rng: Random) -> str:
    """A signed JSON web token."""
    head = {"alg": rng.choice(["HS256", "RS256"]), "typ": "JWT"}
    body = {
        "sub": uuid(rng),
        "role": rng.choice(["user", "admin", "service_role"]),
        "iat": rng.randint(1_700_000_000, 1_760_000_000),
        "exp": rng.randint(1_760_000_001, 1_900_000_000),
    }
    return f"{b64url(head)}.{b64url(body)}.{pick(rng, URLSAFE, 42)}{pick(rng, ALNUM, 1)}"


def basic(rng: Random) -> str:
    """User and password in base64, as Basic authentication sends them."""
    return b64(f"{rng.choice(['deploy', 'svc-ci', 'admin', 'robot'])}:{plain(rng)}".encode())


def b64_of_password(rng: Random) -> str:
    """A password in base64, as a Kubernetes secret holds it."""
    return b64(strong(rng).encode())


def key_body(start: str, lines: int, width: int = 64) -> Make:
    """The body of an armoured private key."""

    def make(rng: Random) -> str:
        rows = [pick(rng, BASE64, width) for _ in range(lines)]
        rows[0] = start + rows[0][len(start) :]
        rows.append(pick(rng, BASE64, rng.randint(24, 40)) + "==")
        return "\n".join(rows)

    return make


def key_json(rng: Random) -> str:
    """The body of a private key in one JSON string: the line ends are written out."""
    rows = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + pick(rng, BASE64, 32)]
    rows += [pick(rng, BASE64, 64) for _ in range(24)]
    rows.append(pick(rng, BASE64, 22) + "==")
    return "\\n".join(rows)


def discord(rng: Random) -> str:
    """A bot's token: its id in base64, a time, a signature."""
    ident = b64(str(rng.randint(10**17, 10**18 - 1)).encode()).rstrip("=")
    return f"{ident}.{pick(rng, URLSAFE, 6)}.{mixed(rng, URLSAFE, 38)}"


def mapbox(rng: Random) -> str:
    """A secret Mapbox token."""
    body = b64url({"u": "maps", "a": "cm" + pick(rng, LOWER, 23)})
    return f"sk.{body}.{mixed(rng, URLSAFE, 22)}"


def anthropic(rng: Random) -> str:
    """An Anthropic API key."""
    return f"sk-ant-api03-{mixed(rng, URLSAFE, 93)}AA"


def private_note(rng: Random) -> str:
    """What somebody puts between private marks; it need not look like a secret."""
    what = rng.choice(["salary", "rent", "diagnosis", "offer"])
    rest = rng.choice(["EUR", "until May", "not public yet", "tell nobody"])
    return f"{what} {rng.randint(1000, 9999)} {rest}"


def seed_words(rng: Random) -> str:
    """A wallet's recovery phrase, twelve words of the BIP-39 list."""
    words = (
        "abandon ability absorb acoustic adjust album alley anchor antique apology arctic armor "
        "artist aspect atom autumn bamboo banner beach beyond blanket blossom bounce bronze cabin "
        "cactus canyon castle cement cherry cinnamon cluster copper cotton cradle cruise crystal "
        "damage debris decade denial desert dignity dolphin dragon dutch eagle echo elbow ember"
    ).split()
    return " ".join(rng.sample(words, 12))


SECRETS: Final[dict[str, Make]] = {
    # passwords
    "strong": strong,
    "plain": plain,
    "human": human,
    "inline": human_inline,
    "urlpw": url_password,
    "basic": basic,
    "b64pw": b64_of_password,
    "note": private_note,
    "seedwords": seed_words,
    # unprefixed values
    "hex48": of(HEX, 48),
    "keydata": lambda r: "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ" + pick(r, ALNUM, 600) + "=",
    "kubeadm": lambda r: f"{pick(r, LOWER, 6)}.{pick(r, LOWER, 16)}",
    "okta": lambda r: "00" + mixed(r, URLSAFE, 40),
    "hex32": of(HEX, 32),
    "hex40": of(HEX, 40),
    "hex64": of(HEX, 64),
    "a24": lambda r: mixed(r, ALNUM, 24),
    "a32": lambda r: mixed(r, ALNUM, 32),
    "a40": lambda r: mixed(r, ALNUM, 40),
    "a64": lambda r: mixed(r, ALNUM, 64),
    "u43": lambda r: mixed(r, URLSAFE, 43),
    "u64": lambda r: mixed(r, URLSAFE, 64),
    "b44": lambda r: pick(r, BASE64, 43) + "=",
    "b88": lambda r: pick(r, BASE64, 86) + "==",
    "uuid": uuid,
    "django": lambda r: mixed(r, LOWER + "ABCDEFGH!@#%^*(-_=+)", 50),
    "laravel": lambda r: "base64:" + pick(r, BASE64, 43) + "=",
    "jwt": jwt,
    "ethkey": of(HEX, 64, "0x"),
    "totp": of(BASE32, 32),
    # language models
    "openai": lambda r: f"sk-proj-{mixed(r, URLSAFE, 74)}T3BlbkFJ{mixed(r, URLSAFE, 74)}",
    "openai_old": lambda r: f"sk-{mixed(r, ALNUM, 20)}T3BlbkFJ{mixed(r, ALNUM, 20)}",
    "openai_svc": lambda r: f"sk-svcacct-{mixed(r, URLSAFE, 58)}T3BlbkFJ{mixed(r, URLSAFE, 58)}",
    "anthropic": anthropic,
    "anthropic_oat": lambda r: f"sk-ant-oat01-{mixed(r, URLSAFE, 93)}AA",
    "openrouter": of(HEX, 64, "sk-or-v1-"),
    "deepseek": of(HEX, 32, "sk-"),
    "groq": lambda r: "gsk_" + mixed(r, ALNUM, 52),
    "hf": lambda r: "hf_" + mixed(r, string.ascii_letters + "0", 34),
    "replicate": lambda r: "r8_" + mixed(r, ALNUM, 37),
    "perplexity": lambda r: "pplx-" + mixed(r, ALNUM, 48),
    "xai": lambda r: "xai-" + mixed(r, ALNUM, 80),
    "eleven": of(HEX, 48, "sk_"),
    "langsmith": lambda r: f"lsv2_pt_{pick(r, HEX, 32)}_{pick(r, HEX, 10)}",
    "pinecone": lambda r: f"pcsk_{mixed(r, ALNUM, 6)}_{mixed(r, ALNUM, 63)}",
    # code hosts and registries
    "ghp": lambda r: "ghp_" + mixed(r, ALNUM, 36),
    "gho": lambda r: "gho_" + mixed(r, ALNUM, 36),
    "ghs": lambda r: "ghs_" + mixed(r, ALNUM, 36),
    "ghpat": lambda r: f"github_pat_{mixed(r, UPPER + 'xyz', 22)}_{mixed(r, ALNUM, 59)}",
    "glpat": lambda r: "glpat-" + mixed(r, URLSAFE, 20),
    "glrt": lambda r: "glrt-" + mixed(r, URLSAFE, 20),
    "bitbucket": lambda r: "ATBB" + mixed(r, ALNUM, 32),
    "atlassian": lambda r: f"ATATT3xFfGF0{mixed(r, URLSAFE, 171)}={pick(r, UPPER_HEX, 8)}",
    "npm": lambda r: "npm_" + mixed(r, ALNUM, 36),
    "pypi": lambda r: "pypi-AgEIcHlwaS5vcmc" + mixed(r, URLSAFE, 150),
    "rubygems": of(HEX, 48, "rubygems_"),
    "nuget": of(LOWER, 43, "oy2"),
    "dckr": lambda r: "dckr_pat_" + mixed(r, URLSAFE, 27),
    "crates": lambda r: "cio" + mixed(r, ALNUM, 32),
    "artifactory": lambda r: "AKCp8" + mixed(r, ALNUM, 68),
    # clouds
    "aws_secret": lambda r: mixed(r, BASE64, 40),
    "aws_session": lambda r: "IQoJb3JpZ2luX2VjE" + pick(r, BASE64, 320) + "==",
    "google": lambda r: "AIzaSy" + mixed(r, URLSAFE, 33),
    "gocspx": lambda r: "GOCSPX-" + mixed(r, URLSAFE, 28),
    "ya29": lambda r: "ya29.a0A" + mixed(r, URLSAFE, 180),
    "google_refresh": lambda r: "1//0" + mixed(r, URLSAFE, 96),
    "azure_secret": lambda r: f"{mixed(r, ALNUM, 3)}8Q~{mixed(r, URLSAFE + '.~', 34)}",
    "azure_pat": lambda r: pick(r, LOWER, 52),
    "sas": lambda r: mixed(r, ALNUM, 41) + "%3D",
    "dop": of(HEX, 64, "dop_v1_"),
    "heroku": lambda r: "HRKU-AA" + mixed(r, URLSAFE, 58),
    "cloudflare": lambda r: mixed(r, URLSAFE, 40),
    "netlify": lambda r: "nfp_" + mixed(r, ALNUM, 36),
    "fly": lambda r: "fm2_lJPE" + mixed(r, BASE64, 180),
    "render": lambda r: "rnd_" + mixed(r, ALNUM, 28),
    "supabase": of(HEX, 40, "sbp_"),
    "sbsecret": lambda r: f"sb_secret_{mixed(r, URLSAFE, 22)}_{mixed(r, URLSAFE, 8)}",
    "vault": lambda r: "hvs.CAESI" + mixed(r, URLSAFE, 86),
    "tfc": lambda r: f"{mixed(r, ALNUM, 14)}.atlasv1.{mixed(r, URLSAFE, 67)}",
    "pulumi": of(HEX, 40, "pul-"),
    "doppler": lambda r: "dp.pt." + mixed(r, ALNUM, 43),
    "tailscale": lambda r: f"tskey-auth-k{mixed(r, ALNUM, 10)}CNTRL-{mixed(r, ALNUM, 32)}",
    "pscale": lambda r: "pscale_pw_" + mixed(r, URLSAFE, 43),
    "neon": lambda r: "npg_" + mixed(r, ALNUM, 12),
    "databricks": of(HEX, 32, "dapi"),
    "age": of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58, "AGE-SECRET-KEY-1"),
    # messages, money, work
    "slackbot": lambda r: (
        f"xoxb-{r.randint(10**11, 10**12)}-{r.randint(10**12, 10**13 - 1)}-" + mixed(r, ALNUM, 24)
    ),
    "slackapp": lambda r: (
        f"xapp-1-A0{pick(r, UPPER, 9)}-{r.randint(10**12, 10**13 - 1)}-" + pick(r, HEX, 64)
    ),
    "slackhook": lambda r: f"T0{pick(r, UPPER, 9)}/B0{pick(r, UPPER, 9)}/{mixed(r, ALNUM, 24)}",
    "discord": discord,
    "discordhook": lambda r: mixed(r, URLSAFE, 68),
    "telegram": lambda r: f"{r.randint(10**9, 9 * 10**9)}:AA{mixed(r, URLSAFE, 33)}",
    "stripe": lambda r: "sk_live_51" + mixed(r, ALNUM, 97),
    "stripe_test": lambda r: "sk_test_51" + mixed(r, ALNUM, 97),
    "stripe_rk": lambda r: "rk_live_51" + mixed(r, ALNUM, 97),
    "whsec": lambda r: "whsec_" + mixed(r, ALNUM, 32),
    "sendgrid": lambda r: f"SG.{mixed(r, URLSAFE, 22)}.{mixed(r, URLSAFE, 43)}",
    "mailgun": of(HEX, 32, "key-"),
    "mailchimp": lambda r: f"{pick(r, HEX, 32)}-us{r.randint(1, 21)}",
    "resend": lambda r: f"re_{mixed(r, ALNUM, 8)}_{mixed(r, ALNUM, 24)}",
    "brevo": lambda r: f"xkeysib-{pick(r, HEX, 64)}-{mixed(r, ALNUM, 16)}",
    "shopify": of(HEX, 32, "shpat_"),
    "square": lambda r: "EAAA" + mixed(r, URLSAFE, 60),
    "airtable": lambda r: f"pat{mixed(r, ALNUM, 14)}.{pick(r, HEX, 64)}",
    "notion": lambda r: "ntn_" + mixed(r, ALNUM, 46),
    "linear": lambda r: "lin_api_" + mixed(r, ALNUM, 40),
    "figma": lambda r: "figd_" + mixed(r, URLSAFE, 40),
    "hubspot": lambda r: "pat-na1-" + uuid(r),
    "postman": lambda r: f"PMAK-{pick(r, HEX, 24)}-{pick(r, HEX, 34)}",
    "contentful": lambda r: "CFPAT-" + mixed(r, URLSAFE, 43),
    "mapbox": mapbox,
    # watching and building
    "grafana": lambda r: f"glsa_{mixed(r, ALNUM, 32)}_{pick(r, HEX, 8)}",
    "newrelic": of(UPPER, 27, "NRAK-"),
    "sentry": of(HEX, 64, "sntryu_"),
    "dynatrace": lambda r: f"dt0c01.{pick(r, BASE32, 24)}.{pick(r, BASE32, 64)}",
    "sonar": of(HEX, 40, "sqp_"),
    "circleci": lambda r: f"CCIPAT_{mixed(r, ALNUM, 22)}_{pick(r, HEX, 40)}",
    "buildkite": of(HEX, 40, "bkua_"),
    "launchdarkly": lambda r: "api-" + uuid(r),
    # keys of several lines
    "rsa": key_body("MIIEpAIBAAKCAQEA", 24),
    "pkcs8": key_body("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 24),
    "ec": key_body("MHcCAQEEI", 2),
    "openssh": key_body("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB", 5, 70),
    "pgp": key_body("lQPGBG", 20),
    "key_json": key_json,
}

NAMES: Final = "anna ben carla dmitri elif farid goran hana ines jonas keiko luca mira noor".split()
SERVICES: Final = (
    "billing checkout catalog search mailer gateway ledger reports media inventory orders intake"
).split()
WORDS: Final = (
    "session worker queue index payload schema cursor buffer mirror ticket widget folder"
).split()
TLDS: Final = "example.com example.org acme.dev corp.example shop.example".split()


def noise_line(rng: Random) -> str:
    """One line of a log that nobody would call secret."""
    date = f"2026-0{rng.randint(1, 9)}-{rng.randint(10, 28)}"
    day = f"{date}T0{rng.randint(0, 9)}:{rng.randint(10, 59)}"
    service, word = rng.choice(SERVICES), rng.choice(WORDS)
    return rng.choice(
        [
            f"{day}:07Z INFO  {service} started in {rng.randint(100, 9000)} ms",
            f"{day}:12Z DEBUG {service}.{word} cache miss, loading {rng.randint(2, 900)} rows",
            f"{day}:31Z WARN  {service}: slow query took {rng.randint(200, 4000)} ms on {word}s",
            f"GET /api/{service}/{rng.randint(1, 9999)} 200 {rng.randint(3, 800)}ms",
            f"  ✓ {service} › handles an empty {word} ({rng.randint(1, 90)} ms)",
            f"    at {word}.{service} (/app/src/{service}/{word}.ts:{rng.randint(1, 400)}:17)",
            f"Step {rng.randint(1, 9)}/12 : COPY {service}/ /app/{word}/",
            f"added {rng.randint(20, 900)} packages in {rng.randint(2, 40)}s for {service}",
        ]
    )


def noise(rng: Random) -> str:
    """A page of log lines, 1 to 2 KB."""
    return "\n".join(noise_line(rng) for _ in range(rng.randint(17, 32)))


def pem_public(rng: Random) -> str:
    """The body of a public key or certificate."""
    return key_body("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A", 5)(rng)


FILLING: Final[dict[str, Make]] = {
    "name": lambda r: r.choice(NAMES),
    "svc": lambda r: r.choice(SERVICES),
    "word": lambda r: r.choice(WORDS),
    "dom": lambda r: r.choice(TLDS),
    "n": lambda r: str(r.randint(2, 9)),
    "int": lambda r: str(r.randint(10, 9999)),
    "big": lambda r: str(r.randint(10**9, 10**10 - 1)),
    "port": lambda r: r.choice(["5432", "5433", "3306", "6379", "8080", "27017"]),
    "date": lambda r: f"2026-0{r.randint(1, 9)}-{r.randint(10, 28)}",
    "time": lambda r: f"{r.randint(10, 23)}:{r.randint(10, 59)}:{r.randint(10, 59)}",
    "ip": lambda r: f"10.{r.randint(0, 99)}.{r.randint(0, 255)}.{r.randint(1, 254)}",
    "ver": lambda r: f"{r.randint(0, 9)}.{r.randint(0, 30)}.{r.randint(0, 20)}",
    "sha1": of(HEX, 40),
    "sha7": of(HEX, 7),
    "sha12": of(HEX, 12),
    "hex16": of(HEX, 16),
    "hex17": of(HEX, 17),
    "md5": of(HEX, 32),
    "sha256": of(HEX, 64),
    "sha512b64": lambda r: pick(r, BASE64, 86) + "==",
    "sha256b64": lambda r: pick(r, BASE64, 43) + "=",
    "fp64": lambda r: pick(r, BASE64, 64),
    "jwkn": lambda r: mixed(r, URLSAFE, 342),
    "agepub": lambda r: "age1" + pick(r, "qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58),
    "cert": key_body("MIIDazCCAlOgAwIBAgIUB", 17),
    "pgppub": key_body("mQINBG", 12),
    "fp43": lambda r: pick(r, BASE64, 43),
    "uuid": uuid,
    "akid": of(BASE32, 16, "AKIA"),
    "asia": of(BASE32, 16, "ASIA"),
    "sid": of(HEX, 32, "AC"),
    "acct": lambda r: str(r.randint(10**11, 10**12 - 1)),
    "pod": lambda r: f"{pick(r, HEX, 9)}-{pick(r, 'bcdfghjklmnpqrstvwxz2456789', 5)}",
    "ytid": lambda r: mixed(r, ALNUM, 11),
    "strid": lambda r: mixed(r, ALNUM, 24),
    "ulid": lambda r: "01J" + pick(r, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23),
    "sshpub": lambda r: "AAAAC3NzaC1lZDI1NTE5AAAAI" + mixed(r, BASE64, 43),
    "rsapub": lambda r: "AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + mixed(r, BASE64, 342),
    "png": lambda r: "iVBORw0KGgoAAAANSUhEUgAA" + pick(r, BASE64, 400) + "==",
    "woff": lambda r: "d09GMgABAAAAA" + pick(r, BASE64, 300) + "=",
    "vlq": lambda r: ";".join(pick(r, ALNUM, 4) + "," + pick(r, ALNUM, 5) for _ in range(20)),
    "pempub": pem_public,
    "noise": noise,
}

# These keep their value throughout a text, as one transcript speaks of one service.
STEADY: Final = frozenset(["name", "svc", "word", "dom", "ip"])
CASED: Final = {"Svc": "svc", "SVC": "svc", "Word": "word"}

OPENERS: Final = (
    "Here is what I have so far:",
    "Have a look at this:",
    "from the docs:",
    "I found this:",
    "This is the relevant part.",
    "Current state:",
    "ok, next one:",
    "What does this mean?",
    "Can you explain this bit?",
    "Can you clean this up?",
    "as it is on main today:",
    "Schau dir das bitte an:",
    "看一下这个：",
    "Voilà ce que j'ai :",
    "これを見てください：",
    "Review this please.",
    "Done. For reference:",
    "That one fails for me:",
    "my notes:",
)

SLOT: Final = re.compile(r"⟦(\w+)(?::(\w+))?⟧|‹(\w+)(?::(\w+))?›")

POSITIVE_SHAPES: Final = r'''
=== env_file
# .env.local
OPENAI_API_KEY=⟦openai⟧
NEXT_PUBLIC_APP_URL=https://‹svc›.‹dom›
---
ANTHROPIC_API_KEY=⟦anthropic⟧
LOG_LEVEL=debug
PORT=‹port›
---
cat .env
DATABASE_URL="postgresql://‹svc›:⟦urlpw⟧@db.‹dom›:5432/‹svc›?schema=public"
NEXTAUTH_URL=http://localhost:3000
NEXTAUTH_SECRET="⟦b44⟧"
---
AWS_ACCESS_KEY_ID=‹akid›
AWS_SECRET_ACCESS_KEY=⟦aws_secret⟧
AWS_DEFAULT_REGION=eu-central-1
---
STRIPE_SECRET_KEY=⟦stripe⟧
STRIPE_WEBHOOK_SECRET=⟦whsec⟧
STRIPE_PRICE_ID=price_1‹strid›
---
export GITHUB_TOKEN=⟦ghp⟧
export EDITOR=vim
---
export GROQ_API_KEY='⟦groq⟧'
export HF_TOKEN='⟦hf⟧'
---
TWILIO_ACCOUNT_SID=‹sid›
TWILIO_AUTH_TOKEN=⟦hex32⟧
TWILIO_FROM=+4930‹int›
---
SENDGRID_API_KEY=⟦sendgrid⟧
MAIL_FROM=no-reply@‹dom›
---
APP_NAME=‹Svc›
APP_ENV=production
APP_KEY=⟦laravel⟧
APP_DEBUG=false
DB_CONNECTION=mysql
DB_HOST=127.0.0.1
DB_PORT=3306
DB_DATABASE=‹svc›
DB_USERNAME=‹svc›
DB_PASSWORD=⟦plain⟧
---
SLACK_BOT_TOKEN=⟦slackbot⟧
SLACK_APP_TOKEN=⟦slackapp⟧
SLACK_SIGNING_SECRET=⟦hex32⟧
---
SUPABASE_URL=https://‹word›.supabase.co
SUPABASE_SERVICE_ROLE_KEY=⟦jwt⟧
---
SMTP_HOST=smtp.‹dom›
SMTP_USER=‹svc›@‹dom›
SMTP_PASS=⟦strong⟧
---
REDIS_URL=redis://default:⟦urlpw⟧@‹svc›-redis.‹dom›:6379/0
CELERY_BROKER_URL=amqp://‹svc›:⟦urlpw⟧@rabbit.‹dom›:5672//
---
CLOUDINARY_URL=cloudinary://‹big›:⟦a24⟧@‹svc›
---
GOOGLE_CLIENT_ID=‹acct›-abc.apps.googleusercontent.com
GOOGLE_CLIENT_SECRET=⟦gocspx⟧
GOOGLE_MAPS_API_KEY=⟦google⟧
---
TELEGRAM_BOT_TOKEN=⟦telegram⟧
TELEGRAM_CHAT_ID=-100‹big›
---
DISCORD_TOKEN=⟦discord⟧
DISCORD_GUILD_ID=‹acct›123456
---
OPENROUTER_API_KEY=⟦openrouter⟧
DEEPSEEK_API_KEY=⟦deepseek⟧
PERPLEXITY_API_KEY=⟦perplexity⟧
XAI_API_KEY=⟦xai⟧
---
RESEND_API_KEY=⟦resend⟧
EMAIL_FROM="‹Svc› <hello@‹dom›>"
---
JWT_SECRET=⟦a64⟧
JWT_EXPIRES_IN=7d
SESSION_SECRET=⟦hex64⟧
---
MONGODB_URI=mongodb+srv://‹svc›:⟦urlpw⟧@cluster0.ab1cd.mongodb.net/‹svc›?retryWrites=true
---
CLOUDFLARE_API_TOKEN=⟦cloudflare⟧
CLOUDFLARE_ACCOUNT_ID=‹md5›
---
AZURE_TENANT_ID=‹uuid›
AZURE_CLIENT_ID=‹uuid›
AZURE_CLIENT_SECRET=⟦azure_secret⟧
---
DATADOG_API_KEY=⟦hex32⟧
DATADOG_APP_KEY=⟦hex40⟧
DD_SITE=datadoghq.eu
---
ALGOLIA_APP_ID=‹SVC›01
ALGOLIA_ADMIN_KEY=⟦hex32⟧
---
LANGSMITH_TRACING=true
LANGSMITH_API_KEY=⟦langsmith⟧
PINECONE_API_KEY=⟦pinecone⟧
---
set -x OPENAI_API_KEY ⟦openai_svc⟧
set -x MISTRAL_API_KEY ⟦a32⟧
---
$env:ANTHROPIC_API_KEY = "⟦anthropic⟧"
npm run dev
---
setx REPLICATE_API_TOKEN "⟦replicate⟧"
---
NOTION_TOKEN=⟦notion⟧
LINEAR_API_KEY=⟦linear⟧
FIGMA_TOKEN=⟦figma⟧
AIRTABLE_PAT=⟦airtable⟧
---
SHOPIFY_ADMIN_TOKEN=⟦shopify⟧
SHOPIFY_STORE=‹svc›.myshopify.com
SQUARE_ACCESS_TOKEN=⟦square⟧
---
MAILCHIMP_API_KEY=⟦mailchimp⟧
BREVO_API_KEY=⟦brevo⟧
MAILGUN_API_KEY=⟦mailgun⟧
POSTMARK_SERVER_TOKEN=⟦uuid⟧
---
UPSTASH_REDIS_REST_URL=https://eu1-‹word›-‹int›.upstash.io
UPSTASH_REDIS_REST_TOKEN=⟦u64⟧
---
DATABASE_URL=postgres://‹svc›:⟦pscale⟧@eu-central.pg.psdb.cloud:5432/postgres
---
DATABASE_URL='postgresql://neondb_owner:⟦neon⟧@ep-‹word›-a2.eu-central-1.aws.neon.tech/neondb'
---
MYSQL_ROOT_PASSWORD=⟦human⟧
MYSQL_DATABASE=‹svc›
MYSQL_USER=‹svc›
MYSQL_PASSWORD=⟦strong⟧
---
ELEVENLABS_API_KEY=⟦eleven⟧
DEEPGRAM_API_KEY=⟦hex40⟧
ASSEMBLYAI_API_KEY=⟦hex32⟧
---
HUBSPOT_ACCESS_TOKEN=⟦hubspot⟧
INTERCOM_TOKEN=⟦u64⟧
MAPBOX_SECRET_TOKEN=⟦mapbox⟧
CONTENTFUL_MANAGEMENT_TOKEN=⟦contentful⟧
---
SECRET_KEY_BASE=⟦hex64⟧
RAILS_MASTER_KEY=⟦hex32⟧
---
ENCRYPTION_KEY=⟦hex32⟧
COOKIE_SECRET=⟦a32⟧
ADMIN_PASSWORD=⟦human⟧
---
LDAP_BIND_DN=cn=‹svc›,ou=services,dc=acme,dc=dev
LDAP_BIND_PASSWORD=⟦strong⟧
---
NEW_RELIC_API_KEY=⟦newrelic⟧
SENTRY_AUTH_TOKEN=⟦sentry⟧
GRAFANA_TOKEN=⟦grafana⟧
SONAR_TOKEN=⟦sonar⟧
=== code_js_ts
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "⟦openai⟧" });
const res = await client.responses.create({ model: "gpt-4.1", input: "hi ‹name›" });
---
const stripe = require('stripe')('⟦stripe⟧');
app.post('/‹svc›', async (req, res) => {
  const intent = await stripe.paymentIntents.create({ amount: ‹int›, currency: 'eur' });
  res.json(intent);
});
---
const pool = mysql.createPool({
  host: 'db.‹dom›',
  user: '‹svc›',
  password: '⟦strong⟧',
  database: '‹svc›',
});
---
await fetch(`https://api.github.com/repos/acme/‹svc›/issues`, {
  headers: { Authorization: `Bearer ⟦ghp⟧`, Accept: 'application/vnd.github+json' },
});
---
export const authOptions: NextAuthOptions = {
  providers: [
    GoogleProvider({ clientId: "‹acct›.apps.googleusercontent.com", clientSecret: "⟦gocspx⟧" }),
  ],
  secret: "⟦b44⟧",
};
---
const bot = new TelegramBot("⟦telegram⟧", { polling: true });
bot.onText(/\/‹word›/, (msg) => bot.sendMessage(msg.chat.id, 'ok'));
---
client.login("⟦discord⟧").then(() => console.log("‹svc› is up"));
---
const transporter = nodemailer.createTransport({
  host: "smtp.‹dom›", port: 465, secure: true,
  auth: { user: "‹svc›@‹dom›", pass: "⟦strong⟧" },
});
---
jwt.sign({ id: user.id }, "⟦a40⟧", { expiresIn: "1h" }) // ‹svc›: hard-coded secret, move to env!
---
const s3 = new S3Client({
  region: "eu-west-1",
  credentials: { accessKeyId: "‹akid›", secretAccessKey: "⟦aws_secret⟧" },
});
---
const supabase = createClient('https://‹word›.supabase.co', '⟦sbsecret⟧');
=== code_python
import anthropic

client = anthropic.Anthropic(api_key="⟦anthropic⟧")
msg = client.messages.create(model="claude-sonnet-4-5", max_tokens=‹int›, messages=[])
---
# ‹svc›/settings.py
SECRET_KEY = 'django-insecure-⟦django⟧'
DEBUG = True
ALLOWED_HOSTS = []
---
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "‹svc›",
        "USER": "‹svc›",
        "PASSWORD": "⟦strong⟧",
        "HOST": "db.‹dom›",
    }
}
---
conn = psycopg2.connect(host="‹ip›", dbname="‹svc›", user="‹name›", password="⟦plain⟧")
---
engine = create_engine("mysql+pymysql://‹svc›:⟦urlpw⟧@‹ip›:3306/‹svc›", pool_pre_ping=True)
---
os.environ["OPENAI_API_KEY"] = "⟦openai_old⟧"
os.environ["LANGCHAIN_PROJECT"] = "‹svc›"
---
session = boto3.Session(
    aws_access_key_id="‹akid›",
    aws_secret_access_key="⟦aws_secret⟧",
)
s3 = session.resource("s3")
---
r = requests.get(
    "https://‹svc›.‹dom›/api/v2/‹word›s",
    auth=("‹name›", "⟦strong⟧"),
    timeout=30,
)
---
login(token="⟦hf⟧")
model = AutoModel.from_pretrained("acme/‹word›-‹n›b")
---
app.config["SECRET_KEY"] = "⟦hex64⟧"
app.config["SQLALCHEMY_DATABASE_URI"] = "postgresql://‹svc›:⟦urlpw⟧@localhost/‹svc›"
---
headers = {"X-Api-Key": "⟦a32⟧", "Accept": "application/json"}
resp = httpx.post("https://api.‹dom›/v1/‹word›", headers=headers, json=payload)
---
ssh.connect("‹ip›", port=22, username="‹name›", password="⟦human⟧")
---
genai.configure(api_key="⟦google⟧")  # TODO ‹name›: read from the environment
=== code_other
public class Db‹Word› {
    private static final String URL = "jdbc:mysql://‹ip›:3306/‹svc›";
    private static final String USER = "‹svc›";
    private static final String PASSWORD = "⟦strong⟧";
}
---
DriverManager.getConnection("jdbc:postgresql://db.‹dom›/‹svc›?user=‹svc›&password=⟦plain⟧");
---
db, err := sql.Open("mysql", "‹svc›:⟦urlpw⟧@tcp(‹ip›:3306)/‹svc›?parseTime=true")
if err != nil {
	log.Fatal(err)
}
---
client := github.NewClient(nil).WithAuthToken("⟦ghpat⟧")
repos, _, err := client.Repositories.List(ctx, "‹name›", nil)
---
const API_KEY: &str = "⟦anthropic⟧";

fn main() -> anyhow::Result<()> { run_‹word›(API_KEY) }
---
let pool = PgPool::connect("postgres://‹svc›:⟦urlpw⟧@‹ip›/‹svc›").await?;
---
var conn = new SqlConnection(
    "Server=sql.‹dom›;Database=‹Svc›;User Id=‹svc›;Password=⟦strong⟧;Encrypt=True;");
---
<?php
define('DB_NAME', '‹svc›');
define('DB_USER', '‹svc›');
define('DB_PASSWORD', '⟦strong⟧');
define('AUTH_KEY', '⟦u64⟧');
---
$pdo = new PDO('mysql:host=‹ip›;dbname=‹svc›', '‹svc›', '⟦strong⟧');
---
Stripe.api_key = '⟦stripe⟧'
Stripe::Customer.create(email: '‹name›@‹dom›')
---
production:
  adapter: postgresql
  database: ‹svc›_production
  username: ‹svc›
  password: "⟦strong⟧"
  pool: 5
---
let apiKey = "⟦google⟧"
let url = URL(string: "https://maps.googleapis.com/maps/api/‹word›/json?key=\(apiKey)")!
---
val retrofitKey = "⟦a40⟧"
val request = Request.Builder().url("https://api.‹dom›/‹word›")
    .addHeader("Authorization", "Bearer ⟦jwt⟧").build()
---
curl_easy_setopt(curl, CURLOPT_USERPWD, "‹name›:⟦plain⟧");
curl_easy_setopt(curl, CURLOPT_URL, "https://‹svc›.‹dom›/upload");
---
#define WIFI_SSID "‹Word›-Guest"
#define WIFI_PASSWORD "⟦human⟧"
---
const char* mqtt_user = "‹svc›";
const char* mqtt_password = "⟦plain⟧";
---
library(DBI)
con <- dbConnect(RPostgres::Postgres(), dbname = "‹svc›", host = "‹ip›",
                 user = "‹name›", password = "⟦strong⟧")
---
config :‹svc›, ‹Svc›.Repo,
  username: "‹svc›",
  password: "⟦strong⟧",
  hostname: "db.‹dom›"
---
final dio = Dio(BaseOptions(headers: {'Authorization': 'Bearer ⟦u64⟧', 'X-App': '‹svc›'}));
---
CREATE USER ‹svc› WITH PASSWORD '⟦strong⟧';
GRANT ALL PRIVILEGES ON DATABASE ‹svc› TO ‹svc›;
---
ALTER USER '‹svc›'@'%' IDENTIFIED BY '⟦strong⟧';
FLUSH PRIVILEGES;
---
$secure = ConvertTo-SecureString "⟦strong⟧" -AsPlainText -Force
$cred = New-Object System.Management.Automation.PSCredential("‹name›", $secure)
---
contract: privateKey = "⟦ethkey⟧"; // deployer of ‹svc› on mainnet
=== config
version: "3.9"
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_USER: ‹svc›
      POSTGRES_PASSWORD: ⟦plain⟧
      POSTGRES_DB: ‹svc›
---
services:
  ‹svc›:
    image: acme/‹svc›:‹ver›
    environment:
      - NODE_ENV=production
      - DATABASE_URL=postgres://‹svc›:⟦urlpw⟧@db:5432/‹svc›
      - SECRET_KEY=⟦hex64⟧
---
spring:
  datasource:
    url: jdbc:postgresql://db.‹dom›:5432/‹svc›
    username: ‹svc›
    password: ⟦plain⟧
---
spring.datasource.url=jdbc:mysql://‹ip›:3306/‹svc›
spring.datasource.username=‹svc›
spring.datasource.password=⟦strong⟧
---
{
  "ConnectionStrings": {
    "Default": "Server=tcp:‹svc›.database.windows.net,1433;User ID=‹svc›;Password=⟦strong⟧;"
  },
  "Logging": { "LogLevel": { "Default": "Information" } }
}
---
{
  "Jwt": { "Issuer": "https://‹dom›", "Audience": "‹svc›", "Key": "⟦a64⟧" },
  "SendGrid": { "ApiKey": "⟦sendgrid⟧" }
}
---
provider "aws" {
  region     = "eu-central-1"
  access_key = "‹akid›"
  secret_key = "⟦aws_secret⟧"
}
---
resource "aws_db_instance" "‹svc›" {
  engine   = "postgres"
  username = "‹svc›"
  password = "⟦strong⟧"
}
---
# terraform.tfvars
region      = "fra1"
do_token    = "⟦dop⟧"
db_password = "⟦strong⟧"
---
apiVersion: v1
kind: Secret
metadata:
  name: ‹svc›-db
type: Opaque
data:
  password: ⟦b64pw⟧
---
apiVersion: v1
kind: Secret
metadata:
  name: ‹svc›
stringData:
  username: ‹svc›
  password: ⟦strong⟧
---
# values-prod.yaml
postgresql:
  auth:
    username: ‹svc›
    password: "⟦plain⟧"
    database: ‹svc›
---
env:
  - name: REDIS_PASSWORD
    value: "⟦plain⟧"
  - name: LOG_FORMAT
    value: json
---
[‹svc›]
‹svc›1 ansible_host=‹ip› ansible_user=‹name› ansible_ssh_pass=⟦plain⟧
---
- name: create database user for ‹svc›
  mysql_user:
    name: ‹svc›
    password: "⟦strong⟧"
    priv: "‹svc›.*:ALL"
---
# ~/.npmrc
registry=https://registry.npmjs.org/
//registry.npmjs.org/:_authToken=⟦npm⟧
---
[distutils]
index-servers = pypi

[pypi]
username = __token__
password = ⟦pypi⟧
---
# ~/.netrc
machine ‹svc›.‹dom›
login ‹name›
password ⟦plain⟧
---
# ~/.aws/credentials
[default]
aws_access_key_id = ‹akid›
aws_secret_access_key = ⟦aws_secret⟧

[‹svc›]
aws_access_key_id = ‹asia›
aws_secret_access_key = ⟦aws_secret⟧
aws_session_token = ⟦aws_session⟧
---
{
  "auths": {
    "registry.‹dom›": { "auth": "⟦basic⟧" }
  }
}
---
<server>
  <id>‹svc›-releases</id>
  <username>‹name›</username>
  <password>⟦plain⟧</password>
</server>
---
<add key="ClearTextPassword" value="⟦azure_pat⟧" />
<add key="Username" value="‹name›" />
---
# gradle.properties
org.gradle.jvmargs=-Xmx‹int›m
artifactory_user=‹name›
artifactory_password=⟦artifactory⟧
signing.password=⟦human⟧
---
{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "⟦ghpat⟧" }
    }
  }
}
---
{
  "mcpServers": {
    "‹svc›": {
      "url": "https://mcp.‹dom›/sse",
      "headers": { "Authorization": "Bearer ⟦u43⟧" }
    }
  }
}
---
[mysqld_safe]
user=mysql

[client]
user=‹name›
password="⟦strong⟧"
---
requirepass ⟦plain⟧
maxmemory ‹int›mb
---
[Interface]
PrivateKey = ⟦b44⟧
Address = ‹ip›/24

[Peer]
PublicKey = ‹sha256b64›
PresharedKey = ⟦b44⟧
---
network={
    ssid="‹Word›Net"
    psk="⟦human⟧"
    key_mgmt=WPA-PSK
}
---
smtp:
  host: mail.‹dom›
  port: 587
  username: ‹svc›@‹dom›
  password: '⟦strong⟧'
---
[database]
type = postgres
host = ‹ip›:5432
name = grafana
user = grafana
password = """⟦strong⟧"""

[security]
admin_password = ⟦human⟧
---
receivers:
  - name: ‹svc›
    slack_configs:
      - api_url: https://hooks.slack.com/services/⟦slackhook⟧
        channel: '#alerts'
---
AzureWebJobsStorage=DefaultEndpointsProtocol=https;AccountName=‹svc›;↩
AccountKey=⟦b88⟧;EndpointSuffix=core.windows.net
---
Endpoint=sb://‹svc›.servicebus.windows.net/;SharedAccessKeyName=RootManage;SharedAccessKey=⟦b44⟧
---
version: 2
default:
  target: prod
  outputs:
    prod: {type: snowflake, account: ab‹int›, user: ‹name›, password: "⟦strong⟧", role: DBT}
---
"remote": {
  "host": "‹ip›",
  "protocol": "sftp",
  "username": "‹name›",
  "password": "⟦strong⟧",
  "remotePath": "/var/www/‹svc›"
}
=== command
curl https://api.openai.com/v1/models -H "Authorization: Bearer ⟦openai⟧"
---
curl https://api.anthropic.com/v1/messages \
  -H "x-api-key: ⟦anthropic⟧" \
  -H "anthropic-version: 2023-06-01" -d @‹word›.json
---
curl -u ‹name›:⟦plain⟧ https://‹svc›.‹dom›/rest/api/2/issue/OPS-‹int›
---
curl -s -X POST "https://api.telegram.org/bot⟦telegram⟧/sendMessage" -d chat_id=‹big› -d text=ok
---
curl -H "PRIVATE-TOKEN: ⟦glpat⟧" "https://gitlab.‹dom›/api/v4/projects/‹int›/pipelines"
---
curl -X POST -H 'Content-type: application/json' --data '{"text":"‹svc› deployed"}' ↩
https://hooks.slack.com/services/⟦slackhook⟧
---
curl -u "⟦stripe_test⟧:" https://api.stripe.com/v1/charges -d amount=‹int› -d currency=eur
---
curl "https://maps.googleapis.com/maps/api/geocode/json?address=Berlin+‹int›&key=⟦google⟧"
---
mysql -h ‹ip› -u ‹svc› -p'⟦strong⟧' ‹svc› < dump-‹date›.sql
---
PGPASSWORD=⟦plain⟧ psql -h db.‹dom› -U ‹svc› -d ‹svc› -c 'select count(*) from ‹word›s'
---
psql "postgresql://‹svc›:⟦urlpw⟧@‹ip›:5432/‹svc›?sslmode=require" -f ‹word›.sql
---
redis-cli -h ‹ip› -p 6379 -a ⟦plain⟧ info memory
---
mongosh "mongodb://‹svc›:⟦urlpw⟧@‹ip›:27017/admin?authSource=admin" --eval 'db.stats()'
---
sshpass -p '⟦strong⟧' ssh ‹name›@‹ip› 'systemctl restart ‹svc›'
---
git clone https://‹name›:⟦ghp⟧@github.com/acme/‹svc›.git
---
git remote set-url origin https://oauth2:⟦glpat⟧@gitlab.‹dom›/acme/‹svc›.git
---
echo ⟦ghp⟧ | docker login ghcr.io -u ‹name› --password-stdin
---
docker login -u ‹name› -p ⟦dckr⟧
docker push acme/‹svc›:‹ver›
---
docker run -d --name ‹svc›-db -e POSTGRES_PASSWORD=⟦plain⟧ -p ‹port›:5432 postgres:16
---
kubectl create secret generic ‹svc›-db --from-literal=username=‹svc› --from-literal=password=⟦plain⟧
---
helm upgrade --install ‹svc› bitnami/postgresql --set auth.postgresPassword=⟦plain⟧ -n prod
---
az login --service-principal -u ‹uuid› -p ⟦azure_secret⟧ --tenant ‹uuid›
---
aws configure set aws_secret_access_key ⟦aws_secret⟧ --profile ‹svc›
---
vault login ⟦vault⟧
vault kv put secret/‹svc› db_password=⟦plain⟧
---
VAULT_TOKEN=⟦vault⟧ vault kv get -field=url secret/‹svc›
---
npm config set //registry.npmjs.org/:_authToken ⟦npm⟧ && npm publish --tag v‹ver›
---
twine upload -u __token__ -p ⟦pypi⟧ dist/‹svc›-‹ver›.tar.gz
---
cargo login ⟦crates⟧ && cargo publish -p ‹svc›
---
dotnet nuget push ‹Svc›.‹ver›.nupkg --api-key ⟦nuget⟧ --source https://api.nuget.org/v3/index.json
---
gh secret set DEPLOY_KEY --body "⟦a40⟧" --repo acme/‹svc›
---
flyctl deploy --access-token "FlyV1 ⟦fly⟧" -a ‹svc›
---
NETLIFY_AUTH_TOKEN=⟦netlify⟧ netlify deploy --prod --dir dist/‹svc›
---
vercel --token ⟦a24⟧ --prod --scope ‹name›
---
sudo tailscale up --authkey=⟦tailscale⟧ --hostname=‹svc›
---
heroku config:set SECRET_KEY=⟦hex64⟧ DATABASE_URL=postgres://u1:⟦urlpw⟧@‹ip›/d1 -a ‹svc›
---
doppler run --token=⟦doppler⟧ -- npm start # ‹svc›
---
wget --user=‹name› --password='⟦strong⟧' https://files.‹dom›/‹svc›-‹date›.tar.gz
---
pip install --index-url https://‹name›:⟦artifactory⟧@artifactory.‹dom›/api/pypi/pypi/simple ‹svc›
---
openssl pkcs12 -export -in ‹svc›.crt -inkey ‹svc›.key -out ‹svc›.p12 -passout pass:⟦plain⟧
---
restic -r s3:s3.‹dom›/backup snapshots # RESTIC_PASSWORD="⟦human⟧" as set in cron
---
az storage blob list --account-name ‹svc› --container-name ‹word› --account-key ⟦b88⟧
---
https://‹svc›.blob.core.windows.net/‹word›?sv=2024-11-04&ss=b&sp=r&se=‹date›T00:00:00Z&sig=⟦sas⟧
---
echo '⟦strong⟧' | sudo -S apt-get install -y ‹word›-tools
---
net use Z: \\‹svc›\share /user:ACME\‹name› ⟦plain⟧
---
smbclient //‹ip›/share -U '‹name›%⟦plain⟧' -c 'ls ‹word›'
---
keytool -genkey -alias ‹svc› -keystore ‹svc›.jks -storepass ⟦plain⟧ -keypass ⟦plain⟧
---
wp user update ‹name› --user_pass='⟦strong⟧' --path=/var/www/‹svc›
---
htpasswd -b -c .htpasswd ‹name› ⟦plain⟧
=== chat
hey, my key is ⟦openai⟧, can you wire it into ‹svc› please
---
the password for the ‹svc› box is ⟦inline⟧ and the user is ‹name›
---
Login: ‹name›@‹dom›
Password: ⟦human⟧
---
pw: ⟦human⟧
---
user/pass for staging: ‹name› / ⟦strong⟧
---
use this token ⟦ghp⟧ to push, it expires on ‹date›
---
The wifi password at the office is "⟦human⟧", network ‹Word›-5G.
---
I rotated it. New API key: `⟦anthropic⟧`. Old one for ‹svc› is dead.
---
try with ⟦slackbot⟧ and post into #‹svc›
---
Stripe live key: ⟦stripe⟧ (don't commit it!!) for ‹svc›
---
ssh ‹name›@‹ip›, password ⟦plain⟧
---
my sudo password is `⟦strong⟧`, go ahead and restart ‹svc›
---
here is the db password you asked for:

⟦strong⟧

it's for ‹svc› on ‹ip›
---
Set the admin password to ⟦inline⟧, then tell ‹name›.
---
the old passphrase was "⟦human⟧" — please re-encrypt the ‹word› backup
---
API secret: ⟦a40⟧
API key id: ‹int›
---
PIN-protected zip, password ‘⟦human⟧’, file ‹svc›-‹date›.zip
---
Sure! I've put the client secret ⟦gocspx⟧ into the config of ‹svc›.
---
my npm token, valid for 7 days: ⟦npm⟧ - publish ‹svc› ‹ver› with it
---
The recovery phrase of the ‹svc› test wallet is: ⟦seedwords⟧
---
2FA seed for the shared ‹svc› account (TOTP secret): ⟦totp⟧
---
Bearer token for ‹svc›: ⟦jwt⟧
---
username = ‹name›
password = ⟦strong⟧
thats the prod one for ‹svc›
---
Remember for later: the registry credentials are ‹name›:⟦plain⟧ (registry.‹dom›).
=== chat_lang_latin
Das Passwort für ‹svc› lautet ⟦inline⟧, bitte nicht weitergeben.
---
Mein Kennwort ist „⟦human⟧“, Benutzer ‹name›.
---
Zugangsdaten für den Server ‹ip›:
Benutzer: ‹name›
Passwort: ⟦strong⟧
---
Hier der API-Schlüssel: ⟦openai⟧ – trag ihn bitte in ‹svc› ein.
---
Le mot de passe de ‹svc› est ⟦inline⟧, merci de le changer.
---
Mot de passe : ⟦strong⟧
Identifiant : ‹name›
---
Voici ma clé API : ⟦anthropic⟧ (pour ‹svc›)
---
La contraseña de la base de datos ‹svc› es ⟦inline⟧
---
Usuario: ‹name›
Contraseña: ⟦strong⟧
---
aquí está la clave de API «⟦a40⟧», úsala para ‹svc›
---
A senha do banco ‹svc› é ⟦inline⟧, o usuário é ‹name›
---
Senha: ⟦strong⟧
Servidor: ‹ip›
---
La password di ‹svc› è ⟦inline⟧, non dirla a nessuno
---
Parola d'ordine / password del server ‹ip›: ⟦strong⟧
---
Het wachtwoord van ‹svc› is ⟦inline⟧, gebruiker ‹name›
---
wachtwoord: ⟦strong⟧ (server ‹ip›)
---
Hasło do ‹svc› to ⟦inline⟧, login ‹name›
---
hasło: ⟦strong⟧
host: ‹ip›
---
‹svc› için şifre: ⟦strong⟧
---
Sunucu parolası ⟦inline⟧, kullanıcı adı ‹name›
---
Lösenordet till ‹svc› är ⟦inline⟧, användaren heter ‹name›
---
Heslo k ‹svc› je ⟦inline⟧, uživatel ‹name›
---
Kata sandi server ‹svc› adalah ⟦inline⟧, pengguna ‹name›
---
Mật khẩu của ‹svc› là ⟦inline⟧, tài khoản ‹name›
---
Adgangskoden til ‹svc› er ⟦inline⟧
---
Salasana palveluun ‹svc› on ⟦inline⟧
---
Parola pentru ‹svc› este ⟦inline⟧, utilizator ‹name›
---
A ‹svc› jelszava: ⟦strong⟧
=== chat_lang_other
数据库密码是⟦inline⟧，请帮我更新‹svc›的配置。
---
密码：⟦strong⟧
用户名：‹name›
---
我的API密钥是⟦openai⟧请写进‹svc›的.env
---
服务器‹ip›的root密码为“⟦human⟧”，不要外传
---
‹svc› 的存取權杖：⟦ghp⟧，請先用這個
---
資料庫密碼：⟦strong⟧
---
パスワードは⟦inline⟧です。‹svc›にログインしてください。
---
パスワード：⟦strong⟧
ユーザー名：‹name›
---
APIキーは「⟦anthropic⟧」です。‹svc›に設定してください。
---
‹svc›のDBパスワード「⟦human⟧」を使ってください
---
‹svc› 비밀번호는 ⟦inline⟧ 입니다
---
비밀번호: ⟦strong⟧
아이디: ‹name›
---
토큰은 ⟦ghp⟧이고 ‹svc› 저장소에 씁니다
---
Пароль от ‹svc›: ⟦strong⟧
---
пароль ⟦inline⟧, логин ‹name›, сервер ‹ip›
---
вот ключ API ⟦openai⟧, добавь его в ‹svc›
---
Пароль до бази ‹svc› — ⟦inline⟧, користувач ‹name›
---
كلمة المرور لخادم ‹svc› هي ⟦inline⟧
---
كلمة السر: ⟦strong⟧
---
‹svc› का पासवर्ड ⟦inline⟧ है
---
पासवर्ड: ⟦strong⟧
---
הסיסמה של ‹svc› היא ⟦inline⟧
---
Ο κωδικός πρόσβασης για το ‹svc› είναι ⟦inline⟧
---
รหัสผ่านของ ‹svc› คือ ⟦inline⟧
---
паролата за ‹svc› е ⟦inline⟧
=== private_key
-----BEGIN RSA PRIVATE KEY-----
⟦rsa⟧
-----END RSA PRIVATE KEY-----
(that one belongs to ‹svc›)
---
$ cat ~/.ssh/id_ed25519_‹svc›
-----BEGIN OPENSSH PRIVATE KEY-----
⟦openssh⟧
-----END OPENSSH PRIVATE KEY-----
---
tls.key for ‹svc›.‹dom›:
```
-----BEGIN PRIVATE KEY-----
⟦pkcs8⟧
-----END PRIVATE KEY-----
```
---
-----BEGIN EC PRIVATE KEY-----
⟦ec⟧
-----END EC PRIVATE KEY-----
openssl ec -in ‹svc›.pem -noout -text
---
gpg --export-secret-keys --armor ‹name›@‹dom›
-----BEGIN PGP PRIVATE KEY BLOCK-----

⟦pgp⟧
=Ab1c
-----END PGP PRIVATE KEY BLOCK-----
---
{
  "type": "service_account",
  "project_id": "‹svc›-‹int›",
  "private_key_id": "‹sha1›",
  "private_key": "-----BEGIN PRIVATE KEY-----\n⟦key_json⟧\n-----END PRIVATE KEY-----\n",
  "client_email": "‹svc›@‹svc›-‹int›.iam.gserviceaccount.com",
  "token_uri": "https://oauth2.googleapis.com/token"
}
---
FIREBASE_CLIENT_EMAIL=‹svc›@‹word›.iam.gserviceaccount.com
FIREBASE_PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\n⟦key_json⟧\n-----END PRIVATE KEY-----\n"
---
stringData:
  ssh-privatekey: |
    -----BEGIN OPENSSH PRIVATE KEY-----
    ⟦openssh⟧
    -----END OPENSSH PRIVATE KEY-----
  known: ‹svc›
---
DEPLOY_KEY = """-----BEGIN RSA PRIVATE KEY-----
⟦rsa⟧
-----END RSA PRIVATE KEY-----"""
connect("‹ip›", DEPLOY_KEY)
---
# created: ‹date›T10:00:00+02:00
# public key: ‹agepub›
⟦age⟧
---
hier mein privater Schlüssel, damit du auf ‹ip› kommst:
-----BEGIN ENCRYPTED PRIVATE KEY-----
⟦pkcs8⟧
-----END ENCRYPTED PRIVATE KEY-----
Die Passphrase lautet ⟦inline⟧.
---
cat <<'EOF' > /etc/nginx/ssl/‹svc›.key
-----BEGIN PRIVATE KEY-----
⟦pkcs8⟧
-----END PRIVATE KEY-----
EOF
chmod 600 /etc/nginx/ssl/‹svc›.key
=== tool_output
$ env | sort
HOME=/home/‹name›
LANG=en_US.UTF-8
OPENAI_API_KEY=⟦openai⟧
PATH=/usr/local/bin:/usr/bin:/bin
PGPASSWORD=⟦plain⟧
SHELL=/bin/bash
---
$ printenv | grep -i token
GH_TOKEN=⟦ghpat⟧
NPM_TOKEN=⟦npm⟧
CI_PROJECT=‹svc›
---
$ git remote -v
origin  https://‹name›:⟦ghp:t⟧@github.com/acme/‹svc›.git (fetch)
origin  https://‹name›:⟦ghp:t⟧@github.com/acme/‹svc›.git (push)
---
$ kubectl get secret ‹svc›-db -o yaml
apiVersion: v1
data:
  DB_PASSWORD: ⟦b64pw⟧
  DB_USER: YXBw
kind: Secret
metadata:
  creationTimestamp: "‹date›T08:12:31Z"
  name: ‹svc›-db
  resourceVersion: "‹int›"
---
$ kubectl get secret ‹svc› -o jsonpath='{.data.password}' | base64 -d
⟦strong⟧
---
$ aws secretsmanager get-secret-value --secret-id prod/‹svc›
{
    "ARN": "arn:aws:secretsmanager:eu-west-1:‹acct›:secret:prod/‹svc›-aB3dEf",
    "Name": "prod/‹svc›",
    "SecretString": "{\"username\":\"‹svc›\",\"password\":\"⟦plain⟧\"}"
}
---
$ aws sts assume-role --role-arn arn:aws:iam::‹acct›:role/‹svc› --role-session-name s
{
    "Credentials": {
        "AccessKeyId": "‹asia›",
        "SecretAccessKey": "⟦aws_secret⟧",
        "SessionToken": "⟦aws_session⟧",
        "Expiration": "‹date›T12:00:00+00:00"
    }
}
---
$ aws iam create-access-key --user-name ‹svc›
{
    "AccessKey": {
        "UserName": "‹svc›",
        "AccessKeyId": "‹akid›",
        "Status": "Active",
        "SecretAccessKey": "⟦aws_secret⟧"
    }
}
---
$ aws ssm get-parameter --name /‹svc›/db/password --with-decryption --query Parameter.Value
"⟦plain⟧"
---
$ gcloud auth print-access-token
⟦ya29⟧
---
$ gcloud secrets versions access latest --secret=‹svc›-db-password
⟦strong⟧
---
$ az ad sp create-for-rbac --name ‹svc›
{
  "appId": "‹uuid›",
  "displayName": "‹svc›",
  "password": "⟦azure_secret⟧",
  "tenant": "‹uuid›"
}
---
$ az storage account keys list -n ‹svc› -o json
[
  {"keyName": "key1", "permissions": "FULL", "value": "⟦b88⟧"},
  {"keyName": "key2", "permissions": "FULL", "value": "⟦b88⟧"}
]
---
$ docker inspect ‹svc› --format '{{json .Config.Env}}'
["POSTGRES_USER=‹svc›","POSTGRES_PASSWORD=⟦plain⟧","PATH=/usr/bin","LANG=C.UTF-8"]
---
        "Env": [
            "NODE_VERSION=20.11.1",
            "STRIPE_SECRET_KEY=⟦stripe⟧",
            "HOSTNAME=‹sha12›"
        ],
---
$ docker compose config
services:
  ‹svc›:
    environment:
      DB_HOST: db
      DB_PASSWORD: ⟦plain⟧
      JWT_SECRET: ⟦a64⟧
---
$ gh auth token
⟦gho⟧
---
$ gh auth status --show-token
github.com
  ✓ Logged in to github.com account ‹name› (keyring)
  - Token: ⟦gho⟧
  - Token scopes: 'gist', 'read:org', 'repo'
---
HTTP/1.1 200 OK
Content-Type: application/json

{"access_token":"⟦u64⟧","token_type":"Bearer","expires_in":‹int›,"refresh_token":"⟦u43⟧"}
---
{
  "access_token": "⟦ya29⟧",
  "expires_in": 3599,
  "refresh_token": "⟦google_refresh⟧",
  "scope": "https://www.googleapis.com/auth/‹word›",
  "token_type": "Bearer"
}
---
POST /oauth/token HTTP/1.1
Host: auth.‹dom›
Content-Type: application/x-www-form-urlencoded

grant_type=client_credentials&client_id=‹svc›&client_secret=⟦a40⟧
---
POST /login HTTP/1.1
Host: ‹svc›.‹dom›
Content-Type: application/json

{"email":"‹name›@‹dom›","password":"⟦strong⟧"}
---
> GET /api/‹word›s HTTP/2
> Host: ‹svc›.‹dom›
> user-agent: curl/8.5.0
> authorization: Bearer ⟦jwt⟧
< HTTP/2 401
---
> GET / HTTP/1.1
> Host: ‹svc›.‹dom›
> Authorization: Basic ⟦basic⟧
> Accept: */*
---
GET /socket?token=⟦jwt⟧ HTTP/1.1" 101 ‹int› "-" "‹svc›/‹ver›"
---
< HTTP/1.1 302 Found
< Set-Cookie: session_token=⟦u64⟧; Path=/; HttpOnly; Secure
< Location: /‹word›
---
Cookie: lang=de; auth_token=⟦u43⟧; theme=dark-‹n›
---
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) could not connect
  dsn = 'postgresql://‹svc›:⟦urlpw⟧@‹ip›:5432/‹svc›'
(Background on this error at: https://sqlalche.me/e/20/e3q8)
---
Traceback (most recent call last):
  File "/app/‹svc›/main.py", line ‹int›, in <module>
    client = Client(api_key="⟦a40⟧")
TypeError: Client.__init__() got an unexpected keyword argument 'api_key'
---
Error: P1001: Can't reach database server at `‹ip›`:`5432`
Datasource url = postgresql://‹svc›:⟦urlpw⟧@‹ip›:5432/‹svc›
---
openai.AuthenticationError: Error code: 401 - request sent with headers ↩
{'Authorization': 'Bearer ⟦openai⟧', 'X-Stainless-Lang': 'python'} for ‹svc›
---
‹date› ‹time› DEBUG [‹svc›] connecting with {"host":"‹ip›","user":"‹svc›","password":"⟦plain⟧"}
---
‹date›T‹time›Z INFO ‹svc› config loaded: db.password=⟦plain⟧ db.pool=10 cache.ttl=300
---
##[debug]Evaluating: env.‹SVC›_TOKEN
##[debug]Result: '⟦ghs⟧'
Run ./deploy.sh
---
+ export SONAR_TOKEN=⟦sonar⟧
+ SONAR_TOKEN=⟦sonar⟧
+ ./gradlew :‹svc›:sonar
---
$ vault token create -policy=‹svc›
Key                  Value
---                  -----
token                ⟦vault⟧
token_accessor       ‹strid›
token_duration       768h
---
$ vault kv get secret/‹svc›
====== Data ======
Key         Value
---         -----
password    ⟦strong⟧
username    ‹svc›
---
$ terraform output -json
{
  "db_password": { "sensitive": true, "type": "string", "value": "⟦plain⟧" },
  "url": { "sensitive": false, "type": "string", "value": "https://‹svc›.‹dom›" }
}
---
$ heroku config -a ‹svc›
=== ‹svc› Config Vars
DATABASE_URL: postgres://u‹int›:⟦urlpw⟧@ec2-‹n›.compute-1.amazonaws.com:5432/d‹int›
SECRET_KEY:   ⟦hex64⟧
---
‹svc›=# select name, api_key from integrations limit 1;
  name   |             api_key
---------+----------------------------------
 mailer  | ⟦mailgun⟧
(1 row)
---
$ grep -rn "api_key" config/
config/‹svc›.yml:12:  api_key: ⟦a32⟧
config/‹svc›.yml:30:  timeout: ‹int›
---
$ history | grep docker
  ‹int›  docker login -u ‹name› -p ⟦dckr⟧
---
diff --git a/‹svc›/.env b/‹svc›/.env
--- a/‹svc›/.env
+++ b/‹svc›/.env
@@ -1,2 +1,2 @@
-SECRET_KEY=⟦a40⟧
+SECRET_KEY=⟦a40⟧
 DEBUG=0
---
$ kubectl -n ‹svc› get secret initial-admin -o jsonpath="{.data.password}" | base64 -d
⟦plain⟧
---
Node join command for ‹svc›:
kubeadm join ‹ip›:6443 --token ⟦kubeadm⟧ --discovery-token-ca-cert-hash sha256:‹sha256›
---
rake secret / openssl rand -hex 32 for SECRET_KEY_BASE of ‹svc›
=> SECRET_KEY_BASE=⟦hex64⟧
---
[‹time›] Discord webhook failed: 404 https://discord.com/api/webhooks/‹acct›‹int›/⟦discordhook⟧
---
{"level":"error","svc":"‹svc›","req":{"headers":{"x-api-key":"⟦a40⟧","accept":"*/*"}},"ms":‹int›}
---
{"event":"user.login","user":"‹name›","id_token":"⟦jwt⟧","ok":true,"ms":‹int›}
---
Generated password for user ‹name›: ⟦plain⟧
Please store it now, it is not shown again.
---
root@‹svc›:~# cat /run/secrets/db_password
⟦strong⟧
---
users:
- name: ‹svc›-admin
  user:
    token: ⟦jwt⟧
=== multi_turn
user: deploy fails with 401
assistant: Which token does ‹svc› use? Please paste the first lines of the config.
user: ⟦ghp⟧
assistant: Thanks, that one has no `write:packages` scope.
---
Assistant: To go on I need the database password for ‹svc›.
User: ⟦strong⟧
Assistant: Connected. ‹int› rows.
---
**Agent:** What is the OpenAI key?
**User:** sure, it's ⟦openai⟧
**Agent:** Saved to `.env`.
---
[‹name›] what's the login for the staging vpn again?
[claude] I don't have it.
[‹name›] ‹name› / ⟦strong⟧
---
Human: 密码是多少？
Assistant: 请把 ‹svc› 的密码发给我。
Human: 密码⟦inline⟧，谢谢
---
Q: Wie lautet das Passwort für ‹svc›?
A: Das ist ⟦inline⟧, steht auch im Wiki.
---
{"role":"user","content":"my anthropic key is ⟦anthropic⟧, use it for ‹svc›"}
---
{"type":"tool_result","tool_use_id":"toolu_01‹strid›","content":"DB_PASSWORD=⟦plain⟧\nDB_HOST=‹ip›"}
---
{"tool":"bash","input":{"command":"export GITLAB_TOKEN=⟦glpat⟧ && glab mr list -R acme/‹svc›"}}
---
user: can't log in to grafana
assistant: Try resetting: `grafana-cli admin reset-admin-password <new>`
user: did that, set it to `⟦strong⟧`, still 401 on ‹svc›
---
user: what env do I need?
assistant: `REPLICATE_API_TOKEN=<your token>`
user: ok done: REPLICATE_API_TOKEN=⟦replicate⟧
assistant: Great, restart ‹svc›.
---
● Bash(cat ‹svc›/.env.production)
  ⎿  API_URL=https://api.‹dom›
     API_TOKEN=⟦u43⟧
     … +‹int› lines
---
<function_results>
     1	POSTGRES_USER=‹svc›
     2	POSTGRES_PASSWORD=⟦strong⟧
     3	POSTGRES_DB=‹svc›
</function_results>
=== private_block
Please fix the ‹svc› tests. <private>⟦note⟧</private> Then push.
---
<private>
⟦note⟧
</private>
What is left to do for ‹svc›?
---
内容<private>⟦note⟧</private>以外はすべて保存してください（‹svc›）
---
ok, ‹name› said <private>the code is ⟦inline⟧</private> but that is between us
=== long_turn
‹noise›
2026-02-11T04:12:09Z DEBUG ‹svc› using key ⟦openai⟧
‹noise›
---
‹noise›
DATABASE_URL=postgres://‹svc›:⟦urlpw⟧@‹ip›:5432/‹svc›
‹noise›
---
I ran the whole suite on ‹svc›; output below.
‹noise›
+ export AWS_SECRET_ACCESS_KEY=⟦aws_secret⟧
‹noise›
Can you see why it is slow?
---
‹noise›
  "password": "⟦strong⟧",
‹noise›
---
‹noise›
-----BEGIN OPENSSH PRIVATE KEY-----
⟦openssh⟧
-----END OPENSSH PRIVATE KEY-----
‹noise›
---
‹noise›
Authorization: Bearer ⟦jwt⟧
‹noise›
---
‹noise›
by the way the admin password of ‹svc› is ⟦inline⟧ now
‹noise›
---
‹noise›
STRIPE_SECRET_KEY=⟦stripe⟧ SLACK_BOT_TOKEN=⟦slackbot⟧ NODE_ENV=production node ‹svc›.js
‹noise›
---
‹noise›
另外，‹svc›的密码是⟦inline⟧，别忘了。
‹noise›
=== provider_token
Pulumi: `export PULUMI_ACCESS_TOKEN=⟦pulumi⟧` then `pulumi up -s ‹svc›`
---
credentials "app.terraform.io" { token = "⟦tfc⟧" } # ‹svc›
---
databricks configure --host https://adb-‹int›.azuredatabricks.net --token
Token: ⟦databricks⟧
---
Jira token ‹name›@‹dom› : ⟦atlassian⟧
---
git push https://x-token-auth:⟦bitbucket⟧@bitbucket.org/acme/‹svc›.git
---
gitlab-runner register --url https://gitlab.‹dom› --token ⟦glrt⟧ --executor docker
---
circleci --token ⟦circleci⟧ config validate ‹svc›.yml
---
buildkite-agent start --token "⟦buildkite⟧" --tags queue=‹svc›
---
gem push ‹svc›-‹ver›.gem # GEM_HOST_API_KEY=⟦rubygems⟧
---
postman collection run ‹svc›.json --postman-api-key ⟦postman⟧
---
DT_TENANT=abc‹int› DT_API_TOKEN=⟦dynatrace⟧ ./install-‹svc›.sh
---
ldclient.set_config(Config("⟦launchdarkly⟧"))  # LaunchDarkly API token, ‹svc›
---
SUPABASE_ACCESS_TOKEN=⟦supabase⟧ supabase link --project-ref ‹word›
---
render token ⟦render⟧ -> services list | grep ‹svc›
---
HEROKU_API_KEY=⟦heroku⟧ git push heroku main # ‹svc›
---
stripe restricted key for ‹svc› reports: ⟦stripe_rk⟧
---
okta: `Authorization: SSWS ⟦okta⟧` against https://‹svc›.okta.com/api/v1/users
=== env_file
CLAUDE_CODE_OAUTH_TOKEN=⟦anthropic_oat⟧
CLAUDE_CONFIG_DIR=/home/‹name›/.claude
---
KAFKA_BROKERS=kafka.‹dom›:9092
KAFKA_SASL_USERNAME=‹svc›
KAFKA_SASL_PASSWORD=⟦plain⟧
---
S3_ENDPOINT=https://minio.‹dom›
MINIO_ROOT_USER=‹svc›
MINIO_ROOT_PASSWORD=⟦human⟧
---
FOO=bar # ‹svc›
PAYPAL_CLIENT_SECRET=⟦u64⟧
PLAID_SECRET=⟦hex32⟧
AUTH0_CLIENT_SECRET=⟦u64⟧
---
AZURE_OPENAI_ENDPOINT=https://‹svc›.openai.azure.com/
AZURE_OPENAI_API_KEY=⟦a64⟧
=== config
# ~/.pgpass
db.‹dom›:5432:‹svc›:‹name›:⟦plain⟧
---
$ cat ~/.git-credentials
https://‹name›:⟦ghp⟧@github.com
---
# ~/.config/gh/hosts.yml
github.com:
    user: ‹name›
    oauth_token: ⟦gho⟧
    git_protocol: https
---
users:
- name: ‹svc›-admin
  user:
    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t
    client-key-data: ⟦keydata⟧
---
{
  "client_id": "‹acct›-abc.apps.googleusercontent.com",
  "client_secret": "⟦gocspx⟧",
  "refresh_token": "⟦google_refresh⟧",
  "type": "authorized_user"
}
---
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required ↩
username="‹svc›" password="⟦plain⟧";
---
[minio]
type = s3
provider = Minio
access_key_id = ‹svc›
secret_access_key = ⟦a40⟧
endpoint = https://s3.‹dom›
---
build:
  stage: build
  variables:
    SONAR_TOKEN: "⟦sonar⟧"
    GIT_DEPTH: "0"
  script: ["./build.sh ‹svc›"]
---
export default {
  datasources: { db: { url: "mysql://‹svc›:⟦urlpw⟧@‹ip›:3306/‹svc›" } },
};
---
Driver={ODBC Driver 18 for SQL Server};Server=‹ip›;Database=‹svc›;Uid=‹name›;Pwd=⟦plain⟧;
---
<dataSource name="‹svc›" url="jdbc:oracle:thin:@‹ip›:1521/ORCL" username="‹svc›" ↩
password="⟦plain⟧"/>
---
app:
  jwt:
    secret: ⟦a64⟧
    expiration: ‹int›
  name: ‹svc›
---
"Authentication": { "Google": { "ClientId": "‹acct›", "ClientSecret": "⟦gocspx⟧" } }
---
hosts:
  ‹svc›:
    ansible_user: ‹name›
    ansible_become_password: ⟦strong⟧
=== command
sqlplus ‹svc›/⟦plain⟧@//‹ip›:1521/ORCL @‹word›.sql
---
mongodump --host ‹ip› -u ‹svc› -p ⟦plain⟧ --authenticationDatabase admin --out dump
---
pg_dump --dbname=postgresql://‹svc›:⟦urlpw⟧@‹ip›:5432/‹svc› -Fc -f ‹date›.dump
---
ldapsearch -x -H ldap://‹ip› -D "cn=admin,dc=acme,dc=dev" -w ⟦plain⟧ -b "dc=acme,dc=dev"
---
http -a ‹name›:⟦plain⟧ POST https://‹svc›.‹dom›/api/‹word›s name=x
---
curl --user '‹name›:⟦strong⟧' -T ‹word›.zip ftp://‹ip›/incoming/
---
lftp -e 'mirror -R dist /www; quit' ftp://‹name›:⟦urlpw⟧@ftp.‹dom›
---
gpg --batch --passphrase '⟦strong⟧' -d ‹svc›-‹date›.tar.gpg > ‹svc›.tar
---
curl -X POST https://‹svc›.‹dom›/api/login -H 'Content-Type: application/json' ↩
-d '{"username":"‹name›","password":"⟦plain⟧"}'
---
curl -H "Authorization: token ⟦ghp⟧" https://api.github.com/user/repos?per_page=‹int›
---
curl -H "DD-API-KEY: ⟦hex32⟧" https://api.datadoghq.eu/api/v1/validate # ‹svc›
---
xfreerdp /v:‹ip› /u:‹name› /p:'⟦strong⟧' /cert:ignore
---
mysqldump --user=‹svc› --password=⟦plain⟧ --host=‹ip› ‹svc› | gzip > ‹date›.sql.gz
=== tool_output
$ npm config ls -l | grep auth
//npm.‹dom›/:_authToken = "⟦u43⟧"
---
Listening on http://localhost:‹port›/?token=⟦hex48⟧ (jupyter, ‹svc›)
---
$ firebase login:ci
✔  Success! Use this token to login on a CI server:

⟦google_refresh⟧

Example: firebase deploy --token "$FIREBASE_TOKEN" # ‹svc›
---
$ supabase status
         API URL: http://127.0.0.1:54321
          DB URL: postgresql://postgres:⟦urlpw⟧@127.0.0.1:54322/‹svc›
      JWT secret: ⟦a40⟧
service_role key: ⟦jwt⟧
---
>>> print(settings.model_dump())
{'env': 'prod', 'db_host': '‹ip›', 'db_password': '⟦plain⟧', 'pool': ‹int›}
---
Settings(env='prod', api_token='⟦u43⟧', region='eu', svc='‹svc›', retries=‹n›)
---
(gdb) p *cfg
$1 = {host = "‹ip›", port = ‹port›, user = "‹svc›", password = "⟦plain⟧"}
---
[‹date› ‹time›] production.ERROR: SQLSTATE[HY000] [1045] Access denied ↩
PDO->__construct('mysql:host=‹ip›', '‹svc›', '⟦plain⟧', Array)
---
Started POST "/session" for ‹ip›
  Parameters: {"email"=>"‹name›@‹dom›", "password"=>"⟦plain⟧"}
---
{"ok":true,"token":"⟦jwt⟧","user":{"id":‹int›,"name":"‹name›"}}
---
{"client_id":"‹svc›","client_secret":"⟦a40⟧","grant_types":["client_credentials"]}
'''

NEGATIVE_SHAPES: Final = r'''
=== word_prose
I forgot my password for ‹svc›, how do I reset it?
---
The password field on the ‹svc› page should be at least ‹n› characters wide.
---
Can you add a "show password" toggle to the ‹word› form?
---
We never store the password in plain text; ‹svc› only keeps a bcrypt hash.
---
Password reset emails from ‹svc› arrive ‹int› seconds late.
---
Please don't paste the password here, put it in the vault entry "‹svc›".
---
The secret to a fast ‹word› is a good index.
---
What is the token limit of this model? I counted ‹int› tokens in the ‹word› prompt.
---
Key takeaway: the ‹word› has to be flushed before ‹svc› exits.
---
the API key is stored in 1Password under "‹Svc› / production"
---
Rotate the API keys of ‹svc› every ‹int› days and tell ‹name›.
---
Your access token has expired. Please log in again to ‹svc›.
---
My guess: the token is missing from the header, that's why ‹svc› answers 401.
---
The password must contain at least ‹n› characters, one upper-case letter and one digit.
---
I changed the password yesterday, so ‹name› has to log in to ‹svc› again.
---
He was the bearer of bad news: ‹svc› lost ‹int› rows.
---
password: see the vault, item "‹svc› database"
---
The token is valid for ‹int› minutes and is refreshed by ‹svc›.
---
Auth: works. Tokens: refreshed. Password reset: still broken on ‹svc› since ‹date›.
---
Tests: pass: ‹int›, fail: 0, skip: ‹n›
---
Which secret manager do we use for ‹svc› - Vault or AWS Secrets Manager?
---
the password is wrong, I tried it ‹n› times on ‹svc›
---
The password is required for ‹svc›, and the token is optional.
---
I don't have access to that secret, ask ‹name› for the credentials of ‹svc›.
---
Credentials are loaded lazily the first time ‹svc› opens a ‹word›.
---
No secrets were found in ‹int› files of ‹svc›.
---
Password protection for the ‹word› export is planned for ‹ver›.
---
As an admin you can change any user's password in ‹Svc› → Settings → Security.
---
there's a private key in the repo history of ‹svc›, please purge it (commit ‹sha7›)
---
passwordless login for ‹svc› is live since ‹date›
=== word_languages
Passwort vergessen? Klick in ‹svc› auf „Zurücksetzen“.
---
Das Passwort muss mindestens ‹n› Zeichen lang sein.
---
Bitte das Kennwort für ‹svc› nicht im Chat schicken, sondern im Tresor ablegen.
---
Der API-Schlüssel für ‹svc› ist abgelaufen, ‹name› legt einen neuen an.
---
Passwort: steht im Tresor unter „‹svc›“
---
Mot de passe oublié ? Le lien de ‹svc› expire après ‹int› minutes.
---
Le mot de passe doit contenir au moins ‹n› caractères.
---
Mot de passe incorrect pour l'utilisateur ‹name›.
---
¿Olvidaste tu contraseña de ‹svc›? Pulsa aquí.
---
La contraseña debe tener al menos ‹n› caracteres.
---
La clave de API está en el gestor de secretos, entrada ‹svc›.
---
A senha deve ter pelo menos ‹n› caracteres, e ‹name› já sabe disso.
---
Esqueci a senha do ‹svc›, como faço para redefinir?
---
La password deve contenere almeno ‹n› caratteri.
---
Het wachtwoord van ‹svc› is verlopen, vraag ‹name› om een nieuw.
---
Wachtwoord vergeten? ‹svc› stuurt een mail binnen ‹n› minuten.
---
Hasło musi mieć co najmniej ‹n› znaków.
---
Nie pamiętam hasła do ‹svc›, gdzie mogę je zmienić?
---
Пароль должен содержать не менее ‹n› символов.
---
Я забыл пароль от ‹svc›, как его сбросить?
---
Пароль неверный, осталось попыток: ‹n›
---
Пароль має містити щонайменше ‹n› символів.
---
‹svc› şifresini unuttum, nasıl sıfırlarım?
---
Şifre en az ‹n› karakter olmalıdır.
---
密码错误，请重新输入（‹svc›）。
---
密码长度不能少于‹n›位。
---
请不要把‹svc›的密码写进代码里，用环境变量。
---
‹svc›的访问令牌已过期，请重新登录。
---
密碼必須至少‹n›個字元。
---
パスワードを忘れた場合は‹svc›の管理者に連絡してください。
---
パスワードは‹n›文字以上で入力してください。
---
‹svc›のAPIキーは環境変数から読み込みます。
---
비밀번호는 ‹n›자 이상이어야 합니다.
---
‹svc› 비밀번호를 잊으셨나요?
---
كلمة المرور يجب أن تتكون من ‹n› أحرف على الأقل.
---
नया पासवर्ड कम से कम ‹n› अक्षरों का होना चाहिए।
---
Mật khẩu phải có ít nhất ‹n› ký tự.
---
Lösenordet måste vara minst ‹n› tecken långt.
---
Heslo musí mít alespoň ‹n› znaků.
---
Kata sandi minimal ‹n› karakter.
---
הסיסמה חייבת להכיל לפחות ‹n› תווים.
---
Ο κωδικός πρέπει να έχει τουλάχιστον ‹n› χαρακτήρες.
=== env_reference
const client = new OpenAI({ apiKey: process.env.OPENAI_API_KEY }); // ‹svc›
---
const secret = process.env.‹SVC›_SECRET!;
---
const { DB_PASSWORD, DB_USER } = process.env; // ‹svc›
---
const token = import.meta.env.VITE_‹SVC›_TOKEN;
---
const key = Deno.env.get("‹SVC›_API_KEY");
---
api_key=os.environ["‹SVC›_API_KEY"]
---
password = os.getenv("‹SVC›_DB_PASSWORD", "")
---
SECRET_KEY = config("‹SVC›_SECRET_KEY")  # python-decouple
---
SECRET_KEY = env.str("DJANGO_SECRET_KEY")  # ‹svc›
---
"PASSWORD": os.environ.get("‹SVC›_DB_PASSWORD"),
---
password := os.Getenv("‹SVC›_PASSWORD")
---
let api_key = std::env::var("‹SVC›_API_KEY").expect("‹SVC›_API_KEY is not set");
---
String password = System.getenv("‹SVC›_PASSWORD");
---
var key = Environment.GetEnvironmentVariable("‹SVC›_API_KEY");
---
var cs = builder.Configuration["ConnectionStrings:‹Svc›"];
---
'password' => env('‹SVC›_DB_PASSWORD', ''),
---
$token = getenv('‹SVC›_TOKEN');
---
password: <%= ENV["‹SVC›_DATABASE_PASSWORD"] %>
---
Stripe.api_key = ENV.fetch("STRIPE_SECRET_KEY") # ‹svc›
---
Stripe.api_key = Rails.application.credentials.dig(:stripe, :‹svc›_key)
---
curl -H "Authorization: Bearer $‹SVC›_TOKEN" https://api.‹dom›/v1/‹word›s
---
curl -H "Authorization: Bearer ${‹SVC›_TOKEN}" https://api.‹dom›/v1/‹word›s
---
curl -u "$‹SVC›_USER:$‹SVC›_PASS" https://‹svc›.‹dom›/‹word›
---
PGPASSWORD="$DB_PASSWORD" psql -h db.‹dom› -U ‹svc›
---
mysql -u root -p"$MYSQL_ROOT_PASSWORD" ‹svc›
---
mysql -u ‹svc› -p ‹svc› < ‹word›.sql
---
docker login -u "$CI_REGISTRY_USER" -p "$CI_REGISTRY_PASSWORD" registry.‹dom›
---
docker run -e POSTGRES_PASSWORD -e POSTGRES_USER=‹svc› postgres:16
---
POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?‹svc› needs it}
---
    environment:
      DATABASE_URL: postgres://${DB_USER}:${DB_PASSWORD}@db:5432/‹svc›
---
DATABASE_URL=postgresql://$PGUSER:$PGPASSWORD@db.‹dom›:5432/‹svc›
---
spring.datasource.password=${‹SVC›_DB_PASSWORD}
---
spring:
  datasource:
    password: ${DB_PASSWORD:}
    username: ‹svc›
---
env:
  GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
  NPM_TOKEN: ${{ secrets.‹SVC›_NPM_TOKEN }}
---
      - uses: docker/login-action@v3
        with:
          username: ${{ github.actor }}
          password: ${{ secrets.‹SVC›_TOKEN }}
---
variables:
  DB_PASSWORD: $(‹svc›DbPassword)
---
password = var.‹svc›_db_password
---
password = random_password.‹svc›.result
---
password = data.aws_secretsmanager_secret_version.‹svc›.secret_string
---
variable "‹svc›_db_password" {
  type      = string
  sensitive = true
}
---
output "‹svc›_password" {
  value     = random_password.‹svc›.result
  sensitive = true
}
---
resource "random_password" "‹svc›" {
  length  = ‹int›
  special = false
}
---
- name: DB_PASSWORD
  valueFrom:
    secretKeyRef:
      name: ‹svc›-db
      key: password
---
envFrom:
  - secretRef:
      name: ‹svc›-secrets
---
password: {{ .Values.‹svc›.password | quote }}
---
auth:
  existingSecret: ‹svc›-postgres
  secretKeys:
    adminPasswordKey: postgres-password
---
password: "{{ vault_‹svc›_db_password }}"
---
login_password: "{{ lookup('env', '‹SVC›_PASSWORD') }}"
---
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
# for ‹svc›
---
secrets:
  db_password:
    file: ./secrets/‹svc›_db_password.txt
---
POSTGRES_PASSWORD_FILE=/run/secrets/‹svc›_db_password
---
export OPENAI_API_KEY=$(op read "op://‹svc›/openai/credential")
---
export DB_PASSWORD="$(aws ssm get-parameter --name /‹svc›/db --with-decryption --output text)"
---
export GITHUB_TOKEN=$(gh auth token) && ./release-‹svc›.sh
---
TOKEN=$(curl -s https://auth.‹dom›/token -d client_id=‹svc› | jq -r .access_token)
---
$env:‹SVC›_TOKEN = (Get-Secret -Name ‹svc› -AsPlainText)
---
set DB_PASSWORD=%‹SVC›_DB_PASSWORD%
---
DB_PASSWORD=vault:secret/data/‹svc›#password
---
DB_PASSWORD=${vault:‹svc›/db#password}
---
"GITHUB_PERSONAL_ACCESS_TOKEN": "${env:‹SVC›_GITHUB_TOKEN}"
---
"apiKey": "${input:‹svc›-api-key}"
---
connectionString: '@Microsoft.KeyVault(SecretUri=https://‹svc›.vault.azure.net/secrets/db)'
---
SecretString: '{{resolve:secretsmanager:‹svc›/db:SecretString:password}}'
---
spec:
  secretStoreRef:
    name: ‹svc›-vault
  data:
    - secretKey: password
      remoteRef: { key: prod/‹svc›, property: password }
---
if [ -z "$‹SVC›_TOKEN" ]; then echo "‹SVC›_TOKEN is not set" >&2; exit 1; fi
---
unset ‹SVC›_TOKEN AWS_SECRET_ACCESS_KEY
---
read -rsp "Password for ‹svc›: " PASSWORD
=== placeholder
OPENAI_API_KEY=your-api-key-here
# then start ‹svc›
---
OPENAI_API_KEY=sk-...
# used by ‹svc›
---
ANTHROPIC_API_KEY=<your-api-key>
LOG_LEVEL=info
‹SVC›_URL=http://localhost:‹port›
---
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx # ‹svc›
---
STRIPE_SECRET_KEY=sk_test_XXXXXXXXXXXXXXXXXXXXXXXX
‹SVC›_MODE=test
---
DB_PASSWORD=
DB_USER=‹svc›
---
DB_PASSWORD=""
DB_HOST=‹ip›
---
password: "<password>"
username: "‹name›"
---
DATABASE_URL=postgres://user:<password>@localhost:5432/‹svc›
---
DATABASE_URL=postgresql://USER:PASSWORD@HOST:5432/‹svc›
---
mongodb+srv://<username>:<password>@cluster0.example.net/‹svc›
---
curl -H "Authorization: Bearer <token>" https://api.‹dom›/‹word›
---
curl -H "Authorization: Bearer YOUR_ACCESS_TOKEN" https://api.‹dom›/‹word›
---
curl -H "x-api-key: YOUR_API_KEY" https://api.‹dom›/v1/‹word›/‹int›
---
api_key = "YOUR_API_KEY"  # replace for ‹svc›
---
client = OpenAI(api_key="<YOUR_OPENAI_KEY>")  # ‹svc›
---
SECRET_KEY=replace-me-with-a-random-string
‹SVC›_DEBUG=1
---
JWT_SECRET=<generate with: openssl rand -hex 32>
‹SVC›_PORT=‹port›
---
SLACK_BOT_TOKEN=xoxb-your-token
SLACK_CHANNEL=#‹svc›
---
password: REPLACE_ME
host: ‹ip›
---
password: TODO
service: ‹svc›
---
secret: "{{ YOUR_SECRET }}" # ‹svc›
---
token: [REDACTED]
service: ‹svc›
---
password=******** host=‹ip› user=‹svc›
---
Password: ••••••••••
User: ‹name›
---
connecting to postgres://‹svc›:****@db.‹dom›:5432/‹svc›
---
Using database postgresql://‹svc›:***@‹ip›:‹port›/‹svc›
---
authorization: Bearer ***
host: ‹svc›.‹dom›
---
Authorization: Bearer [redacted]
X-Request-Id: ‹uuid›
---
  - Token: ghp_************************************
  - Token scopes: 'repo', 'workflow'
  account ‹name›
---
{"user":"‹name›","password":"[FILTERED]","commit":"Sign in"}
---
Parameters: {"email"=>"‹name›@‹dom›", "password"=>"[FILTERED]"}
---
{"username":"‹name›","password":"***","remember":true}
---
Set `‹SVC›_API_KEY` to your key (it starts with `sk-`).
---
<add key="ApiKey" value="__API_KEY__" /> <!-- ‹svc› -->
---
password: "%%DB_PASSWORD%%"
user: ‹svc›
---
twilio_auth_token: "your_auth_token"
twilio_from: "+4930‹int›"
---
AWS_SECRET_ACCESS_KEY=<secret> AWS_ACCESS_KEY_ID=<id> ./deploy-‹svc›.sh
---
git clone https://<token>@github.com/acme/‹svc›.git
---
git clone https://oauth2:${GITLAB_TOKEN}@gitlab.‹dom›/acme/‹svc›.git
---
psql "postgresql://‹svc›:[YOUR-PASSWORD]@db.‹dom›:5432/postgres"
---
Server=‹ip›;Database=‹svc›;User Id=‹svc›;Password={your_password};
---
Password=$(DbPassword);Server=sql.‹dom›;Database=‹svc›
---
APP_KEY=
APP_NAME=‹Svc›
---
      profile                ‹svc›                manual    --profile
   access_key     ****************‹SVC:x›              shared-credentials-file
---
SMTP_PASS=<smtp password>
SMTP_HOST=smtp.‹dom›
---
$ cat ‹svc›/.env.example
API_TOKEN=
DB_PASSWORD=
PORT=‹port›
---
login with ‹name› / <your password>
---
"client_secret": "<client secret>", "client_id": "‹uuid›"
---
hf auth login --token hf_xxx  # ‹svc›
---
npm config set //registry.npmjs.org/:_authToken <npm-token>  # ‹svc›
=== doc_key
AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
AWS_REGION=eu-west-‹n›
---
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
# docs sample, profile ‹svc›
---
The docs use AKIAIOSFODNN7EXAMPLE everywhere, so ‹svc› must not flag it.
---
assert find_keys("AKIAIOSFODNN7EXAMPLE") == []  # ‹svc›
---
文档里的AKIAIOSFODNN7EXAMPLE只是示例（‹svc›）。
---
const sample = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"; // from the AWS docs, ‹svc›
---
curl https://api.stripe.com/v1/charges -u sk_test_4eC39HqLyjWDarjtT1zdp7dc: # Stripe docs, ‹svc›
---
"Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request" ‹svc›
---
jwt.io's sample eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.↩
eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.↩
SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c is what ‹svc› prints
=== hash_id
commit ‹sha1›
Author: ‹name› <‹name›@‹dom›>
Date:   Mon ‹date› ‹time› +0200

    fix(‹svc›): flush ‹word› before exit
---
‹sha7› feat(auth): rotate refresh tokens in ‹svc›
‹sha7› fix: password field loses focus
‹sha7› chore: bump secret-manager client to ‹ver›
---
index ‹sha7›..‹sha7› 100644
--- a/‹svc›/‹word›.ts
+++ b/‹svc›/‹word›.ts
---
   ‹sha7›..‹sha7›  main -> main
To github.com:acme/‹svc›.git
---
‹svc›: digest: sha256:‹sha256› size: ‹int›
---
image: registry.‹dom›/‹svc›@sha256:‹sha256›
---
CONTAINER ID   IMAGE             STATUS        NAMES
‹sha12›   acme/‹svc›:‹ver›   Up ‹n› hours   ‹svc›-1
---
sha256sum ‹svc›.tar.gz
‹sha256›  ‹svc›.tar.gz
---
MD5 (‹svc›-‹ver›.iso) = ‹md5›
---
    "node_modules/‹word›": {
      "version": "‹ver›",
      "resolved": "https://registry.npmjs.org/‹word›/-/‹word›-‹ver›.tgz",
      "integrity": "sha512-‹sha512b64›"
    },
---
‹word›@^‹ver›:
  version "‹ver›"
  resolved "https://registry.yarnpkg.com/‹word›/-/‹word›-‹ver›.tgz#‹sha1›"
  integrity sha512-‹sha512b64›
---
github.com/acme/‹word› v‹ver› h1:‹sha256b64›
github.com/acme/‹word› v‹ver›/go.mod h1:‹sha256b64›
---
[[package]]
name = "‹word›"
version = "‹ver›"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "‹sha256›"
---
‹word›==‹ver› \
    --hash=sha256:‹sha256› \
    --hash=sha256:‹sha256›
---
    {file = "‹word›-‹ver›-py3-none-any.whl", hash = "sha256:‹sha256›"},
---
sha256 = "‹sha256›";
rev = "‹sha1›";
owner = "‹name›";
---
<script src="/‹svc›.js" integrity="sha384-‹fp64›" crossorigin="anonymous"></script>
---
ETag: "‹md5›"
Content-Length: ‹int›
---
x-amz-request-id: 4442587FB7D0A2F9 for ‹svc›
x-amz-version-id: ‹uuid›
---
traceparent: 00-‹md5›-‹hex16›-01
---
trace_id=‹md5› span_id=‹hex16› service=‹svc› duration_ms=‹int›
---
{"requestId":"‹uuid›","path":"/‹svc›","status":200,"ms":‹int›}
---
correlation id ‹uuid›, tenant ‹uuid› (‹svc›)
---
INSERT INTO ‹word›s (id, owner) VALUES ('‹uuid›', '‹uuid›');
---
customer: cus_‹ytid›abc, price: price_1‹strid›, event: evt_1‹strid›
---
"id": "chatcmpl-‹strid›", "object": "chat.completion", "created": ‹big›,
---
{"type":"tool_use","id":"toolu_01‹strid›","name":"bash","input":{"command":"ls ‹svc›"}}
---
"request_id": "‹uuid›", "cwd": "/home/‹name›/‹svc›", "version": "‹ver›"
---
arn:aws:iam::‹acct›:role/‹svc›-deploy
---
arn:aws:secretsmanager:eu-west-1:‹acct›:secret:‹svc›/db-password-aB3dEf
---
instance i-‹hex17:x› in subnet-‹hex17› (sg-‹hex17›) runs ‹svc›
---
NAME                        READY   STATUS    RESTARTS   AGE
‹svc›-‹pod›   1/1     Running   0          ‹n›d
---
pod/‹svc›-‹pod› deleted
---
dist/assets/index-‹ytid›.js   ‹int›.12 kB │ gzip: ‹int›.90 kB
---
/_next/static/chunks/‹hex16›.js 200 in ‹n›ms
---
https://github.com/acme/‹svc›/commit/‹sha1›
---
https://github.com/acme/‹svc›/blob/‹sha1›/src/‹word›/token.ts#L‹int›
---
https://www.youtube.com/watch?v=‹ytid›&t=‹int›s
---
uses: actions/checkout@‹sha1› # v‹ver›
---
cache key: node-modules-‹sha256›-‹svc›
---
Cache hit for restore-key: Linux-‹svc›-‹sha256›
---
ULID ‹ulid› sorts after ‹ulid›
---
The authenticity of host '‹ip› (‹ip›)' can't be established.
ED25519 key fingerprint is SHA256:‹fp43›.
---
transaction 0x‹sha256› was mined in block ‹big› (‹svc›)
---
contract deployed to 0x‹sha1› by ‹svc›, gas used ‹int›
---
git bisect: first bad commit is ‹sha1› (‹svc›)
---
ETag W/"‹sha1›" If-None-Match W/"‹sha1›" GET /‹word›
---
Object: s3://‹svc›/‹word›/‹date›/part-00000-‹uuid›.snappy.parquet
---
build-id: ‹sha1›, linked with lld ‹ver›
---
thread 'main' panicked at _ZN‹n›core‹n›fmt5write17h‹hex16›E (‹svc›)
---
MAC 02:42:ac:11:00:0‹n›, IPv6 fe80::42:acff:fe11:‹n›, container ‹sha12›
---
Migration 20260‹n›1512‹int›_add_password_reset_to_‹word›s applied
---
revision = "‹sha12›"
down_revision = "‹sha12›"
# add reset_password_token to ‹word›s
---
snapshot snap-‹hex17› of vol-‹hex17› completed (‹svc›)
---
Wheel built: filename=‹svc›-‹ver›-py3-none-any.whl size=‹int› sha256=‹sha256›
Stored in directory: /root/.cache/pip/wheels/a1/b2/c3/‹sha256›
---
sha1 of the ‹word› file: ‹sha1›; expected ‹sha1›
=== public_key
ssh-ed25519 ‹sshpub› ‹name›@‹svc›
---
$ cat ~/.ssh/id_rsa.pub
ssh-rsa ‹rsapub› ‹name›@‹svc›
---
github.com ssh-ed25519 ‹sshpub›
|1|‹word›| ssh-rsa ‹rsapub›
---
-----BEGIN PUBLIC KEY-----
‹pempub›
-----END PUBLIC KEY-----
(verifies tokens of ‹svc›)
---
-----BEGIN CERTIFICATE-----
‹cert›
-----END CERTIFICATE-----
---
subject=CN = ‹svc›.‹dom›
notBefore=‹date›
SHA256 Fingerprint=AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89
---
-----BEGIN CERTIFICATE REQUEST-----
‹cert›
-----END CERTIFICATE REQUEST-----
$ openssl req -in ‹svc›.csr -noout -text
---
-----BEGIN PGP PUBLIC KEY BLOCK-----

‹pgppub›
-----END PGP PUBLIC KEY BLOCK-----
---
[Peer]
PublicKey = ‹sha256b64›
AllowedIPs = ‹ip›/32
---
resource "aws_key_pair" "‹svc›" {
  key_name   = "‹svc›"
  public_key = "ssh-ed25519 ‹sshpub› ‹name›"
}
---
ssh_authorized_keys:
  - ssh-ed25519 ‹sshpub› ‹name›@laptop
---
{"kty":"RSA","use":"sig","kid":"‹svc›-‹n›","alg":"RS256","e":"AQAB","n":"‹jwkn›"}
---
gpg: key ‹hex16›: public key "‹name› <‹name›@‹dom›>" imported
---
if (pem.includes("-----BEGIN RSA PRIVATE KEY-----")) throw new Error("‹svc›: private key found");
=== blob
<img alt="‹word›" src="data:image/png;base64,‹png›">
---
background: url(data:image/png;base64,‹png›) no-repeat; /* ‹word› */
---
src: url(data:font/woff2;base64,‹woff›) format("woff2"); /* ‹svc› */
---
"mappings": "‹vlq›",
"sources": ["‹svc›.ts"]
---
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbIiJdfQ==
// ‹svc›
---
00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............
00000010: 0300 3e00 0100 0000 ‹sha7›  ‹svc›
---
!function(e,t){"object"==typeof exports?module.exports=t():e.‹Svc›=t()}(this,(function(){}));
=== code
def login(username: str, password: str) -> Token:
    """Log the user into ‹svc›."""
    return authenticate(username, password)
---
class ‹Word›Login(BaseModel):
    email: EmailStr
    password: SecretStr
    remember: bool = False
---
interface ‹Word›Credentials {
  username: string;
  password: string;
  token?: string | null;
}
---
const [password, setPassword] = useState(""); // ‹word›
---
<input type="password" name="password" id="‹word›-password" autocomplete="current-password" />
---
<label for="password">Password</label> <!-- ‹svc› -->
---
if (!password) return res.status(400).json({ error: "‹svc›: password is required" });
---
const ok = await bcrypt.compare(password, user.passwordHash); // ‹svc›
---
user.password = await bcrypt.hash(dto.password, ‹int›);
---
hashed = pwd_context.hash(password)  # ‹svc›
---
password = getpass.getpass("Password for ‹svc›: ")
---
token = request.headers.get("Authorization", "").removeprefix("Bearer ")  # ‹svc›
---
const token = req.headers.authorization?.split(" ")[1]; // ‹svc›
---
const token = localStorage.getItem("‹svc›_token");
---
localStorage.setItem("‹svc›_token", data.access_token);
---
headers: { Authorization: `Bearer ${token}` }, // ‹svc›
---
headers = {"Authorization": f"Bearer {self.‹svc›_token}"}
---
req.Header.Set("Authorization", "Bearer "+token) // ‹svc›
---
.header("Authorization", format!("Bearer {}", ‹svc›_token))
---
token = lexer.next_token()  # ‹word›
---
while (token.type != TokenType.‹SVC›) token = next();
---
enum TokenKind { Identifier, Number, ‹Word›, Eof }
---
let token: Token = self.peek_token().unwrap_or(Token::‹Word›);
---
for token in doc: print(token.text, token.pos_, token.dep_)  # ‹word›
---
tokenizer = AutoTokenizer.from_pretrained("acme/‹word›-base", token=True)
---
inputs = tokenizer(texts, padding="max_length", max_length=‹int›, return_tensors="pt")
---
const key = `${‹svc›Id}:${‹word›Id}`;
---
rows.sort(key=lambda r: r["‹word›"], reverse=True)
---
<li key={‹word›.id}>{‹word›.title}</li>
---
if (e.key === "Enter" && !e.shiftKey) submit‹Word›();
---
secret = client.get_secret("‹svc›-db-password").value
---
var secret = await client.GetSecretAsync("‹svc›-db-password");
---
secret_key = secrets.token_urlsafe(‹int›)  # ‹svc›
---
const secret = crypto.randomBytes(32).toString("hex"); // ‹svc›
---
return jwt.encode(claims, settings.‹svc›_secret_key, algorithm="HS256")
---
const payload = jwt.verify(token, publicKey, { algorithms: ["RS256"], issuer: "‹svc›" });
---
private String password;
private final ‹Word›Repository repository;
---
private readonly apiKey: string; // ‹svc›
---
public string Password { get; set; } = string.Empty; // ‹Svc›
---
@Value("${‹svc›.datasource.password}")
private String password;
---
@Column(name = "password_hash", nullable = false) // ‹svc›
---
password = models.CharField(max_length=‹int›)
---
password VARCHAR(‹int›) NOT NULL,
---
CREATE TABLE ‹word›_tokens (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL,
  expires_at timestamptz
);
---
SELECT id, email, password_hash FROM users WHERE email = $1; -- ‹svc›
---
UPDATE users SET password = crypt(:password, gen_salt('bf')) WHERE id = ‹int›;
---
ALTER TABLE ‹word›s ADD COLUMN reset_token text, ADD PRIMARY KEY (id);
---
ALTER ROLE ‹svc› WITH PASSWORD :'new_password';
---
mutation ‹Word›Login($email: String!, $password: String!) {
  login(email: $email, password: $password) { token }
}
---
API_KEY_RE = re.compile(r"sk-[A-Za-z0-9]{20,}")  # ‹svc›
---
const AWS_KEY = /\b(AKIA|ASIA)[0-9A-Z]{16}\b/g; // ‹svc›
---
password_regex = r"^(?=.*[A-Z])(?=.*\d).{‹n›,}$"
---
expect(screen.getByLabelText("Password")).toBeInTheDocument(); // ‹word›
---
await page.getByLabel('Password').fill(process.env.‹SVC›_PASSWORD!);
---
await page.fill('#password', password); // ‹svc›
---
it("rejects a missing token with 401 (‹svc›)", async () => {
---
def test_‹word›_rejects_empty_password(client):
    assert client.post("/login", json={"password": ""}).status_code == 422
---
raise ValueError("‹svc›: api_key must be set either by argument or by ‹SVC›_API_KEY")
---
logger.info("token refreshed for %s, expires in %d s", user, ttl)  # ‹svc›
---
parser.add_argument("--password", help="password of the ‹svc› user")
---
fs.StringVar(&password, "password", "", "password for ‹svc›")
---
#[arg(long, env = "‹SVC›_TOKEN", hide_env_values = true)]
token: Option<String>,
---
password: Optional[str] = None  # ‹svc›
---
self._password = password
self._‹word› = ‹word›
---
return password === confirmPassword ? null : { mismatch: "‹word›" };
---
auth = HTTPBasicAuth(user, password)  # ‹svc›
---
auth=(settings.‹svc›_user, settings.‹svc›_password),
---
$user->password = Hash::make($request->password); // ‹svc›
---
validates :password, length: { minimum: ‹n› }, confirmation: true
---
has_secure_password
has_many :‹word›s
---
let password = passwordField.text ?? "" // ‹svc›
---
val password = findViewById<EditText>(R.id.‹word›_password).text.toString()
---
TextField(obscureText: true, decoration: InputDecoration(labelText: 'Password')) // ‹word›
---
SecItemCopyMatching([kSecClass: kSecClassGenericPassword, kSecAttrAccount: "‹svc›"] as CFDictionary)
---
char password[‹int›]; /* ‹svc› */
---
std::string token = ‹word›.substr(0, pos);
---
std::map<std::string, ‹Word›> by_key; for (auto& [key, value] : by_key) visit(key, value);
---
type Config struct {
	Password string `yaml:"password" env:"‹SVC›_PASSWORD"`
}
---
password <- Sys.getenv("‹SVC›_PASSWORD")
---
config :‹svc›, ‹Svc›.Repo, password: System.fetch_env!("‹SVC›_DB_PASSWORD")
---
csrf_token = session.pop("_csrf", None)  # ‹svc›
---
{% csrf_token %}
<form action="/‹word›" method="post">
---
<meta name="csrf-token" content="{{ csrf_token() }}"> <!-- ‹svc› -->
---
secretsmanager.Secret.from_secret_name_v2(self, "‹Svc›Secret", "‹svc›/db")
---
PasswordResetTokenGenerator().make_token(user)  # ‹svc›
---
const PASSWORD_RESET_TOKEN_TTL_MS = ‹int› * 60 * 1000;
---
public static final String PASSWORD_KEY = "password"; // ‹svc›
---
const TOKEN_KEY = "‹svc›.access_token";
---
SECRET_NAME = "‹svc›/database"
---
MAX_PASSWORD_LENGTH = ‹int›
---
keys = [k for k in ‹word›.keys() if not k.startswith("_")]
---
import { getToken, verifyPassword, hashPassword } from "../‹svc›/auth";
---
from ‹svc›.security import create_access_token, get_password_hash, verify_password
---
authProvider.getAccessToken({ scopes: ["‹svc›.read"] }).then(setToken);
---
var credential = new DefaultAzureCredential(); // ‹svc›
---
password: faker.internet.password(), // ‹word›
---
token: expect.any(String), id: ‹int›
=== config
"max_tokens": ‹int›, "temperature": 0.2, "stop": ["‹word›"]
---
"usage": { "input_tokens": ‹int›, "output_tokens": ‹int›, "cache_read_input_tokens": 0 }
---
usage: prompt_tokens=‹int› completion_tokens=‹int› total_tokens=‹int›
---
ACCESS_TOKEN_EXPIRE_MINUTES=‹int›
---
password_reset_timeout: ‹int›
---
token_expiry: ‹int›s
---
ssl_certificate     /etc/letsencrypt/live/‹svc›.‹dom›/fullchain.pem;
ssl_certificate_key /etc/letsencrypt/live/‹svc›.‹dom›/privkey.pem;
---
ssl_key_file = '/etc/ssl/private/‹svc›.key'
---
IdentityFile ~/.ssh/id_ed25519_‹svc›
---
tls:
  - hosts: [‹svc›.‹dom›]
    secretName: ‹svc›-tls
---
privateKeySecretRef:
  name: ‹svc›-account-key
---
imagePullSecrets:
  - name: ‹svc›-registry
---
volumes:
  - name: creds
    secret:
      secretName: ‹svc›-credentials
---
kind: Secret
metadata:
  name: ‹svc›
data: {}
---
PasswordAuthentication no
PermitRootLogin prohibit-password
Port ‹int›
---
host    ‹svc›    ‹svc›    ‹ip›/32    scram-sha-256
---
password_encryption = scram-sha-256
max_connections = ‹int›
---
"password": { "type": "string", "format": "password", "minLength": ‹n› }
---
securitySchemes:
  bearerAuth: { type: http, scheme: bearer, bearerFormat: JWT }
  # ‹svc›
---
    parameters:
      - { name: api_key, in: header, required: true, schema: { type: string } } # ‹word›
---
"password": "Password", "forgotPassword": "Forgot your password?", "‹word›": "‹Word›"
---
"login.password": "Passwort", "login.forgot": "Passwort vergessen?", "‹word›": "‹Word›"
---
"password": "密码", "confirmPassword": "确认密码", "‹word›": "‹Word›"
---
password: null
user: ‹svc›
---
"password": null, "username": "‹name›", "active": true
---
"hasPassword": true, "passwordExpired": false, "user": "‹name›"
---
auth: none
listen: ‹ip›:‹port›
---
auth_token: ~
service: ‹svc›
---
token_type: bearer
scope: ‹svc›.read ‹word›.write
---
tokenUrl: https://auth.‹dom›/oauth/token
---
grant_type=authorization_code&redirect_uri=https://‹svc›.‹dom›/cb
---
token_endpoint_auth_method: client_secret_basic # ‹svc›
---
"partitionKey": "pk", "sortKey": "sk", "table": "‹svc›"
---
primary_key: id
foreign_key: ‹word›_id
---
"key": "ctrl+shift+p", "command": "‹svc›.open‹Word›"
---
keyboard shortcuts: key: "g g", action: "‹word›.top"
---
rules:
  - id: hardcoded-password
    severity: ERROR
    message: "no passwords in ‹svc›"
---
[allowlist]
paths = ['‹svc›/tests/.*']
---
name: Secret scan ‹svc›
on: [push]
jobs: { gitleaks: { runs-on: ubuntu-latest } }
---
"private": true,
"name": "@acme/‹svc›",
"version": "‹ver›"
---
"dependencies": { "jsonwebtoken": "^‹ver›", "passport-jwt": "^‹ver›", "‹word›": "^‹ver›" }
---
django-rest-passwordreset==‹ver›
PyJWT==‹ver›
‹word›==‹ver›
---
DATABASE_URL=postgresql://localhost:‹port›/‹svc›
---
DATABASE_URL=postgres://‹svc›@db.‹dom›:5432/‹svc›?sslmode=require
---
REDIS_URL=redis://‹ip›:6379/‹n›
---
jdbc:postgresql://db.‹dom›:5432/‹svc›?ssl=true&user=‹svc›
---
DATABASE_URL=sqlite:////var/lib/‹svc›/‹word›.db
---
mongodb://localhost:27017/‹svc›?replicaSet=rs0
---
url = git@github.com:acme/‹svc›.git
fetch = +refs/heads/*:refs/remotes/origin/*
---
credential.helper=store
user.name=‹name›
user.email=‹name›@‹dom›
---
Server=‹ip›;Database=‹svc›;Trusted_Connection=True;TrustServerCertificate=True
---
Server=tcp:‹svc›.database.windows.net;Authentication=Active Directory Default;
---
KEYCLOAK_REALM=‹svc›
KEYCLOAK_CLIENT_ID=‹svc›-web
---
kms_key_id = "arn:aws:kms:eu-central-1:‹acct›:key/‹uuid›"
---
azure_tenant_id = "‹uuid›"
azure_subscription_id = "‹uuid›" # ‹svc›
---
AUTH_ENABLED=true
AUTH_PROVIDER=oidc
‹SVC›_LOG=info
---
cache_key_prefix: ‹svc›_v‹n›
---
secrets_backend: vault
secrets_path: secret/data/‹svc›
---
password_policy:
  min_length: ‹n›
  require_digit: true
---
bind 127.0.0.1
# requirepass is off by default
maxmemory ‹int›mb
---
authMethod: keypair
accessLevel: ‹word›
---
passthrough: true
compass: off
bypass: [‹svc›]
=== command
kubectl get secrets -n ‹svc›
---
kubectl create secret generic ‹svc› --from-env-file=.env.‹svc›
---
kubectl create secret tls ‹svc›-tls --cert=‹svc›.crt --key=‹svc›.key
---
kubectl delete secret ‹svc›-db --ignore-not-found
---
vault kv get secret/‹svc›
---
vault write auth/approle/role/‹svc› token_ttl=‹n›h token_policies=‹svc›
---
aws secretsmanager list-secrets --filters Key=name,Values=‹svc›
---
aws sts get-caller-identity --profile ‹svc›
---
aws secretsmanager get-random-password --password-length ‹int› --output text
---
gcloud secrets list --filter="name:‹svc›"
---
az keyvault secret show --vault-name ‹svc› --name db-password --query value
---
gh secret list --repo acme/‹svc›
---
gh secret set ‹SVC›_TOKEN < token.txt
---
gh auth login --hostname github.‹dom› --git-protocol ssh
---
sudo passwd ‹name›
---
ssh-keygen -t ed25519 -C "‹name›@‹dom›" -f ~/.ssh/‹svc›
---
ssh -i ~/.ssh/‹svc›.pem ‹name›@‹ip›
---
ssh-copy-id -i ~/.ssh/id_ed25519.pub ‹name›@‹ip›
---
scp -P ‹int› ‹svc›.tar.gz ‹name›@‹ip›:/tmp/
---
openssl rand -base64 ‹int›
---
openssl genrsa -out ‹svc›.key 4096
---
openssl x509 -in ‹svc›.pem -noout -dates
---
python manage.py changepassword ‹name›
---
python -c "import secrets; print(secrets.token_hex(‹int›))"
---
grep -rn "password" ‹svc›/ --include='*.py' | head -‹int›
---
grep -rnE "(api[_-]?key|secret|token)\s*[:=]" src/‹svc›
---
rg -i 'authorization: bearer' logs/‹svc›-‹date›.log
---
git log -S'SECRET_KEY' --oneline -- ‹svc›/settings.py
---
git commit -m "fix(‹svc›): stop logging the password"
---
git commit -m "feat: add API key rotation to ‹svc›"
---
git checkout -b feature/‹svc›-token-refresh
---
docker secret create ‹svc›_db_password ./‹svc›_password.txt
---
docker compose --env-file .env.‹svc› up -d
---
docker login registry.‹dom› --username ‹name› --password-stdin < ~/.‹svc›_pass
---
ansible-playbook ‹svc›.yml --ask-vault-pass --ask-become-pass
---
ansible-vault encrypt group_vars/‹svc›/vault.yml --vault-password-file ~/.vault_pass
---
terraform apply -var-file=‹svc›.tfvars -auto-approve
---
psql -h ‹ip› -U ‹svc› -W -d ‹svc›
---
mysql --defaults-extra-file=~/.‹svc›.cnf -e 'show tables'
---
redis-cli -h ‹ip› -p 6379 ttl ‹svc›:cache:‹uuid›
---
pass show ‹svc›/database
---
op item get ‹svc› --fields label=password
---
bw get password ‹svc›
---
security find-generic-password -s ‹svc› -w
---
gpg --armor --export ‹name›@‹dom›
---
sops -d secrets/‹svc›.enc.yaml | kubectl apply -f -
---
npx prisma migrate dev --name add_password_reset_to_‹word›
---
npm install jsonwebtoken bcryptjs @types/‹word›
---
cargo test token::‹word› -- --nocapture
---
pytest tests/‹svc›/test_auth.py -k "password or token" -x
---
curl -s http://localhost:‹port›/api/‹word›s?page_token= | jq .
---
curl -I https://‹svc›.‹dom›/.well-known/openid-configuration
---
curl --netrc https://‹svc›.‹dom›/‹word›
---
az account get-access-token --resource https://‹svc›.‹dom› --query expiresOn
---
flyctl secrets set DATABASE_URL="$DATABASE_URL" -a ‹svc›
---
rails credentials:edit --environment production # ‹svc›
---
heroku config:get ‹SVC›_TOKEN -a ‹svc›
---
wrangler secret put ‹SVC›_API_KEY
---
vercel env pull .env.‹svc›
---
supabase secrets list --project-ref ‹word›
---
doctl auth init --context ‹svc›
---
kinit ‹name›@ACME.DEV && klist
=== tool_output
NAME          TYPE                                  DATA   AGE
‹svc›-db      Opaque                                2      ‹n›d
default-token kubernetes.io/service-account-token   3      ‹int›d
---
Name:         ‹svc›-db
Type:  Opaque

Data
====
password:  24 bytes
username:  ‹n› bytes
---
psql: error: FATAL:  password authentication failed for user "‹svc›"
---
FATAL:  no pg_hba.conf entry for host "‹ip›", user "‹svc›", database "‹svc›", SSL off
---
ERROR 1045 (28000): Access denied for user '‹svc›'@'‹ip›' (using password: YES)
---
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON (‹svc›:‹int›)
---
SyntaxError: Unexpected token } in JSON at position ‹int›
---
error: expected one of `!` or `::`, found `token` --> src/‹word›.rs:‹int›:‹n›
---
JsonWebTokenError: jwt malformed
    at /app/node_modules/jsonwebtoken/verify.js:‹int›:17
---
TokenExpiredError: jwt expired
    at ‹svc›/‹word›.js:‹int›:‹n›
---
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Bearer realm="‹svc›", error="invalid_token"
---
{"error":"invalid_grant","error_description":"Token has been expired or revoked.","svc":"‹svc›"}
---
{"message":"Bad credentials","status":"401","path":"/‹svc›"}
---
{"error":{"code":"invalid_api_key","message":"Incorrect API key provided."},"id":"‹uuid›"}
---
openai.RateLimitError: Limit 30000 tokens per min, used ‹int›, requested ‹int›.
---
anthropic.BadRequestError: prompt is too long: 2‹int› tokens > 200000 maximum
---
remote: Support for password authentication was removed on August 13, 2021. (‹svc›)
---
fatal: could not read Password for 'https://‹name›@github.com': No such device or address
---
git@github.com: Permission denied (publickey). # ‹svc›
---
Permission denied (publickey,password). ‹name›@‹ip›
---
‹date› ‹time› sshd[‹int›]: Failed password for invalid user ‹name› from ‹ip› port ‹int› ssh2
---
sshd[‹int›]: Accepted publickey for ‹name› from ‹ip› port ‹int› ssh2: ED25519 SHA256:‹fp43›
---
[sudo] password for ‹name›: 
sudo: a password is required
---
Enter passphrase for key '/home/‹name›/.ssh/id_ed25519': 
---
Password: 
Login incorrect (‹svc›)
---
$ git remote -v
origin  git@github.com:acme/‹svc›.git (fetch)
origin  git@github.com:acme/‹svc›.git (push)
---
$ git remote -v
origin  https://github.com/acme/‹svc›.git (fetch)
---
‹SVC›_TOKEN  Updated ‹date›
NPM_TOKEN    Updated ‹date›
---
gitleaks: ‹int› commits scanned. no leaks found in ‹svc›
---
ok 12 - ‹svc› hashes the password
ok 13 - ‹svc› rejects an expired token
# pass ‹int›
---
  ✓ should refresh the token when it is expired (‹int› ms)
  ✓ should not log the password of a ‹word›
---
PASS src/‹svc›/password.test.ts (‹n›.12 s)
PASS src/‹svc›/token.test.ts
---
FAILED tests/test_‹svc›.py::test_password_reset - AssertionError: assert 401 == 200
---
Found ‹int› occurrences of "password" in ‹n› files of ‹svc›.
---
src/‹svc›/auth.py:‹int›:    def check_password(self, password: str) -> bool:
src/‹svc›/auth.py:‹int›:        token = self.issue(user)
---
‹date›T‹time›Z INFO  ‹svc› token refreshed user=‹name› ttl=‹int›
---
‹date› ‹time› WARN ‹svc› - API key missing in request from ‹ip›
---
[auth] login ok user=‹name› method=password ip=‹ip› ms=‹int›
---
level=info msg="secret synced" secret=‹svc›-db namespace=‹svc›
---
Mounts:
  /var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-‹word› (ro)
---
MountVolume.SetUp failed for volume "creds" : secret "‹svc›-credentials" not found
---
│ Error: Missing required argument
│   on ‹svc›.tf line ‹int›: The argument "password" is required
---
  + password  = (sensitive value)
  + username  = "‹svc›"
  + port      = ‹port›
---
random_password.‹svc›: Creation complete after 0s [id=none]
---
Warning: A secret was passed to "docker build --build-arg ‹SVC›_TOKEN", use --secret
---
npm ERR! code E401
npm ERR! Incorrect or missing password. (‹svc›)
---
npm notice Access token expired or revoked. Please try logging in again. ‹date›
---
HTTPError: 403 Forbidden from https://upload.pypi.org/legacy/
Invalid or non-existent authentication information. (‹svc› ‹ver›)
---
      --password string     Password of the ‹svc› registry
      --password-stdin      Take the password from stdin
  -u, --username string     Username
---
Usage: ‹svc› login [OPTIONS]
  --token <TOKEN>  API token to use [env: ‹SVC›_TOKEN]
---
options:
  -p PASSWORD, --password PASSWORD   password for ‹svc›
---
 id | email              | password_hash_algo | failed_logins
----+--------------------+--------------------+--------------
 ‹n›  | ‹name›@‹dom›   | argon2id           | 0
---
                Table "public.users"
 password_hash | text    | not null
 reset_token   | text    |
 ‹word›_id     | integer |
---
+ password: str
- passwd: str
@@ -‹int›,7 +‹int›,7 @@ class ‹Word›Login:
---
-API_KEY = os.environ["KEY"]
+API_KEY = os.environ["‹SVC›_API_KEY"]
---
$ ls -la ~/.ssh
-rw------- 1 ‹name› ‹name›  411 id_ed25519
-rw-r--r-- 1 ‹name› ‹name›   ‹n›7 id_ed25519.pub
---
total ‹int›
-rw-r--r-- 1 root root ‹int› password_reset.html.erb
-rw-r--r-- 1 root root ‹int› token_service.rb
---
Updated secret ‹svc›-db (version ‹n›), previous version disabled
---
$ docker inspect ‹svc› --format '{{json .Config.Env}}'
["PATH=/usr/local/bin:/usr/bin","LANG=C.UTF-8","PYTHON_VERSION=3.11.‹n›"]
---
$ env | sort
HOME=/home/‹name›
LANG=de_DE.UTF-8
PWD=/home/‹name›/‹svc›
OLDPWD=/home/‹name›
SSH_AUTH_SOCK=/tmp/ssh-‹word›/agent.‹int›
---
XDG_SESSION_ID=‹n›
XDG_SESSION_TYPE=wayland
DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/‹int›/bus
---
Caused by: java.sql.SQLException: Access denied for user '‹svc›'@'localhost' (using password: NO)
---
javax.security.auth.login.FailedLoginException: Password does not match for user ‹name›
---
org.springframework.security.authentication.BadCredentialsException: Bad credentials [‹svc›]
---
  File "/app/‹svc›/auth.py", line ‹int›, in verify_password
    raise InvalidPassword("wrong password")
---
KeyError: '‹SVC›_SECRET_KEY'
---
django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty. (‹svc›)
---
pydantic_core.ValidationError: 1 validation error for Settings
‹svc›_api_key
  Field required [type=missing, input_value={}, input_type=dict]
---
TS2322: Type 'string | undefined' is not assignable to type 'string'. password (‹word›.ts:‹int›)
---
warning: unused variable: `token` --> src/‹word›.rs:‹int›:‹n›
---
Lint: hardcoded-credentials S2068 in ‹Svc›.java:‹int› - "password" detected, make sure it is ok
---
Logged in as ‹name› (token source: keychain), rate limit ‹int›/5000
---
Token usage: total=‹int› input=‹int› output=‹int› (reasoning ‹int›)
---
⏺ Read(src/‹svc›/password_reset.ts)
  ⎿  Read ‹int› lines
---
⏺ Bash(grep -rn "API_KEY" ‹svc›/)
  ⎿  ‹svc›/config.py:‹int›: API_KEY = settings.api_key
---
✔ Where would you like to store the token? … keychain (‹svc›)
---
? Enter your API key: [input is hidden] (‹svc›)
---
nmap: ‹port›/tcp open  http-auth  Basic realm=‹svc›
---
CI: masking variables: DB_PASSWORD, ‹SVC›_TOKEN, NPM_TOKEN
---
Set-Cookie: theme=dark; Path=/‹word›; Max-Age=‹int›
---
cookie: lang=de; theme=dark; cols=‹int›; last=‹word›
---
GET /reset-password 200 ‹int› ms
POST /api/auth/token 401 ‹n› ms
GET /‹svc›/api-keys 200 ‹int› ms
---
2 vulnerabilities: CVE-2024-‹int› jsonwebtoken (token confusion) in ‹svc›
---
memory: 512Mi, cpu: ‹int›m, pod ‹svc›-‹pod›, node ip-10-0-‹n›-12.ec2.internal
=== doc
## Authentication

Every call to ‹svc› needs an `Authorization: Bearer` header with your API token.
---
| Variable | Description | Default |
|---|---|---|
| `DB_PASSWORD` | Password of the ‹svc› database | – |
| `API_TOKEN` | Token for `/‹word›` | required |
---
1. Go to Settings → API keys.
2. Click "New key", name it ‹svc›.
3. Copy it into `.env` as `‹SVC›_API_KEY`.
---
`password` (string, required): the password of the ‹word› owner.
---
- [ ] rotate the ‹svc› password
- [x] revoke the old token (‹date›)
- [ ] delete the secret from CI
---
> **Warning:** never commit `.env`; `‹svc›` reads `SECRET_KEY` from the environment.
---
### Changed in ‹ver›
- `token` is now optional in `‹Svc›Client`
- `password` fields are masked in logs
---
The `Token` class of ‹svc› has the fields `type`, `value`, `line` and `column`.
---
The flow: client → `/oauth/authorize` → code → `/oauth/token` → access token (‹int› s) → ‹svc›.
---
Ein JWT hat drei Teile: Header, Payload, Signatur, getrennt durch Punkte (siehe ‹svc›, Seite ‹int›).
---
JWT由三部分组成：header.payload.signature（见‹svc›第‹int›页）。
---
GitHub tokens start with `ghp_`, `gho_` or `github_pat_`; ‹svc› checks the prefix (rule ‹int›).
---
AWS key ids start with `AKIA`, Slack's with `xoxb-`, Stripe's with `sk_live_` (‹svc›, ‹int›).
---
The format is `scheme://user:password@host:port/database`, as ‹svc› ‹ver› expects it.
---
Passwords are hashed with argon2id (m=65536, t=‹n›, p=4) in ‹svc›.
---
Passphrase: a sequence of words used in place of a password (‹svc› glossary, no. ‹int›).
---
Sequence diagram: User -> ‹Svc›: login(email, password); ‹Svc› --> User: token
---
TODO(‹name›): move the credentials of ‹svc› into the secret manager before ‹date›.
---
Summary: added `resetPassword()` to ‹svc›, ‹int› tests pass, no secrets touched.
---
PR #‹int›: Remove hard-coded credentials from ‹svc› and read them from Vault
---
Zwischenstand: Token-Erneuerung in ‹svc› fertig, Passwort-Reset offen, ‹int› Tests grün.
=== chat
user: where do I put the API key?
assistant: In `.env` as `‹SVC›_API_KEY`; never in the code.
---
user: it says "invalid token"
assistant: The token of ‹svc› has probably expired. Run `‹svc› login` again.
---
Do you want me to store the password in the keychain or in `.env` of ‹svc›?
---
I can't see your password; please type it at the prompt of ‹svc› yourself.
---
I replaced the hard-coded key in ‹svc›/‹word›.py by `os.environ["API_KEY"]`.
---
User: what's the db password?
Assistant: I don't have it. It is in the secret `‹svc›-db`, key `password`.
---
ok the secret is deleted, ‹name› makes a new one on ‹date›
---
‹name›: token? 
‹name›: sent you the token by Signal, for ‹svc›
---
why does `password` show up as `undefined` in ‹svc›?
---
the login works with SSO now, no password needed for ‹svc› since ‹ver›
---
Compare `token_count` before and after: ‹int› vs ‹int› for ‹svc›.
---
This uses about ‹int› tokens per ‹word›, so $‹n›.20 per day.
---
I'd name the column `api_key_id`, not `key`, in `‹word›`.
---
Meine Frage: Wo setzt ‹svc› das Passwort, in `auth.py` oder in `‹word›.py`?
---
¿Dónde guarda ‹svc› la contraseña, en `auth.py` o en `‹word›.py`?
---
Où est-ce que ‹svc› lit le mot de passe, dans `auth.py` ou `‹word›.py` ?
---
‹svc›在哪里读取密码？是`auth.py`还是`‹word›.py`？
---
‹svc›はどこでパスワードを検証していますか？`auth.py`の‹int›行目ですか？
---
Где ‹svc› проверяет пароль: в `auth.py` или в `‹word›.py`?
---
Ticket ‹SVC›-‹int›: "Password strength meter shows weak for long passphrases"
---
Call me at +49 30 ‹int›-‹n›2 or mail ‹name›@‹dom› about the ‹svc› keys.
---
Order no. ‹big›, invoice RE-2026-‹int›, tracking 1Z‹acct› for ‹name›
---
IBAN and tax number are masked; the license of ‹svc› is MIT, version ‹ver›.
=== long_turn
‹noise›
Tests: pass: ‹int›, fail: 0
‹noise›
---
‹noise›
commit ‹sha1›
    fix(‹svc›): password reset
‹noise›
---
‹noise›
password authentication failed for user "‹svc›"
‹noise›
---
‹noise›
export TOKEN=$(gh auth token)
‹noise›
---
‹noise›
sha256:‹sha256›
‹noise›
---
‹noise›
"integrity": "sha512-‹sha512b64›",
‹noise›
---
‹noise›
POSTGRES_PASSWORD: ${POSTGRES_PASSWORD}
‹noise›
---
‹noise›
AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
‹noise›
'''


def shapes_of(table: str) -> list[tuple[str, str]]:
    """The (class, shape) pairs of a table."""
    found: list[tuple[str, str]] = []
    for section in re.split(r"^=== (?=\w+$)", table.strip("\n"), flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        for shape in re.split(r"^---$", body, flags=re.MULTILINE):
            found.append((name, shape.strip("\n").replace("↩\n", "")))
    return found


def labels_of(value: str) -> list[str]:
    """What must not survive of a secret: itself, or three lines of a key's body."""
    rows = value.split("\\n") if "\\n" in value else value.split("\n")
    return list(dict.fromkeys([rows[0], rows[len(rows) // 2], rows[-1]]))


def fill(shape: str, rng: Random) -> tuple[str, tuple[str, ...]]:
    """One text of a shape, and the secrets in it."""
    labels: list[str] = []
    tagged: dict[str, str] = {}

    def value_of(match: re.Match[str]) -> str:
        secret, secret_tag, filling, filling_tag = match.groups()
        kind = secret or CASED.get(filling, filling)
        tag = secret_tag or filling_tag or (kind if filling and kind in STEADY else "")
        value = tagged.get(tag, "") if tag else ""
        if not value:
            value = (SECRETS if secret else FILLING)[kind](rng)
        if tag:
            tagged[tag] = value
        if secret:
            labels.extend(labels_of(value))
        elif filling in CASED:
            value = value.upper() if filling.isupper() else value.capitalize()
        line_start = shape.rfind("\n", 0, match.start()) + 1
        before = shape[line_start : match.start()]
        return value.replace("\n", "\n" + before) if before.isspace() else value

    text = SLOT.sub(value_of, shape)
    return text, tuple(dict.fromkeys(labels))


def distinct(
    shape: str, count: int, seen: set[str], rng: Random
) -> list[tuple[str, tuple[str, ...]]]:
    """So many texts of one shape, none of them seen before.

    A shape without any slot gets a different opening sentence each time.
    """
    made: list[tuple[str, tuple[str, ...]]] = []
    openers = rng.sample(OPENERS, len(OPENERS))
    while len(made) < count:
        text, labels = fill(shape, rng)
        if not SLOT.search(shape):
            text = f"{openers.pop()}\n{text}"
        if text not in seen:
            seen.add(text)
            made.append((text, labels))
    return made


def positives(seed: int) -> list[Positive]:
    """(class, text, the secrets in it that must not survive)."""
    rng = Random(seed)
    seen: set[str] = set()
    return [
        (name, text, labels)
        for name, shape in shapes_of(POSITIVE_SHAPES)
        for text, labels in distinct(shape, TEXTS_PER_POSITIVE_SHAPE, seen, rng)
    ]


def negatives(seed: int) -> list[Negative]:
    """(class, text): each must come out unchanged."""
    rng = Random(seed + 1)
    seen: set[str] = set()
    return [
        (name, text)
        for name, shape in shapes_of(NEGATIVE_SHAPES)
        for text, _ in distinct(shape, TEXTS_PER_NEGATIVE_SHAPE, seen, rng)
    ]


def check(seed: int) -> None:
    """Raise AssertionError where the set breaks its own rules."""
    good, bad = positives(seed), negatives(seed)
    assert good == positives(seed) and bad == negatives(seed), "not the same for the same seed"
    texts = [text for _, text, _ in good] + [text for _, text in bad]
    assert len(texts) == len(set(texts)), "a text occurs twice"
    for name, text, labels in good:
        assert labels, f"no secret in {name}: {text}"
        for label in labels:
            assert len(label) >= 6 and label in text, f"{label!r} is not in {text}"
            inside = [other for other in labels if other != label and label in other]
            assert not inside, f"{label!r} is a part of {inside}"
    for table, least in ((POSITIVE_SHAPES, 200), (NEGATIVE_SHAPES, 400)):
        shapes = [shape for _, shape in shapes_of(table)]
        assert len(shapes) == len(set(shapes)), [s for s, n in Counter(shapes).items() if n > 1]
        assert len(shapes) >= least, f"only {len(shapes)} shapes"
    for _, shape in shapes_of(NEGATIVE_SHAPES):
        assert "⟦" not in shape, f"a secret among the negatives: {shape}"
    assert len(good) >= 400 and len(bad) >= 1200, (len(good), len(bad))


def main() -> None:
    """Check the set for some seeds and print the counts per class."""
    for seed in range(5):
        check(seed)
    good, bad = positives(0), negatives(0)
    for title, names, table in (
        ("positives", [row[0] for row in good], POSITIVE_SHAPES),
        ("negatives", [row[0] for row in bad], NEGATIVE_SHAPES),
    ):
        print(f"{title}: {len(names)} texts of {len(shapes_of(table))} shapes")
        for name, count in Counter(names).items():
            print(f"  {name:18} {count}")


if __name__ == "__main__":
    main()
