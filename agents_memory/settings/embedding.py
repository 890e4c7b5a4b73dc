"""Which embedding models there are on this machine, and how they are reached."""

# ruff: noqa: RUF009 (setting() is dataclasses.field)

from dataclasses import dataclass
from pathlib import Path

from agents_memory.settings.database import DatabaseSettings
from agents_memory.settings.values import (
    API_KEY,
    ENDPOINT,
    FLAG,
    PATH,
    Secret,
    text,
    whole,
)
from agents_memory.settings.variables import Group, setting

USUAL = "local"


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class EmbeddingSettings(DatabaseSettings):
    """The part of Settings that names embedding models; `embedding.opening` reads the names."""

    embedding_model: str = setting(
        "EMBEDDING_MODEL",
        Group.EMBEDDING,
        "The model: local, openai:text-embedding-3-large, http:MODEL or gguf:MODEL "
        "(docs/embedding.md)",
        text(200),
        default=USUAL,
    )
    embedding_model_next: str | None = setting(
        "EMBEDDING_MODEL_NEXT",
        Group.EMBEDDING,
        "A second model to change to: the daemon makes its vectors too, and searches go on with "
        "the pool's active one, whichever of the two it is",
        text(200),
    )
    embedding_base_url: str | None = setting(
        "EMBEDDING_BASE_URL",
        Group.EMBEDDING,
        "For http:MODEL, an endpoint of OpenAI's kind such as http://localhost:11434/v1 (Ollama)",
        ENDPOINT,
    )
    embedding_api_key: Secret | None = setting(
        "EMBEDDING_API_KEY", Group.EMBEDDING, "Its key, if it wants one", API_KEY
    )
    openai_api_key: Secret | None = setting(
        "OPENAI_API_KEY",
        Group.EMBEDDING,
        "The key for openai:MODEL; what is embedded is sent to OpenAI",
        API_KEY,
    )
    embedding_gguf_path: Path | None = setting(
        "EMBEDDING_GGUF_PATH", Group.EMBEDDING, "For gguf:MODEL, its file", PATH
    )
    embedding_query_prefix: str | None = setting(
        "EMBEDDING_QUERY_PREFIX",
        Group.EMBEDDING,
        "Words put before a question, with a space between; \\n begins a line",
        text(500),
        unset="what the model is known for",
    )
    embedding_document_prefix: str | None = setting(
        "EMBEDDING_DOCUMENT_PREFIX",
        Group.EMBEDDING,
        "The same before what is stored",
        text(500),
        unset="what the model is known for",
    )
    allow_hash_embeddings: bool = setting(
        "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS",
        Group.EMBEDDING,
        "Whether hashes of words may stand in for a model, which finds words but no meaning",
        FLAG,
        default="false",
    )
    embedding_threads: int = setting(
        "EMBEDDING_THREADS",
        Group.EMBEDDING,
        "Processor cores a model in this process may use",
        whole(1, 64),
        default="1",
    )

    @property
    def names_embedders(self) -> bool:
        """Whether a model is named beside or in place of the usual one, which is always right."""
        return self.embedding_model != USUAL or self.embedding_model_next is not None
