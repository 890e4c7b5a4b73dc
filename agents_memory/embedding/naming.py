"""What EMBEDDING_MODEL says: which model, where it runs, and so the profile of its vectors.

    local, hashing              built in
    openai:MODEL[@DIMS]         at OpenAI; the names of its models alone mean the same
    http:MODEL[@DIMS]           at any endpoint of OpenAI's kind
    gguf:MODEL[@DIMS]           a file, in this process

The id of a profile tells the model, the length of its vectors and prefixes of one's own, and never
where it runs: a server and a laptop may run one model in two ways and share its vectors.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from agents_memory.domain.errors import ConfigurationError
from agents_memory.embedding.known import KNOWN, OPENAI_MODELS, Known, common_name
from agents_memory.embedding.profiles import PROFILES, UNMEASURED, Profile, find_profile

Route = Literal["built-in", "openai", "http", "gguf"]
_ROUTES: dict[str, Route] = {"openai": "openai", "http": "http", "gguf": "gguf"}

# A vector of half precision and the columns beside it have to fit one page of 8 kB.
MAX_DIMS = 3900
_MIN_SHORTENED_DIMS = 64
_UNKNOWN_MAX_TOKENS = 512
_LONG_CHUNKS_FROM = 2048

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,99}")
_ID = re.compile(rf"(?P<model>{_NAME.pattern})@(?P<dims>[0-9]+)(?:#[0-9a-f]+)?")


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What is put before a question and before a document; None: what the model is known for."""

    query: str | None = None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A model as the settings name it; `model` is what its endpoint calls it."""

    route: Route
    model: str
    profile: Profile


def read_name(text: str, prefixes: Prefixes | None = None) -> Named:
    """The model of a setting; a ConfigurationError says how to write what can't be meant."""
    before, colon, rest = text.partition(":")
    route = _ROUTES.get(before) if colon else None
    bare = common_name(text.partition("@")[0])
    if route is None and bare in OPENAI_MODELS:
        route, rest = "openai", text
    if route is None and bare in KNOWN:
        raise ConfigurationError(
            f"say where the embedding model {text!r} runs: http:{text} for an endpoint "
            f"(EMBEDDING_BASE_URL), gguf:{text} for a file (EMBEDDING_GGUF_PATH)"
        )
    if route is None:
        return Named("built-in", text, find_profile(text))
    model, dims = _split(text, rest)
    known = KNOWN.get(common_name(model))
    if route == "openai" and common_name(model) not in OPENAI_MODELS:
        raise ConfigurationError(
            f"the embedding model {text!r} is none of OpenAI's; choose one of "
            f"{', '.join(f'openai:{name}' for name in OPENAI_MODELS)}, or for another endpoint "
            f"write http:{model}"
        )
    made = _unknown(text, route, model, dims) if known is None else known
    profile = _profile(text, model, made, dims, prefixes or Prefixes())
    return Named(route, profile.model if route == "openai" else model, profile)


def setting_for(profile_id: str) -> str:
    """What to set EMBEDDING_MODEL to for these vectors, as far as their id tells."""
    found = _ID.fullmatch(profile_id)
    if found is None or profile_id in PROFILES:
        return profile_id
    route = "openai" if found["model"] in OPENAI_MODELS else "http"
    return f"{route}:{found['model']}@{found['dims']}"


def _split(text: str, rest: str) -> tuple[str, int | None]:
    model, at, number = rest.rpartition("@")
    if not at:
        model, number = rest, ""
    wrong_number = bool(at) and not re.fullmatch(r"[1-9][0-9]{0,5}", number, re.ASCII)
    if wrong_number or not _NAME.fullmatch(model):
        raise ConfigurationError(
            f"the embedding model {text!r} cannot be meant; write openai:MODEL, http:MODEL or "
            "gguf:MODEL, with @ and the length of the vectors where the model is not a known one"
        )
    return model, int(number) if at else None


def _unknown(text: str, route: str, model: str, dims: int | None) -> Known:
    longer = [name for name in KNOWN if name.startswith(f"{common_name(model)}-")]
    if longer:
        raise ConfigurationError(
            f"the embedding model {text!r} comes in several sizes; write one of "
            f"{', '.join(f'{route}:{name}' for name in longer)}, by the name its endpoint has"
        )
    if dims is None:
        raise ConfigurationError(
            f"the embedding model {text!r} is not a known one; write {route}:{model}@DIMS, where "
            f"DIMS is the length of its vectors (known: {', '.join(KNOWN)})"
        )
    return Known(dims, _UNKNOWN_MAX_TOKENS, "model")


def _length(text: str, known: Known, dims: int | None) -> int:
    """How many numbers a vector shall have: what was written, else all that the model answers."""
    least = _MIN_SHORTENED_DIMS if known.shortens else known.dims
    wanted = known.dims if dims is None else dims
    if not least <= wanted <= known.dims:
        can_be = f"{least} to {known.dims}" if known.shortens else f"{known.dims}"
        raise ConfigurationError(
            f"the embedding model {text!r} has no vectors of length {wanted}; write {can_be} "
            "after the @, or leave it out"
        )
    if wanted > MAX_DIMS:
        raise ConfigurationError(
            f"the vectors of the embedding model {text!r} have {wanted} numbers and only "
            f"{MAX_DIMS} can be stored; "
            + (f"write @{MAX_DIMS} or less" if known.shortens else "choose another model")
        )
    return wanted


def _profile(text: str, model: str, known: Known, dims: int | None, own: Prefixes) -> Profile:
    wanted = _length(text, known, dims)
    name = common_name(model) if common_name(model) in KNOWN else model
    query = known.query_prefix if own.query is None else own.query
    document = known.document_prefix if own.document is None else own.document
    return Profile(
        id=f"{name}@{wanted}{_mark(known, query, document)}",
        model=name,
        dims=wanted,
        max_tokens=known.max_tokens,
        chunk_tokens=256 if known.max_tokens >= _LONG_CHUNKS_FROM else 128,
        pooling=known.pooling,
        query_prefix=query,
        document_prefix=document,
        normalised=False,
        batch="any",
        calibration=UNMEASURED,
        native_dims=known.dims if wanted < known.dims else None,
    )


def _mark(known: Known, query: str, document: str) -> str:
    if (query, document) == (known.query_prefix, known.document_prefix):
        return ""
    digest = hashlib.blake2b(f"{query}\0{document}".encode("utf-8", "replace"), digest_size=4)
    return f"#{digest.hexdigest()}"
