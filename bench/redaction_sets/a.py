"""Blind labelled test set A for the redaction engine of "Agents Memory".

Written without any look at the engine.  ``positives(seed)`` gives texts with the
credential values that must not survive; ``negatives(seed)`` gives texts that must
come out unchanged.  All values are random parts in published formats; nothing here
was ever issued by anybody.  Exceptions: keys that vendors publish in their own
documentation, which appear only among the negatives.

Frames are written in blocks, one frame after another, parted by a line ``====``.
In a frame ``«gen»`` is a secret made by the generator *gen*, ``‹gen›`` is harmless
filling; ``#1`` and the like after the name repeats the same value inside one text.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import string
from collections import Counter
from random import Random
from typing import Callable

B62 = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
B32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
B64 = B62 + "+/"
B64U = B62 + "-_"
UP = string.ascii_uppercase + string.digits
LOW = string.ascii_lowercase + string.digits

Gen = Callable[[Random], str]


def _r(r: Random, alphabet: str, n: int) -> str:
    return "".join(r.choice(alphabet) for _ in range(n))


def _tok(prefix: str, alphabet: str, n: int, suffix: str = "") -> Gen:
    return lambda r: prefix + _r(r, alphabet, n) + suffix


def _bytes(r: Random, n: int) -> bytes:
    return bytes(r.randrange(256) for _ in range(n))


def _b64(r: Random, n: int) -> str:
    return base64.b64encode(_bytes(r, n)).decode()


def _b64u(b: bytes) -> str:
    return base64.urlsafe_b64encode(b).decode().rstrip("=")


def _base62(n: int, width: int) -> str:
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    out = ""
    while n:
        n, d = divmod(n, 62)
        out = digits[d] + out
    return out.rjust(width, "0")


def _crc(prefix: str) -> Gen:
    """GitHub's and npm's format: 30 random characters, then a base62 CRC32."""

    def gen(r: Random) -> str:
        body = _r(r, B62, 30)
        return prefix + body + _base62(binascii.crc32(body.encode()), 6)

    return gen


_BECH = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def _bech32(hrp: str, data: bytes) -> str:
    bits = "".join(f"{b:08b}" for b in data)
    bits += "0" * (-len(bits) % 5)
    vals = [int(bits[i : i + 5], 2) for i in range(0, len(bits), 5)]

    def polymod(values: list[int]) -> int:
        chk = 1
        for v in values:
            top = chk >> 25
            chk = (chk & 0x1FFFFFF) << 5 ^ v
            for i, g in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
                chk ^= g if (top >> i) & 1 else 0
        return chk

    exp = [ord(c) >> 5 for c in hrp] + [0] + [ord(c) & 31 for c in hrp]
    pm = polymod(exp + vals + [0] * 6) ^ 1
    chk = [(pm >> 5 * (5 - i)) & 31 for i in range(6)]
    return hrp + "1" + "".join(_BECH[v] for v in vals + chk)


_B58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _b58check(payload: bytes) -> str:
    data = payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    n, out = int.from_bytes(data, "big"), ""
    while n:
        n, d = divmod(n, 58)
        out = _B58[d] + out
    return out


def _ext_key(version: str, lead: bytes) -> Gen:
    """BIP32 root key: version, depth, parent, child, chain code, key."""
    return lambda r: _b58check(
        bytes.fromhex(version) + bytes(9) + _bytes(r, 32) + lead + _bytes(r, 32)
    )


_BIP: dict[str, int] = {
    k: int(v)
    for k, v in (
        p.split(":")
        for p in """
abstract:7 accuse:13 actor:21 again:37 album:47 allow:53 announce:74 arch:88 arm:93 athlete:113 attract:118 aware:130
awkward:134 bag:140 barrel:150 betray:171 blood:191 boat:198 box:212 brick:221 broken:228 brush:233 bulk:240 cake:258
candy:266 canyon:270 cave:294 chimney:320 choose:322 city:331 color:365 concert:373 connect:377 crouch:417 custom:436 dance:442
defy:461 delay:463 diagram:487 dolphin:518 drift:534 dry:541 dumb:543 dust:546 either:568 embark:578 emerge:581 enhance:596
enrich:600 episode:607 equip:609 erase:611 expect:642 faculty:653 faint:655 famous:661 feel:678 female:679 fence:680 festival:681
filter:691 find:693 fitness:703 flame:706 focus:721 food:726 fork:731 forward:734 found:737 fragile:739 frame:740 frequent:741
fringe:744 frog:745 future:756 goddess:801 goose:804 gospel:806 grant:813 grape:814 hand:838 head:848 height:853 hen:857
hour:882 humble:887 ice:897 inherit:926 kangaroo:972 law:1007 lawsuit:1009 legend:1020 leisure:1021 length:1024 leopard:1026 lesson:1027
lizard:1046 lobster:1049 mandate:1080 maple:1084 melody:1108 merge:1115 method:1121 middle:1122 minor:1129 monitor:1144 more:1150 move:1158
negative:1183 neglect:1184 never:1192 nose:1203 notice:1207 number:1211 ocean:1223 olympic:1234 online:1239 orient:1252 original:1253 orphan:1254
oxygen:1266 pact:1269 paper:1279 party:1284 payment:1293 peasant:1297 pencil:1301 plug:1334 prepare:1359 prison:1368 private:1369 public:1384
pull:1386 puppy:1392 purpose:1395 quote:1408 raccoon:1410 rail:1415 rare:1424 rebel:1433 remember:1453 remove:1455 render:1456 repair:1460
require:1464 resource:1468 rib:1479 rich:1482 rifle:1485 ring:1488 ritual:1492 rocket:1499 rose:1504 salad:1522 same:1527 scheme:1541
scissors:1544 seed:1559 service:1569 shuffle:1595 solid:1653 solve:1655 sound:1662 special:1671 spell:1673 stadium:1695 stamp:1699 stem:1706
stool:1715 struggle:1722 student:1723 subject:1727 tank:1773 taxi:1779 tide:1806 toilet:1822 town:1842 treat:1854 trend:1856 trial:1857
true:1866 uncover:1893 undo:1895 unfair:1896 unveil:1907 usual:1921 vague:1925 vapor:1931 vehicle:1935 version:1942 violin:1954 vocal:1962
wage:1969 wait:1971 waste:1981 weather:1989 wheat:1999 wink:2014 witness:2021 zero:2045
""".split()
    )
}


def _bip39(words: int) -> Gen:
    """A phrase with a right checksum (the last word is searched for)."""

    def gen(r: Random) -> str:
        pool = list(_BIP)
        cs = words // 3
        while True:
            head = [r.choice(pool) for _ in range(words - 1)]
            r.shuffle(pool)
            for last in pool:
                bits = "".join(f"{_BIP[w]:011b}" for w in [*head, last])
                ent = int(bits[:-cs], 2).to_bytes((len(bits) - cs) // 8, "big")
                if f"{hashlib.sha256(ent).digest()[0]:08b}"[:cs] == bits[-cs:]:
                    return " ".join([*head, last])

    return gen


def _jwt(r: Random) -> str:
    head = {"alg": r.choice(["HS256", "RS256"]), "typ": "JWT"}
    body = {
        "sub": _uuid(r),
        "email": _email(r),
        "iat": 1700000000 + r.randrange(9 * 10**7),
        "role": r.choice(["service_role", "admin", "user"]),
    }
    parts = [_b64u(json.dumps(x, separators=(",", ":")).encode()) for x in (head, body)]
    return ".".join([*parts, _b64u(_bytes(r, 32))])


def _uuid(r: Random) -> str:
    h = _r(r, HEX, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{r.choice('89ab')}{h[17:20]}-{h[20:]}"


def _pem(label: str, size: int, prefix: bytes = b"", sep: str = "\n", width: int = 64) -> Gen:
    def gen(r: Random) -> str:
        body = base64.b64encode(prefix + _bytes(r, size)).decode()
        lines = [body[i : i + width] for i in range(0, len(body), width)]
        return sep.join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])

    return gen


def _pgp(label: str, size: int) -> Gen:
    def gen(r: Random) -> str:
        body = base64.b64encode(b"\x95\x03\xbe\x04" + _bytes(r, size)).decode()
        lines = [body[i : i + 64] for i in range(0, len(body), 64)]
        return "\n".join(
            [f"-----BEGIN {label}-----", "", *lines, "=" + _r(r, B62, 4), f"-----END {label}-----"]
        )

    return gen


_OSSH = b"openssh-key-v1\x00\x00\x00\x00\x04none\x00\x00\x00\x04none\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x003\x00\x00\x00\x0bssh-ed25519\x00\x00\x00 "

_WORDS = (
    "Kranich Wolke Birke tiger Regen copper Falcon marble Lantern Nebel pixel Orchid Granit Saturn velvet "
    "Comet harbor Zebra Quartz Mango Bison Fjord Tundra Pepper Rocket Walnut Sierra Cobalt Badger Ember"
).split()


def _human(r: Random) -> str:
    a, b = r.sample(_WORDS, 2)
    return r.choice(
        [
            f"{a}{b}{r.randrange(10, 99)}!",
            f"{a}#{b}{r.randrange(100, 9999)}",
            f"{a.title()}_{r.randrange(1000, 9999)}{b[:3].upper()}",
            f"{a.replace('e', '3').replace('o', '0').title()}{b.title()}{r.randrange(10, 99)}",
            f"{r.randrange(10, 99)}{a.title()}-{b}!{r.randrange(10, 99)}",
        ]
    )


def _pw(r: Random, n: int = 0, sym: str = "!#%*+-_.:?=^~") -> str:
    n = n or r.randrange(12, 21)
    while True:
        s = r.choice(string.ascii_letters) + _r(r, B62 + sym, n - 2) + r.choice(B62)
        if (
            any(c.isdigit() for c in s)
            and any(c.isupper() for c in s)
            and any(c.islower() for c in s)
            and any(c in sym for c in s)
        ):
            return s


def _pwa(r: Random, n: int = 0) -> str:
    n = n or r.randrange(12, 21)
    while True:
        s = r.choice(string.ascii_letters) + _r(r, B62, n - 1)
        if (
            any(c.isdigit() for c in s)
            and any(c.isupper() for c in s)
            and any(c.islower() for c in s)
        ):
            return s


def _pwurl(r: Random) -> str:
    return _pwa(r, 7) + r.choice(["%40", "%23", "%21", "%2F"]) + _pwa(r, 7)


def _user(r: Random) -> str:
    return r.choice(
        "app deploy svc_report jonas mkeller anna.vogel backup ci-bot grafana_ro root etl_writer li.wei".split()
    )


def _host(r: Random) -> str:
    return f"{r.choice('db api git mail cache search vault nas edge build'.split())}{r.randrange(1, 40)}.{r.choice(['corp.lan', 'internal', 'fabrik.io', 'nordwind.dev', 'acme-labs.net'])}"


def _email(r: Random) -> str:
    return f"{r.choice(['jonas', 'mkeller', 'li.wei', 'sofia', 'ops', 'h.tanaka'])}{r.randrange(100)}@{r.choice(['nordwind.dev', 'fabrik.io', 'acme-labs.net'])}"


def _basic(r: Random) -> str:
    return base64.b64encode(f"{_user(r)}:{_pwa(r)}".encode()).decode()


def _k8s(r: Random) -> str:
    return base64.b64encode(_pw(r, 18).encode()).decode()


def _sample(*xs: str) -> Gen:
    return lambda r: r.choice(xs)


def _discord(r: Random) -> str:
    ident = _b64u(str(r.randrange(10**17, 10**18)).encode())
    return f"{ident}.{_r(r, B62, 6)}.{_r(r, B64U, 38)}"


def _azsecret(r: Random) -> str:
    return f"{_r(r, B62, 3)}8Q~{_r(r, B62 + '_-.~', 33)}{r.choice(B62)}"


def _mapbox(r: Random) -> str:
    return (
        "sk."
        + _b64u(json.dumps({"u": _user(r), "a": _r(r, LOW, 25)}).encode())
        + "."
        + _r(r, B64U, 22)
    )


def _recovery(r: Random) -> str:
    return f"{_r(r, LOW, 5)}-{_r(r, LOW, 5)}"


def _sas(r: Random) -> str:
    return _b64(r, 32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")


def _sym_last(r: Random) -> str:
    return _pw(r, 15, "@$&!#")


SECRET: dict[str, Gen] = {
    "pw": _pw,
    "pwa": _pwa,
    "human": _human,
    "pwurl": _pwurl,
    "pwsym": _sym_last,
    "basic": _basic,
    "k8s": _k8s,
    "jwt": _jwt,
    "uuid": _uuid,
    "hex24": _tok("", HEX, 24),
    "hex32": _tok("", HEX, 32),
    "hex40": _tok("", HEX, 40),
    "hex64": _tok("", HEX, 64),
    "b62_24": _tok("", B62, 24),
    "b62_32": _tok("", B62, 32),
    "b62_40": _tok("", B62, 40),
    "b62_43": _tok("", B62, 43),
    "b62_64": _tok("", B62, 64),
    "b64u43": _tok("", B64U, 42, "a"),
    "b64_32": lambda r: _b64(r, 32),
    "b64_64": lambda r: _b64(r, 64),
    "b64_48": lambda r: _b64(r, 48),
    "ghp": _crc("ghp_"),
    "gho": _crc("gho_"),
    "ghs": _crc("ghs_"),
    "ghr": _crc("ghr_"),
    "npm": _crc("npm_"),
    "ghpat": lambda r: f"github_pat_11{_r(r, UP, 20)}_{_r(r, B62, 59)}",
    "glpat": _tok("glpat-", B62, 20),
    "gldt": _tok("gldt-", B62, 20),
    "glrt": _tok("glrt-", B62, 20),
    "glptt": _tok("glptt-", HEX, 40),
    "awssec": lambda r: _r(r, B62, 39 - 7) + _r(r, B64, 7) + r.choice(B62),
    "awssess": lambda r: "IQoJb3JpZ2luX2VjE" + _r(r, B64, 280) + "==",
    "bedrock": lambda r: (
        "ABSK"
        + base64.b64encode(
            f"BedrockAPIKey-{_r(r, LOW, 4)}-at-{r.randrange(10**11, 10**12)}:".encode()
            + _bytes(r, 42)
        ).decode()
    ),
    "aiza": _tok("AIzaSy", B62 + "-_", 32, "k"),
    "gocspx": _tok("GOCSPX-", B62, 28),
    "ya29": _tok("ya29.a0", B64U, 180, "f"),
    "grefresh": _tok("1//0", B64U, 98, "w"),
    "azstor": lambda r: _b64(r, 64),
    "azsecret": _azsecret,
    "sas": _sas,
    "azdevops": lambda r: _r(r, B62, 52) + "JQQJ99BAACAAAAAAAAAAASAZDO" + _r(r, B62, 4),
    "openai": lambda r: f"sk-proj-{_r(r, B64U, 74)}T3BlbkFJ{_r(r, B64U, 73)}A",
    "openai_old": lambda r: f"sk-{_r(r, B62, 20)}T3BlbkFJ{_r(r, B62, 20)}",
    "anthropic": lambda r: f"sk-ant-api03-{_r(r, B64U, 93)}AA",
    "xai": _tok("xai-", B62, 80),
    "groq": _tok("gsk_", B62, 52),
    "hf": _tok("hf_", string.ascii_letters, 34),
    "pplx": _tok("pplx-", B62, 48),
    "r8": _tok("r8_", B62, 37),
    "openrouter": _tok("sk-or-v1-", HEX, 64),
    "elevenlabs": _tok("sk_", HEX, 48),
    "deepseek": _tok("sk-", HEX, 32),
    "langfuse": lambda r: "sk-lf-" + _uuid(r),
    "pinecone": lambda r: f"pcsk_{_r(r, B62, 6)}_{_r(r, B62, 63)}",
    "xoxb": lambda r: (
        f"xoxb-{r.randrange(10**11, 10**12)}-{r.randrange(10**12, 10**13)}-{_r(r, B62, 24)}"
    ),
    "xoxp": lambda r: (
        f"xoxp-{r.randrange(10**11, 10**12)}-{r.randrange(10**11, 10**12)}-{r.randrange(10**12, 10**13)}-{_r(r, HEX, 32)}"
    ),
    "xapp": lambda r: f"xapp-1-A{_r(r, UP, 10)}-{r.randrange(10**12, 10**13)}-{_r(r, HEX, 64)}",
    "discord": _discord,
    "discordhook": _tok("", B64U, 67, "x"),
    "telegram": lambda r: f"{r.randrange(10**9, 8 * 10**9)}:AA{_r(r, B64U, 32)}g",
    "sklive": _tok("sk_live_51", B62, 97),
    "rklive": _tok("rk_live_51", B62, 97),
    "sklive_s": _tok("sk_live_", B62, 24),
    "whsec": _tok("whsec_", B62, 32),
    "sendgrid": lambda r: f"SG.{_r(r, B62, 22)}.{_r(r, B64U, 42)}Q",
    "mailgun": _tok("key-", HEX, 32),
    "mailchimp": lambda r: _r(r, HEX, 32) + f"-us{r.randrange(1, 21)}",
    "brevo": lambda r: f"xkeysib-{_r(r, HEX, 64)}-{_r(r, B62, 16)}",
    "resend": lambda r: f"re_{_r(r, B62, 8)}_{_r(r, B62, 24)}",
    "pypi": lambda r: "pypi-AgEIcHlwaS5vcmcCJ" + _r(r, B64U, 150) + "w",
    "dckr": _tok("dckr_pat_", B64U, 26, "k"),
    "dop": _tok("dop_v1_", HEX, 64),
    "heroku": lambda r: "HRKU-AA" + _r(r, B64U, 57) + "z",
    "nfp": _tok("nfp_", B62, 36),
    "sbp": _tok("sbp_", HEX, 40),
    "sbsecret": lambda r: f"sb_secret_{_r(r, B62, 22)}_{_r(r, B62, 8)}",
    "sntryu": _tok("sntryu_", HEX, 64),
    "nrak": _tok("NRAK-", UP, 27),
    "nral": _tok("", HEX, 36, "NRAL"),
    "glsa": lambda r: f"glsa_{_r(r, B62, 32)}_{_r(r, HEX, 8)}",
    "glc": lambda r: (
        "glc_"
        + base64.b64encode(
            json.dumps(
                {"o": str(r.randrange(10**6)), "n": "ci", "k": _r(r, B62, 24), "m": {"r": "eu"}}
            ).encode()
        ).decode()
    ),
    "pmak": lambda r: f"PMAK-{_r(r, HEX, 24)}-{_r(r, HEX, 34)}",
    "shpat": _tok("shpat_", HEX, 32),
    "square": _tok("EAAA", B64U, 59, "K"),
    "sq0csp": _tok("sq0csp-", B64U, 42, "0"),
    "atlassian": lambda r: "ATATT3xFfGF0" + _r(r, B64U, 170) + "=" + _r(r, "0123456789ABCDEF", 8),
    "lin": _tok("lin_api_", B62, 40),
    "ntn": lambda r: f"ntn_{r.randrange(10**10, 10**11)}{_r(r, B62, 35)}",
    "notion_old": _tok("secret_", B62, 43),
    "airtable": lambda r: f"pat{_r(r, B62, 14)}.{_r(r, HEX, 64)}",
    "figd": _tok("figd_", B64U, 39, "B"),
    "dapi": _tok("dapi", HEX, 32),
    "tfc": lambda r: f"{_r(r, B62, 14)}.atlasv1.{_r(r, B62, 67)}",
    "hvs": _tok("hvs.CAESI", B64U, 85, "w"),
    "vault_old": _tok("s.", B62, 24),
    "doppler": _tok("dp.pt.", B62, 43),
    "pulumi": _tok("pul-", HEX, 40),
    "pscale": _tok("pscale_tkn_", B62, 43),
    "pscalepw": _tok("pscale_pw_", B62, 43),
    "fly": lambda r: "FlyV1 fm2_" + _r(r, B64, 160) + "==",
    "rnd": _tok("rnd_", B62, 32),
    "okta": _tok("00", B62, 40),
    "cfpat": _tok("CFPAT-", B64U, 42, "8"),
    "bkua": _tok("bkua_", HEX, 40),
    "ccipat": lambda r: f"CCIPAT_{_r(r, B62, 22)}_{_r(r, HEX, 40)}",
    "gem": _tok("rubygems_", HEX, 48),
    "nuget": _tok("oy2", LOW, 43),
    "cargo": _tok("cio", B62, 32),
    "clojars": _tok("CLOJARS_", HEX, 60),
    "sonar": _tok("squ_", HEX, 40),
    "akc": _tok("AKCp8", B62, 68),
    "dt0": lambda r: f"dt0c01.{_r(r, B32, 24)}.{_r(r, B32, 64)}",
    "ldsdk": lambda r: "sdk-" + _uuid(r),
    "mapbox": _mapbox,
    "tskey": lambda r: f"tskey-auth-{_r(r, B62, 12)}CNTRL-{_r(r, B62, 32)}",
    "tfp": lambda r: f"tfp_{_r(r, B62, 44)}_{_r(r, B62, 14)}",
    "dropbox": lambda r: "sl.B" + _r(r, B64U, 130) + "g",
    "fb": _tok("EAAC", B62, 170),
    "twbearer": lambda r: "AAAAAAAAAAAAAAAAAAAAA" + _r(r, B62, 24) + "%3D" + _r(r, B62, 50),
    "cfv1": lambda r: f"v1.0-{_r(r, HEX, 24)}-{_r(r, HEX, 146)}",
    "prefect": _tok("pnu_", B62, 36),
    "vercel": _tok("", B62, 24),
    "cf40": _tok("", B64U, 39, "z"),
    "asana": lambda r: (
        f"2/{r.randrange(10**15, 10**16)}/{r.randrange(10**15, 10**16)}:{_r(r, HEX, 32)}"
    ),
    "age": lambda r: _bech32("age-secret-key-", _bytes(r, 32)).upper(),
    "nsec": lambda r: _bech32("nsec", _bytes(r, 32)),
    "eth": _tok("0x", HEX, 64),
    "wif": lambda r: _b58check(b"\x80" + _bytes(r, 32) + b"\x01"),
    "xprv": _ext_key("0488ade4", b"\x00"),
    "rsa": _pem("RSA PRIVATE KEY", 600, b"\x30\x82\x02\x5c\x02\x01\x00\x02\x81\x81\x00"),
    "pkcs8": _pem("PRIVATE KEY", 620, b"\x30\x82\x02\x76\x02\x01\x00\x30\x0d\x06\x09"),
    "ec": _pem("EC PRIVATE KEY", 112, b"\x30\x77\x02\x01\x01\x04\x20"),
    "encpem": _pem("ENCRYPTED PRIVATE KEY", 300, b"\x30\x82\x01\x00"),
    "ossh": _pem("OPENSSH PRIVATE KEY", 260, _OSSH, width=70),
    "pem_n": _pem("PRIVATE KEY", 620, b"\x30\x82\x02\x76\x02\x01\x00", sep="\\n"),
    "ossh_n": _pem("OPENSSH PRIVATE KEY", 260, _OSSH, sep="\\n", width=70),
    "pgp": _pgp("PGP PRIVATE KEY BLOCK", 420),
    "putty": lambda r: "\n".join(_r(r, B64, 64) for _ in range(4)),
    "totp": _tok("", B32, 32),
    "totp16": _tok("", B32, 16),
    "bip12": _bip39(12),
    "bip24": _bip39(24),
    "recovery": _recovery,
    "recup": lambda r: "-".join(_r(r, UP, 4) for _ in range(4)),
    "wg": lambda r: _b64(r, 32),
    "bitlocker": lambda r: "-".join(str(11 * r.randrange(10000, 60000)).zfill(6) for _ in range(8)),
    "gapp": lambda r: " ".join(_r(r, string.ascii_lowercase, 4) for _ in range(4)),
    "apple": lambda r: "-".join(_r(r, string.ascii_lowercase, 4) for _ in range(4)),
    "sess": _tok("", LOW, 32),
    "connsid": lambda r: f"s%3A{_r(r, B64U, 32)}.{_r(r, B62, 43)}",
    "djsecret": lambda r: "django-insecure-" + _r(r, LOW + "!@#$%^&*(-_=+)", 48) + "q",
    "laravel": lambda r: "base64:" + _b64(r, 32),
    "phrase": lambda r: (
        "-".join(x.lower() for x in r.sample(_WORDS, 4)) + f"-{r.randrange(10, 99)}"
    ),
    "wpsalt": lambda r: _r(r, B62 + "!@#%^&*()-_+=|~.,:;?/{}", 63) + "Z",
    "snowpw": _pw,
    "privtext": _sample(
        "Marta verdient 68.000 im Jahr und will im Mai kündigen",
        "my therapist's number is on the fridge, ask for Dr. Okafor",
        "we will acquire Nordwind Ltd. before the quarter ends",
        "die PIN des Tresors steht im blauen Ordner",
        "the board has not approved the layoffs yet",
    ),
    "privcjk": _sample(
        "我的体检结果不太好，先别告诉同事",
        "来月で会社を辞めるつもりです",
        "내 계좌 잔액은 비밀이다",
        "收购价定在三千万，下周签",
    ),
}

MULTI = {"rsa", "pkcs8", "ec", "encpem", "ossh", "pem_n", "ossh_n", "pgp", "putty"}

_POS: list[tuple[str, int, str]] = []
_NEG: list[tuple[str, int, str]] = []

_POS.append(
    (
        "provider_token",
        2,
        r"""
