"""What leaving a client would change: its files become what they were, as far as we made them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from agents_memory.clients import config_file, document
from agents_memory.clients.json_text import APPEND
from agents_memory.clients.known import Client, Keys
from agents_memory.clients.machine import Machine
from agents_memory.clients.ours import is_our_entry, is_our_group
from agents_memory.clients.plan import Edit, Plan
from agents_memory.domain.errors import MemoryFault

_Member = tuple[tuple[str | int, ...], Any]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A member of a file whose own members or items may be ours."""

    keys: Keys
    is_ours: Callable[[Any], bool]


def plan_removal(client: Client, scope: str, machine: Machine) -> Plan:
    """How `client` forgets our server, whatever its name there, and our hook.

    Raises MemoryFault (a file that we can't change).
    """
    place = client.places[scope](machine)
    entries = _Spot(place.keys[:-1], is_our_entry)
    spots = {place.file: [entries]}
    if client.hook is not None:
        hooks = client.hook.place(machine, scope)
        spots.setdefault(hooks.file, []).append(_Spot(hooks.keys, is_our_group))
    text = config_file.load(place.file) or ""
    names = [str(keys[-1]) for keys, _ in _ours(place.file, text, [entries])]
    commands = [] if client.own_removal is None else [client.own_removal(scope, n) for n in names]
    remarks = []
    found = document.find(place.file, text, place.keys)
    if found is not None and not is_our_entry(found):
        remarks = [f"{place.file} has another server named {place.keys[-1]!r}; it was left alone"]
    edits = [edit for file, there in spots.items() if (edit := _edit(file, there))]
    return Plan(client, [command for command in commands if command], edits, remarks)


def _edit(file: Path, spots: list[_Spot]) -> Edit | None:
    text = config_file.load(file)
    ours = _ours(file, text or "", spots)
    if text is None or not ours:
        return None
    earlier = list(_earlier(file, spots))
    before = next((copy for _, copy, theirs in earlier if not theirs), None)
    # Copies that installing left, of what it found and of what it made of it.
    spent = tuple(p for p, copy, theirs in earlier if _states(file, before, theirs)[-1] == copy)
    states = _states(file, before, ours)
    if states[-1] == text:
        return Edit(file, text, before, spent, gives_back=True)
    after = _without(file, text, ours, states)
    gone = not earlier and after.strip() in ("", "{}")
    return Edit(file, text, None if gone else after, spent)


def _earlier(file: Path, spots: list[_Spot]) -> Iterator[tuple[Path, str, list[_Member]]]:
    """The copies of a file, newest first, with what is ours in them; to the first without."""
    for path in config_file.copies(file):
        try:
            text = config_file.load(path)
            ours = _ours(file, text or "", spots)
        except MemoryFault:
            continue
        if text is not None:
            yield path, text, ours
            if not ours:
                return


def _ours(file: Path, text: str, spots: list[_Spot]) -> list[_Member]:
    found: list[_Member] = []
    for spot in spots:
        holder = document.find(file, text, spot.keys)
        members: Any = holder.items() if isinstance(holder, dict) else ()
        members = enumerate(holder) if isinstance(holder, list) else members
        found += [((*spot.keys, key), value) for key, value in members if spot.is_ours(value)]
    return found


def _states(file: Path, before: str | None, ours: list[_Member]) -> list[str | None]:
    """A file before installing and after each step of it, None after one that could not be."""
    text = before or ""
    states: list[str | None] = [text]
    try:
        for keys, value in ours:
            names = [str(key) for key in keys]
            if isinstance(keys[-1], int):
                names[-1:] = [APPEND]
                if not isinstance(document.find(file, text, names[:-1]), list):
                    names, value = names[:-1], [value]
            text = document.with_unchecked(file, text, names, value)
            states.append(text)
    except MemoryFault:
        states.append(None)
    return states


def _without(file: Path, text: str, ours: list[_Member], states: list[str | None]) -> str:
    """`text` without what is ours, and without what held nothing else and was not there before."""
    there_before = document.find(file, states[0] or "", ())
    steps = dict(enumerate(pairwise(states)))
    for at, (keys, _) in reversed(list(enumerate(ours))):
        before, installed = steps.get(at, (None, None))
        if before is not None and installed is not None:
            as_before = document.as_before(file, text, keys, installed, before)
            if as_before is not None:
                text = as_before
                continue
        text = document.without_member(file, text, keys)
        holder: Sequence[str | int] = keys[:-1]
        while holder and document.find(file, text, [str(key) for key in holder]) in ({}, []):
            if document.has(there_before, holder):
                break
            text = document.without_member(file, text, holder)
            holder = holder[:-1]
    return text
