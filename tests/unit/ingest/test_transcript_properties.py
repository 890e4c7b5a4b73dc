"""Whatever happens to a transcript: no exception, every whole record once, order kept."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.cursor import Cursor, Positions
from ingest.following import Follower
from ingest.reading import QUIET_S
from ingest.records import Record
from ingest.tail import Tail
from tests.fakes import ManualClock
from tests.fixtures.transcripts.writer import BEGUN, Writer, jsonl
from tests.unit.ingest.reading import CLIENT, EDGE, MAIN, ROOT, SUBAGENT, read, texts

PATH = "folder/5f0c1a52.jsonl"
FILES = [(ROOT / path).read_bytes() for path in (MAIN, EDGE, SUBAGENT)]
EXPECTED = [[r.native_id for r in read(content)] for content in FILES]


def unique(records: Sequence[Record]) -> list[str]:
    """Ids in the order in which they first came: what a store that knows ids would hold."""
    return list(dict.fromkeys(record.native_id for record in records))


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def tail(root: Path, cursor: Cursor | None = None) -> Tail:
    facts = CLIENT.facts(Path(PATH))
    assert facts is not None
    return Tail(root, PATH, CLIENT, facts, cursor=cursor)


@given(
    file=st.integers(0, len(FILES) - 1),
    cuts=st.lists(st.integers(0, 10_000), max_size=12),
    steps=st.lists(st.sampled_from(["read", "settle", "restart", "crash", "nothing"]), min_size=13),
    limit=st.integers(1, 20_000),
)
@settings(max_examples=150, deadline=None)
def test_a_file_that_grows_in_any_pieces_gives_the_same_turns(
    file: int, cuts: list[int], steps: list[str], limit: int
) -> None:
    """F75, A25, A29: cut anywhere, read at any time, reopened anywhere, positions lost at will."""
    content = FILES[file]
    places = sorted({0, len(content), *(cut % len(content) for cut in cuts)})
    records: list[Record] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / PATH).parent.mkdir()
        (root / PATH).touch()
        following, committed, older = tail(root), None, None

        def go_on(following: Tail) -> Cursor:
            more = True
            while more:
                batch = following.read(limit=limit)
                records.extend(batch.records)
                more = batch.more
            return batch.cursor

        for (begin, end), step in zip(pairwise(places), steps, strict=False):
            append(root / PATH, content[begin:end])
            if step == "restart":
                following = tail(root, committed)
            elif step == "crash":
                following = tail(root, older)
            if step != "nothing":
                older, committed = committed, go_on(following)
            if step == "settle":
                committed = go_on(following)
        go_on(following)
        go_on(following)
        records.extend(following.read(quiet=True).records)
    assert unique(records) == EXPECTED[file]


DAMAGE = ["whole", "whole", "glued", "cut", "cut and glued", "NUL before", "NUL behind", "blank"]


@given(
    damage=st.lists(
        st.tuples(st.sampled_from(DAMAGE), st.integers(0, 10_000)), min_size=1, max_size=20
    )
)
@settings(max_examples=200, deadline=None)
def test_every_whole_line_is_read_once_whatever_happened_to_its_neighbours(
    damage: list[tuple[str, int]],
) -> None:
    """A28: cut, glued, spliced and padded lines cost only themselves."""
    write, content, whole = Writer(), b"\xef\xbb\xbf", []
    for number, (kind, cut) in enumerate(damage):
        said = f'Turn {number}: {{"uuid": "no record"}} \u2028 {{"'
        line = jsonl(write.typed(said)).rstrip(b"\n")
        if kind.startswith("cut"):
            content += line[: 1 + cut % (len(line) - 1)] + (b"" if "glued" in kind else b"\n")
            continue
        whole.append(said)
        content += {
            "glued": line,
            "NUL before": b"\0" * (cut % 50) + line + b"\n",
            "NUL behind": line + b"\0" * (cut % 50) + b"\n",
            "blank": line + b"\r\n\n\n",
        }.get(kind, line + b"\n")
    assert texts(read(content + b"\n")) == whole


@given(garbage=st.lists(st.binary(max_size=200), max_size=8), at=st.lists(st.integers(0, 30)))
@settings(max_examples=150, deadline=None)
def test_garbage_between_lines_costs_nothing_but_itself(
    garbage: list[bytes], at: list[int]
) -> None:
    lines = FILES[0].split(b"\n")[:-1]
    for piece, place in zip(garbage, at, strict=False):
        # A lone line feed inside of it makes two lines of garbage, which is as good.
        lines.insert(place % (len(lines) + 1), piece)
    assert unique(read(b"\n".join(lines) + b"\n")) == EXPECTED[0]


@given(order=st.permutations(range(8)))
@settings(max_examples=50, deadline=None)
def test_lines_in_another_order_are_the_same_turns(order: list[int]) -> None:
    write = Writer()
    lines = [
        write.typed(f"Turn {n}.") if n % 2 else write.answer(f"Turn {n}.", key=f"m{n}")
        for n in range(8)
    ]
    assert texts(read(jsonl(*(lines[n] for n in order)))) == [f"Turn {n}." for n in order]


OPERATIONS = st.sampled_from(
    ["append", "half", "rotate", "truncate", "replace", "delete", "pipe", "again", "quiet", "lose"]
)


@given(operations=st.lists(st.tuples(OPERATIONS, st.integers(0, 2)), max_size=25))
@settings(max_examples=60, deadline=None)
def test_whatever_happens_to_files_each_turn_written_since_is_kept(
    operations: list[tuple[str, int]],
) -> None:
    """A19, A25: rotated, truncated, replaced, deleted, unreadable; processes and commits lost."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_follow(Path(folder), operations))


