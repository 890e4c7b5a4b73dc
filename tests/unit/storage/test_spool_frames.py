"""Frames: whatever happens to a file, damage costs only what it hit."""

from hypothesis import given
from hypothesis import strategies as st

from agents_memory.storage.spool.frames import MAGIC, frame, scan

# Words of ours are UTF-8, in which the magic cannot occur.
words = st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
turns = st.lists(words, max_size=8)
garbage = st.binary(max_size=80).filter(lambda data: MAGIC[:1] not in data)


def payloads(data: bytes) -> list[bytes]:
    return [piece.payload for piece in scan(data) if piece.payload is not None]


def glued(listed: list[bytes]) -> bytes:
    return b"".join(map(frame, listed))


@given(turns)
def test_what_was_written_is_read_in_its_order(listed: list[bytes]) -> None:
    assert payloads(glued(listed)) == listed


@given(st.binary(max_size=300))
def test_the_pieces_are_the_whole_of_any_bytes(data: bytes) -> None:
    pieces = list(scan(data))
    assert b"".join(data[piece.start : piece.end] for piece in pieces) == data
    assert all(piece.start < piece.end for piece in pieces)


@given(st.lists(words, min_size=1, max_size=8), st.data())
def test_a_cut_costs_only_the_frame_it_is_in(listed: list[bytes], data: st.DataObject) -> None:
    """A29, F103: the tail of a file whose writer or machine died."""
    whole = glued(listed)
    cut = data.draw(st.integers(0, len(whole)))
    ends = [len(glued(listed[: n + 1])) for n in range(len(listed))]
    assert payloads(whole[:cut]) == listed[: sum(end <= cut for end in ends)]


@given(st.lists(words, min_size=1, max_size=8), st.data())
def test_a_turned_bit_costs_only_its_frame(listed: list[bytes], data: st.DataObject) -> None:
    """A28."""
    whole = bytearray(glued(listed))
    bit = data.draw(st.integers(0, 8 * len(whole) - 1))
    whole[bit // 8] ^= 1 << bit % 8
    ends = [len(glued(listed[: n + 1])) for n in range(len(listed))]
    hit = next(n for n, end in enumerate(ends) if bit // 8 < end)
    assert payloads(bytes(whole)) == [p for n, p in enumerate(listed) if n != hit]


@given(turns, garbage, turns, garbage)
def test_what_is_glued_between_frames_costs_none(
    first: list[bytes], between: bytes, second: list[bytes], after: bytes
) -> None:
    assert payloads(glued(first) + between + glued(second) + after) == first + second


@given(turns, words, st.integers(0, 60), turns)
def test_what_follows_half_a_frame_is_found(
    first: list[bytes], half: bytes, kept: int, second: list[bytes]
) -> None:
    begun = frame(half)
    data = glued(first) + begun[: min(kept, len(begun) - 1)] + glued(second)
    assert payloads(data) == first + second
