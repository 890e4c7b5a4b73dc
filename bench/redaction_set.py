"""A labelled set of texts with secrets, and of texts that only look so; nothing in it is real.

    python -m bench.redaction_set > set.jsonl

The set is the same for the same seed. Texts of one `shape` are in one half, so what is learnt from
`tune` has not seen the shapes of `held`. The part `new` was written when the rules had been mended
by both.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from random import Random

from bench.redaction_formats import BLOCKS, TOKENS, Maker, card
from bench.redaction_parts import PARTS, VALUES

SEED = 20261130
HALVES = ("tune", "held")
NEW = "new"
TURN_BYTES = 2048
TEXTS = tomllib.loads(Path(__file__).with_name("redaction_texts.toml").read_text("utf-8"))
NEW_TEXTS = tomllib.loads(Path(__file__).with_name("redaction_new.toml").read_text("utf-8"))
WINDOW = 12  # so many characters of a secret in a row are a leak


@dataclass(frozen=True, slots=True)
class Case:
    """One text; `secrets` are what must not survive in it, none for a look-alike."""

    name: str
    shape: str
    half: str
    text: str
    secrets: tuple[str, ...] = ()

    def leaks(self, redacted: str) -> bool:
        """Whether a secret, or any stretch of WINDOW characters of one, is in `redacted`.

        A stretch that the text has outside of its secrets, too, is no secret.
        """
        around = self.text
        for secret in sorted(self.secrets, key=len, reverse=True):
            around = around.replace(secret, "\0")
        return any(
            stretch in redacted and stretch not in around
            for secret in self.secrets
            for start in range(max(1, len(secret) - WINDOW + 1))
            for stretch in (secret[start : start + WINDOW],)
        )


def cases(number: int = SEED) -> list[Case]:
    """All of them, secrets first."""
    rng = Random(number)
    return [*_tokens(rng), *_blocks(rng), *_wrapped(rng), *_shapes(rng), *_lookalikes(rng)]


def new_cases(number: int = SEED) -> list[Case]:
    """Those of the part `new`, each shape once and by itself, secrets first."""
    rng = Random(number)
    secrets, lookalikes = NEW_TEXTS["secrets"].items(), NEW_TEXTS["lookalikes"].items()
    return [
        *(_new_secret(rng, name, shape) for name, shapes in secrets for shape in shapes),
        *(
            Case(name, text, NEW, _filled(rng, text))
            for name, texts in lookalikes
            for text in texts
        ),
    ]


def _new_secret(rng: Random, name: str, shape: str) -> Case:
    kind, text = shape.split("|", 1)
    secret = VALUES[kind](rng)
    return Case(name, text, NEW, text.format(secret), (secret,))


def _tokens(rng: Random) -> Iterator[Case]:
    """Every format four times: alone or in short carriers, the last in a long turn."""
    carriers, said = count(), TEXTS["carriers"]
    for name, formats in TOKENS.items():
        for place, (shape, make) in enumerate(formats.items()):
            for copy in range(4):
                secret = make(rng)
                text = said[next(carriers) % len(said)].format(secret)
                text = turn(rng, text) if copy == 3 else text
                yield Case(name, shape, HALVES[place % 2], text, (_hidden(secret),))


def _hidden(secret: str) -> str:
    """What of a key is secret: of a webhook's address only its last part."""
    return secret.rsplit("/", 1)[1] if secret.startswith("https://") else secret


def _blocks(rng: Random) -> Iterator[Case]:
    """Armoured keys: as they are, in a fence, indented, escaped in JSON, in a turn, quoted."""
    for place, (shape, make) in enumerate(BLOCKS.items()):
        for copy in range(6):
            block = make(rng)
            lines = tuple(
                line for line in block.split("\n") if len(line) > 20 and "-----" not in line
            )
            text = (
                block,
                f"```\n{block}\n```",
                "key: |\n" + "\n".join("    " + line for line in block.split("\n")),
                json.dumps({"type": "service_account", "private_key": block + "\n"}),
                turn(rng, block),
                "\n".join("> " + line for line in block.split("\n")),
            )[copy]
            yield Case("key block", f"{shape} {copy}", HALVES[(place + copy) % 2], text, lines)


def _wrapped(rng: Random) -> Iterator[Case]:
    """Keys that a terminal, a shell or a mail broke into two lines."""
    makers: tuple[Maker, ...] = (
        TOKENS["ai"]["openai project"], TOKENS["ai"]["anthropic"], TOKENS["forge"]["github fine"],
        TOKENS["registry"]["pypi"], TOKENS["jwt"]["jwt"], TOKENS["services"]["stripe live"],
    )  # fmt: skip
    for place, make in enumerate(makers):
        for join in ("{}\n{}", "export KEY={}\\\n{}", 'key = ("{}"\n       "{}")'):
            secret = make(rng)
            half = len(secret) // 2
            parts = secret[:half], secret[half:]
            yield Case("wrapped", f"{place} {join}", HALVES[place % 2], join.format(*parts), parts)


def _shapes(rng: Random) -> Iterator[Case]:
    """Every shape twice: by itself and in a turn."""
    makers = VALUES | {"card": card, "seed": _seed}
    for name, shapes in TEXTS["secrets"].items():
        for place, shape in enumerate(shapes):
            kind, text = shape.split("|", 1)
            for copy in range(2):
                secret = makers[kind](rng)
                said = text.format(secret)
                said = turn(rng, said) if copy else said
                yield Case(name, text, HALVES[place % 2], said, (secret,))


def _seed(rng: Random) -> str:
    """Twelve words of BIP 39's list; whether their checksum holds is left to chance."""
    words = TEXTS["seed_words"].split()
    return " ".join(rng.choice(words) for _ in range(12))


def _lookalikes(rng: Random) -> Iterator[Case]:
    """Every text four times, each with other random parts: alone, in a list, in JSON, in a turn."""
    for name, texts in TEXTS["lookalikes"].items():
        for place, text in enumerate(texts):
            for copy in range(4):
                said = _filled(rng, text)
                said = (
                    said,
                    "- first\n- " + said.replace("\n", "\n  ") + "\n- last",
                    json.dumps({"role": "assistant", "content": said}, ensure_ascii=False),
                    turn(rng, said),
                )[copy]
                yield Case(name, text, HALVES[place % 2], said)


def _filled(rng: Random, text: str) -> str:
    return re.sub(r"<<(\w+)>>", lambda found: PARTS[found[1]](rng), text)


def turn(rng: Random, passage: str) -> str:
    """A turn of TURN_BYTES or some more that says `passage` among other things."""
    said: list[str] = []
    while sum(len(part.encode()) + 2 for part in said) + len(passage.encode()) < TURN_BYTES:
        said.extend(rng.sample(TEXTS["paragraphs"], 2))
    said.insert(rng.randrange(1, len(said) + 1), passage)
    return "\n\n".join(said)


def main() -> None:
    """Writes the set as JSON lines."""
    for case in (*cases(), *new_cases()):
        sys.stdout.write(json.dumps(asdict(case), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
