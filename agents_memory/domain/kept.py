"""What is found out about words, and kept for the next text that has them."""

from collections.abc import Callable
from typing import TypeVar

V = TypeVar("V")


class Kept(dict[str, V]):
    """Word → what `work_out` makes of it, worked out when the word is first looked up.

    Words of up to `max_chars` are kept until there are `most`; then all are forgotten. Not an LRU
    cache: its lists cost more than the look-up, and the words that matter are soon back.
    """

    def __init__(self, work_out: Callable[[str], V], *, most: int, max_chars: int) -> None:
        super().__init__()
        self._work_out = work_out
        self._most = most
        self._max_chars = max_chars

    def __missing__(self, word: str) -> V:
        found = self._work_out(word)
        if len(word) <= self._max_chars:
            if len(self) >= self._most:
                self.clear()
            self[word] = found
        return found
