"""Whether a text only supposes, wishes or asks of its speaker what a sentence states as so."""

import re

from agents_memory.domain.grounding.units import sentences
from agents_memory.domain.lexical import analyse
from agents_memory.domain.lexical.stopwords import stop_lexemes

# What one is rather than does: who wants to use something may as well use it.
_BE = r"(?:live|work|be|become|move|study|marry|retire|settle)"
_SUPPOSED = re.compile(
    # "I would like" is a wish that holds.
    r"\bi(?:['’]d| would)\s+(?!like\b|love\b|prefer\b|rather\b|appreciate\b|had\b|been\b|never\b)"
    rf"|\bi (?:want|wanted|hope|plan|wish|intend|dream|hoped|planned) (?:to|of) {_BE}\b"
    r"|\bi used to\b|^\W*(?:(?:do|did|am|should|would|could|will) i\b[^?]*\?)"
    r"|\bich würde\b(?!\s+(?:gern|lieber))"
    r"|\bich (?:möchte|will|wollte)\b.*\b(?:wohnen|leben|arbeiten|werden|ziehen|studieren)\W*$"
    r"|\b(?:quiero|quisiera|me gustaría) (?:vivir|trabajar|ser|mudarme)\b"
    r"|\b(?:viviría|trabajaría)\b"
    r"|\bje (?:veux|voudrais|voulais) (?:habiter|vivre|travailler|être|devenir)\b"
    r"|\bj['’](?:aimerais (?:habiter|vivre|travailler)|habiterais)\b"
    r"|\b(?:voglio|vorrei) (?:vivere|abitare|lavorare|diventare)\b"
    r"|\b(?:quero|queria|gostaria de) (?:viver|morar|trabalhar|ser)\b",
    re.IGNORECASE,
)
_SAYS_SO = re.compile(
    r"\b(?:want|wish|would|might|used to|hope|plan|intend|dream|consider|ask|wonder|former|once"
    r"|möcht|will\b|wollt|würd|wünsch|früher|quier|quisier|gustar|veut|voudr|aimer|vuol|vorr|quer"
    r"|gostar)",
    re.IGNORECASE,
)


def only_supposed(statement: str, text: str) -> bool:
    """Whether no sentence of `text` says as much of `statement` as one that supposes it does."""
    if _SAYS_SO.search(statement):
        return False
    words = _words(statement)
    said = supposed = 0
    for sentence in sentences(text):
        shared = len(words & _words(sentence))
        if _SUPPOSED.search(sentence):
            supposed = max(supposed, shared)
        else:
            said = max(said, shared)
    return supposed > said


def _words(text: str) -> frozenset[str]:
    return frozenset(analyse(text).terms.keys() - stop_lexemes())
