"""What the owner said about names of projects: that two are one, or that they are not."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from agents_memory.domain.tags import normalise_tag

_QUOTES = "\"'`“”„«»‘’"
_NAME = (
    rf"(?:[{_QUOTES}](?P<Xq>[^{_QUOTES}\n]{{1,50}})[{_QUOTES}]"
    r"|(?<![\w.+#&/-])(?P<Xw>[\w.+#&/-]{1,50}))"
)
_A, _B = _NAME.replace("X", "a"), _NAME.replace("X", "b")
_PROJECT = r"(?:(?:the|our|das)\s+)?(?:(?:project|projekt|repo|repository)\s+)?"
_SAME = r"(?:the\s+)?same(?:\s+(?:project|thing|repo|repository))?"

# `a` stands for `b`.
_STATED = [
    rf"\brenam(?:e|ed|ing)\s+{_PROJECT}{_A}\s+(?:to|into|as)\s+{_PROJECT}{_B}",
    rf"{_A}\s+(?:is|was|has\s+been|got)\s+(?:now\s+)?(?:called|renamed(?:\s+(?:to|into))?)\s+{_PROJECT}{_B}",
    rf"{_A}\s+is\s+(?:now\s+)?(?:{_SAME}\s+as|an\s+alias\s+(?:of|for)|another\s+name\s+for)\s+{_PROJECT}{_B}",
    rf"{_B},?\s*\(?(?:formerly|früher)\s+{_PROJECT}{_A}",
    rf"{_A}\s+heißt\s+(?:jetzt|nun|ab\s+jetzt)\s+{_PROJECT}{_B}",
    rf"{_A}\s+(?:wurde|ist|haben\s+wir)\s+in\s+{_PROJECT}{_B}\s+umbenannt",
    rf"{_A}\s+ist\s+dasselbe(?:\s+projekt)?\s+wie\s+{_PROJECT}{_B}",
    rf"{_A}\s+(?:and|und)\s+{_B}\s+(?:are\s+{_SAME}|sind\s+dasselbe)",
]
_DENIED = [
    rf"{_A}\s+(?:is\s+not|isn['’]t)\s+(?:{_SAME}\s+as|an\s+alias\s+(?:of|for)|another\s+name\s+for)\s+{_PROJECT}{_B}",
    rf"{_A}\s+(?:and|und)\s+{_B}\s+(?:are\s+not|aren['’]t|sind\s+nicht)\s+(?:{_SAME}|dasselbe)",
    rf"{_A}\s+ist\s+nicht\s+dasselbe(?:\s+projekt)?\s+wie\s+{_PROJECT}{_B}",
    rf"\b(?:don['’]t|do\s+not|never)\s+rename\s+{_PROJECT}{_A}\s+(?:to|into|as)\s+{_PROJECT}{_B}",
]
STATED = [re.compile(pattern, re.IGNORECASE) for pattern in _STATED]
DENIED = [re.compile(pattern, re.IGNORECASE) for pattern in _DENIED]
_SENTENCE = re.compile(r"[^\n!?]*?(?:[!?\n]+|[.;](?=\s|$)|$)")


@dataclass(frozen=True, slots=True)
class Statement:
    """`tag` is said to be another name of `target`, or `denied` to be."""

    tag: str
    target: str
    denied: bool


def statements_about(text: str, names: Collection[str]) -> frozenset[Statement]:
    """What a text says about names of the registry; questions and other names say nothing."""
    found: dict[frozenset[str], Statement] = {}
    for sentence in _sentences(text):
        for patterns, denied in ((STATED, False), (DENIED, True)):
            for tag, target in _pairs(sentence, patterns):
                if tag in names and target in names and tag != target:
                    # In one sentence what is denied is what is meant.
                    found[frozenset((tag, target))] = Statement(tag, target, denied)
    return frozenset(found.values())


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = found.group().strip()
        if sentence and not sentence.endswith("?"):
            yield sentence


def _pairs(sentence: str, patterns: list[re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        for found in pattern.finditer(sentence):
            tag = normalise_tag(found["aq"] or found["aw"])
            target = normalise_tag(found["bq"] or found["bw"])
            if tag is not None and target is not None:
                yield tag, target
