"""Whether somebody said that a line about him holds no more, by rules.

A line goes only for a sentence about its own subject that gives its attribute another value,
denies it, or ends it; or for another line that stands in its place. In doubt it stays: what is kept
wrongly is seen and mended, what is dropped wrongly is missed by nobody.
"""

import re
from collections.abc import Iterator, Sequence, Set

from agents_memory.domain.grounding import other_value, unfounded
from agents_memory.domain.grounding.common import COMMON
from agents_memory.domain.grounding.keys import key
from agents_memory.domain.grounding.negation import denials, supposes
from agents_memory.domain.grounding.opposites import sides
from agents_memory.domain.grounding.polarity import reverses
from agents_memory.domain.grounding.units import clauses, sentences
from agents_memory.domain.lexical import analyse
from agents_memory.domain.lexical.stopwords import stop_lexemes
from agents_memory.domain.values import words

# Of a message so much is looked at.
READ_CHARS = 20_000

_WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
_ARTICLES = words("a an the der die das ein eine einen einem einer le la les un une el los il lo")
_NOW = words("now currently again jetzt nun inzwischen mittlerweile maintenant ahora ora agora")
# Of these one has one at a time; the word behind says of what: works as, works at.
_ONE_VALUE = {
    form: forms
    for forms in map(
        words,
        (
            """live lives reside resides wohne wohnt lebe lebt habite vivo vive moro mora живу
            живёт""",
            """work works arbeite arbeitet travaille trabajo trabaja lavoro lavora trabalho
            trabalha работаю работает""",
            "name",
        ),
    )
    for form in forms
}
# Behind these a value is any noun, behind the others a name.
_BEFORE_NOUNS = words("as als comme como come is ist est es é")
_BEFORE_NAMES = words("in at near for bei für à chez en em в")
_SELF = re.compile(
    r"\b(?:i|i['’](?:m|ve|ll|d)|me|we|we['’](?:re|ve|ll)|ich|mich|mir|wir|uns|je|nous|yo|nosotros"
    r"|io|noi|eu|nós|ik|wij|я|мы|меня|vivo|soy|trabajo|lavoro|moro|trabalho|живу|работаю)\b"
    r"|\bj['’]|我|私|僕|俺|저는|저희|제가|나는|내가|우리",
    re.IGNORECASE,
)
# The word behind says whose.
_POSSESSIVE = re.compile(
    r"\A\W*(?:(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|и|но)\s+)?(?:my|our|your|his|her|their"
    r"|(?:mein|dein|unser|sein|ihr)(?:e|en|er|em|es)?|mon|ma|mes|notre|nos|son|sa|ses|mi|mis|tu"
    r"|su|sus|(?:la|il)\s+(?:mia|mio|sua|suo)|(?:o\s+|a\s+)?(?:meu|minha|seu|sua)|мой|моя|мои|его"
    r"|её|ее|их)\s+(?P<whose>\w+)",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\A\W*(?:he|she|they|er|il|elle|ils|elles|él|ella|ellos|lui|lei|ele|ela|он|она|они)\b"
    r"|他|她|彼|그는|그녀|我(?:的|妹|姐|哥|弟|妈|爸|爷|奶|爱人|朋友|同事|老)",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:said|says|told|tells|heard|thinks?|believes?|wish|sagt\w*|hörte|gehört|glaub\w*|denkt"
    r"|dit|dice|dijo|disse|сказал\w*|говорит)\b|听说|说|聞い|라고",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"[?？]\s*\Z|\b(?:if|unless|would|could|wenn|falls|würde\w*|könnte\w*|quand|lorsque|quando"
    r"|cuando|se|si|если|бы)\b|如果|要是|もし|たら|만약",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"\b(?:finish(?:ed)?|complete[d]?|done|cancel(?:l?ed)?|abandoned|dropped|quit|given? up|gave up"
    r"|shipped|fertig\w*|abgeschlossen|beendet|aufgegeben|abgebrochen|eingestellt|terminée?|fini\w*"
    r"|abandonnée?|terminad[oa]|acabad[oa]|finit[oa]|finalizad[oa]|cancelad[oa]|закончил\w*"
    r"|завершил\w*|готов\w*)\b|完成|结束|取消|終わ|完了|끝났|완료",
    re.IGNORECASE,
)


def contradicted(line: str, messages: Sequence[str], *, lasting: bool) -> bool:
    """Whether a sentence of the messages says of what `line` is about that it is not so.

    `lasting`: the line holds for months, and is not ended by work that was finished.
    """
    return any(
        _ends(line, clause, lasting=lasting)
        for clause in _about(line, messages)
        if not supposes(clause)
    )


