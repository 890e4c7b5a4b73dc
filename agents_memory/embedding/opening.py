"""From names in the settings to embedders."""

from dataclasses import dataclass, field
from pathlib import Path

from agents_memory.domain.errors import ConfigurationError
from agents_memory.embedding.choice import Choice
from agents_memory.embedding.endpoint import OPENAI_URL, Endpoint
from agents_memory.embedding.naming import Named, Prefixes, read_name
from agents_memory.embedding.profiles import HASHING, Profile
from agents_memory.embedding.protocol import Embedder
from agents_memory.settings import Secret, Settings


@dataclass(frozen=True, slots=True)
class Access:
    """How this machine comes to models that are not built in; what is None is not set."""

    base_url: str | None = None
    api_key: Secret | None = None
    openai_api_key: Secret | None = None
    gguf_path: Path | None = None
    prefixes: Prefixes = field(default_factory=Prefixes)


def open_embedder(
    name: str, *, allow_hashing: bool = False, threads: int = 1, access: Access | None = None
) -> Embedder:
    """The embedder of a profile id or a name; loads, opens and sends nothing yet.

    `threads` is the number of processor threads one text may use. Raises ConfigurationError for
    a name or number that can't be meant, and for `hashing` unless `allow_hashing`. What is not
    installed or not set shows at the first use, as EmbedderUnavailable with what to do.
    """
    access = access or Access()
    named = _checked(name, access, allow_hashing=allow_hashing, threads=threads)
    # Each imported here, because one is wanted, and the others' libraries take a while to load.
    match named.route:
        case "openai":
            from agents_memory.embedding.openai_compatible import OpenAICompatibleEmbedder

            endpoint = Endpoint(
                OPENAI_URL, access.openai_api_key, "OPENAI_API_KEY", True, encoding="base64"
            )
            return OpenAICompatibleEmbedder(named.profile, named.model, endpoint)
        case "http":
            from agents_memory.embedding.openai_compatible import OpenAICompatibleEmbedder

            endpoint = Endpoint(access.base_url or "", access.api_key)
            return OpenAICompatibleEmbedder(named.profile, named.model, endpoint)
        case "gguf":
            from agents_memory.embedding.llama_cpp import LlamaCppEmbedder

            return LlamaCppEmbedder(named.profile, access.gguf_path, threads)
        case "built-in":
            if named.profile is HASHING:
                from agents_memory.embedding.hashing import open_hashing

                return open_hashing()
            from agents_memory.embedding.local import open_local

            return open_local(threads)


def open_embedders(settings: Settings) -> tuple[Embedder, ...]:
    """The embedders of EMBEDDING_MODEL and, where it is another, EMBEDDING_MODEL_NEXT.

    Raises what `open_embedder` does.
    """
    opened: dict[str, Embedder] = {}
    for name in _names(settings):
        embedder = open_named(settings, name)
        opened.setdefault(embedder.profile.id, embedder)
    return tuple(opened.values())


def open_choice(settings: Settings) -> Embedder:
    """The same as one embedder, from which whoever knows the pool's active model takes its own."""
    embedders = open_embedders(settings)
    return embedders[0] if len(embedders) == 1 else Choice(embedders)


def check_choice(settings: Settings) -> None:
    """Raises the ConfigurationError of `open_choice`, and loads nothing that is behind a model."""
    for name in _names(settings):
        _checked(
            name,
            _access(settings),
            allow_hashing=settings.allow_hash_embeddings,
            threads=settings.embedding_threads,
        )


def open_named(settings: Settings, name: str) -> Embedder:
    """The embedder of a name, with the access that the settings give."""
    return open_embedder(
        name,
        allow_hashing=settings.allow_hash_embeddings,
        threads=settings.embedding_threads,
        access=_access(settings),
    )


def profile_of(settings: Settings, name: str) -> Profile:
    """The profile of a name, with the prefixes that are set. Raises ConfigurationError."""
    return read_name(name, _access(settings).prefixes).profile


def profiles_of(settings: Settings) -> tuple[Profile, ...]:
    """The profiles of the models that the settings name, EMBEDDING_MODEL's first."""
    return tuple(profile_of(settings, name) for name in _names(settings))


def _names(settings: Settings) -> tuple[str, ...]:
    following = settings.embedding_model_next
    return (settings.embedding_model, *([] if following is None else [following]))


def _access(settings: Settings) -> Access:
    return Access(
        base_url=settings.embedding_base_url,
        api_key=settings.embedding_api_key,
        openai_api_key=settings.openai_api_key,
        gguf_path=settings.embedding_gguf_path,
        prefixes=Prefixes(
            _prefix(settings.embedding_query_prefix), _prefix(settings.embedding_document_prefix)
        ),
    )


def _prefix(written: str | None) -> str | None:
    # A setting keeps no white space at its end.
    return None if written is None else written.replace("\\n", "\n") + " "


def _checked(name: str, access: Access, *, allow_hashing: bool, threads: int) -> Named:
    named = read_name(name, access.prefixes)
    if threads < 1:
        raise ConfigurationError(f"the embedding model needs 1 thread or more, not {threads}")
    if named.profile is HASHING and not allow_hashing:
        raise ConfigurationError(
            "the embedding model `hashing` matches spelling only and does not find what was "
            "said in other words; use EMBEDDING_MODEL=local, or allow this one with "
            "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS=1"
        )
    return named
