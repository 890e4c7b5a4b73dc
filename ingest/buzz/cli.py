"""Buzz's own program: asked one question at a time, with nothing of ours in its surroundings."""

import asyncio
import contextlib
import json
import os
import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents_memory.domain.brief import one_line
from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.domain.redaction import redact
from agents_memory.settings import Settings
from agents_memory.storage.embedded.processes import leash

CALL_S = 120.0
MOST_BYTES = 256 * 2**20
_MOST_ERROR_BYTES = 64 * 1024
_CHUNK_BYTES = 2**16
_SAID_CHARS = 200

# Where programs are, whose home it is, the language, the proxy, whom to trust; and what is Buzz's.
_PASSED_ON = re.compile(
    r"PATH|HOME|LANG|LANGUAGE|LC_[A-Z_]+|(?i:(?:HTTP|HTTPS|ALL|NO)_PROXY)"
    r"|SSL_CERT_FILE|SSL_CERT_DIR|BUZZ_[A-Z0-9_]+"
)
_ADVICE = {
    "auth_error": "check BUZZ_PRIVATE_KEY, and that its identity is a member of the relay",
    "key_error": "check BUZZ_PRIVATE_KEY",
    "network_error": "check BUZZ_RELAY_URL and the network, and run it again",
    "relay_error": "look after the relay, and run it again",
}


def child_environment(settings: Settings, ours: Mapping[str, str]) -> dict[str, str]:
    """What Buzz's program may see: never a setting or secret that is not its own."""
    passed = {name: value for name, value in ours.items() if _PASSED_ON.fullmatch(name)}
    key = settings.buzz_private_key
    own = {
        "BUZZ_RELAY_URL": settings.buzz_relay_url,
        "BUZZ_PRIVATE_KEY": None if key is None else key.reveal(),
    }
    for name, value in own.items():
        # The settings may come from our file, or the variable be a reference nobody filled in.
        passed.pop(name, None)
        if value is not None:
            passed[name] = value
    return passed


class Buzz:
    """Runs `program` with `environ` as its whole environment; each call is bounded."""

    def __init__(
        self,
        program: str,
        environ: Mapping[str, str],
        *,
        call_s: float = CALL_S,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        if "/" in program and not program.startswith(("/", "~/")):
            raise ConfigurationError(
                "BUZZ_CLI is a relative path; give a name that PATH finds, or an absolute path"
            )
        self._program = str(Path(program).expanduser()) if program[0] == "~" else program
        self._environ = dict(environ)
        self._call_s = call_s
        self._most_bytes = most_bytes

    async def ask(self, *words: str) -> list[dict[str, Any]]:
        """The objects of the array that `buzz WORDS…` prints.

        Raises MemoryFault for a failed, endless or boundless call and for any other answer, and
        ConfigurationError where there is no such program. The program ends with the call.
        """
        name = f"`buzz {' '.join(words[:2])}`"
        try:
            process = await asyncio.create_subprocess_exec(
                self._program,
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd="/",
                env=self._environ,
                start_new_session=True,
                preexec_fn=leash(signal.SIGKILL),
            )
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"Buzz's program cannot be started ({type(error).__name__}); install it, or set "
                "BUZZ_CLI to where it is"
            ) from error
        try:
            async with asyncio.timeout(self._call_s):
                output, said = await asyncio.gather(self._output(process), _last_of(process.stderr))
                code = await process.wait()
        except TimeoutError:
            raise MemoryFault(
                f"{name} took more than {self._call_s:g} s; nothing was written. Look after the "
                "relay and the network, and run it again"
            ) from None
        finally:
            await _end(process)
        if output is None:
            raise MemoryFault(
                f"{name} printed more than {self._most_bytes // 2**20} MiB; nothing was written. "
                "This is no answer of a sound relay: check BUZZ_RELAY_URL and BUZZ_CLI"
            )
        if code:
            raise MemoryFault(f"{name} failed{_reason(code, said)}. Nothing was written")
        return _objects(name, output)

    async def _output(self, process: asyncio.subprocess.Process) -> bytearray | None:
        """What it prints; None, and its end, when that is too much."""
        assert process.stdout is not None, "it is a pipe"
        output = bytearray()
        while chunk := await process.stdout.read(_CHUNK_BYTES):
            output += chunk
            if len(output) > self._most_bytes:
                await _end(process)
                return None
        return output


async def _last_of(stream: asyncio.StreamReader | None) -> bytes:
    assert stream is not None, "it is a pipe"
    last = b""
    while chunk := await stream.read(_CHUNK_BYTES):
        last = (last + chunk)[-_MOST_ERROR_BYTES:]
    return last


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        # The whole group: the program may be a script around another one.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _objects(name: str, output: bytearray) -> list[dict[str, Any]]:
    try:
        answer = json.loads(output.decode("utf-8"))
    except (ValueError, RecursionError):
        raise unexpected(name, "it is not JSON") from None
    if not isinstance(answer, list) or not all(isinstance(one, dict) for one in answer):
        raise unexpected(name, "it is not an array of objects")
    return answer


def unexpected(name: str, what: str) -> MemoryFault:
    """The answer to a call is not what is known of it."""
    return MemoryFault(
        f"the answer of {name} is not as expected: {what}. Nothing was written; check with "
        "`buzz --version` that this Buzz is known to work (docs/buzz.md), and run it again"
    )


def _reason(code: int, said: bytes) -> str:
    """Its exit code and, where it says so, what was wrong and what to do."""
    for line in reversed(said.decode("utf-8", "replace").splitlines()):
        try:
            error = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(error, dict) and isinstance(error.get("error"), str):
            kind = one_line(error["error"], 40)
            words = one_line(redact(str(error.get("message", ""))).text, _SAID_CHARS)
            advice = _ADVICE.get(kind, "see what it says, and run it again")
            if error.get("retryable") is True:
                advice = "it may pass: run it again later"
            return f" with exit code {code}, {kind}: {words}; {advice}"
    return f" with exit code {code}; run it by hand to see what it says"
