"""Blind labelled test set B for secret redaction (positives and negatives).

A *shape* is one block in the big template strings below; a block is rendered a
few times with different random parts.  In a template

    ⟦kind⟧   is a secret that must not survive (collected as a label)
    ⟪kind⟫   is harmless filler
    kind     name[:argument][#label][|filter];  the same label gives the same value

Every key is random, built only from a published format; nobody's real key.
Run as a script to check the set and print the counts per class.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import urllib.parse
import zlib
from collections import Counter
from collections.abc import Callable
from random import Random

# --------------------------------------------------------------------------- helpers

LOW = "abcdefghijklmnopqrstuvwxyz"
UP = LOW.upper()
DIG = "0123456789"
ALNUM = UP + LOW + DIG
HEX = "0123456789abcdef"
B64 = ALNUM + "+/"
B64U = ALNUM + "-_"
B32 = UP + "234567"
B58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
B62 = DIG + UP + LOW

Gen = Callable[[Random, str], str]


def _s(r: Random, alphabet: str, n: int) -> str:
    return "".join(r.choice(alphabet) for _ in range(n))


def _mixed(r: Random, alphabet: str, n: int) -> str:
    """Random text that certainly has a lower-case letter, an upper-case letter and a digit."""
    while True:
        t = _s(r, alphabet, n)
        if any(c in LOW for c in t) and any(c in UP for c in t) and any(c in DIG for c in t):
            return t


def _bytes(r: Random, n: int) -> bytes:
    return bytes(r.randrange(256) for _ in range(n))


def _b64(b: bytes) -> str:
    return base64.b64encode(b).decode()


def _b64u(b: bytes) -> str:
    return base64.urlsafe_b64encode(b).decode().rstrip("=")


def _b58(b: bytes) -> str:
    n = int.from_bytes(b, "big")
    out = ""
    while n:
        n, k = divmod(n, 58)
        out = B58[k] + out
    return "1" * (len(b) - len(b.lstrip(b"\0"))) + out


def _b58check(b: bytes) -> str:
    return _b58(b + hashlib.sha256(hashlib.sha256(b).digest()).digest()[:4])


def _bech32(hrp: str, data: bytes) -> str:
    acc = bits = 0
    five: list[int] = []
    for byte in data:
        acc = (acc << 8) | byte
        bits += 8
        while bits >= 5:
            bits -= 5
            five.append((acc >> bits) & 31)
    if bits:
        five.append((acc << (5 - bits)) & 31)

    def polymod(values: list[int]) -> int:
        gen = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
        chk = 1
        for v in values:
            top = chk >> 25
            chk = (chk & 0x1FFFFFF) << 5 ^ v
            for i in range(5):
                chk ^= gen[i] if (top >> i) & 1 else 0
        return chk

    exp = [ord(c) >> 5 for c in hrp] + [0] + [ord(c) & 31 for c in hrp]
    pm = polymod(exp + five + [0] * 6) ^ 1
    return hrp + "1" + "".join(BECH[d] for d in five + [(pm >> 5 * (5 - i)) & 31 for i in range(6)])


def _crc62(body: str) -> str:
    n = zlib.crc32(body.encode())
    out = ""
    while n:
        n, k = divmod(n, 62)
        out = B62[k] + out
    return out.rjust(6, "0")


def _crc_token(prefix: str) -> Gen:
    def gen(r: Random, _a: str) -> str:
        body = _mixed(r, ALNUM, 30)
        return prefix + body + _crc62(body)

    return gen


def _wrap(t: str, n: int) -> str:
    return "\n".join(t[i : i + n] for i in range(0, len(t), n))


def _jwt(r: Random, payload: dict[str, object], alg: str = "HS256") -> str:
    h = _b64u(json.dumps({"alg": alg, "typ": "JWT"}, separators=(",", ":")).encode())
    p = _b64u(json.dumps(payload, separators=(",", ":")).encode())
    return f"{h}.{p}.{_b64u(_bytes(r, 32 if alg == 'HS256' else 256))}"


def _bip39(r: Random, n: int) -> str:
    words = _BIP39.split()
    ent = _bytes(r, n * 4 // 3)
    cs = len(ent) // 4
    bits = (int.from_bytes(ent, "big") << cs) | (hashlib.sha256(ent).digest()[0] >> (8 - cs))
    return " ".join(words[(bits >> 11 * (n - 1 - i)) & 2047] for i in range(n))


_WORDS = (
    "Granit Kirsche Falke Marmor Juniper Walnuss Ember Cobalt Saffron Lantern Pelikan Quartz Thistle "
    "Mango Tucano Jabuti Capim Caramelo Bengal Monsoon Tabla Sakura Hotaru Kitsune Panda Bambus Dresden "
    "Fichte Zirkel Nebel Harbor Maple Otter Raven Violet Zephyr Piston Turbine Anchor Basalt"
).split()
_LWORDS = (
    "copper lantern quiet harbor violet maple thunder biscuit glacier pepper marble falcon timber ocean "
    "saddle ribbon tunnel carbon walnut meadow puzzle cactus orbit velvet hazel ember"
).split()


def _pw_human(r: Random) -> str:
    w = r.choice(_WORDS)
    k = r.randrange(5)
    if k == 0:
        return f"{w}{r.randrange(100, 9999)}!"
    if k == 1:
        return f"{w}-{r.choice(_WORDS)}{r.randrange(10, 99)}"
    if k == 2:
        return (
            w.replace("a", "4").replace("e", "3").replace("i", "1")
            + "_"
            + str(r.randrange(100, 9999))
        )
    if k == 3:
        return f"{w}#{r.choice(_WORDS).lower()}.{r.randrange(10, 999)}"
    return f"{w.lower()}{r.choice(_WORDS)}{r.randrange(100, 9999)}"


def _pw(r: Random, extra: str, lo: int = 11, hi: int = 18) -> str:
    n = r.randrange(lo, hi)
    while True:
        t = (
            r.choice(UP + LOW)
            + "".join(r.choice(ALNUM + extra * 2) for _ in range(n - 2))
            + r.choice(ALNUM)
        )
        if all(any(c in s for c in t) for s in (LOW, UP, DIG)) and (
            not extra or any(c in extra for c in t)
        ):
            if "--" not in t and "//" not in t and not re.search(r"(.)\1\1", t):
                return t


def _uuid(r: Random, _a: str = "") -> str:
    h = _s(r, HEX, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{r.choice('89ab')}{h[17:20]}-{h[20:]}"


def _pem(kind: str, size: int, head: str) -> Gen:
    def gen(r: Random, _a: str) -> str:
        body = head + _s(r, B64, size * 4 // 3 - len(head))
        body = body[: len(body) // 4 * 4 - 1] + "="
        return f"-----BEGIN {kind}-----\n{_wrap(body, 64)}\n-----END {kind}-----"

    return gen


def _pemlines(r: Random, a: str) -> str:
    """Only body lines, joined by a two-character backslash-n (as inside JSON)."""
    return "\\n".join(
        "MIIEvQ" + _s(r, B64, 58) if i == 0 else _s(r, B64, 64) for i in range(int(a or "6"))
    )


def _ip(r: Random) -> str:
    return f"10.{r.randrange(256)}.{r.randrange(256)}.{r.randrange(1, 255)}"


_EN = """The rollout finished around noon and the dashboards looked calm for the rest of the day.
I would rather keep the migration in one transaction, even if it takes a little longer.
Nobody noticed the flaky test until the third run, because the retry hid it.
We agreed to move the meeting to Thursday and to invite the people from support.
The cache key now contains the tenant, so two customers never see each other's rows.
Please rename the column in a separate commit; the reviewers get confused otherwise.
Most of the latency comes from the image resizer and not from the database.
After the upgrade the worker restarts twice and then stays healthy.
The token budget of the model is large, but the prompt still has to stay readable.
Let us write the release notes before we tag anything this time.
There is a race between the watcher and the writer when the disk is slow.
The customer asked for CSV export again, with semicolons and a header row.
I tried the nightly build as well and it shows exactly the same picture.
It would be nice to have a page that explains how people can change their password.
The linter complains about unused imports in four files, nothing serious.
Our staging cluster is smaller, therefore the numbers cannot be compared directly.""".splitlines()
_DE = """Der Drucker im zweiten Stock druckt seit gestern wieder, es lag am Treiber.
Bitte die Besprechung auf Mittwoch verschieben, Herr Albers ist im Urlaub.
Die Sicherung läuft nachts um zwei und dauert ungefähr vierzig Minuten.
Nach dem Update musste der Dienst von Hand neu gestartet werden.
Die neue Kollegin braucht noch einen Zugang zum Zeiterfassungssystem.
Im Handbuch steht, dass man das Kennwort alle neunzig Tage ändern soll.
Wir haben die alte Festplatte ausgebaut und fachgerecht entsorgt.
Der Tunnel zur Filiale in Kassel ist seit heute früh wieder stabil.
Die Rechnung liegt im Ordner Buchhaltung, Unterordner Eingang.
Am Freitag kommt der Techniker wegen der Telefonanlage vorbei.""".splitlines()
_ZH = """小程序审核昨天已经通过了，今天下午可以发布。
首页的轮播图加载太慢，建议换成压缩后的图片。
用户反馈说登录以后会跳回首页，我先看一下日志。
这个接口的返回值多了一层，前端需要改一下解析。
测试环境的数据库周末会迁移，大家提前保存数据。
产品经理希望把按钮改成蓝色，文案也要调整。
缓存过期时间设置成十分钟就够了，不用太长。
如果忘记密码，可以在设置页面里点击找回。
我们下周一开评审会，记得把原型图带上。
订单列表分页有问题，第二页会重复显示数据。""".splitlines()
_JA = """昨日のビルドは夜中に失敗していましたが、原因はディスク容量でした。
新しいステージの当たり判定を調整したので確認をお願いします。
キャラクターのモーションは来週までに差し替える予定です。
パスワードを忘れた場合の画面がまだデザインされていません。
サウンドチームからループ位置の修正依頼が来ています。
テスト端末が足りないので、総務に追加を申請しました。
リリースノートの下書きは共有フォルダに置いてあります。
メモリ使用量が増えているので、テクスチャを圧縮しましょう。""".splitlines()
_PT = """O deploy de ontem terminou sem erros e o time pôde dormir tranquilo.
Precisamos revisar o relatório de conciliação antes do fechamento do mês.
O cliente pediu para trocar a cor do botão e o texto do rodapé.
A fila de mensagens cresceu muito depois da campanha de sexta-feira.
O ambiente de homologação fica desligado durante o fim de semana.
Quem esqueceu a senha pode pedir uma nova pela tela de login.
Vamos separar a tela de extrato da tela de limites no próximo sprint.
Os testes de carga mostraram que o gargalo é a consulta de saldo.""".splitlines()
_PROSE = {"en": _EN, "de": _DE, "zh": _ZH, "ja": _JA, "pt": _PT}


def _prose(r: Random, a: str) -> str:
    lang, n = a.split("-")
    pool = _PROSE[lang]
    out: list[str] = []
    while len(out) < int(n):
        k = r.sample(pool, min(len(pool), int(n) - len(out)))
        out += k
    return ("" if lang in ("zh", "ja") else " ").join(out)


def _loglines(r: Random, a: str) -> str:
    out = []
    sec = r.randrange(40000)
    for _ in range(int(a)):
        sec += r.randrange(1, 9)
        t = f"{sec // 3600:02}:{sec // 60 % 60:02}:{sec % 60:02}.{r.randrange(1000):03}"
        out.append(
            f"2025-0{r.randrange(1, 9)}-1{r.randrange(9)}T{t}Z "
            + r.choice(
                [
                    f"INFO  http GET /api/v2/orders/{r.randrange(9999)} 200 {r.randrange(900)}ms",
                    f"DEBUG pool acquired connection {r.randrange(40)} (idle={r.randrange(9)})",
                    f"INFO  worker job={_uuid(r)} done in {r.randrange(9000)}ms",
                    f"WARN  cache miss for user:{r.randrange(99999)}:profile",
                    f"INFO  trace_id={_s(r, HEX, 32)} span_id={_s(r, HEX, 16)} sampled=true",
                ]
            )
        )
    return "\n".join(out)


def _codelines(r: Random, a: str) -> str:
    out = []
    for i in range(int(a)):
        f = (
            r.choice(["load", "merge", "score", "render", "parse", "collect"])
            + "_"
            + r.choice(["rows", "users", "frames", "orders", "events"])
            + f"_{i}"
        )
        out += [
            f"def {f}(items: list[int], limit: int = {r.randrange(5, 99)}) -> int:",
            f"    total = sum(x * {r.randrange(2, 9)} for x in items[:limit])",
            f"    return total % {r.randrange(100, 999)}",
            "",
        ]
    return "\n".join(out)


def _num(r: Random, a: str) -> str:
    lo, hi = a.split("-")
    return str(r.randrange(int(lo), int(hi)))


def _cc(prefix: str, alphabet: str, n: int, suffix: str = "") -> Gen:
    return lambda r, _a: prefix + _mixed(r, alphabet, n) + suffix


def _hexk(prefix: str, n: int, suffix: str = "") -> Gen:
    return lambda r, _a: prefix + _s(r, HEX, n) + suffix


def _discord(r: Random, _a: str) -> str:
    uid = str(r.randrange(10**17, 10**18))
    return f"{_b64u(uid.encode())}.G{_mixed(r, B64U, 5)}.{_mixed(r, B64U, 38)}"


GENS: dict[str, Gen] = {
    # -- plain material
    "": lambda r, a: "",
    "hex": lambda r, a: _s(r, HEX, int(a)),
    "HEX": lambda r, a: _s(r, HEX.upper(), int(a)),
    "alnum": lambda r, a: _mixed(r, ALNUM, int(a)),
    "lower": lambda r, a: _s(r, LOW, int(a)),
    "upper": lambda r, a: _s(r, UP, int(a)),
    "lownum": lambda r, a: _s(r, LOW + DIG, int(a)),
    "upnum": lambda r, a: _s(r, UP + DIG, int(a)),
    "dig": lambda r, a: r.choice("123456789") + _s(r, DIG, int(a) - 1),
    "b32": lambda r, a: _s(r, B32, int(a)),
    "b64": lambda r, a: _b64(_bytes(r, int(a))),
    "b64u": lambda r, a: _mixed(r, B64U, int(a)),
    "b64text": lambda r, a: _b64(_prose(r, a).encode()),
    "n": _num,
    "pick": lambda r, a: r.choice(a.split(",")),
    "uuid": _uuid,
    "prose": _prose,
    "log": _loglines,
    "code": _codelines,
    # -- passwords
    "pw": lambda r, a: r.choice([_pw_human(r), _pw(r, "!_.-%+"), _pw(r, "!_.-")]),
    "pwq": lambda r, a: r.choice([_pw(r, "!@#%^&*()?+=-_"), _pw(r, "!@#$%*?"), _pw_human(r)]),
    "pwu": lambda r, a: r.choice([_pw(r, "-_.~!"), _mixed(r, ALNUM, r.randrange(12, 22))]),
    "pwa": lambda r, a: _mixed(r, ALNUM, r.randrange(14, 26)),
    "pwh": lambda r, a: _pw_human(r),
    "pwsp": lambda r, a: " ".join(r.sample(_LWORDS, 4)) + f" {r.randrange(10, 99)}",
    "pass4": lambda r, a: "-".join(r.sample(_LWORDS, 4)) + f"-{r.randrange(10, 99)}",
    "wifi": lambda r, a: r.choice(
        [_s(r, DIG, 20), _pw(r, "!_.-", 14, 20), _pw_human(r) + str(r.randrange(999))]
    ),
    # -- provider formats
    "awssec": lambda r, a: _mixed(r, B64, 40),
    "awssess": lambda r, a: "IQoJb3JpZ2luX2Vj" + _s(r, B64, 280) + "==",
    "akia": lambda r, a: "AKIA" + _s(r, B32, 16),
    "asia": lambda r, a: "ASIA" + _s(r, B32, 16),
    "ghp": _crc_token("ghp_"),
    "gho": _crc_token("gho_"),
    "ghs": _crc_token("ghs_"),
    "ghu": _crc_token("ghu_"),
    "ghpat": lambda r, a: f"github_pat_{_mixed(r, ALNUM, 22)}_{_mixed(r, ALNUM, 59)}",
    "glpat": _cc("glpat-", B64U, 20),
    "glrt": _cc("glrt-", B64U, 20),
    "gldt": _cc("gldt-", B64U, 20),
    "xoxb": lambda r, a: (
        f"xoxb-{r.randrange(10**11, 10**12)}-{r.randrange(10**12, 10**13)}-{_mixed(r, ALNUM, 24)}"
    ),
    "xoxp": lambda r, a: (
        f"xoxp-{r.randrange(10**11, 10**12)}-{r.randrange(10**11, 10**12)}-"
        f"{r.randrange(10**12, 10**13)}-{_s(r, HEX, 32)}"
    ),
    "xapp": lambda r, a: (
        f"xapp-1-A0{_s(r, UP + DIG, 9)}-{r.randrange(10**12, 10**13)}-{_s(r, HEX, 64)}"
    ),
    "slackhook": lambda r, a: (
        f"T0{_s(r, UP + DIG, 9)}/B0{_s(r, UP + DIG, 9)}/{_mixed(r, ALNUM, 24)}"
    ),
    "sklive": _cc("sk_live_51", ALNUM, 97),
    "sktest": _cc("sk_test_51", ALNUM, 97),
    "rklive": _cc("rk_live_51", ALNUM, 97),
    "skshort": _cc("sk_live_", ALNUM, 24),
    "whsec": _cc("whsec_", ALNUM, 32),
    "whsecb64": lambda r, a: "whsec_" + _b64(_bytes(r, 24)),
    "openai": lambda r, a: f"sk-proj-{_mixed(r, B64U, 74)}T3BlbkFJ{_mixed(r, B64U, 74)}",
    "openai_old": lambda r, a: f"sk-{_mixed(r, ALNUM, 20)}T3BlbkFJ{_mixed(r, ALNUM, 20)}",
    "anthropic": lambda r, a: f"sk-ant-api03-{_mixed(r, B64U, 93)}AA",
    "openrouter": _hexk("sk-or-v1-", 64),
    "groq": lambda r, a: f"gsk_{_mixed(r, ALNUM, 20)}WGdyb3FY{_mixed(r, ALNUM, 24)}",
    "hf": lambda r, a: "hf_" + _s(r, UP + LOW, 34),
    "replicate": _cc("r8_", ALNUM, 37),
    "pplx": _cc("pplx-", ALNUM, 48),
    "xai": _cc("xai-", ALNUM, 80),
    "deepseek": _hexk("sk-", 32),
    "aiza": _cc("AIzaSy", B64U, 33),
    "gocspx": _cc("GOCSPX-", B64U, 28),
    "ya29": _cc("ya29.a0", B64U, 160),
    "grefresh": _cc("1//0", B64U, 60),
    "sendgrid": lambda r, a: f"SG.{_mixed(r, B64U, 22)}.{_mixed(r, B64U, 43)}",
    "mailgun": _hexk("key-", 32),
    "mailchimp": lambda r, a: f"{_s(r, HEX, 32)}-us{r.randrange(1, 22)}",
    "resend": lambda r, a: f"re_{_mixed(r, ALNUM, 8)}_{_mixed(r, ALNUM, 24)}",
    "npm": _crc_token("npm_"),
    "pypi": _cc("pypi-AgEIcHlwaS5vcmc", B64U, 150),
    "rubygems": _hexk("rubygems_", 48),
    "cargo": _cc("cio", ALNUM, 32),
    "nuget": lambda r, a: "oy2" + _s(r, LOW + DIG, 43),
    "dop": _hexk("dop_v1_", 64),
    "heroku": _cc("HRKU-AA", B64U, 58),
    "netlify": _cc("nfp_", ALNUM, 36),
    "linear": _cc("lin_api_", ALNUM, 40),
    "notion": _cc("ntn_", ALNUM, 46),
    "notion_old": _cc("secret_", ALNUM, 43),
    "airtable": lambda r, a: f"pat{_mixed(r, ALNUM, 14)}.{_s(r, HEX, 64)}",
    "figma": _cc("figd_", B64U, 40),
    "atlassian": lambda r, a: f"ATATT3xFfGF0{_mixed(r, B64U, 172)}={_s(r, HEX.upper(), 8)}",
    "discord": _discord,
    "telegram": lambda r, a: f"{r.randrange(10**9, 8 * 10**9)}:AA{_mixed(r, B64U, 33)}",
    "shpat": _hexk("shpat_", 32),
    "shpss": _hexk("shpss_", 32),
    "square": _cc("EAAAl", B64U, 59),
    "sq0csp": _cc("sq0csp-", B64U, 43),
    "dapi": _hexk("dapi", 32),
    "sbp": _hexk("sbp_", 40),
    "sbsecret": lambda r, a: f"sb_secret_{_mixed(r, B64U, 22)}_{_mixed(r, ALNUM, 8)}",
    "pscale_pw": _cc("pscale_pw_", B64U, 43),
    "pscale_tkn": _cc("pscale_tkn_", B64U, 43),
    "doppler": _cc("dp.pt.", ALNUM, 43),
    "hvs": _cc("hvs.CAESI", B64U, 90),
    "tfc": lambda r, a: f"{_mixed(r, ALNUM, 14)}.atlasv1.{_mixed(r, ALNUM, 67)}",
    "pulumi": _hexk("pul-", 40),
    "glsa": lambda r, a: f"glsa_{_mixed(r, ALNUM, 32)}_{_s(r, HEX, 8)}",
    "nrak": lambda r, a: "NRAK-" + _s(r, UP + DIG, 27),
    "sntryu": _hexk("sntryu_", 64),
    "dynatrace": lambda r, a: f"dt0c01.{_s(r, B32, 24)}.{_s(r, B32, 64)}",
    "okta": _cc("00", B64U, 40),
    "aadsecret": lambda r, a: f"{_mixed(r, ALNUM, 3)}8Q~{_mixed(r, B64U + '.', 34)}",
    "azkey": lambda r, a: _b64(_bytes(r, 64)),
    "azsas": lambda r, a: urllib.parse.quote(_b64(_bytes(r, 32)), safe=""),
    "tskey": lambda r, a: f"tskey-auth-k{_mixed(r, ALNUM, 11)}CNTRL-{_mixed(r, ALNUM, 32)}",
    "dckr": _cc("dckr_pat_", B64U, 27),
    "ltai": lambda r, a: "LTAI5t" + _mixed(r, ALNUM, 18),
    "akid": lambda r, a: "AKID" + _mixed(r, ALNUM, 32),
    "plnode": _cc("sk.eyJ1Ijoi", B64U, 90),
    "fcm": lambda r, a: f"AAAA{_mixed(r, B64U, 7)}:APA91b{_mixed(r, B64U, 134)}",
    "nsec": lambda r, a: _bech32("nsec", _bytes(r, 32)),
    "npub": lambda r, a: _bech32("npub", _bytes(r, 32)),
    "note": lambda r, a: _bech32("note", _bytes(r, 32)),
    "agekey": lambda r, a: _bech32("age-secret-key-", _bytes(r, 32)).upper(),
    "agepub": lambda r, a: _bech32("age", _bytes(r, 32)),
    "wif": lambda r, a: _b58check(b"\x80" + _bytes(r, 32) + b"\x01"),
    "xprv": lambda r, a: _b58check(
        bytes.fromhex("0488ade4") + b"\0" * 9 + _bytes(r, 32) + b"\0" + _bytes(r, 32)
    ),
    "xpub": lambda r, a: _b58check(
        bytes.fromhex("0488b21e") + b"\0" * 9 + _bytes(r, 32) + b"\x02" + _bytes(r, 32)
    ),
    "bip39": lambda r, a: _bip39(r, int(a)),
    "ethkey": lambda r, a: "0x" + _s(r, HEX, 64),
    "wg": lambda r, a: _b64(_bytes(r, 32)),
    "jwt": lambda r, a: _jwt(
        r,
        {
            "sub": str(r.randrange(10**6)),
            "name": r.choice(_WORDS),
            "iat": r.randrange(1_700_000_000, 1_760_000_000),
        },
    ),
    "jwt_ha": lambda r, a: _jwt(
        r,
        {
            "iss": _s(r, HEX, 32),
            "iat": 1735000000 + r.randrange(10**6),
            "exp": 2050000000 + r.randrange(10**6),
        },
    ),
    "jwt_srv": lambda r, a: _jwt(
        r,
        {
            "iss": "supabase",
            "ref": _s(r, LOW, 20),
            "role": "service_role",
            "iat": 1700000000 + r.randrange(10**7),
            "exp": 2020000000 + r.randrange(10**7),
        },
    ),
    "jwt_rs": lambda r, a: _jwt(
        r,
        {
            "iss": "kubernetes/serviceaccount",
            "sub": "system:serviceaccount:ci:deployer",
            "jti": _uuid(r),
        },
        "RS256",
    ),
    "basic": lambda r, a: _b64(
        f"{r.choice(['deploy', 'svc-api', 'admin', 'jenkins'])}:{_pw(r, '!_.-')}".encode()
    ),
    # -- key files
    "pem_rsa": _pem("RSA PRIVATE KEY", 600, "MIIEpAIBAAKCAQEA"),
    "pem_p8": _pem("PRIVATE KEY", 600, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"),
    "pem_ec": _pem("EC PRIVATE KEY", 120, "MHcCAQEEI"),
    "pem_ssh": _pem(
        "OPENSSH PRIVATE KEY", 300, "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB"
    ),
    "pem_pgp": lambda r, a: (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n"
        + _wrap("lQOYBGX" + _s(r, B64, 633), 64)
        + "\n="
        + _s(r, B64, 4)
        + "\n-----END PGP PRIVATE KEY BLOCK-----"
    ),
    "pem_enc": _pem("ENCRYPTED PRIVATE KEY", 500, "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQww"),
    "pemlines": _pemlines,
    "keyb64": lambda r, a: _b64(
        (
            "-----BEGIN RSA PRIVATE KEY-----\n"
            + _wrap(_s(r, B64, 320), 64)
            + "\n-----END RSA PRIVATE KEY-----\n"
        ).encode()
    ),
    # -- harmless look-alikes
    "cert": _pem("CERTIFICATE", 500, "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYD"),
    "csr": _pem("CERTIFICATE REQUEST", 300, "MIICijCCAXICAQAwRTELMAkGA1UEBhMC"),
    "pubpem": _pem("PUBLIC KEY", 294, "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA"),
    "pgppub": lambda r, a: (
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n"
        + _wrap("mQENBGX" + _s(r, B64, 441), 64)
        + "\n="
        + _s(r, B64, 4)
        + "\n-----END PGP PUBLIC KEY BLOCK-----"
    ),
    "pgpsig": lambda r, a: (
        "-----BEGIN PGP SIGNATURE-----\n\n"
        + _wrap("iQEzBAEBCAAdFiEE" + _s(r, B64, 300), 64)
        + "\n="
        + _s(r, B64, 4)
        + "\n-----END PGP SIGNATURE-----"
    ),
    "sshed": lambda r, a: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + _s(r, B64, 43),
    "sshrsa": lambda r, a: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ" + _s(r, B64, 338),
    "sha512sri": lambda r, a: "sha512-" + _b64(_bytes(r, 64)),
    "sha384sri": lambda r, a: "sha384-" + _b64(_bytes(r, 48)),
    "ver": lambda r, a: f"{r.randrange(20)}.{r.randrange(40)}.{r.randrange(30)}",
    "date": lambda r, a: f"202{r.randrange(3, 7)}-{r.randrange(1, 13):02}-{r.randrange(1, 29):02}",
    "time": lambda r, a: f"{r.randrange(24):02}:{r.randrange(60):02}:{r.randrange(60):02}",
    "ip": lambda r, a: _ip(r),
    "mac": lambda r, a: ":".join(_s(r, HEX, 2) for _ in range(6)),
    "ip6": lambda r, a: "2001:db8:" + ":".join(_s(r, HEX, 4) for _ in range(6)),
    "eth": lambda r, a: "0x" + _s(r, HEX, 40),
    "btc": lambda r, a: _bech32("bc", b"\0" + _bytes(r, 20)),
    "cid": lambda r, a: "bafybei" + _s(r, LOW + "234567", 52),
    "cidv0": lambda r, a: "Qm" + _s(r, B58, 44),
    "ulid": lambda r, a: "01J" + _s(r, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23),
    "oid": lambda r, a: "6" + _s(r, HEX, 23),
    "fpr": lambda r, a: " ".join(_s(r, HEX.upper(), 4) for _ in range(10)),
    "colonhex": lambda r, a: ":".join(_s(r, HEX.upper(), 2) for _ in range(int(a))),
    "host": lambda r, a: (
        r.choice(["db", "pg", "api", "node", "cache", "mail", "srv"])
        + f"{r.randrange(1, 60):02}."
        + r.choice(["corp.lan", "internal", "firma.local", "prod.acme.io", "intra.example"])
    ),
    "user": lambda r, a: r.choice(
        "svc_app deploy jenkins backup_user m.krause ppatel wangwei tanaka joao.silva etl_loader app_rw gitlab-ci".split()
    ),
    "app": lambda r, a: (
        r.choice(
            "orders billing ledger inventory portal gateway scheduler mailer reports search".split()
        )
        + f"-{r.randrange(1, 99)}"
    ),
    "name": lambda r, a: r.choice(
        "Katrin Jonas Priya Ravi Mei Haruto João Larissa Olga Ahmet Sofie Luca".split()
    ),
    "word": lambda r, a: r.choice(_LWORDS),
    "Word": lambda r, a: r.choice(_WORDS),
}

FILTERS: dict[str, Callable[[str], str]] = {
    "b64": lambda t: _b64(t.encode()),
    "url": lambda t: urllib.parse.quote(t, safe=""),
    "upper": str.upper,
}

_MARK = re.compile(r"⟦([^⟧]*)⟧|⟪([^⟫]*)⟫")
_BLOCK = re.compile(r"^@@ (\S+)(?: x(\d))?\n", re.M)


def _render(template: str, r: Random) -> tuple[str, tuple[str, ...]]:
    seen: dict[str, str] = {}
    secrets: list[str] = []
    out: list[str] = []
    pos = 0
    for m in _MARK.finditer(template):
        out.append(template[pos : m.start()])
        pos = m.end()
        spec = m.group(1) if m.group(1) is not None else m.group(2)
        spec, _, flt = spec.partition("|")
        spec, _, label = spec.partition("#")
        kind, _, arg = spec.partition(":")
        value = seen.get(label) if label else None
        if value is None:
            value = GENS[kind](r, arg)
            if label:
                seen[label] = value
        if flt:
            value = FILTERS[flt](value)
        if m.group(1) is not None:
            parts = (
                [p for p in re.split(r"\n|\\n", value) if len(p) >= 8 and not p.startswith("-----")]
                if ("\n" in value or "\\n" in value)
                else [value]
            )
            secrets += [p for p in parts if p not in secrets]
        if "\n" in value:  # keep the indentation of a block value
            line = "".join(out).rsplit("\n", 1)[-1]
            if line.strip() in ("", "+", "-", ">", "#", "//", "|"):
                value = value.replace("\n", "\n" + line)
        out.append(value)
    out.append(template[pos:])
    return "".join(out), tuple(secrets)


def _blocks(source: str, reps: int) -> list[tuple[str, str, int]]:
    marks = list(_BLOCK.finditer(source))
    res = []
    for i, m in enumerate(marks):
        end = marks[i + 1].start() if i + 1 < len(marks) else len(source)
        res.append((m.group(1), source[m.end() : end].rstrip("\n"), int(m.group(2) or reps)))
    return res


# The English BIP-39 word list (public), so that generated phrases have a valid checksum.
_BIP39 = """
abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid
acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice
aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert alien all
alley allow almost alone alpha already also alter always amateur amazing among amount amused analyst anchor ancient
anger angle angry animal ankle announce annual another answer antenna antique anxiety any apart apology appear apple
approve april arch arctic area arena argue arm armed armor army around arrange arrest arrive arrow art artefact
artist artwork ask aspect assault asset assist assume asthma athlete atom attack attend attitude attract auction
audit august aunt author auto autumn average avocado avoid awake aware away awesome awful awkward axis baby bachelor
bacon badge bag balance balcony ball bamboo banana banner bar barely bargain barrel base basic basket battle beach
bean beauty because become beef before begin behave behind believe below belt bench benefit best betray better
between beyond bicycle bid bike bind biology bird birth bitter black blade blame blanket blast bleak bless blind
blood blossom blouse blue blur blush board boat body boil bomb bone bonus book boost border boring borrow boss
bottom bounce box boy bracket brain brand brass brave bread breeze brick bridge brief bright bring brisk broccoli
broken bronze broom brother brown brush bubble buddy budget buffalo build bulb bulk bullet bundle bunker burden
burger burst bus business busy butter buyer buzz cabbage cabin cable cactus cage cake call calm camera camp can
canal cancel candy cannon canoe canvas canyon capable capital captain car carbon card cargo carpet carry cart case
cash casino castle casual cat catalog catch category cattle caught cause caution cave ceiling celery cement census
century cereal certain chair chalk champion change chaos chapter charge chase chat cheap check cheese chef cherry
chest chicken chief child chimney choice choose chronic chuckle chunk churn cigar cinnamon circle citizen city civil
claim clap clarify claw clay clean clerk clever click client cliff climb clinic clip clock clog close cloth cloud
clown club clump cluster clutch coach coast coconut code coffee coil coin collect color column combine come comfort
comic common company concert conduct confirm congress connect consider control convince cook cool copper copy coral
core corn correct cost cotton couch country couple course cousin cover coyote crack cradle craft cram crane crash
crater crawl crazy cream credit creek crew cricket crime crisp critic crop cross crouch crowd crucial cruel cruise
crumble crunch crush cry crystal cube culture cup cupboard curious current curtain curve cushion custom cute cycle
dad damage damp dance danger daring dash daughter dawn day deal debate debris decade december decide decline
decorate decrease deer defense define defy degree delay deliver demand demise denial dentist deny depart depend
deposit depth deputy derive describe desert design desk despair destroy detail detect develop device devote diagram
dial diamond diary dice diesel diet differ digital dignity dilemma dinner dinosaur direct dirt disagree discover
disease dish dismiss disorder display distance divert divide divorce dizzy doctor document dog doll dolphin domain
donate donkey donor door dose double dove draft dragon drama drastic draw dream dress drift drill drink drip drive
drop drum dry duck dumb dune during dust dutch duty dwarf dynamic eager eagle early earn earth easily east easy echo
ecology economy edge edit educate effort egg eight either elbow elder electric elegant element elephant elevator
elite else embark embody embrace emerge emotion employ empower empty enable enact end endless endorse enemy energy
enforce engage engine enhance enjoy enlist enough enrich enroll ensure enter entire entry envelope episode equal
equip era erase erode erosion error erupt escape essay essence estate eternal ethics evidence evil evoke evolve
exact example excess exchange excite exclude excuse execute exercise exhaust exhibit exile exist exit exotic expand
expect expire explain expose express extend extra eye eyebrow fabric face faculty fade faint faith fall false fame
family famous fan fancy fantasy farm fashion fat fatal father fatigue fault favorite feature february federal fee
feed feel female fence festival fetch fever few fiber fiction field figure file film filter final find fine finger
finish fire firm first fiscal fish fit fitness fix flag flame flash flat flavor flee flight flip float flock floor
flower fluid flush fly foam focus fog foil fold follow food foot force forest forget fork fortune forum forward
fossil foster found fox fragile frame frequent fresh friend fringe frog front frost frown frozen fruit fuel fun
funny furnace fury future gadget gain galaxy gallery game gap garage garbage garden garlic garment gas gasp gate
gather gauge gaze general genius genre gentle genuine gesture ghost giant gift giggle ginger giraffe girl give glad
glance glare glass glide glimpse globe gloom glory glove glow glue goat goddess gold good goose gorilla gospel
gossip govern gown grab grace grain grant grape grass gravity great green grid grief grit grocery group grow grunt
guard guess guide guilt guitar gun gym habit hair half hammer hamster hand happy harbor hard harsh harvest hat have
hawk hazard head health heart heavy hedgehog height hello helmet help hen hero hidden high hill hint hip hire
history hobby hockey hold hole holiday hollow home honey hood hope horn horror horse hospital host hotel hour hover
hub huge human humble humor hundred hungry hunt hurdle hurry hurt husband hybrid ice icon idea identify idle ignore
ill illegal illness image imitate immense immune impact impose improve impulse inch include income increase index
indicate indoor industry infant inflict inform inhale inherit initial inject injury inmate inner innocent input
inquiry insane insect inside inspire install intact interest into invest invite involve iron island isolate issue
item ivory jacket jaguar jar jazz jealous jeans jelly jewel job join joke journey joy judge juice jump jungle junior
junk just kangaroo keen keep ketchup key kick kid kidney kind kingdom kiss kit kitchen kite kitten kiwi knee knife
knock know lab label labor ladder lady lake lamp language laptop large later latin laugh laundry lava law lawn
lawsuit layer lazy leader leaf learn leave lecture left leg legal legend leisure lemon lend length lens leopard
lesson letter level liar liberty library license life lift light like limb limit link lion liquid list little live
lizard load loan lobster local lock logic lonely long loop lottery loud lounge love loyal lucky luggage lumber lunar
lunch luxury lyrics machine mad magic magnet maid mail main major make mammal man manage mandate mango mansion
manual maple marble march margin marine market marriage mask mass master match material math matrix matter maximum
maze meadow mean measure meat mechanic medal media melody melt member memory mention menu mercy merge merit merry
mesh message metal method middle midnight milk million mimic mind minimum minor minute miracle mirror misery miss
mistake mix mixed mixture mobile model modify mom moment monitor monkey monster month moon moral more morning
mosquito mother motion motor mountain mouse move movie much muffin mule multiply muscle museum mushroom music must
mutual myself mystery myth naive name napkin narrow nasty nation nature near neck need negative neglect neither
nephew nerve nest net network neutral never news next nice night noble noise nominee noodle normal north nose
notable note nothing notice novel now nuclear number nurse nut oak obey object oblige obscure observe obtain obvious
occur ocean october odor off offer office often oil okay old olive olympic omit once one onion online only open
opera opinion oppose option orange orbit orchard order ordinary organ orient original orphan ostrich other outdoor
outer output outside oval oven over own owner oxygen oyster ozone pact paddle page pair palace palm panda panel
panic panther paper parade parent park parrot party pass patch path patient patrol pattern pause pave payment peace
peanut pear peasant pelican pen penalty pencil people pepper perfect permit person pet phone photo phrase physical
piano picnic picture piece pig pigeon pill pilot pink pioneer pipe pistol pitch pizza place planet plastic plate
play please pledge pluck plug plunge poem poet point polar pole police pond pony pool popular portion position
possible post potato pottery poverty powder power practice praise predict prefer prepare present pretty prevent
price pride primary print priority prison private prize problem process produce profit program project promote proof
property prosper protect proud provide public pudding pull pulp pulse pumpkin punch pupil puppy purchase purity
purpose purse push put puzzle pyramid quality quantum quarter question quick quit quiz quote rabbit raccoon race
rack radar radio rail rain raise rally ramp ranch random range rapid rare rate rather raven raw razor ready real
reason rebel rebuild recall receive recipe record recycle reduce reflect reform refuse region regret regular reject
relax release relief rely remain remember remind remove render renew rent reopen repair repeat replace report
require rescue resemble resist resource response result retire retreat return reunion reveal review reward rhythm
rib ribbon rice rich ride ridge rifle right rigid ring riot ripple risk ritual rival river road roast robot robust
rocket romance roof rookie room rose rotate rough round route royal rubber rude rug rule run runway rural sad saddle
sadness safe sail salad salmon salon salt salute same sample sand satisfy satoshi sauce sausage save say scale scan
scare scatter scene scheme school science scissors scorpion scout scrap screen script scrub sea search season seat
second secret section security seed seek segment select sell seminar senior sense sentence series service session
settle setup seven shadow shaft shallow share shed shell sheriff shield shift shine ship shiver shock shoe shoot
shop short shoulder shove shrimp shrug shuffle shy sibling sick side siege sight sign silent silk silly silver
similar simple since sing siren sister situate six size skate sketch ski skill skin skirt skull slab slam sleep
slender slice slide slight slim slogan slot slow slush small smart smile smoke smooth snack snake snap sniff snow
soap soccer social sock soda soft solar soldier solid solution solve someone song soon sorry sort soul sound soup
source south space spare spatial spawn speak special speed spell spend sphere spice spider spike spin spirit split
spoil sponsor spoon sport spot spray spread spring spy square squeeze squirrel stable stadium staff stage stairs
stamp stand start state stay steak steel stem step stereo stick still sting stock stomach stone stool story stove
strategy street strike strong struggle student stuff stumble style subject submit subway success such sudden suffer
sugar suggest suit summer sun sunny sunset super supply supreme sure surface surge surprise surround survey suspect
sustain swallow swamp swap swarm swear sweet swift swim swing switch sword symbol symptom syrup system table tackle
tag tail talent talk tank tape target task taste tattoo taxi teach team tell ten tenant tennis tent term test text
thank that theme then theory there they thing this thought three thrive throw thumb thunder ticket tide tiger tilt
timber time tiny tip tired tissue title toast tobacco today toddler toe together toilet token tomato tomorrow tone
tongue tonight tool tooth top topic topple torch tornado tortoise toss total tourist toward tower town toy track
trade traffic tragic train transfer trap trash travel tray treat tree trend trial tribe trick trigger trim trip
trophy trouble truck true truly trumpet trust truth try tube tuition tumble tuna tunnel turkey turn turtle twelve
twenty twice twin twist two type typical ugly umbrella unable unaware uncle uncover under undo unfair unfold unhappy
uniform unique unit universe unknown unlock until unusual unveil update upgrade uphold upon upper upset urban urge
usage use used useful useless usual utility vacant vacuum vague valid valley valve van vanish vapor various vast
vault vehicle velvet vendor venture venue verb verify version very vessel veteran viable vibrant vicious victory
video view village vintage violin virtual virus visa visit visual vital vivid vocal voice void volcano volume vote
voyage wage wagon wait walk wall walnut want warfare warm warrior wash wasp waste water wave way wealth weapon wear
weasel weather web wedding weekend weird welcome west wet whale what wheat wheel when where whip whisper wide width
wife wild will win window wine wing wink winner winter wire wisdom wise wish witness wolf woman wonder wood wool
word work world worry worth wrap wreck wrestle wrist write wrong yard year yellow you young youth zebra zero zone
zoo
"""

_POSITIVE = r"""
@@ devops_k8s
kubectl create secret generic ⟪app⟫-db --from-literal=username=⟪user⟫ --from-literal=password='⟦pwq⟧' -n prod
@@ devops_k8s
apiVersion: v1
kind: Secret
metadata:
  name: ⟪app⟫-credentials
