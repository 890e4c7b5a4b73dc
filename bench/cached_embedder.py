"""An embedder that remembers on disk, so that a second run of a benchmark costs nothing."""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agents_memory.embedding.profiles import Profile
from agents_memory.embedding.protocol import Embedder, Vector


class CachedEmbedder:
    """Answers from `folder` what it has answered before."""

    def __init__(self, inner: Embedder, folder: Path | None = None) -> None:
        self._inner = inner
        name = hashlib.sha256(inner.profile.id.encode()).hexdigest()[:12]
        base = folder or Path(tempfile.gettempdir()) / "agents-memory-bench-vectors"
        self._folder = base / name
        self._folder.mkdir(parents=True, exist_ok=True)

    @property
    def profile(self) -> Profile:
        return self._inner.profile

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [await self._one(text, query=False) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return await self._one(text, query=True)

    async def close(self) -> None:
        await self._inner.close()

    async def _one(self, text: str, *, query: bool) -> Vector:
        key = hashlib.sha256(f"{'q' if query else 'd'}\0{text}".encode()).hexdigest()
        path = self._folder / f"{key}.npy"
        if path.exists():
            vector: Vector = np.load(path)
            return vector
        vector = (
            await self._inner.embed_query(text) if query else (await self._inner.embed([text]))[0]
        )
        np.save(path, vector)
        return vector
