"""Which language models there are, what they may cost, and who does what."""

# ruff: noqa: RUF009 (setting() is dataclasses.field)

from dataclasses import dataclass
from pathlib import Path

from agents_memory.settings.embedding import EmbeddingSettings
from agents_memory.settings.values import (
    API_KEY,
    ENDPOINT,
    FLAG,
    PATH,
    Secret,
    choice,
    text,
    whole,
)
from agents_memory.settings.variables import Group, setting

DIALECTS = ("auto", "llama-server", "ollama", "vllm", "openai", "xai", "generic")
PROVIDERS = ("local", "openai", "xai", "rules")
ROLES = ("tagger", "librarian", "cluster", "alias", "extract", "verify", "gate")


def _provider(role: str, *misnomers: str) -> str | None:
    value: str | None = setting(
        f"{role}_PROVIDER",
        Group.MODELS,
        f"Who does the work of the {role.lower()}",
        choice(*PROVIDERS, grok="xai"),
        unset="the model of all roles",
        misnomers=misnomers,
    )
    return value


def _model(role: str, *misnomers: str) -> str | None:
    value: str | None = setting(
        f"{role}_MODEL",
        Group.MODELS,
        "Its model, by the name that the provider knows",
        text(200),
        unset="the provider's",
        misnomers=misnomers,
    )
    return value