type: Opaque
data:
  password: ⟦pw|b64⟧
@@ devops_k8s
apiVersion: v1
kind: Secret
metadata:
  name: ⟪app⟫
stringData:
  DB_HOST: ⟪host⟫
  DB_USER: ⟪user⟫
  DB_PASSWORD: "⟦pwq⟧"
  JWT_SECRET: ⟦hex:64⟧
@@ devops_k8s
users:
- name: ci-admin
  user:
    token: ⟦jwt_rs⟧
@@ devops_k8s
- name: kubernetes-admin
  user:
    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t
    client-key-data: ⟦keyb64⟧
@@ devops_k8s
        env:
        - name: REDIS_PASSWORD
          value: ⟦pwa⟧
        - name: LOG_LEVEL
          value: debug
@@ devops_helm
helm upgrade --install ⟪app⟫ ./chart --set image.tag=⟪ver⟫ --set postgresql.auth.password=⟦pwa⟧ --wait
@@ devops_helm
# values-prod.yaml
grafana:
  adminUser: admin
  adminPassword: ⟦pw⟧
  ingress:
    enabled: true
@@ devops_terraform
db_username = "⟪user⟫"
db_password = "⟦pwq⟧"
region      = "eu-central-1"
@@ devops_terraform
provider "aws" {
  region     = "sa-east-1"
  access_key = "⟪akia⟫"
  secret_key = "⟦awssec⟧"
}
@@ devops_terraform
credentials "app.terraform.io" {
  token = "⟦tfc⟧"
}
@@ devops_terraform
resource "azurerm_mssql_server" "main" {
  name                         = "⟪app⟫"
  administrator_login          = "sqladmin"
  administrator_login_password = "⟦pwq⟧"
}
@@ devops_terraform
terraform apply -auto-approve -var="cloudflare_api_token=⟦b64u:40⟧" -var="zone_id=⟪hex:32⟫"
@@ devops_tfstate
            "id": "⟪app⟫",
            "engine": "postgres",
            "password": "⟦pwu⟧",
            "port": 5432,
            "username": "⟪user⟫",
