"""A GGUF model in this process: loaded as its profile says, or missing with what to install.

The library is compiled at its installation, so a stand-in for it is loaded here; what the stand-in
promises is what llama-cpp-python 0.3.36 does.
"""

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.llama_cpp import MOST_TOKENS, LlamaCppEmbedder
from agents_memory.embedding.naming import read_name
from agents_memory.embedding.opening import Access, open_embedder

GGUF = Path("/models/embedding.gguf")


class StandIn:
    """`llama_cpp.Llama`: remembers how it was made, and counts who is inside at once."""

    made: dict[str, Any]
    texts: list[str]
    answer: Sequence[Any] | None = None
    fails: Exception | None = None
    threads: set[int]

    def __init__(self, **options: Any) -> None:
        if StandIn.fails is not None:
            raise StandIn.fails
        StandIn.made = options

    def embed(self, text: str) -> Sequence[Any]:
        StandIn.texts.append(text)
        StandIn.threads.add(threading.get_ident())
        if StandIn.answer is not None:
            return StandIn.answer
        return [float(len(text))] + [1.0] * (read_name("gguf:bge-m3").profile.dims - 1)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    module = ModuleType("llama_cpp")
    module.Llama = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    StandIn.made, StandIn.texts, StandIn.threads = {}, [], set()
    StandIn.answer = StandIn.fails = None
    return StandIn


def embedder_of(name: str, path: Path | None = GGUF, threads: int = 3) -> LlamaCppEmbedder:
    embedder = open_embedder(name, threads=threads, access=Access(gguf_path=path))
    assert isinstance(embedder, LlamaCppEmbedder)
    return embedder


@pytest.mark.parametrize(
    ("name", "pooling", "tokens"),
    [
        ("gguf:bge-m3", 2, MOST_TOKENS),
        ("gguf:Qwen3-Embedding-0.6B-Q8_0.gguf", 3, MOST_TOKENS),
        ("gguf:multilingual-e5-small", 1, 512),
        ("gguf:something-else@1024", -1, 512),
    ],
)
async def test_the_model_is_loaded_as_its_profile_says(
    library: type[StandIn], name: str, pooling: int, tokens: int
) -> None:
    library.answer = [1.0] * read_name(name).profile.dims
    embedder = embedder_of(name)
    assert library.made == {}
    await embedder.embed(["one"])
    await embedder.close()
    assert library.made == {
        "model_path": str(GGUF),
        "embedding": True,
        "pooling_type": pooling,
        "n_ctx": tokens,
        "n_batch": tokens,
        "n_ubatch": tokens,
        "n_threads": 3,
        "n_threads_batch": 3,
        "verbose": False,
    }


async def test_questions_and_documents_get_the_models_own_prefixes(
    library: type[StandIn],
) -> None:
    library.answer = [1.0] * 768
    embedder = embedder_of("gguf:nomic-embed-text-v1.5.Q4_K_M.gguf")
    await embedder.embed(["a", "b"])
    await embedder.embed_query("c")
    await embedder.close()
    assert library.texts == ["search_document: a", "search_document: b", "search_query: c"]
    assert len(library.threads) == 1
    assert threading.get_ident() not in library.threads


async def test_vectors_come_out_at_length_one_and_cut_where_they_shall_be(
    library: type[StandIn],
) -> None:
    library.answer = [float(number) for number in range(1, 1025)]
    embedder = embedder_of("gguf:qwen3-embedding-0.6b@256")
    [vector] = await embedder.embed(["one"])
    await embedder.close()
    wanted = np.arange(1, 257)
    assert vector == pytest.approx(wanted / np.linalg.norm(wanted))


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        ([[1.0] * 1024, [1.0] * 1024], "no embedding model"),
        ([1.0] * 1023, "instead of"),
        ([float("nan")] * 1024, "non-finite"),
        ([0.0] * 1024, "zero"),
    ],
)
async def test_what_is_no_vector_of_the_text_is_refused(
    library: type[StandIn], answer: Sequence[Any], advice: str
) -> None:
    """A1: a chat model gives a vector for each token; the file is named."""
    library.answer = answer
    embedder = embedder_of("gguf:bge-m3")
    with pytest.raises(EmbedderUnavailable, match=advice):
        await embedder.embed(["one"])
    await embedder.close()


@pytest.mark.parametrize("fault", [ValueError("no such file"), RuntimeError("bad magic")])
async def test_a_file_that_cannot_be_loaded_is_named_and_tried_again(
    library: type[StandIn], fault: Exception
) -> None:
    library.fails = fault
    embedder = embedder_of("gguf:bge-m3")
    with pytest.raises(EmbedderUnavailable, match=r"embedding\.gguf cannot be loaded"):
        await embedder.embed(["one"])
    library.fails = None
    assert len(await embedder.embed(["one"])) == 1
    await embedder.close()


async def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """D4: what is missing shows itself, with the one command that helps."""
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    embedder = embedder_of("gguf:bge-m3")
    with pytest.raises(EmbedderUnavailable, match=r"pip install 'mcp-agents-memory\[local\]'"):
        await embedder.embed_query("one")
    await embedder.close()


async def test_without_a_file_the_setting_is_named(library: type[StandIn]) -> None:
    embedder = embedder_of("gguf:bge-m3", None)
    with pytest.raises(EmbedderUnavailable, match="EMBEDDING_GGUF_PATH is not set"):
        await embedder.embed_query("one")
    await embedder.close()
    assert library.made == {}


@pytest.mark.parametrize("text", ["", "\0\ud800", "a" * 1_000_000, "\ufdfa" * 50])
async def test_any_string_is_legal(library: type[StandIn], text: str) -> None:
    embedder = embedder_of("gguf:bge-m3")
    assert len(await embedder.embed([text])) == 1
    await embedder.close()
    [sent] = library.texts
    assert "\0" not in sent
    assert len(sent.encode()) < 100_000
