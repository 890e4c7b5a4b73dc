"""Keys made up in the formats their issuers publish: random bodies, valid checksums where known.

Nothing here opens anything. A key is made from a seeded generator, so a set is the same each time.
"""

import base64
import json
import string
import zlib
from collections.abc import Callable
from random import Random

ALNUM = string.digits + string.ascii_uppercase + string.ascii_lowercase
LOWER = string.digits + string.ascii_lowercase
HEX = "0123456789abcdef"
URL64 = ALNUM + "-_"
BASE64 = ALNUM + "+/"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

Maker = Callable[[Random], str]


def body(rng: Random, alphabet: str, length: int) -> str:
    """`length` random characters."""
    return "".join(rng.choice(alphabet) for _ in range(length))


def shaped(prefix: str, alphabet: str, length: int, suffix: str = "") -> Maker:
    """A maker of keys that are a prefix, a random body and a suffix."""
    return lambda rng: prefix + body(rng, alphabet, length) + suffix


def checksummed(prefix: str) -> Maker:
    """GitHub's and npm's layout: 30 characters and their CRC-32 in six digits of base 62."""

    def make(rng: Random) -> str:
        text, number, digits = body(rng, ALNUM, 30), 0, ""
        number = zlib.crc32(text.encode())
        while number:
            number, digit = divmod(number, 62)
            digits = ALNUM[digit] + digits
        return prefix + text + digits.rjust(6, "0")

    return make


def bech32(prefix: str, upper: bool = False) -> Maker:
    """32 random bytes in Bech32 with the checksum of BIP 173."""

    def polymod(values: list[int]) -> int:
        check = 1
        for value in values:
            top, check = check >> 25, (check & 0x1FFFFFF) << 5 ^ value
            for bit, term in enumerate(
                (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
            ):
                check ^= term if top >> bit & 1 else 0
        return check

    def make(rng: Random) -> str:
        data = [rng.randrange(32) for _ in range(51)] + [rng.choice((0, 16))]
        spread = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
        check = polymod(spread + data + [0] * 6) ^ 1
        data += [check >> 5 * (5 - i) & 31 for i in range(6)]
        text = prefix + "1" + "".join(BECH32[value] for value in data)
        return text.upper() if upper else text

    return make


def _url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(rng: Random) -> str:
    """A signed token (RFC 7519) of three parts."""
    head = {"alg": rng.choice(("HS256", "RS256", "ES256")), "typ": "JWT"}
    claims = {"sub": body(rng, string.digits, 10), "iat": 1700000000 + rng.randrange(10**7)}
    parts = [_url64(json.dumps(part).encode()) for part in (head, claims)]
    return ".".join((*parts, _url64(rng.randbytes(32))))


def discord(rng: Random) -> str:
    """A bot's token: its number, a time, a signature."""
    number = _url64(str(rng.randrange(10**17, 10**18)).encode())
    return f"{number}.{body(rng, URL64, 6)}.{body(rng, URL64, 38)}"


def slack(prefix: str, groups: int) -> Maker:
    """`xoxb-` and its kin: groups of digits, then a body."""

    def make(rng: Random) -> str:
        digits = "-".join(body(rng, string.digits[1:], 12) for _ in range(groups))
        tail = body(rng, HEX, 32) if groups > 2 else body(rng, ALNUM, 24)
        return f"{prefix}-{digits}-{tail}"

    return make


def card(rng: Random) -> str:
    """A payment card's number in fours, with Luhn's check digit."""
    digits = [int(d) for d in rng.choice(("4", "51", "52", "53")) + body(rng, string.digits, 20)][
        :15
    ]
    total = sum(d if i % 2 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits))
    text = "".join(map(str, [*digits, -total % 10]))
    return " ".join(text[i : i + 4] for i in range(0, 16, 4))