@@ devops_aws
[default]
aws_access_key_id = ⟪akia⟫
aws_secret_access_key = ⟦awssec⟧
region = eu-west-1
@@ devops_aws
export AWS_ACCESS_KEY_ID=⟪asia⟫
export AWS_SECRET_ACCESS_KEY=⟦awssec⟧
export AWS_SESSION_TOKEN=⟦awssess⟧
@@ devops_aws
{
    "Credentials": {
        "AccessKeyId": "⟪asia⟫",
        "SecretAccessKey": "⟦awssec⟧",
        "SessionToken": "⟦awssess⟧",
        "Expiration": "2026-02-1⟪n:0-9⟫T18:04:11Z"
    }
}
@@ devops_aws
$ aws configure
AWS Access Key ID [None]: ⟪akia⟫
AWS Secret Access Key [None]: ⟦awssec⟧
Default region name [None]: us-east-1
@@ devops_aws
User name,Access key ID,Secret access key
⟪user⟫,⟪akia⟫,⟦awssec⟧
@@ devops_ssh_key
$ cat ~/.ssh/id_ed25519
⟦pem_ssh⟧
$ ls -l ~/.ssh
@@ devops_ssh_key
cloud-init says the key is broken, can you see why?
write_files:
  - path: /root/.ssh/deploy
    permissions: '0600'
    content: |
      ⟦pem_rsa⟧
@@ devops_ssh_key
{"type":"service_account","project_id":"⟪app⟫","private_key_id":"⟪hex:40⟫","private_key":"-----BEGIN PRIVATE KEY-----\n⟦pemlines:8⟧\n-----END PRIVATE KEY-----\n","client_email":"ci@⟪app⟫.iam.gserviceaccount.com"}
@@ devops_vault
$ vault login ⟦hvs⟧
Success! You are now authenticated.
@@ devops_vault
Unseal Key 1: ⟦b64:33⟧
Unseal Key 2: ⟦b64:33⟧
Unseal Key 3: ⟦b64:33⟧

Initial Root Token: ⟦hvs⟧
@@ devops_ansible
[web]
⟪host⟫ ansible_user=⟪user⟫ ansible_ssh_pass=⟦pwu⟧ ansible_become_pass=⟦pwu⟧
@@ devops_ansible
- name: create app user
  community.postgresql.postgresql_user:
    name: ⟪user⟫
    password: ⟦pwa⟧
    state: present
@@ devops_ansible
ansible-playbook site.yml -e "mysql_root_password=⟦pwa⟧ env=prod" --limit ⟪host⟫
@@ devops_docker
docker run -d --name pg -e POSTGRES_USER=⟪user⟫ -e POSTGRES_PASSWORD=⟦pwu⟧ -p 5432:5432 postgres:16
@@ devops_docker
services:
  db:
    image: mariadb:11
    environment:
      MARIADB_ROOT_PASSWORD: ⟦pwu⟧
      MARIADB_USER: app
      MARIADB_PASSWORD: ⟦pwu⟧
@@ devops_docker
ENV NODE_ENV=production \
    SESSION_SECRET=⟦hex:48⟧ \
    PORT=3000
@@ devops_docker
{
  "auths": {
    "registry.⟪app⟫.io": {
      "auth": "⟦basic⟧"
    }
  }
}
@@ devops_docker
docker login -u ⟪user⟫ -p ⟦dckr⟧ docker.io
@@ devops_docker
echo "⟦glpat⟧" | docker login registry.gitlab.com -u gitlab-ci --password-stdin
@@ devops_git
git clone https://oauth2:⟦glpat⟧@gitlab.com/acme/⟪app⟫.git
@@ devops_git
remote.origin.url=https://⟦ghp⟧@github.com/acme/⟪app⟫.git
@@ devops_git
$ cat ~/.git-credentials
https://⟪user⟫:⟦ghpat⟧@github.com
@@ devops_git
gh secret set DEPLOY --body "⟦gho⟧" && gh workflow run release.yml
@@ devops_ci_log
##[debug]Evaluating condition for step: 'Deploy'
curl -fsS -X POST -H "Authorization: token ⟦ghs⟧" https://api.github.com/repos/acme/⟪app⟫/dispatches
##[error]Process completed with exit code 22.
@@ devops_ci_log
gitlab-runner register --non-interactive --url https://gitlab.firma.local --token ⟦glrt⟧ --executor docker
@@ devops_ci_log
+ export SONAR_TOKEN=sqp_⟦hex:40⟧
+ mvn -B verify sonar:sonar
@@ devops_monitoring
curl -H "Authorization: Bearer ⟦glsa⟧" https://grafana.⟪host⟫/api/dashboards/home
@@ devops_monitoring
receivers:
- name: slack
  slack_configs:
  - api_url: https://hooks.slack.com/services/⟦slackhook⟧
    channel: '#alerts'
@@ devops_monitoring
DD_API_KEY=⟦hex:32⟧ DD_APP_KEY=⟦hex:40⟧ DD_SITE=datadoghq.eu datadog-agent run
@@ devops_monitoring
newrelic:
  licenseKey: ⟦hex:36⟧NRAL
  apiKey: ⟦nrak⟧
@@ devops_monitoring
SENTRY_AUTH_TOKEN=⟦sntryu⟧ npx sentry-cli releases new ⟪ver⟫
@@ devops_monitoring
Api-Token ⟦dynatrace⟧ works for the metrics endpoint, but not for the problems API.
@@ devops_cloud
az login --service-principal -u ⟪uuid⟫ -p ⟦aadsecret⟧ --tenant ⟪uuid⟫
@@ devops_cloud
AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;AccountName=⟪lower:10⟫;AccountKey=⟦azkey⟧;EndpointSuffix=core.windows.net"
@@ devops_cloud
azcopy copy ./dump "https://⟪lower:9⟫.blob.core.windows.net/backup?sv=2023-11-03&ss=b&srt=co&sp=rwl&se=2026-12-31T00:00:00Z&sig=⟦azsas⟧"
@@ devops_cloud
Endpoint=sb://⟪lower:9⟫.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=⟦b64:32⟧
@@ devops_cloud
doctl auth init --access-token ⟦dop⟧
@@ devops_cloud
tailscale up --authkey=⟦tskey⟧ --hostname=⟪app⟫ --ssh
@@ devops_cloud
PULUMI_ACCESS_TOKEN=⟦pulumi⟧ pulumi up --yes --stack prod
@@ devops_cloud
doppler run --token="⟦doppler⟧" -- ./start.sh
@@ devops_wireguard
[Interface]
PrivateKey = ⟦wg⟧
Address = 10.8.0.⟪n:2-254⟫/24

[Peer]
PublicKey = ⟪wg⟫
PresharedKey = ⟦wg⟧
AllowedIPs = 0.0.0.0/0
@@ devops_backup
export RESTIC_REPOSITORY=s3:s3.eu-central-1.wasabisys.com/⟪app⟫
export RESTIC_PASSWORD=⟦pass4⟧
restic snapshots
@@ devops_backup
BORG_PASSPHRASE='⟦pwq⟧' borg create ssh://u⟪dig:6⟫@u⟪dig:6⟫.your-storagebox.de:23/./repo::{now} /srv
@@ devops_rotate_chat
I rotated it. new root password for ⟪host⟫ is ⟦pw⟧ (old one stops working tonight)
@@ devops_rotate_chat
Can you ssh into ⟪ip⟫? user: ⟪user⟫, pass: ⟦pw⟧
@@ devops_sshpass
sshpass -p '⟦pwq⟧' ssh -o StrictHostKeyChecking=no ⟪user⟫@⟪ip⟫ uptime
@@ devops_chpasswd
echo '⟪user⟫:⟦pw⟧' | sudo chpasswd
@@ devops_tls
openssl pkcs12 -export -in cert.pem -inkey key.pem -out out.p12 -passout pass:⟦pwa⟧
@@ devops_etcd
ETCDCTL_API=3 etcdctl --endpoints=https://⟪host⟫:2379 --user root:⟦pwa⟧ get / --prefix --keys-only
@@ web_env
NEXT_PUBLIC_SUPABASE_URL=https://⟪lower:20⟫.supabase.co
SUPABASE_SERVICE_ROLE_KEY=⟦jwt_srv⟧
@@ web_env
# .env.local
STRIPE_SECRET_KEY=⟦sklive⟧
STRIPE_WEBHOOK_SECRET=⟦whsec⟧
NEXT_PUBLIC_APP_URL=https://⟪app⟫.vercel.app
@@ web_env
DATABASE_URL="postgresql://postgres:⟦pwu⟧@db.⟪lower:20⟫.supabase.co:5432/postgres?schema=public"
NEXTAUTH_SECRET="⟦b64:32⟧"
NEXTAUTH_URL="http://localhost:3000"
@@ web_env
GOOGLE_CLIENT_ID=⟪dig:12⟫-⟪lownum:32⟫.apps.googleusercontent.com
GOOGLE_CLIENT_SECRET=⟦gocspx⟧
GITHUB_CLIENT_ID=Iv1.⟪hex:16⟫
GITHUB_CLIENT_SECRET=⟦hex:40⟧
@@ web_env
RESEND_API_KEY=⟦resend⟧
EMAIL_FROM=hello@⟪app⟫.dev
@@ web_env
SENDGRID_API_KEY='⟦sendgrid⟧'
MAILGUN_API_KEY=⟦mailgun⟧
MAILCHIMP_API_KEY=⟦mailchimp⟧
@@ web_env
APP_NAME=Laravel
APP_ENV=production
APP_KEY=base64:⟦b64:32⟧
DB_PASSWORD=⟦pwu⟧
@@ web_env
OPENAI_API_KEY=⟦openai⟧
OPENAI_MODEL=gpt-4o-mini
@@ web_code
import Stripe from 'stripe';

const stripe = new Stripe('⟦skshort⟧', { apiVersion: '2024-06-20' });
@@ web_code
const supabase = createClient('https://⟪lower:20⟫.supabase.co', '⟦sbsecret⟧')
@@ web_code
app.use(session({ secret: '⟦pwq⟧', resave: false, saveUninitialized: true }));
@@ web_code
const transporter = nodemailer.createTransport({
  host: "smtp.⟪host⟫",
  port: 587,
  auth: { user: "no-reply@⟪app⟫.io", pass: "⟦pwq⟧" },
});
@@ web_code
fetch("https://api.airtable.com/v0/app⟪alnum:14⟫/Leads", {
  headers: { Authorization: "Bearer ⟦airtable⟧" },
})
@@ web_code
jwt.sign({ sub: user.id }, "⟦pwa⟧", { expiresIn: "15m" }) // TODO move that signing secret to env
@@ web_code
cloudinary.config({ cloud_name: '⟪app⟫', api_key: '⟪dig:15⟫', api_secret: '⟦b64u:27⟧' });
@@ web_code
const client = algoliasearch('⟪upnum:10⟫', '⟦hex:32⟧'); // admin API key, server only
@@ web_code
<?php
define( 'DB_NAME', '⟪app⟫' );
define( 'DB_USER', '⟪user⟫' );
define( 'DB_PASSWORD', '⟦pwq⟧' );
define( 'AUTH_KEY', '⟦pwsp⟧' );
@@ web_code
$mysqli = new mysqli("localhost", "⟪user⟫", "⟦pwq⟧", "shop");
@@ web_cmd
stripe listen --api-key ⟦rklive⟧ --forward-to localhost:3000/api/webhook
@@ web_cmd
curl https://api.stripe.com/v1/charges -u ⟦skshort⟧: -d amount=2000 -d currency=eur
@@ web_cmd
npm config set //registry.npmjs.org/:_authToken=⟦npm⟧
@@ web_npmrc
@acme:registry=https://npm.pkg.github.com
//npm.pkg.github.com/:_authToken=⟦ghp⟧
always-auth=true
@@ web_npmrc
//nexus.⟪host⟫/repository/npm/:_auth=⟦basic⟧
@@ web_cmd
NETLIFY_AUTH_TOKEN=⟦netlify⟧ npx netlify deploy --prod --dir=dist
@@ web_cmd
npx vercel --prod --token ⟦alnum:24⟧
@@ web_cmd
supabase login --token ⟦sbp⟧
@@ web_http
GET /api/me HTTP/1.1
Host: ⟪host⟫
Authorization: Bearer ⟦jwt⟧
Accept: application/json
@@ web_http
> POST /v1/orders HTTP/2
> host: ⟪host⟫
> x-api-key: ⟦alnum:40⟧
> content-type: application/json
@@ web_http
Cookie: _ga=GA1.1.⟪dig:9⟫.⟪dig:10⟫; sessionid=⟦lownum:32⟧; theme=dark
@@ web_http
< HTTP/1.1 302 Found
< Set-Cookie: connect.sid=s%3A⟦b64u:32⟧.⟦alnum:43⟧; Path=/; HttpOnly; Secure
< Location: /dashboard
@@ web_http
curl 'https://⟪host⟫/graphql' -H 'authorization: Basic ⟦basic⟧' -H 'accept: */*' --compressed
@@ web_http
{"grant_type":"password","username":"⟪user⟫","password":"⟦pwq⟧","client_id":"web"}
@@ web_http
HTTP/1.1 200 OK
Content-Type: application/json

{"access_token":"⟦jwt⟧","token_type":"bearer","expires_in":3600,"refresh_token":"⟦b64u:64⟧"}
@@ web_http
POST /oauth/token
grant_type=client_credentials&client_id=⟪uuid⟫&client_secret=⟦alnum:40⟧&scope=read
@@ web_http
the reset link was https://⟪app⟫.io/reset-password?token=⟦hex:64⟧ and it still answers 500
@@ web_http
wss://⟪host⟫/socket?access_token=⟦jwt⟧&v=2
@@ web_json_escaped
{"level":"error","msg":"request failed","body":"{\"email\":\"⟪user⟫@mail.test\",\"password\":\"⟦pwa⟧\"}"}
@@ web_json_escaped
"{\"config\":{\"stripe\":{\"secretKey\":\"⟦sklive⟧\",\"currency\":\"eur\"}}}"
@@ web_json_escaped
{"tool":"bash","input":"{\"cmd\":\"curl -H \\\"Authorization: Bearer ⟦ghu⟧\\\" https://api.github.com/user\"}"}
@@ web_diff
diff --git a/src/config.ts b/src/config.ts
@@ -4,7 +4,7 @@ export const config = {
   region: 'fra1',
-  apiSecret: '⟦alnum:36⟧',
+  apiSecret: process.env.API_SECRET!,
   retries: 3,
@@ web_chat
my key is ⟦openai_old⟧, why do I get a 429 on every call?
@@ web_chat
use this one for the webhook test: ⟦whsecb64⟧
@@ web_chat
ok so the shopify admin token ⟦shpat⟧ gives 403 on products.json, the shared secret is ⟦shpss⟧
@@ web_chat
Linear key: ⟦linear⟧
Notion key: ⟦notion⟧
Figma: ⟦figma⟧
@@ web_chat
jira basic auth needs the email plus this api token ⟦atlassian⟧
@@ web_slack_bot
SLACK_BOT_TOKEN=⟦xoxb⟧
SLACK_APP_TOKEN=⟦xapp⟧
SLACK_SIGNING_SECRET=⟦hex:32⟧
@@ web_slack_bot
from slack_sdk import WebClient
client = WebClient(token="⟦xoxp⟧")
client.chat_postMessage(channel="#general", text="hi")
@@ web_discord_bot
client.login('⟦discord⟧').then(() => console.log('ready'));
@@ web_discord_bot
https://discord.com/api/webhooks/⟪dig:18⟫/⟦b64u:68⟧
@@ web_rails
production:
  adapter: mysql2
  host: ⟪host⟫
  username: ⟪user⟫
  password: "⟦pwq⟧"
  pool: 5
@@ web_rails
$ cat config/master.key
⟦hex:32⟧
$ bin/rails credentials:edit
@@ web_django
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "⟪app⟫",
        "USER": "⟪user⟫",
        "PASSWORD": "⟦pwq⟧",
        "HOST": "⟪host⟫",
    }
}
@@ web_django
SECRET_KEY = '⟦pwq⟧⟦alnum:30⟧'
DEBUG = False
@@ web_go
dsn := "⟪user⟫:⟦pwu⟧@tcp(⟪host⟫:3306)/shop?parseTime=true"
db, err := sql.Open("mysql", dsn)
@@ web_rust
let client = redis::Client::open("redis://:⟦pwu⟧@⟪host⟫:6379/0")?;
@@ web_csharp
"ConnectionStrings": {
  "Default": "Server=⟪host⟫;Database=Shop;User Id=⟪user⟫;Password=⟦pwu⟧;TrustServerCertificate=True"
}
@@ web_mongo
MONGODB_URI=mongodb+srv://⟪user⟫:⟦pwu⟧@cluster0.⟪lownum:5⟫.mongodb.net/prod?retryWrites=true&w=majority
@@ web_amqp
CELERY_BROKER_URL = 'amqps://⟪lower:8⟫:⟦b64u:32⟧@kangaroo.rmq.cloudamqp.com/⟪lower:8⟫'
@@ web_htbasic
htpasswd -bc /etc/nginx/.htpasswd admin ⟦pwu⟧
@@ web_urlcred
wget https://⟪user⟫:⟦pwq|url⟧@files.⟪host⟫/export.zip
@@ web_planetscale
DATABASE_URL=mysql://⟪lownum:20⟫:⟦pscale_pw⟧@aws.connect.psdb.cloud/⟪app⟫?sslaccept=strict
@@ web_square
square access token is ⟦square⟧ and the oauth secret ⟦sq0csp⟧, production both
@@ web_twilio
const client = require('twilio')('AC⟪hex:32⟫', '⟦hex:32⟧'); // account sid, auth token
@@ data_notebook
import snowflake.connector
ctx = snowflake.connector.connect(
    user="⟪user⟫",
    password="⟦pwq⟧",
    account="xy⟪dig:5⟫.eu-central-1",
    warehouse="COMPUTE_WH",
)
@@ data_notebook
from huggingface_hub import login
login(token="⟦hf⟧")
@@ data_notebook
{
 "cell_type": "code",
 "execution_count": ⟪n:1-90⟫,
 "outputs": [],
 "source": [
  "import os\n",
  "os.environ[\"HF_TOKEN\"] = \"⟦hf⟧\"\n",
  "model = load()"
 ]
}
@@ data_notebook
In [⟪n:1-50⟫]: %env OPENAI_API_KEY=⟦openai⟧
@@ data_notebook
engine = create_engine("snowflake://⟪user⟫:⟦pwu⟧@xy⟪dig:5⟫/ANALYTICS/PUBLIC?warehouse=WH_S&role=ANALYST")
@@ data_notebook
wandb.login(key="⟦hex:40⟧")
run = wandb.init(project="⟪app⟫")
@@ data_notebook
{"username":"⟪user⟫","key":"⟦hex:32⟧"}   <- that's my kaggle.json
@@ data_databricks
[DEFAULT]
host = https://adb-⟪dig:16⟫.⟪n:1-19⟫.azuredatabricks.net
token = ⟦dapi⟧
@@ data_databricks
df = (spark.read.format("jdbc")
      .option("url", "jdbc:sqlserver://⟪host⟫:1433;databaseName=dwh")
      .option("user", "⟪user⟫")
      .option("password", "⟦pwq⟧")
      .load())
@@ data_spark
spark.conf.set("fs.azure.account.key.⟪lower:9⟫.dfs.core.windows.net", "⟦azkey⟧")
@@ data_spark
sc._jsc.hadoopConfiguration().set("fs.s3a.secret.key", "⟦awssec⟧")
@@ data_dbt
⟪app⟫:
  target: dev
  outputs:
    dev:
      type: redshift
      host: ⟪host⟫
      user: ⟪user⟫
      pass: ⟦pwu⟧
      schema: analytics
@@ data_airflow
AIRFLOW__CORE__FERNET_KEY=⟦b64u:43⟧=
AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=postgresql+psycopg2://airflow:⟦pwu⟧@⟪host⟫/airflow
@@ data_airflow
airflow connections add 'dwh' --conn-type postgres --conn-host ⟪host⟫ --conn-login ⟪user⟫ --conn-password '⟦pwq⟧'
@@ data_r
con <- DBI::dbConnect(RPostgres::Postgres(), host = "⟪host⟫", user = "⟪user⟫", password = "⟦pwq⟧")
@@ data_r
# ~/.Renviron
GITHUB_PAT=⟦ghp⟧
KAGGLE_KEY=⟦hex:32⟧
@@ data_psql
PGPASSWORD=⟦pwu⟧ pg_dump -h ⟪host⟫ -U ⟪user⟫ dwh | gzip > dwh.sql.gz
@@ data_psql
# ~/.pgpass
⟪host⟫:5432:dwh:⟪user⟫:⟦pwu⟧
@@ data_llm
client = anthropic.Anthropic(api_key="⟦anthropic⟧")
@@ data_llm
llm = ChatGroq(groq_api_key="⟦groq⟧", model="llama-3.3-70b-versatile", temperature=0)
@@ data_llm
providers:
  - openrouter: ⟦openrouter⟧
  - xai: ⟦xai⟧
  - perplexity: ⟦pplx⟧
