"""Whether a server answers on a socket: asked by speaking to it, never by looking for a PID."""

import os
import socket
import struct
from enum import Enum
from pathlib import Path

from agents_memory.storage.embedded.endpoint import DATABASE, HOT, PORT

_PROTOCOL = 196608
_CANNOT_CONNECT_NOW = "57P03"


class Answer(Enum):
    """What came back from a socket."""

    NOBODY = "nothing listens"
    SILENCE = "something listens but does not answer"
    NOT_NOW = "starting, recovering or stopping"
    READY = "accepts connections"


def socket_file(directory: Path) -> Path:
    return directory / f".s.PGSQL.{PORT}"


def ask(directory: Path, seconds: float = 5.0) -> Answer:
    """Open a session of the hot role and leave again; at most `seconds` per reply.

    An error other than "cannot connect now" means that the server is up.
    """
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(seconds)
        try:
            line.connect(os.fspath(socket_file(directory)))
        except TimeoutError:
            return Answer.SILENCE
        except OSError:
            return Answer.NOBODY
        try:
            return _converse(line)
        except TimeoutError:
            return Answer.SILENCE
        except OSError:
            return Answer.NOT_NOW


def _converse(line: socket.socket) -> Answer:
    words = f"user\0{HOT}\0database\0{DATABASE}\0application_name\0probe\0\0".encode()
    line.sendall(struct.pack("!ii", 8 + len(words), _PROTOCOL) + words)
    with line.makefile("rb") as replies:
        # Reading up to "ready for query" spares the server a complaint about a broken pipe.
        while head := replies.read(5):
            kind, size = struct.unpack("!ci", head)
            body = replies.read(size - 4)
            if kind == b"E":
                fields = {part[:1]: part[1:] for part in body.split(b"\0") if part}
                refused = fields.get(b"C", b"").decode("ascii", "replace") == _CANNOT_CONNECT_NOW
                return Answer.NOT_NOW if refused else Answer.READY
            if kind == b"Z":
                line.sendall(struct.pack("!ci", b"X", 4))
                return Answer.READY
    return Answer.NOT_NOW
