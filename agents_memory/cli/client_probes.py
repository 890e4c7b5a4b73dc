"""The doctor's look at the clients: every entry of ours started, every hook of ours asked."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents_memory.cli.probes import ANSWER_WITHIN_S, HELLO, is_message
from agents_memory.cli.running import finished
from agents_memory.clients import config_file, document
from agents_memory.clients.known import CLIENTS, Client, Keys, Place
from agents_memory.clients.machine import Machine
from agents_memory.clients.ours import command_line, is_our_entry, is_our_hook
from agents_memory.domain.errors import MemoryFault
from agents_memory.services.diagnosis.check import Check, failed, passed, skipped

# What Codex gives a server, the least of all clients; PATH as a desktop program has it.
PASSED_ON = ("HOME", "LANG", "TERM", "USER", "SHELL", "TZ", "TMPDIR")
BARE_PATH = "/usr/bin:/bin"
ASKED = json.dumps({"hook_event_name": "SessionStart", "source": "startup"}).encode()


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
        place = client.places[scope](machine)
        entries = _value(place.file, place.keys[:-1])
        groups = None if client.hook is None else _hooks(client.hook.place(machine, scope))
    except MemoryFault as fault:
        yield _unreadable(name, fault)
        return
    for named, entry in entries.items() if isinstance(entries, dict) else ():
        # Another's server is not ours to start, even where it has our name.
        if is_our_entry(entry):
            usual = named == place.keys[-1]
            check, install = (name, "") if usual else (f"{name}:{named}", f" --name {named}")
            yield _check_entry(check, _install(client, scope, install), entry, machine)
    for group in groups if isinstance(groups, list) else []:
        for hook in group.get("hooks", []) if isinstance(group, dict) else []:
            if isinstance(hook, dict) and is_our_hook(hook.get("command")):
                install = _install(client, scope, " --with-brief")
                yield _check_hook(f"{name} brief", install, hook, machine)


async def _unreadable(name: str, fault: MemoryFault) -> Check:
    return failed(name, str(fault), "mend that file; the client cannot read it either")


async def _check_entry(name: str, install: str, entry: Any, machine: Machine) -> Check:
    given = entry.get("env") or entry.get("environment") or {}
    environment = {str(key): str(value) for key, value in given.items()}
    try:
        end = await finished(
            command_line(entry),
            words=(json.dumps(HELLO) + "\n").encode(),
            within_s=ANSWER_WITHIN_S,
            env=_bare(machine) | environment,
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
        return failed(name, "the hook gives no brief", install)
    return passed(name, f"the hook gives a brief of {len(answer)} characters")


def _hooks(place: Place) -> Any:
    return _value(place.file, place.keys)


def _value(file: Path, keys: Keys) -> Any:
    text = config_file.load(file)
    return None if text is None else document.find(file, text, keys)


def _bare(machine: Machine) -> dict[str, str]:
    given = {name: machine.environ[name] for name in PASSED_ON if name in machine.environ}
    return given | {"PATH": BARE_PATH if os.name == "posix" else machine.environ.get("PATH", "")}


def _install(client: Client, scope: str, more: str = "") -> str:
    return f"run `mcp-agents-memory install-client {client.name} --scope {scope}{more}`"
