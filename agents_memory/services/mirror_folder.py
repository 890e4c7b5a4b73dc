"""The folder of the mirror: pages appear whole, and nothing of anybody else is touched.

Every file is reached from the open folder, so that a link in it leads nowhere.
"""

import asyncio
import fcntl
import os
import re
import secrets
import stat
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from agents_memory.domain.errors import MirrorUnavailable
from agents_memory.domain.mirror import Owner, Page, is_ours
from agents_memory.domain.mirror_names import same_name

BUSY_S = 10.0
_LOOK_S = 0.05
# A page of ours tells so at once; of anything longer nobody needs to read more.
_HEAD_BYTES = 65_536
_PART = re.compile(r"\.mirror-[0-9a-f]{16}\.part")


@dataclass(slots=True)
class Done:
    """Paths below the folder by what became of them; `foreign` ones were left alone."""

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Done") -> "Done":
        self.written += other.written
        self.unchanged += other.unchanged
        self.removed += other.removed
        self.foreign += other.foreign
        return self


class MirrorFolder:
    """An open folder, of which one process at a time is the only one to write."""

    def __init__(self, root: int, owner: Owner) -> None:
        self._root = root
        self._owner = owner

    def list_ours(self, folder: str) -> list[str]:
        """The names of our pages in a folder, in order; none where it is not there or a link.

        Raises MirrorUnavailable when it cannot be read.
        """
        try:
            with self._below(folder) as place:
                names = sorted(os.listdir(place))
                return [name for name in names if self._is_ours(place, name)]
        except (FileNotFoundError, _Foreign):
            return []
        except OSError as error:
            raise _unusable(error) from error

    def write(self, pages: Sequence[Page]) -> Done:
        """Writes the pages that are not there word for word.

        Raises MirrorUnavailable when the folder takes no files.
        """
        done = Done()
        for folder in dict.fromkeys(page.folder for page in pages):
            mine = [page for page in pages if page.folder == folder]
            try:
                with self._below(folder, make=True) as place:
                    self._sweep(place)
                    for page in mine:
                        self._write(place, page, done)
                    os.fsync(place)
            except _Foreign:
                done.foreign += [page.path for page in mine]
            except OSError as error:
                raise _unusable(error) from error
        return done

    def remove_others(self, folder: str, kept: Collection[str]) -> Done:
        """Removes our pages of a folder but those whose names are kept.

        Raises MirrorUnavailable when one cannot be removed.
        """
        done = Done()
        keep = {same_name(name) for name in kept}
        gone = [name for name in self.list_ours(folder) if same_name(name) not in keep]
        if gone:
            try:
                with self._below(folder) as place:
                    for name in gone:
                        os.unlink(name, dir_fd=place)
                        done.removed.append(f"{folder}/{name}" if folder else name)
            except OSError as error:
                raise _unusable(error) from error
        return done

    @contextmanager
    def _below(self, folder: str, *, make: bool = False) -> Iterator[int]:
        if not folder:
            yield self._root
            return
        if make:
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700, dir_fd=self._root)
        try:
            place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._root)
        except NotADirectoryError as error:
            # A link or a file of somebody has this name.
            raise _Foreign from error
        except OSError as error:
            if stat.S_ISLNK(os.lstat(folder, dir_fd=self._root).st_mode):
                raise _Foreign from error
            raise
        try:
            yield place
        finally:
            os.close(place)

    def _write(self, place: int, page: Page, done: Done) -> None:
        content = page.text.encode("utf-8", "replace")
        there = _exists(place, page.name)
        if there and not self._is_ours(place, page.name):
            done.foreign.append(page.path)
            return
        if there and _read(place, page.name, len(content) + 1) == content:
            done.unchanged.append(page.path)
            return
        part = f".mirror-{secrets.token_hex(8)}.part"
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=place)
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if there or not _linked(place, part, page.name):
                os.replace(part, page.name, src_dir_fd=place, dst_dir_fd=place)
            done.written.append(page.path)
        except FileExistsError:
            done.foreign.append(page.path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=place)

    def _is_ours(self, place: int, name: str) -> bool:
        head = _read(place, name, _HEAD_BYTES)
        return head is not None and is_ours(head.decode("utf-8", "replace"), self._owner)

    def _sweep(self, place: int) -> None:
        """Takes away what a run that was killed left behind; only one runs at a time."""
        for name in os.listdir(place):
            if _PART.fullmatch(name):
                with suppress(OSError):
                    os.unlink(name, dir_fd=place)


def _unusable(error: OSError) -> MirrorUnavailable:
    return MirrorUnavailable(
        f"the mirror cannot be kept up to date ({error.strerror}); make room in MIRROR_DIR, or "
        "name a folder that this user may write to"
    )


class _Foreign(OSError):
    """Something of somebody else is in the place of a folder."""


def _exists(place: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _linked(place: int, part: str, name: str) -> bool:
    """Gives a file its name unless somebody took it meanwhile; False where disks know no links.

    Raises FileExistsError.
    """
    try:
        os.link(part, name, src_dir_fd=place, dst_dir_fd=place)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


def _read(place: int, name: str, most: int) -> bytes | None:
    """The beginning of a plain file; None of a link, a pipe, or what may not be read."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=place)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with open(descriptor, "rb") as file:
        return file.read(most)


@asynccontextmanager
async def open_folder(directory: Path, owner: Owner) -> AsyncIterator[MirrorFolder]:
    """The folder, made where it is missing, for the length of the block, for nobody else meanwhile.

    Raises MirrorUnavailable when it cannot be used, or another run does not come to its end.
    """
    root = _opened(directory)
    try:
        await _alone(root, directory)
        yield MirrorFolder(root, owner)
    finally:
        # Closing it lets the next run in.
        os.close(root)


def _opened(directory: Path) -> int:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise MirrorUnavailable(
            f"the folder {directory} cannot be used ({error.strerror}); set MIRROR_DIR to one that "
            "this user may write to"
        ) from error


async def _alone(root: int, directory: Path) -> None:
    for _ in range(int(BUSY_S / _LOOK_S)):
        try:
            fcntl.flock(root, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(_LOOK_S)
        except OSError as error:
            raise MirrorUnavailable(
                f"the folder {directory} cannot be locked ({error.strerror}); set MIRROR_DIR to "
                "one on a disk of this machine"
            ) from error
        else:
            return
    raise MirrorUnavailable(f"another run is still writing to {directory}; ask again in a minute")