@@ data_llm
genai.configure(api_key="⟦aiza⟧")
model = genai.GenerativeModel("gemini-1.5-pro")
@@ data_llm
REPLICATE_API_TOKEN=⟦replicate⟧ python predict.py --prompt "a fox"
@@ data_pypi
[pypi]
username = __token__
password = ⟦pypi⟧
@@ data_pypi
twine upload -u __token__ -p ⟦pypi⟧ dist/*
@@ data_pip
[global]
index-url = https://⟪user⟫:⟦pwu⟧@pypi.⟪host⟫/simple
@@ data_google
{"installed":{"client_id":"⟪dig:12⟫-⟪lownum:32⟫.apps.googleusercontent.com","project_id":"⟪app⟫","client_secret":"⟦gocspx⟧","redirect_uris":["http://localhost"]}}
@@ data_google
{"token": "⟦ya29⟧", "refresh_token": "⟦grefresh⟧", "token_uri": "https://oauth2.googleapis.com/token"}
@@ data_chat
the snowflake user is ⟪user⟫ and the password is ⟦pwq⟧ , role ANALYST
@@ data_chat
here's the s3 secret: ⟦awssec⟧ — put it in your profile please
@@ data_kafka
sasl.mechanism=PLAIN
security.protocol=SASL_SSL
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="⟪upnum:16⟫" password="⟦b64:48⟧";
@@ data_elastic
es = Elasticsearch("https://⟪host⟫:9200", basic_auth=("elastic", "⟦pwa⟧"), verify_certs=False)
@@ data_elastic
curl -k -u elastic:⟦pwu⟧ https://⟪host⟫:9200/_cat/indices?v
@@ data_rclone
[b2]
type = b2
account = ⟪hex:25⟫
key = K005⟦alnum:27⟧
@@ de_admin_chat
Das WLAN-Passwort für den Besprechungsraum lautet ⟦pwh⟧, bitte nicht weitergeben.
@@ de_admin_chat
Zugangsdaten Router ⟪ip⟫
Benutzer: admin
Kennwort: ⟦pw⟧
@@ de_admin_chat
Hallo ⟪name⟫, dein neues Windows-Kennwort ist ⟦pwh⟧ – bitte bei der ersten Anmeldung ändern.
@@ de_admin_chat
Passwort vom Domänen-Admin hab ich gestern auf ⟦pwq⟧ geändert.
@@ de_admin_chat
FritzBox-Kennwort: ⟦pwh⟧, WLAN-Netzwerkschlüssel: ⟦dig:20⟧
@@ de_admin_mail
Postausgangsserver: smtp.strato.de, Port 465, SSL
Benutzername: info@⟪app⟫.de
Passwort: ⟦pwq⟧
@@ de_windows
net user ⟪user⟫ ⟦pwu⟧ /add /domain
@@ de_windows
net use Z: \\⟪host⟫\daten /user:FIRMA\⟪user⟫ ⟦pwu⟧ /persistent:yes
@@ de_windows
$pw = ConvertTo-SecureString "⟦pwq⟧" -AsPlainText -Force
$cred = New-Object System.Management.Automation.PSCredential("FIRMA\⟪user⟫", $pw)
@@ de_windows
cmdkey /generic:TERMSRV/⟪host⟫ /user:FIRMA\⟪user⟫ /pass:⟦pwu⟧
@@ de_windows
      <AutoLogon>
        <Password>
          <Value>⟦pwa⟧</Value>
          <PlainText>true</PlainText>
        </Password>
        <Username>Administrator</Username>
      </AutoLogon>
@@ de_windows
sqlcmd -S ⟪host⟫\SAGE100 -U sa -P ⟦pwu⟧ -Q "SELECT @@VERSION"
@@ de_windows
reg add "HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon" /v DefaultPassword /t REG_SZ /d ⟦pwa⟧ /f
@@ de_windows
schtasks /create /tn Sicherung /tr C:\skripte\backup.cmd /sc daily /ru FIRMA\⟪user⟫ /rp ⟦pwu⟧
@@ de_windows
psexec \\⟪host⟫ -u FIRMA\⟪user⟫ -p ⟦pwu⟧ cmd /c ipconfig
@@ de_ldap
ldapsearch -x -H ldap://⟪host⟫ -D "CN=svc_ldap,OU=Dienste,DC=firma,DC=local" -w '⟦pwq⟧' -b "DC=firma,DC=local"
@@ de_ldap
ldap.bind.dn=CN=svc_sso,OU=Service,DC=firma,DC=local
ldap.bind.password=⟦pwu⟧
@@ de_samba
//⟪host⟫/daten /mnt/daten cifs username=⟪user⟫,password=⟦pwu⟧,vers=3.0,uid=1000 0 0
@@ de_samba
smbclient //⟪host⟫/public -U '⟪user⟫%⟦pwu⟧' -c 'ls'
@@ de_mail_conf
[⟪host⟫]:587 ⟪user⟫@firma.de:⟦pwu⟧
# postmap /etc/postfix/sasl_passwd
@@ de_mail_conf
account default
host smtp.ionos.de
port 587
from technik@⟪app⟫.de
user technik@⟪app⟫.de
password ⟦pwu⟧
@@ de_webconfig
<add name="Warenwirtschaft" connectionString="Data Source=⟪host⟫;Initial Catalog=WaWi;User ID=⟪user⟫;Password=⟦pwu⟧" providerName="System.Data.SqlClient" />
@@ de_table
| Gerät | Benutzer | Passwort |
|-------|----------|----------|
| NAS ⟪ip⟫ | admin | ⟦pw⟧ |
| Switch ⟪ip⟫ | manager | ⟦pw⟧ |
@@ de_table
Server;Login;Kennwort
⟪host⟫;⟪user⟫;⟦pwu⟧
@@ de_cisco
enable secret 0 ⟦pwa⟧
snmp-server community ⟦pwa⟧ RO
username admin privilege 15 password 0 ⟦pwu⟧
@@ de_rdp
xfreerdp /v:⟪host⟫ /u:⟪user⟫ /p:'⟦pwq⟧' /dynamic-resolution
@@ de_long
⟪prose:de-10⟫

Übrigens: das Root-Passwort vom neuen Server ist ⟦pw⟧ und der Zugang zum Backup liegt beim Chef.

⟪prose:de-10⟫
⟪log:12⟫
@@ zh_chat
数据库密码是⟦pwa⟧,别发到群里。
@@ zh_chat
测试账号：⟪user⟫ 密码：⟦pw⟧
@@ zh_chat
小程序的AppSecret:⟦hex:32⟧,AppID是wx⟪hex:16⟫
@@ zh_chat
服务器⟪ip⟫的root密码改成了⟦pwa⟧，大家记一下
@@ zh_chat
我的密钥⟦deepseek⟧为什么提示余额不足?
@@ zh_chat
WiFi密码为⟦wifi⟧
@@ zh_chat
GitHub令牌⟦ghp⟧今天过期,请帮我换一个
@@ zh_chat
登录口令：⟦pwh⟧（仅限内网）
@@ zh_code
const APPID = 'wx⟪hex:16⟫';
const SECRET = '⟦hex:32⟧'; // 小程序密钥
const url = `https://api.weixin.qq.com/sns/jscode2session?appid=${APPID}&secret=${SECRET}`;
@@ zh_code
https://api.weixin.qq.com/cgi-bin/token?grant_type=client_credential&appid=wx⟪hex:16⟫&secret=⟦hex:32⟧
@@ zh_aliyun
ALIBABA_CLOUD_ACCESS_KEY_ID=⟪ltai⟫
ALIBABA_CLOUD_ACCESS_KEY_SECRET=⟦alnum:30⟧
@@ zh_aliyun
aliyun:
  oss:
    endpoint: oss-cn-hangzhou.aliyuncs.com
    accessKeyId: ⟪ltai⟫
    accessKeySecret: ⟦alnum:30⟧
@@ zh_tencent
[common]
secret_id = ⟪akid⟫
secret_key = ⟦alnum:32⟧
bucket = ⟪app⟫-12⟪dig:8⟫
@@ zh_wxpay
wxpay:
  mchId: 16⟪dig:8⟫
  apiV3Key: ⟦alnum:32⟧
  serialNo: ⟪HEX:40⟫
@@ zh_spring
spring:
  datasource:
    url: jdbc:mysql://⟪host⟫:3306/mall?useSSL=false
    username: root
    password: ⟦pwu⟧
  redis:
    host: ⟪host⟫
    password: ⟦pwa⟧
@@ zh_dingtalk
钉钉机器人地址:https://oapi.dingtalk.com/robot/send?access_token=⟦hex:64⟧
加签密钥：SEC⟦hex:64⟧
@@ zh_wecom
curl 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=⟦uuid⟧' -H 'Content-Type: application/json' -d '{"msgtype":"text","text":{"content":"部署完成"}}'
@@ zh_long
⟪prose:zh-10⟫
对了,线上Redis密码是⟦pwa⟧,连接的时候别忘了加上。
⟪prose:zh-10⟫
⟪log:10⟫
@@ zh_hant
資料庫的密碼是⟦pwa⟧，請勿外流。
@@ ja_chat
パスワードは⟦pwa⟧です。よろしくお願いします。
@@ ja_chat
開発サーバのIDは⟪user⟫、パスワードは「⟦pwq⟧」です
@@ ja_chat
APIキー:⟦openai_old⟧を設定してください
@@ ja_chat
Slackのトークン⟦xoxb⟧が無効になっているようです
@@ ja_chat
Wi-Fiの暗号化キーは⟦wifi⟧に変更しました。
@@ ja_game
keystore.properties
storeFile=release.keystore
storePassword=⟦pwa⟧
keyAlias=game
keyPassword=⟦pwa⟧
@@ ja_game
PlayFabSettings.staticSettings.DeveloperSecretKey = "⟦upnum:50⟧";
@@ ja_game
steamcmd +login ⟪user⟫ ⟦pwu⟧ +run_app_build app_build.vdf +quit
@@ ja_game
<application>
  <photonAppId>⟪uuid⟫</photonAppId>
  <dbPassword>⟦pwa⟧</dbPassword>
</application>
@@ ja_game
P4PASSWD=⟦pwu⟧ p4 -u ⟪user⟫ -p ssl:⟪host⟫:1666 sync //depot/game/...
@@ ja_game
// Unity build script
PlayerSettings.Android.keystorePass = "⟦pwa⟧";
PlayerSettings.Android.keyaliasPass = "⟦pwa⟧";
@@ ja_line
LINE_CHANNEL_SECRET=⟦hex:32⟧
LINE_CHANNEL_ACCESS_TOKEN=⟦b64:129⟧
@@ ja_long
⟪prose:ja-8⟫
ちなみに本番DBのパスワードは⟦pwa⟧なので、接続確認をお願いします。
⟪prose:ja-8⟫
⟪code:14⟫
@@ ko_chat
비밀번호는 ⟦pwa⟧ 입니다. 외부에 공유하지 마세요.
@@ ko_chat
관리자 계정 admin / 비밀번호: ⟦pw⟧
@@ pt_chat
a senha do banco é ⟦pwq⟧ , usuário ⟪user⟫
@@ pt_chat
Senha: ⟦pw⟧
Usuário: ⟪user⟫
Servidor: ⟪host⟫
@@ pt_chat
Gente, troquei a senha do VPN para ⟦pwh⟧, avisem o pessoal do suporte.
@@ pt_fintech
PIX_CLIENT_ID=Client_Id_⟪hex:40⟫
PIX_CLIENT_SECRET=Client_Secret_⟦hex:40⟧
@@ pt_fintech
MERCADOPAGO_ACCESS_TOKEN=APP_USR-⟪dig:16⟫-⟪dig:6⟫-⟦hex:32⟧-⟪dig:9⟫
@@ pt_fintech
openssl pkcs12 -in certificado-a1.pfx -nocerts -nodes -passin pass:⟦pwu⟧ -out chave.pem
@@ pt_fintech
certificado:
  arquivo: /etc/pix/cert.p12
  senha: "⟦pwq⟧"
@@ pt_fintech
// erro ao assinar: chave abaixo está ok?
⟦pem_p8⟧
@@ pt_fintech
kotlin> val hmacSecret = "⟦hex:64⟧"
kotlin> sign(body, hmacSecret)
@@ pt_fintech
Authorization: Bearer ⟦jwt⟧
x-itau-apikey: ⟪uuid⟫
x-itau-correlationID: ⟪uuid⟫
@@ pt_long
⟪prose:pt-8⟫

ps: o client_secret de produção é ⟦alnum:36⟧, já está no cofre também.

⟪prose:pt-8⟫
⟪log:12⟫
@@ in_oracle
sqlplus ⟪user⟫/⟦pwa⟧@//⟪host⟫:1521/ORCLPDB1
@@ in_oracle
jdbc:oracle:thin:⟪user⟫/⟦pwa⟧@⟪host⟫:1521:ORCL
@@ in_oracle
CREATE USER ⟪lower:7⟫ IDENTIFIED BY "⟦pwq⟧" DEFAULT TABLESPACE users;
@@ in_oracle
ALTER USER ⟪lower:7⟫ IDENTIFIED BY ⟦pwa⟧ ACCOUNT UNLOCK;
@@ in_oracle
expdp ⟪user⟫/⟦pwa⟧@PROD schemas=HR directory=DUMP dumpfile=hr_⟪dig:6⟫.dmp
@@ in_spring
spring.datasource.url=jdbc:oracle:thin:@⟪host⟫:1521/XE
spring.datasource.username=⟪user⟫
spring.datasource.password=⟦pwu⟧
server.ssl.key-store-password=⟦pwu⟧
@@ in_spring
@Value("${db.user:⟪lower:6⟫}") String user;
private static final String DB_PASSWORD = "⟦pwq⟧";
@@ in_maven
<server>
  <id>nexus-releases</id>
  <username>⟪user⟫</username>
  <password>⟦pwa⟧</password>
</server>
@@ in_java
Connection c = DriverManager.getConnection("jdbc:mysql://⟪host⟫/hr", "⟪user⟫", "⟦pwq⟧");
@@ in_java
KeyStore ks = KeyStore.getInstance("JKS");
ks.load(in, "⟦pwa⟧".toCharArray());
@@ in_keytool
keytool -importkeystore -srckeystore a.p12 -destkeystore b.jks -srcstorepass ⟦pwa⟧ -deststorepass ⟦pwa⟧ -noprompt
@@ in_tomcat
<user username="⟪user⟫" password="⟦pwa⟧" roles="manager-gui,admin-gui"/>
@@ in_tomcat
<Resource name="jdbc/HR" auth="Container" type="javax.sql.DataSource" username="⟪user⟫" password="⟦pwa⟧" url="jdbc:oracle:thin:@⟪host⟫:1521:HR"/>
@@ in_wls
connect('weblogic','⟦pwa⟧','t3://⟪host⟫:7001')
@@ in_chat
Hi team, please find the UAT creds: uid ⟪user⟫ pwd ⟦pw⟧ kindly do the needful
@@ in_chat
Dear ⟪name⟫, VPN password has been reset to ⟦pwh⟧. Revert back if any issue.
@@ in_chat
FTP details - host: ⟪host⟫, login: ⟪user⟫, pwd: ⟦pw⟧, path: /incoming
@@ in_hindi
सर्वर का पासवर्ड ⟦pwa⟧ है, कृपया किसी को न बताएं।
@@ in_sftp
lftp -u ⟪user⟫,⟦pwu⟧ sftp://⟪host⟫ -e "mirror -R out /in; bye"
@@ in_jenkins
curl -X POST https://⟪user⟫:11⟦hex:32⟧@jenkins.⟪host⟫/job/⟪app⟫/build
@@ in_svn
svn checkout https://svn.⟪host⟫/trunk --username ⟪user⟫ --password ⟦pwu⟧ --non-interactive
@@ in_mysql
mysql -h ⟪host⟫ -u root -p⟦pwu⟧ payroll < dump.sql
@@ in_mysql
CREATE USER 'app'@'%' IDENTIFIED BY '⟦pwq⟧';
GRANT ALL ON payroll.* TO 'app'@'%';
@@ in_mysql
[client]
user=root
password=⟦pwu⟧
host=⟪host⟫
@@ in_netrc
machine ⟪host⟫
login ⟪user⟫
password ⟦pwu⟧
@@ in_gradle
mavenUser=⟪user⟫
mavenPassword=⟦pwa⟧
signing.password=⟦pwa⟧
org.gradle.jvmargs=-Xmx2g
@@ in_nuget
<packageSourceCredentials>
  <corp>
    <add key="Username" value="⟪user⟫" />
    <add key="ClearTextPassword" value="⟦pwa⟧" />
  </corp>
</packageSourceCredentials>
@@ in_nuget
dotnet nuget push pkg.⟪ver⟫.nupkg -k ⟦nuget⟧ -s https://api.nuget.org/v3/index.json
@@ in_razorpay
razorpay = Razorpay({ key_id: 'rzp_live_⟪alnum:14⟫', key_secret: '⟦alnum:24⟧' })
@@ sec_log
[+] ⟪ip⟫:445 - FIRMA\⟪user⟫:⟦pw⟧ (Pwn3d!)
@@ sec_log
[22][ssh] host: ⟪ip⟫   login: ⟪user⟫   password: ⟦pw⟧
1 of 1 target successfully completed, 1 valid password found
@@ sec_log
crackmapexec smb ⟪ip⟫ -u ⟪user⟫ -p '⟦pwq⟧' --shares
@@ sec_log
impacket-secretsdump 'CORP/⟪user⟫:⟦pwu⟧@⟪ip⟫'
@@ sec_finding
Finding 3: hard-coded credential in strings.xml
<string name="backend_api_secret">⟦alnum:40⟧</string>
@@ sec_finding
trufflehog output
Detector Type: Github
Raw result: ⟦ghp⟧
File: src/deploy.sh
Line: ⟪n:1-200⟫
@@ sec_pgp
⟦pem_pgp⟧
@@ sec_gpg
gpg --batch --yes --passphrase '⟦pwq⟧' -c report.pdf
@@ sec_zip
7z a -p⟦pwu⟧ -mhe=on loot.7z ./out && zip -P ⟦pwu⟧ loot.zip out/*
@@ sec_age
# created: ⟪date⟫T10:12:00Z
# public key: ⟪agepub⟫
⟦agekey⟧
@@ sec_burp
POST /login HTTP/1.1
Host: ⟪host⟫
Content-Type: application/x-www-form-urlencoded
Content-Length: 52

username=⟪user⟫&password=⟦pwu⟧&csrf=⟪hex:32⟫&submit=Log+in
@@ sec_ec
the leaked one:
⟦pem_ec⟧
@@ sec_enc_key
⟦pem_enc⟧
Key passphrase: ⟦pass4⟧
@@ sec_quote
> Here is the deploy key
> ⟦pem_rsa⟧
Please revoke it.
@@ sec_jwtkey
jwt_tool.py token.txt -C -d rockyou.txt
[+] ⟦pwa⟧ is the CORRECT key!
@@ hobby_ha
# secrets.yaml
wifi_ssid: Kellernetz
wifi_password: ⟦wifi⟧
mqtt_password: ⟦pwu⟧
latitude: 52.⟪dig:4⟫
@@ hobby_ha
curl -H "Authorization: Bearer ⟦jwt_ha⟧" http://homeassistant.local:8123/api/states
@@ hobby_ha
mqtt:
  broker: ⟪ip⟫
  username: ha
  password: ⟦pwu⟧
@@ hobby_esphome
wifi:
  ssid: "Garage"
  password: "⟦wifi⟧"
api:
  encryption:
    key: "⟦b64:32⟧"
ota:
  password: "⟦hex:32⟧"
@@ hobby_arduino
const char* ssid = "Dachboden";
const char* password = "⟦wifi⟧";
WiFi.begin(ssid, password);
@@ hobby_mqtt
mosquitto_pub -h ⟪ip⟫ -u pi -P '⟦pwq⟧' -t home/light -m ON
@@ hobby_wpa
network={
    ssid="FRITZ!Box 7590 ⟪upper:2⟫"
    psk="⟦wifi⟧"
}
@@ hobby_wpa
nmcli dev wifi connect "Gast" password "⟦wifi⟧"
@@ hobby_wpa
WIFI:T:WPA;S:Ferienhaus;P:⟦pwa⟧;;
@@ hobby_telegram
bot = telebot.TeleBot("⟦telegram⟧")
@@ hobby_telegram
curl -s "https://api.telegram.org/bot⟦telegram⟧/sendMessage?chat_id=-100⟪dig:10⟫&text=Waschmaschine+fertig"
@@ hobby_telegram
BotFather: Done! Congratulations on your new bot. Use this token to access the HTTP API:
⟦telegram⟧
Keep your token secure and store it safely.
@@ hobby_nostr
my nostr key is ⟦nsec⟧ and the public one ⟪npub⟫
@@ hobby_nostr
nak event -c "gm" --sec ⟦nsec⟧ wss://relay.damus.io
@@ hobby_nostr
{"pubkey":"⟪hex:64⟫","privkey":"⟦hex:64⟧","relays":["wss://nos.lol"]}
@@ hobby_wallet
seed phrase (never lose it): ⟦bip39:12⟧
@@ hobby_wallet
Mein Wiederherstellungssatz: ⟦bip39:24⟧
@@ hobby_wallet
bitcoin-cli importprivkey ⟦wif⟧ "old wallet" false
@@ hobby_wallet
xprv for the watch test: ⟦xprv⟧
@@ hobby_wallet
PRIVATE_KEY=⟦ethkey⟧
RPC_URL=https://rpc.sepolia.org
@@ hobby_wallet
const wallet = new ethers.Wallet("⟦ethkey⟧", provider);
@@ hobby_camera
ffmpeg -rtsp_transport tcp -i "rtsp://admin:⟦pwu⟧@⟪ip⟫:554/h264Preview_01_main" -c copy out.mp4
@@ hobby_otp
otpauth://totp/GitHub:⟪user⟫?secret=⟦b32:32⟧&issuer=GitHub
@@ hobby_otp
oathtool --totp -b ⟦b32:32⟧
@@ hobby_pushover
curl -s --form-string "token=⟦lownum:30⟧" --form-string "user=⟪lownum:30⟫" --form-string "message=Klingel" https://api.pushover.net/1/messages.json
@@ hobby_owm
http://api.openweathermap.org/data/2.5/weather?q=Bremen&appid=⟦hex:32⟧&units=metric
@@ hobby_zigbee
advanced:
  pan_id: 6754
  channel: ⟪n:11-26⟫
mqtt:
  server: mqtt://⟪ip⟫
  user: z2m
  password: ⟦pwu⟧
@@ hobby_ddns
protocol=dyndns2
server=dyndns.strato.com
login=⟪app⟫.de
password='⟦pwu⟧'
@@ hobby_pihole
docker run -d --name pihole -e TZ=Europe/Berlin -e WEBPASSWORD=⟦pwu⟧ pihole/pihole
@@ hobby_redis
redis-cli -h ⟪ip⟫ -a ⟦pwu⟧ ping
@@ hobby_ngrok
ngrok config add-authtoken 2⟦alnum:48⟧
@@ lang_fr
Le mot de passe du serveur est ⟦pwq⟧ , merci de ne pas le diffuser.
@@ lang_fr
Identifiant : ⟪user⟫
Mot de passe : ⟦pw⟧
@@ lang_es
La contraseña del wifi es ⟦wifi⟧ y la del router ⟦pwh⟧
@@ lang_es
usuario: ⟪user⟫ / contraseña: ⟦pw⟧
@@ lang_it
La password del database è ⟦pwq⟧ , l'utente è ⟪user⟫.
@@ lang_ru
Пароль от сервера: ⟦pw⟧
@@ lang_ru
логин ⟪user⟫, пароль ⟦pwa⟧, только никому не показывай
@@ lang_tr
Sunucunun şifresi ⟦pwa⟧ oldu, lütfen not alın.
@@ lang_tr
Parola: ⟦pw⟧
@@ lang_pl
Hasło do bazy to ⟦pwq⟧ a login ⟪user⟫
@@ lang_nl
Het wachtwoord voor de mailserver is ⟦pwh⟧
@@ lang_uk
Пароль до бази: ⟦pwa⟧
@@ lang_vi
Mật khẩu máy chủ là ⟦pwa⟧ nhé
@@ lang_id
Kata sandi: ⟦pw⟧
@@ lang_ar
كلمة المرور هي ⟦pwa⟧ لا ترسلها لأحد
@@ lang_sv
Lösenordet till servern är ⟦pwh⟧
@@ lang_cs
Heslo k databázi: ⟦pw⟧
@@ lang_th
รหัสผ่านคือ ⟦pwa⟧ ครับ
@@ lang_he
הסיסמה לשרת: ⟦pwa⟧
@@ private_block
Note to self <private>the alarm code word of the house: ⟦pwsp⟧</private> ok.
@@ private_block
<private>
⟦prose:en-2⟧
</private>
Please continue with the refactoring.
@@ private_block
看这里<private>⟦pwsp⟧</private>谢谢
@@ private_block
Bitte merken: <private>⟦prose:de-1⟧</private> – der Rest darf gespeichert werden.
@@ private_block
a <private>⟦pass4⟧</private> and b <private>⟦pwsp⟧</private> end
@@ long_en
⟪prose:en-14⟫

```bash
export GITHUB_TOKEN=⟦ghp⟧
./release.sh ⟪ver⟫
```

⟪prose:en-14⟫
@@ long_en
⟪log:18⟫
2025-03-11T09:14:02.114Z ERROR auth login failed url=https://⟪host⟫/login body={"user":"⟪user⟫","password":"⟦pwa⟧"}
⟪log:18⟫
@@ long_en
⟪code:12⟫
API_TOKEN = "⟦b64u:44⟧"

⟪code:12⟫
@@ long_en
⟪prose:en-10⟫ By the way, the admin password for staging is ⟦pw⟧ until Friday. ⟪prose:en-14⟫
@@ long_en
⟪log:14⟫
⟦pem_ssh⟧
⟪log:14⟫
@@ misc_powershell
Invoke-RestMethod -Uri https://⟪host⟫/api -Headers @{ "X-Auth-Token" = "⟦alnum:40⟧" }
@@ misc_curlform
curl -X POST https://⟪host⟫/login -d "user=⟪user⟫" -d "password=⟦pwu⟧" -c jar.txt
@@ misc_wget
wget --user=⟪user⟫ --password='⟦pwq⟧' https://⟪host⟫/dump.tgz
@@ misc_toml
[registry]
name = "corp"
token = "⟦cargo⟧"
@@ misc_toml
[database]
user = "⟪user⟫"
password = '⟦pwq⟧'
max_connections = ⟪n:5-90⟫
@@ misc_gem
---
:rubygems_api_key: ⟦rubygems⟧
@@ misc_ini
[smtp]
server=smtp.gmail.com
user=⟪user⟫@gmail.com
app_password=⟦lower:16⟧
@@ misc_gmail
gmail app password for the scanner is ⟦lower:16⟧ , port 587
@@ misc_swift
let apiSecret = "⟦alnum:42⟧"
@@ misc_kotlin
buildConfigField("String", "API_SECRET", "\"⟦alnum:36⟧\"")
@@ misc_elixir
config :my_app, MyApp.Repo,
  username: "postgres",
  password: "⟦pwq⟧",
  hostname: "⟪host⟫"
@@ misc_elixir
secret_key_base: "⟦b64:48⟧"
@@ misc_perl
my $dbh = DBI->connect("dbi:mysql:shop;host=⟪host⟫", "⟪user⟫", '⟦pwa⟧', { RaiseError => 1 });
@@ misc_vba
conn.Open "Provider=SQLOLEDB;Data Source=⟪host⟫;Initial Catalog=ERP;User Id=sa;Password=⟦pwu⟧;"
@@ misc_odbc
[DWH]
Driver=PostgreSQL Unicode
Servername=⟪host⟫
UID=⟪user⟫
PWD=⟦pwu⟧
@@ misc_bat
set DB_PASS=⟦pwu⟧
set DB_USER=⟪user⟫
call start.bat
@@ misc_fish
set -gx GITLAB_TOKEN ⟦glpat⟧
@@ misc_systemd
[Service]
Environment="API_KEY=⟦alnum:32⟧"
ExecStart=/usr/bin/⟪app⟫
@@ misc_hcl
data "http" "x" {
  url = "https://api.fastly.com"
  request_headers = { Fastly-Key = "⟦b64u:32⟧" }
}
@@ misc_mapbox
MAPBOX_SECRET_TOKEN=⟦plnode⟧.⟦b64u:22⟧
@@ misc_fcm
Authorization: key=⟦fcm⟧
@@ misc_okta
Authorization: SSWS ⟦okta⟧
@@ misc_heroku
HEROKU_API_KEY=⟦heroku⟧ git push heroku main
@@ misc_gldt
git clone https://gitlab+deploy-token-⟪dig:5⟫:⟦gldt⟧@gitlab.com/acme/⟪app⟫.git
@@ misc_notion_old
headers = {"Authorization": "Bearer ⟦notion_old⟧", "Notion-Version": "2022-06-28"}
@@ misc_pscale
pscale org list --service-token-id ⟪lownum:12⟫ --service-token ⟦pscale_tkn⟧
@@ misc_proxy
export https_proxy=http://⟪user⟫:⟦pwu⟧@proxy.⟪host⟫:3128
@@ misc_vnc
x11vnc -passwd ⟦pwu⟧ -display :0 -forever
@@ misc_openvpn
<auth-user-pass>
⟪user⟫
⟦pwu⟧
</auth-user-pass>
@@ misc_ipsec
⟪ip⟫ ⟪ip⟫ : PSK "⟦pwa⟧"
⟪user⟫ : EAP "⟦pwq⟧"
@@ misc_django_shell
>>> u = User.objects.get(username="⟪user⟫"); u.set_password("⟦pwq⟧"); u.save()
@@ misc_graphql
mutation { login(email: "⟪user⟫@corp.io", password: "⟦pwq⟧") { token } }
@@ misc_xml
<credentials>
  <username>⟪user⟫</username>
  <apiKey>⟦alnum:32⟧</apiKey>
</credentials>
@@ misc_yaml_multi
deploy_key: |
  ⟦pem_ssh⟧
branch: main
@@ misc_md
**Login:** `⟪user⟫`  
**Password:** `⟦pwq⟧`
@@ misc_md
| key | value |
|---|---|
| `API_TOKEN` | `⟦b64u:40⟧` |
| `REGION` | `eu` |
@@ misc_qa
Q: What is the password for the guest laptop?
A: ⟦pwh⟧
@@ adv_fullwidth
账号：⟪user⟫，密码：⟦pwa⟧。登录后请修改！
@@ adv_fullwidth
管理者パスワード：⟦pwa⟧（社外秘）
@@ adv_fullwidth
【测试环境】用户名=⟪user⟫；口令=⟦pwa⟧；端口=⟪dig:4⟫
@@ adv_fullwidth
密钥「⟦openai⟧」已经加到环境里了。
@@ adv_fullwidth
トークン：⟦glpat⟧、期限は来月末です。
@@ adv_fullwidth
密钥为⟦awssec⟧，区域是ap-northeast-1
@@ adv_quotes
Das Passwort lautet „⟦pwh⟧“ (ohne Anführungszeichen).
@@ adv_quotes
Le mot de passe est « ⟦pwa⟧ », sans espaces.
@@ adv_quotes
password is `⟦pwq⟧` for user `⟪user⟫`
@@ adv_quotes
The passphrase is "⟦pwsp⟧" (with the blanks).
@@ adv_quotes
PASSWORD => '⟦pwq⟧'; USER => '⟪user⟫';
@@ adv_nextline
The new admin password:

    ⟦pwa⟧

It expires on Friday.
@@ adv_nextline
Passwort:
⟦pwa⟧
@@ adv_nextline
client_secret:
  ⟦alnum:40⟧
client_id:
  ⟪uuid⟫
@@ adv_pair
creds: ⟪user⟫ / ⟦pw⟧
@@ adv_pair
login with ⟪user⟫:⟦pwa⟧ on https://⟪host⟫/admin
@@ adv_two
old password was ⟦pwa⟧, new password is ⟦pwa⟧
@@ adv_json3
{"log":"{\"req\":\"{\\\"token\\\":\\\"⟦alnum:40⟧\\\",\\\"page\\\":⟪n:1-90⟫}\"}","stream":"stdout"}
@@ adv_json3
{"role":"tool","content":"cat .env\nDB_HOST=⟪host⟫\nDB_PASSWORD=⟦pwu⟧\nDEBUG=false\n"}
@@ adv_json3
{"type":"text","text":"key file:\n-----BEGIN PRIVATE KEY-----\n⟦pemlines:6⟧\n-----END PRIVATE KEY-----\n"}
@@ adv_urlenc
redirect=https%3A%2F%2F⟪host⟫%2Fcb%3Faccess_token%3D⟦alnum:48⟧%26state%3D⟪hex:8⟫
@@ adv_tool_output
$ printenv | sort | head -4
API_TOKEN=⟦b64u:40⟧
HOME=/home/⟪user⟫
LANG=de_DE.UTF-8
PATH=/usr/local/bin:/usr/bin
@@ adv_tool_output
$ docker inspect ⟪app⟫ --format '{{json .Config.Env}}'
["PATH=/usr/bin","RABBITMQ_DEFAULT_USER=⟪user⟫","RABBITMQ_DEFAULT_PASS=⟦pwu⟧"]
@@ adv_tool_output
$ ps aux | grep mysqld
⟪user⟫  ⟪dig:5⟫  0.1  mysqldump --user=root --password=⟦pwu⟧ --all-databases
@@ adv_tool_output
     1→import os
     2→
     3→API_KEY = "⟦alnum:40⟧"
     4→BASE = "https://⟪host⟫"
@@ adv_grep
src/config/prod.ts:⟪n:1-90⟫:  dbPassword: "⟦pwq⟧",
src/config/prod.ts:⟪n:90-190⟫:  dbUser: "⟪user⟫",
@@ adv_comment
# TODO remove: password was "⟦pwq⟧" before we moved to the vault
@@ adv_traceback
psycopg2.OperationalError: connection to "postgresql://⟪user⟫:⟦pwu⟧@⟪host⟫:5432/app" failed: timeout expired
@@ adv_traceback
requests.exceptions.HTTPError: 403 Client Error for url: https://⟪host⟫/v1/items?api_key=⟦alnum:32⟧&page=⟪n:1-90⟫
@@ adv_emoji
🔑 wifi password 👉 ⟦pwa⟧ 👈 enjoy!
@@ adv_typo
pasword: ⟦pw⟧
@@ adv_short
pwd=⟦pwu⟧
@@ adv_short
PIN und Passwort zum NAS? Passwort=⟦pwa⟧
@@ adv_bare_token
⟦ghp⟧
@@ adv_bare_token
⟦anthropic⟧ ← ist das der richtige?
@@ adv_bare_token
(⟦xoxb⟧)
@@ adv_html
<input type="hidden" name="api_key" value="⟦alnum:32⟧">
@@ adv_csv
name,login,password
⟪name⟫,⟪user⟫,⟦pwa⟧
Backup,backup,⟦pwa⟧
@@ adv_yaml_anchor
x-env: &env
  SMTP_USER: ⟪user⟫
  SMTP_PASS: '⟦pwq⟧'
services: {web: {environment: *env}}
@@ adv_inline_yaml
db: {host: ⟪host⟫, user: ⟪user⟫, password: "⟦pwq⟧", port: 5432}
@@ adv_ts_union
const cfg: Config = { user: "⟪user⟫", password: "⟦pwq⟧" as const, port: ⟪dig:4⟫ };
"""

_NEGATIVE = r"""
@@ hash_git
commit ⟪hex:40⟫
Author: ⟪name⟫ <⟪user⟫@⟪app⟫.io>
Date:   Tue Mar ⟪n:1-28⟫ ⟪time⟫ 2025 +0100

    fix pagination
@@ hash_git
⟪hex:7⟫ (HEAD -> main, origin/main) bump ⟪app⟫ to ⟪ver⟫
⟪hex:7⟫ remove dead code
@@ hash_git
git cherry-pick ⟪hex:40⟫ && git push origin release/⟪ver⟫
@@ hash_git
index ⟪hex:7⟫..⟪hex:7⟫ 100644
--- a/src/⟪word⟫.ts
+++ b/src/⟪word⟫.ts
@@ hash_git
Merge: ⟪hex:9⟫ ⟪hex:9⟫
https://github.com/acme/⟪app⟫/commit/⟪hex:40⟫
@@ hash_git
git bisect bad ⟪hex:12⟫
Bisecting: ⟪n:1-99⟫ revisions left to test after this
@@ hash_sum
⟪hex:64⟫  ⟪app⟫-⟪ver⟫-linux-amd64.tar.gz
⟪hex:64⟫  ⟪app⟫-⟪ver⟫-darwin-arm64.tar.gz
@@ hash_sum
MD5 (⟪word⟫.iso) = ⟪hex:32⟫
@@ hash_sum
sha1sum: ⟪hex:40⟫  ./build/⟪word⟫.bin
@@ hash_sum
SHA512-Prüfsumme der Datei: ⟪hex:128⟫
@@ hash_sum
echo "⟪hex:64⟫ *⟪word⟫.deb" | sha256sum -c -
@@ hash_sum
PS> Get-FileHash .\setup.exe
SHA256          ⟪HEX:64⟫       C:\temp\setup.exe
@@ hash_sum
etag: "⟪hex:32⟫-⟪n:2-40⟫"
last-modified: Mon, 0⟪n:1-9⟫ Jun 2025 ⟪time⟫ GMT
@@ hash_sum
crc32=⟪hex:8⟫ adler32=⟪hex:8⟫ size=⟪dig:7⟫
@@ hash_sum
文件的MD5是⟪hex:32⟫，请核对。
@@ hash_sum
SHA-256のハッシュ値は⟪hex:64⟫でした。
@@ hash_docker
FROM node:20-alpine@sha256:⟪hex:64⟫ AS build
@@ hash_docker
docker pull ghcr.io/acme/⟪app⟫@sha256:⟪hex:64⟫
Digest: sha256:⟪hex:64⟫
Status: Image is up to date
@@ hash_docker
CONTAINER ID   IMAGE          COMMAND                  CREATED
⟪hex:12⟫   redis:7        "docker-entrypoint.s…"   ⟪n:2-20⟫ hours ago
@@ hash_docker
 => => writing image sha256:⟪hex:64⟫  0.0s
 => => naming to docker.io/library/⟪app⟫
@@ lock_npm
    "node_modules/⟪word⟫": {
      "version": "⟪ver⟫",
      "resolved": "https://registry.npmjs.org/⟪word⟫/-/⟪word⟫-⟪ver⟫.tgz",
      "integrity": "⟪sha512sri⟫",
@@ lock_yarn
⟪word⟫@^⟪ver⟫:
  version "⟪ver⟫"
  resolved "https://registry.yarnpkg.com/⟪word⟫/-/⟪word⟫-⟪ver⟫.tgz#⟪hex:40⟫"
  integrity ⟪sha512sri⟫
@@ lock_pnpm
  /⟪word⟫@⟪ver⟫:
    resolution: {integrity: ⟪sha512sri⟫}
    engines: {node: '>=18'}
@@ lock_cargo
[[package]]
name = "⟪word⟫"
version = "⟪ver⟫"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "⟪hex:64⟫"
@@ lock_go
github.com/⟪word⟫/⟪word⟫ v⟪ver⟫ h1:⟪b64:32⟫
github.com/⟪word⟫/⟪word⟫ v⟪ver⟫/go.mod h1:⟪b64:32⟫
@@ lock_poetry
files = [
    {file = "⟪word⟫-⟪ver⟫-py3-none-any.whl", hash = "sha256:⟪hex:64⟫"},
    {file = "⟪word⟫-⟪ver⟫.tar.gz", hash = "sha256:⟪hex:64⟫"},
]
@@ lock_pip
⟪word⟫==⟪ver⟫ \
    --hash=sha256:⟪hex:64⟫ \
    --hash=sha256:⟪hex:64⟫
@@ lock_composer
"dist": {"type": "zip", "url": "https://api.github.com/repos/symfony/⟪word⟫/zipball/⟪hex:40⟫", "reference": "⟪hex:40⟫", "shasum": ""},
@@ lock_gem
GEM
  remote: https://rubygems.org/
  specs:
    ⟪word⟫ (⟪ver⟫)
CHECKSUMS
  ⟪word⟫ (⟪ver⟫) sha256=⟪hex:64⟫
@@ lock_nix
  src = fetchFromGitHub { owner = "acme"; repo = "⟪word⟫"; rev = "v⟪ver⟫"; hash = "sha256-⟪b64:32⟫"; };
@@ lock_terraform
provider "registry.terraform.io/hashicorp/aws" {
  version = "⟪ver⟫"
  hashes = [
    "h1:⟪b64:32⟫",
    "zh:⟪hex:64⟫",
  ]
}
@@ lock_pub
  ⟪word⟫:
    dependency: "direct main"
    description:
      name: ⟪word⟫
      sha256: "⟪hex:64⟫"
      url: "https://pub.dev"
@@ lock_podfile
SPEC CHECKSUMS:
  ⟪Word⟫Kit: ⟪hex:40⟫
PODFILE CHECKSUM: ⟪hex:40⟫
@@ html_sri
<script src="https://cdn.jsdelivr.net/npm/⟪word⟫@⟪ver⟫/dist/⟪word⟫.min.js" integrity="⟪sha384sri⟫" crossorigin="anonymous"></script>
@@ html_sri
<link rel="stylesheet" href="/static/css/main.⟪hex:8⟫.chunk.css" integrity="⟪sha512sri⟫">
@@ html_csp
Content-Security-Policy: script-src 'self' 'sha256-⟪b64:32⟫'
@@ uuid
request ⟪uuid⟫ took ⟪n:10-900⟫ ms
@@ uuid
INSERT INTO orders (id, customer_id) VALUES ('⟪uuid⟫', '⟪uuid⟫');
@@ uuid
UUID=⟪uuid⟫ /boot ext4 defaults 0 2
@@ uuid
用户ID为⟪uuid⟫的订单没有同步
@@ uuid
The tenant id is ⟪uuid⟫ and the subscription id ⟪uuid⟫.
@@ uuid
HKEY_CLASSES_ROOT\CLSID\{⟪uuid|upper⟫}\InprocServer32
@@ uuid
correlationId: ⟪uuid⟫
causationId: ⟪uuid⟫
@@ uuid
Project("{⟪uuid|upper⟫}") = "Shop.Core", "src\Shop.Core.csproj", "{⟪uuid|upper⟫}"
@@ uuid
PARTUUID="⟪hex:8⟫-02" TYPE="ext4" LABEL="rootfs"
@@ id_misc
ULID ⟪ulid⟫ sorts before ⟪ulid⟫
@@ id_misc
{"_id": ObjectId("⟪oid⟫"), "status": "paid", "total": ⟪n:10-900⟫}
@@ id_misc
https://docs.google.com/spreadsheets/d/1⟪b64u:43⟫/edit#gid=⟪dig:9⟫
@@ id_misc
https://www.youtube.com/watch?v=⟪b64u:11⟫&t=⟪n:10-900⟫s
@@ id_misc
https://www.figma.com/file/⟪alnum:22⟫/Landing-Page?node-id=⟪n:1-90⟫%3A⟪n:1-900⟫
@@ id_misc
https://www.notion.so/acme/Roadmap-2025-⟪hex:32⟫
@@ id_misc
https://trello.com/c/⟪alnum:8⟫/⟪n:1-400⟫-fix-login-page
@@ id_misc
https://open.spotify.com/track/⟪alnum:22⟫
@@ id_misc
arn:aws:lambda:eu-west-1:⟪dig:12⟫:function:⟪app⟫:⟪n:1-40⟫
@@ id_misc
i-0⟪hex:16⟫ running t3.medium subnet-0⟪hex:16⟫ sg-0⟪hex:16⟫ vpc-0⟪hex:16⟫
@@ id_misc
projects/⟪app⟫/locations/europe-west3/keyRings/main/cryptoKeys/db
@@ id_misc
/subscriptions/⟪uuid⟫/resourceGroups/rg-⟪app⟫/providers/Microsoft.KeyVault/vaults/kv-⟪app⟫
@@ id_misc
payment intent pi_3⟪alnum:23⟫ succeeded, customer cus_⟪alnum:14⟫, price price_1⟪alnum:23⟫
@@ id_misc
evt_1⟪alnum:23⟫ checkout.session.completed
sub_1⟪alnum:23⟫ customer.subscription.updated
@@ id_misc
Slack channel C0⟪upnum:9⟫, user U0⟪upnum:9⟫, ts ⟪dig:10⟫.⟪dig:6⟫
@@ id_misc
Discord guild ⟪dig:18⟫, channel ⟪dig:18⟫, message ⟪dig:19⟫
@@ id_misc
Message-ID: <⟪hex:32⟫@mail.⟪host⟫>
In-Reply-To: <⟪uuid⟫@⟪host⟫>
@@ id_misc
X-Request-Id: ⟪hex:32⟫
X-Amzn-Trace-Id: Root=1-⟪hex:8⟫-⟪hex:24⟫
CF-RAY: ⟪hex:16⟫-FRA
@@ id_misc
traceparent: 00-⟪hex:32⟫-⟪hex:16⟫-01
@@ id_misc
Google Analytics G-⟪upnum:10⟫, Tag Manager GTM-⟪upnum:7⟫
@@ id_misc
appid是wx⟪hex:16⟫，在微信公众平台可以看到
@@ id_misc
openid=o⟪b64u:27⟫ 的用户昨天下单了
@@ id_misc
pod/⟪app⟫-⟪hex:9⟫-⟪lownum:5⟫   1/1   Running   0   ⟪n:1-90⟫d
@@ id_misc
dpl_⟪alnum:28⟫ is ready: https://⟪app⟫-⟪lownum:9⟫-acme.vercel.app
@@ id_misc
run-⟪alnum:16⟫ planned and finished; workspace ws-⟪alnum:16⟫
@@ id_misc
chatcmpl-⟪alnum:29⟫ model gpt-4o-mini, usage prompt_tokens ⟪n:10-900⟫ completion_tokens ⟪n:10-900⟫
@@ id_misc
toolu_01⟪alnum:22⟫ returned is_error false; msg_01⟪alnum:22⟫
@@ id_misc
thread_⟪alnum:24⟫ asst_⟪alnum:24⟫ run_⟪alnum:24⟫
@@ id_misc
https://drive.google.com/file/d/1⟪b64u:32⟫/view
@@ id_misc
MSG: doc id ⟪lownum:20⟫ was written to collection "orders" in Firestore
@@ id_misc
s3://⟪app⟫-artifacts/builds/⟪hex:40⟫/bundle.zip
@@ id_misc
ami-0⟪hex:16⟫ is not available in this region
@@ id_misc
DOI 10.1145/⟪dig:7⟫.⟪dig:7⟫, arXiv:24⟪dig:2⟫.⟪dig:5⟫v2
@@ id_misc
Steam build ⟪dig:8⟫, depot ⟪dig:7⟫, manifest ⟪dig:19⟫
@@ id_misc
fileid: ⟪hex:32⟫ guid: ⟪hex:32⟫
timeCreated: ⟪dig:10⟫
@@ id_misc
{fileID: 11500000, guid: ⟪hex:32⟫, type: 3}
@@ id_misc
NF-e chave de acesso: ⟪dig:44⟫
@@ id_misc
Sendungsnummer ⟪dig:12⟫, Bestellnummer B-⟪dig:8⟫
@@ id_misc
Order #⟪dig:8⟫ · Invoice INV-2025-⟪dig:5⟫ · Ticket JIRA-⟪dig:4⟫
@@ id_misc
Call me at +49 ⟪dig:3⟫ ⟪dig:7⟫ or +91 ⟪dig:5⟫ ⟪dig:5⟫
@@ id_misc
电话：138⟪dig:8⟫，订单号：2025⟪dig:14⟫
@@ id_misc
注文番号は⟪dig:4⟫-⟪dig:7⟫-⟪dig:7⟫です
@@ id_misc
ISBN 978-3-⟪dig:5⟫-⟪dig:3⟫-⟪n:0-9⟫, S/N ⟪upnum:12⟫, SKU ⟪upper:3⟫-⟪dig:5⟫
@@ id_misc
IMEI ⟪dig:15⟫, MAC ⟪mac⟫, IPv6 ⟪ip6⟫
@@ id_misc
VIN WVWZZZ1JZ⟪upnum:8⟫ · Zählerstand ⟪dig:6⟫
@@ net
inet ⟪ip⟫/24 brd 10.0.0.255 scope global eth0
link/ether ⟪mac⟫ brd ff:ff:ff:ff:ff:ff
@@ net
ARP: ⟪ip⟫ is at ⟪mac⟫ on br0
@@ net
inet6 ⟪ip6⟫/64 scope global dynamic
@@ net
$ dig +short ⟪host⟫
⟪ip⟫
⟪ip⟫
@@ net
TXT "v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA⟪b64:150⟫"
@@ net
_acme-challenge.⟪host⟫. 60 IN TXT "⟪b64u:43⟫"
@@ net
google-site-verification=⟪b64u:43⟫
@@ net
⟪host⟫. IN DS ⟪dig:5⟫ 13 2 ⟪HEX:64⟫
@@ net
256 3 13 ⟪b64:64⟫ ; DNSKEY zsk
@@ pub_ssh
⟪sshed⟫ ⟪user⟫@⟪host⟫
@@ pub_ssh
⟪sshrsa⟫ ⟪user⟫@laptop
@@ pub_ssh
$ cat ~/.ssh/authorized_keys
⟪sshed⟫ deploy
⟪sshed⟫ backup
@@ pub_ssh
256 SHA256:⟪alnum:43⟫ ⟪user⟫@⟪host⟫ (ED25519)
@@ pub_ssh
The authenticity of host '⟪host⟫ (⟪ip⟫)' can't be established.
ED25519 key fingerprint is SHA256:⟪alnum:43⟫.
Are you sure you want to continue connecting (yes/no/[fingerprint])?
@@ pub_ssh
|1|⟪b64:20⟫|⟪b64:20⟫ ⟪sshed⟫
@@ pub_ssh
resource "aws_key_pair" "deploy" {
  key_name   = "⟪app⟫"
  public_key = "⟪sshrsa⟫"
}
@@ pub_pem
⟪cert⟫
@@ pub_pem
⟪pubpem⟫
@@ pub_pem
⟪csr⟫
@@ pub_pem
$ openssl s_client -connect ⟪host⟫:443
Server certificate
⟪cert⟫
subject=CN = ⟪host⟫
@@ pub_pem
gpg --import <<'K'
⟪pgppub⟫
K
@@ pub_pem
-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

release ⟪ver⟫ is ready
⟪pgpsig⟫
@@ pub_pem
jwt:
  public-key: |
    ⟪pubpem⟫
@@ pub_pem
certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t⟪b64:240⟫
@@ pub_fpr
Primary key fingerprint: ⟪fpr⟫
@@ pub_fpr
SHA256 Fingerprint=⟪colonhex:32⟫
@@ pub_fpr
X509v3 Subject Key Identifier: ⟪colonhex:20⟫
X509v3 Authority Key Identifier: keyid:⟪colonhex:20⟫
@@ pub_fpr
pub   rsa4096 2021-05-04 [SC]
      ⟪HEX:40⟫
uid           [ultimate] ⟪name⟫ <⟪user⟫@⟪app⟫.io>
@@ pub_fpr
Serial Number: ⟪colonhex:16⟫
@@ pub_fpr
Android SHA-1: ⟪colonhex:20⟫ (add this in the Firebase console)
@@ pub_fpr
gpg: using RSA key ⟪HEX:40⟫
gpg: Good signature from "Release Team"
@@ pub_jwk
{"kty":"RSA","use":"sig","kid":"⟪hex:16⟫","alg":"RS256","n":"⟪b64u:342⟫","e":"AQAB"}
@@ pub_jwk
{"kty":"EC","crv":"P-256","x":"⟪b64u:43⟫","y":"⟪b64u:43⟫","kid":"⟪uuid⟫"}
@@ pub_wg
[Peer]
PublicKey = ⟪wg⟫
Endpoint = ⟪host⟫:51820
AllowedIPs = 10.0.0.0/24
@@ pub_wg
peer: ⟪wg⟫
  endpoint: ⟪ip⟫:51820
  latest handshake: ⟪n:2-50⟫ seconds ago
@@ pub_age
age -r ⟪agepub⟫ -o dump.age dump.sql
@@ pub_nostr
follow me at ⟪npub⟫ on damus
@@ pub_nostr
mein öffentlicher Schlüssel ist ⟪npub⟫, der Beitrag ⟪note⟫
@@ pub_nostr
{"id":"⟪hex:64⟫","pubkey":"⟪hex:64⟫","created_at":17⟪dig:8⟫,"kind":1,"tags":[],"content":"gm","sig":"⟪hex:128⟫"}
@@ pub_nostr
我的公钥是⟪npub⟫，欢迎关注
@@ pub_chain
tx 0x⟪hex:64⟫ mined in block ⟪dig:8⟫
@@ pub_chain
USDC contract ⟪eth⟫ on chain 137, owner ⟪eth⟫
@@ pub_chain
donate: ⟪btc⟫
@@ pub_chain
txid ⟪hex:64⟫ vout ⟪n:0-9⟫ confirmations ⟪n:1-900⟫
@@ pub_chain
xpub for the watch-only wallet: ⟪xpub⟫
@@ pub_chain
ipfs://⟪cid⟫/metadata/⟪n:1-900⟫.json
@@ pub_chain
event topic 0x⟪hex:64⟫ data 0x000000000000000000000000⟪hex:40⟫
@@ pub_chain
ipfs pin add ⟪cidv0⟫
@@ pub_stripe
<script async src="https://js.stripe.com/v3/buy-button.js"></script>
<stripe-buy-button buy-button-id="buy_btn_1⟪alnum:23⟫"></stripe-buy-button>
@@ b64_harmless
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ⟪b64:120⟫
@@ b64_harmless
background: url("data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjwvc3ZnPg==") no-repeat ⟪n:1-90⟫px;
@@ b64_harmless
src: url(data:font/woff2;base64,d09GMgABAAAAA⟪b64:240⟫) format("woff2");
@@ b64_harmless
echo ⟪b64text:en-1⟫ | base64 -d
@@ b64_harmless
Content-Transfer-Encoding: base64

⟪b64text:de-2⟫
@@ b64_harmless
"image/png": "iVBORw0KGgoAAAANSUhEUgAAAkAAAAG0CAYAAAA⟪b64:300⟫",
@@ b64_harmless
Subject: =?utf-8?B?⟪b64text:zh-1⟫?=
@@ b64_harmless
atob("⟪b64text:pt-1⟫")
@@ b64_harmless
{"cursor":"eyJvZmZzZXQiOjQwLCJsaW1pdCI6MjB9","hasNext":true,"count":⟪n:1-900⟫}
@@ b64_harmless
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXX0⟪b64:60⟫
@@ b64_harmless
UklGRiQAAABXQVZFZm10IBAAAAABAAEA⟪b64:160⟫ is the wav header of the jump sound, base64
@@ hexdump
00000000: ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫  ................
00000010: ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫ ⟪hex:4⟫  ................
@@ hexdump
uint8_t logo[] = {0x⟪hex:2⟫, 0x⟪hex:2⟫, 0x⟪hex:2⟫, 0x⟪hex:2⟫, 0x⟪hex:2⟫, 0x⟪hex:2⟫, 0x⟪hex:2⟫};
@@ hexdump
0x7ffe⟪hex:8⟫ <+⟪n:1-90⟫>: mov rax, QWORD PTR [rbp-0x⟪hex:2⟫]
@@ hexdump
#0  0x00007f⟪hex:10⟫ in __GI_raise () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x000055⟪hex:10⟫ in main () at src/main.c:⟪n:1-900⟫
@@ color
--brand: #⟪hex:6⟫; --brand-dark: #⟪hex:6⟫; --shadow: rgba(0,0,0,.⟪dig:2⟫);
@@ minified
!function(e,t){"object"==typeof exports?module.exports=t():e.⟪word⟫=t()}(this,function(){var n=⟪dig:3⟫;return function(e){return e&&e.token?e.token.length>n:!1}});
@@ minified
(self.webpackChunk=self.webpackChunk||[]).push([[⟪dig:4⟫],{⟪dig:5⟫:(e,t,n)=>{"use strict";n.d(t,{Z:()=>a});var r=n(⟪dig:5⟫);const a=e=>r.createElement("input",{type:"password",value:e.password})}}]);
@@ minified
.css-⟪lownum:7⟫{display:flex}.css-⟪lownum:6⟫-MuiButton-root{padding:6px ⟪n:1-30⟫px}._3⟪b64u:5⟫{color:#⟪hex:3⟫}
@@ minified
/static/js/⟪n:1-900⟫.⟪hex:8⟫.chunk.js
/_next/static/chunks/pages/index-⟪hex:16⟫.js
/_next/static/⟪b64u:21⟫/_buildManifest.js
@@ minified
{"version":3,"file":"⟪word⟫.js","mappings":"AAAA,SAASA,EAAIC,GAAK,OAAOA,CAAC,CCA1B,IAAMC,EAAI,CAACC,EAAG,CAACC,EAAG⟪upper:5⟫,⟪upper:4⟫;AACA"}
@@ path
/home/⟪user⟫/projects/⟪app⟫/src/auth/password_reset/token_generator.py
@@ path
C:\Users\⟪user⟫\AppData\Local\Temp\⟪alnum:8⟫\setup.log
@@ path
/nix/store/⟪lownum:32⟫-⟪word⟫-⟪ver⟫/bin/⟪word⟫
@@ path
~/.cache/pypoetry/virtualenvs/⟪app⟫-⟪b64u:8⟫-py3.11/lib/python3.11/site-packages
@@ path
/var/lib/docker/overlay2/⟪hex:64⟫/merged
@@ path
~/Library/Developer/Xcode/DerivedData/⟪Word⟫-⟪lower:28⟫/Build
@@ path
.git/objects/⟪hex:2⟫/⟪hex:38⟫
@@ path
cat /run/secrets/db_password | wc -c
# prints ⟪n:8-64⟫
@@ path
/sys/kernel/security/keys/⟪word⟫/token-⟪n:1-9⟫
@@ env_ref
DB_PASSWORD=${DB_PASSWORD:?missing} ./⟪app⟫ --port ⟪dig:4⟫
@@ env_ref
const key = process.env.⟪word|upper⟫_API_KEY ?? "";
@@ env_ref
password = os.environ["⟪word|upper⟫_PASSWORD"]
@@ env_ref
token: ${{ secrets.⟪word|upper⟫_TOKEN }}
@@ env_ref
spring.datasource.password=${⟪word|upper⟫_DB_PASSWORD}
@@ env_ref
PGPASSWORD="$⟪word|upper⟫_PW" psql -h ⟪host⟫ -U ⟪user⟫
@@ env_ref
password: "{{ vault_⟪word⟫_password }}"
@@ env_ref
curl -H "Authorization: Bearer $TOKEN" https://⟪host⟫/api/v⟪n:1-9⟫/me
@@ env_ref
curl -u "$USER:$PASS" https://⟪host⟫/⟪word⟫
@@ env_ref
set PASSWORD=%⟪word|upper⟫_PASSWORD%
@@ env_ref
$env:⟪word|upper⟫_TOKEN | Out-Null
Connect-Api -Token $env:⟪word|upper⟫_TOKEN
@@ env_ref
db_password = var.⟪word⟫_password
@@ env_ref
  password = data.vault_generic_secret.⟪word⟫.data["password"]
@@ env_ref
        - name: DB_PASSWORD
          valueFrom:
            secretKeyRef:
              name: ⟪app⟫
              key: password
@@ env_ref
API_KEY=op://Private/⟪word⟫/credential
@@ env_ref
password: !vault_ref secret/data/⟪app⟫#password
@@ env_ref
"password": "{{resolve:secretsmanager:⟪app⟫:SecretString:password}}"
@@ env_ref
DATABASE_URL=postgres://${DB_USER}:${DB_PASS}@⟪host⟫:5432/⟪word⟫
@@ env_ref
export GITHUB_TOKEN=$(gh auth token)
echo "⟪app⟫ ready"
@@ env_ref
aws secretsmanager get-secret-value --secret-id prod/⟪app⟫/password --query SecretString
@@ env_ref
vault kv get -field=password secret/⟪app⟫
@@ env_ref
kubectl get secret ⟪app⟫ -o jsonpath='{.data.password}' | base64 -d
@@ env_ref
@Microsoft.KeyVault(SecretUri=https://kv-⟪app⟫.vault.azure.net/secrets/DbPassword/)
@@ env_ref
String pw = System.getenv("⟪word|upper⟫_PASSWORD");
@@ env_ref
password := os.Getenv("⟪word|upper⟫_DB_PASSWORD")
@@ env_ref
let token = std::env::var("⟪word|upper⟫_TOKEN").expect("token missing");
@@ env_ref
'password' => env('⟪word|upper⟫_PASSWORD', ''),
@@ env_ref
password: <%= ENV["⟪word|upper⟫_DATABASE_PASSWORD"] %>
@@ env_ref
config :⟪word⟫, secret: System.fetch_env!("⟪word|upper⟫_SECRET")
@@ env_ref
mqtt_password: !secret ⟪word⟫_mqtt_password
@@ env_ref
docker run -e POSTGRES_PASSWORD_FILE=/run/secrets/⟪word⟫_pw postgres:16
@@ env_ref
api_key = st.secrets["⟪word⟫_api_key"]
@@ env_ref
token = userdata.get("⟪word|upper⟫_HF_TOKEN")
@@ env_ref
<password>${env.⟪word|upper⟫_NEXUS_PASSWORD}</password>
@@ env_ref
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
registry=https://npm.⟪host⟫/
@@ env_ref
credentialsId: '⟪app⟫-deploy', passwordVariable: 'PASS', usernameVariable: 'USER'
@@ env_ref
password: ((⟪word⟫_password))
@@ env_ref
sops -d secrets.⟪word⟫.yaml | yq .db.password
@@ env_ref
pass show infra/⟪host⟫/root | head -1
@@ env_ref
bw get password ⟪app⟫
@@ env_ref
security find-generic-password -s ⟪app⟫ -w
@@ env_ref
dotnet user-secrets list --project ⟪word⟫
@@ env_ref
ssm_parameter = "/prod/⟪app⟫/db/password"
@@ env_ref
TOKEN=$(cat /var/run/secrets/kubernetes.io/serviceaccount/token)
echo "⟪word⟫"
@@ env_ref
"MYSQL_ROOT_PASSWORD": "$(DB_ROOT_PASSWORD_⟪word|upper⟫)"
@@ placeholder
DB_PASSWORD=<your-password>
DB_HOST=⟪host⟫
@@ placeholder
api_key: YOUR_API_KEY_HERE  # ⟪app⟫
@@ placeholder
password: CHANGE_ME  # set before deploying ⟪app⟫
@@ placeholder
⟪word|upper⟫_TOKEN=xxxxxxxxxxxxxxxxxxxxxxxx
@@ placeholder
OPENAI_API_KEY=sk-...
MODEL=⟪word⟫
@@ placeholder
export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
./⟪word⟫.sh
@@ placeholder
postgresql://user:password@localhost:5432/⟪word⟫
@@ placeholder
postgres://<user>:<password>@⟪host⟫/<db>
@@ placeholder
mongodb+srv://<username>:<password>@cluster0.⟪lownum:5⟫.mongodb.net/
@@ placeholder
"client_secret": "[REDACTED]", "client": "⟪app⟫"
@@ placeholder
password=******** user=⟪user⟫
@@ placeholder
Authorization: Bearer <token>
Host: ⟪host⟫
@@ placeholder
Authorization: Bearer {access_token}
X-Client: ⟪app⟫
@@ placeholder
STRIPE_SECRET_KEY=sk_test_...
STRIPE_PRICE=price_⟪alnum:14⟫
@@ placeholder
TELEGRAM_TOKEN=<bot token from BotFather>
CHAT_ID=-100⟪dig:10⟫
@@ placeholder
wifi_password: "DEIN_WLAN_PASSWORT"
hostname: ⟪app⟫
@@ placeholder
密码：<你的密码>，服务器：⟪host⟫
@@ placeholder
パスワード：（ここに入力してください）ホスト：⟪host⟫
@@ placeholder
senha=SUA_SENHA_AQUI
host=⟪host⟫
@@ placeholder
SECRET_KEY = "replace-me"
NAME = "⟪app⟫"
@@ placeholder
access_token=TODO
app=⟪app⟫
@@ placeholder
aws_secret_access_key = ****************⟪upper:4⟫
@@ placeholder
password: null
token: ""
name: ⟪app⟫
@@ placeholder
"password": "string", "username": "string", "id": ⟪n:1-900⟫
@@ placeholder
token: none, secret: n/a, host: ⟪host⟫
@@ placeholder
-----BEGIN PRIVATE KEY-----
...
-----END PRIVATE KEY-----
(paste the key of ⟪app⟫ here)
@@ placeholder
PRIVATE_KEY=0x0000000000000000000000000000000000000000000000000000000000000000
CHAIN=⟪n:1-900⟫
@@ placeholder
sk_live_XXXXXXXXXXXXXXXXXXXXXXXX is what the live key of ⟪app⟫ looks like
@@ placeholder
[OMITTED] password for ⟪user⟫
@@ placeholder
{"user":"⟪user⟫","password":"***","ok":true}
@@ placeholder
curl -u username:password https://api.example.com/v⟪n:1-9⟫/items
@@ placeholder
https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX posts to #⟪word⟫
@@ doc_key
AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE⟪⟫
AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
@@ doc_key
The AWS docs always use AKIAIOSFODNN7EXAMPLE and AKIAI44QH8DHBEXAMPLE (see page ⟪n:2-90⟫).
@@ doc_key
aws_secret_access_key = je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY
region = ⟪pick:us-east-1,eu-west-1,eu-central-1,sa-east-1⟫
@@ doc_key
curl https://api.stripe.com/v1/charges -u sk_test_⟪⟫4eC39HqLyjWDarjtT1zdp7dc: -d amount=⟪n:100-900⟫
@@ doc_key
the jwt.io sample is eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c (page ⟪n:2-90⟫)
@@ doc_key
Azurite: AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;BlobEndpoint=http://127.0.0.1:⟪dig:5⟫/devstoreaccount1;
@@ doc_key
RFC 7617 example: Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ== (line ⟪n:2-90⟫)
@@ doc_key
RFC 6750 example: Authorization: Bearer mF_9.B5f-4.1JqM (line ⟪n:2-90⟫)
@@ doc_key
{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"example","expires_in":3600,"refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA","example_parameter":"example_value"}
@@ doc_key
https://api.telegram.org/bot123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11/getMe   # from the Bot API docs, section ⟪n:1-9⟫
@@ doc_key
test vector: abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about
passes=⟪n:1-90⟫
@@ doc_key
Anvil account 0: 0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80 (default mnemonic: test test test test test test test test test test test junk), port ⟪dig:4⟫
@@ doc_key
NIP-19 test vector nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5, see line ⟪n:1-90⟫
@@ doc_key
otpauth://totp/ACME%20Co:john.doe@email.com?secret=HXDMVJECJJWSRB3HWIZR4IFUGFTMXBOZ&issuer=ACME%20Co&algorithm=SHA1&digits=6&period=30
@@ doc_key
otpauth://totp/Example:alice@google.com?secret=JBSWY3DPEHPK3PXP&issuer=Example
@@ doc_key
SLACK_TOKEN=xoxb-your-token-here
CHANNEL=#⟪word⟫
@@ doc_key
AWS_SECRET_ACCESS_KEY: "EXAMPLEKEY"  # docs of ⟪app⟫
@@ talk_en
I forgot my password again, can you build a reset flow for ⟪app⟫?
@@ talk_en
The password must be at least ⟪n:8-20⟫ characters long and contain a digit.
@@ talk_en
Where do we store the token for ⟪app⟫? In the vault or in the CI variables?
@@ talk_en
Rotate the API key every ⟪n:30-90⟫ days and never commit it.
@@ talk_en
password: see 1Password, vault "⟪word⟫"
@@ talk_en
The secret is to keep the dough cold for ⟪n:2-12⟫ hours.
@@ talk_en
My password manager crashed, so the login on ⟪host⟫ has to wait.
@@ talk_en
Never send passwords by mail. Ask ⟪name⟫ in person.
@@ talk_en
Is the password wrong or is the account ⟪user⟫ locked?
@@ talk_en
the password is wrong, says ⟪host⟫
@@ talk_en
The password is stored as an argon2id hash with ⟪n:2-9⟫ iterations.
@@ talk_en
The token is invalid because the clock of ⟪host⟫ is ⟪n:2-90⟫ seconds off.
@@ talk_en
My token is expired, please renew it, ⟪name⟫.
@@ talk_en
The api key is missing from the request, hence the 401 in ⟪app⟫.
@@ talk_en
Secret Santa is on December ⟪n:10-24⟫, please bring a present, ⟪name⟫.
@@ talk_en
The key is under the mat; ⟪name⟫ will be home at ⟪n:1-9⟫.
@@ talk_en
Key: value pairs are separated by commas in ⟪word⟫.conf.
@@ talk_en
We changed the password policy: passphrases of ⟪n:4-7⟫ words are fine now.
@@ talk_en
token count: ⟪dig:5⟫, max_tokens: ⟪dig:4⟫, tokens per second: ⟪n:10-90⟫
@@ talk_en
Password authentication was disabled on ⟪host⟫; only public keys work.
@@ talk_en
The credentials are in the usual place. — ⟪name⟫
@@ talk_en
Access token lifetime: ⟪n:5-60⟫ minutes. Refresh token lifetime: ⟪n:5-60⟫ days.
@@ talk_en
Password: required, Email: required, Nickname: optional (form ⟪word⟫)
@@ talk_en
He got a bypass on lap ⟪n:2-60⟫, the passport was left at the compass shop.
@@ talk_en
What does "private key" mean in RSA-⟪pick:2048,3072,4096⟫? Explain it for a ten year old.
@@ talk_en
Passwords and tokens in ⟪app⟫: both are encrypted at rest, neither is logged.
@@ talk_en
The admin password prompt appears ⟪n:2-9⟫ times before the lockout.
@@ talk_en
Add a "show password" eye icon to the ⟪word⟫ form please.
@@ talk_en
password reset mails go out through ⟪host⟫ and take ⟪n:2-50⟫ seconds
@@ talk_en
The bearer of this letter, ⟪name⟫, may enter room ⟪n:100-400⟫.
@@ talk_de
Ich habe mein Passwort vergessen, wer kann ⟪user⟫ zurücksetzen?
@@ talk_de
Das Kennwort muss alle ⟪n:30-120⟫ Tage geändert werden.
@@ talk_de
Das Passwort steht im KeePass unter "⟪Word⟫".
@@ talk_de
Passwort: siehe Tresor, Ordner ⟪Word⟫
@@ talk_de
Der Schlüssel für den Serverraum hängt bei ⟪name⟫ im Büro ⟪n:100-400⟫.
@@ talk_de
Das Passwort ist falsch, meldet der Mailserver ⟪host⟫.
@@ talk_de
Bitte keine Kennwörter per E-Mail schicken, ⟪name⟫!
@@ talk_de
Kennwort läuft in ⟪n:2-14⟫ Tagen ab (Benutzer ⟪user⟫).
@@ talk_de
Passwortrichtlinie: mindestens ⟪n:10-16⟫ Zeichen, Groß- und Kleinschreibung.
@@ talk_de
Das Geheimnis guter Brötchen ist die Ruhezeit von ⟪n:8-24⟫ Stunden.
@@ talk_zh
密码忘记了，怎么重置⟪app⟫的账号？
@@ talk_zh
密码长度不能少于⟪n:6-16⟫位，必须包含数字和字母。
@@ talk_zh
密码错误，您还可以再试⟪n:1-9⟫次。
@@ talk_zh
请不要把密钥写到代码里，⟪name⟫。
@@ talk_zh
令牌已过期，请在⟪n:1-59⟫分钟内重新登录。
@@ talk_zh
密码学课程的第⟪n:1-20⟫章讲公钥和私钥。
@@ talk_zh
密码保存在密码管理器里，找⟪name⟫要权限。
@@ talk_zh
token长度是⟪n:100-900⟫，超出了模型的限制。
@@ talk_zh
這個專案的密碼放在保管庫，編號⟪n:100-900⟫。
@@ talk_ja
パスワードを忘れた場合は⟪name⟫さんに連絡してください。
@@ talk_ja
パスワードは⟪n:8-20⟫文字以上で設定してください。
@@ talk_ja
トークンの有効期限は⟪n:10-60⟫分です。
@@ talk_ja
APIキーは環境変数から読み込みます（⟪word|upper⟫_KEY）。
@@ talk_ja
パスワードが違います。あと⟪n:1-9⟫回でロックされます。
@@ talk_ja
秘密のレシピは第⟪n:1-30⟫話で公開されます。
@@ talk_ko
비밀번호를 잊어버렸어요. ⟪name⟫ 님께 문의하세요.
@@ talk_ko
비밀번호는 ⟪n:8-20⟫자 이상이어야 합니다.
@@ talk_pt
Esqueci a senha do ⟪app⟫, como faço para redefinir?
@@ talk_pt
A senha deve ter no mínimo ⟪n:8-20⟫ caracteres.
@@ talk_pt
A senha está no cofre, fala com ⟪name⟫.
@@ talk_pt
Senha incorreta. Restam ⟪n:1-9⟫ tentativas.
@@ talk_pt
Pegue sua senha no guichê, fila ⟪n:1-30⟫.
@@ talk_fr
J'ai oublié mon mot de passe, peux-tu réinitialiser ⟪user⟫ ?
@@ talk_fr
Le mot de passe doit contenir au moins ⟪n:8-20⟫ caractères.
@@ talk_fr
Mot de passe : voir le coffre, dossier ⟪Word⟫
@@ talk_es
La contraseña debe tener al menos ⟪n:8-20⟫ caracteres.
@@ talk_es
He olvidado la contraseña de ⟪app⟫, ¿me ayudas?
@@ talk_es
La clave del éxito son ⟪n:2-9⟫ horas de sueño.
@@ talk_it
La password deve essere lunga almeno ⟪n:8-20⟫ caratteri.
@@ talk_it
Ho dimenticato la password di ⟪app⟫.
@@ talk_ru
Пароль должен быть не короче ⟪n:8-20⟫ символов.
@@ talk_ru
Я забыл пароль от ⟪app⟫, как его сбросить?
@@ talk_ru
Ключ от квартиры у соседа в доме ⟪n:2-90⟫.
@@ talk_tr
Şifremi unuttum, ⟪name⟫ bana yardım eder misin?
@@ talk_tr
Şifre en az ⟪n:8-20⟫ karakter olmalıdır.
@@ talk_pl
Zapomniałem hasła do ⟪app⟫.
@@ talk_pl
Hasło musi mieć co najmniej ⟪n:8-20⟫ znaków.
@@ talk_nl
Ik ben mijn wachtwoord vergeten, kan ⟪name⟫ helpen?
@@ talk_hi
पासवर्ड कम से कम ⟪n:8-20⟫ अक्षरों का होना चाहिए।
@@ talk_hi
मैं पासवर्ड भूल गया, ⟪name⟫ से पूछो।
@@ talk_ar
نسيت كلمة المرور الخاصة بحساب ⟪app⟫
@@ talk_vi
Mật khẩu phải có ít nhất ⟪n:8-20⟫ ký tự.
@@ talk_id
Kata sandi minimal ⟪n:8-20⟫ karakter.
@@ talk_sv
Lösenordet måste ha minst ⟪n:8-20⟫ tecken.
@@ talk_th
ลืมรหัสผ่านของ ⟪app⟫ ทำอย่างไรดี
@@ talk_he
שכחתי את הסיסמה של ⟪app⟫
@@ talk_uk
Пароль має містити щонайменше ⟪n:8-20⟫ символів.
@@ prose
⟪prose:en-6⟫
@@ prose
⟪prose:de-6⟫
@@ prose
⟪prose:zh-6⟫
@@ prose
⟪prose:ja-5⟫
@@ prose
⟪prose:pt-5⟫
@@ prose_long
⟪prose:en-16⟫

⟪log:20⟫

⟪prose:en-12⟫
@@ prose_long
⟪prose:de-10⟫
⟪code:16⟫
⟪prose:de-10⟫
@@ prose_long
⟪prose:zh-10⟫
⟪log:16⟫
⟪prose:zh-10⟫
⟪code:10⟫
@@ prose_long
⟪prose:ja-8⟫
⟪code:14⟫
⟪prose:ja-8⟫
⟪log:8⟫
@@ prose_long
⟪prose:pt-8⟫
⟪log:22⟫
⟪prose:pt-8⟫
@@ code_py
def verify(password: str, hashed: bytes) -> bool:
    return bcrypt.checkpw(password.encode(), hashed)  # ⟪n:1-90⟫
@@ code_py
password = getpass.getpass("Password for ⟪user⟫: ")
@@ code_py
token = secrets.token_urlsafe(⟪n:16-64⟫)
@@ code_py
class Login(BaseModel):
    username: str = Field(min_length=⟪n:2-9⟫)
    password: SecretStr
    token: str | None = None
@@ code_py
parser.add_argument("--password", help="password for ⟪app⟫", default=None)
@@ code_py
if not request.headers.get("Authorization", "").startswith("Bearer "):
    raise HTTPException(⟪pick:401,403⟫)
@@ code_py
api_key = config["⟪word⟫"]["api_key"]
secret = load_secret(path)
@@ code_py
tokenizer = AutoTokenizer.from_pretrained("bert-base-⟪word⟫")
tokens = tokenizer(text, max_length=⟪n:100-900⟫)
@@ code_py
password = "".join(random.choice(string.ascii_letters) for _ in range(⟪n:8-40⟫))
@@ code_py
key=lambda row: row["⟪word⟫"]
@@ code_py
headers = {"Authorization": f"Bearer {token}", "X-Page": "⟪n:1-90⟫"}
@@ code_py
raise ValueError("password must not be empty (field ⟪word⟫)")
@@ code_py
assert response.json()["detail"] == "Invalid password or user name"  # case ⟪n:1-90⟫
@@ code_js
const { password, passwordConfirm } = req.body; // step ⟪n:1-9⟫
@@ code_js
<input type="password" name="password" placeholder="Enter your password" autoComplete="current-password" tabIndex={⟪n:1-9⟫} />
@@ code_js
const token = await getToken({ template: "⟪word⟫" });
@@ code_js
interface Credentials {
  username: string;
  password: string;
  ⟪word⟫Token?: string;
}
@@ code_js
const hash = await bcrypt.hash(password, ⟪n:8-14⟫);
@@ code_js
localStorage.removeItem("⟪word⟫_access_token");
@@ code_js
z.object({ password: z.string().min(⟪n:8-20⟫), token: z.string().optional() })
@@ code_js
const url = `https://⟪host⟫/api?token=${token}&key=${apiKey}`;
@@ code_js
password: Joi.string().required().max(⟪n:20-90⟫),
@@ code_js
<li key={item.id} className="⟪word⟫">{item.secretName}</li>
@@ code_js
export const PASSWORD_RESET_⟪word#q|upper⟫ = "PASSWORD_RESET_⟪word#q|upper⟫";
@@ code_js
wx.login({ success: res => { this.code = res.code; this.page = ⟪n:1-90⟫ } })
@@ code_js
const SESSION_COOKIE = "__Host-⟪word⟫-session";
@@ code_js
t("auth.password.tooShort", { min: ⟪n:8-20⟫ })
@@ code_java
private String password; // ⟪word⟫
public String getPassword() { return password; }
public void setPassword(String password) { this.password = password; }
@@ code_java
@Value("${⟪word⟫.datasource.password}")
private String dbPassword;
@@ code_java
String token = request.getHeader("X-⟪Word⟫-Token");
@@ code_java
PasswordEncoder encoder = new BCryptPasswordEncoder(⟪n:8-14⟫);
@@ code_java
private static final long serialVersionUID = -⟪dig:19⟫L;
@@ code_java
props.setProperty("password", credentials.getPassword(⟪n:1-9⟫));
@@ code_java
private static final String PASSWORD_KEY = "password"; // ⟪word⟫
@@ code_go
token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") // ⟪word⟫
@@ code_go
type Config struct {
	Password string `yaml:"password" json:"-"`
	⟪Word⟫   string `yaml:"token"`
}
@@ code_go
if subtle.ConstantTimeCompare([]byte(password), []byte(want⟪Word⟫)) != 1 {
@@ code_rust
#[derive(Deserialize)]
struct Auth { password: String, token: Option<String>, ⟪word⟫: u32 }
@@ code_cs
var password = Configuration["⟪Word⟫:Password"];
@@ code_cs
[assembly: InternalsVisibleTo("⟪Word⟫.Tests, PublicKey=0024000004800000940000000602000000240000525341310004000001000100⟪hex:128⟫")]
@@ code_cs
<Reference Include="⟪Word⟫.Core, Version=⟪ver⟫.0, Culture=neutral, PublicKeyToken=⟪hex:16⟫" />
@@ code_cs
public Guid Id { get; } = new Guid("⟪uuid⟫");
@@ code_cpp
std::string password = prompt("⟪word⟫ password");
@@ code_cpp
static const uint32_t K[] = {0x⟪hex:8⟫, 0x⟪hex:8⟫, 0x⟪hex:8⟫, 0x⟪hex:8⟫};
@@ code_c
#define CRYPTO_KEY_LEN ⟪n:16-64⟫
#define PASSWORD_MAX ⟪n:64-256⟫
@@ code_c
strncpy(cfg.password, argv[⟪n:1-9⟫], sizeof(cfg.password) - 1);
@@ code_php
$password = $_POST['password'] ?? ''; // form ⟪word⟫
@@ code_php
if (!password_verify($password, $row['password_hash'])) { return redirect('/⟪word⟫'); }
@@ code_rb
has_secure_password
validates :password, length: { minimum: ⟪n:8-20⟫ }
@@ code_rb
params.require(:user).permit(:email, :password, :⟪word⟫)
@@ code_ps
$cred = Get-Credential -UserName "FIRMA\⟪user⟫" -Message "Kennwort"
@@ code_ps
$secure = Read-Host "Passwort für ⟪host⟫" -AsSecureString
@@ code_ps
New-ADUser -Name "⟪user⟫" -AccountPassword $pw -PasswordNeverExpires $false
@@ code_sh
read -r -s -p "Password for ⟪user⟫: " PASS
@@ code_sh
mysql -h ⟪host⟫ -u ⟪user⟫ -p
@@ code_sh
openssl rand -base64 ⟪n:16-64⟫ > secret.txt
@@ code_sh
ssh-keygen -t ed25519 -C "⟪user⟫@⟪host⟫" -f ~/.ssh/id_⟪word⟫
@@ code_sh
passwd ⟪user⟫ && chage -l ⟪user⟫
@@ code_sh
docker login registry.⟪host⟫ -u ⟪user⟫ --password-stdin < token.txt
@@ code_sh
grep -rn "password" src/⟪word⟫ | wc -l
@@ code_sh
mkdir -p /srv/⟪app⟫ && scp -P ⟪dig:4⟫ dump.sql ⟪user⟫@⟪host⟫:/srv/
@@ code_sh
ssh -i ~/.ssh/⟪word⟫_deploy_key -p ⟪dig:4⟫ ⟪user⟫@⟪host⟫
@@ code_sh
rsync -avP --delete ./dist/ ⟪user⟫@⟪host⟫:/var/www/⟪app⟫/
@@ code_sh
curl -fsSL https://⟪host⟫/install.sh | sh -s -- --token-file /etc/⟪word⟫/token
@@ code_sh
kubectl create secret generic ⟪app⟫ --from-file=tls.key=./tls.key
@@ code_sh
helm upgrade ⟪app⟫ ./chart -f values-⟪word⟫.yaml --set auth.existingSecret=⟪app⟫-auth
@@ code_sh
gpg --full-generate-key && gpg --list-secret-keys --keyid-format=long ⟪user⟫
@@ code_lua
local password = io.read() -- ⟪word⟫
@@ code_swift
SecureField("Password", text: $password).textContentType(.password).padding(⟪n:1-30⟫)
@@ code_kotlin
val password = binding.passwordInput.text.toString() // ⟪word⟫
@@ code_dart
final token = await storage.read(key: '⟪word⟫_token');
@@ code_vue
<el-input v-model="form.password" show-password placeholder="请输入密码" :maxlength="⟪n:16-40⟫" />
@@ code_abap
PARAMETERS p_pass TYPE char⟪n:10-40⟫ LOWER CASE.
@@ code_hcl
variable "⟪word⟫_password" {
  type      = string
  sensitive = true
}
@@ code_hcl
resource "random_password" "⟪word⟫" {
  length  = ⟪n:16-40⟫
  special = false
}
@@ code_hcl
output "⟪word⟫_token" {
  value     = aws_iam_access_key.ci.secret
  sensitive = true
}
@@ code_graphql
type Mutation { login(email: String!, password: String!): AuthPayload  ⟪word⟫: Int }
@@ code_proto
message Login⟪Word⟫ { string user = 1; string password = 2; bytes token = ⟪n:3-19⟫; }
@@ code_openapi
      password:
        type: string
        format: password
        minLength: ⟪n:8-20⟫
        writeOnly: true
@@ code_openapi
  securitySchemes:
    ⟪word⟫Auth:
      type: http
      scheme: bearer
      bearerFormat: JWT
@@ code_schema
{"type":"object","required":["username","password"],"properties":{"password":{"type":"string","maxLength":⟪n:20-200⟫}}}
@@ code_i18n
"login.password": "Passwort", "login.forgot": "Passwort vergessen?", "login.count": "⟪n:1-90⟫"
@@ code_i18n
msgid "Your password has expired after %d days"
msgstr "Ihr Passwort ist nach %d Tagen abgelaufen"
#: src/⟪word⟫.c:⟪n:1-900⟫
@@ code_i18n
<string name="hint_password">Password</string>
<string name="error_⟪word⟫">This password is too short</string>
@@ regex
const re = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z\d@$!%*?&]{⟪n:8-20⟫,}$/;
@@ regex
pattern: '(?i)aws_secret_access_key\s*=\s*[A-Za-z0-9/+=]{40}'  # rule ⟪n:1-90⟫
@@ regex
ghp_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{⟪n:22-90⟫}
@@ regex
AKIA[0-9A-Z]{16} matched ⟪n:1-90⟫ times
@@ regex
re.compile(r"xox[baprs]-[0-9A-Za-z-]{10,⟪n:48-90⟫}")
@@ regex
grep -E 'password\s*[:=]\s*"[^"]+"' ⟪word⟫.conf
@@ regex
sed -E 's/(password=)[^&]+/\1***/g' ⟪word⟫.log
@@ regex
rewrite ^/reset/([a-f0-9]{64})$ /reset.php?token=$1&v=⟪n:1-90⟫ last;
@@ sql
CREATE TABLE users (id BIGINT PRIMARY KEY, password_hash VARCHAR(⟪n:60-255⟫) NOT NULL, api_token TEXT);
@@ sql
SELECT id, password_hash FROM users WHERE email = $1 LIMIT ⟪n:1-90⟫;
@@ sql
ALTER TABLE ⟪word⟫ ADD COLUMN reset_token VARCHAR(64) DEFAULT NULL;
@@ sql
CREATE UNIQUE INDEX idx_⟪word⟫_token ON sessions (token) WHERE revoked_at IS NULL;
@@ sql
UPDATE users SET password = crypt(:password, gen_salt('bf')) WHERE id = ⟪n:1-9000⟫;
@@ sql
ALTER USER ⟪word⟫ IDENTIFIED BY :new_password;
@@ sql
ALTER TABLE orders ADD CONSTRAINT fk_⟪word⟫ FOREIGN KEY (customer_id) REFERENCES customers (id);
@@ sql
ERROR 1045 (28000): Access denied for user '⟪user⟫'@'⟪ip⟫' (using password: YES)
@@ sql
DUPLICATE KEY: Duplicate entry '⟪n:1-9000⟫' for key 'users.PRIMARY'
@@ sql
FATAL: password authentication failed for user "⟪user⟫"
@@ sql
ORA-01017: invalid username/password; logon denied (host ⟪host⟫)
@@ log
Mar ⟪n:10-28⟫ ⟪time⟫ ⟪host⟫ sshd[⟪dig:5⟫]: Failed password for invalid user ⟪user⟫ from ⟪ip⟫ port ⟪dig:5⟫ ssh2
@@ log
Mar ⟪n:10-28⟫ ⟪time⟫ ⟪host⟫ sshd[⟪dig:5⟫]: Accepted publickey for ⟪user⟫ from ⟪ip⟫ port ⟪dig:5⟫ ssh2: ED25519 SHA256:⟪alnum:43⟫
@@ log
⟪log:6⟫
@@ log
⟪ip⟫ - - [1⟪n:0-9⟫/Jun/2025:⟪time⟫ +0000] "GET /password/reset HTTP/1.1" 200 ⟪dig:4⟫ "-" "Mozilla/5.0"
@@ log
level=warn ts=⟪date⟫T⟪time⟫Z caller=auth.go:⟪n:10-900⟫ msg="token expired" user=⟪user⟫
@@ log
[⟪time⟫] PASS test_password_reset (⟪n:1-900⟫ ms)
[⟪time⟫] FAIL test_token_refresh
@@ log
I1120 ⟪time⟫.⟪dig:6⟫       1 controller.go:⟪n:10-900⟫] Secret default/⟪app⟫ not found
@@ log
time="⟪date⟫T⟪time⟫Z" level=info msg="loaded 3 secrets from file" path=/etc/⟪word⟫/secrets
@@ log
npm WARN deprecated ⟪word⟫@⟪ver⟫: this library is no longer supported
added ⟪n:100-900⟫ packages in ⟪n:2-90⟫s
@@ log
Compiling ⟪word⟫ v⟪ver⟫ (/home/⟪user⟫/⟪app⟫)
    Finished release [optimized] target(s) in ⟪n:2-90⟫.⟪dig:2⟫s
