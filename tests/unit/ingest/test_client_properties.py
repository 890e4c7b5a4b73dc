"""Whatever happens to any client's store: no exception, every turn once, order kept."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.backfilling import Survey
from ingest.cursor import Cursor, Positions
from ingest.following import Follower
from ingest.reading import QUIET_S
from ingest.records import Record
from ingest.tail import Tail
from ingest.transcripts import CLIENTS
from tests.fakes import ManualClock
from tests.fixtures.transcripts.stores import LINES, STORES, Store
from tests.fixtures.transcripts.talk import BEGUN, NEVER, SAID, TAKEN_BACK
from tests.unit.ingest.reading import everything, of_session, words

WHOLE = {name: store for name, store in STORES.items() if name not in LINES}
EXAMPLES = settings(max_examples=40, deadline=None)


def unique(records: Sequence[Record]) -> list[str]:
    """Ids in the order in which they first came, without what is taken back in the end."""
    return list(dict.fromkeys(r.native_id for r in records if r.text != TAKEN_BACK))


def main_file(store: Store, root: Path) -> Path:
    """The file that holds the conversation; of a folder of them the first."""
    path = root / store.path
    return sorted(path.iterdir())[0] if path.is_dir() else path


@pytest.mark.parametrize("name", LINES)
@given(
    cuts=st.lists(st.integers(0, 10_000), max_size=8),
    steps=st.lists(st.sampled_from(["read", "settle", "restart", "crash", "nothing"]), min_size=9),
    limit=st.integers(1, 5_000),
)
@EXAMPLES
def test_a_file_that_grows_in_any_pieces_gives_the_same_turns(
    name: str, cuts: list[int], steps: list[str], limit: int
) -> None:
    """F75, A25, A29: cut anywhere, read at any time, reopened anywhere, positions lost at will."""
    store = LINES[name]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        store.write(root)
        expected = unique(list(of_session(store, everything(store, root))))
        path, client = root / store.path, CLIENTS[store.client]
        content = path.read_bytes()
        path.write_bytes(b"")
        facts = client.facts(Path(store.path))
        assert facts is not None

        def opened(cursor: Cursor | None) -> Tail:
            return Tail(root, store.path, client, facts, cursor=cursor)

        records: list[Record] = []

        def go_on(following: Tail) -> Cursor:
            more = True
            while more:
                batch = following.read(limit=limit)
                records.extend(batch.records)
                more = batch.more
            return batch.cursor

        following, committed, older = opened(None), None, None
        places = sorted({0, len(content), *(cut % len(content) for cut in cuts)})
        for (begin, end), step in zip(pairwise(places), steps, strict=False):
            with open(path, "ab") as file:
                file.write(content[begin:end])
            if step == "restart":
                following = opened(committed)
            elif step == "crash":
                following = opened(older)
            if step != "nothing":
                older, committed = committed, go_on(following)
            if step == "settle":
                committed = go_on(following)
        go_on(following)
        records.extend(following.read(quiet=True).records)
        assert unique(list(of_session(store, records))) == expected


DAMAGE = ["whole", "whole", "cut before", "NUL before", "NUL behind", "blank", "garbage"]


@pytest.mark.parametrize("name", LINES)
@given(
    damage=st.lists(st.tuples(st.sampled_from(DAMAGE), st.integers(0, 10_000)), min_size=60),
    garbage=st.binary(max_size=60),
)
@EXAMPLES
def test_every_whole_line_counts_whatever_happened_to_its_neighbours(
    name: str, damage: list[tuple[str, int]], garbage: bytes
) -> None:
    """A28: cut, glued, spliced and padded lines cost only themselves."""
    store = LINES[name]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        store.write(root)
        path = root / store.path
        content = b""
        lines = path.read_bytes().split(b"\n")[:-1]
        for line, (kind, cut) in zip(lines, damage * len(lines), strict=False):
            cut %= len(line)
            content += {
                "cut before": line[:cut] + line + b"\n",
                "NUL before": b"\0" * (cut % 50) + line + b"\n",
                "NUL behind": line + b"\0" * (cut % 50) + b"\n",
                "blank": line + b"\r\n\n\n",
                "garbage": garbage + b"\n" + line + b"\n",
            }.get(kind, line + b"\n")
        path.write_bytes(content)
        assert words(list(of_session(store, everything(store, root)))) == SAID


WITH_IDS = ["antigravity_cli", "copilot_cli", "gemini"]
"""Their lines bear ids; those of others are told apart by what stands around them."""


def shuffled(store: Store, root: Path, order: Random) -> list[Record]:
    """The records of a store whose lines are there twice, in any order."""
    store.write(root)
    path = root / store.path
    lines = path.read_bytes().split(b"\n")[:-1] * 2
    order.shuffle(lines)
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = Survey()
    records = list(of_session(store, everything(store, root, found)))
    assert found.problems == []
    return records


@pytest.mark.parametrize("name", WITH_IDS)
@given(order=st.randoms(use_true_random=False))
@EXAMPLES
def test_lines_in_any_order_and_repeated_are_each_turn_once(name: str, order: Random) -> None:
    """A28: what is taken back counts as said where the line that takes it back came before."""
    with tempfile.TemporaryDirectory() as folder:
        records = shuffled(LINES[name], Path(folder).resolve(), order)
    said = set(words(records))
    assert said <= {*SAID, ("user", TAKEN_BACK), ("assistant", TAKEN_BACK)}
    turns = {(record.native_id, record.role.value, record.text) for record in records}
    assert len(turns) == len(said) == len({record.native_id for record in records})
    if name == "antigravity_cli":
        # Nothing is ever taken back there.
        assert said == set(SAID)


@pytest.mark.parametrize("name", sorted(LINES.keys() - set(WITH_IDS)))
@given(order=st.randoms(use_true_random=False))
@EXAMPLES
def test_lines_without_ids_in_any_order_hold_nothing_but_what_was_said(
    name: str, order: Random
) -> None:
    """A28: a line that is there twice may have been said twice, and pieces join as they lie."""
    with tempfile.TemporaryDirectory() as folder:
        records = shuffled(LINES[name], Path(folder).resolve(), order)
    if name == "cursor_export":
        assert sorted(words(records)) == sorted(SAID * 2)
    never = set(NEVER) - {TAKEN_BACK}
    assert not any(word in record.text for record in records for word in never)


@pytest.mark.parametrize("name", WHOLE)
@given(
    changes=st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 255)), max_size=30),
    cut=st.none() | st.integers(0, 100_000),
)
@EXAMPLES
def test_a_damaged_document_or_database_is_a_problem_and_no_exception(
    name: str, changes: list[tuple[int, int]], cut: int | None
) -> None:
    """F76, A28: nothing that is not the client's own words comes of it."""
    store = WHOLE[name]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        store.write(root)
        path = main_file(store, root)
        content = bytearray(path.read_bytes())
        for place, value in changes:
            content[place % len(content)] = value
        path.write_bytes(content if cut is None else content[: cut % len(content)])
        everything(store, root, Survey())
        assert (
            sorted(p.name for p in path.parent.iterdir() if p.name.endswith(("-wal", "-shm"))) == []
        )