export GITHUB_TOKEN=«ghp»
====
remote: https://x-access-token:«ghs»@github.com/nordwind/billing.git (fetch)
====
I created a classic PAT for you: «ghp» — please use it only for the release job.
====
$ gh auth status -t
github.com
  ✓ Logged in to github.com account ‹user› (oauth_token)
  ✓ Token: «gho»
====
GH_PAT: "«ghpat»"
====
{"access_token":"«gho»","expires_in":28800,"refresh_token":"«ghr»","token_type":"bearer"}
====
git clone https://oauth2:«glpat»@gitlab.com/fabrik/etl.git
====
gitlab-runner register --non-interactive --url https://gitlab.fabrik.io --token «glrt»
====
curl --header "PRIVATE-TOKEN: «glpat»" "https://gitlab.com/api/v4/projects/‹int›/jobs"
====
trigger token is «glptt», deploy token «gldt»
====
[default]
aws_access_key_id = AKIA‹b32_16›
aws_secret_access_key = «awssec»
region = eu-central-1
====
export AWS_ACCESS_KEY_ID="ASIA‹b32_16›"
export AWS_SECRET_ACCESS_KEY="«awssec»"
export AWS_SESSION_TOKEN="«awssess»"
====
aws configure set aws_secret_access_key «awssec» --profile staging
====
{
  "Credentials": {
    "AccessKeyId": "ASIA‹b32_16›",
    "SecretAccessKey": "«awssec»",
    "SessionToken": "«awssess»",
    "Expiration": "‹date›T10:22:14Z"
  }
}
====
AccessKey AKIA‹b32_16› / Secret «awssec» (the old one is deactivated)
====
s3 = boto3.client("s3", aws_access_key_id="AKIA‹b32_16›", aws_secret_access_key="«awssec»")
====
AWS_BEARER_TOKEN_BEDROCK=«bedrock»
====
const map = new google.maps.Loader({ apiKey: '«aiza»', version: 'weekly' });
====
GEMINI_API_KEY=«aiza»
====
{"installed":{"client_id":"‹int›-‹lower32›.apps.googleusercontent.com","project_id":"fabrik-etl","client_secret":"«gocspx»","redirect_uris":["http://localhost"]}}
====
{"token": "«ya29»", "refresh_token": "«grefresh»", "token_uri": "https://oauth2.googleapis.com/token", "scopes": ["https://www.googleapis.com/auth/drive"]}
====
$ gcloud auth print-access-token
«ya29»
====
{
  "type": "service_account",
  "project_id": "fabrik-etl",
  "private_key_id": "‹hex40›",
  "private_key": "«pem_n»\n",
  "client_email": "etl-writer@fabrik-etl.iam.gserviceaccount.com",
  "client_id": "‹int›"
}
====
AZURE_CLIENT_ID=‹uuid›
AZURE_TENANT_ID=‹uuid›
AZURE_CLIENT_SECRET=«azsecret»
====
DefaultEndpointsProtocol=https;AccountName=fabriklogs;AccountKey=«azstor»;EndpointSuffix=core.windows.net
====
https://fabriklogs.blob.core.windows.net/exports/report.csv?sv=2023-11-03&st=‹date›T08%3A00%3A00Z&se=‹date›T20%3A00%3A00Z&sr=b&sp=r&sig=«sas»
====
Endpoint=sb://orders-bus.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=«b64_32»
====
HostName=plant-hub.azure-devices.net;DeviceId=press-07;SharedAccessKey=«b64_32»
====
AccountEndpoint=https://shop.documents.azure.com:443/;AccountKey=«b64_64»;
====
az login --service-principal -u ‹uuid› -p «azsecret» --tenant ‹uuid›
====
AZURE_DEVOPS_EXT_PAT=«azdevops» az pipelines run --id ‹int›
====
OPENAI_API_KEY=«openai»
====
from openai import OpenAI
client = OpenAI(api_key="«openai_old»")
====
openai.AuthenticationError: Error code: 401 - the key «openai» has been disabled
====
my claude key is «anthropic», put that in the .env
====
curl https://api.anthropic.com/v1/messages -H "x-api-key: «anthropic»" -H "anthropic-version: 2023-06-01" -d @req.json
====
  "env": { "XAI_API_KEY": "«xai»", "GROQ_API_KEY": "«groq»" }