def replaced(line: str, by: str, messages: Sequence[str], *, lasting: bool) -> bool:
    """Whether `by`, which rests on the messages, gives what `line` is about another value.

    Both say it in the same words up to the value; of a lasting line only what there is one of.
    """
    if not any(_about(line, messages)):
        return False
    return other_value(line, by) or _same_frame(line, by, lasting=lasting)


def repeated(line: str, by: str) -> bool:
    """Whether `by` says all that `line` does, so that nothing is lost without it."""
    there = _terms(by)
    return bool(there) and _terms(line) <= there and unfounded(line, [by]) is None


def _about(line: str, messages: Sequence[str]) -> Iterator[str]:
    """The clauses that tell of the subject of a line, not of somebody else or by condition."""
    named = _terms(line)
    for message in messages:
        for sentence in sentences(message[:READ_CHARS]):
            if _CONDITION.search(sentence) or _REPORTED.search(sentence):
                continue
            yield from (clause for clause in clauses(sentence) if _same_subject(clause, named))


def _same_subject(clause: str, named: Set[str]) -> bool:
    if _OTHERS.search(clause):
        return False
    whose = _POSSESSIVE.match(clause)
    if whose is not None:
        return bool(_terms(whose["whose"]) & named)
    return _SELF.search(clause) is not None or bool(next(_telling(clause), frozenset()) & named)


def _ends(line: str, clause: str, *, lasting: bool) -> bool:
    if other_value(line, clause) or _other_in_frame(line, clause):
        return True
    there = _terms(clause)
    needed = frozenset[str]().union(*(w for w in _telling(line) if not any(map(sides, w))))
    if needed and needed <= there and reverses(line, clause):
        return True
    objects = frozenset[str]().union(*list(_telling(line))[1:])
    return (
        not lasting
        and bool(objects)
        and objects <= there
        and _ENDED.search(clause) is not None
        and not _denies(clause)
    )


def _denies(clause: str) -> bool:
    found = denials(clause.lower())
    return bool(found.forward or found.lacking or found.whole)


def _other_in_frame(line: str, clause: str) -> bool:
    """Whether both have a verb of one value, the same word behind it, and then another one."""
    ours = _frames(line)
    return not _denies(clause) and any(
        frame in ours and value not in _tokens(line) and ours[frame] not in _tokens(clause)
        for frame, value in _frames(clause).items()
    )


def _frames(text: str) -> dict[tuple[frozenset[str], str], str]:
    """The values of verbs of one value, by the forms of the verb and the word behind it."""
    found = [word for word in _WORD.findall(text) if word.casefold() not in _NOW]
    frames = dict[tuple[frozenset[str], str], str]()
    for word, next_, *rest in zip(found, found[1:], found[2:], [*found[3:], ""], strict=False):
        verb, joint = _ONE_VALUE.get(word.casefold()), next_.casefold()
        if verb is None:
            continue
        if joint in _BEFORE_NOUNS:
            frames[verb, joint] = key(rest[rest[0].casefold() in _ARTICLES].casefold())
        elif joint in _BEFORE_NAMES and rest[0][0].isupper():
            frames[verb, joint] = key(rest[0].casefold())
    return frames


def _same_frame(line: str, by: str, *, lasting: bool) -> bool:
    ours, others = _tokens(line), _tokens(by)
    shared = next(
        (at for at, (a, b) in enumerate(zip(ours, others, strict=False)) if a != b),
        min(len(ours), len(others)),
    )
    if shared == min(len(ours), len(others)) or {ours[shared], others[shared]} & stop_lexemes():
        return False
    telling = [token for token in ours[:shared] if token not in stop_lexemes()]
    one_value = any(word.casefold() in _ONE_VALUE for word in _WORD.findall(line))
    return bool(telling) and (one_value or not lasting)


def _tokens(text: str) -> list[str]:
    """The keys of its words in order, without articles."""
    found = (word.casefold() for word in _WORD.findall(text))
    return [key(word) for word in found if word not in _ARTICLES]


def _telling(text: str) -> Iterator[frozenset[str]]:
    """The lexemes of its words that tell what it is about, word by word."""
    for word in _WORD.findall(text):
        if word.casefold() not in COMMON and (found := analyse(word).terms.keys() - stop_lexemes()):
            yield frozenset(found)


def _terms(text: str) -> frozenset[str]:
    return frozenset[str]().union(*_telling(text))
