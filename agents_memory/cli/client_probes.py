"""The doctor's look at the clients: every entry of ours started, every hook of ours asked."""

import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents_memory.cli.probes import ANSWER_WITHIN_S, HELLO, is_message
from agents_memory.cli.running import finished
from agents_memory.clients import config_file, document
from agents_memory.clients.installing import is_our_hook
from agents_memory.clients.known import CLIENTS, Client, Place
from agents_memory.clients.machine import Machine
from agents_memory.domain.errors import MemoryFault
from agents_memory.services.diagnosis import Check, failed, passed, skipped

# What Codex gives a server, the least of all clients; PATH as a desktop program has it.
PASSED_ON = ("HOME", "LANG", "TERM", "USER", "SHELL", "TZ", "TMPDIR")
BARE_PATH = "/usr/bin:/bin"
ASKED = json.dumps({"hook_event_name": "SessionStart", "source": "startup"}).encode()


@dataclass(frozen=True, slots=True)
class _Start:
    words: list[str]
    environment: dict[str, str]


async def check_clients(machine: Machine) -> list[Check]:
    """One check for each entry and hook of ours that a client has, here or for this user."""
    checks = []
    for client in CLIENTS.values():
        for scope in client.scopes:
            checks += [await one for one in _found(client, scope, machine)]
    if checks:
        return checks
    fix = "`mcp-agents-memory install-client NAME` puts it there"
    return [skipped("clients", f"no client starts this memory from here; {fix}")]


def _found(client: Client, scope: str, machine: Machine) -> Iterator[Any]:
    name = f"{client.name}:{scope}"
    try:
        entry = _value(client.places[scope](machine))
        groups = None if client.hook is None else _value(client.hook.place(machine, scope))
    except MemoryFault as fault:
        yield _unreadable(name, fault)
        return
    if entry is not None:
        yield _check_entry(name, _install(client, scope), entry, machine)
    for group in groups if isinstance(groups, list) else []:
        for hook in group.get("hooks", []) if isinstance(group, dict) else []:
            if isinstance(hook, dict) and is_our_hook(hook.get("command")):
                yield _check_hook(f"{name} brief", _install(client, scope), hook, machine)


async def _unreadable(name: str, fault: MemoryFault) -> Check:
    return failed(name, str(fault), "mend that file; the client cannot read it either")


async def _check_entry(name: str, install: str, entry: Any, machine: Machine) -> Check:
    start = _start(entry)
    if start is None:
        return failed(name, "the entry names no command", install)
    try:
        end = await finished(
            start.words,
            words=(json.dumps(HELLO) + "\n").encode(),
            within_s=ANSWER_WITHIN_S,
            env=_bare(machine) | start.environment,
        )
    except OSError as error:
        return failed(name, f"its command cannot be started ({error.strerror})", install)
    if end is None or end.code != 0:
        code = "no end" if end is None else f"code {end.code}"
        said = "" if end is None else end.stderr.decode("utf-8", "replace").strip()[-300:]
        return failed(name, f"its command does not start the server ({code}) {said}", install)
    answers = [json.loads(line) for line in end.stdout.splitlines() if is_message(line)]
    if not any(answer.get("id") == HELLO["id"] and "result" in answer for answer in answers):
        return failed(name, "its command starts something that is not this server", install)
    return passed(name, "started as this client starts it, the server answers")


async def _check_hook(name: str, install: str, hook: dict[str, Any], machine: Machine) -> Check:
    end = await finished(
        ["/bin/sh", "-c", str(hook["command"])],
        words=ASKED,
        within_s=ANSWER_WITHIN_S,
        env=_bare(machine),
    )
    try:
        assert end is not None
        answer = json.loads(end.stdout)["hookSpecificOutput"]["additionalContext"]
    except (AssertionError, ValueError, KeyError, TypeError):
        return failed(name, "the hook gives no brief", f"{install} --with-brief")
    return passed(name, f"the hook gives a brief of {len(answer)} characters")


def _value(place: Place) -> Any:
    text = config_file.load(place.file)
    return None if text is None else document.find(place.file, text, place.keys)


def _start(entry: Any) -> _Start | None:
    if not isinstance(entry, dict):
        return None
    command, args = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command, *args]
    environment = entry.get("env") or entry.get("environment") or {}
    if not words or not all(isinstance(word, str) and word for word in words):
        return None
    return _Start(words, {str(key): str(value) for key, value in environment.items()})


def _bare(machine: Machine) -> dict[str, str]:
    given = {name: machine.environ[name] for name in PASSED_ON if name in machine.environ}
    return given | {"PATH": BARE_PATH if os.name == "posix" else machine.environ.get("PATH", "")}


def _install(client: Client, scope: str) -> str:
    words = ["mcp-agents-memory", "install-client", client.name, "--scope", scope]
    return f"run `{shlex.join(words)}`"
