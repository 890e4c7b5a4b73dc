"""From a line to a message, also when the line is not what it should be."""

import json
import re
from typing import NamedTuple

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

# Both are compiled by the first line that needs them, which few clients ever send.
# One escape at a time, so that a backslash that is itself escaped starts none.
_ESCAPE = (
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|.)"
)
_ID = r'"id"\s*:\s*(?:(-?[0-9]{1,18})(?=\s*[,}])|"([^"\\\x00-\x1f]{1,200})")'


class Malformed(NamedTuple):
    """A line that is no message; `id` is that of the request it was meant to be, if it shows."""

    code: int
    reason: str
    id: int | str | None


def parse(line: str) -> JSONRPCMessage | Malformed:
    """The message in a line; lone surrogates in it become U+FFFD."""
    try:
        return _read(line)
    except ValidationError as error:
        fault = error
    if "\\u" in line and _not_json(fault):
        try:
            return _read(mend(line))
        except ValidationError as error:
            fault = error
    if _not_json(fault):
        return Malformed(PARSE_ERROR, "the line is not valid JSON", find_id(line))
    return Malformed(INVALID_REQUEST, "the line is no JSON-RPC 2.0 message", find_id(line))


def batch_ids(line: str) -> list[int | str]:
    """The ids of the requests in a batch, which no revision we answer for still has.

    Empty for a line that is no batch.
    """
    if not line.lstrip().startswith("["):
        return []
    try:
        parts = json.loads(line)
    except (ValueError, RecursionError):
        return []
    ids = [part.get("id") for part in parts if isinstance(part, dict) and "method" in part]
    return [one for one in ids if isinstance(one, int | str) and not isinstance(one, bool)]


def mend(line: str) -> str:
    r"""The line with every `\ud800`…`\udfff` that is no half of a pair replaced by `\ufffd`."""
    return re.sub(_ESCAPE, lambda m: r"\ufffd" if m["lone"] else m[0], line, flags=re.DOTALL)


def find_id(line: str) -> int | str | None:
    """The one id in a line that does not parse; None when there is none, or more than one."""
    # Inside a string the quotes would be escaped, so only real keys are found.
    found = {(number, text) for number, text in re.findall(_ID, line)}
    if len(found) != 1:
        return None
    number, text = found.pop()
    return int(number) if number else str(text)


def _read(line: str) -> JSONRPCMessage:
    return jsonrpc_message_adapter.validate_json(line, by_name=False)


def _not_json(fault: ValidationError) -> bool:
    return any(error["type"] == "json_invalid" for error in fault.errors(include_url=False))