def _ceiling(name: str, about: str, default: int) -> int:
    value: int = setting(name, Group.MODELS, about, whole(0, 10_000_000_000), default=str(default))
    return value


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class ModelSettings(EmbeddingSettings):
    """The part of Settings that names language models; `cold.llm.opening` reads it."""

    local_llm_base_url: str | None = setting(
        "LOCAL_LLM_BASE_URL",
        Group.MODELS,
        "A server of OpenAI's kind: llama-server, Ollama (http://localhost:11434/v1), vLLM",
        ENDPOINT,
        misnomers=("LOCAL_LLM_URL",),
    )
    local_llm_model: str | None = setting(
        "LOCAL_LLM_MODEL",
        Group.MODELS,
        "Its model",
        text(200),
        unset="the first that the server lists",
    )
    local_llm_api_key: Secret | None = setting(
        "LOCAL_LLM_API_KEY", Group.MODELS, "Its key, if it wants one", API_KEY
    )
    local_llm_dialect: str = setting(
        "LOCAL_LLM_DIALECT",
        Group.MODELS,
        "What it understands; auto: it is asked",
        choice(*DIALECTS),
        default="auto",
    )
    local_llm_model_path: Path | None = setting(
        "LOCAL_LLM_MODEL_PATH",
        Group.MODELS,
        "In place of a server, a GGUF file for this process (needs the extra `local`)",
        PATH,
        misnomers=("LOCAL_LLM_PATH",),
    )
    local_llm_context: int = setting(
        "LOCAL_LLM_CONTEXT",
        Group.MODELS,
        "What the file's model may see at a time, its answer included",
        whole(512, 1_048_576, "tokens"),
        default="8192",
    )
    local_llm_threads: int = setting(
        "LOCAL_LLM_THREADS",
        Group.MODELS,
        "Processor cores it may use",
        whole(1, 256),
        default="2",
    )
    xai_api_key: Secret | None = setting(
        "XAI_API_KEY", Group.MODELS, "The key for xAI; what a role reads is sent there", API_KEY
    )
    local_grok_fallback: bool = setting(
        "LOCAL_GROK_FALLBACK",
        Group.MODELS,
        "Whether xAI is asked while the local model is away",
        FLAG,
        default="false",
    )

    tagger_provider: str | None = _provider("TAGGER")
    tagger_model: str | None = _model("TAGGER")
    librarian_provider: str | None = _provider("LIBRARIAN")
    librarian_model: str | None = _model("LIBRARIAN")
    cluster_provider: str | None = _provider("CLUSTER")
    cluster_model: str | None = _model("CLUSTER")
    alias_provider: str | None = _provider("ALIAS")
    alias_model: str | None = _model("ALIAS")
    extract_provider: str | None = _provider("EXTRACT")
    extract_model: str | None = _model("EXTRACT")
    verify_provider: str | None = _provider("VERIFY", "VERIFIER_PROVIDER")
    verify_model: str | None = _model("VERIFY", "VERIFIER_MODEL")
    gate_provider: str | None = _provider("GATE")
    gate_model: str | None = _model("GATE")

    librarian_enabled: bool = setting(
        "LIBRARIAN_ENABLED",
        Group.MODELS,
        "Whether the daemon keeps a profile of the user, where a model serves the librarian",
        FLAG,
        default="true",
    )
    librarian_msg_threshold: int = setting(
        "LIBRARIAN_MSG_THRESHOLD",
        Group.MODELS,
        "New messages of the user's own before the profile is looked at again",
        whole(1, 100_000),
        default="30",
    )
    librarian_cooldown_hours: int = setting(
        "LIBRARIAN_COOLDOWN_HOURS",
        Group.MODELS,
        "The least time between two looks",
        whole(0, 8760, "hours"),
        default="24",
    )
    librarian_recent_slice: int = setting(
        "LIBRARIAN_RECENT_SLICE",
        Group.MODELS,
        "The newest messages that are read for it",
        whole(1, 49),
        default="25",
    )
    librarian_history_slice: int = setting(
        "LIBRARIAN_HISTORY_SLICE",
        Group.MODELS,
        "The oldest messages that are read for it",
        whole(0, 49),
        default="25",
    )

    llm_concurrency: int = setting(
        "LLM_CONCURRENCY",
        Group.MODELS,
        "Questions that a server is asked at a time; a model in this process takes one",
        whole(1, 64),
        default="4",
    )
    llm_call_limit_sec: int = setting(
        "LLM_CALL_LIMIT_SEC",
        Group.MODELS,
        "How long one answer may take",
        whole(1, 86_400, "seconds"),
        default="180",
    )
    llm_max_tokens: int = setting(
        "LLM_MAX_TOKENS",
        Group.MODELS,
        "How long one answer may be",
        whole(64, 131_072, "tokens"),
        default="2048",
    )
    local_llm_requests_per_hour: int = _ceiling(
        "LOCAL_LLM_REQUESTS_PER_HOUR", "The most that is asked of the local model; 0: nothing", 2000
    )
    local_llm_requests_per_day: int = _ceiling(
        "LOCAL_LLM_REQUESTS_PER_DAY", "The same in a day (UTC)", 20_000
    )
    local_llm_tokens_per_hour: int = _ceiling(
        "LOCAL_LLM_TOKENS_PER_HOUR", "The same in tokens, of questions and answers", 4_000_000
    )
    local_llm_tokens_per_day: int = _ceiling(
        "LOCAL_LLM_TOKENS_PER_DAY", "The same in a day (UTC)", 40_000_000
    )
    cloud_llm_requests_per_hour: int = _ceiling(
        "CLOUD_LLM_REQUESTS_PER_HOUR",
        "The most that is asked of OpenAI, and of xAI; 0: nothing",
        60,
    )
    cloud_llm_requests_per_day: int = _ceiling(
        "CLOUD_LLM_REQUESTS_PER_DAY", "The same in a day (UTC)", 500
    )
    cloud_llm_tokens_per_hour: int = _ceiling(
        "CLOUD_LLM_TOKENS_PER_HOUR", "The same in tokens, of questions and answers", 200_000
    )
    cloud_llm_tokens_per_day: int = _ceiling(
        "CLOUD_LLM_TOKENS_PER_DAY", "The same in a day (UTC)", 1_000_000
    )

    @property
    def model_calls_at_once(self) -> int:
        """How many calls a model may be given at a time."""
        return self.llm_concurrency if self.local_llm_model_path is None else 1

    @property
    def names_models(self) -> bool:
        """Whether anything says that a language model is to be used."""
        named = (
            getattr(self, f"{role}_{what}") for role in ROLES for what in ("provider", "model")
        )
        local = (self.local_llm_base_url, self.local_llm_model_path)
        return self.local_grok_fallback or any(value is not None for value in (*local, *named))
