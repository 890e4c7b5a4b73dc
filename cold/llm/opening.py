"""From the settings to language models: who serves which role."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents_memory.clock import Clock
from agents_memory.domain.errors import ConfigurationError
from agents_memory.settings import Secret, Settings
from agents_memory.storage.connections import Database
from cold.llm.answering import Answering
from cold.llm.backend import Backend
from cold.llm.breaker import Breaker
from cold.llm.budget import Budget, Ceilings
from cold.llm.dialects import Dialect
from cold.llm.falling_back import FallingBack
from cold.llm.holding import Holding
from cold.llm.port import (
    Answer,
    Answered,
    Failure,
    LanguageModel,
    Provider,
    Role,
    Rules,
    Turn,
)
from cold.llm.turns import Turns

OPENAI_URL = "https://api.openai.com/v1"
XAI_URL = "https://api.x.ai/v1"
XAI_MODEL = "grok-4-1-fast-non-reasoning"


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the settings say of one role; `provider` None is the one of all roles."""

    provider: str | None
    model: str | None


class ByRole:
    """Hands each question to the model of its role."""

    def __init__(self, models: Mapping[Role, LanguageModel]) -> None:
        self._models = models

    def serves(self, role: Role) -> bool:
        return self._models[role].serves(role)

    def named(self, role: Role) -> str | None:
        return self._models[role].named(role)

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        return await self._models[role].complete(role, messages, schema)

    async def close(self) -> None:
        for model in {id(each): each for each in self._models.values()}.values():
            await model.close()


def open_models(settings: Settings, database: Database, clock: Clock) -> LanguageModel:
    """The model of every role; loads, opens and sends nothing yet.

    Raises ConfigurationError for settings that contradict each other or leave out what they need.
    What is not installed or does not run shows at the first use, as a Failure.
    """
    opener = _Opener(settings, database, clock)
    choices = {role: _choice(settings, role) for role in Role}
    models = {choice: opener.open(role, choice) for role, choice in _first_of(choices).items()}
    return ByRole({role: models[choice] for role, choice in choices.items()})


def _first_of(choices: Mapping[Role, _Choice]) -> dict[Role, _Choice]:
    """Each choice once, under the first role that makes it."""
    first: dict[_Choice, Role] = {}
    for role, choice in choices.items():
        first.setdefault(choice, role)
    return {role: choice for choice, role in first.items()}


def _choice(settings: Settings, role: Role) -> _Choice:
    return _Choice(
        getattr(settings, f"{role.value}_provider"), getattr(settings, f"{role.value}_model")
    )


