"""The random parts of the texts of the set: what is given to a name, and what only looks so."""

import base64
import string
from random import Random

from bench.redaction_formats import ALNUM, BASE64, HEX, LOWER, URL64, Maker, body, password

VALUES: dict[str, Maker] = {
    "password": password,
    "random": lambda rng: body(rng, ALNUM, rng.choice((24, 32, 40))),
    "hex": lambda rng: body(rng, HEX, rng.choice((32, 64))),
    "aws": lambda rng: body(rng, BASE64, 40),
    "azure": lambda rng: body(rng, BASE64, 86) + "==",
    "sas": lambda rng: body(rng, ALNUM, 20) + "%2B" + body(rng, ALNUM, 22) + "%3D",
    "base64": lambda rng: base64.b64encode(rng.randbytes(32)).decode(),
    "basic": lambda rng: base64.b64encode(f"deploy:{body(rng, ALNUM, 14)}".encode()).decode(),
    "opaque": lambda rng: body(rng, URL64, 43),
    "lower": lambda rng: body(rng, LOWER, 30),
    "word": lambda rng: body(rng, ALNUM, 9) + "!7a",
}

_WORDS = [
    "order",
    "cart",
    "user",
    "session",
    "token",
    "index",
    "batch",
    "cache",
    "worker",
    "queue",
    "report",
    "layout",
    "theme",
    "invoice",
]
_ACTS = [
    "load",
    "save",
    "parse",
    "build",
    "fetch",
    "render",
    "merge",
    "check",
    "resolve",
    "update",
    "handle",
    "create",
]


def _camel(rng: Random) -> str:
    return rng.choice(_ACTS) + "".join(rng.choice(_WORDS).title() for _ in range(4))


def _snake(rng: Random) -> str:
    return "_".join([rng.choice(_ACTS), *(rng.choice(_WORDS) for _ in range(3))])


def _path(rng: Random) -> str:
    folders = "/".join(rng.choice(_WORDS) + str(rng.randrange(9)) for _ in range(4))
    return f"/home/mara/work/{folders}/{_snake(rng)}.py"


def _uuid(rng: Random) -> str:
    return "-".join(body(rng, HEX, length) for length in (8, 4, 4, 4, 12))


PARTS: dict[str, Maker] = {
    "hex7": lambda rng: body(rng, HEX, 7),
    "hex12": lambda rng: body(rng, HEX, 12),
    "hex32": lambda rng: body(rng, HEX, 32),
    "hex40": lambda rng: body(rng, HEX, 40),
    "hex64": lambda rng: body(rng, HEX, 64),
    "uuid": _uuid,
    "sha512": lambda rng: body(rng, BASE64, 86) + "==",
    "sha256": lambda rng: body(rng, BASE64, 43) + "=",
    "b64": lambda rng: base64.b64encode(rng.randbytes(240)).decode(),
    "number": lambda rng: str(rng.randrange(100, 10**6)),
    "big": lambda rng: str(rng.randrange(10**11, 10**13)),
    "digit": lambda rng: str(rng.randrange(1, 10)),
    "word": lambda rng: rng.choice(_WORDS),
    "camel": _camel,
    "snake": _snake,
    "constant": lambda rng: _snake(rng).upper(),
    "path": _path,
    "dna": lambda rng: body(rng, "ACGT", 120),
    "colour": lambda rng: body(rng, HEX, 6),
    "phone": lambda rng: f"+49 30 {rng.randrange(10**6, 10**7)}",
    "ulid": lambda rng: "01J" + body(rng, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23),
    "nano": lambda rng: body(rng, ALNUM, 10),
    "rsakey": lambda rng: "AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + body(rng, BASE64, 340),
    "edkey": lambda rng: "AAAAC3NzaC1lZDI1NTE5AAAAI" + body(rng, BASE64, 43),
    "npub": lambda rng: "npub1" + body(rng, string.ascii_lowercase + "023456789", 58),
    "base58": lambda rng: "1" + body(rng, ALNUM.replace("0", ""), 33),
}
