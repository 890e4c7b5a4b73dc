"""What leaving a client would change: its files become what they were, as far as we made them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
    if _with(file, before, ours) == text:
        # Earlier installations left copies, too.
        spent = [path for path, copy, theirs in earlier if _with(file, before, theirs) == copy]
        return Edit(file, text, before, tuple(spent))
    after = _without(file, text, ours, before or "")
    return Edit(file, text, None if not earlier and after.strip() in ("", "{}") else after)


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


def _with(file: Path, before: str | None, ours: list[_Member]) -> str | None:
    """What installing made of a file; None where it could not."""
    text = before or ""
    try:
        for keys, value in ours:
            names = [str(key) for key in keys]
            if isinstance(keys[-1], int):
                names[-1:] = [APPEND]
                if not isinstance(document.find(file, text, names[:-1]), list):
                    names, value = names[:-1], [value]
            text = document.with_unchecked(file, text, names, value)
    except MemoryFault:
        return None
    return text


def _without(file: Path, text: str, ours: list[_Member], before: str) -> str:
    """`text` without what is ours, and without what held nothing else and was not there before."""
    there_before = document.find(file, before, ())
    for keys, _ in reversed(ours):
        text = document.without_member(file, text, keys)
        holder: Sequence[str | int] = keys[:-1]
        while holder and document.find(file, text, [str(key) for key in holder]) in ({}, []):
            if document.has(there_before, holder):
                break
            text = document.without_member(file, text, holder)
            holder = holder[:-1]
    return text