@@ log
epoch ⟪n:1-90⟫: loss=0.⟪dig:6⟫ acc=0.⟪dig:5⟫ tokens=⟪dig:8⟫ lr=3e-4
@@ log
[error] 401 Unauthorized: invalid api key for project ⟪app⟫
@@ log
Event ID 4625: An account failed to log on. Account Name: ⟪user⟫ Failure Reason: Unknown user name or bad password. Logon ID: 0x⟪hex:6⟫
@@ log
mosquitto: New client connected from ⟪ip⟫:⟪dig:5⟫ as esp32-⟪hex:6⟫ (p2, c1, k60, u'ha').
@@ log
*** Password prompt skipped, authenticated by Kerberos (⟪user⟫@FIRMA.LOCAL)
@@ log
postfix/smtpd[⟪dig:5⟫]: ⟪HEX:10⟫: client=⟪host⟫[⟪ip⟫], sasl_method=PLAIN, sasl_username=⟪user⟫
@@ log
nginx: [emerg] cannot load certificate key "/etc/ssl/private/⟪word⟫.key": PEM_read_bio_PrivateKey() failed (no start line: Expecting: ANY PRIVATE KEY)
@@ trace
Traceback (most recent call last):
  File "/srv/⟪app⟫/auth.py", line ⟪n:1-900⟫, in login
    check_password(password, user.password)
