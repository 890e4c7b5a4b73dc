"""The doctor's checks that start our own programs, the way an editor or an init system does."""

import json

from agents_memory import __version__
from agents_memory.cli.running import Finished, finished, module_command
from agents_memory.services.diagnosis.check import Check, failed, passed

START_WITHIN_S = 60.0
ANSWER_WITHIN_S = 120.0
LINES_SHOWN = 3
REINSTALL = "install this version of mcp-agents-memory again, in an environment of its own"

# What every client says first; then its end of the pipe closes.
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "doctor", "version": __version__},
    },
}


async def check_daemon() -> Check:
    """Whether the daemon's program starts at all."""
    name = "daemon_program"
    end = await finished(module_command("cold", "--help"), within_s=START_WITHIN_S)
    if end is None or end.code != 0:
        return failed(name, _how(end, START_WITHIN_S), REINSTALL)
    return passed(name, "can be started")


async def check_round_trip() -> Check:
    """Whether a client gets an answer over MCP, from a server started as an editor starts it."""
    name = "mcp"
    end = await finished(module_command("hot.probe", "--json"), within_s=ANSWER_WITHIN_S)
    if end is None or end.code != 0:
        return failed(
            name,
            _how(end, ANSWER_WITHIN_S),
            "mend what failed above; else run `python -I -m hot.probe` for the details",
        )
    return passed(name, "a client connects, lists the tools and gets an answer")


async def check_stdout() -> Check:
    """Whether nothing but JSON-RPC comes out of the server, and it ends with its client."""
    name = "stdout"
    words = (json.dumps(HELLO) + "\n").encode()
    end = await finished(module_command("hot"), words=words, within_s=START_WITHIN_S)
    if end is None:
        return failed(
            name,
            f"the server did not end within {START_WITHIN_S:.0f} s of its client",
            REINSTALL,
        )
    if end.code != 0:
        return failed(name, _how(end, START_WITHIN_S), "mend what failed above")
    lines = end.stdout.splitlines()
    strangers = [line for line in lines if not is_message(line)]
    if strangers:
        return failed(
            name,
            f"{len(strangers)} of {len(lines)} lines on stdout are not JSON-RPC",
            "look which library prints there (run `python -I -m hot` by hand) and remove it",
        )
    return passed(name, "only JSON-RPC, and the server ends with its client")


def is_message(line: bytes) -> bool:
    """Whether a line is JSON-RPC."""
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("jsonrpc") == "2.0"


def _how(end: Finished | None, within_s: float) -> str:
    if end is None:
        return f"no end within {within_s:.0f} s"
    said = end.stderr.decode("utf-8", "replace").strip().splitlines()
    return "\n".join([f"ended with code {end.code}", *said[-LINES_SHOWN:]])
