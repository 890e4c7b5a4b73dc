"""From a name in the settings to an embedder."""

from agents_memory.domain.errors import ConfigurationError
from agents_memory.embedding.hashing import open_hashing
from agents_memory.embedding.local import open_local
from agents_memory.embedding.profiles import HASHING, find_profile
from agents_memory.embedding.protocol import Embedder


def open_embedder(name: str, *, allow_hashing: bool = False, threads: int = 1) -> Embedder:
    """The embedder of a profile id or short name; loads nothing yet.

    `threads` is the number of processor threads one text may use. Raises ConfigurationError for
    a name or number that can't be meant, and for `hashing` unless `allow_hashing`. A model that
    is not installed shows at the first use, as EmbedderUnavailable with what to do.
    """
    profile = find_profile(name)
    if threads < 1:
        raise ConfigurationError(f"the embedding model needs 1 thread or more, not {threads}")
    if profile is HASHING:
        if not allow_hashing:
            raise ConfigurationError(
                "the embedding model `hashing` matches spelling only and does not find what was "
                "said in other words; use EMBEDDING_MODEL=local, or allow this one with "
                "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS=1"
            )
        return open_hashing()
    return open_local(threads)
