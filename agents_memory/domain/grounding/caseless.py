"""Names in scripts without capitals: there every word counts that is not among the common ones."""

import re
import unicodedata

from agents_memory.domain.grounding.common import COMMON, COMMON_RUNS
from agents_memory.domain.grounding.figures import han_number
from agents_memory.domain.grounding.keys import alike, hangul_stem, key
from agents_memory.domain.lexical.stopwords import stop_lexemes

_HAN_RUN = re.compile(
    "[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]+"
)
_KATAKANA_RUN = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_HANGUL_WORD = re.compile("[\uac00-\ud7a3]+")
# Thai, Lao, Burmese, Khmer.
_UNSPACED_RUN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
# Hebrew, Arabic, the scripts of India, Georgian; without the full stop of India.
_WORD = re.compile("[\u0590-\u07ff\u0900-\u0963\u0966-\u0dff\u10a0-\u10ff]+")
# The verbs that end a Korean sentence without saying anything by themselves.
_HANGUL_VERBS = ("있", "없", "않", "아니")
_FINAL_CONSONANTS = "".join(map(chr, range(0x11A8, 0x1200)))
# So many pairs of characters in a row that nobody said are a word that nobody said.
_UNSAID_PAIRS = 3


def caseless_missing(statement: str, text: str) -> bool:
    """Whether a word of `statement`, both in NFKC, does not occur in `text`."""
    return (
        any(_han_missing(run, text) for run in _HAN_RUN.findall(COMMON_RUNS.sub(" ", statement)))
        or any(run not in text for run in _KATAKANA_RUN.findall(statement))
        or any(_unspaced_missing(run, text) for run in _UNSPACED_RUN.findall(statement))
        or _hangul_missing(statement, text)
        or _words_missing(statement, text)
    )


def _han_missing(run: str, text: str) -> bool:
    """A character that nobody wrote; or two that nobody wrote one after the other."""
    if any(one not in text and not han_number(one, text) for one in run):
        return True
    return len(run) == 2 and run not in text and not any(han_number(one, text) for one in run)


def _hangul_missing(statement: str, text: str) -> bool:
    words = _HANGUL_WORD.findall(statement)
    there = unicodedata.normalize("NFD", text) if words else ""
    for word in words:
        stem = hangul_stem(word)
        if len(stem) < 2 or stem.startswith(_HANGUL_VERBS) or {word, stem} & COMMON:
            continue
        # The consonant at its end may belong to the ending of a verb.
        if unicodedata.normalize("NFD", stem).rstrip(_FINAL_CONSONANTS) not in there:
            return True
    return False


def _words_missing(statement: str, text: str) -> bool:
    there = {key(word) for word in _WORD.findall(text)}
    passed = COMMON | stop_lexemes()
    for word in _WORD.findall(statement):
        found = key(word)
        if len(found) < 2 or found in there or {word, found} & passed:
            continue
        if not any(alike(found, one) for one in there):
            return True
    return False


def _unspaced_missing(run: str, text: str) -> bool:
    unsaid = 0
    for at in range(len(run) - 1):
        unsaid = 0 if run[at : at + 2] in text else unsaid + 1
        if unsaid == _UNSAID_PAIRS:
            return True
    return False
