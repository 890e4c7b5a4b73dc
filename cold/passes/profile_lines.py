"""What may become of a profile: which lines are accepted, and which are never touched.

A line is ours when the daemon wrote it and nobody else has since. Only ours are ever taken away,
and what somebody else took away is not written again.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from agents_memory.domain.grounding import Unfounded, unfounded
from agents_memory.domain.grounding.outdating import contradicted, repeated, replaced
from agents_memory.domain.messages import Screening, Trust
from agents_memory.domain.orders import gives_order
from agents_memory.domain.screening import screen
from agents_memory.storage.librarian import Draft, Said
from cold.llm.guard import comparable
from cold.llm.language import keeps_language, languages
from cold.llm.profiling import Line
from cold.llm.verifying import Claim

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
    """Why a line of a model is not taken over, or one that it calls outdated not taken away."""

    JSON = "json"
    STRUCK = "struck"
    UNGROUNDED = "ungrounded"
    REVERSED = "reversed"
    REFUTED = "refuted"
    PLANTED = "planted"
    FOREIGN = "foreign"
    TODAYS_TOPIC = "todays_topic"
    HOLDS = "holds"


@dataclass(frozen=True, slots=True)
class Document:
    """A profile as it stands; `ours` and `struck` hold lines as they are compared.

    Of ours it holds the patch that wrote them.
    """

    version: int = 0
    lines: tuple[str, ...] = ()
    ours: Mapping[str, int] = field(default_factory=dict)
    struck: frozenset[str] = frozenset()

    @property
    def own_lines(self) -> list[str]:
        return [line for line in self.lines if comparable(line) in self.ours]

    @property
    def others_lines(self) -> list[str]:
        return [line for line in self.lines if comparable(line) not in self.ours]


@dataclass(frozen=True, slots=True)
class Revision:
    """The next version's lines, the messages the changes rest on, and what was refused."""

    lines: tuple[str, ...]
    cited: tuple[int, ...]
    refused: tuple[Why, ...]
    added: int = 0
    dropped: int = 0


def document(drafts: Sequence[Draft], actor: str) -> Document:
    """A profile from its versions, oldest first; `actor` is the daemon's name in the history."""
    ours: dict[str, int] = {}
    struck: set[str] = set()
    before: set[str] = set()
    lines: tuple[str, ...] = ()
    for draft in drafts:
        lines = tuple(line for raw in draft.content.splitlines() if (line := raw.strip()))
        now = {comparable(line) for line in lines}
        if draft.actor == actor:
            ours |= dict.fromkeys(now - before, draft.patch_id)
        else:
            struck |= before - now
        ours = {line: patch_id for line, patch_id in ours.items() if line in now}
        struck -= now
        before = now
    version = drafts[-1].version if drafts else 0
    return Document(version, lines, ours, frozenset(struck))


def revise(
    current: Document,
    offered: Sequence[Line] | None,
    outdated: Sequence[Claim],
    shown: Mapping[int, Said],
    refuted: Collection[Claim] = (),
    *,
    core: bool,
) -> Revision:
    """What an answer makes of a profile; `shown` by the numbers that the model saw.

    `outdated` are claims against lines of the profile, `refuted` claims that the verifier did not
    confirm. With a line refused none is taken away, since it may have been meant to take the
    other's place.
    """
    new: list[Claim] = []
    refused: list[Why] = []
    doubted = {claim.text for claim in refuted if not claim.against}
    for line, evidence in _news(current, offered):
        if comparable(line) in (comparable(one.text) for one in new):
            continue
        why = Why.REFUTED if line in doubted else _refused(current, line, evidence, shown, core)
        if why is None:
            new.append(Claim(line, evidence))
        else:
            refused.append(why)
    gone, cited, kept = dict[str, Claim](), list[int](), list(current.lines)
    if not refused:
        unsaid = {comparable(claim.text) for claim in refuted if claim.against}
        gone = _gone(current, new, outdated, shown, unsaid, core=core)
        refused += [Why.HOLDS] * (len(_of_ours(current, outdated)) - len(gone))
        kept = [line for line in current.lines if comparable(line) not in gone]
    room = max(MAX_OURS - sum(comparable(line) in current.ours for line in kept), 0)
    if len(new) > room:
        # What has no room takes nobody's place.
        gone = _gone(current, new[:room], list(gone.values()), shown, (), core=core)
        kept = [line for line in current.lines if comparable(line) not in gone]
        new = new[:room]
    for one in (*new, *gone.values()):
        cited += [number for number in one.evidence if number in shown]
    ids = tuple(dict.fromkeys(shown[number].id for number in cited))
    lines = (*kept, *(one.text for one in new))
    return Revision(lines, ids, tuple(refused), len(new), len(gone))


def _gone(
    current: Document,
    new: Sequence[Claim],
    outdated: Sequence[Claim],
    shown: Mapping[int, Said],
    unsaid: Collection[str],
    *,
    core: bool,
) -> dict[str, Claim]:
    """The claims that are followed, by the lines that go; not those that nobody confirmed."""
    found = {comparable(claim.text): claim for claim in _of_ours(current, outdated)}
    return {
        line: claim
        for line, claim in found.items()
        if _merged(claim, new)
        or (line not in unsaid and _outdated(current, claim, new, shown, core))
    }


def removable(
    current: Document,
    offered: Sequence[Line] | None,
    outdated: Sequence[Claim],
    shown: Mapping[int, Said],
    *,
    core: bool,
) -> list[Claim]:
    """The claims against lines of ours that `revise` takes for what the messages say."""
    new = [Claim(*each) for each in acceptable(current, offered, shown, core=core)]
    return [
        claim
        for claim in _of_ours(current, outdated)
        if not _merged(claim, new) and _outdated(current, claim, new, shown, core)
    ]


def acceptable(
    current: Document, offered: Sequence[Line] | None, shown: Mapping[int, Said], *, core: bool
) -> list[tuple[str, Sequence[int]]]:
    """The lines of an answer that `revise` takes, with the numbers of the messages they cite."""
    return [
        (line, evidence)
        for line, evidence in _news(current, offered)
        if _refused(current, line, evidence, shown, core) is None
    ]


def _of_ours(current: Document, outdated: Sequence[Claim]) -> list[Claim]:
    """The claims against lines that the daemon may take away, one a line."""
    found = {comparable(claim.text): claim for claim in reversed(outdated)}
    return [claim for line, claim in found.items() if line in current.ours]


def _merged(claim: Claim, new: Sequence[Claim]) -> bool:
    return any(repeated(claim.text, one.text) for one in new)


def _outdated(
    current: Document,
    claim: Claim,
    new: Sequence[Claim],
    shown: Mapping[int, Said],
    core: bool,
) -> bool:
    """Whether the messages that a claim names contradict its line, or say what replaces it.

    Only what was learned after the line was written counts, and nobody may have said it since.
    """
    written = current.ours[comparable(claim.text)]
    if not claim.evidence or any(number not in shown for number in claim.evidence):
        return False
    said = [one for number in claim.evidence if (one := shown[number]).id > written]
    texts = [one.text for one in said]
    if not said or _said_since(claim.text, max(one.said_at for one in said), shown):
        return False
    return contradicted(claim.text, texts, lasting=core) or any(
        replaced(claim.text, one.text, texts, lasting=core)
        for one in new
        if set(one.evidence) & set(claim.evidence)
    )


def _said_since(line: str, at: datetime, shown: Mapping[int, Said]) -> bool:
    return any(repeated(line, one.text) for one in shown.values() if one.said_at > at)


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
    if gives_order(line, [one.text for one in said]):
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
