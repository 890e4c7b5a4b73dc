"""Labelled sets by writers who had not seen the rules; one module each, named by a letter.

A module has `positives(seed)`, of (class, text, secrets), and `negatives(seed)`, of (class, text):
look-alikes. Both are the same for the same seed, and nothing in them was ever issued by anybody. A
module that is put here is measured and tested with the others.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from bench.redaction_set import SEED, Case


class _Set(Protocol):
    def positives(self, seed: int) -> list[tuple[str, str, tuple[str, ...]]]: ...

    def negatives(self, seed: int) -> list[tuple[str, str]]: ...


LETTERS = tuple(sorted(module.name for module in iter_modules(__path__)))


def cases_of(letter: str, seed: int = SEED) -> list[Case]:
    """The texts of a set, those with secrets first; the set's letter is their half."""
    one = cast(_Set, import_module(f"{__name__}.{letter}"))
    return [
        *(Case(name, text, letter, text, secrets) for name, text, secrets in one.positives(seed)),
        *(Case(name, text, letter, text) for name, text in one.negatives(seed)),
    ]
