"""Lines that should be one JSON object each, and what can be saved of those that are not."""

import json
import re
from collections.abc import Callable
from typing import Any

Object = dict[str, Any]

_BEGIN = re.compile(r'\{\s*"')
_NOTHING = " \t\r\n\0\ufeff"
# A broken line may hold any number of beginnings; more than these mean garbage.
_MOST_BEGINNINGS = 1_000
_decoder = json.JSONDecoder()


def objects(line: bytes, is_record: Callable[[Object], bool]) -> tuple[list[Object], bool]:
    """The objects of a line, and whether anything of it was lost.

    Usually one. After a crash a line may begin with NUL bytes, hold a cut record with the next one
    glued to it, or several whole ones: those of them that `is_record` knows are saved. A byte order
    mark is nothing; what is no UTF-8 becomes U+FFFD.
    """
    text = line.decode("utf-8", "replace").strip(_NOTHING)
    if not text:
        return [], False
    value = _load(text)
    if value is None:
        return _salvage(text, is_record)
    return ([value], False) if isinstance(value, dict) else ([], True)


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _salvage(text: str, is_record: Callable[[Object], bool]) -> tuple[list[Object], bool]:
    saved: list[Object] = []
    done, lost = 0, False
    for _ in range(_MOST_BEGINNINGS):
        begin = _BEGIN.search(text, done)
        if begin is None:
            break
        lost |= bool(text[done : begin.start()].strip(_NOTHING))
        try:
            value, end = _decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            lost, done = True, begin.end()
            continue
        done = end
        # What stands inside a cut record is followed by the rest of it: no record of its own.
        if is_record(value) and _stands_alone(text, end):
            saved.append(value)
        else:
            lost = True
    return saved, lost or bool(text[done:].strip(_NOTHING))


def _stands_alone(text: str, end: int) -> bool:
    while end < len(text) and text[end] in _NOTHING:
        end += 1
    return end == len(text) or text[end] == "{"
