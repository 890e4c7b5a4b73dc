"""Models known by name, with what their makers say must be known to use them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True)
class Known:
    """`dims` of an answer, `max_tokens` of a text; `shortens`: its beginning is a vector too."""

    dims: int
    max_tokens: int
    pooling: Literal["mean", "cls", "last", "model"]
    query_prefix: str = ""
    document_prefix: str = ""
    shortens: bool = False


_QWEN3_QUERY = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
_E5 = ("query: ", "passage: ")

OPENAI_MODELS = ("text-embedding-3-large", "text-embedding-3-small")

KNOWN: Mapping[str, Known] = MappingProxyType(
    {
        "text-embedding-3-large": Known(3072, 8191, "model", shortens=True),
        "text-embedding-3-small": Known(1536, 8191, "model", shortens=True),
        "bge-m3": Known(1024, 8192, "cls"),
        "qwen3-embedding-0.6b": Known(1024, 32_768, "last", _QWEN3_QUERY, shortens=True),
        "qwen3-embedding-4b": Known(2560, 32_768, "last", _QWEN3_QUERY, shortens=True),
        "qwen3-embedding-8b": Known(4096, 32_768, "last", _QWEN3_QUERY, shortens=True),
        "nomic-embed-text": Known(768, 2048, "mean", "search_query: ", "search_document: "),
        "embeddinggemma": Known(
            768, 2048, "mean", "task: search result | query: ", "title: none | text: ", True
        ),
        "multilingual-e5-small": Known(384, 512, "mean", *_E5),
        "multilingual-e5-base": Known(768, 512, "mean", *_E5),
        "multilingual-e5-large": Known(1024, 512, "mean", *_E5),
    }
)

_ALSO = {"nomic-embed-text-v1.5": "nomic-embed-text", "embeddinggemma-300m": "embeddinggemma"}
_QUANTISED = re.compile(r"[-.:](?:i?q[2-8](?:_\w+)?|bf16|f16|fp16|f32)\Z")


def common_name(name: str) -> str:
    """What hubs, Ollama and file names call a model, without owner, tag and quantisation."""
    bare = name.rpartition("/")[2].lower().removesuffix(".gguf").removesuffix(":latest")
    bare = _QUANTISED.sub("", bare).replace(":", "-")
    return _ALSO.get(bare, bare)
