"""How many questions a model is asked side by side: as many as its server can bear."""


class Lanes:
    """At most `most` (1 or more) at a time; fewer for a while after one took too long.

    A server that answers one at a time lets the others wait, and their time runs out meanwhile.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.open = most
        # Answers in time since the number was changed.
        self._in_time = 0

    def note(self, *, too_slow: bool) -> None:
        """Half as many after a call that took too long; one more once each lane had an answer."""
        self._in_time = 0 if too_slow else self._in_time + 1
        if too_slow:
            self.open = max(1, self.open // 2)
        elif self._in_time >= self.open:
            self.open = min(self._most, self.open + 1)
            self._in_time = 0
