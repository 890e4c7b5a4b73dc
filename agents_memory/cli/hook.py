"""Answering a client's hook: one JSON object on stdout, in time, and the exit code 0."""

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn, TextIO

from agents_memory.cli.output import EXIT_OK

WITHIN_S = 8.0
# A client writes what it has to say while it starts us, and need not close its end.
TOLD_WITHIN_S = 1.0
MAX_INPUT = 2**20
_CHUNK_BYTES = 2**16

Answer = Mapping[str, Any]


def answer(make: Callable[[bytes], Answer], late: Answer) -> NoReturn:
    """Print what `make` makes of the hook's input and end the process with code 0.

    In any trouble, and when it takes more than 8 seconds, `late` is printed; nothing where there
    is no stdout to print to.
    """
    # Never released: who has it ends the process.
    first = threading.Lock()
    out = 1 if _is_open(sys.stdout) else None

    def finish(line: bytes) -> NoReturn:
        first.acquire()
        try:
            _write(out, line)
        finally:
            os._exit(EXIT_OK)

    lately = _line(late)
    try:
        out = _take(out)
        timer = threading.Timer(WITHIN_S, finish, [lately])
        timer.daemon = True
        timer.start()
        finish(_line(make(_told())))
    except BaseException:  # noqa: BLE001 (a hook that fails costs the client its session's start)
        finish(lately)


def _line(told: Answer) -> bytes:
    # ASCII, since a client may read the pipe in any encoding.
    return json.dumps(told).encode("ascii") + b"\n"


def _is_open(stream: TextIO | None) -> bool:
    return stream is not None


def _take(out: int | None) -> int | None:
    """Where to print, if anywhere; whatever a library prints gets there no more."""
    null = os.open(os.devnull, os.O_RDWR)
    # A descriptor that was closed would be given to the next file or socket.
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if not _is_open(stream):
            os.dup2(null, descriptor)
    taken = None if out is None else os.dup(out)
    os.dup2(2, 1)
    return taken


def _write(out: int | None, line: bytes) -> None:
    with suppress(OSError):
        if out is not None:
            # Whoever shares the pipe may have made it return at once.
            os.set_blocking(out, True)
        while out is not None and line:
            line = line[os.write(out, line) :]


def _told() -> bytes:
    """What the client says: up to its end, a whole object, or the time that it gets for that."""
    told, done = bytearray(), threading.Event()

    def read() -> None:
        with suppress(OSError):
            while len(told) < MAX_INPUT and (chunk := os.read(0, _CHUNK_BYTES)):
                told.extend(chunk)
                if _is_whole(told):
                    break
        done.set()

    threading.Thread(target=read, name="hook-input", daemon=True).start()
    done.wait(TOLD_WITHIN_S)
    return bytes(told)


def _is_whole(told: bytearray) -> bool:
    if not told.rstrip().endswith(b"}"):
        return False
    with suppress(ValueError, RecursionError):
        json.loads(told)
        return True
    return False