====
huggingface-cli login --token «hf»
====
HF_TOKEN=«hf» python train.py --push-to-hub
====
PERPLEXITY_API_KEY='«pplx»'
REPLICATE_API_TOKEN='«r8»'
====
litellm.completion(model="openrouter/auto", api_key="«openrouter»", messages=msgs)
====
DEEPSEEK_API_KEY=«deepseek»
ELEVENLABS_API_KEY=«elevenlabs»
====
LANGFUSE_PUBLIC_KEY=pk-lf-‹uuid›
LANGFUSE_SECRET_KEY=«langfuse»
====
pc = Pinecone(api_key="«pinecone»")
====
SLACK_BOT_TOKEN=«xoxb»
SLACK_APP_TOKEN=«xapp»
====
curl -s -X POST https://slack.com/api/chat.postMessage -H "Authorization: Bearer «xoxb»" -d channel=C0‹int›
====
legacy user token (still valid!): «xoxp»
====
curl -X POST -H 'Content-type: application/json' --data '{"text":"deploy done"}' https://hooks.slack.com/services/T‹UP10›/B‹UP10›/«b62_24»
====
client.run("«discord»")
====
DISCORD_WEBHOOK=https://discord.com/api/webhooks/‹int18›/«discordhook»
====
https://api.telegram.org/bot«telegram»/getUpdates
====
TELEGRAM_BOT_TOKEN: «telegram»
====
BotFather: Done! Use this token to access the HTTP API:
«telegram»
Keep your token secure.
====
Stripe.api_key = '«sklive»'
====
stripe listen --api-key «rklive»
> Ready! Your webhook signing secret is «whsec»
====
STRIPE_SECRET=«sklive_s»
====
account_sid = "AC‹hex32›"
auth_token = "«hex32»"
client = Client(account_sid, auth_token)  # twilio
====
SENDGRID_API_KEY=«sendgrid»
====
mg = Mailgun("«mailgun»", domain="mg.fabrik.io")
====
MAILCHIMP_API_KEY: «mailchimp»
====
brevo key: «brevo»
====
const resend = new Resend('«resend»');
====
//registry.npmjs.org/:_authToken=«npm»
====
npm config set //npm.fabrik.io/:_authToken «npm»
====
[pypi]
username = __token__
password = «pypi»
====
twine upload -u __token__ -p «pypi» dist/*
====
docker login -u ‹user› -p «dckr»
====
echo «dckr» | docker login --username ‹user› --password-stdin
====
{"auths":{"registry.fabrik.io":{"auth":"«basic»"}}}
====
CLOUDFLARE_API_TOKEN=«cf40» wrangler deploy
====
doctl auth init -t «dop»
====
HEROKU_API_KEY=«heroku»
====
vercel deploy --prod --token=«vercel»
====
NETLIFY_AUTH_TOKEN=«nfp» netlify deploy
====
SUPABASE_ACCESS_TOKEN=«sbp»
SUPABASE_SECRET_KEY=«sbsecret»
====
const supabase = createClient("https://‹lower20›.supabase.co", "«jwt»") // service_role!
====
SENTRY_DSN=https://‹hex32›:«hex32»@sentry.fabrik.io/‹small›
====
sentry-cli --auth-token «sntryu» releases new ‹ver›
====
DD_API_KEY=«hex32» DD_APP_KEY=«hex40» terraform plan
====
newrelic:
  license_key: «nral»
  user_key: «nrak»
====
curl -H "Authorization: Bearer «glsa»" https://grafana.fabrik.io/api/dashboards/home
====
GRAFANA_CLOUD_API_KEY=«glc»
====
POSTMAN_API_KEY=«pmak»
====
X-Shopify-Access-Token: «shpat»
====
SQUARE_ACCESS_TOKEN="«square»"
SQUARE_APP_SECRET="«sq0csp»"
====
jira = JIRA(server="https://fabrik.atlassian.net", basic_auth=("‹email›", "«atlassian»"))
====
LINEAR_API_KEY=«lin»
====
NOTION_TOKEN=«ntn»
# old: «notion_old»
====
Airtable.configure({ apiKey: '«airtable»' });
====
X-Figma-Token: «figd»
====
databricks configure --host https://adb-‹int›.7.azuredatabricks.net --token «dapi»
====
conn = snowflake.connector.connect(user="‹user›", password="«pw»", account="xy‹small›.eu-central-1")
====
credentials "app.terraform.io" {
  token = "«tfc»"
}
====
$ vault login -method=userpass username=‹user›
Key                    Value
---                    -----
token                  «hvs»
token_accessor         ‹b62_24›
token_duration         768h
====
VAULT_TOKEN=«vault_old» vault kv get secret/app
====
Unseal Key 1: «b64_32»
Unseal Key 2: «b64_32»
Initial Root Token: «hvs»
====
DOPPLER_TOKEN=«doppler» doppler run -- npm start
====
export PULUMI_ACCESS_TOKEN=«pulumi»
====
PLANETSCALE_SERVICE_TOKEN=«pscale»
DATABASE_PASSWORD=«pscalepw»
====
FLY_API_TOKEN="«fly»"
====
render token: «rnd»
====
Authorization: SSWS «okta»
====
contentful space import --management-token «cfpat»
====
BUILDKITE_TOKEN=«bkua»
CIRCLE_TOKEN=«ccipat»
====
:rubygems_api_key: «gem»
====
dotnet nuget push Fabrik.Core.‹ver›.nupkg -k «nuget» -s https://api.nuget.org/v3/index.json
====
cargo login «cargo»
====
sonar-scanner -Dsonar.host.url=https://sonar.fabrik.io -Dsonar.token=«sonar»
====
curl -H "X-JFrog-Art-Api: «akc»" -T app.jar https://art.fabrik.io/libs/app.jar
====
DT_API_TOKEN=«dt0»
====
ldclient.set_config(Config("«ldsdk»"))
====
mapboxgl.accessToken = '«mapbox»';
====
sudo tailscale up --authkey «tskey»
====
dbx = dropbox.Dropbox("«dropbox»")
====
curl -i -X GET "https://graph.facebook.com/v19.0/me/accounts?access_token=«fb»"
====
wandb login «hex40»
====
{"username":"‹user›","key":"«hex32»"}  <- my ~/.kaggle/kaggle.json
====
LINODE_CLI_TOKEN=«hex64»
====
hcloud context create prod  # token: «b62_64»
====
OPENWEATHER_API_KEY=«hex32»
====
ALGOLIA_ADMIN_KEY=«hex32»
====
const provider = new ethers.InfuraProvider('mainnet', { projectId: '‹hex32›', projectSecret: '«hex32»' })
====
BINANCE_API_SECRET=«b62_64»
====
Asana PAT: «asana»
====
POSTMARK_SERVER_TOKEN=«uuid»
====
PREFECT_API_KEY=«prefect»
""",
    )
)

_POS.append(
    (
        "config_file",
        2,
        r"""
DB_HOST=‹host›
DB_USER=‹user›
DB_PASSWORD=«pw»
DB_NAME=orders
====
POSTGRES_PASSWORD="«pwsym»"
====
REDIS_PASSWORD='«pwa»'  # rotated ‹date›
====
SECRET_KEY="«djsecret»"
====
APP_KEY=«laravel»
====
JWT_SECRET=«b64u43»
SESSION_SECRET=«hex64»
====
NEXTAUTH_SECRET=«b64_32»
====
spring.datasource.url=jdbc:postgresql://‹host›:5432/orders
spring.datasource.username=‹user›
spring.datasource.password=«pw»
====
spring:
  mail:
    host: smtp.fabrik.io
    username: ‹email›
    password: «pwa»
====
[database]
host = "‹host›"
user = "‹user›"
password = "«pw»"
====
[client]
user=root
password=«pwa»
====
{
  "ConnectionStrings": {
    "Default": "Server=‹host›,1433;Database=Orders;User Id=‹user›;Password=«pwa»;Encrypt=True"
  }
}
====
{"host":"‹host›","port":5432,"user":"‹user›","password":"«pw»","ssl":true}
====
services:
  db:
    image: postgres:16
    environment:
      POSTGRES_USER: ‹user›
      POSTGRES_PASSWORD: «pwa»
====
services:
  mq:
    image: rabbitmq:3-management
    environment:
      - RABBITMQ_DEFAULT_USER=‹user›
      - RABBITMQ_DEFAULT_PASS=«human»
====
apiVersion: v1
kind: Secret
metadata:
  name: orders-db
type: Opaque
data:
  password: «k8s»
====
apiVersion: v1
kind: Secret
metadata: {name: smtp}
stringData:
  username: ‹user›
  password: "«pw»"
====
        env:
        - name: MINIO_ROOT_USER
          value: ‹user›
        - name: MINIO_ROOT_PASSWORD
          value: "«pwa»"
====
[Service]
User=‹user›
Environment="API_TOKEN=«b62_40»"
Environment="DB_PASS=«human»"
ExecStart=/usr/local/bin/ordersd
====
provider "postgresql" {
  host     = "‹host›"
  username = "‹user›"
  password = "«pw»"
}
====
resource "aws_db_instance" "main" {
  engine   = "postgres"
  username = "‹user›"
  master_password = "«pwa»"
}
====
db_admin_password = "«pw»"
====
[web]
‹host› ansible_user=‹user› ansible_ssh_pass=«human» ansible_become_pass=«human»
====
- name: create user
  community.mysql.mysql_user:
    name: ‹user›
    password: "«pw»"
    priv: "orders.*:ALL"
====
postgresql:
  auth:
    postgresPassword: «pwa»
    replicationPassword: «pwa»
====
machine api.heroku.com
  login ‹email›
  password «uuid»
====
machine ‹host› login ‹user› password «human»
====
‹host›:5432:orders:‹user›:«pwa»
^ that's my .pgpass line, is the format right?
====
[global]
index-url = https://‹user›:«pwa»@pypi.fabrik.io/simple
====
registry=https://npm.fabrik.io/
//npm.fabrik.io/:_password="«k8s»"
//npm.fabrik.io/:username=‹user›
====
define( 'DB_USER', '‹user›' );
define( 'DB_PASSWORD', '«pw»' );
====
define('AUTH_KEY',         '«wpsalt»');
define('SECURE_AUTH_KEY',  '«wpsalt»');
====
<connectionStrings>
  <add name="Main" connectionString="Data Source=‹host›;Initial Catalog=Shop;User ID=‹user›;Password=«pwa»" providerName="System.Data.SqlClient" />
</connectionStrings>
====
<appSettings>
  <add key="SmtpPassword" value="«pwa»" />
</appSettings>
====
<server>
  <id>nexus-releases</id>
  <username>‹user›</username>
  <password>«pwa»</password>
</server>
====
<bean id="ds" class="org.apache.commons.dbcp2.BasicDataSource">
  <property name="username" value="‹user›"/>
  <property name="password" value="«pwa»"/>
</bean>
====
<Resource name="jdbc/shop" auth="Container" type="javax.sql.DataSource" username="‹user›" password="«human»" url="jdbc:mysql://‹host›:3306/shop"/>
====
network={
    ssid="Werkstatt-5G"
    psk="«human»"
}
====
[wifi-security]
key-mgmt=wpa-psk
psk=«pwa»
====
interface wlan0
wpa_passphrase=«human»
====
[Interface]
PrivateKey = «wg»
Address = 10.8.0.2/32
[Peer]
PublicKey = ‹wgpub›
PresharedKey = «wg»
Endpoint = vpn.fabrik.io:51820
====
requirepass «pwa»
masterauth «pwa»
====
[smtp]
user = ‹email›
passwd = «pwa»
====
bindDN: cn=admin,dc=fabrik,dc=io
bindPassword: «human»
====
olcRootPW: «human»
====
rpcuser=‹user›
rpcpassword=«pwa»
====
//‹host›/backup /mnt/backup cifs username=‹user›,password=«pwa»,uid=1000 0 0
====
keystore.password=«pwa»
ssl.truststore.password=«pwa»
====
storePassword=«pwa»
keyPassword=«pwa»
keyAlias=upload
storeFile=upload-keystore.jks
====
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="‹user›" password="«pwa»";
====
snmp-server community «pwa» RO
enable secret «human»
username ‹user› privilege 15 password 0 «human»
====
auth:
  basic:
    users:
      - name: ‹user›
        pass: «human»
====
hibernate.connection.password «pwa»
====
<?xml version="1.0"?><settings><smtp><host>smtp.fabrik.io</host><pass>«pwa»</pass></smtp></settings>
====
"mcpServers": {
  "orders": {
    "command": "npx",
    "args": ["-y", "orders-mcp", "--api-key", "«b62_40»"]
  }
}
====
set -x FABRIK_API_SECRET «b62_32»
====
$env:DB_PASSWORD = "«pwsym»"
====
setx SMTP_PASSWORD «pwa»
====
encryption_key: «hex64»
signing_secret: «hex32»
====
ENCRYPTION_KEY=«b64_32»
COOKIE_SECRET=«b62_32»
====
client_id = "‹uuid›"
client_secret = "«b62_40»"
====
webhookSecret: '«hex40»'
====
passphrase: "«phrase»"
====
restic:
  repo: sftp:‹user›@‹host›:/srv/restic
  password: «phrase»
====
GRAFANA_ADMIN_USER=admin
GF_SECURITY_ADMIN_PASSWORD=«human»
====
MONGO_URI=mongodb+srv://‹user›:«pwa»@cluster0.‹lower5›.mongodb.net/shop?retryWrites=true
""",
    )
)

_POS.append(
    (
        "code",
        2,
        r"""
conn = psycopg2.connect(host="‹host›", user="‹user›", password="«pw»", dbname="orders")
====
PASSWORD = '«pw»'
assert login("‹user›", PASSWORD)
====
requests.get(url, auth=("‹user›", "«pwa»"), timeout=10)
====
const pool = mysql.createPool({ host: '‹host›', user: '‹user›', password: '«pw»' });
====
const API_SECRET = `«b62_40»`;
====
headers: { Authorization: 'Bearer «b62_43»', Accept: 'application/json' }
====
private static final String DB_PASSWORD = "«pw»";
====
DriverManager.getConnection("jdbc:oracle:thin:@‹host›:1521/ORCL", "‹user›", "«pwa»");
====
dsn := "‹user›:«pwa»@tcp(‹host›:3306)/shop?parseTime=true"
====
cfg := Config{Token: "«b62_40»", Region: "eu"}
====
let client = Client::new("https://api.fabrik.io").with_token("«b62_40»");
====
const SECRET: &str = "«hex64»";
====
$pdo = new PDO("mysql:host=‹host›;dbname=shop", "‹user›", "«pwa»");
====
$config['smtp_pass'] = '«pw»';
====
ActiveRecord::Base.establish_connection(adapter: "postgresql", username: "‹user›", password: "«pw»")
====
var cred = new NetworkCredential("‹user›", "«pwa»");
====
builder.UserID = "‹user›"; builder.Password = "«pwsym»";
====
let password = "«human»"
keychain.set(password, forKey: "backup")
====
val apiKey = "«b62_32»"
====
char *passwd = "«pwa»";
====
#define WIFI_SSID "Werkstatt"
#define WIFI_PASS "«human»"
====
WiFi.begin("Werkstatt-5G", "«human»");
====
local password = "«pwa»"
redis:auth(password)
====
my $dbh = DBI->connect("dbi:Pg:dbname=orders;host=‹host›", "‹user›", "«pwa»");
====
config :orders, Orders.Repo, username: "‹user›", password: "«pwa»", hostname: "‹host›"
====
con <- dbConnect(RPostgres::Postgres(), user = "‹user›", password = "«pwa»", host = "‹host›")
====
$securePwd = ConvertTo-SecureString "«pwsym»" -AsPlainText -Force
====
await page.fill('#password', '«human»');
====
driver.find_element(By.NAME, "password").send_keys("«human»")
====
SECRET_TOKEN = "«hex64»".freeze
====
@app.route("/hook")
def hook():
    if request.headers["X-Signature"] != sign(b"«hex40»", request.data):
        abort(403)
    # signing secret is hard-coded, FIXME
====
smtp.login("‹email›", "«gapp»")  # Gmail app password
====
jwt.sign({ id: user.id }, '«b62_40»', { expiresIn: '7d' })
====
crypto.createHmac('sha256', '«hex64»').update(body).digest('hex')
====
ssh.connect("‹host›", username="‹user›", password="«human»")
====
(def db {:user "‹user›" :password "«pwa»"})
====
os.environ["API_TOKEN"] = "«b62_40»"
====
process.env.DB_PASSWORD = "«pwa»";
====
api_key = os.getenv("FABRIK_KEY", "«b62_40»")
====
parser.add_argument("--token", default="«b62_40»")
====
totp = pyotp.TOTP("«totp»")
====
wallet = Account.from_key("«eth»")
""",
    )
)

_POS.append(
    (
        "command",
        2,
        r"""
curl -u ‹user›:«pwa» https://‹host›/api/v1/status
====
curl -u '‹user›:«pwsym»' -X DELETE https://‹host›/index/old
====
mysql -h ‹host› -u ‹user› -p«pwa» orders < dump.sql
====
mysqldump --user=‹user› --password=«pwa» shop > shop.sql
====
PGPASSWORD=«pwa» psql -h ‹host› -U ‹user› orders -c 'select 1'
====
PGPASSWORD='«pwsym»' pg_dump -h ‹host› -U ‹user› orders | gzip > o.gz
====
sshpass -p «pwa» ssh ‹user›@‹host› uptime
====
sshpass -p '«human»' scp build.tgz ‹user›@‹host›:/srv/
====
docker login registry.fabrik.io -u ‹user› -p «pwa»
====
docker run -d -e MYSQL_ROOT_PASSWORD=«pwa» -p 3306:3306 mysql:8
====
htpasswd -b -c /etc/nginx/.htpasswd ‹user› «pwa»
====
openssl pkcs12 -in cert.p12 -nodes -passin pass:«pwa» -out cert.pem
====
openssl enc -aes-256-cbc -pbkdf2 -in db.sql -out db.enc -k «pwa»
====
redis-cli -h ‹host› -a «pwa» info memory
====
smbclient //‹host›/share -U ‹user›%«pwa» -c 'ls'
====
kubectl create secret generic orders-db --from-literal=username=‹user› --from-literal=password=«pwa»
====
kubectl create secret docker-registry regcred --docker-server=registry.fabrik.io --docker-username=‹user› --docker-password=«pwa»
====
echo '‹user›:«human»' | sudo chpasswd
====
echo "«human»" | sudo -S systemctl restart orders
====
net use Z: \\‹host›\share /user:‹user› «pwa»
====
mongosh "mongodb://‹host›:27017/shop" -u ‹user› -p «pwa» --authenticationDatabase admin
====
ldapsearch -x -H ldap://‹host› -D "cn=admin,dc=fabrik,dc=io" -w «pwa» -b dc=fabrik,dc=io
====
keytool -importkeystore -srckeystore a.jks -srcstorepass «pwa» -destkeystore b.p12 -deststorepass «pwa»
====
helm upgrade --install db bitnami/postgresql --set auth.postgresPassword=«pwa»
====
gpg --batch --passphrase «pwa» -c backup.tar
====
zip -P «pwa» -r private.zip docs/
====
7z x backup.7z -p«pwa»
====
nmcli dev wifi connect "Werkstatt-5G" password "«human»"
====
sqlcmd -S ‹host› -U ‹user› -P «pwa» -Q "SELECT @@VERSION"
====
az vm create -n web1 --image Ubuntu2204 --admin-username ‹user› --admin-password '«pw»'
====
gh secret set DEPLOY_KEY --body "«b62_40»"
====
wget --user=‹user› --password='«pw»' https://‹host›/nightly.tar.gz
====
http -a ‹user›:«pwa» GET https://‹host›/api
====
ftp://‹user›:«pwa»@‹host›/pub/
====
lftp -u ‹user›,«pwa» sftp://‹host›
====
vault kv put secret/orders db_password=«pwa»
====
consul kv get -token=«uuid» config/app
====
ALTER ROLE via: psql -c "ALTER ROLE ‹user› WITH PASSWORD '«pw»'"
====
influx config create -n prod -u http://‹host›:8086 -o fabrik -t «b64_64»
====
rclone config create box webdav url https://‹host›/dav user ‹user› pass «pwa»
====
aws secretsmanager create-secret --name orders/db --secret-string '{"username":"‹user›","password":"«pw»"}'
====
useradd -m ‹user#1› && echo "«human»" | passwd --stdin ‹user#1›
====
vncviewer -passwd <(vncpasswd -f <<<"«human»") ‹host›:1
====
xfreerdp /v:‹host› /u:‹user› /p:«pwa» /cert:ignore
====
git remote set-url origin https://‹user›:«pwa»@‹host›/team/repo.git
""",
    )
)

_POS.append(
    (
        "url_header_cookie",
        2,
        r"""
DATABASE_URL=postgresql://‹user›:«pwa»@‹host›:5432/orders?sslmode=require
====
amqp://‹user›:«pwurl»@‹host›:5672/%2F
====
redis://:«pwa»@‹host›:6379/0
====
CELERY_BROKER_URL = "redis://default:«b62_32»@‹host›:6379/1"
====
SQLALCHEMY_DATABASE_URI=mysql+pymysql://‹user›:«pwurl»@‹host›/shop
====
smtp://‹user›%40fabrik.io:«pwa»@smtp.fabrik.io:587
====
Open https://‹user›:«pwa»@‹host›/admin in the browser.
====
jdbc:sqlserver://‹host›:1433;databaseName=Shop;user=‹user›;password=«pwa»;encrypt=true
====
Driver={ODBC Driver 18 for SQL Server};Server=‹host›;Database=Shop;Uid=‹user›;Pwd=«pwa»;
====
jdbc:mysql://‹host›:3306/shop?user=‹user›&password=«pwa»
====
Authorization: Basic «basic»
====
> GET /api/v2/orders HTTP/1.1
> Host: ‹host›
> Authorization: Bearer «jwt»
> User-Agent: curl/8.5.0
====
X-Api-Key: «b62_40»
====
x-auth-token: «hex64»
====
Proxy-Authorization: Basic «basic»
====
Cookie: sessionid=«sess»; csrftoken=‹b62_32›; theme=dark
====
Set-Cookie: connect.sid=«connsid»; Path=/; HttpOnly
====
Cookie: PHPSESSID=«sess»; lang=de
====
set-cookie: __Secure-next-auth.session-token=«jwt»; Path=/; Secure; SameSite=Lax
====
GET /oauth/callback?state=ok&access_token=«b62_43»&token_type=bearer HTTP/1.1
====
https://api.fabrik.io/v1/export?format=csv&api_key=«b62_32»
====
https://app.fabrik.io/reset-password?token=«b64u43»&email=‹email›
====
POST /token
grant_type=client_credentials&client_id=‹user›&client_secret=«b62_40»
====
{"access_token":"«jwt»","token_type":"Bearer","expires_in":3600,"refresh_token":"«b64u43»"}
====
wss://stream.fabrik.io/ws?token=«jwt»
====
fetch(url, { headers: { 'X-Auth-Key': '«hex40»', 'X-Auth-Email': '‹email›' } })
====
Sec-WebSocket-Protocol: bearer, «jwt»
====
-H 'authorization: Token «hex40»'
====
username=‹user›&password=«pwa»&remember=1
====
sftp://‹user›:«pwa»@‹host›:2222/incoming
====
https://outlook.office.com/webhook/‹uuid›@‹uuid›/IncomingWebhook/«hex32»/‹uuid›
====
TWITTER_BEARER=«twbearer»
====
proxy=http://‹user›:«pwa»@proxy.corp.lan:3128
""",
    )
)

_POS.append(
    (
        "sql",
        2,
        r"""
CREATE USER ‹sqluser› WITH PASSWORD '«pw»';
====
CREATE USER '‹sqluser›'@'%' IDENTIFIED BY '«pw»';
====
ALTER USER 'root'@'localhost' IDENTIFIED WITH mysql_native_password BY '«pwa»';
====
CREATE LOGIN ‹sqluser› WITH PASSWORD = N'«pwa»', CHECK_POLICY = ON;
====
SET PASSWORD FOR '‹sqluser›'@'%' = PASSWORD('«pwa»');
====
GRANT ALL ON shop.* TO '‹sqluser›'@'10.%' IDENTIFIED BY "«pwa»";
====
CREATE USER ‹sqluser› IDENTIFIED BY «pwa» DEFAULT TABLESPACE users;
====
INSERT INTO users (name, password) VALUES ('‹sqluser›', '«human»');
====
UPDATE settings SET value = '«b62_40»' WHERE name = 'stripe_secret_key';
====
CREATE SUBSCRIPTION s CONNECTION 'host=‹host› dbname=shop user=‹sqluser› password=«pwa»' PUBLICATION p;
====
CREATE USER MAPPING FOR app SERVER fdw OPTIONS (user '‹sqluser›', password '«pwa»');
====
COPY t FROM 's3://fabrik/x.csv' CREDENTIALS 'aws_access_key_id=AKIA‹b32_16›;aws_secret_access_key=«awssec»';
====
db.createUser({ user: "‹sqluser›", pwd: "«pwa»", roles: ["readWrite"] })
""",
    )
)

_POS.append(
    (
        "log_trace_table_diff",
        2,
        r"""
‹date› ‹time› DEBUG auth.client - login user=‹user› password=«pwa» result=OK
====
‹date›T‹time›Z INFO  [http] request headers={authorization=Bearer «jwt», host=‹host›}
====
Traceback (most recent call last):
  File "/srv/app/db.py", line ‹small›, in connect
    engine = create_engine("postgresql://‹user›:«pwa»@‹host›/orders")
sqlalchemy.exc.OperationalError: could not connect to server
====
Error: connect ECONNREFUSED mongodb://‹user›:«pwa»@‹host›:27017/shop
    at TCPConnectWrap.afterConnect (node:net:1555:16)
====
java.sql.SQLException: Access denied [url=jdbc:mysql://‹host›/shop, props={user=‹user›, password=«pwa»}]
====
| Service | User | Password |
|---------|------|----------|
| Grafana | ‹user› | «human» |
| Jenkins | ‹user› | «pwa» |
====
service	login	password
jenkins	‹user›	«pwa»
nexus	‹user›	«pwa»
====
user,password
‹email›,«human»
‹email›,«pwa»
====
-DB_PASSWORD=«pwa»
+DB_PASSWORD=${DB_PASSWORD}
====
@@ -3,5 +3,5 @@ services:
     environment:
-      API_TOKEN: «b62_40»
+      API_TOKEN: «b62_40»
====
diff --git a/src/config.ts b/src/config.ts
+export const apiKey = '«b62_40»';
====
+ sshpass -p «pwa» rsync -a ./ ‹user›@‹host›:/srv/app
====
{"level":"debug","ts":"‹date›T‹time›Z","msg":"token refreshed","refresh_token":"«b62_43»"}
====
Jenkins initial setup is required. Please use the following password to proceed to installation:

«hex32»

This may also be found at: /var/lib/jenkins/secrets/initialAdminPassword
====
Generated root password: «b62_24»
====
[Note] A temporary password is generated for root@localhost: «pw»
====
✅ The generated password for elastic built-in superuser is: «b62_24»
====
$ kubectl get secret orders-db -o jsonpath='{.data.password}' | base64 -d; echo
«pw»
====
$ echo $DB_PASSWORD
«pw»
====
$ printenv | grep -i secret
FABRIK_SECRET=«b62_40»
STRIPE_WEBHOOK_SECRET=«whsec»
====
$ cat .env
API_BASE=https://api.fabrik.io
API_SECRET=«b62_32»
====
$ docker inspect db --format '{{.Config.Env}}'
[POSTGRES_USER=‹user› POSTGRES_PASSWORD=«pwa» PATH=/usr/local/bin]
====
   12 | const user = '‹user›';
   13 | const password = '«pw»';
   14 | login(user, password);
====
argocd admin password is: «b62_24»
====
Outputs:

db_endpoint = "‹host›:5432"
db_password = "«pw»"
====
>>> cfg
{'host': '‹host›', 'user': '‹user›', 'passwd': '«pw»'}
====
stdout: "changed password for ‹user› to «human»"
====
  password: [old] «pwa» => [new] «pwa»
""",
    )
)

_POS.append(
    (
        "chat_en",
        2,
        r"""
The password is «pwa», don't share it.
====
Login for staging: ‹user› / «human»
====
pw for the NAS: «human»
====
you can ssh in as ‹user›, password «pwa»
====
My API key is «b62_40» — can you test the endpoint?
====
Use the token «hex40» for the upload.
====
Username: ‹user›
Password: «human»
====
I changed the admin password from «human» to «human» this morning.
====
The wifi password at the office is «human» (network Werkstatt-5G).
====
creds -> ‹user›:«human»
====
the secret key you need is `«b62_40»`
====
password="«human»" doesn't work on the second server, why?
====
Try logging in with ‹email› and the password "«human»".
====
Passphrase for the backup disk: «phrase»
====
The zip is encrypted; the passphrase is «human».
====
sudo pw is «pwa» btw
====
Here's the client secret: «azsecret»
====
**Password:** `«pw»`
====
- user: ‹user›
- pass: «pwa»
- url: https://‹host›
====
Root passwd = «pwa»
""",
    )
)

_POS.append(
    (
        "chat_world",
        2,
        r"""
Das Passwort ist «pwa», bitte nicht weitergeben.
====
Das Kennwort für den Server lautet: «human»
====
Zugangsdaten: Benutzer ‹user›, Passwort «pwa»
====
Das WLAN-Passwort vom Büro ist «human».
====
Der API-Schlüssel lautet «b62_40»
====
Le mot de passe est «pwa», ne le partage pas.
====
Mot de passe : «human»
====
Identifiant : ‹user› — mot de passe : «pwa»
====
La contraseña es «pwa».
====
Contraseña: «human»
====
la clave del wifi es «human»
====
A senha é «pwa», ok?
====
Senha do banco de dados: «pwa»
====
La password è «pwa»
====
Het wachtwoord is «pwa».
====
Wachtwoord: «human»
====
Пароль: «pwa»
====
пароль от сервера «pwa», логин ‹user›
====
Hasło to «pwa»
====
Lösenordet är «pwa»
====
Salasana on «pwa»
====
Heslo: «human»
====
Şifre: «pwa»
====
Ο κωδικός πρόσβασης είναι «pwa»
====
Mật khẩu là «pwa»
====
Kata sandi: «human»
====
पासवर्ड है «pwa»
====
رجاءً، كلمة المرور هي «pwa»
====
كلمة المرور: «pwa»
====
הסיסמה היא «pwa»
====
รหัสผ่านคือ «pwa»
====
Adgangskoden er «pwa»
====
A jelszó: «pwa»
====
Пароль Wi-Fi: «human»
====
Parola este «pwa»
""",
    )
)

_POS.append(
    (
        "cjk_adjacent",
        2,
        r"""
密码是«pwa»，别告诉别人。
====
密码：«pwa»
====
数据库密码为«pwa»请尽快修改
====
服务器的登录密码改成«human»了
====
用户名‹user›密码«pwa»
====
请用令牌«ghp»推送代码
====
我的密钥是«openai»你试试
====
API密钥：«b62_40»。
====
パスワードは«pwa»です。
====
パスワード：«human»
====
トークンは«ghp»を使ってください
====
秘密鍵は«awssec»なので共有しないでください。アクセスキーはAKIA‹b32_16›です。
====
APIキーは「«b62_40»」です
====
비밀번호는 «pwa»입니다.
====
비밀번호: «pwa»
====
토큰은«glpat»이고 내일 만료됩니다
====
API 키는 «anthropic»예요
====
密碼是「«human»」，請妥善保管
====
无线密码«human»，访客网络不用密码
====
测试环境账号：‹user›，口令：«pwa»
====
请把«xoxb»填到配置里
====
連接字串postgres://‹user›:«pwa»@‹host›:5432/shop請勿外流
====
他发的webhook是https://hooks.slack.com/services/T‹UP10›/B‹UP10›/«b62_24»，先停用
====
设置环境变量DB_PASSWORD=«pwa»然后重启
""",
    )
)

_POS.append(
    (
        "private_key",
        2,
        r"""
$ cat ~/.ssh/id_ed25519
«ossh»
====
«rsa»
====
here is the key file:
```
«pkcs8»
```
it must have mode 600
====
key: |
«ec»
====
«encpem»
====
"sshKey": "«ossh_n»"
====
PRIVATE_KEY="«pem_n»"
====
«pgp»
====
tls.key: |
«pkcs8»
tls.crt: see the other file
====
PuTTY-User-Key-File-3: ssh-rsa
Encryption: none
Comment: ‹user›
Private-Lines: 4
«putty»
Private-MAC: ‹hex64›
====
# created: ‹date›T‹time›+02:00
# public key: age1‹bech58›
«age»
====
SOPS_AGE_KEY=«age»
====
my nostr key is «nsec», npub is on my site
====
NOSTR_NSEC=«nsec»
====
请勿外传：
«ossh»
谢谢
====
-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,‹HEX32›

«putty»
-----END RSA PRIVATE KEY-----
====
PRIVATE_KEY=«eth»
====
privkey (WIF): «wif»
====
root extended key: «xprv»
====
$ wg genkey | tee privatekey
«wg»
""",
    )
)

_POS.append(
    (
        "recovery_totp_seed",
        2,
        r"""
GitHub recovery codes:
«recovery»
«recovery»
«recovery»
«recovery»
====
Your backup codes: «recovery», «recovery», «recovery»
====
TOTP secret: «totp»
====
otpauth://totp/Fabrik:‹email›?secret=«totp»&issuer=Fabrik
====
Can't scan the QR code? Enter this setup key: «totp16»
====
oathtool --totp -b «totp16»
====
My seed phrase: «bip12»
====
Write down your recovery phrase:

«bip24»
====
MNEMONIC="«bip12»"
====
const wallet = ethers.Wallet.fromPhrase("«bip12»");
====
Die Wiederherstellungsphrase lautet: «bip12»
====
助记词：«bip12»
====
BitLocker Recovery Key:
«bitlocker»
====
Apple app-specific password: «apple»
====
Recovery key: «recup»
""",
    )
)

_POS.append(
    (
        "private_block",
        3,
        r"""
Deploy went fine. <private>«privtext»</private> Next step: update the docs.
====
<private>
«privtext»
</private>
Please summarise the rest.
====
Notiz: <private>«privtext»</private>
====
请注意<private>«privcjk»</private>其余内容可以保存。
====
First <private>«privtext»</private>, then <private>«privcjk»</private>, done.
====
<private>the code for the lab is «pwa» and «privtext»</private>
====
- todo: release ‹ver›
- <private>«privtext»
  «privcjk»</private>
- todo: tag
====
user: hi
assistant: hello <private>«privcjk»</private>
user: thanks
""",
    )
)


_NEG.append(
    (
        "git_hash",
        4,
        r"""
commit ‹hex40›
Author: ‹name› <‹email›>
Date:   Mon ‹date› ‹time› +0100

    ‹msg›
====
‹hex7› ‹msg›
====
HEAD is now at ‹hex7› ‹msg›
====
Merge: ‹hex7› ‹hex7›
====
git cherry-pick ‹hex40›
====
Fast-forwarded main to ‹hex40›.
====
index ‹hex7›..‹hex7› 100644
====
$ git rev-parse HEAD
‹hex40›
====
Bisecting: ‹small› revisions left to test after this
[‹hex40›] ‹msg›
====
- uses: actions/checkout@‹hex40› # v‹ver›
====
‹hex40›	refs/heads/‹kebab›
====
Regression came in with ‹hex12›, see the diff of `‹path›`.
====
tree ‹hex40›
parent ‹hex40›
====
go: github.com/nordwind/‹kebab›@v0.0.0-20240‹small›1093012-‹hex12›
====
submodule path 'vendor/‹kebab›': checked out '‹hex40›'
====
100644 blob ‹hex40›	‹path›
====
rev: ‹hex40›
repo: https://github.com/psf/black
====
Fixed in ‹hex7› and backported as ‹hex7›.
""",
    )
)

_NEG.append(
    (
        "uuid_id",
        4,
        r"""
request_id=‹uuid›
====
"id": "‹uuid›",
====
GET /api/v1/orders/‹uuid› 200 ‹small›ms
====
trace_id=‹hex32› span_id=‹hex16›
====
traceparent: 00-‹hex32›-‹hex16›-01
====
UUID=‹uuid› /boot ext4 defaults 0 2
====
The job ‹uuid› was started at ‹time› by ‹path›.
====
Order ‹uuid› belongs to customer ‹int›.
====
INSERT INTO orders (id, qty) VALUES ('‹uuid›', ‹small›);
====
_id: ObjectId("‹hex24›")
====
arn:aws:ec2:eu-central-1:‹int12›:instance/i-0‹hex16›
====
subnet-0‹hex16› vpc-0‹hex16› sg-0‹hex16›
====
arn:aws:kms:eu-west-1:‹int12›:key/‹uuid›
====
correlationId: ‹uuid›, tenantId: ‹uuid›
====
pod/orders-‹hex8›-‹lower5› 1/1 Running 0 ‹small›h
====
container ‹hex64› exited with code 1
====
CONTAINER ID ‹hex12› IMAGE postgres:16 STATUS Up ‹small› minutes
====
message id <‹hex16›.‹int›@‹host›>
====
job ‹int› (run ‹int18›) finished
====
toolu_01‹b62_22› returned an empty list
====
msg_01‹b62_22› stop_reason=end_turn
====
chatcmpl-‹b62_29› used ‹small› tokens
====
"customer": "cus_‹b62_14›", "amount": ‹int›
====
Slack channel C0‹UP9›, user U0‹UP9›
====
https://open.spotify.com/track/‹b62_22›
====
01HZ‹crock22› (ULID of the event)
====
Windows device {‹uuid›} was removed
====
<w:guid w:val="{‹uuid›}"/>
====
Discord guild ‹int18›, channel ‹int18›
====
figma.com/file/‹b62_22›/‹kebab›?node-id=‹small›-‹small›
====
Notion page: https://www.notion.so/fabrik/‹kebab›-‹hex32›
====
https://docs.google.com/document/d/1‹b62_43›/edit
====
etag: W/"‹hex8›-‹hex16›"
====
x-amz-request-id: ‹UP16›
====
CF-RAY: ‹hex16›-FRA
""",
    )
)

_NEG.append(
    (
        "checksum_lock",
        4,
        r"""
‹hex64›  ‹kebab›-‹ver›.tar.gz
====
MD5 (‹kebab›.iso) = ‹hex32›
====
SHA256:‹hex64›
====
"integrity": "sha512-‹sha512›"
====
    "node_modules/‹kebab›": {
      "version": "‹ver›",
      "resolved": "https://registry.npmjs.org/‹kebab›/-/‹kebab›-‹ver›.tgz",
      "integrity": "sha512-‹sha512›",
====
‹kebab›@^‹ver›:
  version "‹ver›"
  resolved "https://registry.yarnpkg.com/‹kebab›/-/‹kebab›-‹ver›.tgz#‹hex40›"
  integrity sha512-‹sha512›
====
  /‹kebab›@‹ver›:
    resolution: {integrity: sha512-‹sha512›}
    engines: {node: '>=18'}
====
[[package]]
name = "‹kebab›"
version = "‹ver›"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "‹hex64›"
====
github.com/nordwind/‹kebab› v‹ver› h1:‹b64_32›
====
github.com/nordwind/‹kebab› v‹ver›/go.mod h1:‹b64_32›
====
‹kebab›==‹ver› \
    --hash=sha256:‹hex64› \
    --hash=sha256:‹hex64›
====
{file = "‹kebab›-‹ver›-py3-none-any.whl", hash = "sha256:‹hex64›"},
====
image: nordwind/‹kebab›@sha256:‹hex64›
====
Digest: sha256:‹hex64›
Status: Downloaded newer image for ‹kebab›:‹ver›
====
<script src="https://cdn.fabrik.io/‹kebab›.js" integrity="sha384-‹b64_48›" crossorigin="anonymous"></script>
====
SPEC CHECKSUMS:
  ‹camel›: ‹hex40›
  ‹camel›: ‹hex40›
====
"content-hash": "‹hex32›",
====
"narHash": "sha256-‹b64_32›",
====
sha256 = "‹hex64›";
====
  sha256 "‹hex64›"
  url "https://fabrik.io/dl/‹kebab›-‹ver›.tar.gz"
====
distributionSha256Sum=‹hex64›
====
h1:‹b64_32› (provider hash in .terraform.lock.hcl)
====
"zh:‹hex64›",
====
b2sum: ‹hex128›
====
crc32 ‹hex8› adler32 ‹hex8›
====
ETag: "‹hex32›"
====
sha1sum ‹path›: ‹hex40›
====
"dependencies": { "‹kebab›": "^‹ver›", "‹kebab›": "~‹ver›" }
====
Layer ‹hex12›: Pull complete
====
cache key: Linux-node-‹hex64›
====
"_shasum": "‹hex40›",
====
locked: rev ‹hex40›, lastModified ‹int›
""",
    )
)

_NEG.append(
    (
        "base64_image_bin",
        4,
        r"""
<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA‹b64_120›">
====
background: url("data:image/svg+xml;base64,PHN2ZyB4bWxucz0i‹b64_64›");
====
![logo](data:image/gif;base64,R0lGODlhAQABA‹b64_48›)
====
src: url(data:font/woff2;base64,d09GMgABAAAA‹b64_120›) format("woff2");
====
"thumbnail": "/9j/4AAQSkZJRgABAQAAAQABAAD‹b64_120›"
====
//# sourceMappingURL=data:application/json;charset=utf-8;base64,eyJ2ZXJzaW9uIjozLCJz‹b64_64›
====
00000000: ‹hex4› ‹hex4› ‹hex4› ‹hex4› ‹hex4› ‹hex4› ‹hex4› ‹hex4›  ................
====
0x‹hex40› received ‹small› ETH (tx 0x‹hex64›)
====
block 0x‹hex64› mined
====
blurhash: LEHV6nWB2yk8pyo0adR*.7kCMdnj
thumb ‹small›x‹small›
====
embedding[0:4] = [0.‹int›, -0.‹int›, 0.‹int›, -0.‹int›]
""",
    )
)

_NEG.append(
    (
        "public_key_cert",
        4,
        r"""
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64_42x› ‹user›@‹host›
====
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE‹b64_28x›
‹b64_58x›==
-----END PUBLIC KEY-----
====
-----BEGIN CERTIFICATE-----
MIIB‹b64_60x›
‹b64_64x›
‹b64_64x›
‹b64_44x›==
-----END CERTIFICATE-----
====
-----BEGIN CERTIFICATE REQUEST-----
MIIC‹b64_60x›
‹b64_64x›
‹b64_40x›
-----END CERTIFICATE REQUEST-----
====
-----BEGIN PGP PUBLIC KEY BLOCK-----

mQIN‹b64_60x›
‹b64_64x›
=‹b64_4x›
-----END PGP PUBLIC KEY BLOCK-----
====
SHA256:‹b64_43x› ‹user›@‹host› (ED25519)
====
Fingerprint: ‹fpr›
====
|1|‹b64_20›|‹b64_20› ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64_42x›
====
[Peer]
PublicKey = ‹wgpub›
AllowedIPs = 10.8.0.‹small›/32
====
follow me: npub1‹bech58›
====
age1‹bech58› is the recipient in .sops.yaml
====
gpg: key ‹HEX16›: public key "‹name› <‹email›>" imported
====
v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC‹b64_120x›QIDAQAB
====
"kty":"RSA","e":"AQAB","use":"sig","kid":"‹hex16›","n":"‹b64u_120›"
====
pin-sha256="‹b64_32›"; max-age=‹int›
====
serial=‹HEX32›
subject=CN = ‹host›
notAfter=Nov 11 ‹time› 2027 GMT
====
untrusted comment: minisign public key ‹HEX16›
====
Host key for ‹host› has changed; fingerprint SHA256:‹b64_43x›
====
watch-only wallet ‹xpub› added
====
Bitcoin address bc1q‹bech38›
""",
    )
)

_NEG.append(
    (
        "path_url_ident",
        4,
        r"""
/home/‹user›/src/‹kebab›/‹path›
====
C:\Users\‹name1›\AppData\Local\Temp\‹hex8›\setup.log
====
/nix/store/‹nix32›-‹kebab›-‹ver›/bin/‹kebab›
====
node_modules/.pnpm/‹kebab›@‹ver›_‹hex32›/node_modules/‹kebab›/index.js
====
https://github.com/nordwind/‹kebab›/blob/‹hex40›/‹path›#L‹small›
====
https://github.com/nordwind/‹kebab›/pull/‹small›#issuecomment-‹int›
====
https://stackoverflow.com/questions/‹int›/how-to-reset-a-forgotten-password
====
https://fabrik.io/assets/index-‹hex8›.js
====
https://www.youtube.com/watch?v=‹yt›&t=‹small›s
====
https://auth.fabrik.io/oauth/authorize?response_type=code&client_id=‹kebab›&scope=openid
====
s3://fabrik-backups/‹date›/‹kebab›/part-‹small›-‹uuid›.parquet
====
file:///srv/secrets-demo/‹kebab›/README.md
====
src/auth/password_reset/‹snake›.py
====
packages/token-counter/src/‹camel›.tsx
====
cd ~/.cache/huggingface/hub/models--bert/snapshots/‹hex40›
====
https://cdn.discordapp.com/avatars/‹int18›/‹hex32›.png
====
https://res.cloudinary.com/fabrik/image/upload/v‹int›/‹kebab›.jpg
====
https://fabrik.io/reset-password
====
http://localhost:‹port›/api/tokens?page=‹small›&limit=50
====
postgresql://‹host›:5432/‹snake›
====
redis://‹host›:6379/‹d1›
====
git@github.com:nordwind/‹kebab›.git
====
https://‹host›:‹port›/‹path›?session=open&sort=asc
====
ssh://git@‹host›:2222/team/‹kebab›.git
====
mailto:‹email›?subject=Password%20policy
====
target/debug/deps/‹snake›-‹hex16›.d
====
_ZN4core3fmt9Formatter3pad17h‹hex16›E
====
com.fabrik.security.‹camel›TokenProviderFactoryBean
====
static/js/main.‹hex8›.chunk.js
====
/var/lib/docker/overlay2/‹hex64›/merged
====
dist/‹camel›.module.css → ._‹camel›_‹lower5›_‹small›
====
/sys/fs/cgroup/kubepods.slice/kubepods-pod‹uuid›.slice
====
https://hub.docker.com/layers/nordwind/‹kebab›/‹ver›/images/sha256-‹hex64›
====
https://sentry.io/organizations/fabrik/issues/‹int›/?project=‹int›
====
https://maps.google.com/?q=48.‹int›,11.‹int›
====
doi:10.1145/‹int›.‹int›
====
arXiv:2403.‹small›123v2 "Leaking Passwords at Scale"
""",
    )
)

_NEG.append(
    (
        "number_date_order",
        4,
        r"""
IBAN: DE‹d2› ‹d4› ‹d4› ‹d4› ‹d4› ‹d2›
====
Rechnung RE-2024-‹int›, fällig am ‹date›
====
Order no. ‹UP4›-‹d4›-‹d4›-‹UP4› shipped
====
Tel. +49 89 ‹d4› ‹d4›
====
call me at +1 (415) 555-01‹d2›
====
Tracking: 1Z‹UP9›‹d4›‹d4›
====
ISBN 978-3-‹d4›-‹d4›-7
====
EAN ‹d4›‹d4›‹d4›‹d1›
====
VIN WVWZZZ1JZ‹UP4›‹d4›‹d2›
====
Serial number: C02‹UP9›
====
Ticket OPS-‹d4›: rotate the passwords before ‹date›
====
MAC ‹mac›, IP 10.‹small›.0.‹small›
====
fe80::‹hex4›:‹hex4›:‹hex4›:‹hex4›%eth0
====
Flight LH‹d4›, seat 14C, gate B‹d2›
====
π ≈ 3.14159265358979‹int›
====
f(x) = ‹small›x^2 - ‹small›x + 1, so f(‹small›) = ‹int›
====
‹date›T‹time›.‹d4›Z
====
epoch ‹int›000 → ‹date›
====
Umsatz 2023: ‹int›,‹d2› €; Kosten: ‹int›,‹d2› €
====
ticks=‹int18› delta=‹small›ns
====
Steuernummer ‹d2›/‹d4›/‹d4›, Kundennummer ‹int›
====
version ‹ver›-beta.‹small›+build.‹int›
====
Chrome/‹small›.0.‹d4›.‹small› Safari/537.36
====
GPS 48.‹int›N 11.‹int›E, elevation ‹small› m
====
chess: 1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 (game ‹int›)
====
Part STM32F407VGT6, lot ‹UP6›‹d4›
====
電話番号は03-‹d4›-‹d4›です。
====
订单号‹int18›，预计‹date›送达
====
快递单号SF‹int›‹d4›，请查收
""",
    )
)

_NEG.append(
    (
        "log_trace",
        4,
        r"""
‹date› ‹time› INFO  auth.service - user ‹user› logged in from 10.0.‹small›.‹small›
====
‹date› ‹time› WARN  PasswordPolicy - password too short (min 12) for user ‹user›
====
‹date›T‹time›Z ERROR token expired for device ‹uuid›
====
sshd[‹d4›]: Failed password for ‹user› from 10.1.‹small›.‹small› port ‹port› ssh2
====
sshd[‹d4›]: Accepted publickey for ‹user› from 10.1.2.‹small› port ‹port› ssh2: ED25519 SHA256:‹b64_43x›
====
FATAL:  password authentication failed for user "‹user›"
====
ERROR 1045 (28000): Access denied for user '‹user›'@'‹host›' (using password: YES)
====
[‹time›] POST /login 401 in ‹small›ms (invalid password)
====
Traceback (most recent call last):
  File "/srv/‹path›", line ‹small›, in get_token
    raise TokenError("no token in cache")
auth.TokenError: no token in cache
====
TypeError: Cannot read properties of undefined (reading 'password')
    at validate (/app/src/‹camel›.ts:‹small›:‹small›)
====
java.lang.IllegalArgumentException: secret must not be null
	at com.fabrik.auth.‹camel›.<init>(‹camel›.java:‹small›)
====
panic: runtime error: index out of range [‹small›] with length ‹small›

goroutine 1 [running]:
main.parseToken(0xc000‹hex6›, 0x1f)
	/src/‹path›:‹small› +0x1b
====
npm ERR! code E401
npm ERR! Unable to authenticate, your authentication token seems to be invalid.
npm ERR! log /home/‹user›/.npm/_logs/‹date›T09_1‹d1›_‹d2›_‹small›Z-debug-0.log
====
prompt_tokens=‹small› completion_tokens=‹small› total_tokens=‹d4›
====
usage: {"input_tokens": ‹d4›, "output_tokens": ‹small›, "cache_read_input_tokens": ‹int›}
====
10.0.0.‹small› - - [‹date›:‹time› +0000] "GET /‹path› HTTP/1.1" 200 ‹int› "-" "curl/8.‹d1›.0"
====
Segmentation fault at 0x‹hex12› (core dumped)
====
#‹d1›  0x0000‹hex12› in EVP_PKEY_get_raw_private_key () from libcrypto.so.3
====
test_password_hashing PASSED [ ‹d2›%]
====
✓ rejects an expired token (‹small› ms)
====
FAILED tests/‹snake›.py::test_token_refresh - AssertionError: assert ‹small› == ‹small›
====
kernel: audit: type=1400 audit(‹int›.‹small›:‹small›): apparmor="DENIED" comm="‹kebab›"
====
systemd[1]: Started Session ‹small› of user ‹user›.
====
WARNING: using --password via the CLI is insecure. Use --password-stdin. (line ‹small›)
====
warning: unused variable: `secret` at src/‹snake›.rs:‹small›:‹small›
====
Successfully installed ‹kebab›-‹ver› ‹kebab›-‹ver›
====
Compiling ‹kebab› v‹ver› (/home/‹user›/src/‹kebab›)
====
Step ‹small›/‹small› : RUN --mount=type=secret,id=npm npm ci
 ---> ‹hex12›
====
Generating RSA private key, 2048 bit long modulus (‹d1› primes)
....+++++
====
SHA-256 of build ‹ver›: ‹hex64›; duration ‹small›s
====
[pid ‹d4›] openat(AT_FDCWD, "/etc/‹snake›.conf", O_RDONLY) = ‹d1›
====
rate limit: ‹small› requests left for key id ‹small›
====
INFO: token bucket refilled (capacity=‹small›, rate=‹small›/s)
====
K8s: secret "‹kebab›" created
====
secret/‹kebab› configured; deployment.apps/‹kebab› restarted
====
NAME            TYPE     DATA   AGE
‹kebab›-tls     Opaque   ‹d1›      ‹small›d
====
 ✗ Secret scanning: 0 secrets found in ‹small› files
====
OAuth callback: state matched, exchanging code for token (attempt ‹d1›)
""",
    )
)

_NEG.append(
    (
        "env_reference",
        3,
        r"""
‹ENV›_PASSWORD=$‹ENV›_PASSWORD
====
password: ${‹ENV›_PASSWORD}
====
token: ${{ secrets.‹ENV›_TOKEN }}
====
api_key = os.environ["‹ENV›_API_KEY"]
====
const apiKey = process.env.‹ENV›_API_KEY;
====
secret := os.Getenv("‹ENV›_SECRET")
====
let token = std::env::var("‹ENV›_TOKEN")?;
====
password: "{{ vault_‹snake›_password }}"
====
curl -H "Authorization: Bearer $‹ENV›_TOKEN" https://‹host›/api
====
curl -u "$USER:$‹ENV›_PASSWORD" https://‹host›/
====
DATABASE_URL=postgres://${DB_USER}:${DB_PASSWORD}@‹host›:5432/‹snake›
====
mysql -h ‹host› -u root -p"$MYSQL_ROOT_PASSWORD" ‹snake›
====
PGPASSWORD="$‹ENV›_PW" psql -h ‹host›
====
password = var.‹snake›_password
====
secretKeyRef:
  name: ‹kebab›
  key: password
====
valueFrom:
  secretKeyRef: {name: ‹kebab›-db, key: db-password}
====
password: !vault_ref ‹snake›/db#password
====
$env:‹ENV›_TOKEN
====
password=%‹ENV›_PASSWORD%
====
spring.datasource.password=${‹ENV›_DB_PASSWORD}
====
api_token = ENV.fetch("‹ENV›_API_TOKEN")
====
String pw = System.getenv("‹ENV›_PASSWORD");
====
$password = getenv('‹ENV›_PASSWORD');
====
$token = $_ENV['‹ENV›_TOKEN'];
====
var secret = Environment.GetEnvironmentVariable("‹ENV›_SECRET");
====
password: <%= ENV["‹ENV›_PASSWORD"] %>
====
token: op://Private/‹kebab›/credential
====
docker run -e ‹ENV›_TOKEN -e ‹ENV›_PASSWORD nordwind/‹kebab›:‹ver›
====
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
# used by ‹kebab›
====
echo "$‹ENV›_TOKEN" | docker login -u ‹user› --password-stdin
====
password_file: /run/secrets/‹snake›_password
====
POSTGRES_PASSWORD_FILE=/run/secrets/‹snake›
====
LoadCredential=db-password:/etc/‹kebab›/db-password
====
token: !Ref ‹camel›Token
====
password: {{ .Values.‹snake›.password | quote }}
====
SecretString: !Sub '{{resolve:secretsmanager:‹kebab›:SecretString:password}}'
====
export ‹ENV›_TOKEN=$(gh auth token)
====
‹ENV›_PASSWORD=$(vault kv get -field=password secret/‹kebab›)
====
PASSWORD=$(openssl rand -base64 ‹d2›)
====
read -rs -p "Password for ‹user›: " PASSWORD
====
password = getpass.getpass("‹camel› password: ")
====
test -n "$‹ENV›_SECRET" || { echo "‹ENV›_SECRET is not set"; exit 1; }
====
unset ‹ENV›_TOKEN ‹ENV›_PASSWORD
====
api_key=config["‹snake›"]["api_key"]
====
with_token(import.meta.env.VITE_‹ENV›_TOKEN)
====
Deno.env.get("‹ENV›_SECRET_KEY")
====
password = data.aws_secretsmanager_secret_version.‹snake›.secret_string
====
@secure()
param ‹snake›Password string
====
password: ((‹snake›_password))
====
conn = connect(user=cfg.user, password=cfg.password, db="‹snake›")
""",
    )
)

_NEG.append(
    (
        "placeholder",
        3,
        r"""
‹ENV›_API_KEY=<your-key>
====
‹ENV›_API_KEY=your_api_key_here
====
‹ENV›_TOKEN=xxxxxxxxxxxxxxxx
====
‹ENV›_PASSWORD=changeme
====
‹ENV›_PASSWORD=********
====
‹ENV›_SECRET=<paste the secret here>
====
‹ENV›_SECRET=REPLACE_ME
====
‹ENV›_KEY=...
====
‹ENV›_PASSWORD=
====
‹ENV›_TOKEN=""
====
password: "<password>"  # for ‹kebab›
====
"‹snake›_password": "********",
====
"‹snake›_token": null,
====
"‹snake›_token": "[REDACTED]",
====
"‹snake›_password": "",
====
postgres://user:password@localhost:5432/‹snake›
====
postgresql://<user>:<password>@‹host›:5432/‹snake›
====
mysql://USERNAME:PASSWORD@HOST:3306/‹snake›
====
mongodb+srv://<username>:<password>@<cluster>.mongodb.net/‹snake›
====
https://‹user›:***@‹host›/‹kebab›.git
====
curl -H "Authorization: Bearer <token>" https://‹host›/‹path›
====
curl -H "Authorization: Bearer YOUR_ACCESS_TOKEN" https://‹host›/v1
====
curl -u <username>:<password> https://‹host›/‹kebab›
====
sk-proj-xxxxxxxxxxxxxxxxxxxxxxxx goes to ‹ENV›_KEY
====
Set ‹ENV›_KEY to a key that looks like `sk-ant-...`.
====
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx must be replaced by your own token (‹kebab›)
====
Authorization: Bearer ******  (‹host›)
====
token = "<TOKEN>"  # TODO ‹user›
====
api_key: "YOUR-API-KEY"  # ‹kebab›
====
client_secret = "your-client-secret"  # ‹snake›
====
password = "placeholder"  # ‹snake›
====
password: [FILTERED], user: ‹user›
====
Parameters: {"email"=>"‹email›", "password"=>"[FILTERED]"}
====
aws_secret_access_key = <YOUR_SECRET_KEY>
# profile ‹kebab›
====
password: "example"  # example value in the docs of ‹kebab›
====
mysql -u root -p ‹snake›
====
Enter password for ‹user›: ********
====
https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX (docs of ‹kebab›)
====
‹ENV›_SECRET=${‹ENV›_SECRET:?must be set}
====
token: "{token}"  # filled by ‹snake›()
====
f"Bearer {‹snake›_token}"
====
`Bearer ${‹snake›Token}`
====
"postgres://%s:%s@%s/‹snake›" % (user, password, host)
====
fmt.Sprintf("token=%s", ‹snake›Token)
====
-----BEGIN PRIVATE KEY-----
...
-----END PRIVATE KEY-----
(put the key of ‹host› here)
====
--password <value>   password of ‹user› (prompted for if left out)
====
‹ENV›_PASSWORD=<redacted>
====
Password: (hidden) — ‹user› typed it at ‹time›
====
密码：<你的密码>（‹kebab›）
====
パスワード：********（‹user›）
====
‹ENV›_KEY=your-secret-key-goes-here
====
‹ENV›_TOKEN=insert-token-here
""",
    )
)

_NEG.append(
    (
        "documentation_key",
        1,
        r"""
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
====
The AWS docs always show AKIAIOSFODNN7EXAMPLE.
====
export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
====
export AWS_ACCESS_KEY_ID=AKIAI44QH8DHBEXAMPLE
export AWS_SECRET_ACCESS_KEY=je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY
====
jwt.io sample: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c
====
RFC 7519's example token is eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
====
Stripe's docs use the test key sk_test_4eC39HqLyjWDarjtT1zdp7dc in every snippet.
====
RFC 7617: the header is `Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==` for user Aladdin.
====
Azurite's well-known development key: AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;
====
otpauth://totp/Example:alice@google.com?secret=JBSWY3DPEHPK3PXP&issuer=Example
====
BIP39 test vector: abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about
====
Hardhat's default mnemonic is "test test test test test test test test test test test junk".
====
RFC 6750 example: GET /resource HTTP/1.1
Host: server.example.com
Authorization: Bearer mF_9.B5f-4.1JqM
====
文档里的示例密钥AKIAIOSFODNN7EXAMPLE不是真的。
""",
    )
)

_NEG.append(
    (
        "code_no_value",
        3,
        r"""
token = get_token(‹snake›)
====
const token = await getToken({ audience: '‹kebab›' });
====
def reset_password(self, ‹snake›: User, new_password: str) -> None:
====
if (password !== confirmPassword) throw new ‹camel›Error('Passwords do not match');
====
user.password = hash_password(‹snake›.password)
====
type ‹camel›Input = { email: string; password: string; rememberMe?: boolean };
====
struct ‹camel› { api_key: String, secret: Option<String> }
====
private String ‹lcamel›Password;
====
public void setPassword(String password) { this.‹lcamel›Password = password; }
====
PASSWORD_MIN_LENGTH = ‹d2›  # ‹snake›
====
TOKEN_TTL = ‹d4›
====
MAX_TOKENS=‹d4›
====
max_tokens: ‹d4›, temperature: 0.‹d1›
====
tokens = tokenizer.encode(‹snake›_text)
====
next_token = tokens[‹small›]
====
token_type = TokenType.‹ENV›
====
key = lambda x: x.‹snake›
====
for key, value in ‹snake›.items():
====
primary_key=True, foreign_key="‹snake›.id"
====
cache_key = f"‹snake›:{user_id}:{page}"
====
key: '‹kebab›', label: '‹camel›'
====
<li key={‹lcamel›.id}>{‹lcamel›.title}</li>
====
<input type="password" name="‹snake›" autocomplete="current-password" required>
====
<label for="‹kebab›">Password</label>
====
from ‹snake›.auth import get_password, verify_token
====
import { usePassword, TokenProvider } from './‹lcamel›';
====
func (s *‹camel›) Token(ctx context.Context) (string, error) {
====
bcrypt.compare(req.body.password, ‹lcamel›.passwordHash)
====
password_hash VARCHAR(255) NOT NULL, -- table ‹snake›
====
SELECT id, password_hash FROM ‹snake› WHERE email = $1;
====
ALTER TABLE ‹snake› ADD COLUMN password_changed_at timestamptz;
====
SELECT count(*) FROM ‹snake› WHERE token_expires_at < now();
====
ALTER USER ‹sqluser› WITH PASSWORD :'new_password';
====
CREATE USER ‹sqluser› IDENTIFIED EXTERNALLY;
====
DELETE FROM ‹snake›_tokens WHERE created_at < '‹date›';
====
assert "password" not in response.json()["‹snake›"]
====
expect(screen.getByLabelText('Password')).toHaveAttribute('id', '‹kebab›');
====
@patch("‹snake›.auth.get_token")
def test_refresh(mock_get_token):
====
secret = Secret.from_name("‹kebab›")
====
passwordField.isSecureTextEntry = true // ‹camel›
====
const PASSWORD_REGEX = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{‹d2›,}$/;
====
re.compile(r"‹snake›_[A-Za-z0-9]{‹d2›}")
====
pattern: '^gh[pousr]_[A-Za-z0-9]{36}$'  # ‹kebab›
====
logger.info("token refreshed for %s", ‹snake›)
====
console.log('password changed', ‹lcamel›.id);
====
raise ValueError(f"password of {‹snake›!r} is too short")
====
password_validator: ‹camel›Validator
====
auth: { type: 'bearer', tokenFrom: '‹lcamel›' }
====
enable_password_auth = false # ‹kebab›
====
PasswordAuthentication no
# ‹host›
====
password_encryption = scram-sha-256
# ‹snake›
====
‹lcamel›.setRequestHeader('Authorization', 'Bearer ' + token);
====
password: z.string().min(‹d2›).max(‹small›),
====
password: { type: String, required: true, select: false }, // ‹camel›
====
t.string "password_digest", limit: ‹small›
====
has_secure_password validations: false # ‹camel›
====
let (public, secret) = ‹camel›::generate_keypair(&mut rng);
====
secret_key = secrets.token_urlsafe(‹d2›)
====
api_key = generate_api_key(prefix="‹lower5›")
====
const [password, setPassword] = useState('');  // ‹camel›
====
- password: str = Field(...)
+ password: SecretStr = Field(...)  # ‹snake›
====
@@ -‹small›,7 +‹small›,7 @@ def get_token(self):
-        return self._token
+        return self._token or self._refresh_‹snake›()
====
diff --git a/‹path› b/‹path›
-const token = getToken();
+const token = await getToken();
====
.password-input--‹kebab› { border: 1px solid #‹hex6›; width: ‹small›px; }
====
#token-list > li.‹kebab› { color: #‹hex6›; }
====
:root { --primary: #‹hex6›; --secret-color: #‹hex6›; }
====
!function(e,t){var n=t.token,r=e.key;for(var o=0;o<‹small›;o++)n[o]^=r[o%‹small›]}(window,‹lower5›);
====
var a=function(t){return t.password&&t.password.length>‹d1›?‹lower5›(t):null},c=‹int›;
====
(()=>{"use strict";var e={‹d4›:(e,t,n)=>{n.d(t,{A:()=>s});const s={auth:"Auth_auth__‹lower5›"}}};})();
====
git log -S"get_password" --oneline -- ‹path›
====
grep -rn "api_key" src/ | grep -v ‹snake›
====
rg -n 'password\s*=' ‹path›
====
kubectl get secrets -n ‹kebab›
====
kubectl delete secret ‹kebab›-db
====
gh secret list --repo nordwind/‹kebab›
====
ssh-keygen -t ed25519 -C "‹email›" -f ~/.ssh/id_‹snake›
====
ssh -i ~/.ssh/id_‹snake› ‹user›@‹host›
====
chmod 600 ~/.ssh/‹snake›_key
====
openssl genrsa -out ‹kebab›.key 4096
====
openssl req -new -key ‹kebab›.key -out ‹kebab›.csr
====
docker login registry.fabrik.io -u ‹user› --password-stdin < ~/.‹kebab›
====
aws secretsmanager get-secret-value --secret-id ‹kebab›/db
====
vault kv get secret/‹kebab›
====
passwd ‹user›
====
sudo -k && sudo -l -U ‹user›
====
redis-cli -h ‹host› --askpass
====
tls:
  secretName: ‹kebab›-tls
====
imagePullSecrets:
  - name: ‹kebab›
====
secrets:
  ‹snake›_password:
    file: ./secrets/‹snake›.txt
====
permissions:
  id-token: write
  contents: read
# ‹kebab›
====
"scripts": { "token": "node scripts/‹kebab›.js" },
====
securitySchemes:
  ‹lcamel›:
    type: apiKey
    in: header
    name: X-API-Key
====
{"name":"password","type":"string","minLength":‹d2›,"description":"‹camel› password"}
====
GRANT SELECT ON ‹snake› TO ‹sqluser›;
====
IdentityFile ~/.ssh/‹snake›
User ‹user›
HostName ‹host›
====
token.‹lcamel› = token.peek()?.kind === ‹small›;
====
lexer: IDENT(‹snake›) ASSIGN NUMBER(‹small›) EOF — ‹small› tokens
====
key.‹lcamel›.up = "KeyW"; key.down = "KeyS"; // ‹camel›
====
keyCode === ‹d2› || event.key === 'Enter' // ‹lcamel›
====
passport.use(new ‹camel›Strategy(verify));
====
compass: north=‹small›, bypass=‹small›
====
passing: ‹small›, failing: ‹d1›
====
pass  # ‹snake› has nothing to do
====
author: ‹name›, authority: ‹kebab›, authored: ‹date›
====
password: Annotated[str, Form()],  # ‹snake›
====
Keyboard shortcut: Ctrl+Shift+‹UP1› opens the password manager
====
case "password": return ‹lcamel›.password_field;
====
password = input("New password: ")  # ‹snake›
====
if token is None: return ‹snake›
====
password=password, token=token, ‹snake›=‹snake›
====
self.secret = secret; self.‹snake› = ‹snake›
====
Authorization: Bearer {{access_token}}   # ‹kebab›
====
Set-Cookie: ‹snake›=; Path=/; Max-Age=0
====
Cookie: theme=dark; lang=de; consent=‹d1›
====
Cache-Control: max-age=‹d4›; Vary: Authorization
====
WWW-Authenticate: Bearer realm="‹kebab›", error="invalid_token"
====
Access-Control-Allow-Headers: Authorization, X-API-Key, X-‹camel›
""",
    )
)

_NEG.append(
    (
        "documentation",
        3,
        r'''
## Authentication

Send your API key in the `X-API-Key` header. Keys are made in *Settings → ‹camel›*.
====
The `password` field must have at least ‹d2› characters.
====
| Option | Type | Default |
|--------|------|---------|
| `password` | string | – |
| `‹snake›` | int | ‹small› |
====
### `get_token(‹snake›)`

Returns the access token, or `None` when there is none.
====
Tokens expire after ‹small› minutes; use the refresh token to get a new one.
====
- **password** (required): the password of the `‹snake›` user.
====
Rotate the secret every ‹small› days and never commit it.
====
`--token TOKEN`  access token for ‹host› (env: `‹ENV›_TOKEN`)
====
GitHub tokens begin with `ghp_`, GitLab's with `glpat-`; see ‹path›.
====
An AWS key id begins with AKIA and has 20 characters (‹kebab› v‹ver›).
====
Changelog ‹ver›: passwords are now hashed with argon2id (m=‹d4›, t=‹d1›).
====
# TODO(‹user›): move the password to the vault before ‹date›
====
// the token is read from ‹path›
====
"""Return the API key of *‹snake›*; raises KeyError when unset."""
====
/** @param {string} password the user's password, ‹small› characters at most */
====
Store the private key in `‹path›`, mode 0600.
====
See RFC ‹d4›, section ‹d1›: "the token MUST NOT be logged".
====
FAQ: I forgot my password. → Click "Forgot password?" on https://‹host›/login.
====
Run `‹kebab› login`; it asks for the password.
====
The key `‹snake›` in config.toml sets the token limit to ‹d4›.
====
usage: ‹kebab› [-h] [--user USER] [--password PASSWORD] [--token-file FILE]
====
Passwords are compared in constant time (see `‹snake›`).
====
Vaultwarden ‹ver› adds passkeys; the master password stays on the device.
====
Use a password manager; ‹d2› % of us still don't.
''',
    )
)

_NEG.append(
    (
        "talk_en",
        2,
        r"""
I forgot the password of ‹user› again.
====
Can you reset my password by ‹time›?
====
The word password occurs ‹small› times in ‹path›.
====
Please never paste passwords into the chat; use the vault on ‹host›.
====
Which token does ‹host› want, the API token or the session token?
====
The secret is in the ‹kebab› vault, ask ‹name1›.
====
The password is stored as a hash in the ‹snake› table.
====
Password is required for ‹user›.
====
The password is too short, says ‹host›.
====
The password is wrong, ‹name1›.
====
Your password was changed on ‹date›.
====
My API key stopped working at ‹time›, do I need a new one?
====
We should rotate the signing key before release ‹ver›.
====
The token is missing from the request to ‹host›.
====
token: expired; password: unchanged (‹user›)
====
The key to good tests is isolation, see ‹path›.
====
It's no secret that ‹name1› likes Rust.
====
Passwords, tokens and keys were rotated on ‹date›.
====
He asked for the passphrase of id_‹snake›, which I don't have.
====
password reset, password policy, password rotation: all in ‹path›
====
Is the client secret the same in staging and production (‹host›)?
====
We counted ‹int› tokens, which is above the context limit.
====
The API key must be sent as a header, not in the URL, ‹name1›.
====
Did you enable password-protected PDFs in ‹ver›?
====
The password field in the ‹camel› form loses focus.
====
Login with wrong credentials gives ‹small› instead of 401.
====
Ask ‹name1› for the password; I don't want to write it here.
====
password123 style passwords are banned by our policy since ‹date›.
""",
    )
)

_NEG.append(
    (
        "talk_world",
        2,
        r"""
Ich habe das Passwort von ‹user› vergessen.
====
Das Passwort ist falsch, sagt ‹host›.
====
Das Passwort ist abgelaufen und muss bis ‹date› geändert werden.
====
Wo liegt der API-Schlüssel für ‹host›?
====
Das Kennwort muss mindestens ‹d2› Zeichen haben.
====
Bitte keine Passwörter in ‹path› schreiben!
====
Der Schlüssel zum Erfolg: ‹small› Tests pro Modul.
====
J'ai oublié le mot de passe de ‹user›.
====
Le mot de passe est obligatoire (‹d2› caractères).
====
Le jeton expire après ‹small› minutes.
====
La contraseña es incorrecta para ‹user›.
====
La clave está en el gestor de contraseñas de ‹name1›.
====
A senha é obrigatória para ‹user›.
====
Esqueci a senha do ‹host›.
====
La password è scaduta il ‹date›.
====
Het wachtwoord is verlopen sinds ‹date›.
====
Пароль устарел, смените его до ‹date›.
====
Я забыл пароль от ‹host›.
====
Токен истекает через ‹small› минут.
====
Hasło wygasło dnia ‹date›.
====
Lösenordet är för kort, minst ‹d2› tecken.
====
Salasana on vanhentunut ‹date›.
====
Heslo je příliš krátké (min. ‹d2›).
====
Şifre en az ‹d2› karakter olmalı.
====
Ο κωδικός πρόσβασης έληξε στις ‹date›.
====
Mật khẩu đã hết hạn ngày ‹date›.
====
Kata sandi harus minimal ‹d2› karakter.
====
पासवर्ड कम से कम ‹d2› अक्षरों का होना चाहिए।
====
كلمة المرور منتهية الصلاحية منذ ‹date›
====
הסיסמה שגויה עבור ‹user›
====
รหัสผ่านหมดอายุเมื่อ ‹date›
====
Adgangskoden er udløbet den ‹date›.
====
A jelszó lejárt ‹date› napon.
====
Parola este greșită pentru ‹user›.
====
Пароль забули? Зверніться до ‹name1›.
""",
    )
)

_NEG.append(
    (
        "talk_cjk",
        3,
        r"""
我忘记了‹user›的密码。
====
密码是必填项，至少‹d2›位。
====
密码错误，请在‹time›之后重试。
====
请把密码放到保管库里，不要写进‹path›。
====
令牌在‹small›分钟后过期。
====
密钥的轮换日期是‹date›。
====
get_token()返回令牌，见‹path›第‹small›行。
====
使用环境变量$‹ENV›_PASSWORD设置密码
====
提交‹hex40›修复了密码校验的问题
====
请求编号‹uuid›失败了
====
パスワードを忘れました（‹user›）。
====
パスワードは‹d2›文字以上にしてください。
====
パスワードは‹date›に変更されました。
====
トークンの有効期限は‹small›分です。
====
コミット‹hex7›で鍵の読み込みを直しました。
====
秘密鍵は‹path›に置いてください。
====
APIキーは環境変数‹ENV›_API_KEYから読みます。
====
비밀번호가 틀렸습니다 (‹user›).
====
비밀번호는 ‹d2›자 이상이어야 합니다.
====
토큰이 만료되었습니다: ‹time›
====
비밀번호를 ‹date›까지 변경하세요.
====
密碼已於‹date›變更。
====
函數verify_password(‹snake›)回傳布林值
====
文件‹kebab›-‹ver›.tar.gz的校验值是‹hex64›
====
镜像sha256:‹hex64›已拉取
====
参考https://github.com/nordwind/‹kebab›/commit/‹hex40›的改动
====
版本‹ver›支持通行密钥，不再需要密码
====
日志位于/var/log/‹kebab›/auth.log，共‹small›条密码错误
""",
    )
)

_NEG.append(
    (
        "math_misc",
        4,
        r"""
def ‹snake›(n): return sum(i * ‹small› for i in range(n))  # ‹int›
====
0b‹bin16› ^ 0x‹hex4› = ‹int›
====
E = mc^2, with m = ‹small› kg gives ‹int›e9 J
====
\frac{‹small›}{‹small›} + \sqrt{‹int›} \approx ‹small›.‹d4›
====
ATGCGTAC‹dna40›TGA
====
>sp|P‹d4›1|‹UP4›_HUMAN MK‹amino40›
====
InChIKey=‹UPP14›-‹UPP10›-N
====
‹snake›,‹snake›,‹snake›
‹small›,‹small›,‹int›
====
[‹small›, ‹small›, ‹small›, ‹int›].map((x) => x ** 2)
====
^(\d{‹d1›})-([A-Z]{‹d1›})$ matches part numbers such as ‹UP4›-‹d4›
====
P(X = ‹d1›) = 0.‹d4›, n = ‹small›
====
ffmpeg -i ‹snake›.mp4 -vf "scale=‹small›:-1,fps=‹d2›" -c:v libx264 ‹snake›.webm
====
tar czf ‹kebab›-‹date›.tgz --exclude=node_modules ‹path›
====
rsync -avz --delete ./dist/ ‹user›@‹host›:/srv/‹kebab›/
====
cron: ‹d1› ‹d1› * * 1-5 /usr/local/bin/‹kebab› --limit ‹small›
====
"lat": 48.‹int›, "lon": 11.‹int›, "geohash": "u281z‹lower5›"
====
<path d="M‹small› ‹small›c0 ‹d1›.‹d4›-4.‹d4› ‹d2›-10 10S‹small› ‹small›z" fill="#‹hex6›"/>
====
q=0.‹d1›; charset=utf-8; boundary=----WebKitFormBoundary‹b62_16›
====
Windows error 0x8‹hex7› while opening ‹camel›.dll
====
regression: y = ‹small›.‹d4› + ‹small›.‹d4› x, R² = 0.‹d4›
====
font-family: "‹camel›"; unicode-range: U+‹HEX4›-‹HEX4›;
====
‹name› wrote on ‹date›: "Thanks for the review of ‹path›!"
====
sort -k2,2n ‹snake›.tsv | uniq -c | head -‹d2›
====
| ‹kebab› | ‹ver› | ‹date› | ‹hex7› |
====
Benchmark‹camel›-8   ‹int›   ‹small›.‹d1› ns/op   ‹small› B/op
====
Bitrate ‹d4› kb/s, CRF ‹d2›, hash of frame ‹small›: ‹hex32›
====
{"type":"FeatureCollection","features":[],"crs":"EPSG:‹d4›","rev":‹small›}
====
vim: set ts=‹d1› sw=‹d1› et: # ‹snake›
====
0 ‹small› ‹small› 1 rg BT /F1 ‹d2› Tf (‹camel›) Tj ET
""",
    )
)

_NEG.append(
    (
        "test_placeholder",
        3,
        r"""
it('hides the password of ‹camel›', () => expect(mask('********')).toBe('********'));
====
@pytest.fixture
def fake_token_‹snake›(): return "fake-token"
====
monkeypatch.setenv("‹ENV›_TOKEN", "dummy-token")
====
‹snake›_user = User(email="user@example.com", password="password")
====
mock_secrets.return_value = {"password": "<password>"}  # ‹snake›
====
const api = new ‹camel›Client({ apiKey: 'test-api-key' });
====
headers={"Authorization": "Bearer test-token"}  # ‹snake›
====
‹lcamel›.setPassword("your-password");
====
API_KEY = "dummy"  # ‹snake› test only
====
assert mask_secret("xxxx") == "****"  # ‹snake›
====
.env.example of ‹kebab›:
API_KEY=your-api-key
DB_PASSWORD=changeme
PORT=‹port›
""",
    )
)

_POS.append(
    (
        "provider_token",
        2,
        r"""
BITBUCKET_APP_PASSWORD=«atbb»
====
ALIBABA_CLOUD_ACCESS_KEY_ID=LTAI5t‹b62_16›
ALIBABA_CLOUD_ACCESS_KEY_SECRET=«b62_30»
====
MISTRAL_API_KEY=«b62_32»
====
co = cohere.ClientV2("«b62_40»")
====
TAVILY_API_KEY=«tvly»
FIRECRAWL_API_KEY=«fc»
====
CLERK_SECRET_KEY=«clerk»
====
UPSTASH_REDIS_REST_URL=https://eu1-‹kebab›.upstash.io
UPSTASH_REDIS_REST_TOKEN=«upstash»
====
PAYPAL_CLIENT_SECRET=«paypal»
====
PLAID_SECRET=«hex30»
====
curl "https://api.trello.com/1/members/me/boards?key=‹hex32›&token=«atta»"
====
PAGERDUTY_TOKEN=u+«pd18»
====
curl -X POST -u ‹user›:«jenkins» https://ci.fabrik.io/job/‹kebab›/build
====
tea login add --url https://git.fabrik.io --token «hex40»
====
DEEPGRAM_API_KEY=«hex40»
ASSEMBLYAI_API_KEY=«hex32»
====
codecov --token=«uuid» -f coverage.xml
====
snyk auth «uuid»
====
AUTH0_CLIENT_SECRET=«b64u64»
====
rollbar.init(access_token="«hex32»", environment="production")
====
HONEYCOMB_API_KEY=«hcaik»
====
export CLOUDFLARE_API_KEY=«hex37» CLOUDFLARE_EMAIL=‹email›
====
TURSO_AUTH_TOKEN=«jwt»
====
TWITCH_OAUTH=oauth:«lower30»
""",
    )
)

_POS.append(
    (
        "config_file",
        2,
        r"""
password: >-
  «pwa»
====
FROM node:20
ENV API_SECRET=«b62_40»
COPY . .
====
ARG NPM_TOKEN=«npm»
====
proxy_set_header Authorization "Basic «basic»";
====
      - name: Deploy
        run: ./deploy.sh
        env:
          DEPLOY_TOKEN: «b62_40»
====
deploy:
	curl -H "X-Deploy-Token: «b62_40»" https://‹host›/deploy
====
withEnv(['SONAR_TOKEN=«sonar»']) { sh 'mvn sonar:sonar' }
====
<user name="‹user›" password="«pwa»" roles="manager-gui"/>
====
<td>‹user›</td><td>Password</td><td>«pw»</td>
====
"database": { "connection": { "host": "‹host›", "user": "‹user›", "password" : "«pw»" } }
====
{ 'NAME': 'shop', 'USER': '‹user›', 'PASSWORD': '«pw»', 'HOST': '‹host›' }
====
ldap.bind.credential=«pwa»
====
<Value Name="AdminPassword"><PlainText>true</PlainText><Value>«human»</Value></Value>
====
d-i passwd/root-password password «pwa»
====
rootpw --plaintext «pwa»
====
chpasswd:
  list: |
    ‹user›:«human»
====
hotspot {
  ssid "Lager"
  psk "«human»"
}
====
wifi.sta.pwd = "«human»"
""",
    )
)

_POS.append(
    (
        "code",
        2,
        r"""
const String wifiPassword = '«human»'; // Dart
====
val conf = DbConf(user = "‹user›", pass = "«pwa»")
====
connectInfo = defaultConnectInfo { connectUser = "‹user›", connectPassword = "«pwa»" }
====
conn = LibPQ.Connection("host=‹host› user=‹user› password=«pwa»")
====
expect "assword:"
send "«pwa»\r"
====
Dim strPassword As String: strPassword = "«pwa»"
====
cat <<EOT > ~/.netrc
machine ‹host›
login ‹user›
password «pwa»
EOT
====
self.client = Client(username='‹user›', password=r'«pwsym»')
====
{"name": "bash", "input": {"command": "curl -u ‹user›:«pwa» https://‹host›/health"}}
====
{"type":"tool_result","content":"{\"host\":\"‹host›\",\"password\":\"«pwa»\"}"}
====
"{\"access_key\":\"‹user›\",\"secret_key\":\"«b62_40»\"}"
====
axios.post('/login', { email: '‹email›', password: '«human»' })
====
api.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", "«b62_43»");
====
set(gca,'x'); webwrite(url, weboptions('Username','‹user›','Password','«pwa»'));
====
signer = hmac.new(key=b"«hex64»", msg=body, digestmod="sha256")
""",
    )
)

_POS.append(
    (
        "command",
        2,
        r"""
cmdkey /add:‹host› /user:‹user› /pass:«pwa»
====
psexec \\‹host› -u ‹user› -p «pwa» cmd
====
mc alias set store https://‹host› ‹user› «pwa»
====
ansible-playbook site.yml -e "db_password=«pwa»"
====
terraform apply -var="db_password=«pwa»"
====
flyctl secrets set SESSION_SECRET=«hex64»
====
heroku config:set JWT_SECRET=«b62_40» -a ‹kebab›
====
cqlsh ‹host› -u ‹user› -p «pwa»
====
clickhouse-client --host ‹host› --user ‹user› --password «pwa»
====
impdp ‹user›/«pwa»@ORCL directory=dump dumpfile=x.dmp
====
svn checkout --username ‹user› --password «pwa» https://‹host›/svn/trunk
====
nats pub -s nats://‹user›:«pwa»@‹host›:4222 orders '{}'
====
mosquitto_pub -h ‹host› -u ‹user› -P «pwa» -t plant/1 -m on
====
ipmitool -I lanplus -H ‹host› -U ‹user› -P «pwa» power status
====
cryptsetup luksOpen /dev/sdb1 data <<< "«human»"
====
restic -r s3:https://‹host›/b --password-command "echo «pwa»" snapshots
""",
    )
)

_POS.append(
    (
        "transcript",
        2,
        r"""
user: the staging login fails, can you look?
assistant: Which credentials do you use?
user: ‹email› and «human»
assistant: I'll try them now.
====
user: deploy please
assistant: I need the registry password.
user: «pwa»
assistant: Thanks, logging in.
====
[tool: bash] ssh ‹user›@‹host›
‹user›@‹host›'s password: «human»
Last login: ‹date› ‹time› from 10.0.0.4
====
### Notes ‹date›

1. Bumped ‹kebab› to ‹ver› (commit ‹hex7›)
2. New DB user `‹user›`, password `«pw»`
3. Deleted the old bucket
====
> What's the admin login again?
It's “‹user›” with the password “«pwa»”.
====
assistant: I read config/prod.yml:
  host: ‹host›
  port: 5432
  user: ‹user›
  password: «pw»
  pool: 10
The pool is too small for 40 workers; I'd raise it to 25.
====
Hallo ‹name1›,
der neue Zugang: Benutzername ‹user›, Kennwort «human».
Gruß
====
Bonjour, voici les accès : login ‹user›, mot de passe «human». Merci de ne pas les diffuser.
====
Hola, el usuario es ‹user› y la contraseña es «human». Saludos.
====
@‹name1› token for the bot: `«b62_40»` — valid until ‹date›
====
各位好，新服务器‹host›的账号是‹user›，密码是«human»，登录后请立刻修改。
====
お疲れ様です。新しいサーバーのIDは‹user›、パスワードは«human»です。よろしくお願いします。
====
안녕하세요, 서버 계정은 ‹user›이고 비밀번호는 «human»입니다. 감사합니다.
====
Здравствуйте! Логин: ‹user›, пароль: «human». Сервер ‹host›.
====
old password: «human»
new password: «human»
====
PASSWORD (prod):   «pw»
PASSWORD (stage):  «pw»
""",
    )
)

_NEG.append(
    (
        "transcript",
        2,
        r"""
user: the staging login fails, can you look?
assistant: The password field is empty in ‹path›, line ‹small›. I'd read it from $‹ENV›_PASSWORD.
====
user: deploy please
assistant: I need the registry password. Please put it in the environment as ‹ENV›_TOKEN.
user: done
assistant: Thanks, logging in to ‹host›.
====
### Notes ‹date›

1. Bumped ‹kebab› to ‹ver› (commit ‹hex40›)
2. New DB user `‹user›`, password is in the vault
3. Deleted image sha256:‹hex64›
====
assistant: I read config/prod.yml:
  host: ‹host›
  port: 5432
  user: ‹user›
  password: ${‹ENV›_PASSWORD}
  pool: ‹d2›
The pool is too small.
====
{"name": "bash", "input": {"command": "curl -H \"Authorization: Bearer $‹ENV›_TOKEN\" https://‹host›/health"}}
====
{"type":"tool_result","content":"{\"host\":\"‹host›\",\"password\":\"********\"}"}
====
{"type":"tool_use","id":"toolu_01‹b62_22›","name":"read_file","input":{"path":"‹path›"}}
====
FROM node:20
ARG NPM_TOKEN
ENV ‹ENV›_PORT=‹port›
RUN npm ci --ignore-scripts
====
deploy:
	curl -H "X-Deploy-Token: $(DEPLOY_TOKEN)" https://‹host›/deploy
====
withCredentials([string(credentialsId: '‹kebab›', variable: 'SONAR_TOKEN')]) { sh 'mvn sonar:sonar' }
====
Hallo ‹name1›,
den neuen Zugang findest du im Passwortmanager unter „‹kebab›“.
Gruß
====
Bonjour ‹name1›, le mot de passe arrive par un autre canal. Merci.
====
Hola ‹name1›, la contraseña la tiene el equipo de ‹kebab›.
====
各位好，新服务器‹host›的密码请找‹name1›领取。
====
お疲れ様です。パスワードは‹name1›さんに聞いてください。
====
비밀번호는 ‹name1› 님에게 문의하세요.
====
Здравствуйте, ‹name1›! Пароль выдаёт служба поддержки.
====
[x] rotate keys  [ ] remove old tokens  [x] bump ‹kebab› to ‹ver›
====
$ gh run list
completed  success  ‹msg›  CI  main  push  ‹int›‹d4›  1m‹d2›s  ‹date›
====
$ ls -la ~/.ssh
-rw------- 1 ‹user› ‹user›  ‹small› id_ed25519
-rw-r--r-- 1 ‹user› ‹user›  ‹small› id_ed25519.pub
====
$ env | cut -d= -f1 | grep ‹ENV›
‹ENV›_TOKEN
‹ENV›_PASSWORD
====
$ git diff --stat
 ‹path› | ‹d2› +++---
 src/auth/token.py | ‹d1› +-
 2 files changed
====
PASS  src/auth/‹lcamel›.test.ts (‹d1›.‹d2› s)
  ✓ masks the secret key in logs (‹d2› ms)
""",
    )
)

_NEG.append(
    (
        "documentation_key",
        1,
        r"""
RFC 6749, section 2.3.1: Authorization: Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW
====
The Cosmos DB emulator has one well-known key for everybody: C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==
====
Anvil/Hardhat account 0 (public test key from the docs): 0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80
""",
    )
)

SECRET.update(
    {
        "atbb": lambda r: f"ATBB{_r(r, B62, 24)}{_r(r, '0123456789ABCDEF', 8)}",
        "b62_30": _tok("", B62, 30),
        "tvly": _tok("tvly-", B62, 32),
        "fc": _tok("fc-", HEX, 32),
        "clerk": _tok("sk_live_", B62, 42),
        "upstash": lambda r: "A" + _r(r, B64U, 54) + "A",
        "paypal": lambda r: "E" + _r(r, B64U, 78) + "k",
        "hex30": _tok("", HEX, 30),
        "atta": _tok("ATTA", HEX, 72),
        "pd18": _tok("", B62, 18),
        "jenkins": _tok("11", HEX, 32),
        "b64u64": _tok("", B64U, 63, "e"),
        "hcaik": lambda r: f"hcaik_01{_r(r, string.ascii_lowercase + '0123456789', 56)}",
        "hex37": _tok("", HEX, 37),
        "lower30": _tok("", LOW, 30),
    }
)

_NAMES = "Anna Vogel,Li Wei,Jonas Keller,Sofia Marin,Hiro Tanaka,Priya Nair,Tomasz Nowak,Amara Diallo".split(
    ","
)
_PARTS = "order price ledger queue parser render cache export image stock report invoice user widget metric route batch index layout event".split()
_MSGS = (
    "Fix token refresh race",
    "Add password strength meter",
    "Rotate secrets in CI",
    "Bump dependencies",
    "Remove hard-coded API key lookup",
    "Rename getToken to fetchToken",
    "docs: explain private keys",
    "Speed up the lexer",
    "Use SecretStr for passwords",
    "Revert cache change",
    "Handle empty password",
    "Log out when the session ends",
    "refactor: split auth module",
    "test: cover key rotation",
    "Drop Python 3.8",
)


def _parts(r: Random, n: int = 2) -> list[str]:
    return r.sample(_PARTS, n)


def _date(r: Random) -> str:
    return f"{r.randrange(2021, 2027)}-{r.randrange(1, 13):02d}-{r.randrange(1, 29):02d}"


def _digits(n: int) -> Gen:
    return lambda r: r.choice("123456789") + _r(r, string.digits, n - 1)


def _path(r: Random) -> str:
    a, b = _parts(r)
    return r.choice(
        [
            f"src/{a}/{b}.py",
            f"lib/{a}_{b}.rb",
            f"internal/{a}/{b}.go",
            f"app/{a}/{b}.tsx",
            f"docs/{a}-{b}.md",
        ]
    )


def _camel(r: Random) -> str:
    return "".join(p.title() for p in _parts(r))


def _lcamel(r: Random) -> str:
    s = _camel(r)
    return s[0].lower() + s[1:]


PLAIN: dict[str, Gen] = {
    "user": _user,
    "host": _host,
    "email": _email,
    "uuid": _uuid,
    "date": _date,
    "path": _path,
    "camel": _camel,
    "lcamel": _lcamel,
    "name": _sample(*_NAMES),
    "name1": _sample(*(n.split()[0] for n in _NAMES)),
    "msg": _sample(*_MSGS),
    "snake": lambda r: "_".join(_parts(r)),
    "kebab": lambda r: "-".join(_parts(r)),
    "ENV": lambda r: _parts(r, 1)[0].upper(),
    "sqluser": lambda r: "_".join([r.choice(["app", "svc", "rep"]), _parts(r, 1)[0]]),
    "time": lambda r: f"{r.randrange(24):02d}:{r.randrange(60):02d}:{r.randrange(60):02d}",
    "ver": lambda r: f"{r.randrange(12)}.{r.randrange(40)}.{r.randrange(20)}",
    "int": lambda r: str(r.randrange(10**5, 10**7)),
    "int12": _digits(12),
    "int18": _digits(18),
    "small": lambda r: str(r.randrange(2, 250)),
    "port": lambda r: str(r.randrange(1024, 65000)),
    "d1": lambda r: str(r.randrange(1, 10)),
    "d2": lambda r: str(r.randrange(10, 60)),
    "d4": _digits(4),
    "bin16": _tok("", "01", 16),
    **{f"hex{n}": _tok("", HEX, n) for n in (4, 6, 7, 8, 12, 16, 24, 32, 40, 64, 128)},
    **{f"HEX{n}": _tok("", HEX.upper(), n) for n in (4, 16, 32)},
    "lower5": _tok("", LOW, 5),
    "lower20": _tok("", string.ascii_lowercase, 20),
    "lower32": _tok("", LOW, 32),
    "nix32": _tok("", "0123456789abcdfghijklmnpqrsvwxyz", 32),
    **{f"b62_{n}": _tok("", B62, n) for n in (14, 16, 22, 24, 29, 32, 43)},
    **{f"UP{n}": _tok("", UP, n) for n in (1, 4, 6, 9, 10, 16)},
    "UPP14": _tok("", string.ascii_uppercase, 14),
    "UPP10": _tok("", string.ascii_uppercase, 10),
    "b32_16": _tok("", B32, 16),
    "crock22": _tok("", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 22),
    "yt": _tok("", B64U, 11),
    "b64_20": lambda r: _b64(r, 20),
    "b64_32": lambda r: _b64(r, 32),
    "b64_48": lambda r: _b64(r, 48),
    "b64_64": lambda r: _b64(r, 64),
    "b64_120": lambda r: _b64(r, 120),
    "sha512": lambda r: _b64(r, 64),
    "wgpub": lambda r: _b64(r, 32),
    **{f"b64_{n}x": _tok("", B64, n) for n in (4, 28, 40, 42, 43, 44, 58, 60, 64, 120)},
    "b64u_120": _tok("", B64U, 160),
    "bech58": _tok("", _BECH, 58),
    "bech38": _tok("", _BECH, 38),
    "xpub": _ext_key("0488b21e", b"\x02"),
    "fpr": lambda r: " ".join(_r(r, "0123456789ABCDEF", 4) for _ in range(10)),
    "mac": lambda r: ":".join(_r(r, HEX, 2) for _ in range(6)),
    "dna40": _tok("", "ACGT", 40),
    "amino40": _tok("", "ACDEFGHIKLMNPQRSTVWY", 40),
}

_FILL = re.compile(r"«(\w+)(?:#\d+)?»|‹(\w+)(?:#\d+)?›")


def frames(blocks: list[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
    """(class, repeats, frame) for each frame of the blocks."""
    return [(cls, n, f.strip("\n")) for cls, n, block in blocks for f in block.split("\n====\n")]


def _fill(frame: str, r: Random) -> tuple[str, tuple[str, ...]]:
    secrets: list[str] = []
    seen: dict[str, str] = {}

    def sub(m: re.Match[str]) -> str:
        mark = m.group(0)
        if "#" in mark and mark in seen:
            return seen[mark]
        name = m.group(1)
        if name is None:
            value = PLAIN[m.group(2)](r)
        else:
            value = SECRET[name](r)
            if name in MULTI:
                lines = [
                    p
                    for p in re.split(r"\n|\\n", value)
                    if len(p) >= 8 and not p.startswith("-----")
                ]
                secrets.extend(lines)
            elif name == "fly":
                secrets.append(value.split()[1])
            else:
                secrets.append(value)
        seen[mark] = value
        return value

    text = _FILL.sub(sub, frame)
    return text, tuple(dict.fromkeys(secrets))


def positives(seed: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """(class, text, secrets that must not survive in it)."""
    r = Random(f"positives-{seed}")
    out: list[tuple[str, str, tuple[str, ...]]] = []
    seen: set[str] = set()
    for cls, n, frame in frames(_POS):
        for _ in range(n):
            text, secrets = _fill(frame, r)
            if text not in seen:
                seen.add(text)
                out.append((cls, text, secrets))
    return out


def negatives(seed: int) -> list[tuple[str, str]]:
    """(class, text) of texts that must come out unchanged."""
    r = Random(f"negatives-{seed}")
    out: list[tuple[str, str]] = []
    seen: set[str] = set()
    for cls, n, frame in frames(_NEG):
        for _ in range(n):
            text, _none = _fill(frame, r)
            if text not in seen:
                seen.add(text)
                out.append((cls, text))
    return out


def leaked(output: str, secret: str) -> bool:
    """A stricter measure for callers: half of the secret (8 characters at least) in one run survives."""
    n = max(8, (len(secret) + 1) // 2)
    return any(secret[i : i + n] in output for i in range(len(secret) - n + 1))


def check(seed: int) -> None:
    """Raise AssertionError when the lists break a promise of this module."""
    pos, neg = positives(seed), negatives(seed)
    assert pos == positives(seed) and neg == negatives(seed), "not the same for the same seed"
    texts = [t for _, t, _ in pos] + [t for _, t in neg]
    assert len(set(texts)) == len(texts), "duplicate text"
    for cls, text, secrets in pos:
        assert secrets, (cls, text)
        for s in secrets:
            assert len(s) >= 8 and s in text and leaked(text, s), (cls, s)
        assert not re.search(r"[«‹]\w+[»›]", text), text
    for cls, text in neg:
        assert not re.search(r"[«‹]\w+[»›]", text), text
        assert "<private>" not in text
    for blocks in (_POS, _NEG):
        shapes = [f for _, _, f in frames(blocks)]
        assert len(set(shapes)) == len(shapes), [f for f, c in Counter(shapes).items() if c > 1]
        assert all(1 <= n <= 4 for _, n, _ in frames(blocks))
    assert len(pos) >= 400 and len(frames(_POS)) >= 130, len(pos)
    assert len(neg) >= 1200 and len(frames(_NEG)) >= 300, len(neg)


def main() -> None:
    for seed in range(5):
        check(seed)
    for title, blocks, counts in (
        ("positives", _POS, Counter(c for c, _, _ in positives(0))),
        ("negatives", _NEG, Counter(c for c, _ in negatives(0))),
    ):
        shapes = Counter(c for c, _, _ in frames(blocks))
        print(f"{title}: {sum(counts.values())} texts, {sum(shapes.values())} shapes")
        for cls, k in counts.items():
            print(f"  {cls:24} {k:5} texts {shapes[cls]:4} shapes")


if __name__ == "__main__":
    main()
