"""Secrets are replaced by rules before anything is written: database, spool, embedder.

What is replaced, each by `[redacted:<kind>]`, and by which module:

* `<private>…</private>`, whatever stands in it; without an end tag, everything to the end (blocks)
* private key blocks, also cut off ones (blocks)
* tokens that can be told by their form: AWS, GitHub, OpenAI, JWT, nostr… (tokens)
* passwords inside URLs and connection strings, credentials in headers and after `-u` (places)
* values given to a name that means a secret, if they look like one: `password=…`, `密码：…`
  (assignments, which asks `given`)
* what commands take as a password or a key, or read from their input (commands)
* lines and settings of ~/.netrc, ~/.pgpass, Redis, wireless networks, routers… (files)
* arguments of calls that sign in, sign or encipher, rows of SQL, fields filled in (calls)
* parameters of URLs, webhooks, cookies, fields of key files, seeds of one-time passwords (queries)
* what a sentence says to be a password, an old and a new one too, in 30 languages (spoken)
* secrets apart from their name: in a field, on the next line, in an answer (apart), below the
  title of a column (tables)
* cards, pins, recovery codes, application passwords, the phrases of wallets (labelled)

What stays: the words themselves; references to where a secret is kept (`$PASSWORD`,
`os.environ["X"]`, `process.env.X`); code, type names, placeholders; hashes, ids, paths; the keys
that manuals and standards publish (published).

Boundaries are ASCII on purpose: `\\b` sees none between a token and a Chinese character. Every
pattern either succeeds or gives up after a bounded number of characters, so time is linear.
Most texts hold nothing like a secret, and rules that can find nothing are not asked (suspicion);
patterns begin with a letter or a class, which a search skips to (sought).
"""

from typing import NamedTuple

from agents_memory.domain.redaction import veiled
from agents_memory.domain.redaction.suspicion import MERGED, RULES, asked, suspicions_of

_ROUNDS = 8
"""Replacing one secret may lay bare another; a mark never does, so the rounds stay few."""


class Redacted(NamedTuple):
    """Text without the secrets that were found, and how many of each kind there were."""

    text: str
    counts: dict[str, int]


def redact(text: str, suspicions: int | None = None) -> Redacted:
    """Replace every secret the rules know. Any string is legal; doing it twice changes nothing.

    `suspicions`: those of the words of a plain text together, where they are known.
    """
    counts: dict[str, int] = {}
    for _ in range(_ROUNDS):
        found: dict[str, int] = {}
        if suspicions is None:
            plain = text if text.isascii() else veiled.unveil(text, _secrets_in)
            replaced = _replaced(plain, suspicions_of(plain), found)
        else:
            replaced, suspicions = _replaced(text, suspicions, found), None
        if not found:
            break
        text = replaced
        for kind, count in found.items():
            counts[kind] = counts.get(kind, 0) + count
    return Redacted(text, counts)


def _secrets_in(text: str) -> int:
    found: dict[str, int] = {}
    _replaced(text, suspicions_of(text), found)
    return sum(found.values())


def _replaced(text: str, suspicions: int, found: dict[str, int]) -> str:
    """One round: each rule that may find something, in their order."""
    # Marks have no words and no word grows, so no other rule comes to be suspected midway.
    if suspicions := asked(suspicions):
        for at, rule in enumerate(RULES):
            if suspicions >> at & 1:
                before, text = text, rule.replace(text, found)
                if text is not before:
                    suspicions |= MERGED
    return text
