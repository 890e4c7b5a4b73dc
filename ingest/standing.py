"""What a capturer notes on the disk of where it stands; a disk that is full does not stop it."""

from collections.abc import Callable, Mapping

from agents_memory.observe import Action, get_logger
from agents_memory.services.capturer import write_capturer
from agents_memory.storage.embedded.locks import FileLock
from ingest.cursor import Positions

log = get_logger()

ROOM = "make room in the data folder, and make it writable"


class Standing:
    """Writes positions and what is polled; says each trouble once for as long as it lasts."""

    def __init__(self, positions: Positions, lock: FileLock) -> None:
        self._positions = positions
        self._lock = lock
        self._trouble: dict[str, str] = {}

    def save(self) -> None:
        """Positions that cannot be saved are kept in memory: what is read twice adds nothing."""
        self._try(f"the positions cannot be saved; {ROOM}", self._positions.save)

    def note(self, polled: Mapping[str, str]) -> None:
        """That this process captures, and of which clients nothing is told, for `doctor`."""
        self._try(
            f"who captures cannot be noted; {ROOM}", lambda: write_capturer(self._lock, polled)
        )

    def _try(self, what: str, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            say = log.debug if self._trouble.get(what) == str(error) else log.warning
            say(Action.CAPTURE_FAILED, note=what, error=error)
            self._trouble[what] = str(error)
            return
        self._trouble.pop(what, None)