def password(rng: Random) -> str:
    """What people choose, and what their password managers do."""
    words = ("Falcon", "sunset", "Kaffee", "mango", "Winter", "tiger", "Berlin", "rocket", "Luna")
    word, other = rng.choice(words), rng.choice(words)
    return rng.choice(
        (
            f"{word}{rng.randrange(10, 9999)}{rng.choice('!?#%')}",
            f"{word}-{other}-{rng.randrange(10, 99)}",
            f"{word[0]}{rng.randrange(9)}{word[1:]}_{other}{rng.randrange(99)}",
            body(rng, ALNUM, 8) + rng.choice("!$%") + body(rng, ALNUM, 5),
            body(rng, ALNUM, 16),
            body(rng, ALNUM + "!#%*+-_.", 20) + "7q",
        )
    )


def pem(kind: str, first: str, size: int, width: int = 64) -> Maker:
    """An armoured private key; the first bytes are those of its format."""

    def make(rng: Random) -> str:
        text = first + body(rng, BASE64, size - len(first))
        lines = [text[i : i + width] for i in range(0, len(text), width)]
        armour = f"{kind} PRIVATE KEY".strip() + (" BLOCK" if kind == "PGP" else "")
        head = ["Version: GnuPG v2", ""] if kind == "PGP" else []
        tail = ["=" + body(rng, ALNUM, 4)] if kind == "PGP" else []
        return "\n".join(
            (f"-----BEGIN {armour}-----", *head, *lines, *tail, f"-----END {armour}-----")
        )

    return make