TypeError: check_password() missing 1 required positional argument: 'hashed'
@@ trace
java.lang.IllegalStateException: Cannot recover key
	at sun.security.provider.KeyProtector.recover(KeyProtector.java:⟪n:10-900⟫)
	at com.⟪word⟫.TokenService.refreshToken(TokenService.java:⟪n:10-900⟫)
@@ trace
TypeError: Cannot read properties of undefined (reading 'token')
    at getSession (webpack-internal:///./lib/⟪word⟫.js:⟪n:1-90⟫:⟪n:1-90⟫)
@@ trace
panic: runtime error: invalid memory address
goroutine ⟪n:1-900⟫ [running]:
main.(*Auth).Password(0xc000⟪hex:6⟫, 0x⟪hex:2⟫)
@@ trace
System.Security.Cryptography.CryptographicException: Padding is invalid and cannot be removed.
   at ⟪Word⟫.Security.PasswordStore.Decrypt(Byte[] key) in C:\src\PasswordStore.cs:line ⟪n:1-900⟫
@@ trace
KeyError: 'password'
During handling of the above exception (request ⟪n:1-9000⟫), another exception occurred:
@@ trace
thread 'main' panicked at 'called `Option::unwrap()` on a `None` value: missing token', src/⟪word⟫.rs:⟪n:1-900⟫:⟪n:1-90⟫
@@ diff
diff --git a/auth/⟪word#f⟫.py b/auth/⟪word#f⟫.py
@@ -10,4 +10,4 @@ class Login:
-    password = forms.CharField()
+    password = forms.CharField(widget=forms.PasswordInput, max_length=⟪n:20-90⟫)
@@ diff
-  "version": "⟪ver⟫",
+  "version": "⟪ver⟫",
-  "integrity": "⟪sha512sri⟫"
+  "integrity": "⟪sha512sri⟫"
@@ diff
-Subproject commit ⟪hex:40⟫
+Subproject commit ⟪hex:40⟫
@@ diff
-    password: process.env.DB_PASS,
+    password: process.env.⟪word|upper⟫_DB_PASS,
@@ diff
- token_ttl: ⟪n:100-900⟫
+ token_ttl: ⟪n:1000-9000⟫
@@ config
password_policy:
  min_length: ⟪n:8-20⟫
  require_digit: true
  max_age_days: ⟪n:30-120⟫
@@ config
passwd:         files systemd
group:          files systemd
hosts:          files dns ⟪word⟫
@@ config
⟪user⟫:x:⟪n:1000-1900⟫:⟪n:1000-1900⟫::/home/⟪word⟫:/bin/bash
@@ config
PasswordAuthentication no
PermitRootLogin prohibit-password
Port ⟪dig:4⟫
@@ config
ssl_certificate     /etc/letsencrypt/live/⟪host⟫/fullchain.pem;
ssl_certificate_key /etc/letsencrypt/live/⟪host⟫/privkey.pem;
@@ config
Host ⟪word⟫
  HostName ⟪host⟫
  User ⟪user⟫
  IdentityFile ~/.ssh/id_ed25519
@@ config
max_tokens: ⟪dig:4⟫
tokenizer: cl100k_base
eos_token: "</s>"
pad_token_id: ⟪n:0-900⟫
@@ config
spring.jpa.properties.hibernate.jdbc.batch_size=⟪n:10-90⟫
server.servlet.session.cookie.secure=true
spring.datasource.username=⟪user⟫
@@ config
keyboard.layout=de
primary_key=id
sort_key=created_⟪word⟫
partition_key=tenant
@@ config
token_endpoint: https://login.⟪host⟫/oauth2/v2.0/token
authorization_endpoint: https://login.⟪host⟫/oauth2/v2.0/authorize
@@ config
CSRF_COOKIE_SECURE = True
PASSWORD_RESET_TIMEOUT = ⟪dig:5⟫
AUTH_PASSWORD_VALIDATORS = []
@@ config
showPassword=false; rememberPassword=true; passwordStrength=⟪n:1-9⟫
@@ config
auth:
  enabled: true
  password_file: /etc/⟪word⟫/passwd
  token_ttl: 3600s
@@ config
requirepass_enabled yes
port ⟪dig:4⟫
key_prefix ⟪word⟫:
@@ config
NEXT_PUBLIC_APP_URL=https://⟪app⟫.vercel.app
NEXT_PUBLIC_TOKEN_SYMBOL=⟪upper:4⟫
@@ config
image:
  repository: ghcr.io/acme/⟪app⟫
  tag: "⟪ver⟫"
imagePullSecrets:
  - name: regcred
@@ config
volumes:
  - name: creds
    secret:
      secretName: ⟪app⟫-tls
      defaultMode: 256
@@ config
jobs:
  build:
    permissions:
      id-token: write
      contents: read
    runs-on: ubuntu-24.04 # ⟪word⟫
@@ table
| Column | Type | Null |
|--------|------|------|
| password | varchar(⟪n:60-255⟫) | NO |
| token | text | YES |
@@ table
| Env variable | Meaning |
|---|---|
| `⟪word|upper⟫_PASSWORD` | password of the database user |
| `⟪word|upper⟫_TOKEN` | token for the API |
@@ table
Name            Typ       Länge
KENNWORT        CHAR      ⟪n:10-90⟫
SCHLUESSEL      NUMC      ⟪n:10-90⟫
@@ table
feature,importance
token_count,0.⟪dig:5⟫
password_length,0.⟪dig:5⟫
@@ md_doc
### Authentication
Send your key in the `X-API-Key` header. See [tokens](/docs/⟪word⟫/tokens) for how to create one.
@@ md_doc
- [ ] rotate the password of `⟪user⟫`
- [x] delete the old token
- [ ] document the secret store
@@ md_doc
`--password <string>`  Password used for the connection (default: none). Since ⟪ver⟫.
@@ md_doc
Usage: ⟪word⟫ [OPTIONS] --token <TOKEN>

Options:
  -p, --password <PASSWORD>  Password
  -u, --user <USER>          User
@@ md_doc
man ⟪word⟫: "-w passwd  Use passwd as the password for simple authentication."
@@ http_plain
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Basic realm="⟪word⟫"
Content-Length: ⟪n:0-900⟫
@@ http_plain
HTTP/2 200
content-type: application/json
etag: W/"⟪hex:8⟫-⟪alnum:27⟫"
x-ratelimit-remaining: ⟪n:1-900⟫
@@ http_plain
GET /oauth/authorize?response_type=code&client_id=⟪uuid⟫&redirect_uri=https%3A%2F%2F⟪host⟫%2Fcb&scope=openid HTTP/1.1
@@ http_plain
{"error":"invalid_token","error_description":"The access token expired","status":⟪pick:401,403⟫}
@@ http_plain
Set-Cookie: theme=dark; Max-Age=⟪dig:7⟫; Path=/; SameSite=Lax
@@ http_plain
Access-Control-Allow-Headers: Authorization, X-Api-Key, X-CSRF-Token, X-⟪Word⟫
@@ http_plain
curl -s https://⟪host⟫/.well-known/jwks.json | jq '.keys[].kid'
@@ http_plain
https://⟪host⟫/search?q=forgot+password&page=⟪n:1-90⟫&sort=token
@@ http_plain
https://⟪host⟫/account/password/change?next=%2F⟪word⟫
@@ http_plain
https://⟪user⟫@⟪host⟫/acme/⟪app⟫.git
@@ http_plain
ssh://git@⟪host⟫:⟪dig:4⟫/acme/⟪app⟫.git
@@ http_plain
redis://⟪host⟫:6379/⟪n:0-15⟫
@@ http_plain
jdbc:postgresql://⟪host⟫:5432/⟪word⟫?user=⟪user⟫&ssl=true
@@ http_plain
https://cdn.⟪host⟫/assets/⟪uuid⟫/⟪hex:40⟫.webp?width=⟪n:100-900⟫
@@ json_data
{"user":"⟪user⟫","hasPassword":true,"passwordChangedAt":"⟪date⟫","tokens":⟪n:1-900⟫}
@@ json_data
{"key":"⟪word⟫","value":⟪n:1-900⟫,"type":"counter"}
@@ json_data
{"password":null,"token":null,"mustChange":true,"id":⟪n:1-9000⟫}
@@ json_data
"{\"event\":\"password_changed\",\"user_id\":\"⟪uuid⟫\",\"ip\":\"⟪ip⟫\"}"
@@ json_data
{"usage":{"input_tokens":⟪dig:5⟫,"output_tokens":⟪dig:4⟫,"cache_read_input_tokens":⟪dig:6⟫}}
@@ json_data
{"features":[{"geometry":{"coordinates":[⟪n:1-90⟫.⟪dig:14⟫,⟪n:1-90⟫.⟪dig:14⟫]}}]}
@@ json_data
[{"op":"replace","path":"/spec/secretName","value":"⟪app⟫-tls"}]
@@ game
ScriptableObject GUID ⟪hex:32⟫, addressable key "Assets/Chars/⟪Word⟫.prefab"
@@ game
敵のドロップ： 鍵（ID ⟪n:1-900⟫）、秘密の部屋 ⟪n:1-9⟫F
@@ game
asset bundle ⟪word⟫_⟪hex:32⟫.bundle (CRC ⟪dig:10⟫)
@@ game
UE build id ⟪HEX:32⟫ platform Win64 changelist ⟪dig:7⟫
@@ science
AAAGCTTGGCACTGGCC⟪pick:ATG,CGA,TTC,GGC⟫GTCGTTTTACAACGTCGTGACTGGGAAAACCCTGGCGTTACC⟪pick:AA,CG,TC,GC⟫
@@ science
MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ⟪pick:AP,LK,VE,DD⟫APILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVV
@@ science
SMILES CC(C)CC1=CC=C(C=C1)C(C)C(=O)O InChIKey HEFNNWSXXWATRW-UHFFFAOYSA-N, row ⟪n:1-900⟫
@@ science
π ≈ 3.14159265358979323846264338327950288, digits=⟪n:10-90⟫
@@ science
pass@1 = 0.⟪dig:3⟫, pass@10 = 0.⟪dig:3⟫, tokens/s = ⟪n:10-900⟫
@@ chess
⟪n:1-30⟫. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 (key move: 6. Re1)
@@ terminal
total ⟪n:10-900⟫
-rw------- 1 ⟪user⟫ staff  411 Jun  ⟪n:1-9⟫ 10:12 id_ed25519
-rw-r--r-- 1 ⟪user⟫ staff   98 Jun  ⟪n:1-9⟫ 10:12 id_ed25519.pub
@@ terminal
[sudo] password for ⟪user⟫: 
Sorry, try again.
@@ terminal
Enter passphrase for key '/home/⟪user⟫/.ssh/id_rsa': 
Identity added: /home/⟪user⟫/.ssh/id_rsa
@@ terminal
$ gh auth status
github.com
  ✓ Logged in to github.com account ⟪word⟫-dev (keyring)
  - Token scopes: 'gist', 'read:org', 'repo'
@@ terminal
NAME           TYPE     DATA   AGE
⟪app⟫   Opaque   ⟪n:1-9⟫      ⟪n:1-90⟫d
@@ terminal
Key                Value
---                -----
token_ttl          ⟪n:1-90⟫h
token_renewable    true
@@ terminal
New password:
Retype new password:
passwd: password updated successfully for ⟪user⟫
@@ terminal
$ ls secrets/
⟪word⟫.key.enc  README.md  token-⟪word⟫.age
@@ terminal
⟪user⟫@⟪host⟫:~$ history | grep -c passwd
⟪n:1-90⟫
@@ identifier
X_⟪word|upper⟫_SECRET_MANAGER_CLIENT_FACTORY_BEAN_NAME
@@ identifier
resetPasswordTokenExpirationDateValidatorFor⟪Word⟫Impl
@@ identifier
com.⟪word⟫.security.oauth2.provider.token.AuthorizationServerTokenServicesConfiguration
@@ identifier
NSUserActivityTypeBrowsingWeb_⟪Word⟫_kSecAttrAccessibleWhenUnlocked
@@ identifier
_ZN4core3ptr⟪n:10-99⟫drop_in_place$LT$alloc..string..String$GT$17h⟪hex:16⟫E
@@ identifier
branch feature/⟪dig:4⟫-password-strength-⟪word⟫
@@ identifier
sk-learn-⟪word⟫ sk_⟪word⟫_slider hf_⟪word⟫_dataset gsk_⟪word⟫
@@ version
⟪word⟫ ⟪ver⟫-rc.⟪n:1-9⟫+build.⟪hex:7⟫ (released ⟪date⟫)
@@ version
Chrome/1⟪n:10-40⟫.0.⟪dig:4⟫.⟪n:10-200⟫ Safari/537.36 Edg/1⟪n:10-40⟫.0
@@ version
openjdk ⟪ver⟫ 2025-04-15 LTS, build ⟪ver⟫+⟪n:1-20⟫
@@ sec_talk
CVE-2024-⟪dig:5⟫: attackers could read the password hash without logging in
@@ sec_talk
Hydra tried ⟪dig:6⟫ passwords against ⟪ip⟫, no hit.
@@ sec_talk
The header line "-----BEGIN RSA PRIVATE KEY-----" is what the scanner looks for (rule ⟪n:1-90⟫).
@@ sec_talk
gitleaks: ⟪n:10-900⟫ commits scanned, no leaks found in ⟪app⟫
@@ sec_talk
JWT has three parts: header.payload.signature – example ⟪n:1-9⟫ in the RFC
@@ sec_talk
hashcat -m ⟪dig:4⟫ hashes.txt rockyou.txt -r rules/best64.rule
@@ sec_talk
TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, X25519, port ⟪dig:4⟫
@@ sec_talk
An nsec starts with nsec1 and must stay secret, an npub may be shared with ⟪name⟫.
@@ sec_talk
AKIA prefixes are long-term keys, ASIA ones are temporary. (slide ⟪n:1-90⟫)
@@ private_none
The `private` keyword hides a method; version ⟪ver⟫ documents it.
@@ private_none
private def token_for(user) = user.⟪word⟫
@@ calendar
Mi ⟪n:1-28⟫.06. ⟪time⟫ Passfoto abholen, Schlüssel zurückgeben, ⟪name⟫ anrufen
@@ calendar
BEGIN:VEVENT
UID:⟪uuid⟫@⟪host⟫
DTSTART:202506⟪n:10-28⟫T090000Z
SUMMARY:Password workshop
END:VEVENT
@@ code_kwarg
client = Client(host="⟪host⟫", username=username, password=password, token=token)
@@ code_kwarg
requests.get(url, auth=(user, password), timeout=⟪n:5-90⟫)
@@ code_kwarg
session.login(user=user, password=cfg.password, realm="⟪word⟫")
@@ code_kwarg
api_key: Optional[str] = None  # ⟪word⟫
@@ code_kwarg
password?: string; token?: Token; ⟪word⟫?: number;
@@ code_kwarg
self.password = password
self.⟪word⟫_token = token
@@ code_kwarg
password = None if anonymous else load_password("⟪word⟫")
@@ code_kwarg
const token = jwt.sign(payload, getSigningKey(), { expiresIn: "⟪n:5-60⟫m" });
@@ code_kwarg
token = request.cookies.get("⟪word⟫_session")
@@ code_kwarg
user.password = hashPassword(newPassword, { rounds: ⟪n:8-14⟫ });
@@ code_kwarg
this.apiKey = options.apiKey || this.settings.⟪word⟫ApiKey;
@@ code_kwarg
secret_key=settings.SECRET_KEY, algorithm="HS256", leeway=⟪n:5-90⟫
@@ code_kwarg
password: passwordController.text, token: widget.⟪word⟫Token,
@@ code_kwarg
"Authorization": "Bearer " + session.accessToken, // ⟪word⟫
@@ code_kwarg
connect("dbname=⟪word⟫ user=⟪user⟫ password=%s" % password)
@@ code_kwarg
if (password !== confirmPassword) setError("⟪word⟫.passwordsDoNotMatch");
@@ code_kwarg
expect(screen.getByLabelText("Password")).toHaveAttribute("maxlength", "⟪n:20-90⟫");
@@ code_kwarg
secret: true
required: false
title: ⟪Word⟫
@@ code_kwarg
mapping.put("password", Type.KEYWORD); mapping.put("⟪word⟫", Type.LONG);
@@ code_kwarg
enum TokenType { Identifier, Keyword, String, ⟪Word⟫ }
@@ code_kwarg
while ((token = lexer.next()) != Token.EOF) { count_⟪word⟫++; }
@@ code_kwarg
let key = format!("user:{}:⟪word⟫", id);
@@ code_kwarg
redis.set(`session:${userId}:⟪word⟫`, token, "EX", ⟪n:60-9000⟫)
@@ code_kwarg
<Form.Item name="password" label="Passwort" rules={[{ required: true, min: ⟪n:8-20⟫ }]}>
@@ code_kwarg
const passwordRef = useRef<HTMLInputElement>(null); // ⟪word⟫
@@ code_kwarg
keyFile: /etc/⟪word⟫/tls/server.key
certFile: /etc/⟪word⟫/tls/server.crt
@@ ui_text
Benutzername: [__________]  Passwort: [__________]  (Maske ⟪n:1-90⟫)
@@ ui_text
Login failed. Wrong password? Reset it at https://⟪host⟫/reset
@@ ui_text
⚠ Passwort läuft bald ab – noch ⟪n:2-14⟫ Tage
@@ ui_text
[Show password] [Copy token] [Revoke] — dialog ⟪word⟫
@@ ui_text
请输入新密码，长度⟪n:6-16⟫到32位
@@ ui_text
新しいパスワードを入力してください（⟪n:6-16⟫文字以上）
@@ ui_text
Digite a nova senha (mínimo de ⟪n:6-16⟫ caracteres):
@@ question
How long does a JWT secret have to be for HS⟪pick:256,384,512⟫?
@@ question
Which is safer for ⟪app⟫: an API key in a header or a bearer token?
@@ question
为什么Git推送的时候一直提示输入密码？仓库是⟪app⟫
@@ question
Wie finde ich heraus, welches Kennwort der Dienst ⟪user⟫ benutzt?
@@ question
なぜ⟪app⟫のトークンは毎日失効しますか？
@@ question
What happens when the password column in ⟪word⟫ is NULL?
@@ question
Can you write a password generator in ⟪pick:Rust,Go,Python,Zig⟫ for me?
"""


def positives(seed: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """(class, text, secret strings that must not survive)."""
    out: list[tuple[str, str, tuple[str, ...]]] = []
    seen: set[str] = set()
    for i, (cls, tpl, reps) in enumerate(_blocks(_POSITIVE, 3)):
        r = Random(f"pos-{seed}-{i}")
        for _ in range(reps):
            text, secrets = _render(tpl, r)
            if text not in seen:
                seen.add(text)
                out.append((cls, text, secrets))
    return out


def negatives(seed: int) -> list[tuple[str, str]]:
    """(class, text that must come out unchanged)."""
    out: list[tuple[str, str]] = []
    seen: set[str] = set()
    for i, (cls, tpl, reps) in enumerate(_blocks(_NEGATIVE, 4)):
        r = Random(f"neg-{seed}-{i}")
        for _ in range(reps):
            text, _none = _render(tpl, r)
            if text not in seen:
                seen.add(text)
                out.append((cls, text))
    return out


def check(seed: int) -> None:
    pos, neg = positives(seed), negatives(seed)
    assert pos == positives(seed) and neg == negatives(seed), "not deterministic"
    assert len(_blocks(_POSITIVE, 3)) >= 130 and len(pos) >= 400
    assert len(_blocks(_NEGATIVE, 4)) >= 300 and len(neg) >= 1200
    texts = [t for _, t, _ in pos] + [t for _, t in neg]
    assert len(texts) == len(set(texts)), "duplicate text"
    for src in (_POSITIVE, _NEGATIVE):
        tpls = [b[1] for b in _blocks(src, 1)]
        assert len(tpls) == len(set(tpls)), [k for k, v in Counter(tpls).items() if v > 1]
    assert "⟦" not in _NEGATIVE
    for cls, text, secrets in pos:
        assert secrets, (cls, text)
        for s in secrets:
            assert s in text and len(s) >= 8, (cls, s, text)
        assert "⟦" not in text and "⟪" not in text, text
    for cls, text in neg:
        assert text.strip() and "⟪" not in text, (cls, text)


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for s in (seed, seed + 1, seed + 2):
        check(s)
    pos, neg = positives(seed), negatives(seed)
    for label, items, shapes in (
        ("positives", [p[0] for p in pos], len(_blocks(_POSITIVE, 3))),
        ("negatives", [n[0] for n in neg], len(_blocks(_NEGATIVE, 4))),
    ):
        print(f"{label}: {len(items)} texts, {shapes} shapes, {len(set(items))} classes")
        for cls, n in sorted(Counter(items).items()):
            print(f"  {cls:20} {n}")
    print("secret strings:", sum(len(p[2]) for p in pos))


if __name__ == "__main__":
    main()
