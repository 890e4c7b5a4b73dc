"""Whether a statement affirms what its source denies or only supposes, or turns it round.

Clause by clause: each clause of the statement is held against the clauses of the source that share
most words with it, and one that agrees is enough.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agents_memory.domain.grounding.common import COMMON, COMMON_RUNS
from agents_memory.domain.grounding.keys import hangul_stem, key
from agents_memory.domain.grounding.negation import (
    CONTRACTED,
    asserts,
    denials,
    supposes,
    undecided,
)
from agents_memory.domain.grounding.opposites import Side, sides, sides_of_run
from agents_memory.domain.grounding.units import clauses
from agents_memory.domain.lexical.stopwords import stop_lexemes

# Of the words of a clause so many must occur in another one before they are compared.
COMPARED_FROM = 1 / 3
# Clauses that share nearly as many words as the best one may speak of the same, too; of those with
# the same action, or its opposite, fewer are enough.
AS_GOOD, AS_GOOD_SPEAKING = 0.75, 0.5
# Of a longer clause the beginning is looked at: nobody speaks so, it is a list or a log.
CLAUSE_CHARS = 500

_TOKEN = re.compile(
    "[\u0e00-\u0eff]+|[\u3041-\u309f]+|[\u30a0-\u30ff]+|[\u3005\u3400-\u9fff]+|[\uac00-\ud7a3]+"
    r"|[^\W\d_\u0e00-\u0eff\u3005-\u9fff\uac00-\ud7a3]+(?:[-_.][^\W\d_]+)*|\d+"
)
_HAN = re.compile("[\u3005\u3400-\u9fff]")
_KANA = re.compile("[\u3041-\u309f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_THAI = re.compile("[\u0e00-\u0eff]")


def reverses(statement: str, text: str) -> bool:
    """Whether a clause of `statement` says the opposite of every clause it may come from."""
    units = [_Clause(clause[:CLAUSE_CHARS]) for clause in clauses(text.lower())]
    ours = [_Clause(clause[:CLAUSE_CHARS]) for clause in clauses(statement.lower())]
    return any(_reversed(clause, units) for clause in ours)


@dataclass(frozen=True)
class _Clause:
    """A clause; `words` are keys, and `sides` opposites, with the places at which they stand."""

    text: str

    @cached_property
    def words(self) -> dict[str, int]:
        stop, found = stop_lexemes(), dict[str, int]()
        for word, at in _words(self.text):
            if word not in stop and word not in COMMON and not sides(word):
                found.setdefault(word, at)
        return found

    @cached_property
    def sides(self) -> dict[Side, int]:
        found = {side: at for word, at in _words(self.text) for side in sides(word)}
        return found | sides_of_run(self.text)

    @property
    def pairs(self) -> frozenset[int]:
        return frozenset(pair for pair, _ in self.sides)

    @cached_property
    def denials(self) -> dict[str | int, int | None]:
        """Of each word, and of each pair of opposites, how often it is denied, if that is known."""
        found = denials(self.text)
        places: dict[str | int, int] = {pair: at for (pair, _), at in self.sides.items()}
        places.update(self.words)
        return {what: found.count_at(at) for what, at in places.items()}


def _words(text: str) -> Iterator[tuple[str, int]]:
    plain = CONTRACTED.sub(lambda found: " " * len(found[0]), text)
    for token in _TOKEN.finditer(plain):
        word, at = token[0], token.start()
        if _KANA.match(word):
            continue
        if _HAN.match(word) or _THAI.match(word):
            bare = COMMON_RUNS.sub(lambda found: " " * len(found[0]), word)
            for place, character in enumerate(bare):
                if character != " ":
                    yield character, at + place
        elif _HANGUL.match(word):
            yield hangul_stem(word)[:2], at
        else:
            yield key(word), at


def _reversed(clause: _Clause, units: list[_Clause]) -> bool:
    if undecided(clause.text):
        return False
    # Whatever speaks of the same action is what the clause must come from.
    speaking = [unit for unit in units if clause.pairs & unit.pairs]
    candidates = speaking or units
    shared = [len(clause.words.keys() & unit.words.keys()) for unit in candidates]
    best = max(shared, default=0)
    if not best or best < COMPARED_FROM * len(clause.words):
        return False
    least = (AS_GOOD_SPEAKING if speaking else AS_GOOD) * best
    nearest = [u for u, number in zip(candidates, shared, strict=True) if number >= least]
    if asserts(clause.text) and all(supposes(unit.text) for unit in nearest):
        return True
    return all(_opposes(clause, unit) for unit in nearest)


def _opposes(clause: _Clause, unit: _Clause) -> bool:
    if undecided(unit.text):
        return False
    common = clause.pairs & unit.pairs
    turned = {pair for pair in common if not _on_one_side(pair, clause, unit)}
    differs = _denial_differs(clause, unit)
    if turned:
        return (len(turned) + differs) % 2 == 1
    return differs and not _in_other_words(clause, unit)


def _in_other_words(clause: _Clause, unit: _Clause) -> bool:
    """Whether one says by a word of its own what the other may say by a denial, or the reverse.

    "Dislikes mushrooms" and "I can't stand mushrooms"; "is not used" and "was dropped"; "is used"
    and "will not be removed". But "wants emojis" is not "don't add emojis".
    """
    if clause.pairs - unit.pairs:
        return True
    own = [(pair, first) for pair, first in unit.sides if pair not in clause.pairs]
    return any(not (first and unit.denials[pair]) for pair, first in own)


def _on_one_side(pair: int, clause: _Clause, unit: _Clause) -> bool:
    return any((pair, first) in clause.sides and (pair, first) in unit.sides for first in (0, 1))


def _denial_differs(clause: _Clause, unit: _Clause) -> bool:
    """Whether most of what both say, as far as it can be told, is denied by one of them alone."""
    votes = [
        ours % 2 == theirs % 2
        for what in clause.denials.keys() & unit.denials.keys()
        if (ours := clause.denials[what]) is not None and (theirs := unit.denials[what]) is not None
    ]
    return votes.count(False) > votes.count(True)
