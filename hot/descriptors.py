"""Standard input and output, taken for the protocol before anything else can touch them."""

import fcntl
import os
import sys
from io import TextIOWrapper
from typing import BinaryIO


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Private copies of stdin and stdout; from now on descriptor 0 is empty and 1 is stderr.

    The SDK does the same once it serves, which is too late: a library may print while it is
    imported. Children don't inherit the copies. Raises OSError when one of the two is closed.
    """
    stdin, stdout = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        # Some editors start us without a stderr.
        os.dup2(nothing, 1)
    os.close(nothing)
    if isinstance(sys.stdout, TextIOWrapper):
        # What is printed shows among the logs at once, not in a lump at the end.
        sys.stdout.reconfigure(line_buffering=True)
    return os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb")