async def _follow(base: Path, operations: list[tuple[str, int]]) -> None:
    root, clock, write = base / "root", ManualClock(BEGUN), Writer()
    paths = [root / "folder" / f"session-{n}.jsonl" for n in range(3)]
    paths[0].parent.mkdir(parents=True)
    paths[0].write_bytes(jsonl(write.typed("Said before, and never to be read.")))
    clock.advance(3600)
    write.begun = clock.now()
    kept: list[Record] = []
    expected: list[str] = []

    async def keep(records: Sequence[Record]) -> None:
        kept.extend(records)

    async def beat(sessions: Sequence[str]) -> None:
        return None

    def begin() -> tuple[Positions, Follower]:
        positions = Positions.load(base / "state.json")
        following = Follower(CLIENT, root, positions, clock)
        following.begin()
        return positions, following

    positions, following = begin()
    positions.save()
    for number, (operation, which) in enumerate(operations):
        path, said = paths[which], f"Turn {number}."
        if path.is_fifo():
            path.unlink()
        line = jsonl(write.typed(said))
        if operation == "pipe":
            path.unlink(missing_ok=True)
            os.mkfifo(path)
        elif operation == "delete":
            path.unlink(missing_ok=True)
        elif operation == "quiet":
            clock.advance(QUIET_S)
        elif operation == "lose":
            # The process is killed before the positions are saved.
            positions, following = begin()
        elif operation == "again":
            positions.save()
            positions, following = begin()
        else:
            expected.append(said)
            if operation == "append":
                append(path, line)
            elif operation == "half":
                append(path, line[:60])
                await following.look(keep, beat)
                append(path, line[60:])
            elif operation == "rotate":
                if path.exists():
                    shutil.move(path, path.with_name(f"old-{number}.jsonl"))
                path.write_bytes(line)
            elif operation == "truncate":
                path.write_bytes(line)
            else:
                new = path.with_suffix(".new")
                new.write_bytes((path.read_bytes() if path.exists() else b"") + line)
                os.replace(new, path)
        clock.advance(1)
        await following.look(keep, beat)
    # What could not be read meanwhile is tried again.
    clock.advance(60)
    await following.look(keep, beat)
    assert list(dict.fromkeys(texts(kept))) == expected
    assert len({record.native_id for record in kept}) == len(expected)
