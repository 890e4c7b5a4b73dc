"""Embeddings from a GGUF file in this process, through llama-cpp-python (the extra `local`)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.profiles import Profile
from agents_memory.embedding.protocol import Vector
from agents_memory.embedding.threaded import Encode, ThreadedEmbedder

# A text is evaluated in one piece, and its memory grows with the square of this; questions have at
# most some 500 words, chunks 256 tokens.
MOST_TOKENS = 1024

# llama.h, enum llama_pooling_type; -1 is what the file says.
_POOLING: dict[Literal["mean", "cls", "last", "none", "model"], int] = {
    "none": 0,
    "mean": 1,
    "cls": 2,
    "last": 3,
    "model": -1,
}


class LlamaCppEmbedder:
    """An `Embedder` that puts the profile's prefixes before the texts of a model in this process.

    One thread asks the model, one text at a time: two at once abort the process.
    """

    def __init__(self, profile: Profile, path: Path | None, threads: int) -> None:
        self.profile = profile
        self._inner = ThreadedEmbedder(profile, partial(load_model, profile, path, threads))

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        prefix = self.profile.document_prefix
        return await self._inner.embed([prefix + text for text in texts])

    async def embed_query(self, text: str) -> Vector:
        return await self._inner.embed_query(self.profile.query_prefix + text)

    async def close(self) -> None:
        await self._inner.close()


def load_model(profile: Profile, path: Path | None, threads: int) -> Encode:
    """The model of the file; for use in the calling thread. Raises EmbedderUnavailable."""
    if path is None:
        raise EmbedderUnavailable(
            "EMBEDDING_GGUF_PATH is not set; set it to the file of the embedding model"
        )
    try:
        # Here, because it is compiled at its installation and few have it.
        from llama_cpp import Llama
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbedderUnavailable(
            f"llama-cpp-python cannot be loaded ({type(error).__name__}); install it with "
            "`pip install 'mcp-agents-memory[local]'`, or name another EMBEDDING_MODEL"
        ) from error
    tokens = min(profile.max_tokens, MOST_TOKENS)
    try:
        model = Llama(
            model_path=str(path),
            embedding=True,
            pooling_type=_POOLING[profile.pooling],
            n_ctx=tokens,
            n_batch=tokens,
            n_ubatch=tokens,
            n_threads=threads,
            n_threads_batch=threads,
            verbose=False,
        )
    except (ValueError, OSError, RuntimeError) as error:
        raise EmbedderUnavailable(
            f"{path} cannot be loaded as an embedding model ({type(error).__name__}); check that "
            "EMBEDDING_GGUF_PATH names a whole GGUF file that this account may read"
        ) from error
    return partial(_encode, model, path)


def _encode(model: Any, path: Path, text: str) -> NDArray[np.float64]:
    # What is longer than the context is cut by the library.
    vector: NDArray[np.float64] = np.asarray(model.embed(text), dtype=float)
    if vector.ndim != 1:
        raise EmbedderUnavailable(
            f"{path} gives a vector for each token and none for the text, so it is no embedding "
            "model; name another file in EMBEDDING_GGUF_PATH"
        )
    return vector
