"""Secrets are replaced by rules before anything is written: database, spool, embedder.

What is replaced, each by `[redacted:<kind>]`:

* `<private>…</private>`, whatever stands in it; without an end tag, everything to the end
* private key blocks, also cut off ones
* tokens that can be told by their form (AWS, GitHub, OpenAI, JWT, nostr…)
* passwords inside URLs and connection strings; the user and the host stay
* credentials in `Authorization` headers and after `Bearer`
* values given to a name that means a secret (`password=…`, `"api_key": "…"`, `密码：…`), if the
  value looks like one

What stays: the words themselves, references to where a secret is kept (`$PASSWORD`,
`os.environ["X"]`, `process.env.X`), code, type names, placeholders and documentation keys.

Boundaries are ASCII on purpose: `\\b` sees none between a token and a Chinese character. Every
pattern either succeeds or gives up after a bounded number of characters, so time is linear.
Most texts hold nothing like a secret, so each rule has a cheap condition that its finds all meet,
and is left out where that does not hold.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agents_memory.domain.redaction import (
    assignments,
    blocks,
    commands,
    labelled,
    places,
    spoken,
    tokens,
)
from agents_memory.domain.redaction.marks import lower

_ROUNDS = 8
"""Replacing one secret may lay bare another; more rounds than two are never seen in practice."""

_Rule = tuple[Callable[[str, str], bool], Callable[[str, dict[str, int]], str]]
_RULES: tuple[_Rule, ...] = (
    (blocks.may_hold_private, blocks.replace_private),
    (blocks.may_hold_keys, blocks.replace_keys),
    (tokens.may_hold_tokens, tokens.replace_tokens),
    (places.may_hold_url_passwords, places.replace_url_passwords),
    (places.may_hold_credentials, places.replace_credentials),
    (assignments.may_hold_assignments, assignments.replace_assigned),
    (commands.may_hold_commands, commands.replace_commands),
    (spoken.may_hold_spoken, spoken.replace_spoken),
    (labelled.may_hold_labelled, labelled.replace_labelled),
)
"""Condition (of the text, and of it in lower case) and rule, in the order they are applied."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """Text without the secrets that were found, and how many of each kind there were."""

    text: str
    counts: dict[str, int]


def redact(text: str) -> Redacted:
    """Replace every secret the rules know. Any string is legal; doing it twice changes nothing."""
    counts: dict[str, int] = {}
    for _ in range(_ROUNDS):
        found: dict[str, int] = {}
        lowered = lower(text)
        for may_hold, replace in _RULES:
            if may_hold(text, lowered):
                before, text = text, replace(text, found)
                if text is not before:
                    lowered = lower(text)
        if not found:
            break
        for kind, count in found.items():
            counts[kind] = counts.get(kind, 0) + count
    return Redacted(text, counts)