class _Opener:
    """Makes models that share one budget and one hold a provider."""

    def __init__(self, settings: Settings, database: Database, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._budgets = {
            provider: Budget(database, provider, _ceilings(settings, provider), clock)
            for provider in Provider
        }
        self._holds = {
            provider: Holding(database, provider, Breaker(clock), clock) for provider in Provider
        }
        at_once = {Provider.LOCAL: settings.model_calls_at_once}
        self._turns = {
            provider: Turns(at_once.get(provider, settings.llm_concurrency))
            for provider in Provider
        }
        self._backends: dict[tuple[Provider, str | None], Backend] = {}
        self._refuse_contradictions()

    def open(self, role: Role, choice: _Choice) -> LanguageModel:
        match choice.provider:
            case "rules":
                return Rules()
            case "openai":
                return self._cloud(Provider.OPENAI, role, choice.model)
            case "xai":
                return self._cloud(Provider.XAI, role, choice.model)
            case "local" if not self._has_local:
                raise ConfigurationError(
                    f"{role.upper()}_PROVIDER=local, and there is no local model; set "
                    "LOCAL_LLM_BASE_URL or LOCAL_LLM_MODEL_PATH"
                )
        return self._usual(role, choice.model)

    def _usual(self, role: Role, model: str | None) -> LanguageModel:
        """The local model with what stands in for it; else what stands in; else rules."""
        settings = self._settings
        fallback = settings.local_grok_fallback
        if not self._has_local:
            if fallback:
                return self._cloud(Provider.XAI, role, model)
            if model is not None:
                raise ConfigurationError(
                    f"{role.upper()}_MODEL names a model and nobody has one; set "
                    f"{role.upper()}_PROVIDER, LOCAL_LLM_BASE_URL or LOCAL_LLM_MODEL_PATH"
                )
            return Rules()
        local = self._answering(Provider.LOCAL, self._local(role, model))
        return FallingBack(local, self._cloud(Provider.XAI, role, None)) if fallback else local

    @property
    def _has_local(self) -> bool:
        settings = self._settings
        return settings.local_llm_base_url is not None or settings.local_llm_model_path is not None

    def _local(self, role: Role, model: str | None) -> Backend:
        settings = self._settings
        if settings.local_llm_model_path is not None:
            if model is not None:
                raise ConfigurationError(
                    f"{role.upper()}_MODEL names a model, and LOCAL_LLM_MODEL_PATH is one for all "
                    "roles; use a server (LOCAL_LLM_BASE_URL), or leave it out"
                )
            return self._in_process()
        dialect = settings.local_llm_dialect
        return self._over_http(
            Provider.LOCAL,
            settings.local_llm_base_url or "",
            settings.local_llm_api_key,
            model or settings.local_llm_model,
            None if dialect == "auto" else Dialect(dialect),
            ("LOCAL_LLM_BASE_URL", "LOCAL_LLM_API_KEY", "LOCAL_LLM_MODEL"),
        )

    def _cloud(self, provider: Provider, role: Role, model: str | None) -> LanguageModel:
        settings = self._settings
        openai = provider is Provider.OPENAI
        key = settings.openai_api_key if openai else settings.xai_api_key
        key_setting = "OPENAI_API_KEY" if openai else "XAI_API_KEY"
        if key is None:
            raise ConfigurationError(
                f"the {role} asks {provider}, and {key_setting} is not set; set it, or "
                f"{role.upper()}_PROVIDER=rules"
            )
        if openai and model is None:
            raise ConfigurationError(
                f"{role.upper()}_PROVIDER=openai needs {role.upper()}_MODEL, such as gpt-4.1-mini"
            )
        backend = self._over_http(
            provider,
            OPENAI_URL if openai else XAI_URL,
            key,
            model or XAI_MODEL,
            Dialect.OPENAI if openai else Dialect.XAI,
            (f"{role.upper()}_PROVIDER", key_setting, f"{role.upper()}_MODEL"),
        )
        return self._answering(provider, backend)

    def _in_process(self) -> Backend:
        known = (Provider.LOCAL, None)
        if known not in self._backends:
            # Here, because only one kind of model is wanted.
            from cold.llm.llama_cpp import LlamaCpp

            settings = self._settings
            assert settings.local_llm_model_path is not None
            self._backends[known] = LlamaCpp(
                settings.local_llm_model_path,
                context=settings.local_llm_context,
                threads=settings.local_llm_threads,
            )
        return self._backends[known]

    def _over_http(
        self,
        provider: Provider,
        url: str,
        key: Secret | None,
        model: str | None,
        dialect: Dialect | None,
        named: tuple[str, str, str],
    ) -> Backend:
        if (provider, model) not in self._backends:
            from cold.llm.openai_compatible import Endpoint, OpenAICompatible

            endpoint = Endpoint(url, key, model, dialect, *named)
            self._backends[provider, model] = OpenAICompatible(endpoint, self._clock)
        return self._backends[provider, model]

    def _answering(self, provider: Provider, backend: Backend) -> LanguageModel:
        return Answering(
            provider,
            backend,
            self._budgets[provider],
            self._holds[provider],
            self._turns[provider],
            self._clock,
            limit_s=self._settings.llm_call_limit_sec,
            max_tokens=self._settings.llm_max_tokens,
        )

    def _refuse_contradictions(self) -> None:
        settings = self._settings
        if settings.local_llm_base_url is not None and settings.local_llm_model_path is not None:
            raise ConfigurationError(
                "LOCAL_LLM_BASE_URL and LOCAL_LLM_MODEL_PATH are two local models; keep one"
            )
        if settings.local_grok_fallback and settings.xai_api_key is None:
            raise ConfigurationError(
                "LOCAL_GROK_FALLBACK is on, and XAI_API_KEY is not set; set it, or turn it off"
            )


def _ceilings(settings: Settings, provider: Provider) -> Ceilings:
    if provider is Provider.LOCAL:
        return Ceilings(
            settings.local_llm_requests_per_hour,
            settings.local_llm_requests_per_day,
            settings.local_llm_tokens_per_hour,
            settings.local_llm_tokens_per_day,
            "LOCAL_LLM",
        )
    return Ceilings(
        settings.cloud_llm_requests_per_hour,
        settings.cloud_llm_requests_per_day,
        settings.cloud_llm_tokens_per_hour,
        settings.cloud_llm_tokens_per_day,
        "CLOUD_LLM",
    )
