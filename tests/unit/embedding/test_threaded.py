"""A model that blocks never blocks the event loop, and every text gets its vector or an error."""

import asyncio
import math
import threading
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.chunking import estimate_tokens
from agents_memory.embedding.profiles import HASHING
from agents_memory.embedding.threaded import Encode, ThreadedEmbedder, legible
from agents_memory.embedding.unit import unit

DIMS = HASHING.dims


def all_ones(_: str) -> NDArray[np.float64]:
    return np.ones(DIMS)


class GatedModel:
    """Works on a text only while the gate is open; says when it has begun."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.seen: list[str] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.begun = asyncio.Event()
        self._loop = loop

    def load(self) -> Encode:
        return self.encode

    def encode(self, text: str) -> NDArray[np.float64]:
        self.seen.append(text)
        self.threads.add(threading.get_ident())
        self._loop.call_soon_threadsafe(self.begun.set)
        self.gate.wait()
        return all_ones(text)


def embedder_of(encode: Encode) -> ThreadedEmbedder:
    return ThreadedEmbedder(HASHING, lambda: encode)


async def test_the_event_loop_runs_while_the_model_works() -> None:
    model = GatedModel(asyncio.get_running_loop())
    embedder = ThreadedEmbedder(HASHING, model.load)
    call = asyncio.create_task(embedder.embed(["first", "second"]))
    await model.begun.wait()

    # Only a running loop can come to this line and open the gate the model waits at.
    assert not call.done()
    model.gate.set()

    assert len(await call) == 2
    assert model.seen == ["first", "second"]
    assert threading.get_ident() not in model.threads
    await embedder.close()


async def test_cancelling_returns_at_once_and_the_model_stops_after_its_text() -> None:
    model = GatedModel(asyncio.get_running_loop())
    embedder = ThreadedEmbedder(HASHING, model.load)
    call = asyncio.create_task(embedder.embed(["first", "second", "third"]))
    await model.begun.wait()

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not model.gate.is_set()

    model.gate.set()
    await embedder.embed(["next"])
    assert model.seen == ["first", "next"]
    await embedder.close()


async def test_closing_does_not_wait_and_calls_that_wait_are_refused() -> None:
    model = GatedModel(asyncio.get_running_loop())
    embedder = ThreadedEmbedder(HASHING, model.load)
    at_work = asyncio.create_task(embedder.embed_query("first"))
    await model.begun.wait()
    waiting = asyncio.create_task(embedder.embed_query("second"))
    tick = asyncio.Event()
    asyncio.get_running_loop().call_soon(tick.set)
    await tick.wait()

    await embedder.close()
    await embedder.close()
    model.gate.set()

    assert (await at_work).shape == (DIMS,)
    with pytest.raises(EmbedderUnavailable, match="closed; open a new one"):
        await waiting
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await embedder.embed(["third"])
    assert model.seen == ["first"]


async def test_calls_made_at_the_same_time_take_turns() -> None:
    model = GatedModel(asyncio.get_running_loop())
    embedder = ThreadedEmbedder(HASHING, model.load)
    batch = asyncio.create_task(embedder.embed([f"long {n}" for n in range(4)]))
    await model.begun.wait()
    query = asyncio.create_task(embedder.embed_query("short"))
    tick = asyncio.Event()
    asyncio.get_running_loop().call_soon(tick.set)
    await tick.wait()
    model.gate.set()

    await asyncio.gather(batch, query)
    assert model.seen.index("short") == 1
    assert len(model.threads) == 1
    await embedder.close()


async def test_a_model_is_loaded_at_its_first_use_and_once() -> None:
    loads = []

    def load() -> Encode:
        loads.append(threading.get_ident())
        return all_ones

    embedder = ThreadedEmbedder(HASHING, load)
    assert loads == []
    assert await embedder.embed([]) == []
    assert loads == []
    await embedder.embed(["a", "b"])
    await embedder.embed_query("c")
    assert len(loads) == 1
    assert loads[0] != threading.get_ident()
    await embedder.close()


async def test_loading_is_tried_again_after_a_failure() -> None:
    outcomes: list[Callable[[], Encode]] = []

    def missing() -> Encode:
        raise EmbedderUnavailable("the model is not there; install it")

    outcomes += [missing, lambda: all_ones]
    embedder = ThreadedEmbedder(HASHING, lambda: outcomes.pop(0)())
    with pytest.raises(EmbedderUnavailable, match="install it"):
        await embedder.embed_query("a")
    assert (await embedder.embed_query("a")).shape == (DIMS,)
    await embedder.close()


@pytest.mark.parametrize(
    "broken",
    [
        np.zeros(DIMS),
        np.full(DIMS, math.nan),
        np.full(DIMS, math.inf),
        np.ones(DIMS - 1),
        np.ones((1, DIMS)),
    ],
)
async def test_a_batch_with_one_broken_vector_raises_instead_of_losing_it(
    broken: NDArray[np.float64],
) -> None:
    """A1: as many vectors as texts, or an error; never fewer."""
    embedder = embedder_of(lambda text: broken if text == "bad" else all_ones(text))
    with pytest.raises(EmbedderUnavailable, match=r"hashing:256 answered .*; (run|reinstall)"):
        await embedder.embed(["good", "bad", "good"])
    assert len(await embedder.embed(["good"] * 3)) == 3
    await embedder.close()


@pytest.mark.parametrize("length", [1e-30, 1.0, 1e30])
def test_vectors_of_any_length_come_out_at_length_one(length: float) -> None:
    raw = np.full(DIMS, length, dtype=np.float32)
    vector = unit(raw, HASHING)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


@given(st.text(), st.integers(1, 50))
def test_legible_text_is_storable_and_no_longer_than_the_model_takes(
    text: str, tokens: int
) -> None:
    result = legible(text, tokens)
    assert estimate_tokens(result) <= tokens + 1e-6
    assert "\0" not in result
    result.encode()


def test_legible_text_takes_compatibility_forms_apart() -> None:
    assert legible("\ufdfa", 100) == "صلى الله عليه وسلم"
    assert legible("e\u0301", 100) == "é"
    assert legible("a\0b\ud800c", 100) == "a\ufffdb\ufffdc"
    assert "صلى الله عليه وسلم".startswith(legible("\ufdfa" * 1000, 4))


def test_a_text_the_model_can_take_is_not_cut() -> None:
    text = "The bridge was closed all summer. " * 60
    assert legible(text, 512) == text
    assert text.startswith(legible(text * 2, 256))
