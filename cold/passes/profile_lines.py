"""What may become of a profile: which lines are accepted, and which are never touched.

A line is ours when the daemon wrote it and nobody else has since. Only ours are ever taken away,
and what somebody else took away is not written again.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agents_memory.domain.grounding import Unfounded, unfounded
from agents_memory.domain.messages import Screening, Trust
from agents_memory.domain.screening import screen
from agents_memory.storage.librarian import Draft, Said
from cold.llm.guard import comparable
from cold.llm.language import keeps_language, languages
from cold.llm.profiling import Line

# Of the daemon's own lines in one profile; a brief has no room for more.
MAX_OURS = 20
CORE_DAYS = 2

_BULLET = re.compile(r"^(?:[-*•–]|\d{1,2}[.)])\s+")
# Whoever says so of himself need not say it on two days. Not what one is just doing.
_STATED = re.compile(
    r"\b(?:i['’]?m|i am)\s+(?!\w+ing\b|just\b|still\b|now\b|not sure\b|done\b)\w|\bmy name is\b|"
    r"\bcall me\b|\bi (?:live|work as|was born|speak|always|never)\b|"
    r"\bich bin\s+(?!gerade\b|dabei\b|noch\b|jetzt\b|fertig\b|am\b)\w|\bich hei(?:ß|ss)e\b|"
    r"\bmein name ist\b|\bnenn mich\b|\bich (?:wohne|arbeite als|spreche)\b|"
    r"\bje suis\b|\bje m['’]appelle\b|\bj['’]habite\b|\bsoy\b|\bme llamo\b|\bvivo en\b|"
    r"\bsono\b|\bmi chiamo\b|\beu sou\b|\bmeu nome é\b|\bменя зовут\b|\bя живу\b|"
    r"제 이름은|저는 .{1,20}(?:입니다|이에요|예요)|我是|我叫|私は.{1,20}です",
    re.IGNORECASE,
)


class Why(StrEnum):
    """Why a line of a model is not taken over."""

    JSON = "json"
    STRUCK = "struck"
    UNGROUNDED = "ungrounded"
    REVERSED = "reversed"
    REFUTED = "refuted"
    PLANTED = "planted"
    FOREIGN = "foreign"
    TODAYS_TOPIC = "todays_topic"


@dataclass(frozen=True, slots=True)
class Document:
    """A profile as it stands; `ours` and `struck` hold lines as they are compared."""

    version: int = 0
    lines: tuple[str, ...] = ()
    ours: frozenset[str] = frozenset()
    struck: frozenset[str] = frozenset()

    @property
    def own_lines(self) -> list[str]:
        return [line for line in self.lines if comparable(line) in self.ours]

    @property
    def others_lines(self) -> list[str]:
        return [line for line in self.lines if comparable(line) not in self.ours]


@dataclass(frozen=True, slots=True)
class Revision:
    """The next version's lines, the messages its new lines rest on, and what was refused."""

    lines: tuple[str, ...]
    cited: tuple[int, ...]
    refused: tuple[Why, ...]
    added: int = 0
    dropped: int = 0


def document(drafts: Sequence[Draft], actor: str) -> Document:
    """A profile from its versions, oldest first; `actor` is the daemon's name in the history."""
    ours: set[str] = set()
    struck: set[str] = set()
    before: set[str] = set()
    lines: tuple[str, ...] = ()
    for draft in drafts:
        lines = tuple(line for raw in draft.content.splitlines() if (line := raw.strip()))
        now = {comparable(line) for line in lines}
        if draft.actor == actor:
            ours |= now - before
        else:
            struck |= before - now
        ours &= now
        struck -= now
        before = now
    version = drafts[-1].version if drafts else 0
    return Document(version, lines, frozenset(ours), frozenset(struck))


def revise(
    current: Document,
    offered: Sequence[Line] | None,
    outdated: Collection[str],
    shown: Mapping[int, Said],
    refuted: Collection[str] = (),
    *,
    core: bool,
) -> Revision:
    """What an answer makes of a profile; `shown` by the numbers that the model saw.

    `outdated` are lines as they were shown, `refuted` those that the verifier did not confirm. With
    one line refused none is taken away, since it may have been meant to take the other's place.
    """
    new: list[str] = []
    cited: list[int] = []
    refused: list[Why] = []
    for line, evidence in _news(current, offered):
        if comparable(line) in map(comparable, new):
            continue
        why = Why.REFUTED if line in refuted else _refused(current, line, evidence, shown, core)
        if why is not None:
            refused.append(why)
            continue
        new.append(line)
        cited += [shown[number].id for number in evidence]
    gone = set() if refused else {comparable(line) for line in outdated} & current.ours
    kept = [line for line in current.lines if comparable(line) not in gone]
    room = MAX_OURS - sum(comparable(line) in current.ours for line in kept)
    new = new[: max(room, 0)]
    dropped = len(current.lines) - len(kept)
    lines = (*kept, *new)
    return Revision(lines, tuple(dict.fromkeys(cited)), tuple(refused), len(new), dropped)


def acceptable(
    current: Document, offered: Sequence[Line] | None, shown: Mapping[int, Said], *, core: bool
) -> list[tuple[str, Sequence[int]]]:
    """The lines of an answer that `revise` takes, with the numbers of the messages they cite."""
    return [
        (line, evidence)
        for line, evidence in _news(current, offered)
        if _refused(current, line, evidence, shown, core) is None
    ]


def _news(current: Document, offered: Sequence[Line] | None) -> Iterator[tuple[str, Sequence[int]]]:
    """The lines that the profile does not hold yet."""
    known = {"", *map(comparable, current.lines)}
    for each in offered or ():
        line = _BULLET.sub("", " ".join(each.line.split()))
        if comparable(line) not in known:
            yield line, each.evidence


def _refused(
    current: Document, line: str, evidence: Sequence[int], shown: Mapping[int, Said], core: bool
) -> Why | None:
    why = refusal(line, evidence, shown, core=core)
    return Why.STRUCK if why is None and comparable(line) in current.struck else why


def refusal(
    line: str, evidence: Sequence[int], shown: Mapping[int, Said], *, core: bool
) -> Why | None:
    """Why a line must not be written; None when it may be."""
    if _is_json(line):
        return Why.JSON
    if not evidence or any(number not in shown for number in evidence):
        return Why.UNGROUNDED
    said = [shown[number] for number in evidence]
    text = "\n".join(one.text for one in said)
    # The words of a model, whoever's they were before.
    if screen(line, Trust.OTHER).screening is not Screening.CLEAR:
        return Why.PLANTED
    if not _in_language_of(line, text):
        return Why.FOREIGN
    match unfounded(line, [one.text for one in said]):
        case Unfounded.OPPOSITE:
            return Why.REVERSED
        case Unfounded():
            return Why.UNGROUNDED
    days = {one.said_at.date() for one in said}
    if core and len(days) < CORE_DAYS and not _STATED.search(text):
        return Why.TODAYS_TOPIC
    return None


def _is_json(line: str) -> bool:
    if line.startswith(("{", "[")):
        return True
    try:
        # A string in quotes is a line that was encoded twice.
        return isinstance(json.loads(line), str)
    except ValueError:
        return '":' in line


def _in_language_of(line: str, text: str) -> bool:
    if not keeps_language(line, text):
        return False
    spoken, heard = languages(line), languages(text)
    if not spoken or not heard:
        return True
    # A line is short: two little words of another language and none of its own tell enough.
    [(own, _)] = heard.most_common(1)
    return spoken[own] > 0 or spoken.most_common(1)[0][1] < 2