OPERATIONS = ["rewrite", "truncate", "delete", "pipe", "link", "rotate", "again", "lose", "quiet"]


@pytest.mark.parametrize("name", STORES)
@given(operations=st.lists(st.sampled_from(OPERATIONS), max_size=8))
@settings(max_examples=15, deadline=None)
def test_whatever_happens_to_the_file_each_turn_is_kept_once(
    name: str, operations: list[str]
) -> None:
    """F75, A19, A25: replaced, truncated, moved, linked; processes and commits lost."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_follow(STORES[name], Path(folder).resolve(), operations))


async def _follow(store: Store, base: Path, operations: list[str]) -> None:
    root, clock = base / "root", ManualClock(BEGUN - timedelta(hours=1))
    root.mkdir()
    kept: list[Record] = []

    async def keep(records: Sequence[Record]) -> None:
        kept.extend(records)

    async def beat(sessions: Sequence[str]) -> None:
        return None

    def begin() -> tuple[Positions, Follower]:
        positions = Positions.load(base / "state.json")
        following = Follower(CLIENTS[store.client], root, positions, clock)
        following.begin()
        return positions, following

    async def look(after: float = 1) -> None:
        clock.advance(after)
        await following.look(keep, beat)

    positions, following = begin()
    positions.save()
    clock.advance(2 * 3600)
    store.write(root)
    path = main_file(store, root)
    content = path.read_bytes()
    for number, operation in enumerate(operations):
        if operation == "again":
            positions.save()
            positions, following = begin()
        elif operation == "lose":
            positions, following = begin()
        elif operation == "quiet":
            clock.advance(QUIET_S)
        elif operation == "rotate":
            if path.is_file():
                shutil.move(path, path.with_name(f"old-{number}"))
        else:
            path.unlink(missing_ok=True)
            if operation == "pipe":
                os.mkfifo(path)
            elif operation == "link":
                (base / "elsewhere").write_bytes(content)
                path.symlink_to(base / "elsewhere")
            elif operation != "delete":
                path.write_bytes(content[: len(content) // (number + 1)])
        await look()
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    for _ in range(3):
        await look(after=60)
    said = list(of_session(store, kept))
    assert len(unique(said)) == len({*unique(said)})
    first = {r.native_id: (r.role.value, r.text) for r in reversed(said) if r.text != TAKEN_BACK}
    told = [first[name] for name in unique(said)]
    if store.path.startswith("storage"):
        # One file a message: what was away for a while came later.
        assert sorted(set(told)) == sorted(set(SAID))
    else:
        assert list(dict.fromkeys(told)) == SAID


@pytest.mark.parametrize("name", STORES)
async def test_what_was_said_before_capture_began_is_not_read(name: str, tmp_path: Path) -> None:
    """F74: from now on, also where the file goes on or is written anew."""
    store = STORES[name]
    root, clock = tmp_path / "root", ManualClock(BEGUN + timedelta(days=1))
    store.write(root)
    positions = Positions.load(tmp_path / "state.json")
    following = Follower(CLIENTS[store.client], root, positions, clock)
    following.begin()
    kept: list[Record] = []

    async def keep(records: Sequence[Record]) -> None:
        kept.extend(records)

    async def beat(sessions: Sequence[str]) -> None:
        return None

    path = main_file(store, root)
    for _ in range(3):
        stat = path.stat()
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))
        clock.advance(60)
        await following.look(keep, beat)
    assert kept == []