# class -> format -> maker; each is recognisable by itself.
TOKENS: dict[str, dict[str, Maker]] = {
    "forge": {
        "github classic": checksummed("ghp_"),
        "github oauth": checksummed("gho_"),
        "github user": checksummed("ghu_"),
        "github server": checksummed("ghs_"),
        "github refresh": shaped("ghr_", ALNUM, 76),
        "github fine": lambda r: f"github_pat_{body(r, ALNUM, 22)}_{body(r, ALNUM, 59)}",
        "gitlab": shaped("glpat-", URL64, 20),
        "gitlab routable": lambda r: f"glpat-{body(r, URL64, 27)}.01.{body(r, LOWER, 9)}",
        "gitlab deploy": shaped("gldt-", URL64, 20),
        "gitlab runner": shaped("glrt-", URL64, 20),
        "gitlab trigger": shaped("glptt-", HEX, 40),
        "atlassian": shaped("ATATT3xFfGF0", URL64, 171, "=A1B2C3D4"),
    },
    "cloud": {
        "aws key id": shaped("AKIA", string.ascii_uppercase + "234567", 16),
        "aws temporary id": shaped("ASIA", string.ascii_uppercase + "234567", 16),
        "gcp key": shaped("AIza", URL64, 35),
        "gcp oauth secret": shaped("GOCSPX-", URL64, 28),
        "gcp access token": shaped("ya29.a0", URL64, 160),
        "azure client secret": lambda r: f"{body(r, ALNUM, 3)}8Q~{body(r, URL64, 34)}",
        "digitalocean": shaped("dop_v1_", HEX, 64),
        "vault": shaped("hvs.CAESI", URL64, 90),
        "terraform": lambda r: f"{body(r, ALNUM, 14)}.atlasv1.{body(r, URL64, 67)}",
        "doppler": shaped("dp.pt.", ALNUM, 43),
        "tailscale": lambda r: f"tskey-auth-k{body(r, ALNUM, 11)}CNTRL-{body(r, ALNUM, 32)}",
        "supabase": shaped("sbp_", HEX, 40),
        "databricks": shaped("dapi", HEX, 32),
        "planetscale": shaped("pscale_pw_", URL64, 43),
    },
    "ai": {
        "openai": lambda r: f"sk-{body(r, ALNUM, 20)}T3BlbkFJ{body(r, ALNUM, 20)}",
        "openai project": lambda r: f"sk-proj-{body(r, URL64, 74)}T3BlbkFJ{body(r, URL64, 74)}",
        "openai account": lambda r: f"sk-svcacct-{body(r, URL64, 74)}T3BlbkFJ{body(r, URL64, 74)}",
        "anthropic": shaped("sk-ant-api03-", URL64, 93, "AA"),
        "anthropic oauth": shaped("sk-ant-oat01-", URL64, 93, "AA"),
        "xai": shaped("xai-", ALNUM, 80),
        "hugging face": shaped("hf_", string.ascii_letters, 34),
        "groq": shaped("gsk_", ALNUM, 52),
        "openrouter": shaped("sk-or-v1-", HEX, 64),
        "perplexity": shaped("pplx-", ALNUM, 48),
        "replicate": shaped("r8_", ALNUM, 37),
        "langsmith": lambda r: f"lsv2_pt_{body(r, HEX, 32)}_{body(r, HEX, 10)}",
    },
    "services": {
        "stripe live": shaped("sk_live_51", ALNUM, 97),
        "stripe short": shaped("sk_live_", ALNUM, 24),
        "stripe restricted": shaped("rk_live_51", ALNUM, 97),
        "stripe test": shaped("sk_test_51", ALNUM, 97),
        "stripe webhook": shaped("whsec_", ALNUM, 32),
        "sendgrid": lambda r: f"SG.{body(r, URL64, 22)}.{body(r, URL64, 43)}",
        "mailgun": shaped("key-", HEX, 32),
        "mailchimp": lambda r: f"{body(r, HEX, 32)}-us{r.randrange(1, 22)}",
        "shopify": shaped("shpat_", HEX, 32),
        "linear": shaped("lin_api_", ALNUM, 40),
        "notion": shaped("ntn_", ALNUM, 46),
        "figma": shaped("figd_", URL64, 40),
        "grafana": lambda r: f"glsa_{body(r, ALNUM, 32)}_{body(r, HEX, 8)}",
        "postman": lambda r: f"PMAK-{body(r, HEX, 24)}-{body(r, HEX, 34)}",
        "square": shaped("EAAAE", URL64, 59),
        "airtable": lambda r: f"pat{body(r, ALNUM, 14)}.{body(r, HEX, 64)}",
    },
    "chat": {
        "slack bot": slack("xoxb", 2),
        "slack user": slack("xoxp", 3),
        "slack app": lambda r: (
            f"xapp-1-A{body(r, LOWER.upper(), 10)}-{r.randrange(10**12, 10**13)}-"
            + body(r, HEX, 64)
        ),
        "slack webhook": lambda r: (
            "https://hooks.slack.com/services/"
            f"T{body(r, LOWER.upper(), 10)}/B{body(r, LOWER.upper(), 10)}/{body(r, ALNUM, 24)}"
        ),
        "discord bot": discord,
        "discord webhook": lambda r: (
            f"https://discord.com/api/webhooks/{r.randrange(10**18, 10**19)}/{body(r, URL64, 68)}"
        ),
        "telegram": lambda r: f"{r.randrange(10**9, 10**10)}:AA{body(r, URL64, 33)}",
        "twilio key": shaped("SK", HEX, 32),
    },
    "registry": {
        "npm": checksummed("npm_"),
        "pypi": shaped("pypi-AgEIcHlwaS5vcmc", URL64, 150),
        "docker": shaped("dckr_pat_", URL64, 27),
        "docker organisation": shaped("dckr_oat_", URL64, 32),
        "rubygems": shaped("rubygems_", HEX, 48),
        "crates": shaped("cio", ALNUM, 32),
        "nuget": shaped("oy2", LOWER, 43),
        "sonar": shaped("sqp_", HEX, 40),
    },
    "wallet": {
        "nsec": bech32("nsec"),
        "age": bech32("age-secret-key-", upper=True),
        "bitcoin extended": shaped(
            "xprv9s21ZrQH143K", ALNUM.translate({48: None, 73: None, 79: None, 108: None}), 95
        ),
    },
    "jwt": {"jwt": jwt, "jwt again": jwt},
}

BLOCKS: dict[str, Maker] = {
    "pkcs8": pem("", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 1600),
    "rsa": pem("RSA", "MIIEpAIBAAKCAQEA", 1592),
    "ec": pem("EC", "MHcCAQEEI", 164),
    "openssh": pem("OPENSSH", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB", 360, 70),
    "pgp": pem("PGP", "lQOYBGV", 1200),
    "encrypted": pem("ENCRYPTED", "MIIFLTBXBgkqhkiG9w0BBQ0w", 1700),
}
